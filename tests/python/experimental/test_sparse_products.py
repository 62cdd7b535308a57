"""Products of sparse and dense arrays, their derivatives and maps, beside dense arrays, SciPy and JAX."""

import numpy as np
import pytest
import scipy.sparse
from jax.experimental import sparse as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.experimental import sparse
from pycompiler.experimental.sparse import BCOO, BCSR, COO, CSC, CSR

RNG = np.random.default_rng(1)
TYPES = [np.int32, np.float32, np.float64, np.complex64]


@pytest.fixture(autouse=True)
def wide():
    with pc.enable_x64(True):
        yield


def dense_of(shape, dtype=np.float64):
    x = RNG.integers(1, 9, shape).astype(dtype)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * RNG.integers(0, 3, shape).astype(dtype)
    x[RNG.random(shape) > 0.4] = 0
    return x


# The shapes of the operands, the batch axes of the sparse one, and the dimension numbers.
CASES = [
    ((4, 5), (5,), 0, (((1,), (0,)), ((), ()))),
    ((4, 5), (5, 3), 0, (((1,), (0,)), ((), ()))),
    ((4, 5), (3, 4), 0, (((0,), (1,)), ((), ()))),
    ((4, 5), (4, 5), 0, (((0, 1), (0, 1)), ((), ()))),
    ((4, 5), (3,), 0, (((), ()), ((), ()))),
    ((2, 4, 5), (2, 5, 3), 1, (((2,), (1,)), ((0,), (0,)))),
    ((2, 4, 5), (5, 3), 1, (((2,), (0,)), ((), ()))),
    ((2, 4, 5), (2, 3), 1, (((0,), (0,)), ((), ()))),
    ((2, 4, 5), (4, 2, 3), 2, (((0,), (1,)), ((1,), (0,)))),
    ((2, 4, 5), (3, 5, 2), 1, (((0, 2), (2, 1)), ((), ()))),
    ((2, 3, 4), (3, 2, 4), 3, (((2,), (2,)), ((0, 1), (1, 0)))),
]


@pytest.mark.parametrize(("shape", "other", "n_batch", "numbers"), CASES)
def test_dot_general(shape, other, n_batch, numbers):
    dense, rhs = dense_of(shape), RNG.normal(size=other)
    mat = BCOO.fromdense(dense, n_batch=n_batch, nse=max(7, np.count_nonzero(dense)))
    wanted = lax.dot_general(dense, rhs, numbers)

    def product(data, rhs):
        return sparse.bcoo_dot_general(mat.with_data(data), rhs, dimension_numbers=numbers)

    np.testing.assert_allclose(product(mat.data, rhs), wanted)
    turned = tuple(pair[::-1] for pair in numbers)
    reverse = sparse.bcoo_dot_general(rhs, mat, dimension_numbers=turned)
    np.testing.assert_allclose(reverse, lax.dot_general(rhs, dense, turned))
    # Derivatives: of the data, those of the dense array at its places.
    weights = RNG.normal(size=wanted.shape)
    slopes = pc.grad(lambda d, r: (product(d, r) * weights).sum(), (0, 1))(mat.data, rhs)
    of_dense = pc.grad(lambda d, r: (lax.dot_general(d, r, numbers) * weights).sum(), (0, 1))(dense, rhs)
    np.testing.assert_allclose(slopes[0], sparse.bcoo_extract(mat, of_dense[0]).data, atol=1e-12)
    np.testing.assert_allclose(slopes[1], of_dense[1], atol=1e-12)


def test_dot_general_dense_axes_and_types():
    dense = dense_of((4, 5, 2), np.float32)
    mat = BCOO.fromdense(dense, n_dense=1)
    rhs = RNG.normal(size=(5, 3)).astype(np.float32)
    numbers = (((1,), (0,)), ((), ()))
    found = sparse.bcoo_dot_general(mat, rhs, dimension_numbers=numbers, preferred_element_type=np.float64)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.einsum("ijk,jl->ikl", dense, rhs), rtol=1e-5)
    with pytest.raises(NotImplementedError, match=r"contracting dimensions .* include dense axes"):
        sparse.bcoo_dot_general(mat, rhs[:2], dimension_numbers=(((2,), (0,)), ((), ())))


def test_dot_general_refused():
    mat = BCOO.fromdense(dense_of((4, 5)))
    with pytest.raises(NotImplementedError, match="must be among its 0 batch axes"):
        sparse.bcoo_dot_general(mat, pnp.ones((4, 5)), dimension_numbers=(((1,), (1,)), ((0,), (0,))))


@pytest.mark.parametrize("n_batch", [0, 1])
def test_two_sparse_arrays(n_batch):
    x, y = dense_of((3, 4)), dense_of((4, 5))
    found = BCOO.fromdense(x, n_batch=n_batch) @ BCOO.fromdense(y)
    assert isinstance(found, BCOO)
    np.testing.assert_allclose(found.todense(), x @ y)
    left, right = BCOO.fromdense(x), BCOO.fromdense(y)
    slope = pc.grad(lambda data: (left.with_data(data) @ right).todense().sum())(left.data)
    wanted = np.ones((3, 5)) @ y.T
    np.testing.assert_allclose(slope, sparse.bcoo_extract(left, wanted).data)


def test_sampled():
    a, b = RNG.normal(size=(4, 6)), RNG.normal(size=(6, 5))
    mat = BCOO.fromdense(dense_of((4, 5)))
    numbers = (((1,), (0,)), ((), ()))
    found = sparse.bcoo_dot_general_sampled(a, b, mat.indices, dimension_numbers=numbers)
    np.testing.assert_allclose(found, sparse.bcoo_extract(mat, a @ b).data)
    other = theirs.bcoo_dot_general_sampled(a, b, np.asarray(mat.indices), dimension_numbers=numbers)
    np.testing.assert_allclose(found, other, rtol=1e-5, atol=3e-7)  # the first sum nearly cancels
    turned = sparse.bcoo_dot_general_sampled(a.T, b, mat.indices, dimension_numbers=(((0,), (0,)), ((), ())))
    np.testing.assert_allclose(turned, found, rtol=1e-5, atol=3e-7)
    batched = BCOO.fromdense(dense_of((4, 5)), n_batch=1)
    found = sparse.bcoo_dot_general_sampled(a, b, batched.indices, dimension_numbers=numbers)
    np.testing.assert_allclose(found, sparse.bcoo_extract(batched, a @ b).data)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", [BCOO, BCSR, COO, CSR, CSC])
def test_matrices_beside_scipy(kind, dtype):
    dense = dense_of((6, 7), dtype)
    dense[2] = 0
    mat = kind.fromdense(dense)
    other = scipy.sparse.csr_matrix(dense)
    np.testing.assert_array_equal(mat.todense(), dense)
    assert mat.nse == other.nnz
    for shape in ((7,), (7, 3)):
        v = RNG.integers(-5, 5, shape).astype(dtype)
        np.testing.assert_allclose(mat @ v, other @ v, rtol=1e-6)
        np.testing.assert_allclose(pc.jit(lambda m, v: m @ v)(mat, v), other @ v, rtol=1e-6)
    if kind is BCSR:
        np.testing.assert_array_equal(BCSR.from_scipy_sparse(other).todense(), dense)
        v = RNG.integers(-5, 5, 6).astype(dtype)
        np.testing.assert_allclose(v @ mat.to_bcoo(), v @ dense, rtol=1e-6)
        return
    np.testing.assert_array_equal(mat.T.todense(), dense.T)
    np.testing.assert_allclose(mat.T @ np.ones(6, dtype), dense.T @ np.ones(6, dtype), rtol=1e-6)


def test_scipy_matrices():
    other = scipy.sparse.random(6, 7, 0.4, random_state=0)
    mat = BCOO.from_scipy_sparse(other)
    np.testing.assert_array_equal(mat.todense(), other.toarray())
    with pytest.raises(NotImplementedError, match="n_dense and n_batch must be 0"):
        BCOO.from_scipy_sparse(other, n_batch=1)


def test_functions_of_rows_and_coordinates():
    dense = dense_of((4, 5))
    v, w = RNG.normal(size=5), RNG.normal(size=4)
    m, n = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3))
    for mat, matvec, matmat, todense in (
        (COO.fromdense(dense), sparse.coo_matvec, sparse.coo_matmat, sparse.coo_todense),
        (CSR.fromdense(dense), sparse.csr_matvec, sparse.csr_matmat, sparse.csr_todense),
    ):
        np.testing.assert_allclose(matvec(mat, v), dense @ v)
        np.testing.assert_allclose(matvec(mat, w, transpose=True), dense.T @ w)
        np.testing.assert_allclose(matmat(mat, m), dense @ m)
        np.testing.assert_allclose(matmat(mat, n, transpose=True), dense.T @ n)
        np.testing.assert_array_equal(todense(mat), dense)

        def loss(data, v, mat=mat, matvec=matvec):
            leaves, tree = pc.tree.flatten(mat)
            return (matvec(tree.unflatten([data, *leaves[1:]]), v) ** 2).sum()

        for derivative in (pc.grad, pc.jacfwd):
            slopes = derivative(loss, (0, 1))(mat.data, v)
            rows, columns = np.nonzero(dense)
            np.testing.assert_allclose(slopes[0], 2 * (dense @ v)[rows] * v[columns])
            np.testing.assert_allclose(slopes[1], 2 * dense.T @ (dense @ v))
        many = RNG.normal(size=(3, 5))
        np.testing.assert_allclose(pc.vmap(lambda v, m=mat, f=matvec: f(m, v))(many), many @ dense.T)
        with pytest.raises(TypeError, match="its first axis must be of size 5"):
            matvec(mat, w)


def test_empty_rows_and_padding():
    """Rows without elements, at the end too, and arrays that are longer than the elements."""
    mat = CSR((pnp.array([1.0, 2.0, 9.0]), pnp.array([2, 0, 1]), pnp.array([0, 0, 1, 2, 2])), shape=(4, 3))
    dense = np.zeros((4, 3))
    dense[1, 2], dense[2, 0] = 1, 2
    np.testing.assert_array_equal(mat.todense(), dense)
    np.testing.assert_array_equal(mat @ pnp.arange(1.0, 4.0), dense @ np.arange(1.0, 4.0))
    np.testing.assert_array_equal(mat.T @ pnp.arange(4.0), dense.T @ np.arange(4.0))
    none = sparse.empty((4, 3), sparse_format="csr")
    np.testing.assert_array_equal(none @ pnp.ones(3), np.zeros(4))
    batched = BCSR.fromdense(pnp.stack([dense, dense[::-1]]), n_batch=1, nse=4)
    np.testing.assert_array_equal(batched.todense(), np.stack([dense, dense[::-1]]))
    numbers = (((2,), (0,)), ((), ()))
    np.testing.assert_array_equal(
        sparse.bcsr_dot_general(batched, pnp.ones(3), dimension_numbers=numbers), np.asarray(batched.todense()).sum(-1)
    )


def test_rows_beside_jax():
    dense = dense_of((2, 4, 5, 2), np.float32)
    for n_batch, n_dense, x in ((0, 0, dense[0, ..., 0]), (1, 1, dense)):
        mat, other = (s.BCSR.fromdense(x, n_batch=n_batch, n_dense=n_dense) for s in (sparse, theirs))
        for ours, its in zip(mat.tree_flatten()[0], other.tree_flatten()[0], strict=True):
            np.testing.assert_array_equal(ours, its)
        assert repr(mat) == repr(other)
        np.testing.assert_array_equal(sparse.bcsr_extract(mat.indices, mat.indptr, x * 2), mat.data * 2)
        joined = sparse.bcsr_concatenate([mat, mat], dimension=n_batch)
        np.testing.assert_array_equal(joined.todense(), np.concatenate([x, x], n_batch))
    with pytest.raises(ValueError, match="indptr must have 5 entries"):
        BCSR((pnp.ones(1), pnp.zeros(1, int), pnp.zeros(3, int)), shape=(4, 5))


@pytest.mark.parametrize("kind", [BCOO, BCSR])
def test_maps(kind):
    dense = dense_of((3, 4, 5))
    mat = kind.fromdense(dense, n_batch=1)
    v = RNG.normal(size=5)
    np.testing.assert_allclose(pc.vmap(lambda m: m @ v)(mat), dense @ v)
    np.testing.assert_allclose(pc.jit(pc.vmap(lambda m, v: m @ v))(mat, np.stack([v] * 3)), dense @ v)
    shapes = []
    out = pc.vmap(lambda m: (shapes.append((m.shape, m.n_batch)), m)[1])(mat)
    assert shapes == [((4, 5), 0)]
    assert out.shape == (3, 4, 5)
    np.testing.assert_array_equal(out.todense(), dense)
    made = pc.vmap(lambda x: kind.fromdense(x, nse=20))(dense)
    assert made.n_batch == 1
    np.testing.assert_array_equal(made.todense(), dense)
    with pytest.raises(ValueError, match="only these, which come first, can be mapped"):
        pc.vmap(lambda m: m, 1)(mat)


def test_maps_of_shared_arrays():
    """Members may share places: the axis is of size 1."""
    data = RNG.normal(size=(3, 2))
    mat = BCOO((pnp.asarray(data), pnp.array([[[0, 1], [2, 0]]])), shape=(3, 4, 5))
    v = RNG.normal(size=5)
    np.testing.assert_allclose(pc.vmap(lambda m: m @ v)(mat), np.asarray(mat.todense()) @ v)
    one = BCOO((pnp.ones((1, 2)), pnp.array([[[0, 1], [2, 0]]])), shape=(3, 4, 5))
    np.testing.assert_allclose(pc.vmap(lambda m: m @ v)(one), np.asarray(one.todense()) @ v)


def test_gradients_by_matrices():
    dense = dense_of((4, 5))
    v = RNG.normal(size=5)

    def loss(m, v):
        return (m @ v) @ (m @ v)

    wanted = 2 * np.outer(dense @ v, v)
    for kind in (BCOO, BCSR, COO, CSR):
        mat = kind.fromdense(dense)
        value, slope = sparse.value_and_grad(loss)(mat, v)
        assert type(slope) is kind
        np.testing.assert_allclose(value, loss(dense, v))
        np.testing.assert_allclose(slope.todense(), np.where(dense != 0, wanted, 0), rtol=1e-5, atol=1e-6)
        both = sparse.grad(loss, (0, 1))(mat, v)
        np.testing.assert_allclose(both[1], 2 * dense.T @ (dense @ v))
    mat = BCOO.fromdense(dense)
    slope, aux = sparse.grad(lambda m: (loss(m, v), m.nse), has_aux=True)(mat)
    assert aux == mat.nse
    for jacobian in (sparse.jacfwd, sparse.jacrev, sparse.jacobian):
        found = jacobian(lambda m: m @ v)(mat)
        assert found.shape == (4, 4, 5)
        # Each result depends on its row, where the matrix has an element.
        its = np.einsum("ij,k->ijk", np.eye(4), v) * (dense != 0)
        np.testing.assert_allclose(found.todense(), its, rtol=1e-5)
    tree = sparse.grad(lambda p: loss(p["m"], p["v"]))({"m": mat, "v": v})
    np.testing.assert_allclose(tree["m"].data, sparse.grad(loss)(mat, v).data)
    with pytest.raises(ValueError, match="argnums=3 does not fit 2 arguments"):
        sparse.grad(loss, 3)(mat, v)
