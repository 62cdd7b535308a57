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


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"nse": 7, "sorted_indices": True},
        {"n_batch": 1, "n_dense": 1, "nse": 2, "unique_indices": False},
        {"n_batch": 1, "indices_dtype": np.int16},
        {"n_batch": 2, "n_dense": 1},
    ],
)
def test_random(options):
    """The arrays have the form of JAX's; places are inside, different and in order as asked."""
    ours = sparse.random_bcoo(pc.random.key(3), (3, 4, 5), **options)
    other = theirs.random_bcoo(jax.random.key(3), (3, 4, 5), dtype=np.float32, **options)
    for mine, its in ((ours.data, other.data), (ours.indices, other.indices)):
        assert (mine.shape, mine.dtype) == (its.shape, its.dtype)
    places = np.asarray(ours.indices)
    assert (places >= 0).all()
    assert (places < np.array(ours.shape)[ours.n_batch : ours.n_batch + ours.n_sparse]).all()
    for member in places.reshape(-1, *places.shape[-2:]) if ours.n_sparse else ():
        rows = [tuple(row) for row in member]
        assert options.get("unique_indices") is False or len(set(rows)) == len(rows)
        assert not options.get("sorted_indices") or rows == sorted(rows)
    assert np.unique(ours.data).size > 1


def test_a_generator():
    key = pc.random.key(0)
    normal = sparse.random_bcoo(key, (30, 40), generator=pc.random.normal)
    assert float(normal.data.min()) < -1
    integers = sparse.random_bcoo(key, (30, 40), dtype=np.int32, generator=pc.random.randint, minval=3, maxval=5)
    assert set(np.asarray(integers.data).tolist()) == {3, 4}


def test_refused():
    with pytest.raises(ValueError, match="sparse_format is one of"):
        sparse.empty((3, 4), sparse_format="dia")
    with pytest.raises(ValueError, match="CSR must have 2 axes"):
        sparse.empty((3,), sparse_format="csr")
    with pytest.raises(ValueError, match="nse must be between 0 and 12"):
        sparse.random_bcoo(pc.random.key(0), (3, 4), nse=13)
    with pytest.raises(ValueError, match="do not fit the shape"):
        sparse.empty((3, 4), n_batch=2, n_dense=1)
