"""Remainders of floats: exact for quotients of every size, as the C library's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as jnp
from pycompiler import lax

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, 5.0, -5.5, np.inf, -np.inf, np.nan, 2.0**53, 2.0**60 + 2**8, 1e-300, 1e300]


def _drawn(dtype: Any, count: int, spread: int, seed: int) -> np.ndarray:
    """Numbers of random signs, significands and exponents."""
    rng = np.random.default_rng(seed)
    significands = rng.uniform(1, 2, count) * rng.choice([-1, 1], count)
    return np.ldexp(significands, rng.integers(-spread, spread, count)).astype(dtype)


def _same(got: Any, expected: np.ndarray) -> None:
    """The same bits, but for those of a nan."""
    got = np.asarray(got)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got)[~np.isnan(expected)], np.signbit(expected)[~np.isnan(expected)])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spread", [3, 20, 60, 1000])
def test_quotients_of_any_size(dtype: str, spread: int) -> None:
    spread = min(spread, 120) if dtype == "float32" else spread
    x, y = _drawn(dtype, 20_011, spread, 0), _drawn(dtype, 20_011, spread, 1)
    with pc.enable_x64(True):
        _same(pc.jit(lax.rem)(x, y), np.fmod(x, y))
        _same(pc.jit(jnp.fmod)(x, y), np.fmod(x, y))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_near_whole_numbers(dtype: str) -> None:
    rng = np.random.default_rng(2)
    y = _drawn(dtype, 30_000, 5, 3)
    x = (y * np.floor(np.exp2(rng.uniform(0, 24 if dtype == "float32" else 50, y.size)))).astype(dtype)
    with pc.enable_x64(True):
        for near in (x, np.nextafter(x, np.inf, dtype=dtype), np.nextafter(x, -np.inf, dtype=dtype)):
            _same(pc.jit(lax.rem)(near, y), np.fmod(near, y))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_numbers(dtype: str) -> None:
    with np.errstate(all="ignore"):
        numbers = np.array(SPECIAL, dtype)
        tiny = np.array([np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max], dtype)
        numbers = np.concatenate([numbers, tiny, tiny * dtype_of(dtype)(3), -tiny])
        x, y = (each.ravel() for each in np.meshgrid(numbers, numbers))
        expected = np.fmod(x, y)
        with pc.enable_x64(True):
            _same(pc.jit(lax.rem)(x, y), expected)
            # The first elements of short vectors, and numbers without dimensions.
            for count in (1, 3, 17):
                _same(pc.jit(lax.rem)(x[-count:], y[-count:]), expected[-count:])
            one = pc.jit(lax.rem)
            _same([one(a, b) for a, b in zip(x[::7], y[::7], strict=True)], expected[::7])


def dtype_of(name: str) -> type:
    return np.dtype(name).type


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats(dtype: str) -> None:
    kind = jnp.dtype(dtype)
    x, y = (_drawn(np.float32, 5000, 9, seed).astype(kind) for seed in (4, 5))
    expected = np.fmod(x.astype(np.float32), y.astype(np.float32)).astype(kind)
    np.testing.assert_array_equal(np.asarray(pc.jit(lax.rem)(x, y)), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("divisor", [2 * np.pi, 1.0, 0.1, 360.0, -3.0])
def test_constant_divisors(dtype: str, divisor: float) -> None:
    x = _drawn(dtype, 10_007, 12, 6)
    y = dtype_of(dtype)(divisor)
    with pc.enable_x64(True):
        _same(pc.jit(lambda x: lax.rem(x, y))(x), np.fmod(x, y))
        np.testing.assert_array_equal(pc.jit(lambda x: jnp.mod(x, y))(x), np.mod(x, y))
        np.testing.assert_array_equal(pc.jit(lambda x: jnp.floor_divide(x, y))(x), np.floor_divide(x, y))


def test_derivatives() -> None:
    x, y = _drawn(np.float32, 100, 5, 7), _drawn(np.float32, 100, 5, 8)
    slopes = pc.jit(pc.grad(lambda x, y: lax.rem(x, y).sum(), argnums=(0, 1)))(x, y)
    np.testing.assert_array_equal(slopes[0], np.ones_like(x))
    np.testing.assert_array_equal(slopes[1], -np.trunc(x.astype(np.float64) / y).astype(np.float32))
