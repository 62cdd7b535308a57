"""Interleaved runs of one case in several libraries, after a comparison of their results; and the libraries themselves.

The import of this module imports the libraries, so the affinity of the process is set before it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Compilations must compile: files of earlier runs are not used.
os.environ.setdefault("PYCOMPILER_ENABLE_COMPILATION_CACHE", "0")

import jax
import jax.scipy
import numpy as np
from library import Case, Library

import pycompiler as pc
import pycompiler.lax
import pycompiler.nn
import pycompiler.numpy
import pycompiler.random
import pycompiler.scipy.special

# The module of each other installed library. C takes part if there is gcc.
MODULES = {"scipy": "scipy", "numba": "numba", "torch": "torch", "inductor": "torch", "c": "with_c"}
PEERS = tuple(
    name
    for name, module in MODULES.items()
    if importlib.util.find_spec(module) and (name != "c" or shutil.which("gcc") is not None)
)

OURS = Library("pycompiler", pc.numpy, pc, pc.nn, pc.lax, pc.random, pc.scipy)
JAX = Library("jax", jax.numpy, jax, jax.nn, jax.lax, jax.random, jax.scipy)
NUMPY = Library("numpy", np, scipy=importlib.import_module("scipy") if "scipy" in PEERS else None)

# The limit in seconds for all runs of one case. A longer case has fewer runs, but at least LEAST.
PATIENCE = 30.0
LEAST = 5

# The differences of `now` between the end and the start of each run.
Samples = dict[str, list[np.ndarray]]


def now() -> np.ndarray:
    """Two clocks in seconds: wall time, and CPU time of this process on all cores."""
    return np.array([time.perf_counter(), time.process_time()])


def versions() -> dict[str, str]:
    """The versions of the libraries that take part."""
    return {"numpy": np.__version__, "jax": jax.__version__} | {
        name: importlib.import_module(name).__version__ for name in PEERS if name == MODULES[name]
    }


def prepare(lib: Library, case: Case, arrays: tuple[Any, ...]) -> Callable[[], Any]:
    """A call without arguments that runs the case to its end, with arrays on the device."""
    function = case.build(lib)
    if lib is NUMPY:
        return lambda: function(*arrays)
    compiled = lib.top.jit(function)
    placed = lib.top.tree.map(lib.numpy.asarray, arrays)
    return lambda: lib.top.block_until_ready(compiled(*placed))


def prepare_peer(name: str, case: Case, arrays: tuple[Any, ...]) -> Callable[[], Any]:
    module = importlib.import_module(MODULES[name])
    function = case.peers[name](module)
    if MODULES[name] == "torch":
        module.set_num_threads(len(os.sched_getaffinity(0)))
        arrays = jax.tree.map(module.from_numpy, arrays)
    return lambda: function(*arrays)


def leaves(result: Any) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(result)]


def check_equal(case: Case, ours: Any, name: str, theirs: Any) -> None:
    for i, (a, b) in enumerate(zip(leaves(ours), leaves(theirs), strict=True)):
        greatest = max(1.0, float(np.abs(b).max()))
        np.testing.assert_allclose(
            a, b, rtol=case.tolerance, atol=case.tolerance * greatest, err_msg=f"result {i} beside that of {name}"
        )


def are_others_at_rest() -> bool:
    """Whether no other thread of the process runs, or is ready to run.

    CPU time does not show this: the time of a thread on another core may be added only when the thread stops.
    """
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has ended
            state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
            if state == "R" and int(thread.name) != threading.get_native_id():
                return False
    return True


def settle(call: Callable[[], Any]) -> None:
    """Prepare several cores for the runs of a call. A single core needs no preparation.

    No other thread of the process may work: the pools of OpenBLAS and XLA spin after their work, and would take a core
    from the next library. Then the call runs for a while, because idle cores, especially virtual ones, begin slowly.
    """
    patience, warming = 0.5, 0.1
    if len(os.sched_getaffinity(0)) == 1:
        return
    end = time.perf_counter() + patience
    while time.perf_counter() < end and not are_others_at_rest():
        time.sleep(2e-3)
    end = time.perf_counter() + warming
    while time.perf_counter() < end:
        call()


def interleaved(calls: dict[str, Callable[[], Any]], runs: int, settles: bool = True) -> Samples:
    """Seconds of each call: `runs` samples, each of enough repetitions to last about 2 ms, in turn.

    `settles`: whether each sample prepares the processor's cores. This takes longer than the work of a GPU.
    """
    repetitions: dict[str, int] = {}
    once = 0.0
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        repetitions[name] = max(1, int(2e-3 / max(seconds, 1e-7)))
        once += max(seconds, 2e-3)
    samples: Samples = {name: [] for name in calls}
    for _ in range(min(runs, max(LEAST, int(PATIENCE / once)))):
        for name, call in calls.items():
            if settles:
                settle(call)
            start = now()
            for _ in range(repetitions[name]):
                call()
            samples[name].append((now() - start) / repetitions[name])
    return samples


@contextlib.contextmanager
def settings(case: Case) -> Iterator[None]:
    """The settings of a case, in both libraries."""
    newer = case.partitionable
    streams = jax.threefry_partitionable(newer), pc.threefry_partitionable(newer)
    with jax.enable_x64(case.x64), pc.enable_x64(case.x64), streams[0], streams[1]:
        yield


def run_case(case: Case, runs: int) -> Samples:
    """The samples of each library that has the case. Raises AssertionError if their results differ."""
    with settings(case):
        arrays = case.inputs(np.random.default_rng(0))
        libraries = [OURS, JAX] + ([NUMPY] if case.numpy else [])
        calls = {lib.name: prepare(lib, case, arrays) for lib in libraries}
        calls |= {name: prepare_peer(name, case, arrays) for name in PEERS if name in case.peers}
        ours, *others = calls
        result = calls[ours]()
        for name in others:
            check_equal(case, result, name, calls[name]())
        return interleaved(calls, runs)


def seconds(samples: list[np.ndarray], clock: int = 0) -> list[float]:
    """The samples by one of the two clocks."""
    return [float(sample[clock]) for sample in samples]


def median(samples: list[np.ndarray], clock: int = 0) -> float:
    return statistics.median(seconds(samples, clock))


def ratio(samples: Samples, against: str = "best", clock: int = 0) -> float | None:
    """Our median divided by that of a library, or of the better one of NumPy and jax; None if it did not run."""
    names = ("jax", "numpy") if against == "best" else (against,)
    others = [median(samples[name], clock) for name in names if name in samples]
    return median(samples[OURS.name], clock) / min(others) if others else None


def holds(value: float | None, bar: float | None) -> str:
    """Whether the value is at most the bar, as a cell of a table."""
    if value is None or bar is None:
        return "-"
    return "[green]yes[/green]" if value <= bar else "[red]no[/red]"
