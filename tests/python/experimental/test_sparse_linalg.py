"""`sparse.linalg` beside SciPy: direct solutions with their derivatives, and the largest eigenvalues."""

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.experimental import sparse
from pycompiler.experimental.sparse import linalg

rng = np.random.default_rng(3)


def places(*numbers):
    return np.array(numbers, np.int32)


def system(size, dtype):
    dense = np.where(rng.random((size, size)) < 0.2, rng.standard_normal((size, size)), 0)
    if np.dtype(dtype).kind == "c":
        dense = dense + 1j * np.where(dense != 0, rng.standard_normal((size, size)), 0)
    dense = (dense + 4 * np.eye(size)).astype(dtype)
    matrix = scipy.sparse.csr_matrix(dense)
    return dense, (matrix.data, matrix.indices, matrix.indptr), rng.standard_normal(size).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_solutions_are_those_of_scipy(dtype):
    with pc.enable_x64(True):
        dense, parts, b = system(30, dtype)
        want = scipy.sparse.linalg.spsolve(scipy.sparse.csr_matrix(dense), b)
        tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-12
        for function in (linalg.spsolve, pc.jit(linalg.spsolve)):
            found = function(*parts, b)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)


def test_derivatives_are_those_of_the_dense_solution():
    with pc.enable_x64(True):
        _, (data, indices, indptr), b = system(9, "float64")
        rows = np.repeat(np.arange(9), np.diff(indptr))

        def of_sparse(data, b):
            return pnp.sin(linalg.spsolve(data, indices, indptr, b)).sum()

        def of_dense(data, b):
            return pnp.sin(pnp.linalg.solve(pnp.zeros((9, 9)).at[rows, indices].set(data), b)).sum()

        for transform in (pc.grad, lambda f, n: pc.jit(pc.grad(f, n)), pc.jacfwd):
            for found, want in zip(
                transform(of_sparse, (0, 1))(data, b), pc.grad(of_dense, (0, 1))(data, b), strict=True
            ):
                np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-12)
        hessian = pc.jacfwd(pc.grad(of_sparse))(data, b)
        np.testing.assert_allclose(hessian, pc.jacfwd(pc.grad(of_dense))(data, b), rtol=1e-8, atol=1e-10)


def test_mapped_systems_and_loops():
    dense, (data, indices, indptr), b = system(8, "float32")
    many = np.stack([data, 2 * data, data + 0.1])
    solved = pc.vmap(linalg.spsolve, (0, None, None, None))(many, indices, indptr, b)
    for row, x in zip(many, solved, strict=True):
        np.testing.assert_allclose(linalg.spsolve(row, indices, indptr, b), x, rtol=1e-6)
    rights = pc.jit(pc.vmap(linalg.spsolve, (None, None, None, 1), 1))(data, indices, indptr, np.stack([b, b], 1))
    np.testing.assert_allclose(dense @ rights[:, 1], b, rtol=1e-4, atol=1e-4)
    twice = pc.lax.fori_loop(0, 2, lambda _, x: linalg.spsolve(data, indices, indptr, x), pnp.asarray(b))
    np.testing.assert_allclose(dense @ dense @ twice, b, rtol=1e-3, atol=1e-3)


def test_padding_duplicates_and_singular_matrices():
    padded = sparse.BCSR.fromdense(pnp.array([[2.0, 0.0], [1.0, 4.0]]), nse=5)
    parts = padded.data, padded.indices, padded.indptr
    np.testing.assert_allclose(linalg.spsolve(*parts, pnp.array([2.0, 9.0])), [1, 2])
    double = (np.ones(3, np.float32), places(0, 0, 1), places(0, 2, 3), np.ones(2, np.float32))
    np.testing.assert_allclose(linalg.spsolve(*double), [0.5, 1])
    singular = (np.ones(2, np.float32), places(0, 0), places(0, 1, 2), np.ones(2, np.float32))
    assert np.isnan(linalg.spsolve(*singular)).all()
    half = pnp.ones(2, pnp.bfloat16)
    assert linalg.spsolve(half, places(0, 1), places(0, 1, 2), half).dtype == pnp.bfloat16
    assert linalg.spsolve(np.ones(0, np.float32), places(), places(0), np.ones(0, np.float32)).shape == (0,)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({0: np.ones((2, 2), np.float32)}, r"data must be an array of one dimension, got f32\[2,2\]"),
        ({3: places(1, 1)}, "expected one dtype"),
        ({0: places(1, 1), 3: places(1, 1)}, "of floats or complex numbers"),
        ({1: np.ones(2, np.float32)}, "expected integers"),
        ({2: places(0, 2)}, "one more in indptr"),
        ({5: 7}, "expected 0, 1, 2 or 3"),
    ],
)
def test_systems_that_do_not_fit(change, text):
    given = [np.ones(2, np.float32), places(0, 1), places(0, 1, 2), np.ones(2, np.float32), 1e-6, 1]
    for place, value in change.items():
        given[place] = value
    with pytest.raises(ValueError, match=text):
        linalg.spsolve(*given)


@pytest.mark.parametrize("form", ["dense", "sparse", "function"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_eigenvalues(form, dtype):
    with pc.enable_x64(True):
        dense, _, _ = system(40, dtype)
        dense = (dense + dense.T) / 2
        given = {
            "dense": dense,
            "sparse": sparse.BCOO.fromdense(pnp.asarray(dense)),
            "function": lambda x: pnp.asarray(dense) @ x,
        }[form]
        values, vectors, count = linalg.lobpcg_standard(given, rng.standard_normal((40, 3)).astype(dtype), m=200)
        tolerance = 1e-3 if dtype == "float32" else 1e-8
        np.testing.assert_allclose(values, np.linalg.eigvalsh(dense)[:-4:-1], rtol=tolerance)
        np.testing.assert_allclose(dense @ vectors, vectors * values, atol=tolerance * 10)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=tolerance)
        assert values.dtype == vectors.dtype == dtype
        assert 0 < int(count) < 200


def test_the_iterations_are_limited():
    matrix = np.diag(np.arange(1, 31)).astype(np.float32)
    start = rng.standard_normal((30, 2)).astype(np.float32)
    assert int(linalg.lobpcg_standard(matrix, start, m=2)[2]) == 2
    assert int(linalg.lobpcg_standard(matrix, np.eye(30, dtype=np.float32)[:, -2:])[2]) == 0  # the solution
    loose, _, count = linalg.lobpcg_standard(matrix, start, tol=1e-5)
    assert int(count) < int(linalg.lobpcg_standard(matrix, start)[2])
    np.testing.assert_allclose(loose, [30, 29], rtol=0.01)


@pytest.mark.parametrize(
    ("matrix", "start", "text"),
    [
        (np.eye(9, dtype=np.float32), np.ones((9, 2), np.float32), r"X is f32\[9,2\], expected .*0 < 5 k < n"),
        (np.eye(9, dtype=np.float32), np.ones((11, 2), np.float32), r"A has the shape \(9, 9\)"),
        (np.eye(11, dtype=np.int32), np.ones((11, 2), np.float32), "the dtype int32"),
        (np.eye(11), np.ones((11, 2), np.int32), "expected floats"),
        (lambda x: x[:, :1], np.ones((11, 2), np.float32), r"A returned f32\[11,1\] for f32\[11,2\]"),
    ],
)
def test_matrices_that_do_not_fit(matrix, start, text):
    with pytest.raises(ValueError, match=text):
        linalg.lobpcg_standard(matrix, start)
