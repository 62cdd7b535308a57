"""Random index expressions: reads against NumPy's, writes against NumPy's and, out of range, a reference loop."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis.extra import numpy as arrays

import pycompiler as pc
import pycompiler.numpy as pnp

SHAPE = (3, 4, 5)
X = np.arange(60, dtype=np.float32).reshape(SHAPE)
# Each new index is a new program. So there are few, and no deadline, because compilation takes time.
SETTINGS = hypothesis.settings(max_examples=40, deadline=None, derandomize=True)


def slices(size):
    places = st.none() | st.integers(-size - 2, size + 2)
    return st.builds(slice, places, places, st.sampled_from([None, 1, 2, -1, -3]))


def int_arrays(size, shapes):
    return shapes.flatmap(lambda shape: arrays.arrays(np.int32, shape, elements=st.integers(-size, size - 1)))


def items(size, shapes):
    return st.one_of(
        slices(size),
        st.integers(-size, size - 1),
        int_arrays(size, shapes),
        arrays.arrays(bool, (size,)),
    )


@st.composite
def indices(draw):
    """An index of some of the three dimensions, mixed with None and an ellipsis."""
    # Shapes that broadcast together. The number of a mask's true elements would have to fit, so a mask stands alone.
    shapes = st.sampled_from([(2,), (1,), (3, 1), (), (3, 2)])
    chosen = [draw(items(size, shapes)) for size in SHAPE[: draw(st.integers(0, 3))]]
    masks = [i for i, item in enumerate(chosen) if isinstance(item, np.ndarray) and item.dtype == bool]
    for i, item in enumerate(chosen):
        if masks and i != masks[0] and isinstance(item, np.ndarray):
            chosen[i] = slice(None)
    for _ in range(draw(st.integers(0, 2))):
        chosen.insert(draw(st.integers(0, len(chosen))), None)
    if draw(st.booleans()):
        chosen.append(...)
    return tuple(chosen)


@SETTINGS
@hypothesis.given(indices())
def test_read(index):
    expected = X[index]
    got = pnp.asarray(X)[index]
    assert got.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(got), expected)


@SETTINGS
@hypothesis.given(indices())
def test_read_traced(index):
    # The integer arrays are arguments, so their values must not be read.
    given = [item for item in index if isinstance(item, np.ndarray) and item.dtype != bool]

    def read(x, *given):
        rest = list(given)
        return x[tuple(rest.pop(0) if isinstance(item, np.ndarray) and item.dtype != bool else item for item in index)]

    np.testing.assert_array_equal(np.asarray(pc.jit(read)(X, *given)), X[index])


@SETTINGS
@hypothesis.given(indices(), st.sampled_from(["set", "add", "subtract", "multiply", "min", "max"]), st.integers(0, 99))
def test_write(index, name, seed):
    values = np.random.default_rng(seed).integers(-5, 6, X[index].shape).astype(np.float32)
    expected = X.copy()
    operations = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
    if name == "set":
        expected[index] = values  # NumPy also writes in order; the last write stays
    else:
        operations[name].at(expected, index, values)
    got = getattr(pnp.asarray(X).at[index], name)(values)
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-6)


@SETTINGS
@hypothesis.given(
    int_arrays(9, st.sampled_from([(2,), (3, 1)])), int_arrays(9, st.sampled_from([(2,), ()])), st.booleans()
)
def test_out_of_range(rows, columns, wrap):
    x = pnp.asarray(X)
    wrapped = [np.where(i < 0, i + n, i) if wrap else i for i, n in ((rows, 3), (columns, 4))]
    clipped = [np.clip(i, 0, n - 1) for i, n in zip(wrapped, (3, 4), strict=True)]
    inside = np.broadcast_arrays(*wrapped)
    inside = np.logical_and.reduce([(i >= 0) & (i < n) for i, n in zip(inside, (3, 4), strict=True)])
    place = x.at[rows, columns]
    np.testing.assert_array_equal(np.asarray(place.get(wrap_negative_indices=wrap)), X[tuple(clipped)])
    filled = np.where(inside[..., None], X[tuple(clipped)], -7)
    np.testing.assert_array_equal(np.asarray(place.get(mode="fill", fill_value=-7, wrap_negative_indices=wrap)), filled)
    expected = X.copy()
    there = tuple(i[inside] for i in np.broadcast_arrays(*wrapped))
    np.add.at(expected, there, 1)
    np.testing.assert_array_equal(np.asarray(place.add(1, wrap_negative_indices=wrap)), expected)
    expected = X.copy()
    np.add.at(expected, tuple(clipped), 1)
    np.testing.assert_array_equal(np.asarray(place.add(1, mode="clip", wrap_negative_indices=wrap)), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_narrow_indices_wrap_around_long_axes(dtype):
    places = np.array([-1, 5, 100]).astype(dtype)
    x = np.arange(1000, dtype=np.float32)
    np.testing.assert_array_equal(pnp.take(x, places, mode="wrap"), np.take(x, places.astype(np.int32), mode="wrap"))
