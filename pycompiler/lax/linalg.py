"""The functions of lax.linalg: decompositions and solvers for stacks of matrices, by LAPACK, strict about dtypes.

All leading dimensions are batch dimensions. Arrays are f32, f64, complex64 or complex128. A failing decomposition
gives nan. Missing algorithms raise NotImplementedError.
"""

import enum
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dimension
from pycompiler.core.dims.ranges import smaller
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import Array, check_arrays
from pycompiler.lax.pivots import perturbed_solve
from pycompiler.primitives.linalg import eigenvalues as complexes
from pycompiler.primitives.linalg import factorizations as solving
from pycompiler.primitives.linalg import orthogonal, spectral
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.shape import full, full_like


class EigImplementation(enum.Enum):
    """The implementation of eig."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """The implementation of eigh."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """The algorithm of svd."""

    DEFAULT = "default"
    QR = "QR"
    JACOBI = "Jacobi"
    POLAR = "polar"
    DIVIDE_AND_CONQUER = "divide_and_conquer"


def matrix(name: str, x: Any, square: bool = False) -> Array:
    """x, if it is a stack of matrices of a dtype that LAPACK supports. Raises TypeError or ValueError."""
    check_arrays(name, x)
    la.shapes_of(name, "nn->nn" if square else "mn->mn", get_aval(x))
    return x


def symmetrized(x: Array) -> Array:
    """(x + x^H) / 2 of each matrix."""
    return lax.mul(lax.add(x, la.adjoint(x)), np.asarray(0.5, get_aval(x).dtype))


def _cholesky(x: Array, *, symmetrize: bool) -> Array:
    return solving.cholesky.bind(symmetrized(x) if symmetrize else x)


def cholesky(x: Array, *, symmetrize_input: bool = True) -> Array:
    """The lower factor L of x = L L^H, for each matrix [..., n, n]; nan if x is not positive definite.

    x is symmetrized first. Without symmetrize_input, only its lower triangle is read.
    """
    return eager_jit(_cholesky, matrix("cholesky", x, square=True), symmetrize=symmetrize_input)


def cholesky_update(r_matrix: Any, w_vector: Any) -> Array:
    """The upper factor of R^T R + w w^T from R [..., n, n] and w [..., n], in O(n^2)."""
    check_arrays("cholesky_update", r_matrix, w_vector)
    return solving.cholesky_update.bind(r_matrix, w_vector)


def _refuse(name: str, what: Any, known: str) -> NotImplementedError:
    return NotImplementedError(f"{name}: {what} is not supported; use {known}")


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Array]:
    """The eigenvalues [..., n] of each [..., n, n], and, on request, left and right eigenvectors (columns); complex.

    Each vector has the norm 1, and its largest element is real.

    The derivative is that of distinct eigenvalues. It is always supported, so enable_eigvec_derivs has no effect.
    """
    if implementation not in (None, EigImplementation.LAPACK):
        raise _refuse("eig", implementation, "None or EigImplementation.LAPACK")
    flags = {"compute_left": bool(compute_left_eigenvectors), "compute_right": bool(compute_right_eigenvectors)}
    return list(complexes.eig.bind(matrix("eig", x, square=True), **flags))


def _eigh(x: Array, *, lower: bool, symmetrize: bool, subset: tuple[int, int] | None) -> tuple[Array, Array]:
    v, w = spectral.eigh.bind(symmetrized(x) if symmetrize else x, lower=lower, compute_vectors=True)
    if subset is None:
        return v, w
    return la.part(v, columns=subset), movement.slice_in_dim(w, *subset, axis=-1)


def _subset(name: str, subset: Any, size: Dimension) -> tuple[int, int] | None:
    """A checked range of indices. None means all."""
    if subset is None:
        return None
    start, end = subset
    if not 0 <= start <= end <= size:
        raise ValueError(f"{name}: subset_by_index {subset} is not a range within the {size} values")
    return None if (start, end) == (0, size) else (int(start), int(end))


def eigh(
    x: Array,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Array, Array]:
    """Eigenvectors (columns, [..., n, d]) and ascending eigenvalues ([..., d], real) of Hermitian matrices [..., n, n].

    x is symmetrized first. Without symmetrize_input, only its lower (or upper) triangle is read. subset_by_index: the
    range of eigenvalues to compute.
    """
    if implementation not in (None, EighImplementation.QR):
        raise _refuse("eigh", implementation, "None or EighImplementation.QR")
    x = matrix("eigh", x, square=True)
    subset = _subset("eigh", subset_by_index, get_aval(x).shape[-1])
    v, w = eager_jit(_eigh, x, lower=bool(lower), symmetrize=bool(symmetrize_input), subset=subset)
    return v, w


def hessenberg(a: Any) -> tuple[Array, Array]:
    """The Hessenberg form of [..., n, n] with reflectors below it, and their n - 1 scalar factors (gehrd)."""
    reflectors, taus = orthogonal.hessenberg.bind(matrix("hessenberg", a, square=True))
    return reflectors, taus


def householder_product(a: Any, taus: Any) -> Array:
    """The first n columns of the product of the k reflectors below the diagonal of a [..., m, n] (orgqr)."""
    check_arrays("householder_product", a, taus)
    return orthogonal.householder_product.bind(a, taus)


def lu(x: Any) -> tuple[Array, Array, Array]:
    """P x = L U by partial pivoting, for each [..., m, n].

    Returns both factors in one matrix (without L's unit diagonal), the swaps of rows (int32, [..., min(m, n)]) and the
    permutation (int32, [..., m]).
    """
    factors, pivots, permutation = solving.lu.bind(matrix("lu", x))
    return factors, pivots, permutation


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Array:
    """The permutation (int32, [..., permutation_size]) that equals a sequence of swaps of rows (int32, [..., k])."""
    check_arrays("lu_pivots_to_permutation", pivots)
    return solving.lu_pivots_to_permutation.bind(pivots, permutation_size=int(permutation_size))


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> tuple[Array, Array] | tuple[Array, Array, Array]:
    """x = q r for each [..., m, n], q unitary, r upper triangular. With pivoting, x[:, p] = q r; p is returned, too.

    q has m columns with full_matrices, else min(m, n). p is int32, [..., n].
    """
    return tuple(orthogonal.qr.bind(matrix("qr", x), pivoting=bool(pivoting), full_matrices=bool(full_matrices)))  # pyright: ignore[reportReturnType]


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> tuple[Array, Array]:
    """T and Z of x = Z T Z^H for each [..., n, n], or (T,). T of a real x has 2x2 blocks on its diagonal."""
    if sort_eig_vals or select_callable is not None:
        raise _refuse("schur", "sorting of eigenvalues", "sort_eig_vals=False and no select_callable")
    return tuple(spectral.schur.bind(matrix("schur", x, square=True), compute_vectors=bool(compute_schur_vectors)))  # pyright: ignore[reportReturnType]


def _svd(x: Array, *, full: bool, vectors: bool, by_qr: bool, subset: tuple[int, int] | None) -> Any:
    out = spectral.svd.bind(x, full_matrices=full, compute_vectors=vectors, by_qr=by_qr)
    s = out[0] if subset is None else movement.slice_in_dim(out[0], *subset, axis=-1)
    if not vectors:
        return s
    u, vh = out[1:]
    return (u, s, vh) if subset is None else (la.part(u, columns=subset), s, la.part(vh, rows=subset))


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """u, s and v^H of x = u diag(s) v^H for each [..., m, n], s descending and real; only s without compute_uv.

    subset_by_index: the range of singular values to compute, with full_matrices=False.
    """
    if algorithm in (SvdAlgorithm.JACOBI, SvdAlgorithm.POLAR):
        raise _refuse("svd", algorithm, "None, SvdAlgorithm.QR or SvdAlgorithm.DIVIDE_AND_CONQUER")
    x = matrix("svd", x)
    rank = smaller(*get_aval(x).shape[-2:])
    subset = _subset("svd", subset_by_index, rank)
    if subset is not None and full_matrices and compute_uv:
        raise ValueError("svd: full_matrices and subset_by_index exclude each other; pass full_matrices=False")
    by_qr = algorithm is SvdAlgorithm.QR
    return eager_jit(_svd, x, full=bool(full_matrices), vectors=bool(compute_uv), by_qr=by_qr, subset=subset)


def _symmetric_product(a: Array, c: Array, *, alpha: float, beta: float, symmetrize: bool) -> Array:
    dtype = get_aval(a).dtype
    product = lax.mul(la.matmul(a, la.transposed(a)), np.asarray(alpha, dtype))
    result = lax.add(product, lax.mul(c, np.asarray(beta, dtype)))
    if not symmetrize:
        return result
    return lax.add(la.tril(result), la.transposed(la.tril(result, -1)))


def symmetric_product(
    a_matrix: Any, c_matrix: Any, *, alpha: float = 1.0, beta: float = 0.0, symmetrize_output: bool = False
) -> Array:
    """alpha A A^T + beta C for A [..., m, n] and C [..., m, m]. With symmetrize_output, the upper triangle mirrors the
    lower one."""
    check_arrays("symmetric_product", a_matrix, c_matrix)
    la.shapes_of("symmetric_product", "mn,mm->mm", get_aval(a_matrix), get_aval(c_matrix))
    scalars = {"alpha": float(alpha), "beta": float(beta)}
    return eager_jit(_symmetric_product, a_matrix, c_matrix, **scalars, symmetrize=bool(symmetrize_output))


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """X of op(a) X = b with left_side, else of X op(a) = b. a is triangular; its other triangle is not read.

    b may be one vector for each matrix. transpose_a and conjugate_a select op. With unit_diagonal, the diagonal counts
    as ones.
    """
    check_arrays("triangular_solve", a, b)
    vector = len(get_aval(b).shape) == len(get_aval(a).shape) - 1
    if vector:
        b = movement.expand_dims(b, (-1 if left_side else -2,))
    out = solving.triangular_solve.bind(
        a,
        b,
        left_side=bool(left_side),
        lower=bool(lower),
        transpose_a=bool(transpose_a),
        conjugate_a=bool(conjugate_a) and la.is_complex(a),
        unit_diagonal=bool(unit_diagonal),
    )
    return movement.squeeze(out, (-1 if left_side else -2,)) if vector else out


def tridiagonal(a: Any, *, lower: bool = True) -> tuple[Array, Array, Array, Array]:
    """The tridiagonal form of Hermitian matrices [..., n, n] (sytrd, hetrd).

    Returns the form with reflectors beside it, its diagonal, its off-diagonal, and the scalar factors of the
    reflectors.
    """
    a = matrix("tridiagonal", a, square=True)
    if get_aval(a).shape[-1] == 0:
        raise ValueError(f"tridiagonal: takes matrices that are not empty, got {short(get_aval(a))}")
    reflectors, d, e, taus = orthogonal.tridiagonal.bind(a, lower=bool(lower))
    return reflectors, d, e, taus


def tridiagonal_solve(dl: Array, d: Array, du: Array, b: Array, *, perturb_singular: bool = False) -> Array:
    """X of T X = b [..., n, k]. T has the diagonals dl, d and du. The first element of dl and the last of du are not
    read.

    With `perturb_singular`, X is finite for a singular T, too: pivots by which a division would overflow are moved away
    from zero, as for inverse iteration.
    """
    check_arrays("tridiagonal_solve", dl, d, du, b)
    if perturb_singular:
        # Arguments are checked as without it.
        solving.tridiagonal_solve.shape_rule(*map(get_aval, (dl, d, du, b)))
        return eager_jit(perturbed_solve, dl, d, du, b)
    return solving.tridiagonal_solve.bind(dl, d, du, b)


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Array:
    """op(Q) c, or c op(Q) without `left`. Q is the product of the reflectors below the diagonal of a; op is the
    conjugate transpose with `transpose`."""
    check_arrays("ormqr", a, taus, c)
    return orthogonal.ormqr.bind(a, taus, c, left=bool(left), transpose=bool(transpose))


# qdwh: the polar decomposition by dynamically weighted Halley iterations (Nakatsukasa, Bai and Gygi, 2010). The
# weights depend only on a bound of the least singular value, so the number of steps is known in advance.


def _weights(eps: float, limit: int | None) -> list[tuple[float, float, float]]:
    weights: list[tuple[float, float, float]] = []
    low = eps
    while abs(1 - low) > 10 * eps and (limit is None or len(weights) < limit):
        gamma = (4 * (1 - low**2) / low**4) ** (1 / 3)
        root = sqrt(1 + gamma)
        a = root + 0.5 * sqrt(8 - 4 * gamma + 8 * (2 - low**2) / (low**2 * root))
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        low = min(low * (a + b * low**2) / (1 + c * low**2), 1.0)
        weights.append((a, b, c))
    # The bound of the first step is rough. So one more step follows, with the weights of Halley's own iteration.
    return [*weights, (3.0, 1.0, 3.0)] if limit is None or len(weights) < limit else weights


def _halley(x: Array, a: float, b: float, c: float) -> Array:
    dtype = get_aval(x).dtype
    *batch, m, n = get_aval(x).shape

    def scaled(y: Array, factor: float) -> Array:
        return lax.mul(y, np.asarray(factor, dtype))

    eye = la.on_diagonal(full((*batch, n, n), 1, dtype))
    if c > 100:
        q, _ = orthogonal.qr.bind(la.joined([scaled(x, sqrt(c)), eye], -2), pivoting=False, full_matrices=False)
        step = la.matmul(la.part(q, rows=(0, m)), la.adjoint(la.part(q, rows=(m, m + n))))
        return lax.add(scaled(x, b / c), scaled(step, (a - b / c) / sqrt(c)))
    factor = solving.cholesky.bind(lax.add(eye, scaled(la.matmul(la.adjoint(x), x), c)))
    # x Z^-1 with Z = L L^H
    step = solving.solve_right(factor, solving.solve_right(factor, x, lower=True, transpose=True), lower=True)
    return lax.add(scaled(x, b / c), scaled(step, a - b / c))


def _qdwh(x: Array, *, weights: tuple[tuple[float, float, float], ...], eps: float) -> tuple[Array, Array, Array]:
    dtype = get_aval(x).dtype
    rank = len(get_aval(x).shape)
    squares = la.real_part(lax.mul(x, la.conj(x)))
    norm = lax.sqrt(la.sum_axes(squares, (rank - 2, rank - 1)))
    norm = lax.select(lax.eq(norm, full_like(norm, 0)), full_like(norm, 1), norm)
    spread = movement.broadcast_in_dim(la.as_dtype(norm, dtype), get_aval(x).shape, tuple(range(rank - 2)))
    u = before = lax.div(x, spread)
    for a, b, c in weights:
        before, u = u, _halley(u, a, b, c)
    difference = lax.sub(u, before)
    moved = lax.sqrt(la.sum_axes(la.real_part(lax.mul(difference, la.conj(difference))), tuple(range(rank))))
    h = la.matmul(la.adjoint(u), x)
    return u, symmetrized(h), lax.lt(moved, np.asarray(10 * eps ** (1 / 3), get_aval(moved).dtype))


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar decomposition x = u h of [m, n] with m >= n: u has orthonormal columns, h is Hermitian.

    Further results are the number of iterations (int32; it depends only on eps) and whether they converged (bool).
    """
    x = matrix("qdwh", x)
    *_, m, n = get_aval(x).shape
    if m < n:
        raise ValueError(f"qdwh: takes at least as many rows as columns, got {short(get_aval(x))}")
    if dynamic_shape is not None:
        raise _refuse("qdwh", "dynamic_shape", "an array of the intended size")
    eps = float(np.finfo(get_aval(x).dtype).eps) if eps is None else float(eps)
    weights = tuple(_weights(eps, max_iterations))
    u, h, converged = eager_jit(_qdwh, x, weights=weights, eps=eps)
    return u, h, movement.full((), len(weights), np.int32), converged


__all__ = [
    "EigImplementation",
    "EighImplementation",
    "SvdAlgorithm",
    "cholesky",
    "cholesky_update",
    "eig",
    "eigh",
    "hessenberg",
    "householder_product",
    "lu",
    "lu_pivots_to_permutation",
    "ormqr",
    "qdwh",
    "qr",
    "schur",
    "svd",
    "symmetric_product",
    "triangular_solve",
    "tridiagonal",
    "tridiagonal_solve",
]

protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
