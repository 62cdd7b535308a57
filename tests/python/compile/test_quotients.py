"""Vectors that are divided by constants: the bits of a division, for ordinary, difficult and special numbers."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

DIVISORS = [3.0, 7.0, 10.0, -20000.0, 50.0, 0.1, 5e-4, -1e-4, 1e30, 3e-30, 0.079, 0.165, 0.187, 0.413, 1.7, 16.0, -0.25]

# Significands whose quotients are hardly off the middle of two floats: products with a reciprocal in two parts round
# them to the other side. They are why these divisors keep their division.
DIFFICULT = [7318992765852406, 8067877046746577, 5895211912228026, 7420967128843568]


def dividends(dtype):
    random = np.random.default_rng(11)
    info = np.finfo(dtype)
    ordinary = random.normal(size=4096) * 2.0 ** random.integers(-20, 20, 4096)
    # All exponents: small, denormal and overflowing quotients.
    everywhere = random.uniform(-1, 1, 4096) * 2.0 ** random.uniform(info.minexp - info.nmant, info.maxexp, 4096)
    ties = np.arange(-600, 600) * float(info.smallest_subnormal)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, -info.tiny]
    return np.concatenate([ordinary, everywhere, ties, special, DIFFICULT]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("divisor", DIVISORS)
def test_quotients_are_those_of_a_division(dtype, divisor):
    divisor = dtype(divisor)
    with pc.enable_x64(True):
        x = dividends(dtype)
        with np.errstate(all="ignore"):
            expected = x / divisor
        np.testing.assert_array_equal(
            np.asarray(pc.jit(lambda x: x / divisor)(x)).view(f"i{x.itemsize}")[~np.isnan(expected)],
            expected.view(f"i{x.itemsize}")[~np.isnan(expected)],
        )
        assert np.isnan(np.asarray(pc.jit(lambda x: x / divisor)(x))[np.isnan(expected)]).all()


def test_all_significands_of_f32():
    x = np.arange(1 << 23, 1 << 24, dtype=np.int32).astype(np.float32)
    for divisor in np.array([3, 10, 0.079, 0.1, 1.3, 1.7, 1.9, 12345.678, 2e4], np.float32):
        np.testing.assert_array_equal(np.asarray(pc.jit(lambda x, d=divisor: x / d)(x)), x / divisor)


@pytest.mark.parametrize("length", [1, 3, 17, 100])
def test_short_vectors_and_several_quotients(length):
    x = np.linspace(-3, 5, length, dtype=np.float32)
    got = pc.jit(lambda x: (pnp.sqrt(pnp.abs(x / 3)) + 1) / 10 - x / 7)(x)
    expected = (np.sqrt(np.abs(x / np.float32(3))) + 1) / np.float32(10) - x / np.float32(7)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6, atol=1e-7)
