"""Functions of matrices of scipy.linalg: expm, expm_frechet, sqrtm, funm."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import linalg as lax_linalg
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, check_arrays
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.diagonals import diag, diagonal
from pycompiler.numpy.linalg.arguments import inexact_arrays, square_matrix, widened
from pycompiler.numpy.linalg.norms import norm
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.linalg import spectral
from pycompiler.primitives.shape import full_like
from pycompiler.scipy.linalg.decompositions import as_complex, schur


def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The exponential of each matrix [..., n, n], by scaling and squaring (Higham, 2005). The result is nan for a
    matrix that needs more than max_squarings squarings. upper_triangular is accepted for compatibility.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import linalg
    >>> linalg.expm(pnp.zeros((2, 2)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return spectral.expm.bind(square_matrix("expm", A), max_squarings=int(max_squarings))


def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """The exponential of each A and its derivative in the direction E; with compute_expm=False only the derivative.

    `method` is accepted for compatibility.
    """
    a, e = inexact_arrays("expm_frechet", A, E)
    a, e = square_matrix("expm_frechet", a), square_matrix("expm_frechet", e)
    if get_aval(a).shape != get_aval(e).shape:
        raise ArgumentError(f"expm_frechet: shapes differ: {short(get_aval(a))} and {short(get_aval(e))}")
    derivative = spectral.expm_frechet.bind(a, e, max_squarings=16)
    return (expm(a), derivative) if compute_expm else derivative


def _sqrtm(a: Array) -> Array:
    t, z = lax_linalg.schur(as_complex(a))
    n = get_aval(t).shape[-1]
    roots = lax.sqrt(la.diagonal(t))
    sums = lax.add(la.columns_of(roots, n), la.rows_of(roots, n))
    zero = lax.eq(sums, full_like(sums, 0))
    sums = lax.select(zero, full_like(sums, 1), sums)
    u = la.on_diagonal(la.rows_of(roots, n))
    for distance in range(1, n):
        # U U = T: the part of T without the contribution of the known diagonals, divided by the sum of two roots.
        rest = lax.div(lax.sub(t, la.matmul(u, u)), sums)
        u = lax.add(u, la.tril(la.triu(rest, distance), distance))
    return la.matmul(la.matmul(z, u), la.adjoint(z))


def sqrtm(A: Any, blocksize: int = 1) -> Array:
    """The principal square root of each matrix, complex, by the Schur form (Björck and Hammarling, 1983).

    NotImplementedError for a blocksize other than 1.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import linalg
    >>> linalg.sqrtm(pnp.diag(pnp.array([4.0, 9.0]))).real
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    if blocksize > 1:
        raise NotImplementedError(f"sqrtm: only blocksize=1 is supported, got {blocksize}; the result is the same")
    return eager_jit(_sqrtm, widened(square_matrix("sqrtm", A, narrow=True)))


def _apart(t: Array, distance: int) -> Array:
    """The differences of diagonal elements at a distance."""
    d = diagonal(t)
    n = get_aval(d).shape[0]
    return lax.sub(d[distance:], d[: n - distance])


def _parlett(f: Array, t: Array) -> Array:
    """f(T) for an upper triangular T, from f on its diagonal. One diagonal follows from the earlier ones, because T and
    f(T) commute (Golub and Van Loan, algorithm 9.1.1; Parlett, 1976)."""
    n = get_aval(t).shape[0]
    for distance in range(1, n):
        # F holds the diagonals below `distance`. So (F T - T F)[i, i + distance] has the two end terms F[i, i] T[i, j]
        # and T[i, j] F[j, j]. It lacks only the terms of F[i, j], which are still 0.
        defect = lax.sub(la.matmul(t, f), la.matmul(f, t))
        numerator = diagonal(defect, distance)
        gap = _apart(t, distance)
        zero = lax.eq(gap, np.zeros((), get_aval(gap).dtype))
        value = lax.select(zero, numerator, lax.div(numerator, ufuncs.where(zero, 1, gap)))
        f = lax.add(f, diag(value, distance))
    return f


def funm(A: Any, func: Callable[[Array], Array], disp: bool = True) -> Any:
    """func of a matrix [n, n], complex, by its Schur form (Parlett, 1976). func takes and returns a vector.

    The result is inaccurate for close eigenvalues. With disp=False, an estimate of the relative error is returned, too.
    """
    a = square_matrix("funm", A)
    if len(get_aval(a).shape) != 2:
        raise ValueError(f"funm: expects one square matrix, got {short(get_aval(a))}")
    t, z = schur(a, output="complex")
    values = func(diagonal(t))
    check_arrays("funm", values)
    dtype = get_aval(t).dtype
    values = broadcast_to(la.as_dtype(values, dtype), get_aval(t).shape[:1])
    f = _parlett(diag(values), t)
    f = la.matmul(la.matmul(z, f), la.adjoint(z))
    if disp:
        return f
    real = la.real_dtype(dtype)
    eps = np.asarray(np.finfo(real).eps, real)
    n = get_aval(t).shape[0]
    least = lax.abs(t[0, 0])
    for distance in range(1, n):
        least = ufuncs.minimum(least, reductions.min(lax.abs(_apart(t, distance))))
    least = ufuncs.where(lax.eq(least, np.zeros((), real)), eps, least)
    estimate = ufuncs.multiply(ufuncs.divide(eps, least), norm(la.triu(t, 1), 1))
    estimate = ufuncs.minimum(1, ufuncs.maximum(eps, estimate))
    return f, ufuncs.where(reductions.any(ufuncs.isinf(f)), np.asarray(np.inf, real), estimate)
