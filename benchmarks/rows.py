"""`make bench`: kernels over the rows of a matrix, with one thread and with two. More threads must never be slower.

There is one process for each number of threads. They take turns case by case, so that a slow phase of the machine
affects both. For each case, a line shows the median time of a run, and the CPU time with two threads relative to one.
The CPU time shows cores that wait for each other's cache lines, and extra work of parallel code, even if other programs
use the cores. A case fails if two threads take longer by both measures: other programs can lengthen either, but rarely
both. On a busy machine, the second thread may never get a core in time. Then put `chrt -f 1` before the command (a
minute of work, in which nothing else runs).

    .venv/bin/python benchmarks/rows.py                      # all
    .venv/bin/python benchmarks/rows.py softmax "rms norm"   # kernels whose names contain this
    .venv/bin/python benchmarks/rows.py --lengths 64 1000 --dtypes float32
"""

from __future__ import annotations

import argparse
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
import pycompiler.nn
import pycompiler.numpy as jnp

ELEMENTS = 1 << 22
LENGTHS = (8, 16, 33, 64, 100, 256, 1000, 1024, 4096, 16384, 65536)
DTYPES = ("float32", "bfloat16")
SLOWER = 1.15
"""The factor by which two threads must be slower than one to count as slower. A smaller factor is noise."""


def layer_norm(x: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    return centred * pc.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


KERNELS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: pc.nn.softmax(x),
    "log_softmax": lambda x: pc.nn.log_softmax(x),
    "logsumexp": lambda x: pc.nn.logsumexp(x, axis=-1),
    "layer norm": layer_norm,
    "rms norm": lambda x: x * pc.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5),
    "normalize": lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True),
    "standardize": lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True),
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: x.mean(-1),
    "max": lambda x: x.max(-1),
    "var": lambda x: x.var(-1),
    "argmax": lambda x: x.argmax(-1),
    "cumsum": lambda x: jnp.cumsum(x, axis=-1),
    "sort": lambda x: jnp.sort(x, axis=-1),
}


def serve() -> None:
    """Time the cases from the parent, one in each line: [kernel, rows, length, dtype, seconds]."""
    rng = np.random.default_rng(0)
    for line in sys.stdin:
        name, rows, length, dtype, seconds = json.loads(line)
        function = pc.jit(KERNELS[name])
        x = jnp.asarray(rng.standard_normal((rows, length), dtype=np.float32)).astype(dtype)
        for _ in range(3):
            function(x).block_until_ready()
        walls: list[float] = []
        # The CPU time of all runs together, because the clock gets the time of other threads only at intervals.
        cpu, end = time.process_time(), time.perf_counter() + seconds
        while time.perf_counter() < end or len(walls) < 5:
            start = time.perf_counter()
            function(x).block_until_ready()
            walls.append(time.perf_counter() - start)
        print(json.dumps([statistics.median(walls), (time.process_time() - cpu) / len(walls)]), flush=True)


def begin(threads: int) -> subprocess.Popen[str]:
    env = {**os.environ, "PYCOMPILER_NUM_THREADS": str(threads)}
    command = [sys.executable, __file__, "--serve"]
    return subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(process: subprocess.Popen[str], case: list[Any]) -> tuple[float, float]:
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(case) + "\n")
    process.stdin.flush()
    wall, cpu = json.loads(process.stdout.readline())
    return wall, cpu


def measure(one: subprocess.Popen[str], two: subprocess.Popen[str], case: list[Any], rounds: int) -> list[float]:
    """Median wall and CPU seconds with one thread, then with two."""
    samples = [[*ask(one, case), *ask(two, case)] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*samples, strict=True)]


def main(args: argparse.Namespace) -> int:
    console = Console()
    if len(os.sched_getaffinity(0)) < 2:
        console.print("benchmarks/rows.py: needs two cores")
        return 0
    one, two = begin(1), begin(2)
    table = Table("kernel", "matrix", "dtype", "1, us", "2, us", "2 / 1", "of CPU", "holds")
    slower = 0
    for name in KERNELS:
        if args.kernels and not any(part in name for part in args.kernels):
            continue
        for dtype in args.dtypes:
            for length in args.lengths:
                rows = args.elements // length
                wall1, cpu1, wall2, cpu2 = measure(one, two, [name, rows, length, dtype, args.seconds], args.rounds)
                holds = min(wall2 / wall1, cpu2 / cpu1) < SLOWER
                slower += not holds
                table.add_row(
                    name,
                    f"{rows}x{length}",
                    dtype,
                    f"{wall1 * 1e6:.0f}",
                    f"{wall2 * 1e6:.0f}",
                    f"{wall2 / wall1:.2f}",
                    f"{cpu2 / cpu1:.2f}",
                    "yes" if holds else "no",
                )
    console.print(table)
    if slower:
        console.print(f"{slower} cases are slower with two threads")
    return 1 if slower else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", help="parts of the names of kernels")
    parser.add_argument("--lengths", nargs="*", type=int, default=LENGTHS)
    parser.add_argument("--dtypes", nargs="*", default=DTYPES)
    parser.add_argument("--elements", type=int, default=ELEMENTS, help="of a matrix")
    parser.add_argument("--seconds", type=float, default=0.1, help="for each case and number of threads")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
    else:
        sys.exit(main(options))
