"""Sparse matrices of bools: sums are "or" and products "and", as in NumPy's matrices of bools."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.experimental import sparse

RNG = np.random.default_rng(7)
M, K = RNG.random((2, 3, 4)) < 0.5
V, U, W = RNG.random(4) < 0.5, RNG.random(3) < 0.5, RNG.random((4, 2)) < 0.5

# (of a sparse and a second operand, NumPy's value, whether the second one is sparse)
OPERATIONS = {
    "todense": (lambda m, _: m, M, False),
    "matrix @ vector": (lambda m, _: m @ V, M @ V, False),
    "vector @ matrix": (lambda m, _: U @ m, U @ M, False),
    "matrix @ matrix": (lambda m, _: m @ W, M @ W, False),
    "sparse @ sparse": (lambda m, k: m @ k.T, M @ K.T, True),
    "sparse * sparse": (lambda m, k: m * k, M & K, True),
    "sparse + sparse": (lambda m, k: m + k, M | K, True),
    "same places": (lambda m, _: m * m + m, M, False),
    "sparse * dense": (lambda m, _: m * K, M & K, False),
    "sparse * row": (lambda m, _: m * V, M & V, False),
    "sparse + dense": (lambda m, _: m + K, M | K, False),
    "to ints and back": (lambda m, _: m.astype("int32").astype(bool), M, False),
}


def dense(x):
    return np.asarray(x.todense() if isinstance(x, sparse.JAXSparse) else x)


@pytest.mark.parametrize("kind", [sparse.BCOO, sparse.BCSR])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(kind, name):
    operation, expected, of_sparse = OPERATIONS[name]
    operands = kind.fromdense(M), kind.fromdense(K) if of_sparse else K
    for call in (operation, pc.jit(operation)):
        found = dense(call(*operands))
        assert found.dtype == np.bool_
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", [sparse.COO, sparse.CSR, sparse.CSC])
def test_matrices_without_batches(kind):
    m = kind.fromdense(M)
    for found, expected in ((m.todense(), M), (m @ V, M @ V), (m @ W, M @ W), (m.T @ U, M.T @ U)):
        np.testing.assert_array_equal(found, expected)


def test_elements_at_one_place_and_outside():
    indices = pnp.array([[0, 1], [0, 1], [1, 2], [5, 0]])
    m = sparse.BCOO((pnp.array([True, True, False, True]), indices), shape=(3, 4))
    expected = np.zeros((3, 4), bool)
    expected[0, 1] = True
    np.testing.assert_array_equal(m.todense(), expected)
    np.testing.assert_array_equal(m.sum_duplicates().todense(), expected)
    assert m.sum_duplicates().data.tolist() == [True]
    np.testing.assert_array_equal(m @ V, expected @ V)
    numbers = sparse.BCOO((pnp.array([1, -1]), indices[:2]), shape=(3, 4))
    assert not dense(numbers.astype(bool)).any()
    assert not dense(sparse.sparsify(lambda m: m != 0)(numbers)).any()


def test_batches():
    stacked = sparse.BCOO.fromdense(np.stack([M, K]), n_batch=1)
    found = pc.vmap(lambda m, v: m @ v)(stacked, np.stack([V, ~V]))
    np.testing.assert_array_equal(found, np.stack([M @ V, K @ ~V]))


def test_operations_on_bits_of_integers_and_dense_results_are_errors():
    m = sparse.BCOO.fromdense(pnp.array([[1, 0], [0, 3]]))
    with pytest.raises(NotImplementedError, match="sparse rule for and is not implemented for integers"):
        sparse.sparsify(lambda m: m & 3)(m)
    with pytest.raises(NotImplementedError, match=r"sparse rule for ne .* would result in dense output"):
        sparse.sparsify(lambda m: m != 3)(m)
    with pytest.raises(NotImplementedError, match=r"sparse rule for ne .* would result in dense output"):
        pc.jit(sparse.sparsify(lambda m, n: m != n))(m, 0)
