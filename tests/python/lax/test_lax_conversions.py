"""Conversions of Python's numbers by lax, and the classes of errors for windows that do not fit."""

import jax
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import lax

NUMBERS = [2**32, 2**31, -(2**31) - 1, 300, -1, 7]


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_an_int_keeps_its_low_bits(number, dtype, wrap):
    expected = np.asarray(number, np.int64).astype(dtype)
    got = wrap(lambda: lax.convert_element_type(number, dtype))()
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 2.7, -2.7, 1e20])
@pytest.mark.parametrize("dtype", [np.int32, np.int8, np.uint16])
def test_a_float_becomes_what_an_array_of_it_does(number, dtype):
    expected = lax.convert_element_type(np.asarray([number], np.float32), dtype)[0]
    np.testing.assert_array_equal(lax.convert_element_type(number, dtype), expected)
    np.testing.assert_array_equal(pc.jit(lambda: lax.convert_element_type(number, dtype))(), expected)


def test_the_conjugate_of_a_number_is_weak():
    for x in (2.0, 2j):
        assert lax.conj(x).aval.weak_type == jax.lax.conj(x).aval.weak_type
        assert not lax.conj(np.float32(2)).aval.weak_type


def test_products_of_lax_are_not_numpys_promotion():
    x, y = np.ones((2, 3), np.float32), np.ones((3, 2), np.int32)
    with pc.numpy_dtype_promotion("strict"):
        assert lax.dot(x, y).dtype == np.float32
        with pytest.raises(ValueError, match="numpy_dtype_promotion"):
            pc.numpy.dot(x, y)


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_windows_that_do_not_fit(kind):
    x = np.ones((3, 4), np.float32)
    numbers = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0, 1))
    for f in (
        lambda: lax.reduce_window(x, 0.0, lax.add, (0, 1), (1, 1), "VALID"),
        lambda: lax.reduce_window(x, np.zeros(1, np.float32), lax.add, (1, 1), (1, 1), "VALID"),
        lambda: lax.gather(x, np.zeros((2, 1), np.int32), numbers, (1, 4)),
    ):
        with pytest.raises(kind, match=r"reduce_window|gather"):
            f()
