"""`make bench`: the overhead of a call, relative to NumPy and jax, in one process on one core.

The runs of the libraries are interleaved. Each row shows the medians, their quotients and the bars of the project. Only
the first use is measured in new processes, one after the other. Times are in microseconds.
"""

from __future__ import annotations

import os

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# A first use compiles, so files of earlier runs must not be used.
os.environ.setdefault("PYCOMPILER_ENABLE_COMPILATION_CACHE", "0")

import argparse  # noqa: E402
import json  # noqa: E402
import pathlib  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from typing import Any  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402
from library import Library  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.markup import escape  # noqa: E402
from rich.table import Table  # noqa: E402

import pycompiler as pc  # noqa: E402
import pycompiler.numpy  # noqa: E402

OURS = Library("pycompiler", pc.numpy, pc)
JAX = Library("jax", jax.numpy, jax)
NUMPY = Library("numpy", np)


@dataclass(frozen=True)
class Call:
    """`make(lib)` prepares a call without arguments. `asked` has the maximum quotient for the time of each library."""

    name: str
    make: Callable[[Library], Callable[[], Any]]
    asked: dict[str, float] = field(default_factory=dict)
    numpy: bool = True


def _four(lib: Library) -> Any:
    return lib.numpy.asarray(np.arange(4, dtype=np.float32))


def _square(lib: Library) -> Any:
    return lib.numpy.asarray(np.arange(16, dtype=np.float32).reshape(4, 4))


def _jit_add(lib: Library) -> Callable[[], Any]:
    f, x = lib.top.jit(lambda x: x + 1), _four(lib)
    return lambda: f(x).block_until_ready()


def _jit_ten(lib: Library) -> Callable[[], Any]:
    f, xs = lib.top.jit(lambda *xs: [x + 1 for x in xs]), [_four(lib) for _ in range(10)]
    wait = lib.top.block_until_ready
    return lambda: wait(f(*xs))


def _jit_tree(lib: Library) -> Callable[[], Any]:
    f, x = lib.top.jit(lambda pairs: [(a + 1, b + 1) for a, b in pairs]), _four(lib)
    pairs, wait = [(x, x), (x, x), (x, x)], lib.top.block_until_ready
    return lambda: wait(f(pairs))


def _my_function(lib: Library, compiled: bool) -> Callable[[], Any]:
    np_ = lib.numpy

    def my_function(x: Any, y: Any) -> Any:
        return np_.minimum(x * y, 0) + y

    x, y = (np_.asarray(np.arange(1024, dtype=np.int32) - 512 * k) for k in (1, 2))
    f = lib.top.jit(my_function) if compiled else my_function
    if lib.top is None:
        return lambda: f(x, y)
    return lambda: f(x, y).block_until_ready()


def _on(make: Callable[[Library], Any], apply: Callable[[Any], Any]) -> Callable[[Library], Callable[[], Any]]:
    def prepare(lib: Library) -> Callable[[], Any]:
        x = make(lib)
        return lambda: apply(x)

    return prepare


_AS_NUMPY = {"numpy": 1.5}
CALLS = (
    Call("jit(x + 1), 4 f32, waited for", _jit_add, {"jax": 0.1}, numpy=False),
    Call("jit, ten arguments, ten results", _jit_ten, {"jax": 0.1}, numpy=False),
    Call("jit, a tree of six arrays", _jit_tree, {"jax": 0.1}, numpy=False),
    Call("x + x, 4 f32", _on(_four, lambda x: x + x), {"jax": 0.06, "numpy": 1.0}),
    Call("x * x, 4 f32", _on(_four, lambda x: x * x), _AS_NUMPY),
    Call("x * 2, 4 f32", _on(_four, lambda x: x * 2), _AS_NUMPY),
    Call("x[1], 4 f32", _on(_four, lambda x: x[1]), _AS_NUMPY),
    Call("x[1], 4x4 f32", _on(_square, lambda x: x[1]), _AS_NUMPY),
    Call("x[1, 2], 4x4 f32", _on(_square, lambda x: x[1, 2]), _AS_NUMPY),
    Call("x[1:3], 4x4 f32", _on(_square, lambda x: x[1:3]), _AS_NUMPY),
    Call("x @ x, 4x4 f32", _on(_square, lambda x: x @ x), _AS_NUMPY),
    Call("x.sum(), 4 f32", _on(_four, lambda x: x.sum()), _AS_NUMPY),
    Call("x.sum(axis=0), 4x4 f32", _on(_square, lambda x: x.sum(axis=0)), _AS_NUMPY),
    Call("x.max(), 4 f32", _on(_four, lambda x: x.max()), _AS_NUMPY),
    Call("x.mean(), 4 f32", _on(_four, lambda x: x.mean()), _AS_NUMPY),
    Call("x.reshape(2, 2), 4 f32", _on(_four, lambda x: x.reshape(2, 2)), {}),
    Call("x.astype(int32), 4 f32", _on(_four, lambda x: x.astype(np.int32)), {}),
    Call("x.T, 4x4 f32", _on(_square, lambda x: x.T), {}),
    Call("x < x, 4 f32", _on(_four, lambda x: x < x), _AS_NUMPY),
    Call("x == x, 4 f32", _on(_four, lambda x: x == x), _AS_NUMPY),
    Call("-x, 4 f32", _on(_four, lambda x: -x), {}),
    Call("exp(x), 4 f32", lambda lib: (lambda x, f: lambda: f(x))(_four(lib), lib.numpy.exp), {}),
    Call("minimum(x, 0), 4 f32", lambda lib: (lambda x, f: lambda: f(x, 0))(_four(lib), lib.numpy.minimum), {}),
    Call("my_function, 1024 i32, op by op", lambda lib: _my_function(lib, False), {"jax": 0.1}),
    Call("my_function, 1024 i32, jit", lambda lib: _my_function(lib, True), {"jax": 0.2}, numpy=False),
    Call("zeros(4)", lambda lib: lambda: lib.numpy.zeros(4), {}),
    Call("arange(4)", lambda lib: lambda: lib.numpy.arange(4), {}),
)


def interleaved(calls: dict[str, Callable[[], Any]], runs: int) -> dict[str, list[float]]:
    """Seconds of each call: `runs` samples, in turn, each so short that interruptions are rare."""
    repetitions: dict[str, int] = {}
    for name, call in calls.items():
        for _ in range(20):
            call()
        start = time.perf_counter()
        for _ in range(20):
            call()
        repetitions[name] = max(1, int(3e-4 / max((time.perf_counter() - start) / 20, 1e-8)))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, call in calls.items():
            steps = range(repetitions[name])
            start = time.perf_counter()
            for _ in steps:
                call()
            samples[name].append((time.perf_counter() - start) / repetitions[name])
    return samples


def call_times(call: Call, runs: int) -> dict[str, list[float]]:
    libraries = [OURS, JAX] + ([NUMPY] if call.numpy else [])
    calls = {lib.name: call.make(lib) for lib in libraries}
    for lib in libraries[1:]:
        for ours, theirs in zip(*(jax.tree.leaves(calls[x.name]()) for x in (OURS, lib)), strict=True):
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6)
    return interleaved(calls, runs)


_FIRST_USE = """
import time
start = time.perf_counter()
import {top}
import {top}.numpy as np
({top}.numpy.ones(3) + 1).block_until_ready()
print(time.perf_counter() - start)
"""


def first_use_times(runs: int) -> dict[str, list[float]]:
    """Seconds from the import to the first result, each in a new process."""
    samples: dict[str, list[float]] = {OURS.name: [], JAX.name: []}
    # Bytecode is kept, as in an installed package.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for run in range(runs + 1):
        for name, found in samples.items():
            call = [sys.executable, "-c", _FIRST_USE.format(top=name)]
            seconds = float(subprocess.run(call, capture_output=True, check=True, env=environment).stdout)
            if run:  # the first run compiles, and reads the files from the disk
                found.append(seconds)
    return samples


def enqueue_times(runs: int) -> tuple[list[float], list[float]]:
    """Seconds until a call with a 1000x1000 product returns, and until it is computed."""
    product = pc.jit(lambda x, y: x @ y)
    x = pc.numpy.asarray(np.random.default_rng(0).random((1000, 1000), dtype=np.float32))
    product(x, x).block_until_ready()
    returned: list[float] = []
    computed: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        result = product(x, x)
        enqueued = time.perf_counter()
        result.block_until_ready()
        returned.append(enqueued - start)
        computed.append(time.perf_counter() - start)
    return returned, computed


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--runs", type=int, default=45)
    parser.add_argument(
        "--json", type=pathlib.Path, default=pathlib.Path(__file__).parent / "results" / "dispatch.json"
    )
    parser.add_argument("cases", nargs="*", help="parts of the names of the cases to run (all)")
    options = parser.parse_args()

    table = Table(title="microseconds: medians; one core", title_justify="left")
    for column in ("call", "pycompiler", "jax", "numpy", "ours/jax", "asked", "ours/numpy", "asked", ""):
        table.add_column(column, justify="left" if column == "call" else "right")
    results: dict[str, dict[str, list[float]]] = {}

    def wanted(name: str) -> bool:
        return not options.cases or any(part in name for part in options.cases)

    def add(name: str, samples: dict[str, list[float]], asked: dict[str, float]) -> None:
        results[name] = samples
        medians = {lib: statistics.median(times) for lib, times in samples.items()}
        quotients = {lib: medians[OURS.name] / time for lib, time in medians.items()}
        cells = [f"{medians[lib] * 1e6:,.3f}" if lib in medians else "-" for lib in ("pycompiler", "jax", "numpy")]
        for lib in ("jax", "numpy"):
            cells.append(f"{quotients[lib]:.3f}" if lib in quotients else "-")
            cells.append(f"{asked[lib]:g}" if lib in asked else "")
        missed = any(quotients[lib] > most for lib, most in asked.items())
        table.add_row(escape(name), *cells, "missed" if missed else "")

    for call in CALLS:
        if wanted(call.name):
            add(call.name, call_times(call, options.runs), call.asked)
    if wanted("import and ones(3) + 1"):
        add("import and ones(3) + 1, new process", first_use_times(max(3, options.runs // 6)), {"jax": 0.4})
    if wanted("enqueue of a 1000x1000 product"):
        returned, computed = enqueue_times(max(5, options.runs // 3))
        share = statistics.median(returned) / statistics.median(computed)
        name = f"enqueue of a 1000x1000 product: {share:.2%} of its time (asked: 1%)"
        results[name] = {OURS.name: returned, "computed": computed}
        table.add_row(
            name, f"{statistics.median(returned) * 1e6:,.3f}", *["-"] * 2, *[""] * 4, "missed" * (share > 0.01)
        )
    Console(width=150).print(table)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
