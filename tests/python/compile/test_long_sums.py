"""Long sums are sums of blocks, for any axes and any fused operations: against float64.

Equal numbers are the hardest case, because their rounding errors all have one sign.
"""

import math

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

# In registers, in rows of memory, cut into blocks of rows or of columns with a remainder, with several outer loops.
SHAPES = [
    ((16384, 64), 0),
    ((16384, 128), 0),
    ((6000, 7), 0),
    ((5003, 300), 0),
    ((4096, 1024), 0),
    ((3000, 8209), 0),
    ((3, 7000, 200), 1),
    ((40, 300, 3, 64), (0, 1)),
    ((3000, 5, 256), (0, 2)),
    ((90, 3, 70, 64), (0, 2)),
    ((9000, 16, 4), (0, 2)),
    ((1 << 22,), 0),
    ((3, 1 << 20), 1),
]


def numbers(shape, dtype=np.float32):
    return np.random.default_rng(3).random(shape, dtype=np.float32).astype(dtype)


def error(got, expected):
    return np.max(np.abs(np.asarray(got, np.float64) - expected)) / np.max(np.abs(expected))


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_sums_lose_little(shape, axis):
    x = numbers(shape)
    assert error(pc.jit(lambda x: x.sum(axis))(x), x.sum(axis, dtype=np.float64)) < 5e-7


@pytest.mark.parametrize(("shape", "axis"), [((16384, 64), 0), ((5003, 300), 0), ((3, 7000, 200), 1)])
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_sums_of_halves(shape, axis, dtype):
    x = numbers(shape, dtype)
    got = pc.jit(lambda x: x.astype(np.float32).sum(axis))(x)
    assert error(got, x.astype(np.float64).sum(axis)) < 5e-7
    mean = pc.jit(lambda x: x.mean(axis))(x)
    assert error(mean, x.astype(np.float64).mean(axis)) < float(ml_dtypes.finfo(dtype).eps)


@pytest.mark.parametrize(("shape", "axis"), [((16384, 64), 0), ((5003, 300), 0), ((4096, 1024), 0)])
def test_what_is_fused_into_a_sum_and_what_stands_beside_it(shape, axis):
    x = numbers(shape)
    wide = x.astype(np.float64)
    product, mean, var, greatest = pc.jit(lambda x: ((x * x + 1).sum(axis), x.mean(axis), x.var(axis), x.max(axis)))(x)
    assert error(product, (wide * wide + 1).sum(axis)) < 5e-7
    assert error(mean, wide.mean(axis)) < 5e-7
    assert error(var, wide.var(axis)) < 2e-6
    np.testing.assert_array_equal(greatest, x.max(axis))


def test_sums_in_loops():
    x = numbers((2, 16384, 64))
    total = pc.jit(lambda x: pc.lax.fori_loop(0, 2, lambda i, s: s + x[i].sum(0), pnp.zeros(64)))(x)
    assert error(total, x.sum((0, 1), dtype=np.float64)) < 5e-7
    rows = pc.jit(lambda x: pc.lax.scan(lambda c, row: (c, row.sum(0)), 0, x)[1])(x)
    assert error(rows, x.sum(1, dtype=np.float64)) < 5e-7


def test_reductions_that_are_cut_and_are_no_sums_of_floats():
    whole = np.random.default_rng(5).integers(-1000, 1000, (2048, 640), dtype=np.int32)
    np.testing.assert_array_equal(pc.jit(lambda x: x.sum(0))(whole), whole.sum(0))
    x = np.random.default_rng(6).standard_normal((2048, 640), dtype=np.float32)
    x[1500, 7] = np.nan
    np.testing.assert_array_equal(pc.jit(lambda x: x.max(0))(x), x.max(0))
    np.testing.assert_array_equal(pc.jit(lambda x: x.min(0))(x), x.min(0))
    near = 1 + numbers((1024, 512)) / 512
    np.testing.assert_allclose(pc.jit(lambda x: x.prod(0))(near), near.astype(np.float64).prod(0), rtol=1e-5)
    least, sums = pc.jit(lambda x: (x.min(0), x.sum(0)))(near)
    np.testing.assert_array_equal(least, near.min(0))
    np.testing.assert_allclose(sums, near.sum(0, dtype=np.float64), rtol=5e-7)


# The error limit in units of the last place of the exact sum of equal numbers: blocks of 128 lost up to 126.
MOST_ULPS = 3
EQUAL = np.array([0.1, 1 / 3, np.pi, 1e-3, 0.7, 1.1, 5 / 7, 1e10 / 3, 123.456], np.float32)
LENGTHS = [100, 1000, 1023, 4097, 30011, 1 << 18, 300007, 1 << 22]


def ulps(got, exact):
    exact = np.asarray(exact, np.float64)
    return np.max(np.abs(np.asarray(got, np.float64) - exact) / np.spacing(np.abs(exact).astype(np.float32)))


def worst(function, shape, count, dtype=np.float32):
    """The maximum error of a sum of `count` equal numbers."""
    return max(ulps(function(pnp.full(shape, c, dtype=dtype)), np.float64(c) * count) for c in EQUAL)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(
    ("before", "after"),
    [((), ()), ((3,), ()), ((), (7,)), ((), (64,)), ((), (300,)), ((2,), (40,))],
    ids=["all", "last", "narrow", "registers", "memory", "middle"],
)
def test_sums_of_equal_numbers_are_nearly_exact(length, before, after):
    # At most 16 million elements: more elements run the same loops, only longer.
    length = min(length, (1 << 24) // math.prod((*before, *after)))
    shape = (*before, length, *after)
    assert worst(pc.jit(lambda x: x.sum(len(before))), shape, length) <= MOST_ULPS


@pytest.mark.parametrize("columns", [1, 5, 64, 300])
@pytest.mark.parametrize("length", [37, 1000, 30011, 300007])
def test_sums_of_equal_numbers_where_sizes_are_symbols(length, columns):
    total = pc.jit(lambda x: x.sum(0), dynamic={"x": ("n", None)})
    assert worst(total, (length, columns), length) <= MOST_ULPS
    last = pc.jit(lambda x: x.sum(1), dynamic={"x": ("m", "n")})
    assert worst(last, (columns, length), length) <= MOST_ULPS


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((90, 3, 1000), (0, 2)),
        ((3000, 5, 256), (0, 2)),
        ((900, 3, 70, 64), (0, 2)),
        ((100, 5, 333), (0, 2)),
        ((200, 3, 30, 200), (0, 2)),
        ((65536, 64), 1),
        ((5000, 50), 1),
        ((700, 300), None),
        ((512, 513), None),
    ],
)
def test_sums_of_equal_numbers_over_several_axes_and_short_ones(shape, axis):
    count = np.ones(shape, np.int32).sum(axis).flat[0]
    assert worst(pc.jit(lambda x: x.sum(axis)), shape, count) <= MOST_ULPS


@pytest.mark.parametrize("length", [1000, 30011, 1 << 18, 1 << 22])
def test_what_is_made_of_sums_of_equal_numbers(length):
    for axis, shape in ((0, (length,)), (1, (2, length)), (0, (length, 3))):
        assert worst(pc.jit(lambda x, axis=axis: x.mean(axis)), shape, 1) <= MOST_ULPS
        ones = pc.jit(lambda x, axis=axis: pnp.exp(x - x).sum(axis))(pnp.full(shape, np.pi, dtype=np.float32))
        np.testing.assert_array_equal(ones, np.float32(length))
        for c in EQUAL:
            x = pnp.full(shape, c, dtype=np.float32)
            # The square may have one rounding or none.
            squares = pc.jit(lambda x, axis=axis: (x * x).sum(axis))(x)
            assert ulps(squares, np.float64(c) ** 2 * length) <= MOST_ULPS + 2
            variance = pc.jit(lambda x, axis=axis: x.var(axis))(x)
            assert np.max(np.asarray(variance, np.float64)) <= (MOST_ULPS * np.float64(np.spacing(c))) ** 2


@pytest.mark.parametrize("length", [1000, 30011, 1 << 18])
def test_sums_of_equal_numbers_under_transformations(length):
    rows = pc.vmap(pnp.sum)
    columns = pc.vmap(pnp.sum, in_axes=1)
    scanned = pc.jit(lambda x: pc.lax.scan(lambda c, row: (c, row.sum()), 0, x)[1])
    derivative = pc.jit(lambda x: pc.grad(lambda c: (c * x).sum())(pnp.float32(1)))
    for function in (rows, pc.jit(rows), scanned):
        assert worst(function, (4, length), length) <= MOST_ULPS
    assert worst(columns, (length, 4), length) <= MOST_ULPS
    assert worst(derivative, (length,), length) <= MOST_ULPS


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize(("shape", "axis"), [((1 << 18,), 0), ((30011, 300), 0), ((3, 100003), 1), ((5003, 64), 0)])
def test_means_of_equal_halves_are_the_numbers(shape, axis, dtype):
    mean = pc.jit(lambda x: x.mean(axis))
    for c in (0.1, 1 / 3, 0.7, 1.1):
        np.testing.assert_array_equal(mean(pnp.full(shape, c, dtype=dtype)), np.array(c, dtype))


@pytest.mark.parametrize("length", [1000, 4097, 30011, 1 << 18])
def test_sums_of_random_numbers_lose_no_more_than_twice_what_numpy_loses(length):
    x = np.random.default_rng(11).random((48, length), dtype=np.float32)
    exact = x.sum(1, dtype=np.float64)

    def spread(got):
        return np.sqrt(np.mean((np.asarray(got, np.float64) - exact) ** 2))

    total = pc.jit(lambda x: x.sum())
    least = np.spacing(np.float32(exact.max())) / 4  # the loss of the last rounding alone
    most = 2 * max(spread(x.sum(1)), least)
    assert spread(pc.jit(lambda x: x.sum(1))(x)) <= most
    assert spread([total(row) for row in x]) <= most
    assert spread(pc.jit(lambda x: x.sum(0))(np.ascontiguousarray(x.T))) <= most
