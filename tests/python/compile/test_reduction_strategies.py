"""Reductions of array-vectorize-linalg by shuffles, by nan-aware comparisons and in one sweep, against NumPy, at sizes
around those of vectors and tiles."""

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

SIZES = [1, 7, 15, 16, 17, 63, 64, 65, 1003]


def numbers(*shape, dtype=np.float32, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * 8).astype(dtype)


def check(function, *arguments, reference=None, rtol=2e-6):
    expected = (reference or function)(np, *arguments)
    got = pc.jit(lambda *xs: function(pnp, *xs))(*[pnp.asarray(x) for x in arguments])
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    if expected.dtype == np.float32:
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-5)
    else:
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("step", [2, 3, 5, 8, 9])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int16, np.int32])
def test_every_so_many_elements(size, step, dtype):
    x = numbers(size * step, dtype=dtype)
    check(lambda np, x: x[::step] + x[step - 1 :: step], x)
    check(lambda np, x: x[1::step] * 2, x)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", [2, 3, 4, 7, 8, 10])
def test_short_rows(size, width):
    x, y = numbers(size, width), numbers(width, seed=1)
    check(lambda np, x: x.sum(-1), x)
    check(lambda np, x: x.max(-1), x)
    check(lambda np, x: x.argmax(-1).astype(np.int32), x)
    check(lambda np, x: x.argmin(-1).astype(np.int32), np.round(x / 8))
    check(lambda np, x: x.T * 2, x)
    check(lambda np, x, y: x * y + 1, x, y)
    check(lambda np, x: x / np.sqrt((x * x).sum(-1, keepdims=True) + 1), x)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", [2, 3, 8])
def test_stack_of_columns(size, count):
    xs = [numbers(size, seed=i) for i in range(count)]
    check(lambda np, *xs: np.stack(xs, -1), *xs)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", [0, -1, None])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_extremes_of_nans(size, place, axis):
    x = numbers(5, size)
    if place is not None:
        x[2, place] = np.nan
        x[2, size // 2] = -np.nan
    for name in ["max", "min"]:
        check(lambda np, x, name=name: getattr(x, name)(axis), x)
    for name in ["argmax", "argmin"]:
        check(lambda np, x, name=name: getattr(x, name)(axis).astype(np.int32), x)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8, np.int32])
def test_first_of_equal_extremes(size, dtype):
    x = numbers(5, size).astype(np.int8).astype(dtype)
    for name in ["argmax", "argmin"]:
        check(lambda np, x, name=name: getattr(x, name)(1).astype(np.int32), x)
        check(lambda np, x, name=name: getattr(x, name)(1).astype(np.int32), np.full_like(x, 0))
    if dtype == np.float32:
        least = np.full_like(x, -np.inf)
        check(lambda np, x: x.argmax(1).astype(np.int32), least)
        check(lambda np, x: x.argmin(1).astype(np.int32), -least)


@pytest.mark.parametrize("size", [17, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.filterwarnings("ignore:overflow")  # next to the maximum
def test_places_of_special_values(size, dtype):
    finfo = np.finfo(dtype)
    special = [0.0, -0.0, finfo.smallest_subnormal, finfo.tiny, 1.0, finfo.max, np.inf, np.nan]
    # Each value next to its neighbour, and among the elements after it.
    rows = [[sign * value, np.nextafter(dtype(sign * value), dtype(toward))] for value in special for sign in (1, -1)
            for toward in (-np.inf, np.inf)]  # fmt: skip
    x = np.zeros((2 * len(rows), size), dtype)
    for i, (first, second) in enumerate(rows):
        x[2 * i], x[2 * i + 1] = first, second
        x[2 * i, size - 3 :], x[2 * i + 1, size // 2] = second, first
    for name in ["argmax", "argmin"]:
        check(lambda np, x, name=name: getattr(x, name)(1).astype(np.int32), x)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("axis", [0, 1])
def test_extremes_of_halves(size, dtype, axis):
    x = numbers(9, size, dtype=dtype)
    x[3, size // 2] = np.nan
    for name in ["max", "min"]:
        got = np.asarray(pc.jit(lambda x, name=name: getattr(pnp, name)(x, axis=axis))(pnp.asarray(x)))
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.astype(np.float32), getattr(x.astype(np.float32), name)(axis))
    wide = x.astype(np.float32)
    got = np.asarray(pc.jit(lambda x: x.argmax(axis))(pnp.asarray(x)))
    np.testing.assert_array_equal(got, wide.argmax(axis))
    chosen = pc.jit(lambda x: pnp.where(x > 1, x, -x))(pnp.asarray(x))
    np.testing.assert_array_equal(np.asarray(chosen).astype(np.float32), np.where(wide > 1, wide, -wide))


@pytest.mark.parametrize(("rows", "columns"), [(17, 64), (18, 65), (63, 1003), (64, 130), (1003, 17)])
def test_sums_over_rows(rows, columns):
    # NumPy adds rows one after the other, which loses more.
    exact = lambda np, x: x.sum(0, dtype=np.float64).astype(np.float32)  # noqa: E731
    check(lambda np, x: x.sum(0), numbers(rows, columns), reference=exact, rtol=1e-5)


@pytest.mark.parametrize("shape", [(1 << 16,), (1 << 17,), (1003, 100), (70001,), (4, 5, 6000)])
@pytest.mark.parametrize("mean", [0.0, 1e4])
def test_variance_in_blocks(shape, mean):
    x = (numbers(*shape) + np.float32(mean)).astype(np.float32)
    expected = x.astype(np.float64)
    got = pc.jit(lambda x: (x.var(), x.std(), x.mean()))(pnp.asarray(x))
    np.testing.assert_allclose(got[0], expected.var(), rtol=1e-5)
    np.testing.assert_allclose(got[1], expected.std(), rtol=1e-5)
    np.testing.assert_allclose(got[2], expected.mean(), rtol=1e-5, atol=1e-4)


def test_variance_of_few_far_elements():
    x = numbers(1 << 16)
    x[3] = 1e9
    expected = x.astype(np.float64)
    np.testing.assert_allclose(pc.jit(lambda x: x.var())(pnp.asarray(x)), expected.var(), rtol=1e-4)


@pytest.mark.parametrize("place", [0, 70, 5000])
def test_variance_of_what_is_not_finite(place):
    x = numbers(1 << 16)
    x[place] = np.inf
    var, mean = pc.jit(lambda x: (x.var(), x.mean()))(pnp.asarray(x))
    assert np.isnan(var)
    assert mean == np.inf
    assert np.isnan(pc.jit(lambda x: x.var())(pnp.asarray(x)))
    x[place] = np.nan
    assert np.isnan(pc.jit(lambda x: x.var())(pnp.asarray(x)))


@pytest.mark.parametrize("rows", [1, 8, 9, 16, 31, 64, 100, 257])
@pytest.mark.parametrize("columns", [1, 9, 15, 16, 33, 64, 130])
def test_an_operand_that_lies_across_is_transposed_by_tiles(rows, columns):
    """The other one lies along; both along the sums and across them, and over all elements."""
    rng = np.random.default_rng(rows * 1000 + columns)
    x, y = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((columns, rows), (rows, columns)))

    def reductions(x, y):
        both = x.T * y
        return {
            "sums": (both.sum(0), both.sum(1), both.sum()),
            "extremes": ((x.T - y).max(0), (x.T - y).min(1), (x.T - y).max()),
            "places": ((x.T - y).argmax(0), (x.T + y).argmin(1), (x.T + y).argmax()),
        }

    program = pc.jit(lambda x, y: (reductions(x, y), pnp.einsum("ij,ji->", x, y)))

    def check(x, y):
        (found, trace), wanted = program(x, y), reductions(x, y)
        np.testing.assert_array_equal(trace, wanted["sums"][2])
        for name, values in wanted.items():
            for one, other in zip(found[name], values, strict=True):
                np.testing.assert_array_equal(one, other, err_msg=name)

    check(x, y)
    y[rows // 2, columns // 3] = np.nan
    check(x, y)
