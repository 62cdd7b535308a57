"""`ravel_pytree`: a tree as one vector and back, as jax's."""

import jax.flatten_util
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.flatten_util import ravel_pytree

TREES = {
    "empty": {},
    "scalars": (1.0, 2.5),
    "nested": {"b": np.arange(4.0, dtype=np.float32).reshape(2, 2), "a": [np.ones(3, np.float32), None]},
    "mixed": (np.arange(3, dtype=np.int32), np.ones((1, 2), np.float32), np.array(True)),
    "complex": (np.ones(2, np.float32), np.array([1j], np.complex64)),
    "sizes of 0": (np.ones((0, 3), np.float32), np.ones(1, np.float32)),
    "integers": [np.arange(3, dtype=np.int8), np.arange(2, dtype=np.int8)],
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES.keys())
def test_there_and_back(tree):
    flat, unravel = ravel_pytree(tree)
    wanted, _ = jax.flatten_util.ravel_pytree(tree)
    assert flat.dtype == wanted.dtype
    np.testing.assert_array_equal(flat, wanted)
    again = unravel(flat)
    assert pc.tree.structure(again) == pc.tree.structure(tree)
    for x, y in zip(pc.tree.leaves(again), pc.tree.leaves(tree), strict=True):
        assert x.shape == np.shape(y)
        assert x.dtype == pc.typeof(y).dtype
        np.testing.assert_array_equal(x, y)


def test_in_transformations():
    tree = {"a": pnp.arange(3.0), "b": pnp.ones((2, 2))}
    flat, unravel = ravel_pytree(tree)
    gradient = pc.grad(lambda v: (unravel(v)["a"] ** 2).sum())(flat)
    np.testing.assert_array_equal(gradient, [0, 2, 4, 0, 0, 0, 0])
    traces = []
    f = pc.jit(lambda unravel, v: traces.append(1) or unravel(v)["b"])
    for _ in range(2):
        flat, unravel = ravel_pytree(tree)
        assert f(unravel, flat).shape == (2, 2)
    assert len(traces) == 1
    rows = pc.vmap(lambda x: ravel_pytree({"x": x, "y": 2 * x})[0])(pnp.ones((4, 3)))
    assert rows.shape == (4, 6)
    assert unravel(flat.astype("bfloat16"))["a"].dtype == pnp.bfloat16


def test_other_vectors():
    _, unravel = ravel_pytree((pnp.ones(2), pnp.ones(3, int)))
    with pytest.raises(ValueError, match=r"a vector of 5 elements, got f32\[4\]"):
        unravel(pnp.ones(4))
    with pytest.raises(TypeError, match=r"a vector of float32, got i32\[5\]"):
        unravel(pnp.ones(5, int))
    with pytest.raises(TypeError, match="takes arrays"):
        ravel_pytree({"a": "text"})
