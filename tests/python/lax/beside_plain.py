"""Functions of lax beside two others: the values are those of `plain.lax`, the shapes and dtypes those of jax."""

import jax
import numpy as np
import plain
from jax import lax as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax as ours


def near(got, want, tol=2e-5):
    """The values are equal; so is the dtype, if it is that of 32 bits where `plain` has 64."""
    got, want = np.asarray(got), np.asarray(want)
    assert (got.shape, got.dtype) == (want.shape, jax.dtypes.canonicalize_dtype(want.dtype))
    np.testing.assert_allclose(got.astype(np.complex128), want.astype(np.complex128), rtol=tol, atol=tol)


def near_trees(got, want, tol=2e-5):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    pairs = list(zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True))
    assert pairs
    for a, b in pairs:
        near(a, b, tol)


def both(program):
    """A program of (lax, numpy, *arguments) with this package, and in plain Python."""
    return (lambda *xs: program(ours, pnp, *xs)), (lambda *xs: plain.run(program, *xs))


def leaves(out):
    return list(out) if isinstance(out, tuple | list) else [out]


def check(case, rtol, atol):
    """`case` takes the module. jax is traced, not compiled."""
    results = leaves(case(ours))
    assert results
    kinds = leaves(jax.eval_shape(lambda: case(theirs)))
    for got, want, kind in zip(results, leaves(case(plain.lax)), kinds, strict=True):
        # Others are shapes, in arrays of NumPy.
        if isinstance(got, pc.Array):
            assert (got.shape, got.dtype) == (kind.shape, kind.dtype)
        got, want = np.asarray(got), np.asarray(want)
        assert got.shape == want.shape
        if got.dtype.kind in "biu":
            np.testing.assert_array_equal(got, want)
        else:
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
