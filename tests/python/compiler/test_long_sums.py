"""Long sums are sums of blocks, whatever axes they go over and whatever is fused into them: against float64."""

import ml_dtypes
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

# In registers, in rows of memory, cut into blocks of rows or of columns with a rest, with several loops around.
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
