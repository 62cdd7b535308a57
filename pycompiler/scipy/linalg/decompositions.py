"""Decompositions of scipy.linalg. overwrite_*, check_finite, lwork, turbo and lapack_driver are accepted for
compatibility: nothing is overwritten, and nothing is checked."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.dims.ranges import smaller
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import linalg as lax_linalg
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast
from pycompiler.numpy.creation import nested
from pycompiler.numpy.linalg.arguments import any_matrix, inexact_arrays, square_matrix, widened
from pycompiler.primitives.linalg import factorizations as solvers
from pycompiler.primitives.linalg import orthogonal
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.shape import full, full_like


def _cholesky(a: Array, *, lower: bool) -> Array:
    factor = solvers.cholesky.bind(a if lower else la.adjoint(a))
    return factor if lower else la.adjoint(factor)


@nested(1)
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The upper factor R of a = R^H R, or with `lower` L of a = L L^H. Only one triangle of a is read. The result is
    nan if a is not positive definite."""
    return eager_jit(_cholesky, square_matrix("cholesky", a), lower=bool(lower))


@nested(1)
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, bool]:
    """The Cholesky factor of a, and `lower`, for cho_solve."""
    return cholesky(a, lower), lower


@nested(1)
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """u, s, vh of a = u diag(s) vh, s descending; only s without compute_uv. Both drivers give the same result.
    ValueError for another driver."""
    if lapack_driver not in ("gesdd", "gesvd"):
        raise ValueError(f"svd: lapack_driver is 'gesdd' or 'gesvd', got {lapack_driver!r}")
    return lax_linalg.svd(any_matrix("svd", a), full_matrices=full_matrices, compute_uv=compute_uv)


@nested(1)
def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Ascending eigenvalues and eigenvectors (columns) of Hermitian matrices, or only the values.

    The matrix is symmetrized first. NotImplementedError for the generalized problem and for a range of eigenvalues.
    """
    if b is not None or type != 1 or eigvals is not None:
        raise NotImplementedError("eigh: only b=None, type=1 and eigvals=None are supported")
    v, w = lax_linalg.eigh(square_matrix("eigh", a), lower=lower)
    return w if eigvals_only else (w, v)


def as_complex(a: Any) -> Array:
    """a in the complex dtype of the same precision."""
    return cast(a, la.complex_dtype(get_aval(a).dtype))


def schur(a: Any, output: str = "real") -> tuple[Array, Array]:
    """T and Z of a = Z T Z^H. With output='complex', both are complex, and T is triangular. Otherwise the T of a real
    matrix has 2x2 blocks on its diagonal. ValueError for another output."""
    if output not in ("real", "complex"):
        raise ValueError(f"schur: output is 'real' or 'complex', got {output!r}")
    a = square_matrix("schur", a)
    return lax_linalg.schur(as_complex(a) if output == "complex" else a)


def _complex_form(t: Array, z: Array) -> tuple[Array, Array]:
    # T = Q C Q^H with C triangular, so that Z T Z^H = (Z Q) C (Z Q)^H.
    triangular, q = lax_linalg.schur(as_complex(t))
    return la.triu(triangular), la.matmul(as_complex(z), q)


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form, from the real one: T becomes triangular, both become complex."""
    t, z = (widened(x) for x in inexact_arrays("rsf2csf", T, Z, narrow=True))
    for x in (t, z):
        if len(get_aval(x).shape) < 2 or get_aval(x).shape[-1] != get_aval(x).shape[-2]:
            raise ValueError(f"rsf2csf: expects square matrices, got {short(get_aval(t))} and {short(get_aval(z))}")
    if get_aval(t).shape[-1] != get_aval(z).shape[-1]:
        raise ArgumentError(f"rsf2csf: sizes differ: {short(get_aval(t))} and {short(get_aval(z))}")
    batch = broadcast_shapes(get_aval(t).shape[:-2], get_aval(z).shape[:-2])
    t, z = (broadcast_to(x, (*batch, *get_aval(x).shape[-2:])) for x in (t, z))
    return eager_jit(_complex_form, t, z)


@nested(1)
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """Both factors of P a = L U in one matrix, and the swaps of rows, for lu_solve."""
    factors, pivots, _ = lax_linalg.lu(any_matrix("lu_factor", a))
    return factors, pivots


def _lu(a: Array, *, permute: bool) -> tuple[Array, ...]:
    factors, _, permutation = lax_linalg.lu(a)
    aval = get_aval(factors)
    *batch, m, n = aval.shape
    k: Any = smaller(m, n)
    eye = la.on_diagonal(full((*batch, m, k), 1, aval.dtype))
    lower = lax.add(la.tril(la.part(factors, columns=(0, k)), -1), eye)
    upper = la.triu(la.part(factors, rows=(0, k)))
    # Row i of a is in the place of row permutation[i]: P[i, j] = (permutation[j] == i).
    places = movement.broadcasted_iota(np.int32, (*batch, m, m), len(batch))
    p = cast(lax.eq(la.rows_of(permutation, m), places), la.real_dtype(aval.dtype))
    if permute:
        return la.matmul(la.as_dtype(p, aval.dtype), lower), upper
    return p, lower, upper


@nested(1)
def lu(a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """P, L, U of a = P L U, or with permute_l the product P L, and U."""
    return eager_jit(_lu, any_matrix("lu", a), permute=bool(permute_l))


@nested(1)
def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """Q, R of a = Q R; with pivoting also P of a[:, P] = Q R. mode: 'full', 'economic' or 'r' (R, in a tuple).

    ValueError for another mode.
    """
    if mode not in ("full", "r", "economic"):
        raise ValueError(f"qr: mode is 'full', 'r' or 'economic', got {mode!r}")
    out = lax_linalg.qr(any_matrix("qr", a), pivoting=pivoting, full_matrices=mode != "economic")
    return out[1:] if mode == "r" else out


def _triangle(reflectors: Array, k: int) -> Array:
    return la.triu(la.part(reflectors, rows=(0, k)))


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> Any:
    """c Q (mode 'right') or Q c ('left') for a = Q R without forming Q, then R, and with pivoting P. `conjugate` uses
    conj(Q)."""
    if mode not in ("right", "left"):
        raise ValueError(f"qr_multiply: mode is 'right' or 'left', got {mode!r}")
    a, c = inexact_arrays("qr_multiply", a, c)
    a = any_matrix("qr_multiply", a)
    vector = len(get_aval(c).shape) == 1
    if vector:
        c = movement.expand_dims(c, (1 if mode == "left" else 0,))
    m, n = get_aval(a).shape[-2:]
    expected, found = (smaller(m, n), get_aval(c).shape[-2]) if mode == "left" else (m, get_aval(c).shape[-1])
    if expected != found:
        raise ValueError(
            f"qr_multiply: {short(get_aval(c))} does not fit the Q of {short(get_aval(a))} on the "
            f"{'right' if mode == 'left' else 'left'}: expected {expected} {'rows' if mode == 'left' else 'columns'}, "
            f"got {found}"
        )
    batch = broadcast_shapes(get_aval(a).shape[:-2], get_aval(c).shape[:-2])
    a, c = (broadcast_to(x, (*batch, *get_aval(x).shape[-2:])) for x in (a, c))
    product, *rest = eager_jit(
        _qr_multiply, a, c, left=mode == "left", pivoting=bool(pivoting), conjugate=bool(conjugate)
    )
    if vector:
        product = movement.squeeze(product, (-1 if mode == "left" else -2,))
    return (product, *rest)


def _qr_multiply(a: Array, c: Array, *, left: bool, pivoting: bool, conjugate: bool) -> tuple[Array, ...]:
    *batch, m, n = get_aval(a).shape
    k: Any = smaller(m, n)
    reflectors, taus, *permutation = (orthogonal.geqp3 if pivoting else orthogonal.geqrf).bind(a)
    if left and m > n:
        c = la.joined([c, full((*batch, m - k, get_aval(c).shape[-1]), 0, get_aval(c).dtype)], -2)
    # conj(Q) c is conj(Q conj(c)).
    product = orthogonal.ormqr.bind(reflectors, taus, la.conj(c) if conjugate else c, left=left, transpose=False)
    product = la.conj(product) if conjugate else product
    if not left:
        product = la.part(product, columns=(0, k))
    return product, _triangle(reflectors, k), *permutation


def _hessenberg(a: Array, *, vectors: bool) -> Any:
    reflectors, taus = orthogonal.hessenberg.bind(a)
    aval = get_aval(a)
    *batch, n, _ = aval.shape
    h = la.triu(reflectors, -1)
    if not vectors:
        return h
    inner = orthogonal.householder_product.bind(la.part(reflectors, rows=(1, n), columns=(0, n - 1)), taus)
    column = full((*batch, n - 1, 1), 0, aval.dtype)
    top = la.part(la.on_diagonal(full_like(a, 1)), rows=(0, 1))
    return h, la.joined([top, la.joined([column, inner], -1)], -2)


def hessenberg(a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The upper Hessenberg H of a = Q H Q^H, and with calc_q also Q."""
    a = square_matrix("hessenberg", a)
    if get_aval(a).shape[-1] == 0:
        return (a, a) if calc_q else a
    return eager_jit(_hessenberg, a, vectors=bool(calc_q))


def _polar(a: Array, *, right: bool) -> tuple[Array, Array]:
    u, s, vh = lax_linalg.svd(a, full_matrices=False)
    unitary = la.matmul(u, vh)
    k = get_aval(s).shape[-1]
    basis = la.adjoint(vh) if right else u
    spread = la.rows_of(la.as_dtype(s, get_aval(u).dtype), get_aval(basis).shape[-2])
    assert k == get_aval(basis).shape[-1]
    return unitary, la.matmul(lax.mul(basis, spread), la.adjoint(basis))


def _polar_qdwh(a: Array, *, right: bool, eps: float | None, limit: int | None) -> tuple[Array, Array]:
    u, h, _, _ = lax_linalg.qdwh(a if right else la.adjoint(a), eps=eps, max_iterations=limit)
    return (u, h) if right else (la.adjoint(u), la.adjoint(h))


@nested(1)
def polar(
    a: Any,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """u (unitary) and p (Hermitian, positive semidefinite) of a = u p (side 'right') or a = p u ('left').

    method: 'qdwh' (at least as many rows as columns for 'right', fewer for 'left') or 'svd' (any shape).
    """
    if side not in ("right", "left"):
        raise ValueError(f"polar: side is 'right' or 'left', got {side!r}")
    if method not in ("qdwh", "svd"):
        raise ValueError(f"polar: method is 'qdwh' or 'svd', got {method!r}")
    a = any_matrix("polar", a)
    if method == "svd":
        return eager_jit(_polar, a, right=side == "right")
    m, n = get_aval(a).shape[-2:]
    if (m >= n) != (side == "right"):
        raise NotImplementedError(
            f"polar: method='qdwh' takes [m, n] with m >= n for side='right' and m < n for side='left', got "
            f"{short(get_aval(a))} with side={side!r}; use method='svd'"
        )
    limit = None if max_iterations is None else int(max_iterations)
    return eager_jit(_polar_qdwh, a, right=side == "right", eps=None if eps is None else float(eps), limit=limit)


def _tridiagonal(d: Array, e: Array) -> Array:
    n = get_aval(d).shape[-1]
    dtype = get_aval(e).dtype
    rows = la.rows_of(la.as_dtype(d, dtype), n)
    matrix = la.on_diagonal(rows)
    zero = full((*get_aval(e).shape[:-1], 1), 0, dtype)
    above = movement.concatenate([zero, e], len(get_aval(e).shape) - 1)
    upper = la.tril(la.triu(la.rows_of(above, n), 1), 1)
    return lax.add(matrix, lax.add(upper, la.adjoint(upper)))


def _eigh_tridiagonal(d: Array, e: Array, *, only: bool, first: int, last: int) -> Any:
    a = _tridiagonal(d, e)
    v, w = lax_linalg.eigh(a, symmetrize_input=False, subset_by_index=(first, last))
    return w if only else (w, v)


def eigh_tridiagonal(
    d: Any,
    e: Any,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: Any = None,
) -> Any:
    """Ascending eigenvalues and eigenvectors of a Hermitian tridiagonal matrix.

    d [n] is its diagonal, of which only the real part counts. e [n - 1] is above the diagonal.

    select: 'a' for all, 'i' for the indices select_range, both ends included. The eigenvalues are those of the whole
    matrix, to full precision: tol and key are accepted for compatibility. NotImplementedError for select='v'.
    """
    d, e = inexact_arrays("eigh_tridiagonal", d, e)
    n = get_aval(d).shape[-1] if get_aval(d).shape else -1
    if len(get_aval(d).shape) != 1 or len(get_aval(e).shape) != 1 or get_aval(e).shape[0] != max(n - 1, 0):
        raise ArgumentError(
            f"eigh_tridiagonal: expects shapes [n] and [n - 1], got {short(get_aval(d))} and {short(get_aval(e))}"
        )
    if select == "v":
        raise NotImplementedError("eigh_tridiagonal: select='v' is not supported, since its size depends on the values")
    if select not in ("a", "i"):
        raise ValueError(f"eigh_tridiagonal: select is 'a', 'i' or 'v', got {select!r}")
    first, last = 0, n
    if select == "i":
        if select_range is None or select_range[0] > select_range[1]:
            raise ValueError(f"eigh_tridiagonal: select='i' needs select_range=(first, last), got {select_range!r}")
        first, last = int(select_range[0]), int(select_range[1]) + 1
    d = la.real_part(d)
    if n == 0:
        return d if eigvals_only else (d, full((0, 0), 0, get_aval(e).dtype))
    return eager_jit(_eigh_tridiagonal, d, e, only=bool(eigvals_only), first=first, last=last)
