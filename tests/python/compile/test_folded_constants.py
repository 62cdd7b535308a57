"""Functions of constants, which the compiler folds, have the values that the same functions compute of arguments."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

VALUES = [0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3.5, np.inf, -np.inf, np.nan, 1e-30, 1e4, -100, 710]
UNARY = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "sqrt",
    "rsqrt",
    "cbrt",
    "logistic",
    "erf",
    "erfc",
    "erf_inv",
    "lgamma",
    "digamma",
    "floor",
    "ceil",
    "round",
    "sign",
    "abs",
    "neg",
    "is_finite",
    "square",
    "reciprocal",
    "bessel_i0e",
    "bessel_i1e",
]
BINARY = [
    "atan2",
    "pow",
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "max",
    "min",
    "nextafter",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
]
RTOL = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6}


def _constants(function, *columns):
    """The function of each row of numbers, in one program without an array in its arguments."""

    def program(like):
        return tuple(function(*(pnp.full_like(like, value) for value in row)) for row in zip(*columns, strict=True))

    return np.array([np.asarray(x) for x in pc.jit(program)(columns[0][0])]).astype(np.float64)


def _check(name, dtype, *columns):
    function = getattr(lax, name)
    folded = _constants(function, *columns)
    computed = np.asarray(pc.jit(function)(*(np.array(column) for column in columns))).astype(np.float64)
    np.testing.assert_allclose(folded, computed, rtol=RTOL[dtype], atol=0, err_msg=name)
    np.testing.assert_array_equal(np.signbit(folded)[computed == 0], np.signbit(computed)[computed == 0], err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", UNARY)
def test_one_constant(name, dtype):
    _check(name, dtype, [np.asarray(x).astype(getattr(pnp, dtype))[()] for x in VALUES])


@pytest.mark.parametrize("dtype", ["float32", "float16", pytest.param("bfloat16", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", BINARY)
def test_two_constants(name, dtype):
    values = [np.asarray(x).astype(getattr(pnp, dtype))[()] for x in (0.0, -0.0, 1, -1.5, np.inf, -np.inf, np.nan)]
    pairs = [(x, y) for x in values for y in values]
    _check(name, dtype, *map(list, zip(*pairs, strict=True)))


def test_the_angle_of_the_origin():
    zeros = [(0.0, 0.0, 0.0), (0.0, -0.0, np.pi), (-0.0, 0.0, -0.0), (-0.0, -0.0, -np.pi)]
    for y, x, angle in zeros:
        found = pc.jit(lambda like, y=y, x=x: lax.atan2(pnp.full_like(like, y), pnp.full_like(like, x)))(np.float32(3))
        assert found == np.float32(angle)
        assert np.signbit(found) == np.signbit(angle)
    assert pc.jit(lambda: pnp.angle(pnp.complex64(0)))() == 0
