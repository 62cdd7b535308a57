"""Nested lists: the dtype of an array from a list, and the functions that take lists as arrays."""

import types

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import numpy as np
import pytest
import scipy.linalg
import scipy.signal
import scipy.special

import pycompiler as pc
import pycompiler.numpy as pnp

# Python's numbers adapt to elements with a dtype, at any depth. Elements with dtypes promote by JAX's table.
LISTS = [
    ([0, np.int16(1)], np.int16),
    ([0.0, np.float16(1)], np.float16),
    ([np.float16(1), 2], np.float16),
    ([1j, np.float32(2)], np.complex64),
    ([2.5, np.int8(1)], np.float32),
    ([True, np.int8(2)], np.int8),
    ([np.int32(1), np.float16(2)], np.float16),
    ([np.int8(1), np.uint8(3)], np.int16),
    ([[0, 1], [np.int8(1), 2]], np.int8),
    ([np.zeros(2, np.int16), [1, 2]], np.int16),
    ((np.uint8(1), (np.uint8(2))), np.uint8),
    ([1, 2], np.int32),
    ([1, 2.5], np.float32),
]


@pytest.mark.parametrize(("given", "dtype"), LISTS)
def test_the_dtype_of_a_list(given, dtype):
    ours = [pnp.asarray(x) if isinstance(x, (np.generic, np.ndarray)) else x for x in given]
    for made in (
        pnp.array(given),
        pc.jit(pnp.array)(given),
        pnp.asarray(given),
        pnp.array(ours),
        pc.jit(pnp.array)(ours),
    ):
        assert made.dtype == dtype
        assert not made.aval.weak_type
        np.testing.assert_array_equal(made, np.array([np.asarray(x) for x in given], dtype))
    assert jnp.array(given).dtype == dtype


def test_numbers_that_a_list_does_not_hold():
    with pytest.raises(OverflowError, match="does not fit into int8"):
        pnp.array([300, np.int8(1)])
    for kind in (TypeError, ValueError):
        with pytest.raises(kind, match="does not hold numbers only"):
            pnp.array([0.0, None])


MATRIX = [[4.0, 1.0], [1.0, 3.0]]
# JAX's functions that take lists.
TAKE_LISTS = {
    "array_equal": lambda np_, nn, sp: np_.array_equal([1, 2], [1, 2]),
    "array_equal of unequal": lambda np_, nn, sp: np_.array_equal([1, 2], [1, 3]),
    "array_equiv": lambda np_, nn, sp: np_.array_equiv([1, 1], [1]),
    "one_hot": lambda np_, nn, sp: nn.one_hot([0, 1, 3], 3),
    "ihfft": lambda np_, nn, sp: np_.fft.ihfft([1.0, 2.0, 4.0]),
    "detrend": lambda np_, nn, sp: sp.signal.detrend([1.0, 2.0, 4.0]),
    "expn": lambda np_, nn, sp: sp.special.expn([1.0, 2.0], [2.0, 1.0]),
    "hyp1f1": lambda np_, nn, sp: sp.special.hyp1f1([1.0, 2.0], [0.5, 1.5], [0.1, 0.2]),
    "ndtr": lambda np_, nn, sp: sp.special.ndtr([1.0, 0.5]),
    "log_ndtr": lambda np_, nn, sp: sp.special.log_ndtr([1.0, 0.5]),
    "spence": lambda np_, nn, sp: sp.special.spence([1.0, 0.5]),
    "cholesky": lambda np_, nn, sp: sp.linalg.cholesky(MATRIX),
    "cho_factor": lambda np_, nn, sp: np_.triu(sp.linalg.cho_factor(MATRIX)[0]),
    "eigh": lambda np_, nn, sp: sp.linalg.eigh(MATRIX)[0],
    "lu": lambda np_, nn, sp: sp.linalg.lu(MATRIX)[2],
    "lu_factor": lambda np_, nn, sp: sp.linalg.lu_factor(MATRIX)[0],
    "polar": lambda np_, nn, sp: sp.linalg.polar(MATRIX)[1],
    "qr": lambda np_, nn, sp: np_.abs(sp.linalg.qr(MATRIX)[1]),
    "svd": lambda np_, nn, sp: sp.linalg.svd(MATRIX)[1],
}


OF_NUMPY = types.SimpleNamespace(one_hot=lambda x, count: np.equal.outer(x, np.arange(count)).astype(float))


@pytest.mark.parametrize("name", TAKE_LISTS)
def test_functions_that_take_lists(name):
    function = TAKE_LISTS[name]
    ours, kind = function(pnp, pc.nn, pc.scipy), jax.eval_shape(lambda: function(jnp, jax.nn, jsp))
    assert ours.dtype == kind.dtype
    np.testing.assert_allclose(ours, function(np, OF_NUMPY, scipy), rtol=1e-5, atol=1e-6)


def test_iscomplexobj_of_lists():
    for given in ([1, 2], [1j, 2], [[1.0], [2j]], (pnp.ones(2), 3), [pnp.array(1j)]):
        assert pnp.iscomplexobj(given) == np.iscomplexobj(np.asarray([np.asarray(x).ravel()[0] for x in given]))
        found = []
        pc.jit(lambda x, found=found: found.append(pnp.iscomplexobj(x)))(given)
        assert found == [pnp.iscomplexobj(given)]


def test_piecewise_of_a_list_of_traced_bools():
    function = pc.jit(lambda x: pnp.piecewise(x, [x < 0, x >= 2], [-1.0, lambda x: 10 * x, 0.5]))
    assert [float(function(x)) for x in (-3.0, 1.0, 2.5)] == [-1, 0.5, 25]
