"""New sparse matrices: `empty`, `eye`, `random_bcoo`, beside NumPy and JAX."""

import jax
import numpy as np
import pytest
from jax.experimental import sparse as theirs

import pycompiler as pc
from pycompiler.experimental import sparse

FORMATS = ("bcoo", "bcsr", "coo", "csr", "csc")


@pytest.mark.parametrize("kind", FORMATS)
def test_empty_and_eye(kind):
    mat = sparse.empty((3, 4), np.int32, sparse_format=kind)
    assert (mat.shape, mat.dtype, mat.nse) == ((3, 4), np.int32, 0)
    np.testing.assert_array_equal(mat.todense(), np.zeros((3, 4)))
    for k in (-5, -2, 0, 1, 4):
        np.testing.assert_array_equal(sparse.eye(3, 4, k, sparse_format=kind).todense(), np.eye(3, 4, k))
    assert sparse.eye(3, dtype=np.int32, sparse_format=kind).dtype == np.int32


@pytest.mark.parametrize("layout", [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2)])
def test_layouts(layout):
    n_batch, n_dense = layout
    for k in (-1, 0, 2):
        mat = sparse.eye(3, 4, k, n_batch=n_batch, n_dense=n_dense)
        assert (mat.n_batch, mat.n_dense) == layout
        np.testing.assert_array_equal(mat.todense(), np.eye(3, 4, k))
    ours, other = (s.empty((3, 4), n_batch=n_batch, n_dense=n_dense, nse=2) for s in (sparse, theirs))
    np.testing.assert_array_equal(ours.indices, other.indices)
    np.testing.assert_array_equal(ours.data, other.data)


def test_random():
    key, other_key = pc.random.key(3), jax.random.key(3)
    for options in (
        {},
        {"nse": 7, "sorted_indices": True},
        {"n_batch": 1, "n_dense": 1, "nse": 2, "unique_indices": False},
        {"n_batch": 1, "indices_dtype": np.int16},
    ):
        ours = sparse.random_bcoo(key, (3, 4, 5), **options)
        other = theirs.random_bcoo(other_key, (3, 4, 5), **options)
        np.testing.assert_array_equal(ours.indices, other.indices)
        np.testing.assert_allclose(ours.data, other.data, rtol=1e-6)
        assert ours.indices.dtype == other.indices.dtype
    normal = sparse.random_bcoo(key, (3, 4), generator=pc.random.normal)
    np.testing.assert_allclose(
        normal.data, theirs.random_bcoo(other_key, (3, 4), generator=jax.random.normal).data, rtol=1e-5
    )


def test_refused():
    with pytest.raises(ValueError, match="sparse_format is one of"):
        sparse.empty((3, 4), sparse_format="dia")
    with pytest.raises(ValueError, match="CSR must have 2 axes"):
        sparse.empty((3,), sparse_format="csr")
    with pytest.raises(ValueError, match="nse must be between 0 and 12"):
        sparse.random_bcoo(pc.random.key(0), (3, 4), nse=13)
    with pytest.raises(ValueError, match="do not fit the shape"):
        sparse.empty((3, 4), n_batch=2, n_dense=1)
