"""`make bench`: the compile time and memory of unrolled programs by their length, compared with jax.

A Python loop in a traced function makes a long program. Each program is compiled at several lengths, with all caches
empty, in turn with jax. The table has milliseconds of trace + lower + compile (processor time of the process, over all
threads), microseconds for each equation, and the ratio to jax. If a library needs longer than PATIENCE for a length, it
is not timed at longer ones. Growth is our time per equation, relative to the minimum over the shorter lengths from
ENOUGH equations on.
"""

from __future__ import annotations

import argparse
import gc
import json
import pathlib
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from affinity import pin
from options import RESULTS, parser

LENGTHS = (25, 100, 400, 1000, 4000, 10_000)
# Programs with fewer equations are compiled once before the timing, so that imports and first uses do not count.
ENOUGH = 100
# Seconds for one compilation.
PATIENCE = 20.0
BAR = 0.3

# numpy's functions, the number of repetitions, an operand of 64 elements -> a result
Program = Callable[[Any, int, Any], Any]


def chain(np: Any, n: int, x: Any) -> Any:
    for i in range(n // 2):
        x = np.tanh(x) if i % 8 == 7 else x * (1.0 + 1e-3 * i)
        x = x + 0.1 * i
    return x


def terms(np: Any, n: int, x: Any) -> Any:
    total = x
    for i in range(n // 2):
        total = total + x * (0.5 * i)
    return total


def slices(np: Any, n: int, x: Any) -> Any:
    total = x[:8]
    for i in range(n // 2):
        total = total + x[i % 56 : i % 56 + 8]
    return total


def stack(np: Any, n: int, x: Any) -> Any:
    return np.stack([x * i for i in range(n // 2)])


def concatenation(np: Any, n: int, x: Any) -> Any:
    return np.concatenate([x[: i % 7 + 1] * i for i in range(n // 2)])


def constants(np: Any, n: int, x: Any) -> Any:
    """Known elements."""
    for i in range(n):
        x = x.at[i % 64].set(0.5 * i)
    return x


def elements(np: Any, n: int, x: Any) -> Any:
    """Each element is a function of its number and of another element."""
    for i in range(n // 4):
        x = x.at[i % 64].set(x[(7 * i + 3) % 64] * 0.5 + i)
    return x


def rows(np: Any, n: int, x: Any) -> Any:
    y = np.zeros((64, 64), x.dtype)
    for i in range(n // 3):
        y = y.at[i % 64].set(np.sin(x) + i)
    return y


def results(np: Any, n: int, x: Any) -> Any:
    return [(x * i).sum() for i in range(n // 2)]


def mixed(np: Any, n: int, x: Any) -> Any:
    """Operations of all kinds, each with operands among the latest eight values."""
    values = [x, x + 1, x * 2]
    state = 1

    def draw(limit: int) -> int:
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return (state >> 8) % limit

    for _ in range(n):
        a, b = (values[-1 - draw(min(8, len(values)))] for _ in range(2))
        kind = draw(10)
        if kind < 4:
            new = (np.add, np.subtract, np.multiply, np.maximum)[kind](a, b)
        elif kind < 6:
            new = (np.tanh, np.abs)[kind - 4](a)
        elif kind == 6:
            new = a - a.mean()
        elif kind == 7:
            new = a.at[draw(64)].set(b[draw(64)])
        elif kind == 8:
            new = np.concatenate([a[16:], b[:16]])
        else:
            new = np.where(a > b, a, b)
        values.append(new)
    return sum(values[-8:])


PROGRAMS: dict[str, Program] = {
    function.__name__: function
    for function in (chain, terms, slices, stack, concatenation, constants, elements, rows, results, mixed)
}


def seconds(lib: Any, program: Program, length: int) -> float:
    """The processor time of all stages for a new function."""
    lib.top.clear_caches()
    gc.collect()
    x = lib.numpy.linspace(0.1, 1.0, 64, dtype="float32")
    start = time.process_time()
    lib.top.jit(lambda x: program(lib.numpy, length, x)).lower(x).compile()
    return time.process_time() - start


def options() -> argparse.Namespace:
    given = parser(__doc__, runs=1)
    given.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="numbers of equations")
    given.add_argument("--alone", action="store_true", help="without jax")
    return given.parse_args()


def measure(name: str, lengths: list[int], libraries: list[Any], runs: int) -> dict[str, dict[int, float]]:
    times: dict[str, dict[int, float]] = {lib.name: {} for lib in libraries}
    for length in lengths:
        for lib in libraries:
            done = times[lib.name]
            # The time of the next length, for at least linear growth.
            if done and max(done.values()) * length / max(done) > PATIENCE:
                continue
            least = min(seconds(lib, PROGRAMS[name], length) for _ in range(runs))
            done[length] = least
    return times


def main() -> None:
    given = options()
    pin(given.threads)
    warnings.filterwarnings("ignore", message="(?s).*operations were recorded from this line")
    sys.setrecursionlimit(100_000)
    from measure import JAX, OURS, holds
    from rich.console import Console
    from rich.table import Table

    libraries = [OURS] if given.alone else [OURS, JAX]
    for lib in libraries:
        seconds(lib, mixed, ENOUGH)
    table = Table(title="processor time of trace + lower + compile", title_justify="left")
    for column in ("program", "equations", "pycompiler ms", "jax ms", "us/equation", "growth", "ratio", "holds", "MiB"):
        table.add_column(column, justify="left" if column == "program" else "right")
    every: dict[str, Any] = {}
    for name in PROGRAMS:
        if given.cases and not any(part in name for part in given.cases):
            continue
        print(name, file=sys.stderr, flush=True)
        times = measure(name, sorted(given.lengths), libraries, given.runs)
        every[name] = times
        ours, theirs = times[OURS.name], times.get(JAX.name, {})
        for length, taken in ours.items():
            each = {n: t / n for n, t in ours.items() if ENOUGH <= n <= length}
            ratio = taken / theirs[length] if length in theirs else None
            table.add_row(
                name,
                str(length),
                f"{1e3 * taken:.0f}",
                f"{1e3 * theirs[length]:.0f}" if length in theirs else "-",
                f"{1e6 * taken / length:.0f}",
                f"{each[length] / min(each.values()):.2f}" if each else "-",
                "-" if ratio is None else f"{ratio:.2f}",
                holds(ratio, BAR),
                f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}",
            )
    path = given.json or RESULTS / "unrolled.json"
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_text(json.dumps(every, indent=1))
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
