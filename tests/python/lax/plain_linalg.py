"""`lax.linalg` by functions of NumPy, SciPy and LAPACK, with lax's arguments: an oracle for test_lax_linalg.py."""

import numpy as np
import scipy.linalg
from scipy.linalg import lapack


def symmetric(x, symmetrize):
    return (x + np.swapaxes(x, -1, -2)) / 2 if symmetrize else x


def each(function):
    """For a batch of matrices, one after the other."""

    def call(x, *args, **params):
        if x.ndim < 3:
            return function(x, *args, **params)
        found = [function(*each, **params) for each in zip(x, *args, strict=True)]
        return tuple(map(np.stack, zip(*found, strict=True))) if isinstance(found[0], tuple) else np.stack(found)

    return call


def routine(name, x):
    return getattr(lapack, ("s" if x.dtype == np.float32 else "d") + name)


def permutation(pivots, size):
    order = list(range(size))
    for i, j in enumerate(pivots):
        order[i], order[j] = order[j], order[i]
    return np.array(order)


def lu(x):
    found, pivots = scipy.linalg.lu_factor(x)
    return found, pivots, permutation(pivots, len(x))


def cholesky(x, symmetrize_input=True):
    try:
        return np.linalg.cholesky(symmetric(x, symmetrize_input))
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(x, np.nan))


def eigh(x, lower=True, symmetrize_input=True):
    values, vectors = np.linalg.eigh(symmetric(x, symmetrize_input), "L" if lower else "U")
    return vectors, values


def householders(a, taus):
    """The product of I - tau v v', whose v are the columns below the diagonal."""
    q = np.eye(len(a))
    for i, tau in enumerate(taus):
        v = np.concatenate([np.zeros(i), [1], a[i + 1 :, i]])
        q = q @ (np.eye(len(a)) - tau * np.outer(v, v))
    return q


def ormqr(a, taus, c, left=True, transpose=False):
    q = householders(a, taus)
    q = q.T if transpose else q
    return q @ c if left else c @ q


def triangular_solve(
    a, b, left_side=False, lower=False, transpose_a=False, conjugate_a=False, unit_diagonal=False
):  # fmt: skip
    a = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        a = a - np.diag(np.diag(a)) + np.eye(len(a))
    a = a.T if transpose_a else a
    return np.linalg.solve(a, b) if left_side else np.linalg.solve(a.T, b.T).T


def tridiagonal_solve(below, diagonal, above, b):
    return np.linalg.solve(np.diag(diagonal) + np.diag(below[1:], -1) + np.diag(above[:-1], 1), b)


def svd(x, full_matrices=True, compute_uv=True):
    found = np.linalg.svd(x, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def qr(x, full_matrices=True, pivoting=False):
    return scipy.linalg.qr(x, mode="full" if full_matrices else "economic", pivoting=pivoting)


FUNCTIONS = {
    "cholesky": cholesky,
    "cholesky_update": lambda r, w: np.linalg.cholesky(r.T @ r + np.outer(w, w)).T,
    "eigh": eigh,
    "hessenberg": each(lambda x: routine("gehrd", x)(x)[:2]),
    "householder_product": lambda a, taus: householders(a, taus)[:, : a.shape[1]],
    "lu": each(lu),
    "lu_pivots_to_permutation": permutation,
    "ormqr": ormqr,
    "qr": each(qr),
    "schur": lambda x, compute_schur_vectors=True: scipy.linalg.schur(x)[: 1 + compute_schur_vectors],
    "svd": svd,
    "symmetric_product": lambda a, c, alpha, beta, symmetrize_output: alpha * a @ a.T + beta * c,
    "triangular_solve": each(triangular_solve),
    "tridiagonal": lambda x, lower=True: routine("sytrd", x)(x, lower=lower)[:4],
    "tridiagonal_solve": tridiagonal_solve,
}
