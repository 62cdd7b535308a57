"""`tridiagonal_solve(perturb_singular=True)`: the solution of numpy.linalg, and a finite one for singular systems."""

import functools

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


@functools.partial(np.vectorize, signature="(n),(n),(n)->(n,n)")
def dense(dl, d, du):
    return np.diag(dl[1:], -1) + np.diag(d) + np.diag(du[:-1], 1)


def solve(*arrays):
    return lax.linalg.tridiagonal_solve(*arrays, perturb_singular=True)


def system(*shape, dtype, seed=0):
    rng = np.random.default_rng(seed)

    def draw(*shape):
        parts = rng.normal(size=(2, *shape))
        return (parts[0] + 1j * parts[1] if np.dtype(dtype).kind == "c" else parts[0]).astype(dtype)

    return draw(*shape), draw(*shape), draw(*shape), draw(*shape, 2)


@pytest.mark.parametrize("dtype", ["float32", "complex64", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (3, 4), (2, 3, 5)], ids=str)
def test_regular_systems_with_any_pivots(shape, dtype):
    arrays = system(*shape, dtype=dtype)
    with pc.enable_x64():
        found = np.asarray(solve(*arrays))
        assert found.dtype == dtype
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(dense(*arrays[:3]) @ found, arrays[3], atol=200 * eps)
    compiled = pc.jit(solve)(*system(*shape, dtype="float32"))
    np.testing.assert_allclose(compiled, solve(*system(*shape, dtype="float32")), rtol=1e-4, atol=1e-5)


def test_systems_that_need_pivots():
    of = lambda *rows: [np.array(row, np.float32) for row in rows]  # noqa: E731
    dl, d, du, b = of([0, 2, -2, 3], [1, 4, 1, -1], [2, -1, 1, 0], [1, 2, 3, 4])
    np.testing.assert_allclose(solve(dl, d, du, b[:, None])[:, 0], [8, -3.5, 0, -4], rtol=1e-5)
    dl, d, du, b = of([0, 1, 1], [0, 0, 1], [1, 1, 0], [1, 2, 3])
    np.testing.assert_allclose(solve(dl, d, du, b[:, None])[:, 0], [0, 1, 2], atol=1e-6)


def test_small_pivots_of_regular_systems_stay():
    d = np.array([1e20, 1e-20, 1], np.float32)
    zeros, b = np.zeros(3, np.float32), np.ones((3, 1), np.float32)
    np.testing.assert_allclose(solve(zeros, d, zeros, b)[:, 0], [1e-20, 1e20, 1], rtol=1e-6)


@pytest.mark.parametrize(
    ("diagonals", "b"),
    [
        (([0, 0, 0], [0, 0, 0], [0, 0, 0]), [1, 1, 1]),
        (([0, 1], [1, 3], [3, 0]), [1, 4]),
        (([0, 2, 2], [2, 2, 0], [2, 0, 0]), [1, 5, 3]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_singular_systems_have_a_finite_solution(diagonals, b, dtype):
    given = [np.array(x, dtype) for x in (*diagonals, b)]
    assert np.linalg.matrix_rank(dense(*given[:3])) < len(b)
    found = np.asarray(solve(*given[:3], given[3][:, None]))
    assert np.isfinite(found).all()
    assert np.abs(found).max() > 1e6
    both = np.asarray(pc.vmap(solve)(*[np.stack([x, x]) for x in (*given[:3], given[3][:, None])]))
    np.testing.assert_array_equal(both, np.stack([found, found]))


def test_the_ends_are_not_read():
    dl, d, du, b = system(4, dtype="float32")
    other = solve(np.where(np.arange(4) == 0, np.nan, dl), d, np.where(np.arange(4) == 3, np.nan, du), b)
    np.testing.assert_array_equal(other, solve(dl, d, du, b))


def test_derivatives_are_those_of_the_other_solver():
    arrays = system(2, 4, dtype="float32", seed=3)

    def loss(perturb):
        solver = lambda *a: lax.linalg.tridiagonal_solve(*a, perturb_singular=perturb)  # noqa: E731
        return lambda *a: (pnp.sin(solver(*a)) ** 2).sum()

    every = (0, 1, 2, 3)
    for ours, other in zip(pc.grad(loss(True), every)(*arrays), pc.grad(loss(False), every)(*arrays), strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-3, atol=1e-4)
    ours, other = (pc.jvp(loss(perturb), arrays, system(2, 4, dtype="float32", seed=4))[1] for perturb in (True, False))
    np.testing.assert_allclose(ours, other, rtol=1e-3)


def test_arguments_are_checked():
    dl, d, du, b = system(4, dtype="float32")
    with pytest.raises((TypeError, ValueError), match="tridiagonal_solve"):
        solve(dl, d[:3], du, b)
    assert solve(*(x[:0] for x in (dl, d, du, b))).shape == (0, 2)
