"""Windows and the derivatives of their extrema against NumPy: every form of generated code, in every dtype."""

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
from pycompiler import lax
from pycompiler import numpy as pnp
from pycompiler.primitives import window
from pycompiler.primitives.window import patches, window_params

RNG = np.random.default_rng(0)
SUMS = {
    "sum": window.reduce_window_sum,
    "prod": window.reduce_window_prod,
    "max": window.reduce_window_max,
    "min": window.reduce_window_min,
}
SELECTIONS = {"gather": window.select_and_gather, "scatter": window.select_and_scatter}
SAME = (0, 1, 1, 0)
# What the compiler makes of each: the shape of the operand, and the windows.
FORMS = {
    "features last": ((2, 8, 8, 17), window_params((1, 2, 2, 1), (1, 2, 2, 1))),
    "features first": ((2, 3, 8, 34), window_params((1, 1, 2, 2), (1, 1, 2, 2))),
    "rest": ((1, 7, 9, 3), window_params((1, 2, 2, 1), (1, 2, 2, 1))),
    "overlap and padding": ((3, 9, 8, 5), window_params((1, 3, 3, 1), (1, 2, 2, 1), SAME, SAME)),
    "rows in the cache": ((40, 3, 16, 16), window_params((1, 1, 3, 3), (1, 1, 2, 2), (0, 0, 1, 1), (0, 0, 1, 1))),
    "stride 1": ((2, 5, 36), window_params((1, 3, 3), None, SAME[:3], (0, 1, 1))),
    "dilated windows": ((4, 23), window_params((1, 3), (1, 2), (0, 3), (0, 2), None, (1, 3))),
    "cropped": ((6, 21), window_params((2, 3), (1, 2), (-1, -2), (-1, 1))),
    "more padding than windows": ((5, 4), window_params((1, 2), (1, 2), (0, 5), (0, 5))),
    "a reduction": ((10, 24, 9), window_params((1, 6, 3), (1, 6, 3))),
    "the whole": ((3, 7, 7, 8), window_params((1, 7, 7, 1))),
    "one dimension after the other": ((2, 11, 40), window_params((1, 5, 5), None, (0, 2, 2), (0, 2, 2))),
    "factors": ((3, 90), window_params((1, 48), None, (0, 20), (0, 5))),
    "a prime length": ((2, 90), window_params((1, 37))),
    "a length of two primes": ((2, 90), window_params((1, 38), (1, 3), (0, 1))),
    "running": ((4, 33), window_params((1, 33), None, (0, 32))),
    "running backwards, pairs": ((33, 6), window_params((33, 2), (1, 2), None, (32, 0))),
    "copies": ((3, 4, 5), window_params((2, 1, 3), None, (1, 0, 2), (1, 0, 2), (2, 1, 3))),
    "phases": ((4, 5), window_params((3, 2), None, (2, 1), (2, 0), (2, 3))),
    "phases without elements": ((4, 5), window_params((2, 2), None, None, (1, 1), (3, 3))),
    "dilated, with a stride": ((9, 5), window_params((3, 2), (2, 1), (1, 0), None, (2, 3))),
}
TOLERANCE = {"float32": 1e-5, "float64": 1e-13, "bfloat16": 2e-2, "float16": 3e-3, "complex64": 1e-5}


def elements(shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RNG.random(shape) < 0.5
    if dtype.kind in "iu":
        return RNG.integers(0 if dtype.kind == "u" else -4, 5, shape).astype(dtype)
    if dtype.kind == "c":
        return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(dtype)
    return RNG.normal(size=shape).astype(dtype)


def check(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    tolerance = TOLERANCE.get(want.dtype.name, 0)
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", SUMS)
def test_form(form, kind):
    shape, params = FORMS[form]
    x = elements(shape, np.float32) * np.float32(0.2) + np.float32(kind == "prod")
    check(pc.jit(lambda x: SUMS[kind].bind(x, **params))(x), SUMS[kind].reference(x, **params))


@pytest.mark.parametrize(
    "form", ["overlap and padding", "one dimension after the other", "factors", "phases", "running"]
)
@pytest.mark.parametrize(
    "dtype", ["float64", ml_dtypes.bfloat16, "float16", "int32", "uint8", "int8", "bool", "complex64"]
)
def test_dtype(form, dtype):
    shape, params = FORMS[form]
    kinds = {"b": ("max", "min"), "c": ("sum",)}.get(np.dtype(dtype).kind, tuple(SUMS))
    with pc.enable_x64(dtype == "float64"):
        x = elements(shape, dtype)
        for kind in kinds:
            if kind == "prod" and np.dtype(dtype).kind not in "iu":
                x = (x * np.dtype(dtype).type(0.1) + np.dtype(dtype).type(1)).astype(dtype)
            check(pc.jit(lambda x, kind=kind: SUMS[kind].bind(x, **params))(x), SUMS[kind].reference(x, **params))


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("running backwards, pairs",)])
@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("greatest", [True, False], ids=["max", "min"])
def test_selection(form, name, greatest):
    """Elements repeat, so that the first one counts. Some are nan, and some what padding could be taken for."""
    shape, params = FORMS[form]
    x = np.round(elements(shape, np.float32) * 2)
    x.flat[:: max(x.size // 7, 1)] = np.nan
    x.flat[1 :: max(x.size // 9, 1)] = -np.inf if greatest else np.inf
    like = shape if name == "gather" else patches(x, np.float32(0), params).shape[: len(shape)]
    source = elements(like, np.float32)
    got = pc.jit(lambda s, x: SELECTIONS[name].bind(s, x, greatest=greatest, **params))(source, x)
    # The reference ranks infinities with padding, so those windows are checked below.
    want = SELECTIONS[name].reference(
        source, np.where(np.isinf(x), np.sign(x) * np.float32(1e30), x), greatest=greatest, **params
    )
    check(got, want)


def test_infinite_elements_beside_padding():
    params = window_params((3,), (2,), (1,), (1,))
    x, source = np.full(5, -np.inf, np.float32), np.float32([1, 2, 4])
    got = pc.jit(lambda s, x: window.select_and_scatter.bind(s, x, greatest=True, **params))(source, x)
    np.testing.assert_array_equal(got, np.float32([1, 2, 0, 4, 0]))


@pytest.mark.parametrize("kind", ["max", "min"])
def test_nan_and_zeros(kind):
    """A nan is the extremum of its windows; of zeros the first."""
    x = np.float32([[0.0, -0.0, 3, np.nan, 1, 2, -0.0, 0.0], [-np.nan, 1, -np.inf, np.inf, np.nan, np.nan, 5, 4]])
    params = window_params((1, 2), (1, 2))
    got = np.asarray(pc.jit(lambda x: SUMS[kind].bind(x, **params))(x))
    pairs = x.reshape(2, 4, 2)
    want = (np.maximum if kind == "max" else np.minimum)(pairs[..., 0], pairs[..., 1])
    np.testing.assert_array_equal(got, want)
    assert np.signbit(got[0, 0]) == np.signbit(x[0, 0])
    assert np.signbit(got[0, 3]) == np.signbit(x[0, 6])


@pytest.mark.parametrize("reach", [2, 3])
def test_fused_with_neighbours(reach):
    """Producers and readers of windows that do not overlap, and of some that do."""
    x = elements((2, 9, 9, 8), np.float32)

    def program(m):
        def pooled(x):
            y = m.reduce_window(pnp.tanh(x) * 2, np.float32(-np.inf), m.max, (1, reach, reach, 1), (1, 2, 2, 1))
            return pnp.exp(y) + 1

        return pooled

    tops = SUMS["max"].reference(np.tanh(x) * 2, **window_params((1, reach, reach, 1), (1, 2, 2, 1)))
    check(pc.jit(program(lax))(x), np.exp(tops) + np.float32(1))


def test_long_sums_stay_accurate():
    """A window of 1024 equal numbers, in every form of a long sum."""
    x = np.full(4096, np.float32(0.1))
    for stride, low in ((1, 0), (1024, 0), (1, 100)):
        params = window_params((1024,), (stride,), (low,))
        got = np.asarray(pc.jit(lambda x, params=params: SUMS["sum"].bind(x, **params))(x), np.float64)
        want = np.asarray(SUMS["sum"].reference(x.astype(np.float64), **params))
        np.testing.assert_allclose(got, want, rtol=4e-7)
