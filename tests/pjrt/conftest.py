"""JAX with both backends in this process. These tests run apart from the others, for which JAX has its CPU alone."""

import os

os.environ["JAX_PLATFORMS"] = "pycompiler,cpu"
os.environ.setdefault("PYCOMPILER_ENABLE_COMPILATION_CACHE", "0")

import jax
import numpy as np
import pytest


@pytest.fixture(scope="session")
def device():
    return jax.devices("pycompiler")[0]


@pytest.fixture
def beside():
    """Compares a function's values on our backend with those on XLA's CPU."""

    def compare(function, *args, rtol=2e-5, atol=2e-5):
        def run(name):
            place = jax.devices(name)[0]
            with jax.default_device(place):
                out = jax.jit(function)(*jax.device_put(args, place))
            leaves, tree = jax.tree.flatten(out)
            assert all(leaf.devices() == {place} for leaf in leaves)
            return [np.asarray(leaf) for leaf in leaves], tree

        (ours, our_tree), (theirs, their_tree) = run("pycompiler"), run("cpu")
        assert our_tree == their_tree
        for a, b in zip(ours, theirs, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if a.dtype.kind in "fcV":
                kind = np.complex128 if a.dtype.kind == "c" else np.float64
                np.testing.assert_allclose(a.astype(kind), b.astype(kind), rtol=rtol, atol=atol)
            else:
                np.testing.assert_array_equal(a, b)

    return compare
