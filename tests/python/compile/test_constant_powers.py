"""Powers with constant exponents, which are products and roots: special values, rounding, derivatives."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import enable_x64

EXPONENTS = [0.0, 1.0, 2.0, 3.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 4.0]


def power(exponent, dtype):
    """A compiled function of which the exponent is a constant."""
    return pc.jit(lambda x: lax.pow(x, dtype(exponent)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_special_values_are_those_of_c(exponent, dtype):
    with enable_x64(True):
        tiny = np.finfo(dtype).smallest_subnormal
        x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -2.0, -0.5, 1.0, -1.0, tiny, -tiny, 4.0], dtype)
        with np.errstate(all="ignore"):
            want = np.power(x, np.full_like(x, exponent))  # NumPy takes the root for one exponent of a half
        ours = np.asarray(power(exponent, dtype)(x))
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(want))
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(ours[known]), np.signbit(want[known]))
    np.testing.assert_allclose(ours[known], want[known], rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_are_two_units_from_the_result(exponent, dtype):
    with enable_x64(True):
        info = np.finfo(dtype)
        rng = np.random.default_rng(0)
        x = np.exp2(rng.uniform(info.minexp, info.maxexp, 4001)).astype(dtype)
        x = np.concatenate([x, rng.uniform(0.5, 2, 4001).astype(dtype)])
        with np.errstate(all="ignore"):
            exact = np.power(x.astype(np.longdouble), np.longdouble(exponent))
            ours = np.asarray(power(exponent, dtype)(x))
            unit = np.spacing(np.abs(exact).astype(dtype)).astype(np.longdouble)
            inside = np.isfinite(unit) & (exact < info.max) & (exact > info.tiny)
    assert inside.sum() > 4000
    assert np.all(np.abs(ours[inside] - exact[inside]) <= 2 * unit[inside])


@pytest.mark.parametrize("exponent", [0.5, 1.5, -1.5, 3.0])
def test_derivatives(exponent):
    slope = pc.jit(pc.vmap(pc.grad(lambda x: x**exponent)))(pnp.array([0.5, 1.0, 3.0]))
    np.testing.assert_allclose(slope, exponent * np.array([0.5, 1.0, 3.0]) ** (exponent - 1), rtol=1e-6)
