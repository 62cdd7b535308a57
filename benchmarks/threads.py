"""`make bench`: the gain from a second core, for independent serial calls and for kernels shared by threads.

Each row runs in new processes, with one thread and with two, which are interleaved. The best runs count, because other
programs on the machine only lengthen runs. The last column is the limit of the quotient.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import pycompiler as pc
import pycompiler.nn
import pycompiler.numpy as jnp

STEPS = 20_000_000


@pc.jit
def serial(x: Any, steps: Any) -> Any:
    return pc.lax.fori_loop(0, steps, lambda i, y: jnp.sin(y) + x, x)


def chain(x: Any) -> Any:
    for _ in range(4):
        x = serial(x, STEPS // 4)
    return x


def best(run: Callable[[], Any], repetitions: int) -> float:
    """Seconds of the shortest run."""
    pc.block_until_ready(run())
    times: list[float] = []
    for _ in range(repetitions):
        start = time.perf_counter()
        pc.block_until_ready(run())
        times.append(time.perf_counter() - start)
    return min(times)


def overlap() -> None:
    """Time two calls relative to one, on two threads."""
    x, y = jnp.asarray(0.5), jnp.asarray(0.25)
    product = pc.jit(lambda a: pc.lax.fori_loop(0, 20, lambda i, b: (a @ b) * 0.01, a))
    a = jnp.ones((512, 512))
    rows: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "two serial calls": (lambda: serial(x, STEPS), lambda: (serial(x, STEPS), serial(y, STEPS))),
        "two chains of calls": (lambda: chain(x), lambda: (chain(x), chain(y))),
        "a serial call and a parallel one": (lambda: serial(x, STEPS), lambda: (serial(x, STEPS), product(a))),
    }
    print(json.dumps({name: [best(one, 5), best(both, 5)] for name, (one, both) in rows.items()}))


def kernels() -> None:
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return jnp.asarray(rng.standard_normal(shape, dtype=np.float32))

    cases: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
        "gelu 1M": (lambda x: pc.nn.gelu(x), (normal(1 << 20),)),
        "softmax 1024x1024": (lambda x: pc.nn.softmax(x), (normal(1024, 1024),)),
        "matmul 256": (lambda x, y: x @ y, (normal(256, 256), normal(256, 256))),
        "matmul 1024": (lambda x, y: x @ y, (normal(1024, 1024), normal(1024, 1024))),
        "sum 4M": (lambda x: x.sum(), (normal(1 << 22),)),
        "sum of columns": (lambda x: x.sum(0), (normal(1024, 1024),)),
        "transpose and add": (lambda x, y: x.T + y, (normal(1024, 1024), normal(1024, 1024))),
        "sort rows": (lambda x: jnp.sort(x), (normal(256, 4096),)),
    }
    seconds: dict[str, float] = {}
    for name, (function, args) in cases.items():
        compiled = pc.jit(function)
        seconds[name] = best(lambda compiled=compiled, args=args: compiled(*args), 40)
    print(json.dumps(seconds))


def process(part: str, threads: int) -> dict[str, Any]:
    env = {**os.environ, "PYCOMPILER_NUM_THREADS": str(threads)}
    out = subprocess.run([sys.executable, __file__, part], env=env, capture_output=True, text=True, check=True).stdout
    return json.loads(out)


def main() -> None:
    console = Console()
    if len(os.sched_getaffinity(0)) < 2:
        console.print("benchmarks/threads.py: needs two cores")
        return
    table = Table("two at once", "one, ms", "both, ms", "quotient", "asked")
    for name, (one, both) in process("overlap", 2).items():
        table.add_row(name, f"{one * 1e3:.0f}", f"{both * 1e3:.0f}", f"{both / one:.2f}", "1.15")
    console.print(table)
    runs = [(process("kernels", 1), process("kernels", 2)) for _ in range(3)]
    table = Table("kernel", "one thread, us", "two, us", "quotient")
    for name in runs[0][0]:
        one, two = min(run[0][name] for run in runs), min(run[1][name] for run in runs)
        table.add_row(name, f"{one * 1e6:.0f}", f"{two * 1e6:.0f}", f"{two / one:.2f}")
    console.print(table)


if __name__ == "__main__":
    if sys.argv[1:]:
        {"overlap": overlap, "kernels": kernels}[sys.argv[1]]()
    else:
        main()
