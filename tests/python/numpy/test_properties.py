"""Any shape: elementwise functions, broadcasting, reductions, movement against NumPy, on arrays drawn by hypothesis."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import pycompiler.numpy as pnp

FEW = settings(max_examples=12, derandomize=True, deadline=None, database=None)
DTYPES = st.sampled_from([np.float32, np.int32, np.uint8, np.bool_])
# Few sizes, so that few shapes are compiled: scalars, empty arrays, arrays of one element.
SHAPES = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=3).map(tuple)
BROADCASTING = arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3)
LAYOUTS = st.sampled_from(["as it is", "every second", "backwards", "transposed"])


def drawn(draw, shape, dtype, layout="as it is"):
    """An array of the shape with another memory layout."""
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    if layout == "transposed":
        return drawn(draw, shape[::-1], dtype).T
    wide = (*shape[:-1], 2 * shape[-1]) if layout == "every second" and shape else shape
    values = rng.normal(scale=4, size=wide)
    x = (np.abs(values) if dtype is np.uint8 else values).astype(dtype)
    if layout == "every second" and shape:
        x = x[..., ::2]
    return x[..., ::-1] if layout == "backwards" and shape else x


@st.composite
def single(draw):
    return drawn(draw, draw(SHAPES), draw(DTYPES), draw(LAYOUTS))


@st.composite
def pairs(draw):
    dtype, layout = draw(DTYPES), draw(LAYOUTS)
    return [drawn(draw, shape, dtype, layout) for shape in draw(BROADCASTING).input_shapes]


def same(ours, theirs):
    ours = np.asarray(ours)
    assert ours.shape == np.shape(theirs)
    np.testing.assert_allclose(ours.astype(np.float64), np.asarray(theirs).astype(np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "less", "equal", "logical_and"])
@FEW
@given(pair=pairs())
def test_binary_functions(name, pair):
    same(getattr(pnp, name)(*pair), getattr(np, name)(*pair))


@pytest.mark.parametrize("name", ["abs", "square", "sign", "floor", "isfinite", "logical_not"])
@FEW
@given(x=single())
def test_unary_functions(name, x):
    if x.dtype == bool and name in ("sign", "floor"):
        x = x.astype(np.int32)
    theirs = np.multiply(x, x) if name == "square" else getattr(np, name)(x)
    same(getattr(pnp, name)(x), theirs)


@pytest.mark.parametrize("name", ["sum", "max", "min", "any", "all", "mean", "prod", "argmax"])
@FEW
@given(x=single(), data=st.data())
def test_reductions(name, x, data):
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1)) if x.ndim else None
    keepdims = data.draw(st.booleans())
    count = x.size if axis is None else x.shape[axis]
    if count == 0 and name in ("max", "min", "argmax"):
        for library in (np, pnp):
            with pytest.raises(ValueError, match=r"zero-size|empty|no elements"):
                getattr(library, name)(x, axis, keepdims=keepdims)
        return
    x = np.clip(x, -3, 3) if x.dtype != bool else x
    wide = x.astype(np.int32) if name in ("sum", "prod") and x.dtype in (np.uint8, bool) else x
    same(getattr(pnp, name)(x, axis, keepdims=keepdims), getattr(np, name)(wide, axis, keepdims=keepdims))


@FEW
@given(x=single(), data=st.data())
def test_movement(x, data):
    order = data.draw(st.permutations(range(x.ndim)))
    same(pnp.transpose(x, order), np.transpose(x, order))
    same(pnp.reshape(x, (x.size, 1)), np.reshape(x, (x.size, 1)))
    same(pnp.flip(x), np.flip(x))
    if x.ndim:
        axis = data.draw(st.integers(0, x.ndim - 1))
        shift = data.draw(st.integers(-4, 4))
        same(pnp.roll(x, shift, axis), np.roll(x, shift, axis))
        same(pnp.concatenate([x, x], axis), np.concatenate([x, x], axis))
        same(pnp.cumsum(x.astype(np.int32), axis), np.cumsum(x.astype(np.int32), axis))
        same(pnp.sort(x, axis), np.sort(x, axis))
