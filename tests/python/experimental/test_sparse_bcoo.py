"""Operations of BCOO in all layouts, beside dense arrays and beside JAX's arrays of the same form."""

import warnings

import numpy as np
import pytest
from jax.experimental import sparse as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import sparse
from pycompiler.experimental.sparse import BCOO

RNG = np.random.default_rng(0)
SHAPE = (3, 4, 2)
LAYOUTS = [(b, d) for b in range(4) for d in range(4 - b)]


def dense_of(shape=SHAPE, share=0.5):
    x = RNG.integers(1, 9, shape).astype(np.float32)
    x[RNG.random(shape) > share] = 0
    return x


DENSE = dense_of()


def matrix(n_batch=0, n_dense=0, dense=DENSE, nse=None):
    return BCOO.fromdense(dense, n_batch=n_batch, n_dense=n_dense, nse=nse)


def jax_matrix(mat):
    return theirs.BCOO(
        (np.asarray(mat.data), np.asarray(mat.indices)),
        shape=mat.shape,
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


def same(ours, other):
    """The same arrays, in the same order, as JAX has."""
    np.testing.assert_array_equal(ours.indices, other.indices)
    np.testing.assert_allclose(ours.data, other.data, rtol=1e-6)
    assert ours.shape == other.shape
    assert (ours.n_batch, ours.n_dense, ours.nse) == (other.n_batch, other.n_dense, other.nse)


@pytest.mark.parametrize(("b", "d"), [(0, 0), (1, 1), (3, 0), (0, 3)])
def test_conversions(b, d):
    mat = matrix(b, d)
    other = theirs.BCOO.fromdense(DENSE, n_batch=b, n_dense=d)
    same(mat, other)
    assert repr(mat) == repr(other)
    np.testing.assert_array_equal(mat.todense(), DENSE)
    more = matrix(b, d, nse=mat.nse + 2)
    same(more, theirs.BCOO.fromdense(DENSE, n_batch=b, n_dense=d, nse=mat.nse + 2))
    np.testing.assert_array_equal(more.todense(), DENSE)
    fewer = pc.jit(lambda x: BCOO.fromdense(x, n_batch=b, n_dense=d, nse=1))(DENSE)
    assert fewer.nse == 1
    found = sparse.bcoo_extract(mat, pnp.asarray(DENSE * 3))
    np.testing.assert_array_equal(found.data, 3 * mat.data)


@pytest.mark.parametrize(("b", "d"), LAYOUTS)
def test_other_layouts(b, d):
    mat = matrix(b, d)
    np.testing.assert_array_equal(mat.todense(), DENSE)
    for n_batch, n_dense in ((0, 0), (1, 1), (2, 1)):
        found = mat.update_layout(n_batch=n_batch, n_dense=n_dense, on_inefficient=None)
        assert (found.n_batch, found.n_dense) == (n_batch, n_dense)
        np.testing.assert_array_equal(found.todense(), DENSE)


def test_inefficient_layouts():
    with pytest.raises(sparse.SparseEfficiencyError, match=r"n_batch=1 instead of 0 stores all elements of axes"):
        matrix().update_layout(n_batch=1)
    with pytest.warns(sparse.SparseEfficiencyWarning, match="n_dense=1 instead of 0"):
        matrix().update_layout(n_dense=1, on_inefficient="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix(2).update_layout(n_batch=0)


PLACES = np.array([[3, 0], [1, 1], [3, 0], [5, 0], [0, 1]], np.int32)  # twice one place, and one outside
REPEATED = ((np.arange(1, 6, dtype=np.float32), PLACES), (4, 2))


def repeated():
    return BCOO((pnp.asarray(REPEATED[0][0]), pnp.asarray(REPEATED[0][1])), shape=REPEATED[1])


def test_order_and_duplicates():
    mat, other = repeated(), theirs.BCOO(REPEATED[0], shape=REPEATED[1])
    same(mat.sort_indices(), other.sort_indices())
    for options in ({}, {"nse": 7}):
        same(mat.sum_duplicates(**options), other.sum_duplicates(**options))
    same(pc.jit(lambda m: m.sum_duplicates(nse=4))(mat), other.sum_duplicates(nse=4))
    with pytest.raises(ValueError, match="nse must be given inside of transformations"):
        pc.jit(lambda m: m.sum_duplicates())(mat)
    arr = np.arange(8, dtype=np.float32).reshape(4, 2)
    same(sparse.bcoo_extract(mat, arr), theirs.bcoo_extract(other, arr))
    batched = BCOO((pnp.ones((2, 5)), pnp.stack([PLACES, PLACES[::-1]])), shape=(2, 4, 2))
    same(sparse.bcoo_sum_duplicates(batched, 4), theirs.bcoo_sum_duplicates(jax_matrix(batched), 4))


# Of a sparse array, and of the dense one.
SHAPES = {
    "transpose": (lambda m: sparse.bcoo_transpose(m, permutation=(1, 0, 2)), lambda x: x.transpose(1, 0, 2)),
    "transpose all": (lambda m: sparse.bcoo_transpose(m, permutation=(2, 1, 0)), np.transpose),
    "broadcast": (
        lambda m: sparse.bcoo_broadcast_in_dim(m, shape=(5, *SHAPE), broadcast_dimensions=(1, 2, 3)),
        lambda x: np.broadcast_to(x, (5, *SHAPE)),
    ),
    "broadcast inside": (
        lambda m: sparse.bcoo_broadcast_in_dim(m, shape=(3, 1, 4, 2), broadcast_dimensions=(0, 2, 3)),
        lambda x: x[:, None],
    ),
    "concatenate 0": (lambda m: sparse.bcoo_concatenate([m, m], dimension=0), lambda x: np.concatenate([x, x])),
    "concatenate 1": (lambda m: sparse.bcoo_concatenate([m, m], dimension=1), lambda x: np.concatenate([x, x], 1)),
    "reshape": (lambda m: sparse.bcoo_reshape(m, new_sizes=(3, 8)), lambda x: x.reshape(3, 8)),
    "reshape all": (lambda m: sparse.bcoo_reshape(m, new_sizes=(2, 12)), lambda x: x.reshape(2, 12)),
    "rev": (lambda m: sparse.bcoo_rev(m, (0, 2)), lambda x: x[::-1, :, ::-1]),
    "slice": (
        lambda m: sparse.bcoo_slice(m, start_indices=(1, 0, 0), limit_indices=(3, 4, 1), strides=(1, 3, 1)),
        lambda x: x[1:, ::3, :1],
    ),
    "sum 0": (lambda m: sparse.bcoo_reduce_sum(m, axes=(0,)), lambda x: x.sum(0)),
    "sum 1, 2": (lambda m: sparse.bcoo_reduce_sum(m, axes=(1, 2)), lambda x: x.sum((1, 2))),
    "sum": (lambda m: sparse.bcoo_reduce_sum(m, axes=(0, 1, 2)), np.sum),
    "dynamic slice": (lambda m: sparse.bcoo_dynamic_slice(m, (1, 3, 0), (2, 2, 2)), lambda x: x[1:, 2:]),
}
# The layouts whose axes would be mixed, as in JAX.
MIXED = {
    "transpose": {(1, 0), (1, 1)},
    "transpose all": {(1, 0), (2, 0), (0, 1), (1, 1)},
    "reshape": {(2, 0), (0, 1), (1, 1)},
    "reshape all": {(1, 0), (2, 0), (0, 1), (1, 1)},
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("layout", [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)])
def test_shapes(name, layout):
    of_sparse, of_dense = SHAPES[name]
    mat = matrix(*layout)
    if layout in MIXED.get(name, ()):
        with pytest.raises((NotImplementedError, ValueError), match="mixes"):
            of_sparse(mat)
        return
    found = pc.jit(of_sparse)(mat)
    assert found.shape == of_dense(DENSE).shape
    np.testing.assert_allclose(found.todense(), of_dense(DENSE), rtol=1e-6)


def test_padding_stays_outside():
    """Elements at places outside of the shape never count, whatever their data."""
    mat = BCOO((pnp.array([1.0, 7.0]), pnp.array([[1, 1], [3, 2]])), shape=(3, 2))
    dense = np.asarray(mat.todense())
    np.testing.assert_array_equal(dense.sum(), 1)
    np.testing.assert_array_equal(mat.sum(), 1)
    np.testing.assert_array_equal(mat.sum(0).todense(), dense.sum(0))
    np.testing.assert_array_equal(mat.T.todense(), dense.T)
    np.testing.assert_array_equal(mat.reshape(2, 3).todense(), dense.reshape(2, 3))
    np.testing.assert_array_equal(mat[1:].todense(), dense[1:])
    np.testing.assert_array_equal(sparse.bcoo_rev(mat, (0, 1)).todense(), dense[::-1, ::-1])
    np.testing.assert_array_equal(
        sparse.bcoo_concatenate([mat, mat], dimension=0).todense(), np.concatenate([dense] * 2)
    )
    np.testing.assert_array_equal(mat @ pnp.ones(2), dense @ np.ones(2))
    flat = BCOO((pnp.array([1.0, 7.0]), pnp.array([[0, 0], [1, 0]])), shape=(1, 1))
    np.testing.assert_array_equal(sparse.bcoo_squeeze(flat, dimensions=(0, 1)).todense(), 1)


def test_squeeze_and_concatenate_batches():
    mat = matrix(1, 1, DENSE[:1, :, :1])
    found = sparse.bcoo_squeeze(mat, dimensions=(0, 2))
    np.testing.assert_array_equal(found.todense(), DENSE[0, :, 0])
    one, two = matrix(1), matrix(1, nse=7)
    joined = sparse.bcoo_concatenate([one, two], dimension=0)
    np.testing.assert_array_equal(joined.todense(), np.concatenate([DENSE] * 2))
    shared = BCOO((pnp.ones((1, 2)), pnp.array([[[0], [2]]])), shape=(3, 4))
    np.testing.assert_array_equal(sparse.bcoo_concatenate([shared, shared], dimension=0).todense()[5], [1, 0, 1, 0])


def test_gathers():
    numbers = lax.GatherDimensionNumbers((1, 2), (0,), (0,))
    mat = matrix()
    at = pnp.array([[2], [0]])
    found = sparse.bcoo_gather(mat, at, numbers, (1, 4, 2))
    np.testing.assert_array_equal(found.todense(), DENSE[[2, 0]])
    with pytest.raises(NotImplementedError, match="only 'promise_in_bounds'"):
        sparse.bcoo_gather(mat, at, numbers, (1, 4, 2), mode="fill")
    middle = lax.GatherDimensionNumbers((0, 2), (1,), (1,))
    found = sparse.bcoo_gather(mat, at, middle, (3, 1, 2))
    np.testing.assert_array_equal(found.todense(), DENSE[:, [2, 0]])


@pytest.mark.parametrize("padding", ["VALID", "SAME", [(2, 1)]])
def test_convolutions(padding):
    x, w = dense_of((1, 1, 9)), dense_of((1, 1, 4), 0.8)
    wanted = lax.conv_general_dilated(x, w, (1,), padding)
    for lhs, rhs in ((BCOO.fromdense(x), w), (BCOO.fromdense(x), BCOO.fromdense(w)), (x, BCOO.fromdense(w))):
        found = sparse.bcoo_conv_general_dilated(lhs, rhs, window_strides=(1,), padding=padding)
        np.testing.assert_allclose(found.todense(), wanted, rtol=1e-6)
    with pytest.raises(NotImplementedError, match="window_strides must be 1"):
        sparse.bcoo_conv_general_dilated(BCOO.fromdense(x), w, window_strides=(2,), padding=padding)


def test_operators_and_indices():
    dense = dense_of((4, 5))
    mat = BCOO.fromdense(dense)
    row = pnp.arange(1.0, 6.0)
    pairs = {
        "-": (-mat, -dense),
        "abs": (abs(mat - 2 * mat), abs(-dense)),
        "+": (mat + mat.T.T, dense + dense),
        "*": (mat * row, dense * np.asarray(row)),
        "scalar": (2 * mat / 4, dense / 2),
        "/": (mat / row, dense / np.asarray(row)),
        "product": (mat * mat, dense * dense),
        "pow": (mat**3, dense**3),
        "row": (mat[1], dense[1]),
        "slices": (mat[1:, ::2], dense[1:, ::2]),
        "new axis": (mat[None, 1], dense[None, 1]),
        "list": (mat[pnp.array([3, 0])], dense[[3, 0]]),
        "traced row": (pc.jit(lambda m, i: m[i])(mat, 2), dense[2]),
        "last": (mat[-1], dense[-1]),
        "sum": (mat.sum(1), dense.sum(1)),
        "reshape": (mat.reshape(2, 10), dense.reshape(2, 10)),
        "astype": (mat.astype(np.int32), dense.astype(np.int32)),
    }
    for name, (found, wanted) in pairs.items():
        np.testing.assert_allclose(found.todense(), wanted, rtol=1e-6, err_msg=name)
    np.testing.assert_allclose(mat.sum(), dense.sum(), rtol=1e-6)
    np.testing.assert_allclose(mat + pnp.ones((4, 5)), dense + 1)
    assert mat.astype(np.int32).dtype == np.int32
    assert len(mat) == 4
    assert [part.shape for part in mat] == [(5,)] * 4
    for refused in (lambda: mat + 1, lambda: mat - dense, lambda: 1 / mat, lambda: mat**0, lambda: mat > 0):
        with pytest.raises(NotImplementedError):
            refused()
    with pytest.raises(TypeError):
        hash(mat)


def test_products_of_sparse_arrays():
    x, y = dense_of((4, 5)), dense_of((4, 5))
    found = sparse.bcoo_multiply_sparse(BCOO.fromdense(x), BCOO.fromdense(y))
    np.testing.assert_array_equal(found.todense(), x * y)
    found = sparse.bcoo_multiply_sparse(BCOO.fromdense(x, n_batch=1), BCOO.fromdense(y[:, :1]))
    np.testing.assert_array_equal(found.todense(), x * y[:, :1])
    np.testing.assert_array_equal((repeated() * repeated()).todense(), np.asarray(repeated().todense()) ** 2)


def test_bad_matrices():
    data, places = pnp.ones(2), pnp.zeros((2, 1), np.int32)
    with pytest.raises(ValueError, match=r"BCOO: behind 0 batch axes, the data must be of shape \(2,\)"):
        BCOO((pnp.ones(3), places), shape=(4,))
    with pytest.raises(TypeError, match="BCOO: indices must be integers"):
        BCOO((data, pnp.zeros((2, 1))), shape=(4,))
    with pytest.raises(ValueError, match="are too many for the shape"):
        BCOO((data, pnp.zeros((2, 3), np.int32)), shape=(4,))
    with pytest.raises(TypeError, match="nse"):
        pc.jit(BCOO.fromdense)(DENSE)
    with pytest.raises(NotImplementedError, match="mixes batch axes"):
        sparse.bcoo_transpose(matrix(1), permutation=(1, 0, 2))
    with pytest.raises(ValueError, match="bcoo_slice"):
        sparse.bcoo_slice(matrix(), start_indices=(0, 0, 0), limit_indices=(9, 1, 1))


def test_trees():
    mat = repeated()
    leaves, tree = pc.tree.flatten(mat)
    assert len(leaves) == 2
    again = tree.unflatten(leaves)
    assert again.shape == mat.shape
    assert pc.tree.structure(mat) == pc.tree.structure(repeated())
    assert pc.tree.structure(mat) != pc.tree.structure(mat.sort_indices())
    doubled = pc.jit(lambda m: pc.tree.map(lambda x: x, m))(mat)
    same(doubled, theirs.BCOO(REPEATED[0], shape=REPEATED[1]))
