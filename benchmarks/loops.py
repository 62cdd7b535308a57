"""Loops: one function source for pycompiler and jax, with their `numpy`, `lax` and transformations. See tables.py.

A compiled loop is measured from its first to its last step, so that the overhead of a step counts a thousand times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import with_numba
from library import Case, Inputs, Library, Tree, normal, repeat, replaced, uniform


def _scan(lib: Library) -> Callable[..., Tree]:
    def run(start: Any, xs: Any) -> Tree:
        def step(carry: Any, x: Any) -> Tree:
            carry = lib.numpy.tanh(carry * 0.9 + x)
            return carry, carry * 2

        return lib.lax.scan(step, start, xs)

    return run


STEPS, STENCIL_STEPS, BODIES_STEPS = 100_000, 200, 100


def counted(size: int, steps: int) -> Callable[[Library], Callable[..., Tree]]:
    """A loop that changes one element a step; `size` is a power of two."""

    def build(lib: Library) -> Callable[..., Tree]:
        def step(i: Any, x: Any) -> Any:
            place = i & (size - 1)
            return x.at[place].set(x[place] * 0.5 + 1)

        return lambda x: lib.lax.fori_loop(0, steps, step, x)

    return build


def _newton(lib: Library) -> Callable[..., Tree]:
    """Cube roots, until the largest step is small."""

    def run(a: Any) -> Any:
        def unfinished(state: Tree) -> Any:
            _, longest = state
            return longest > 1e-5

        def improved(state: Tree) -> Tree:
            x, _ = state
            step = (x * x * x - a) / (3 * x * x)
            return x - step, lib.numpy.abs(step).max()

        return lib.lax.while_loop(unfinished, improved, (lib.numpy.ones_like(a), lib.numpy.float32(1)))[0]

    return run


def _stencil(lib: Library) -> Callable[..., Tree]:
    def step(_: Any, u: Any) -> Any:
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return replaced(lib, u, np.s_[1:-1, 1:-1], 0.5 * u[1:-1, 1:-1] + 0.125 * around)

    return lambda u: repeat(lib, STENCIL_STEPS, step, u)


BATCH, HIDDEN, LENGTH = 32, 256, 512


def _rnn_inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
    def weights() -> np.ndarray:
        return (rng.standard_normal((HIDDEN, HIDDEN)) / HIDDEN**0.5).astype(np.float32)

    params = {"w": weights(), "u": weights(), "b": np.zeros(HIDDEN, np.float32)}
    return params, rng.standard_normal((LENGTH, BATCH, HIDDEN), dtype=np.float32)


def _rnn(lib: Library) -> Callable[..., Tree]:
    def loss(params: Tree, xs: Any) -> Any:
        def step(h: Any, x: Any) -> Tree:
            h = lib.numpy.tanh(x @ params["w"] + h @ params["u"] + params["b"])
            return h, (h * h).mean()

        _, losses = lib.lax.scan(step, lib.numpy.zeros((BATCH, HIDDEN), "float32"), xs)
        return losses.mean()

    return lib.top.grad(loss)


def _bodies(lib: Library) -> Callable[..., Tree]:
    """Gravity, softened, by leapfrog."""

    def run(x: Any, v: Any, mass: Any) -> Tree:
        def step(_: Any, state: Tree) -> Tree:
            x, v = state
            apart = x[None, :, :] - x[:, None, :]
            inverse = lib.lax.rsqrt((apart * apart).sum(axis=2) + 1e-2)
            pull = mass[None, :] * inverse * inverse * inverse
            v = v + 1e-3 * (apart * pull[:, :, None]).sum(axis=1)
            return x + 1e-3 * v, v

        return lib.lax.fori_loop(0, BODIES_STEPS, step, (x, v))

    return run


def _bodies_inputs(rng: np.random.Generator) -> tuple[Tree, ...]:
    x, v = (rng.standard_normal((1024, 3), dtype=np.float32) for _ in range(2))
    return x, 0.1 * v, rng.uniform(0.5, 1.0, 1024).astype(np.float32) / 1024


def _paths(lib: Library) -> Callable[..., Tree]:
    def step(k: Any, d: Any) -> Any:
        return lib.numpy.minimum(d, d[:, k][:, None] + d[k, :][None, :])

    return lambda d: repeat(lib, d.shape[0], step, d)


def _loop(name: str, inputs: Inputs, build: Callable[[Library], Callable[..., Tree]], **options: Any) -> Case:
    """A loop that must be as fast as jax's."""
    return Case(name, inputs, build, numpy=False, bar=1.0, **options)


def programs(bar: float, group: str) -> tuple[Case, ...]:
    """The loops that count among the programs."""
    asked: dict[str, Any] = {"bar": bar, "group": group}
    roads = uniform((512, 512), low=1, high=100)
    return (
        Case(
            "stencil of 5 points, 256x256, 200 steps",
            normal((256, 256)),
            _stencil,
            peers={"numba": with_numba.stencil(STENCIL_STEPS)},
            **asked,
        ),
        Case("gradient of an RNN, 32x256, 512 steps", _rnn_inputs, _rnn, numpy=False, tolerance=1e-3, **asked),
        Case(
            "n-body of 1024 bodies, 100 steps",
            _bodies_inputs,
            _bodies,
            numpy=False,
            tolerance=1e-3,
            peers={"numba": with_numba.bodies(BODIES_STEPS)},
            **asked,
        ),
        Case("Floyd-Warshall 512", roads, _paths, peers={"numba": with_numba.paths}, **asked),
    )


LOOPS = (
    _loop("scan of 1000 steps, vector of 16", normal((16,), (1000, 16)), _scan),
    _loop(f"fori_loop of {STEPS} steps, x.at[i].set, 1M f32", normal((1 << 20,)), counted(1 << 20, STEPS)),
    _loop("Newton by while_loop, a scalar", lambda rng: (np.float32(1e6),), _newton),
    _loop("Newton by while_loop, 1024 f32", uniform((1024,), low=1, high=1e3), _newton),
)


def chain(lib: Library) -> Callable[..., Tree]:
    """A chain of a thousand operations, as a new function each time: the tracing is timed."""

    def run(x: Any) -> Any:
        for _ in range(1000):
            x = lib.numpy.sin(x) * 1.01
        return x

    return lib.top.grad(run)
