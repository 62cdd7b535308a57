"""Loops that read and write parts of their carries: the values are NumPy's, and no iteration copies a whole carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as jnp
from pycompiler import lax

ROWS, COLUMNS = 50, 7


def steps(count: int, step: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    return lambda x: lax.fori_loop(0, count, step, x)


def numpy_steps(count: int, step: Callable[[int, np.ndarray], None]) -> Callable[[np.ndarray], np.ndarray]:
    """Each step changes the array."""

    def run(x: np.ndarray) -> np.ndarray:
        x = x.copy()
        for i in range(count):
            step(i, x)
        return x

    return run


def swap(i: int, x: np.ndarray) -> None:
    x[[i, i + 1]] = x[[i + 1, i]]


def swap_columns(i: int, x: np.ndarray) -> None:
    x[:, [i, i + 1]] = x[:, [i + 1, i]]


def rotate(i: int, x: np.ndarray) -> None:
    x[[i, i + 1, i + 2]] = x[[i + 1, i + 2, i]]


def order(i: int, x: np.ndarray) -> None:
    x[i], x[i + 1] = np.minimum(x[i], x[i + 1]), np.maximum(x[i], x[i + 1])


def pivot(i: int, x: np.ndarray) -> None:
    p = np.abs(x[:, i]).argmax()
    x[[i, p]] = x[[p, i]]


def twice(i: int, x: np.ndarray) -> None:
    x[i], x[i + 1] = x[i] + 1, x[i] * 2


def reversed_swaps(i: int, x: np.ndarray) -> None:
    if i % 2 == 0:
        swap(i, x)


def copy_down(i: int, x: np.ndarray) -> None:
    x[i + 1] = x[i]


def swaps_at_distance(k: int, x: np.ndarray) -> None:
    for i in range(9):
        x[[i, i + k]] = x[[i + k, i]]


def swapped_in_place(h: Any, i: Any, j: Any) -> Any:
    return h.at[i].set(h[j]).at[j].set(h[i])


# Programs that change rows, columns or elements of one array.
UPDATES: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], np.ndarray]]] = {
    "rows": (steps(ROWS - 1, lambda i, h: swapped_in_place(h, i, i + 1)), numpy_steps(ROWS - 1, swap)),
    "named rows": (
        steps(ROWS - 1, lambda i, h: (lambda a, b: h.at[i].set(b).at[i + 1].set(a))(h[i], h[i + 1])),
        numpy_steps(ROWS - 1, swap),
    ),
    "columns": (
        steps(COLUMNS - 1, lambda i, h: h.at[:, i].set(h[:, i + 1]).at[:, i + 1].set(h[:, i])),
        numpy_steps(COLUMNS - 1, swap_columns),
    ),
    "three rows": (
        steps(ROWS - 2, lambda i, h: h.at[i].set(h[i + 1]).at[i + 1].set(h[i + 2]).at[i + 2].set(h[i])),
        numpy_steps(ROWS - 2, rotate),
    ),
    "ordered rows": (
        steps(
            ROWS - 1,
            lambda i, h: h.at[i].set(jnp.minimum(h[i], h[i + 1])).at[i + 1].set(jnp.maximum(h[i], h[i + 1])),
        ),
        numpy_steps(ROWS - 1, order),
    ),
    "row of the greatest": (
        steps(COLUMNS, lambda i, h: (lambda p: h.at[i].set(h[p]).at[p].set(h[i]))(jnp.abs(h[:, i]).argmax())),
        numpy_steps(COLUMNS, pivot),
    ),
    "a read of what was before": (
        steps(ROWS - 1, lambda i, h: h.at[i].add(1).at[i + 1].set(h[i] * 2)),
        numpy_steps(ROWS - 1, twice),
    ),
    "next row": (
        steps(ROWS - 1, lambda i, h: h.at[i + 1].set(h[i])),
        numpy_steps(ROWS - 1, copy_down),
    ),
    "in a branch": (
        steps(ROWS - 1, lambda i, h: lax.cond(i % 2 == 0, lambda h: swapped_in_place(h, i, i + 1), lambda h: h, h)),
        numpy_steps(ROWS - 1, reversed_swaps),
    ),
    "in a loop of unknown length": (
        lambda x: lax.while_loop(
            lambda c: c[0] < ROWS - 1, lambda c: (c[0] + 1, swapped_in_place(c[1], c[0], c[0] + 1)), (0, x)
        )[1],
        numpy_steps(ROWS - 1, swap),
    ),
    "in an inner loop": (
        steps(3, lambda k, h: lax.fori_loop(0, 9, lambda i, h: swapped_in_place(h, i, i + k), h)),
        numpy_steps(3, swaps_at_distance),
    ),
    "elements": (
        lambda x: steps(ROWS - 1, lambda i, h: swapped_in_place(h, i, i + 1))(x[:, 0]),
        lambda x: numpy_steps(ROWS - 1, swap)(x[:, 0]),
    ),
}


def matrix(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((ROWS, COLUMNS), dtype=np.float32)


@pytest.mark.parametrize("name", UPDATES)
def test_parts_are_changed_in_place(name: str) -> None:
    program, in_numpy = UPDATES[name]
    x = matrix()
    np.testing.assert_array_equal(pc.jit(program)(x), in_numpy(x))
    # The array is in the memory of the result: the temporaries are rows.
    wide = pc.ShapeDtypeStruct((ROWS, 100 * COLUMNS), np.float32)
    assert pc.jit(program).lower(wide).compile().memory_analysis().temp_size_in_bytes < ROWS * 100 * COLUMNS * 4 / 2


def mapped(x: Any) -> Any:
    return lax.map(lambda row: row * 2 + 1, x)


def scanned(x: Any) -> Any:
    return lax.scan(lambda total, row: (total + row[0], row * 2 + 1), jnp.float32(0), x)[1]


def both(x: Any) -> Any:
    return lax.scan(lambda c, rows: (c, (rows[0] * 2 + 1, rows[1] * 2 + 1)), 0, (x, x))[1][1]


def backwards(x: Any) -> Any:
    return lax.scan(lambda c, row: (c, row * 2 + 1), 0, x, reverse=True)[1]


def assembled(x: Any) -> Any:
    return lax.fori_loop(0, ROWS, lambda j, z: z.at[j].set(x[j] * 2 + 1), jnp.zeros_like(x))


def overwritten(x: Any) -> Any:
    return lax.fori_loop(0, ROWS, lambda j, z: z.at[j].set(x[j] * 2 + 1), x)


INNER = [mapped, scanned, both, backwards, assembled, overwritten]


@pytest.mark.parametrize("inner", INNER, ids=lambda inner: inner.__name__)
def test_loops_whose_steps_are_loops_over_rows(inner: Callable[[Any], Any]) -> None:
    """The loop over rows reads the carry, and its result is the next carry."""
    x, y = matrix(), matrix(1)

    def steps_of(x: np.ndarray, count: int) -> np.ndarray:
        for _ in range(count):
            x = x * 2 + 1
        return x

    np.testing.assert_array_equal(pc.jit(steps(3, lambda i, x: inner(x)))(x), steps_of(x, 3))
    # Two carries, each computed from the other one.
    crossed = pc.jit(lambda x, y: lax.fori_loop(0, 3, lambda i, c: (inner(c[1]), inner(c[0])), (x, y)))
    for got, want in zip(crossed(x, y), (steps_of(y, 3), steps_of(x, 3)), strict=True):
        np.testing.assert_array_equal(got, want)
    # The next carry, and what it was, in a loop of unknown length with a branch.
    branches = pc.jit(
        lambda x: lax.while_loop(
            lambda c: c[0] < 4,
            lambda c: (c[0] + 1, lax.cond(c[0] % 2 == 0, lambda v: inner(v), lambda v: v - 1, c[1]), c[1]),
            (0, x, x),
        )
    )(x)
    first = steps_of(x, 1) - 1
    np.testing.assert_array_equal(branches[1], steps_of(first, 1) - 1)
    np.testing.assert_array_equal(branches[2], steps_of(first, 1))
    # Every step's result, too.
    _, every = pc.jit(lambda x: lax.scan(lambda c, i: (inner(c), inner(c)), x, jnp.arange(3)))(x)
    np.testing.assert_array_equal(every, [steps_of(x, count) for count in (1, 2, 3)])
