"""Rules of NumPy's that other tests do not reach: empty, broadcast and out-of-range arguments, and the settings."""

import itertools
import re

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.nn import initializers

PARTS = [-0.0, 0.0, 1.0, 1.0, np.nan, -np.nan]
COMPLEX = np.array([complex(*parts) for parts in itertools.product(PARTS, repeat=2)], np.complex64)


def test_complex_nans_are_one_value_of_unique():
    for ours, theirs in zip(pnp.unique(COMPLEX, True, True, True), np.unique(COMPLEX, True, True, True), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("axis", [-1, -2])
def test_trapezoid_with_places_of_fewer_axes(axis):
    y, x = np.random.default_rng(0).random((2, 2, 3, 10), np.float32)[0], np.linspace(0, 1, 30).reshape(3, 10)
    x = x.astype(np.float32) ** 2
    np.testing.assert_allclose(pnp.trapezoid(y, x, axis=axis), np.trapezoid(y, x, axis=axis), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32"])
def test_unravel_index_keeps_the_dtype(dtype):
    places = pnp.unravel_index(np.array([3, 5], dtype), (2, 3))
    assert [place.dtype for place in places] == [dtype] * 2
    np.testing.assert_array_equal(places, np.unravel_index([3, 5], (2, 3)))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: pnp.arange(0j, 5), "arange: the bounds and the step are real numbers, got 0j"),
        (lambda: pnp.arange(0, 5, 1 + 1j), "arange: the bounds and the step are real numbers"),
        (lambda: pnp.fft.fftfreq(4, [1, 2]), "fftfreq: d is one distance"),
        (lambda: pnp.fft.rfftfreq(4, np.ones(2)), "rfftfreq: d is one distance"),
        (lambda: pnp.fft.fft(pnp.ones(3), 0), "fft: the lengths of a transform must be positive"),
        (lambda: pnp.fft.rfft(pnp.ones(0)), "rfft: the lengths of a transform must be positive"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        call()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_complex_transforms_of_nothing(shape):
    for function in (pnp.fft.fft, pnp.fft.ifft, pnp.fft.fftn):
        out = (
            function(pnp.zeros(shape))
            if shape[-1] == 0 or function is pnp.fft.fftn
            else function(pnp.zeros(shape), axis=0)
        )
        assert (out.shape, out.dtype) == (shape, np.complex64)


INDICES = np.array([0, 4, 2, 4])
AT = {
    "rows": (INDICES, np.arange(12.0).reshape(4, 3)),
    "a row for all": (INDICES, np.arange(3.0)),
    "a column": (INDICES, np.arange(4.0)[:, None]),
    "columns": ((slice(None), np.array([0, 2])), np.arange(10.0).reshape(5, 2)),
    "columns with a row": ((slice(None), np.array([0, 2])), np.arange(2.0)),
    "of two dimensions": ((np.array([[0, 1], [2, 0]]), 1), np.arange(2.0)),
    "with an ellipsis": ((np.array([0, 1]), ...), np.ones(3)),
    "an integer": (2, np.arange(3.0)),
}


@pytest.mark.parametrize("case", AT)
def test_at_of_any_function_broadcasts_the_values(case):
    index, values = AT[case]
    wanted = np.ones((5, 3), np.float32)
    np.add.at(wanted, index, values.astype(np.float32))
    add = pnp.frompyfunc(pnp.add, nin=2, nout=1, identity=0)
    got = add.at(np.ones((5, 3), np.float32), index, values.astype(np.float32), inplace=False)
    np.testing.assert_array_equal(got, wanted)


def test_reduceat_of_no_ranges():
    assert pnp.subtract.reduceat(pnp.ones((4, 2)), np.zeros(0, int)).shape == (0, 2)


def test_numpy_rank_promotion_in_vectorized_functions():
    with pc.numpy_rank_promotion("raise"):
        with pytest.raises(ValueError, match="different numbers of axes"):
            pnp.vectorize(pnp.add, signature="(),()->()")(pnp.zeros((3, 3)), pnp.zeros(3))
        both = pnp.vectorize(lambda a, b: a + b.sum(), signature="(),(k)->()")(pnp.zeros(3), pnp.ones((3, 2)))
        np.testing.assert_array_equal(both, [2.0, 2.0, 2.0])
        divide = pnp.frompyfunc(lambda a, b: a / b, nin=2, nout=1)
        assert divide.outer(pnp.ones((4, 3)), pnp.ones(2)).shape == (4, 3, 2)
        assert divide.reduceat(pnp.ones((4, 3)), np.array([0, 2])).shape == (2, 3)


def test_vectorize_takes_no_none_for_an_array():
    function = pnp.vectorize(lambda x, y: x, signature="(k),(k)->(k)")
    with pytest.raises(ValueError, match="argument 1 is None"):
        function(pnp.arange(3), None)


OUT = {
    "an integer": np.index_exp[3, :, 0],
    "from the end": np.index_exp[..., -6],
    "after a slice": np.index_exp[:5, :, 6],
    "with an array": np.index_exp[np.arange(2), 6, None],
}


@pytest.mark.parametrize("case", OUT)
def test_static_indices_are_checked(case):
    x, index = pnp.zeros((2, 3, 5)), OUT[case]
    assert x[index] is not None
    with pc.config.override("check_static_indices", True):
        for call in (lambda: x[index], lambda: pc.jit(lambda y: y[index])(x), lambda: x.at[index].get()):
            with pytest.raises(IndexError, match="out of bounds for axis"):
                call()
        assert x[1, -3, 4].shape == ()
        # With a mode, and for changes, an index out of bounds has its meaning.
        assert x.at[index].get(mode="clip") is not None
        assert x.at[index].set(1.0).shape == x.shape


ALIASES = {"abs": "absolute", "pow": "power", "mod": "remainder", "amax": "max", "acos": "arccos", "conj": "conjugate"}


@pytest.mark.parametrize("name", ALIASES)
def test_aliases_have_names_of_their_own(name):
    function = getattr(pnp, name)
    assert function.__name__ == name
    assert function.__doc__.startswith(f"Alias of `{ALIASES[name]}`")


@pytest.mark.parametrize("make", [initializers.uniform, initializers.normal, initializers.truncated_normal])
def test_a_wide_scale_does_not_widen_drawn_numbers(make):
    assert make(pnp.float32(2.0), pnp.bfloat16)(pc.random.key(0), (4, 4)).dtype == pnp.bfloat16


@pytest.mark.parametrize("shape", [(20000, 2), (2, 20000)])
def test_the_derivative_of_pinv_has_no_square_of_a_long_side(shape):
    a = np.random.default_rng(0).random(shape, np.float32)
    p, dp = pc.jvp(pnp.linalg.pinv, (a,), (a[::-1, ::-1],))
    # Of full rank: p a p = p, whose derivative is dp a p + p da p + p a dp = dp.
    short = a if shape[0] == 2 else a.T
    assert short.shape == (2, 20000)
    da = a[::-1, ::-1].copy()
    left = pnp.matmul(dp, pnp.matmul(a, p)) if shape[0] == 2 else pnp.matmul(pnp.matmul(dp, a), p)
    mid = pnp.matmul(p, pnp.matmul(da, p)) if shape[0] == 2 else pnp.matmul(pnp.matmul(p, da), p)
    right = pnp.matmul(p, pnp.matmul(a, dp)) if shape[0] == 2 else pnp.matmul(pnp.matmul(p, a), dp)
    np.testing.assert_allclose(left + mid + right, dp, atol=1e-6)
