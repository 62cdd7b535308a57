"""The iterative solvers against NumPy's direct ones."""

import inspect

import jax.scipy.sparse.linalg
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import enable_x64
from pycompiler.scipy.sparse import linalg

rng = np.random.default_rng(0)
N = 12
GENERAL = rng.normal(size=(N, N)) + 4 * np.eye(N)
IMAGINARY = rng.normal(size=(N, N))
RIGHT = rng.normal(size=N)
SOLVERS = {
    "cg": linalg.cg,
    "bicgstab": linalg.bicgstab,
    "gmres": linalg.gmres,
    "gmres incremental": lambda *args, **given: linalg.gmres(*args, solve_method="incremental", **given),
    "gmres restarted": lambda *args, **given: linalg.gmres(*args, restart=8, **given),
    "gmres incremental, restarted": lambda *args, **given: linalg.gmres(
        *args, restart=8, solve_method="incremental", **given
    ),
}


def matrix(name, dtype):
    """Hermitian and positive definite for cg."""
    a = GENERAL + 0.3j * IMAGINARY if np.dtype(dtype).kind == "c" else GENERAL
    return (a @ a.conj().T + np.eye(N) if name == "cg" else a).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("name", SOLVERS)
def test_solutions(name, dtype):
    solve, a, b = SOLVERS[name], matrix(name, dtype), RIGHT.astype(dtype)
    wide = np.dtype(dtype) in (np.float64, np.complex128)
    tolerance = 1e-10 if wide else 1e-6
    with enable_x64(wide):
        want = np.linalg.solve(a, b)
        x, _ = solve(a, b, tol=tolerance)
        assert x.dtype == dtype
        np.testing.assert_allclose(x, want, atol=300 * tolerance)
        inverse = np.diag(1 / np.diag(a))
        x, _ = pc.jit(lambda a, b: solve(lambda x: a @ x, b, b / 10, tol=tolerance, M=inverse))(a, b)
        np.testing.assert_allclose(x, want, atol=300 * tolerance)
        several = rng.normal(size=(3, N)).astype(dtype)
        x, _ = pc.vmap(lambda b: solve(a, b, tol=tolerance))(several)
        np.testing.assert_allclose(x, np.linalg.solve(a, several.T).T, atol=300 * tolerance)


@pytest.mark.parametrize("name", SOLVERS)
def test_derivatives(name):
    solve, weights = SOLVERS[name], rng.normal(size=N)
    with enable_x64(True):
        a, b = matrix(name, np.float64), RIGHT
        slopes = pc.grad(lambda a, b: weights @ solve(a, b, tol=1e-12)[0], (0, 1))(a, b)
        x, adjoint = np.linalg.solve(a, b), np.linalg.solve(a.T, weights)
        np.testing.assert_allclose(slopes[1], adjoint, atol=1e-8)
        np.testing.assert_allclose(slopes[0], -np.outer(adjoint, x), atol=1e-8)
        _, tangent = pc.jvp(lambda b: solve(a, b, tol=1e-12)[0], (b,), (weights,))
        np.testing.assert_allclose(tangent, np.linalg.solve(a, weights), atol=1e-8)


@pytest.mark.parametrize("name", SOLVERS)
def test_trees(name):
    solve = SOLVERS[name]

    def scaled(x):
        return {"a": 2 * x["a"], "b": (x["b"][0] * 3 + 1j * 0, x["b"][1] * 4)}

    b = {"a": pnp.ones((2, 3)), "b": (pnp.ones(2) * 1j, pnp.float32(8))}
    x, _ = solve(scaled, b)
    np.testing.assert_allclose(x["a"], 0.5, rtol=1e-5)
    np.testing.assert_allclose(x["b"][0], 1j / 3, rtol=1e-5)
    np.testing.assert_allclose(x["b"][1], 2, rtol=1e-5)
    assert [leaf.dtype for leaf in pc.tree.leaves(x)] == [np.float32, np.complex64, np.float32]


@pytest.mark.parametrize("name", SOLVERS)
def test_edges(name):
    solve = SOLVERS[name]
    a = matrix(name, np.float32)
    np.testing.assert_array_equal(solve(a, np.zeros(N, np.float32))[0], 0)
    guess = np.linalg.solve(a, RIGHT).astype(np.float32)
    np.testing.assert_array_equal(solve(a, RIGHT.astype(np.float32), guess, tol=1e-3)[0], guess)
    np.testing.assert_array_equal(solve(a, RIGHT.astype(np.float32), maxiter=0)[0], 0)
    # The Krylov space of an eigenvector has one dimension.
    np.testing.assert_allclose(
        solve(2 * np.eye(N, dtype=np.float32), np.arange(N, dtype=np.int32))[0], np.arange(N) / 2, rtol=1e-6
    )


@pytest.mark.parametrize("name", SOLVERS)
def test_weak_types(name):
    for b in (1.0, np.float32(1), pnp.broadcast_to(pnp.asarray(1.0), (2,))):
        x, _ = SOLVERS[name](lambda x: 2 * x, b)
        assert x.weak_type == pnp.asarray(b).weak_type
        np.testing.assert_allclose(x, 0.5)


def test_what_is_told_about_the_solution():
    a = np.eye(3, dtype=np.float32)
    assert linalg.cg(a, np.ones(3, np.float32))[1] is None
    assert linalg.bicgstab(a, np.ones(3, np.float32))[1] is None
    assert linalg.gmres(a, np.ones(3, np.float32))[1] == 0
    assert linalg.gmres(a * np.nan, np.ones(3, np.float32))[1] == -1


def test_arguments():
    for name in linalg.__all__:
        ours, theirs = (inspect.signature(getattr(m, name)) for m in (linalg, jax.scipy.sparse.linalg))
        assert [(p.name, p.kind, p.default) for p in ours.parameters.values()] == [
            (p.name, p.kind, p.default) for p in theirs.parameters.values()
        ]
    b = pnp.ones(3)
    with pytest.raises(ValueError, match=r"cg: a linear operator must be a square matrix, got the shape \(3, 2\)"):
        linalg.cg(pnp.ones((3, 2)), b)
    with pytest.raises(TypeError, match="gmres: a linear operator is a function, a square matrix or an"):
        linalg.gmres("a", b)
    with pytest.raises(ValueError, match="cg: x0 must have the structure of b"):
        linalg.cg(pnp.eye(3), b, (b,))
    with pytest.raises(ValueError, match=r"bicgstab: x0 must have the shapes of b, got f32\[2\] for f32\[3\]"):
        linalg.bicgstab(pnp.eye(3), b, pnp.ones(2))
    with pytest.raises(ValueError, match="gmres: solve_method is 'batched' or 'incremental', got 'direct'"):
        linalg.gmres(pnp.eye(3), b, solve_method="direct")

    class Scaled:
        shape = (3, 3)

        def __matmul__(self, x):
            return 2 * x

    np.testing.assert_allclose(linalg.cg(Scaled(), b)[0], 0.5)
