"""cholesky, qr, svd and eigenvalues of numpy.linalg."""

from typing import Any, NamedTuple

from pycompiler._runtime import Array
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import linalg as lax_linalg
from pycompiler.lax import movement, reduction
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.numpy.linalg.arguments import adjoint, any_matrix, square_matrix
from pycompiler.primitives.linalg import eigenvalues as complexes
from pycompiler.primitives.linalg import orthogonal, spectral
from pycompiler.primitives.linalg import rules as la
from pycompiler.primitives.sort import take_along


class EigResult(NamedTuple):
    """Complex eigenvalues, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Ascending eigenvalues, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """Unitary and upper triangular factors."""

    Q: Array
    R: Array


class SVDResult(NamedTuple):
    """Left singular vectors, descending singular values, adjoint right singular vectors."""

    U: Array
    S: Array
    Vh: Array


def _upper(a: Array, *, symmetrize: bool) -> Array:
    return adjoint(lax_linalg.cholesky(a, symmetrize_input=symmetrize))


def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The lower factor L of a = L L^H, or with `upper` L^H; nan if a is not positive definite.

    a is symmetrized first. Without symmetrize_input, only its lower triangle is read.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.cholesky(pnp.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    a = square_matrix("cholesky", a)
    if upper:
        return eager_jit(_upper, a, symmetrize=bool(symmetrize_input))
    return lax_linalg.cholesky(a, symmetrize_input=symmetrize_input)


def qr(a: Any, mode: str = "reduced") -> Any:
    """a = Q R. mode: 'reduced' (Q [m, min(m, n)]), 'complete' (Q [m, m]), 'r' (only R), 'raw' (LAPACK's reflectors,
    transposed, and their scalar factors). ValueError for another mode.

    >>> import pycompiler.numpy as pnp
    >>> pnp.abs(pnp.linalg.qr(pnp.array([[3.0, 0.0], [4.0, 5.0]])).R)
    Array([[5., 4.],
           [0., 3.]], dtype=float32)
    """
    a = any_matrix("qr", a)
    if mode == "raw":
        reflectors, taus = orthogonal.geqrf.bind(a)
        return QRResult(la.transposed(reflectors), taus)
    if mode not in ("reduced", "r", "full", "complete"):
        raise ValueError(f"qr: mode is 'reduced', 'complete', 'r' or 'raw', got {mode!r}")
    if mode == "r":
        return eager_jit(_triangle_of_qr, a)
    q, r = lax_linalg.qr(a, full_matrices=mode == "complete")[:2]
    return QRResult(q, r)


def _triangle_of_qr(a: Array) -> Array:
    # The compiler doesn't compute a Q that is not used.
    return lax_linalg.qr(a, full_matrices=False)[1]


def _hermitian_svd(a: Array, *, vectors: bool) -> Any:
    """The singular values of a Hermitian matrix: the magnitudes of its eigenvalues."""
    v, w = lax_linalg.eigh(a)
    s = lax.abs(w)
    last = len(get_aval(s).shape) - 1
    if not vectors:
        return movement.rev(reduction.sort(s, last), (last,))
    numbers = movement.broadcasted_iota("int32", get_aval(s).shape, last)
    s, order, sign = (movement.rev(x, (last,)) for x in reduction.sort((s, numbers, lax.sign(w)), last))
    n = get_aval(s).shape[-1]
    u = take_along(v, la.rows_of(order, n), last + 1)
    return u, s, adjoint(lax.mul(u, la.as_dtype(la.rows_of(sign, n), get_aval(u).dtype)))


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """U, S, Vh of a = U diag(S) Vh, S descending, or only S without compute_uv. `hermitian` declares a as Hermitian.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.svd(pnp.array([[3.0, 0.0], [0.0, 4.0]])).S
    Array([4., 3.], dtype=float32)
    """
    if not hermitian:
        out = lax_linalg.svd(
            any_matrix("svd", a),
            full_matrices=full_matrices,
            compute_uv=compute_uv,
            subset_by_index=subset_by_index,
        )
        return SVDResult(*out) if compute_uv else out
    a = square_matrix("svd", a)
    if subset_by_index not in (None, (0, get_aval(a).shape[-1])):
        raise NotImplementedError("svd: subset_by_index is not supported with hermitian=True; leave one of them out")
    out = eager_jit(_hermitian_svd, a, vectors=bool(compute_uv))
    return SVDResult(*out) if compute_uv else out


def svdvals(x: Any, /) -> Array:
    """The singular values, descending.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.svdvals(pnp.array([[3.0, 0.0], [0.0, 4.0]]))
    Array([4., 3.], dtype=float32)
    """
    return svd(x, compute_uv=False)


def _lower(name: str, uplo: str | None) -> bool:
    if uplo not in (None, "L", "U"):
        raise ValueError(f"{name}: UPLO must be one of None, 'L' or 'U', got {uplo!r}")
    return uplo != "U"


def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Ascending eigenvalues and eigenvectors (columns) of Hermitian matrices.

    a is symmetrized first. Without symmetrize_input, only the triangle UPLO ('L' or 'U') is read.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.eigh(pnp.array([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    Array([1., 3.], dtype=float32)
    """
    lower = _lower("eigh", UPLO)
    v, w = lax_linalg.eigh(square_matrix("eigh", a), lower=lower, symmetrize_input=symmetrize_input)
    return EighResult(w, v)


def _values(a: Array, *, lower: bool, symmetrize: bool) -> Array:
    (w,) = spectral.eigh.bind(lax_linalg.symmetrized(a) if symmetrize else a, lower=lower, compute_vectors=False)
    return w


def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """The ascending eigenvalues of Hermitian matrices; the parameters are those of eigh.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.eigvalsh(pnp.array([[2.0, 1.0], [1.0, 2.0]]))
    Array([1., 3.], dtype=float32)
    """
    a = square_matrix("eigvalsh", a)
    return eager_jit(_values, a, lower=_lower("eigvalsh", UPLO), symmetrize=bool(symmetrize_input))


def eig(a: Any) -> EigResult:
    """Complex eigenvalues and eigenvectors (columns of norm 1) of square matrices."""
    w, v = lax_linalg.eig(square_matrix("eig", a), compute_left_eigenvectors=False)
    return EigResult(w, v)


def eigvals(a: Any) -> Array:
    """The complex eigenvalues of square matrices.

    >>> import pycompiler.numpy as pnp
    >>> pnp.sort(pnp.linalg.eigvals(pnp.array([[0.0, 1.0], [-2.0, 3.0]])).real)
    Array([1., 2.], dtype=float32)
    """
    (w,) = complexes.eig.bind(square_matrix("eigvals", a), compute_left=False, compute_right=False)
    return w
