"""Every public function of arrays compared with jax: forward and gradient, float32 and float64, two sizes.

    .venv/bin/python benchmarks/functions.py                        # all, on one core
    .venv/bin/python benchmarks/functions.py special erfcx          # names that contain one of the words
    .venv/bin/python benchmarks/functions.py --dtypes complex64,complex128  # of complex numbers
    .venv/bin/python benchmarks/functions.py --compile              # the time to trace, lower and compile, not of calls
    .venv/bin/python benchmarks/functions.py --threads 2 --sizes 4096,131072 --runs 9
    .venv/bin/python benchmarks/functions.py --keep benchmarks/results/functions.json --seconds 400  # a piece

It prints the geometric mean of our time over jax's, the lines above 1.0 and the worst twenty. It ends with an error if
a value differs. Both libraries run in one process on the same cores. A line is timed in turns for `--runs` rounds or
PATIENCE seconds. On one core the clock is CPU time, which other programs on the machine do not lengthen.

With `--keep`, the lines are written to a file after each function, and functions in the file are not run again. So
after an interruption, the same command continues at the next function. `--again` measures the chosen functions again.
The report covers all chosen lines of the file.
"""

from __future__ import annotations

import argparse
import functools
import json
import pathlib
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from affinity import pin

if TYPE_CHECKING:
    import numpy as np
    from cases.functions import Function

PATIENCE = 0.3  # seconds for the rounds of a line
PAUSE = 0.005  # seconds between the samples of two libraries with several threads
# The maximum difference relative to the maximum value. Both libraries may have an error of half of it.
TOLERANCE = {"float32": 2e-3, "float64": 1e-6, "complex64": 2e-3, "complex128": 1e-6}
# Functions for which jax's values are wrong or of another kind. Tests compare those of the package with mpmath.
DIFFERS = {
    "lax.random_gamma_grad": "jax's is for the sampler's own range",
    "random.f": "jax takes gammas below the smallest normal number for 0, and divides by them",
    "random.t": "the same",
    "scipy.stats.poisson.entropy": "jax's slope is nan where the square of a mean or a probability underflows",
    "scipy.special.spence": "jax's slope in float64 is nan for many numbers above 1",
    "scipy.linalg.cholesky": "one triangle is read; jax's gradient has numbers in the other one, too",
}

# The maximum number of elements of a function whose time in jax is no measure beyond it.
MOST_ELEMENTS = {"scipy.special.expi": 1024}  # 131,072 take jax a minute in float32, and over 20 in float64


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sizes", type=_sizes, default=[1024, 131072], help="numbers of elements (1024,131072)")
    parser.add_argument("--dtypes", type=_dtypes, default=["float32", "float64"], help="of the arguments")
    parser.add_argument("--compile", action="store_true", help="time compilations, with all caches empty")
    parser.add_argument("--keep", type=pathlib.Path, help="the file of the lines that are measured already")
    parser.add_argument("--again", action="store_true", help="measure functions that the file has, too")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no function after this time (all)")
    parser.add_argument("cases", nargs="*", help="parts of the names of the functions (all)")
    options = parser.parse_args()
    start = time.monotonic()
    pin(options.threads)
    # Libraries are imported from here on. They read the number of cores.
    from cases.functions import functions

    warnings.simplefilter("ignore")
    conditions = {"threads": options.threads, "sizes": options.sizes}
    # Files of calls on floats have no other conditions.
    if options.dtypes != parser.get_default("dtypes"):
        conditions["dtypes"] = options.dtypes
    if options.compile:
        conditions["compile"] = True
    kept = _Kept(options.keep, conditions)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    is_whole = True
    for function in functions(options.cases, () if options.again else kept.functions):
        if time.monotonic() - start > options.seconds:
            is_whole = False
            break
        kept.functions[function.name] = {
            name: _line(name, case, options.runs, clock)
            for name, case in _lines(function, options.sizes, options.dtypes, _compiling if options.compile else _timed)
        }
        kept.write()
    ratios: dict[str, tuple[float, float, float]] = {}
    wrong: dict[str, str] = {}
    for function_name, lines in kept.functions.items():
        if options.cases and not any(part in function_name for part in options.cases):
            continue
        for name, line in lines.items():
            if isinstance(line, str):
                if line.startswith(DIFFERENT):
                    wrong[name] = line.removeprefix(DIFFERENT)
            else:
                ratios[name] = (line[0] / line[1], line[0], line[1])
    _report(ratios, wrong)
    if not is_whole:
        print("not all functions were measured: the same command goes on")
    sys.exit(bool(wrong) or not ratios)


# The seconds of both libraries, or the reason why there are none.
Line = tuple[float, float] | str
DIFFERENT = "differs: "


class _Kept:
    """The lines of each measured function, and their file, if there is one."""

    def __init__(self, path: pathlib.Path | None, conditions: dict[str, Any]) -> None:
        self._path, self._conditions = path, conditions
        self.functions: dict[str, dict[str, Line]] = {}
        if path is not None and path.exists():
            content = json.loads(path.read_text())
            if content["conditions"] != conditions:
                sys.exit(f"{path} has lines of {content['conditions']}, not of {conditions}. Give another file.")
            self.functions = content["functions"]

    def write(self) -> None:
        """Replace the file by the present lines, so that a cut run leaves a whole file."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps({"conditions": self._conditions, "functions": self.functions}, indent=1))
        new.replace(self._path)


def _line(name: str, case: Callable[[int, Clock], tuple[float, float]], runs: int, clock: Clock) -> Line:
    try:
        ours, theirs = case(runs, clock)
    except AssertionError as error:
        why = str(error).strip().splitlines()[0]
        print(f"{name}: DIFFERS: {why}", file=sys.stderr, flush=True)
        return DIFFERENT + why
    except _NotComparableError as error:
        return str(error).strip().splitlines()[0]
    print(f"{name}: {ours * 1e6:,.1f} / {theirs * 1e6:,.1f} = {ours / theirs:.2f}", file=sys.stderr, flush=True)
    return ours, theirs


class _NotComparableError(Exception):
    """One of the libraries can't run this line."""


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _dtypes(text: str) -> list[str]:
    dtypes = text.split(",")
    if unknown := set(dtypes) - {"float32", "float64", "complex64", "complex128"}:
        raise argparse.ArgumentTypeError(f"{sorted(unknown)}: float32, float64, complex64 or complex128 is expected")
    return dtypes


Clock = Callable[[], float]
# The median seconds of both libraries for programs of a name, compiled and with arguments.
Timing = Callable[[dict[str, "Program"], int, Clock], tuple[float, float]]


@dataclass(frozen=True)
class Program:
    """A function of a library with its arguments."""

    library: Any
    function: Callable[..., Any]
    compiled: Callable[..., Any]
    args: list[Any]

    def call(self) -> Any:
        return self.library.block_until_ready(self.compiled(*self.args))

    def compile(self) -> None:
        """Trace, lower and compile a new function: no cache in memory has it."""
        function = self.function
        self.library.jit(lambda *args: function(*args)).lower(*self.args).compile()


def _lines(
    function: Function, sizes: list[int], dtypes: list[str], timing: Timing
) -> Iterator[tuple[str, Callable[[int, Clock], tuple[float, float]]]]:
    """The names and measurements of a function. Gradients, and dtypes of 64-bit parts, are at the largest size only."""
    most = MOST_ELEMENTS.get(function.name, max(sizes))
    sizes = [size for size in sizes if size <= most] or [most]
    for dtype in dtypes:
        for size in sizes if dtype in ("float32", "complex64") else [max(sizes)]:
            yield f"{function.name} {dtype} {size}", functools.partial(_measure, function, dtype, size, False, timing)
        yield (
            f"{function.name} {dtype} {max(sizes)} grad",
            functools.partial(_measure, function, dtype, max(sizes), True, timing),
        )


def _measure(
    function: Function, dtype: str, size: int, is_gradient: bool, timing: Timing, runs: int, clock: Clock
) -> tuple[float, float]:
    """The median seconds of both libraries. Raises AssertionError if their results differ."""
    import jax
    import numpy as np

    import pycompiler as pc

    x64 = dtype in ("float64", "complex128")
    args = function.arguments(np.random.default_rng(0), size, np.dtype(dtype))
    if dtype.startswith("complex") and not any(x.dtype.kind == "c" for x in args):
        raise _NotComparableError("it takes no floats")
    # Both libraries draw the same random numbers.
    with jax.enable_x64(x64), pc.enable_x64(x64), pc.threefry_partitionable(True):
        programs, results = {}, {}
        for library in (pc, jax):
            one = function.of(library, size)
            if is_gradient:
                one = _gradient(library, one, args)
            name = library.__name__
            placed = [library.numpy.asarray(x) for x in args]
            programs[name] = Program(library, one, library.jit(one), placed)
            try:
                results[name] = [np.asarray(leaf) for leaf in jax.tree.leaves(programs[name].call())]
            except Exception as error:
                raise _NotComparableError(f"{name}: {error}") from error
        if function.name not in DIFFERS:
            _compare(results["pycompiler"], results["jax"], TOLERANCE[dtype])
        return timing(programs, runs, clock)


def _gradient(library: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    """The gradient of the sum of the float results, and of the parts of complex ones, by all such arguments."""
    import jax
    import numpy as np

    by = tuple(i for i, x in enumerate(args) if x.dtype.kind in "fc")

    def total(*xs: Any) -> Any:
        leaves = [leaf for leaf in jax.tree.leaves(function(*xs)) if library.numpy.issubdtype(leaf.dtype, np.inexact)]
        parts = [(leaf.real + leaf.imag) if leaf.dtype.kind == "c" else leaf for leaf in leaves]
        return sum(part.sum() for part in parts)

    return library.grad(total, argnums=by)


def _compare(ours: list[np.ndarray], theirs: list[np.ndarray], tolerance: float) -> None:
    import numpy as np

    assert len(ours) == len(theirs), f"{len(ours)} results instead of {len(theirs)}"
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape, f"shape {a.shape} instead of {b.shape}"
        if b.dtype.kind not in "fciub":
            continue
        a, b = (x.astype(np.complex128 if b.dtype.kind == "c" else np.float64) for x in (a, b))
        ordinary = np.isfinite(b)
        assert (np.isfinite(a) == ordinary).all(), "infinities or nans at other places"
        a, b = a[ordinary], b[ordinary]
        off = float(np.abs(a - b).max(initial=0.0))
        scale = max(1.0, float(np.abs(b).max(initial=0.0)))
        assert off <= tolerance * scale, f"the greatest difference is {off:.3g}, and the greatest value {scale:.3g}"


def _compiling(programs: dict[str, Program], runs: int, clock: Clock) -> tuple[float, float]:
    """The medians of compilations in turn, without the disk cache."""
    import pycompiler as pc

    samples: list[list[float]] = [[], []]
    start = time.perf_counter()
    pc.config.update("enable_compilation_cache", False)
    while len(samples[0]) < runs and (not samples[0] or time.perf_counter() - start < PATIENCE):
        for i, name in enumerate(("pycompiler", "jax")):
            programs[name].library.clear_caches()
            begin = clock()
            programs[name].compile()
            samples[i].append(clock() - begin)
    return statistics.median(samples[0]), statistics.median(samples[1])


def _timed(programs: dict[str, Program], runs: int, clock: Clock) -> tuple[float, float]:
    """The medians of samples of at least half a millisecond, in turn."""
    ours, theirs = programs["pycompiler"].call, programs["jax"].call
    samples: list[list[float]] = [[], []]
    start = time.perf_counter()
    repetitions = [1, 1]
    while len(samples[0]) < runs and (not samples[0] or time.perf_counter() - start < PATIENCE):
        for i, call in enumerate((ours, theirs)):
            if not samples[i]:
                begin = clock()
                call()
                seconds = clock() - begin
                if seconds > PATIENCE:  # one call is enough
                    samples[i].append(seconds)
                    continue
                repetitions[i] = max(1, int(5e-4 / max(seconds, 1e-7)))
            if clock is time.perf_counter:
                # The threads of the other library look for work a while, in the place of those of this one.
                time.sleep(PAUSE)
                call()
            begin = clock()
            for _ in range(repetitions[i]):
                call()
            samples[i].append((clock() - begin) / repetitions[i])
    return statistics.median(samples[0]), statistics.median(samples[1])


def _report(ratios: dict[str, tuple[float, float, float]], wrong: dict[str, str]) -> None:
    def row(name: str) -> str:
        ratio, ours, theirs = ratios[name]
        return f"  {ratio:8.2f}  {ours * 1e6:12,.1f} us  jax {theirs * 1e6:12,.1f} us  {name}"

    worst = sorted(ratios, key=lambda name: -ratios[name][0])
    for title, names in (
        ("above 1.0", [name for name in worst if ratios[name][0] > 1]),
        ("the worst twenty", worst[:20]),
    ):
        print(f"{title}: {len(names)}", *map(row, names), sep="\n")
    if ratios:
        mean = statistics.geometric_mean(value[0] for value in ratios.values())
        print(f"geometric mean of {len(ratios)} lines: {mean:.3f} of jax's time")
    for name, why in wrong.items():
        print(f"differs: {name}: {why}")


if __name__ == "__main__":
    main()
