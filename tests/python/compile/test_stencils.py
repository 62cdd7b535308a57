"""Stencils: updates of slices in place, and values at shifted places that are computed again, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


def set_at(x: Any, place: Any, value: Any) -> Any:
    if isinstance(x, np.ndarray):
        x = x.copy()
        x[place] = value
        return x
    return x.at[place].set(value)


def other_array(np: Any, a: Any, b: Any) -> Any:
    inner = (slice(1, -1),) * a.ndim
    b = set_at(b, inner, a[inner] * 2 + a[(slice(2, None), *inner[1:])])
    return set_at(a, inner, b[inner] - b[(slice(None, -2), *inner[1:])]), b


def same_elements(np: Any, a: Any, b: Any) -> Any:
    a = set_at(a, np.s_[1:], a[1:] - 0.5 * (b[1:] - b[:-1]))
    return a, set_at(b, np.s_[:-1], b[:-1] + a[1:] - a[:-1])


def neighbours(np: Any, a: Any, b: Any) -> Any:
    """The former values of an array are read after its first elements could be written."""
    a = set_at(a, np.s_[1:-1], a[:-2] + a[2:])
    return set_at(a, np.s_[:-1], a[1:] * b[1:]), b


def crossed(np: Any, a: Any, b: Any) -> Any:
    """Both changes need the former values of both arrays."""
    return set_at(a, np.s_[1:], b[:-1] - a[:-1]), set_at(b, np.s_[:-1], a[1:] + b[1:])


def reversed_order(np: Any, a: Any, b: Any) -> Any:
    return set_at(a, np.s_[2:-2], a[2:-2][::-1] * 0.5), b


def read_between(np: Any, a: Any, b: Any) -> Any:
    new = a[1:] * 3
    total = b[1:] + b[:-1]
    b = set_at(b, np.s_[1:], new)
    return set_at(a, np.s_[:-1], total), b


STEPS = (other_array, same_elements, neighbours, crossed, reversed_order, read_between)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(37,), (129,), (20, 33), (6, 7, 9), (5, 4, 3, 6)])
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_steps(step: Callable[..., Any], shape: tuple[int, ...], dtype: str) -> None:
    if step is reversed_order and len(shape) > 2:
        pytest.skip("one dimension says it")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    expected = a, b
    for _ in range(3):
        expected = step(np, *expected)
    with pc.enable_x64(True):
        once = pc.jit(lambda a, b: step(pnp, *step(pnp, *step(pnp, a, b))))(a, b)
        loop = pc.jit(lambda a, b: lax.fori_loop(0, 3, lambda _, state: step(pnp, *state), (a, b)))(a, b)
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    for got in (once, loop):
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(np.asarray(one), other, rtol=tolerance, atol=tolerance)


def limited(np: Any, x: Any) -> Any:
    """Fluxes of a Laplacian, limited by a gradient."""
    lap = 4 * x[1:-1, 1:-1] - (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2])
    res = lap[1:, 1:-1] - lap[:-1, 1:-1]
    flx = np.where(res * (x[2:-1, 2:-2] - x[1:-2, 2:-2]) > 0, 0, res)
    res = lap[1:-1, 1:] - lap[1:-1, :-1]
    fly = np.where(res * (x[2:-2, 2:-1] - x[2:-2, 1:-2]) > 0, 0, res)
    return x[2:-2, 2:-2] - 0.3 * (flx[1:] - flx[:-1] + fly[:, 1:] - fly[:, :-1])


def rows_of_products(np: Any, x: Any) -> Any:
    """A row is read for all rows."""
    scaled = x * x[:1] + x[:, :1]
    return scaled[1:] * scaled[:-1] + scaled[1:, :1]


def read_whole_too(np: Any, x: Any) -> Any:
    lap = x[1:] - x[:-1]
    return lap[1:] + lap[:-1], lap


@pytest.mark.parametrize("shape", [(19, 23), (40, 64), (9, 130), (12, 13, 7)])
@pytest.mark.parametrize("function", [limited, rows_of_products, read_whole_too], ids=lambda f: f.__name__)
def test_shifted_values(function: Callable[..., Any], shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).standard_normal(shape)
    with pc.enable_x64(True):
        got = pc.jit(lambda x: function(pnp, x))(x)
        gradient = pc.jit(pc.grad(lambda x: sum((y * y).sum() for y in pc.tree.leaves(function(pnp, x)))))(x)
        eager = pc.grad(lambda x: sum((y * y).sum() for y in pc.tree.leaves(function(pnp, x))))(pnp.asarray(x))
    for one, other in zip(pc.tree.leaves(got), pc.tree.leaves(function(np, x)), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.asarray(gradient), np.asarray(eager), rtol=1e-10, atol=1e-10)


def average(np: Any, x: Any) -> Any:
    return (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[2:, 1:-1] + x[:-2, 1:-1]) * x.dtype.type(0.2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(9, 40), (12, 150), (23, 301), (31, 66), (16, 600), (13, 9, 31)])
@pytest.mark.parametrize(("function", "rows"), [(average, 3), (limited, 5)], ids=["average", "limited"])
def test_rows_at_once(function: Callable[..., Any], rows: int, shape: tuple[int, ...], dtype: str) -> None:
    """Two rows are computed at once, and elements at the ends of a row twice: to the bits of a row by itself."""
    x = np.random.default_rng(2).standard_normal(shape).astype(dtype)
    with pc.enable_x64(True):
        compiled = pc.jit(lambda x: function(pnp, x))
        whole = np.asarray(compiled(x))
        each = [np.asarray(compiled(x[i : i + rows])) for i in range(shape[0] - rows + 1)]
    assert whole.dtype == dtype
    np.testing.assert_array_equal(whole, np.concatenate(each))
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(whole, function(np, x), rtol=tolerance, atol=tolerance)
