"""`pycompiler.ops`: reductions of segments, against loops of NumPy; derivatives against differences."""

import numpy as np
import pytest
from slopes import gradient

import pycompiler as pc
import pycompiler.numpy as pnp

RNG = np.random.default_rng(0)
REDUCTIONS = {
    "segment_sum": (np.sum, lambda dtype: 0),
    "segment_prod": (np.prod, lambda dtype: 1),
    "segment_max": (np.max, lambda dtype: -np.inf if dtype.kind != "i" else np.iinfo(dtype).min),
    "segment_min": (np.min, lambda dtype: np.inf if dtype.kind != "i" else np.iinfo(dtype).max),
}


def reduced(name, data, ids, count):
    """One segment after the other; numbers outside of 0 to count - 1 belong to none."""
    reduce, identity = REDUCTIONS[name]
    rows = [data[ids == number] for number in range(count)]
    empty = np.full(data.shape[1:], identity(data.dtype), data.dtype)
    return np.array(
        [
            reduce(row, axis=0, dtype=data.dtype)
            if name[8] in "sp" and len(row)
            else reduce(row, axis=0)
            if len(row)
            else empty
            for row in rows
        ],
        data.dtype,
    )


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "int32", "int8", "bfloat16"])
@pytest.mark.parametrize("shape", [(9,), (9, 2)])
def test_segments(name, dtype, shape):
    data = RNG.integers(-2, 3, shape).astype(pnp.dtype(dtype))
    ids = RNG.integers(-1, 6, 9).astype(np.int32)
    function = getattr(pc.ops, name)
    for count in (6, 4, 9):
        wanted = reduced(name, data, ids, count)
        for given in (
            function(data, ids, count),
            pc.jit(function, static_argnums=2)(data, ids, count),
            function(data, ids, num_segments=count, bucket_size=2),
        ):
            assert given.dtype == data.dtype
            np.testing.assert_array_equal(np.asarray(given, np.float32), wanted.astype(np.float32))
    order = np.argsort(ids, kind="stable")
    sorted_ids = function(data[order], ids[order], 6, indices_are_sorted=True)
    np.testing.assert_array_equal(np.asarray(sorted_ids, np.float32), reduced(name, data, ids, 6).astype(np.float32))


def test_the_number_of_segments():
    ids = np.array([0, 3, 3], np.int32)
    assert pc.ops.segment_sum(np.float32([1, 2, 3]), ids).tolist() == [1, 0, 0, 5]
    assert pc.ops.segment_sum(np.float32([1, 2, 3]), ids, pnp.int32(2)).tolist() == [1, 0]
    assert pc.ops.segment_sum(1.0, ids).tolist() == [1, 0, 0, 2]
    assert pc.ops.segment_max(np.array([True, False, False]), ids).tolist() == [True, False, False, False]
    assert pc.ops.segment_min(np.array([True, False, False]), ids).tolist() == [True, True, True, False]
    with pytest.raises(pc.errors.ConcretizationTypeError):
        pc.jit(pc.ops.segment_sum)(np.float32([1, 2, 3]), ids)
    with pytest.raises(ValueError, match="num_segments must be 0 or more, got -1"):
        pc.ops.segment_sum(np.float32([1, 2, 3]), ids, -1)
    with pytest.raises(TypeError, match=r"segment_ids must be integers, got f32\[3\]"):
        pc.ops.segment_max(np.float32([1, 2, 3]), np.float32([0, 1, 1]))
    with pytest.raises(
        ValueError, match=r"segment_ids must have one axis, the first one of data; got f32\[2\] and i32"
    ):
        pc.ops.segment_prod(np.float32([1, 2]), ids)


@pytest.mark.parametrize("mode", [None, "drop", "clip", "promise_in_bounds"])
def test_numbers_out_of_range(mode):
    high = 3 if mode == "promise_in_bounds" else 7
    data, ids = np.arange(6, dtype=np.float32), RNG.integers(0 if high == 3 else -2, high, 6).astype(np.int32)
    ours = pc.ops.segment_sum(data, ids, 4, mode=mode)
    # A number outside belongs to the nearest segment, or to none.
    np.testing.assert_array_equal(ours, reduced("segment_sum", data, np.clip(ids, 0, 3) if mode == "clip" else ids, 4))


@pytest.mark.parametrize("name", ["segment_sum", "segment_max", "segment_min"])
def test_derivatives_and_maps(name):
    # Differences step over a maximum whose runner-up is near: the rows of a segment are apart.
    data = RNG.permutation(np.linspace(-2, 2, 12, dtype=np.float32)).reshape(6, 2)
    ids = np.array([0, 2, 2, 1, 5, 0], np.int32)

    # An empty segment of segment_max is infinite: the loss takes the others.
    def ours(x, i):
        return (getattr(pc.ops, name)(x, i, 4)[:3] ** 2).sum()

    def wanted(x, i):
        return (reduced(name, x, i, 4)[:3] ** 2).sum()

    np.testing.assert_allclose(pc.grad(ours)(data, ids), gradient(lambda x: wanted(x, ids), data), rtol=1e-5, atol=1e-7)
    columns = [wanted(column, ids) for column in data.T]
    np.testing.assert_allclose(pc.jit(pc.vmap(ours, (1, None)))(data, ids), columns, rtol=1e-6)
    many = np.stack([ids, ids[::-1]])
    np.testing.assert_allclose(pc.vmap(ours, (None, 0))(data, many), [wanted(data, i) for i in many], rtol=1e-6)


def test_the_derivative_of_a_product_of_distinct_rows():
    data, ids = np.float32([2, 3, 5]), np.array([2, 0, 1], np.int32)
    given = pc.grad(lambda x: (pc.ops.segment_prod(x, ids, 3, unique_indices=True) ** 2).sum())(data)
    np.testing.assert_allclose(given, 2 * data)
