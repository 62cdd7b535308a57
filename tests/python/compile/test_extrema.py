"""Minima and maxima of special numbers: nan goes on, and -0 is less than 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as jnp
from pycompiler import lax

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 1e-40, -1e-40, 5e-324, 3e38]


def _pairs(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):
        numbers = np.array(SPECIAL).astype(dtype)
    x, y = (each.ravel() for each in np.meshgrid(numbers, numbers))
    return x, y


def _expected(x: np.ndarray, y: np.ndarray, is_min: bool) -> np.ndarray:
    """Of two zeros, the one with the sign of the minimum or maximum."""
    wide, other = x.astype(np.float64), y.astype(np.float64)
    result = (np.minimum if is_min else np.maximum)(wide, other)
    zeros = (wide == 0) & (other == 0)
    signs = np.signbit(wide) | np.signbit(other) if is_min else np.signbit(wide) & np.signbit(other)
    return np.where(zeros, np.where(signs, -0.0, 0.0), result).astype(x.dtype)


def _same(got: Any, expected: np.ndarray) -> None:
    got = np.asarray(got)
    np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64))
    is_number = ~np.isnan(expected.astype(np.float64))
    np.testing.assert_array_equal(np.signbit(got)[is_number], np.signbit(expected)[is_number])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("is_min", [True, False])
def test_special_numbers(dtype: str, is_min: bool) -> None:
    function = lax.min if is_min else lax.max
    x, y = _pairs(jnp.dtype(dtype))
    expected = _expected(x, y, is_min)
    with pc.enable_x64(True):
        _same(pc.jit(function)(x, y), expected)
        _same(function(jnp.asarray(x), jnp.asarray(y)), expected)
        for count in (1, 3, 33):
            _same(pc.jit(function)(x[-count:], y[-count:]), expected[-count:])
        one = pc.jit(function)
        _same(np.stack([one(a, b) for a, b in zip(x[::5], y[::5], strict=True)]), expected[::5])


@pytest.mark.parametrize("is_min", [True, False])
def test_numbers_that_a_loop_carries(is_min: bool) -> None:
    function = lax.min if is_min else lax.max
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 300)).astype(np.float32)
    x[3:40:7, 100] = np.nan
    x[::2, 50], x[1::2, 51] = -0.0, 0.0

    def path(row: Any) -> Any:
        def cell(left: Any, value: Any) -> Any:
            value = function(function(left, value), value * 0.5) + 0.25
            return value, value

        return lax.scan(cell, jnp.float32(np.inf if is_min else -np.inf), row)[1]

    plain = np.minimum if is_min else np.maximum
    for row in (0, 3, 10, 11):
        left, expected = np.float32(np.inf if is_min else -np.inf), []
        for value in x[row]:
            left = plain(plain(left, value), value * np.float32(0.5)) + np.float32(0.25)
            expected.append(left)
        np.testing.assert_array_equal(pc.jit(path)(x[row]), np.array(expected))


@pytest.mark.parametrize("constant", [0.0, -0.0, 1.5, np.inf, -np.inf, np.nan])
def test_constants(constant: float) -> None:
    x = np.array(SPECIAL).astype(np.float32)
    y = np.full_like(x, constant)
    for is_min, function in ((True, jnp.minimum), (False, jnp.maximum)):
        got = np.asarray(pc.jit(lambda x, f=function: f(x, np.float32(constant)))(x))
        np.testing.assert_array_equal(got, _expected(x, y, is_min))
