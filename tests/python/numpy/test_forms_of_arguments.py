"""Arguments in other forms than arrays in position: lists by keyword, tolerances of any dtype, shifts of bools."""

import operator

import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import nn
from pycompiler import numpy as pnp
from pycompiler.scipy import linalg as plinalg


def test_lists_by_keyword():
    assert pnp.array_equal(a1=[1, 2], a2=(1, 2))
    assert not pnp.array_equal([1, 2], a2=[1, 3])
    assert pnp.array_equiv(a1=[[1, 2], [1, 2]], a2=[1, 2])
    np.testing.assert_array_equal(nn.one_hot(x=[0, 2], num_classes=3), [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_allclose(plinalg.lu_factor(a=[[2.0, 0.0], [0.0, 4.0]])[0], [[2, 0], [0, 4]])


@pytest.mark.parametrize("tolerance", [1, np.int64(1), True, np.float32(1), np.ones(2, "int32")])
def test_tolerances_of_any_dtype(tolerance):
    a, b = np.float32([1, 4]), np.float32([1.5, 9])
    np.testing.assert_array_equal(pnp.isclose(a, b, rtol=tolerance, atol=0), np.isclose(a, b, rtol=tolerance, atol=0))
    np.testing.assert_array_equal(pnp.isclose(a, b, rtol=0, atol=tolerance), np.isclose(a, b, rtol=0, atol=tolerance))


@pytest.mark.parametrize("shift", [operator.lshift, operator.rshift])
@pytest.mark.parametrize("by", [True, np.array([True, True])])
def test_shifts_of_bools_are_of_integers(shift, by):
    x = np.array([True, False])
    want = shift(jnp.asarray(x), by)
    assert want.dtype == "int32"
    for got in (shift(pnp.asarray(x), by), pc.jit(shift)(x, by), pc.vmap(shift)(x, np.array([True, True]))):
        np.testing.assert_array_equal(got, want, strict=True)
    with pc.enable_x64(True):
        assert shift(pnp.asarray(x), by).dtype == "int64"
