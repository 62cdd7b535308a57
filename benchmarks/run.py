"""`make bench`: pycompiler beside NumPy and jax in one process on one core.

The process is pinned to one core before anything is imported, so that every library runs on one thread. The results of
the libraries are compared before anything is timed. The runs of the libraries are interleaved, and the medians of the
runs and their quotients are what counts: machines are shared, an absolute time means little. Times are in microseconds.
"""

from __future__ import annotations

import os

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import argparse  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import statistics  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402
from cases import CASES, compile_case  # noqa: E402
from library import Case, Library  # noqa: E402
from loops import STEPS, chain, counted  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.markup import escape  # noqa: E402
from rich.table import Table  # noqa: E402

import pycompiler as pc  # noqa: E402
import pycompiler.lax  # noqa: E402
import pycompiler.nn  # noqa: E402
import pycompiler.numpy  # noqa: E402
import pycompiler.random  # noqa: E402

OURS = Library("pycompiler", pc.numpy, pc, pc.nn, pc.lax, pc.random)
JAX = Library("jax", jax.numpy, jax, jax.nn, jax.lax, jax.random)
NUMPY = Library("numpy", np)


def prepare(lib: Library, case: Case, arrays: tuple[Any, ...]) -> Callable[[], Any]:
    """A call without arguments that runs the case to its end on arrays that are on the device already."""
    function = case.build(lib)
    if lib is NUMPY:
        return lambda: function(*arrays)
    compiled = lib.top.jit(function)
    placed = lib.top.tree.map(lib.numpy.asarray, arrays)
    return lambda: lib.top.block_until_ready(compiled(*placed))


def leaves(result: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.tree.map(np.asarray, result))]


def check_equal(case: Case, ours: Any, theirs: Any) -> None:
    for a, b in zip(leaves(ours), leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=case.tolerance, atol=case.tolerance * max(1.0, float(np.abs(b).max())))


def interleaved(calls: dict[str, Callable[[], Any]], runs: int) -> dict[str, list[float]]:
    """Seconds of each call: `runs` samples, each of enough repetitions to last about 2 ms, in turn."""
    repetitions: dict[str, int] = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        repetitions[name] = max(1, int(2e-3 / max(time.perf_counter() - start, 1e-7)))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(repetitions[name]):
                call()
            samples[name].append((time.perf_counter() - start) / repetitions[name])
    return samples


def run_case(case: Case, runs: int) -> dict[str, list[float]]:
    newer = case.partitionable
    streams = jax.threefry_partitionable(newer), pc.threefry_partitionable(newer)
    with jax.enable_x64(case.x64), pc.enable_x64(case.x64), streams[0], streams[1]:
        return timed(case, runs)


def timed(case: Case, runs: int) -> dict[str, list[float]]:
    arrays = case.inputs(np.random.default_rng(0))
    libraries = [OURS, JAX] + ([NUMPY] if case.numpy else [])
    calls = {lib.name: prepare(lib, case, arrays) for lib in libraries}
    for lib in libraries[1:]:
        check_equal(case, calls[OURS.name](), calls[lib.name]())
    return interleaved(calls, runs)


def compile_times(runs: int) -> dict[str, list[float]]:
    """Seconds to trace, lower, compile and load a new function, in a process that has compiled something else."""
    arrays = {lib.name: [lib.numpy.ones((1024, 1024), "float32")] * 2 for lib in (OURS, JAX)}
    samples: dict[str, list[float]] = {OURS.name: [], JAX.name: []}
    for _ in range(runs):
        for lib in (OURS, JAX):
            compiled = lib.top.jit(compile_case(lib))
            lib.top.clear_caches()
            start = time.perf_counter()
            compiled.lower(*arrays[lib.name]).compile()
            samples[lib.name].append(time.perf_counter() - start)
    return samples


def lower_times(runs: int) -> dict[str, list[float]]:
    """Seconds to trace, differentiate and lower a new function of a thousand operations, without code generation.

    Garbage is collected in front of each, so that none pays for what another one left.
    """
    samples: dict[str, list[float]] = {OURS.name: [], JAX.name: []}
    warnings.filterwarnings("ignore", message="(?s).*operations were recorded from this line")
    for run in range(runs + 1):
        for lib in (OURS, JAX):
            gc.collect()
            start = time.perf_counter()
            module = lib.top.jit(chain(lib)).lower(1.0).compiler_ir()
            if run:  # the first one loads what it needs
                samples[lib.name].append(time.perf_counter() - start)
            assert module is not None
    return samples


def step_times(size: int, runs: int) -> dict[str, list[float]]:
    """Seconds of one step of a loop that changes one element of an array: the difference of many steps and few."""
    arrays = (np.zeros(size, np.float32),)
    few, many = (
        {lib.name: prepare(lib, Case("", lambda rng: arrays, counted(size, steps)), arrays) for lib in (OURS, JAX)}
        for steps in (STEPS, 100 * STEPS)
    )
    few, many = interleaved(few, runs), interleaved(many, runs)
    return {name: [(m - f) / (99 * STEPS) for f, m in zip(few[name], many[name], strict=True)] for name in few}


def median(samples: list[float]) -> float:
    return statistics.median(samples)


def spread(samples: list[float]) -> str:
    digits = 1 if median(samples) > 1e-6 else 4
    return " ".join(f"{x * 1e6:,.{digits}f}" for x in (median(samples), min(samples), max(samples)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results" / "bench.json")
    parser.add_argument("cases", nargs="*", help="parts of the names of the cases to run (all)")
    options = parser.parse_args()

    table = Table(title="microseconds: median, least, greatest; one core", title_justify="left")
    for column in ("case", "pycompiler", "jax", "numpy", "GFLOP/s", "ours/jax", "ours/numpy", "asked"):
        table.add_column(column, justify="left" if column in ("case", "asked") else "right")
    results: dict[str, dict[str, list[float]]] = {}

    def add(name: str, samples: dict[str, list[float]], flops: float, target: str) -> None:
        results[name] = samples
        ours, theirs, numpy = (samples.get(lib.name) for lib in (OURS, JAX, NUMPY))
        assert ours is not None
        table.add_row(
            escape(name),
            spread(ours),
            spread(theirs) if theirs else "-",
            spread(numpy) if numpy else "-",
            f"{flops / median(ours) / 1e9:.0f}" if flops else "-",
            f"{median(ours) / median(theirs):.2f}" if theirs else "-",
            f"{median(ours) / median(numpy):.2f}" if numpy else "-",
            target,
        )

    for case in CASES:
        if not options.cases or any(part in case.name for part in options.cases):
            add(case.name, run_case(case, options.runs), case.flops, case.target)
    measured: tuple[tuple[str, Callable[[int], dict[str, list[float]]], str], ...] = (
        ("trace + compile + load (x*y+1).sum()", compile_times, "jax's time x <= 1"),
        ("trace + grad + lower of 1000 sin(x)*1.01", lower_times, "jax's time x <= 0.35"),
        ("1 step of fori_loop, x.at[i].set, 1k f32", lambda runs: step_times(1 << 10, runs), "jax's time x <= 1"),
        ("1 step of fori_loop, x.at[i].set, 1M f32", lambda runs: step_times(1 << 20, runs), "as of 1k"),
    )
    for name, measure, target in measured:
        if not options.cases or any(part in name for part in options.cases):
            add(name, measure(options.runs), 0.0, target)
    Console(width=190).print(table)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
