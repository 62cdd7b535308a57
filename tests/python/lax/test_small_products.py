"""Products of floats of 8 bits and less: the factors are exact in float32, and the sums are those of float32. Expected
values are NumPy's of the converted factors."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

FLOATS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float4_e2m1fn"]
MATMUL = (((1,), (0,)), ((), ()))
X = np.random.default_rng(0).standard_normal((4, 5)).astype("f4")
Y = np.random.default_rng(1).standard_normal((5, 3)).astype("f4")


@pytest.mark.parametrize("how", [lambda f: f, pc.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("preferred", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize(("one", "other"), list(itertools.product(FLOATS, FLOATS)))
def test_products(one, other, preferred, how):
    x, y = X.astype(getattr(ml_dtypes, one)), Y.astype(getattr(ml_dtypes, other))
    f = how(lambda x, y: lax.dot_general(x, y, MATMUL, preferred_element_type=preferred))
    got = f(pnp.asarray(x), pnp.asarray(y))
    assert got.dtype.name == preferred
    expected = x.astype("f4") @ y.astype("f4")
    np.testing.assert_allclose(
        np.asarray(got.astype("float32")), expected, rtol=1e-2 if preferred != "float32" else 1e-6
    )


def test_the_result_has_the_dtype_of_both_factors():
    x, y = X.astype(ml_dtypes.float8_e5m2), Y.astype(ml_dtypes.float8_e5m2)
    got = pnp.matmul(pnp.asarray(x), pnp.asarray(y))
    expected = (x.astype("f4") @ y.astype("f4")).astype(ml_dtypes.float8_e5m2)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(got).view("u1"), expected.view("u1"))


def test_batches_of_products():
    x, y = (np.stack([a, 2 * a]).astype(ml_dtypes.float8_e4m3fn) for a in (X, Y))
    got = pc.vmap(lambda x, y: lax.dot_general(x, y, MATMUL, preferred_element_type="float32"))(x, y)
    np.testing.assert_allclose(got, x.astype("f4") @ y.astype("f4"), rtol=1e-6)


@pytest.mark.parametrize(
    ("one", "other", "preferred", "text"),
    [
        ("float8_e4m3fn", "float8_e5m2", None, "give preferred_element_type"),
        ("float8_e4m3fn", "float8_e4m3fn", "int32", "can't be given as int32"),
    ],
)
def test_errors(one, other, preferred, text):
    with pytest.raises(TypeError, match=text):
        lax.dot_general(pnp.asarray(X, one), pnp.asarray(Y, other), MATMUL, preferred_element_type=preferred)


def test_einsum_tells_another_function_the_dtype_of_the_result():
    asked = []

    def dot_general(*args, preferred_element_type=None, **more):
        asked.append(preferred_element_type)
        return lax.dot_general(*args, preferred_element_type=preferred_element_type, **more)

    np.testing.assert_allclose(pnp.einsum("ij,jk->ik", X, Y, _dot_general=dot_general), X @ Y, rtol=1e-5)
    pnp.einsum("ij,jk->ik", X, Y, preferred_element_type="float32", _dot_general=dot_general)
    pnp.einsum("ij,jk->ik", *(pnp.asarray(a, "bfloat16") for a in (X, Y)), _dot_general=dot_general)
    assert [np.dtype(dtype).name for dtype in asked] == ["float32", "float32", "bfloat16"]


def test_a_backward_function_runs_for_cotangents_that_are_zero():
    @pc.custom_vjp
    def through(x):
        return x

    through.defvjp(lambda x: (x, None), lambda _, g: (g + 7,))

    @pc.custom_vjp
    def cut(x):
        return x

    cut.defvjp(lambda x: (x, None), lambda _, g: (None,))
    assert pc.grad(lambda x: cut(through(x)))(1.0) == 7
    assert pc.jit(pc.grad(lambda x: cut(through(x))))(1.0) == 7
