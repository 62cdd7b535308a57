"""Operators of compressed rows, and the functions of formats, beside NumPy."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.experimental import sparse

rng = np.random.default_rng(0)
A = (rng.standard_normal((4, 5)) * (rng.random((4, 5)) > 0.5)).astype(np.float32)
B = (rng.standard_normal((4, 5)) * (rng.random((4, 5)) > 0.5)).astype(np.float32)
D = rng.standard_normal((3, 4), np.float32)
BATCHED = np.stack([A, B])


def dense(x):
    return np.asarray(x.todense() if isinstance(x, sparse.JAXSparse) else x)


OPERATORS = {
    "transpose": (lambda a, b: a.T, sparse.BCSR),
    "double": (lambda a, b: a * 2, sparse.BCSR),
    "twice": (lambda a, b: 2 * a, sparse.BCSR),
    "half": (lambda a, b: a / 2, sparse.BCSR),
    "sum of two": (lambda a, b: a + b, sparse.BCSR),
    "difference": (lambda a, b: a - b * 3, sparse.BCSR),
    "negative": (lambda a, b: -a, sparse.BCSR),
    "absolute": (lambda a, b: abs(a), sparse.BCSR),
    "square": (lambda a, b: a**2, sparse.BCSR),
    "elementwise": (lambda a, b: a * b, sparse.BCSR),
    "elementwise by a dense one": (lambda a, b: a * A, sparse.BCSR),
    "whole numbers": (lambda a, b: a.astype("int32"), sparse.BCSR),
    "reshaped": (lambda a, b: a.reshape(2, 10), sparse.BCSR),
    "product": (lambda a, b: a @ b.T, sparse.BCSR),
    "a dense one times": (lambda a, b: D @ a, None),
    "a vector times": (lambda a, b: D[0] @ a, None),
    "sum": (lambda a, b: a.sum(), None),
    "sums of columns": (lambda a, b: a.sum(0), sparse.BCOO),
    "sums of rows": (lambda a, b: a.sum(1), sparse.BCOO),
    "plus a dense one": (lambda a, b: a + A, None),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    fun, kind = OPERATORS[name]
    a, b = sparse.BCSR.fromdense(A), sparse.BCSR.fromdense(B)
    want = fun(A, B)
    for way in (fun, pc.jit(fun)):
        found = way(a, b)
        assert isinstance(found, kind or pc.Array)
        np.testing.assert_allclose(dense(found), want, rtol=1e-5, atol=1e-5)
    if "whole" not in name:
        through = pc.grad(lambda data: dense_sum(fun(sparse.BCSR((data, a.indices, a.indptr), shape=a.shape), b)))(
            a.data
        )
        places = np.nonzero(A)
        np.testing.assert_allclose(
            through, pc.grad(lambda x: (fun(x, B) ** 2).sum())(pnp.asarray(A))[places], rtol=1e-4, atol=1e-4
        )


def dense_sum(x):
    return ((x.todense() if isinstance(x, sparse.JAXSparse) else x) ** 2).sum()


def test_operators_of_batches_and_in_sparsify():
    mats = sparse.BCSR.fromdense(BATCHED, n_batch=1)
    np.testing.assert_array_equal(mats.transpose((0, 2, 1)).todense(), BATCHED.transpose(0, 2, 1))
    np.testing.assert_allclose(dense(mats.sum((1, 2))), BATCHED.sum((1, 2)), rtol=1e-5)
    np.testing.assert_allclose(
        pc.vmap(lambda v, m: v @ m)(D[:2], mats), np.einsum("bi,bij->bj", D[:2], BATCHED), rtol=1e-4
    )
    f = sparse.sparsify(lambda m, v: (2 * m - m.T.T) @ v + pnp.sum(m))
    np.testing.assert_allclose(
        f(sparse.BCSR.fromdense(A), D[0, :1].repeat(5)), A @ D[0, :1].repeat(5) + A.sum(), rtol=1e-4
    )


def test_functions_of_formats():
    m = sparse.bcoo_fromdense(pnp.asarray(A))
    np.testing.assert_array_equal(sparse.bcoo_todense(m), A)
    np.testing.assert_allclose(sparse.bcoo_multiply_dense(m, pnp.asarray(B)), (A * B)[np.nonzero(A)], rtol=1e-6)
    mixed = sparse.BCOO((m.data[::-1], m.indices[::-1]), shape=m.shape)
    np.testing.assert_array_equal(sparse.bcoo_sort_indices(mixed).indices, m.indices)
    batched = sparse.bcoo_update_layout(sparse.BCOO.fromdense(BATCHED), n_batch=1, on_inefficient=None)
    assert batched.n_batch == 1
    np.testing.assert_array_equal(batched.todense(), BATCHED)
    rows = sparse.bcsr_fromdense(pnp.asarray(A))
    np.testing.assert_array_equal(sparse.bcsr_todense(rows), A)
    spread = sparse.bcsr_broadcast_in_dim(rows, shape=(2, 4, 5), broadcast_dimensions=(1, 2))
    np.testing.assert_array_equal(spread.todense(), np.stack([A, A]))
    twice = sparse.BCSR((pnp.ones(3), pnp.array([1, 1, 0]), pnp.array([0, 2, 3])), shape=(2, 2))
    np.testing.assert_array_equal(sparse.bcsr_sum_duplicates(twice).data[:2], [2, 1])
    np.testing.assert_array_equal(sparse.coo_todense(sparse.coo_fromdense(pnp.asarray(A))), A)
    np.testing.assert_array_equal(sparse.csr_todense(sparse.csr_fromdense(pnp.asarray(A))), A)
