"""`make bench`: the gain from a second core, for independent serial calls and for every case of `run.py`.

    .venv/bin/python benchmarks/threads.py [parts of names of cases]

Two processes, with one thread and with two, take turns. The best runs count: other programs on the machine only
lengthen runs. The last column is the limit of the quotient: a case that takes more than LONG on one thread takes at
most GAIN of it on two, and no case takes more than LOSS.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import pycompiler as pc
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


LONG, GAIN, LOSS = 300e-6, 0.65, 1.02
ROUNDS = 5


def serve() -> None:
    """Answer each line, the number of a case, with the seconds of its shortest run."""
    from cases.tables import CASES
    from measure import OURS, prepare

    prepared: dict[int, Callable[[], Any]] = {}
    for line in sys.stdin:
        case = CASES[int(line)]
        with contextlib.ExitStack() as settings:
            if case.x64:
                settings.enter_context(pc.enable_x64(True))
            if case.partitionable:
                settings.enter_context(pc.threefry_partitionable(True))
            run = prepared.get(int(line))
            if run is None:
                arrays = case.inputs(np.random.default_rng(0))
                prepared.clear()
                run = prepared[int(line)] = prepare(OURS, case, arrays)
            run()
            start = time.perf_counter()
            times: list[float] = []
            while len(times) < 3 or (time.perf_counter() - start < 0.1 and len(times) < 2000):
                begin = time.perf_counter()
                run()
                times.append(time.perf_counter() - begin)
        print(min(times), flush=True)


class Server:
    """A process that times cases on a number of threads, on as many cores."""

    def __init__(self, threads: int) -> None:
        env = {**os.environ, "PYCOMPILER_NUM_THREADS": str(threads)}
        cores = sorted(os.sched_getaffinity(0))[:threads]
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )

    def seconds(self, number: int) -> float:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def cases(parts: list[str]) -> None:
    from cases.tables import CASES

    one, two = Server(1), Server(2)
    lines: list[tuple[float, float, str]] = []
    for number, case in enumerate(CASES):
        if parts and not any(part in case.name for part in parts):
            continue
        rounds = [(one.seconds(number), two.seconds(number)) for _ in range(ROUNDS)]
        alone, both = min(first for first, _ in rounds), min(second for _, second in rounds)
        lines.append((alone, both, case.name))
        print(f"{case.name}: {alone * 1e6:,.1f} us, on two {both * 1e6:,.1f}, {both / alone:.2f}", flush=True)
    long = [both / alone for alone, both, _ in lines if alone > LONG]
    if long:
        print(f"geometric mean of {len(long)} cases of more than 300 us: {statistics.geometric_mean(long):.2f}")
    for alone, both, name in sorted(lines, key=lambda line: -line[1] / line[0]):
        limit = GAIN if alone > LONG else LOSS
        if both > limit * alone:
            print(f"above {limit}: {both / alone:.2f}  {alone * 1e6:10,.1f} us  {name}")


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
    cases([])


if __name__ == "__main__":
    if sys.argv[1:] == ["overlap"]:
        overlap()
    elif sys.argv[1:] == ["--serve"]:
        serve()
    elif sys.argv[1:]:
        cases(sys.argv[1:])
    else:
        main()
