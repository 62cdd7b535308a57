"""Arguments: errors for unsupported ones, and the meaning of those that JAX's functions also take; lists by keyword,
tolerances of any dtype, shifts of bools."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import nn
from pycompiler.scipy import linalg as plinalg

REAL, COMPLEX = np.arange(4, dtype=np.float32), (np.arange(4) * (1 + 1j)).astype(np.complex64)


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
@pytest.mark.parametrize("x", [REAL, COMPLEX, REAL.astype(np.int32)], ids=["real", "complex", "integers"])
@pytest.mark.parametrize("dtype", [None, np.float32, np.float16, np.complex64], ids=str)
def test_variance_in_a_dtype(name, x, dtype):
    if np.iscomplexobj(x) and dtype is not None and not np.issubdtype(dtype, np.complexfloating):
        for kind in (TypeError, ValueError):
            with pytest.raises(kind, match=f"{name}: takes complex numbers as those of a complex dtype"):
                getattr(pnp, name)(x, dtype=dtype)
        return
    kind = jax.eval_shape(lambda: getattr(jnp, name)(x, dtype=dtype))
    # In half precision, NumPy rounds each step.
    expected = getattr(np, name)(x, dtype=None if dtype == np.float16 else dtype)
    for run in (getattr(pnp, name), pc.jit(getattr(pnp, name), static_argnames="dtype")):
        result = run(x, dtype=dtype)
        assert result.dtype == kind.dtype
        np.testing.assert_allclose(np.asarray(result, np.complex64), np.asarray(expected, np.complex64), rtol=1e-3)


def test_numbers_are_looked_for_in_arrays_with_dimensions():
    assert 1 in pnp.arange(4)
    assert 100 not in pnp.arange(4)
    assert pnp.float32(2) in pnp.ones((2, 2)) * 2
    for value, x in ((1, pnp.array(1)), (np.arange(2), pnp.arange(4)), (pnp.arange(2), pnp.arange(2))):
        with pytest.raises(ValueError, match="in: a number is looked for in an array with dimensions"):
            value in x  # noqa: B015


@pytest.mark.parametrize(
    "start", [(5.0,), (4.3,), (np.float32(3),), (-2.5,), (0.0, 3), (2.5, None, None, int)], ids=str
)
def test_ranges_from_zero_are_made_where_they_are(start):
    expected = np.arange(*start)
    with pc.transfer_guard("disallow"):
        made = pnp.arange(*start)
    np.testing.assert_array_equal(made, expected)
    assert made.dtype == (np.int32 if expected.dtype.kind == "i" else np.float32)


@pytest.mark.parametrize(
    "f",
    [
        lambda n: pnp.mgrid[0:n],
        lambda n: pnp.ogrid[0:n, 1:2],
        lambda n: pnp.r_[0:n],
        lambda n: pnp.c_[0:n],
        lambda n: pnp.ravel_multi_index((n,), (3,)),
        lambda n: pnp.bincount(n[None]),
        lambda n: pnp.choose(n, [1, 2]),
    ],
)
def test_what_needs_a_value_says_of_which_argument(f):
    with pytest.raises(pc.errors.ConcretizationTypeError, match="It depends on the argument 'n'"):
        pc.jit(f)(1)


def test_functions_of_real_numbers_refuse_complex_ones():
    for kind in (TypeError, ValueError):
        for f in (
            lambda: pnp.hypot(1j, 2.0),
            lambda: pc.scipy.special.sici(COMPLEX),
            lambda: pc.lax.floor(COMPLEX),
            lambda: pnp.arctan2(1j, 1.0),
        ):
            with pytest.raises(kind, match="takes"):
                f()


@pytest.mark.parametrize("small", [pnp.float8_e5m2, pnp.float4_e2m1fn, pnp.int4])
def test_small_types_do_not_promote(small):
    x, y = pnp.ones(2, small), pnp.ones(2)
    for kind in (TypeError, ValueError):
        for f in (lambda: x + y, lambda: pnp.where(True, x, y), lambda: pnp.result_type(x, y)):
            with pytest.raises(kind, match="have no common type"):
                f()


@pytest.mark.parametrize("small", [pnp.float8_e5m2, pnp.float4_e2m1fn, pnp.int4])
def test_reductions_of_small_types_say_their_dtype(small):
    x, name = pnp.ones((2, 2), small), np.dtype(small).name
    functions = (pnp.max, pnp.min, pnp.amax, pnp.ptp, pnp.nanmin, pnp.histogram_bin_edges)
    for f in functions:
        with pytest.raises(TypeError, match=rf"{name} is for storage.*\.astype"):
            f(x)
    for f in (pnp.sum, pnp.trace, pnp.nansum, lambda x: pc.lax.reduce_sum(x, (0,)), lambda x: x.sum(0)):
        with pytest.raises(TypeError, match=r"takes numbers, got .*converted first"):
            f(x)
        with pytest.raises(TypeError, match=r"takes numbers, got .*converted first"):
            pc.jit(f)(x)


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
    assert jax.eval_shape(lambda: shift(jnp.asarray(x), by)).dtype == "int32"
    want = shift(x.astype(np.int32), np.asarray(by).astype(np.int32))
    for got in (shift(pnp.asarray(x), by), pc.jit(shift)(x, by), pc.vmap(shift)(x, np.array([True, True]))):
        np.testing.assert_array_equal(got, want, strict=True)
    with pc.enable_x64(True):
        assert shift(pnp.asarray(x), by).dtype == "int64"
