"""Parts of tensors at known places that are changed by `x.at[...].add` and its kin, or by what is read from there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as jnp
from pycompiler import lax

SIDE = 40


def _start(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((SIDE, SIDE)).astype(np.float32)


def _one_by_one(step: Any, count: int, *carry: Any) -> Any:
    """Each step is a program of its own."""
    one = pc.jit(step)
    for _ in range(count):
        carry = one(*carry)
    return carry


@pytest.mark.parametrize("by_set", [False, True])
def test_parts_that_read_their_own_elements(by_set: bool) -> None:
    """Electromagnetic fields on a staggered grid: each part is computed in place, without a temporary."""

    def plus(x: Any, place: Any, change: Any) -> Any:
        return x.at[place].set(x[place] + change) if by_set else x.at[place].add(change)

    def step(e: Any, x: Any, y: Any) -> Any:
        x = plus(x, np.s_[:, :-1], -0.5 * (e[:, 1:] - e[:, :-1]))
        y = plus(y, np.s_[:-1], 0.5 * (e[1:] - e[:-1]))
        e = plus(e, np.s_[1:, 1:], 0.5 * ((y[1:, 1:] - y[:-1, 1:]) - (x[1:, 1:] - x[1:, :-1])))
        return e.at[3, 4].multiply(0.5), x, y

    fields = tuple(jnp.asarray(_start(seed)) for seed in range(20, 23))
    loop = pc.jit(lambda *f: lax.fori_loop(0, 7, lambda _, f: step(*f), f))
    assert not _temporaries(loop, fields)
    for ours, theirs in zip(loop(*fields), _one_by_one(step, 7, *fields), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def _temporaries(function: Any, arguments: tuple[Any, ...]) -> list[str]:
    """The temporaries of a program."""
    text = function.lower(*arguments).compile().as_text("bufferized")
    return [line for line in text.splitlines() if "memref.alloc" in line]


@pytest.mark.parametrize("kind", ["add", "multiply", "min", "max", "divide", "power"])
def test_changes_by_neighbours(kind: str) -> None:
    """A part is changed by elements of the same tensor, within a loop and without one."""

    def step(x: Any) -> Any:
        return getattr(jnp.sin(x).at[1:-1, 2:], kind)(x[2:, :-2] * 0.25 + 1.0)

    x = jnp.abs(jnp.asarray(_start(23))) + 0.5
    s = np.sin(np.asarray(x, np.float64))
    operation = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
    operation |= {"divide": np.divide, "power": np.power}
    expected = s.copy()
    expected[1:-1, 2:] = operation[kind](s[1:-1, 2:], np.asarray(x, np.float64)[2:, :-2] * 0.25 + 1.0)
    np.testing.assert_allclose(pc.jit(step)(x), expected, rtol=2e-5)

    def inside(x: Any) -> Any:
        return getattr(x.at[1:-1, 2:], kind)(jnp.cos(x[2:, :-2]) * 0.1 + 1.0)

    got = pc.jit(lambda x: lax.fori_loop(0, 5, lambda _, x: inside(x), x))(x)
    np.testing.assert_allclose(got, _one_by_one(lambda x: (inside(x),), 5, x)[0], rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["fill", "clip", "drop", "promise_in_bounds"])
def test_known_places_out_of_bounds(mode: str) -> None:
    """A window that is known not to fit changes nothing, or is moved inside."""
    x = jnp.asarray(_start(24))
    change = jnp.ones((4, SIDE))
    numbers = lax.ScatterDimensionNumbers((0, 1), (), (0,))
    for row in (-2, SIDE - 3, SIDE + 5) if mode != "promise_in_bounds" else (0, SIDE - 4):
        got = pc.jit(
            lambda x, row=row: lax.scatter_add(
                x, jnp.asarray([row]), change, numbers, mode=mode.replace("drop", "fill")
            )
        )(x)
        expected = np.array(x)
        if mode == "clip":
            row = min(max(row, 0), SIDE - 4)
        if 0 <= row <= SIDE - 4:
            expected[row : row + 4] += 1
        np.testing.assert_allclose(got, expected, rtol=1e-6)
    single = pc.jit(lambda x: x.at[SIDE + 3, 2].add(1.0, mode=mode if mode != "promise_in_bounds" else None))(x)
    expected = np.array(x)
    if mode == "clip":
        expected[SIDE - 1, 2] += 1
    np.testing.assert_allclose(single, expected, rtol=1e-6)
