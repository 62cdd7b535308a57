"""Measurements other than runs of one function: the costs of compilation, lowering, copies, and a step of a loop."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable

import numpy as np
from cases.tables import compile_case
from library import Case, Library
from loops import STEPS, chain, counted
from measure import JAX, OURS, Samples, interleaved, now, prepare


def _nothing(_: Library) -> Callable[..., None]:
    return lambda: None


def _named(name: str, bar: float | None, against: str = "jax") -> Case:
    return Case(name, lambda _: (), _nothing, bar=bar, against=against)


def compile_times(runs: int) -> Samples:
    """Seconds to trace, lower, compile and load a new function, in a process that has compiled another function."""
    arrays = {lib.name: [lib.numpy.ones((1024, 1024), "float32")] * 2 for lib in (OURS, JAX)}
    samples: Samples = {OURS.name: [], JAX.name: []}
    for _ in range(runs):
        for lib in (OURS, JAX):
            compiled = lib.top.jit(compile_case(lib))
            lib.top.clear_caches()
            start = now()
            compiled.lower(*arrays[lib.name]).compile()
            samples[lib.name].append(now() - start)
    return samples


def lower_times(runs: int) -> Samples:
    """Seconds to trace, differentiate and lower a new function of a thousand operations, without code generation.

    Garbage is collected before each run, so that no run includes the collection of another one's objects.
    """
    samples: Samples = {OURS.name: [], JAX.name: []}
    warnings.filterwarnings("ignore", message="(?s).*operations were recorded from this line")
    for run in range(runs + 1):
        for lib in (OURS, JAX):
            gc.collect()
            start = now()
            module = lib.top.jit(chain(lib)).lower(1.0).compiler_ir()
            if run:  # the first run loads modules
                samples[lib.name].append(now() - start)
            assert module is not None
    return samples


def step_times(size: int, runs: int) -> Samples:
    """Seconds of one step of a loop that changes one element of an array: the difference of many and few steps."""
    arrays = (np.zeros(size, np.float32),)
    few, many = (
        {lib.name: prepare(lib, Case("", lambda rng: arrays, counted(size, steps)), arrays) for lib in (OURS, JAX)}
        for steps in (STEPS, 100 * STEPS)
    )
    few, many = interleaved(few, runs), interleaved(many, runs)
    # A long case may have had fewer runs than a short one.
    return {name: [(m - f) / (99 * STEPS) for f, m in zip(few[name], many[name], strict=False)] for name in few}


def transfer_times(n: int, runs: int) -> Samples:
    """Seconds to copy a matrix to the device. It is not aligned, because jax does not copy aligned memory."""
    x = np.ones(n * n + 1, np.float32)[1:].reshape(n, n)
    return interleaved(
        {lib.name: lambda lib=lib: lib.top.device_put(x).block_until_ready() for lib in (OURS, JAX)}, runs
    )


def covariance_compile_times(n: int, runs: int) -> Samples:
    """Seconds of the first call of a new function, in a process that has compiled another function."""
    arrays = {lib.name: lib.numpy.ones((n, n), "float32") for lib in (OURS, JAX)}
    samples: Samples = {OURS.name: [], JAX.name: []}
    for _ in range(runs):
        for lib in (OURS, JAX):
            lib.top.clear_caches()
            compiled = lib.top.jit(lambda x: x.T @ (x - x.mean(axis=0)))
            start = now()
            compiled(arrays[lib.name]).block_until_ready()
            samples[lib.name].append(now() - start)
    return samples


MEASURED: dict[Case, Callable[[int], Samples]] = {
    _named("trace + compile + load (x*y+1).sum()", 1.0): compile_times,
    _named("trace + grad + lower of 1000 sin(x)*1.01", 0.35): lower_times,
    _named("1 step of fori_loop, x.at[i].set, 1k f32", 1.0): lambda runs: step_times(1 << 10, runs),
    _named("1 step of fori_loop, x.at[i].set, 1M f32", 1.0): lambda runs: step_times(1 << 20, runs),
    _named("transfer of 1000x1000 f32", 1.03): lambda runs: transfer_times(1000, runs),
    _named("transfer of 10x10 f32", 1.03): lambda runs: transfer_times(10, runs),
    _named("first call of x.T @ (x - x.mean(0)), 1000x1000", 1.03): lambda runs: covariance_compile_times(1000, runs),
    _named("first call of x.T @ (x - x.mean(0)), 10x10", 1.03): lambda runs: covariance_compile_times(10, runs),
}
