"""Decompositions of matrices, and solutions of linear systems."""

from __future__ import annotations

from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.lax import linalg
from pycompiler.primitives.linalg import orthogonal
from pycompiler.scipy.linalg import expm
from pycompiler.torch.table import Family, Out, cast

ops = Family()

_INT32 = np.dtype(np.int32)


def _h(x: Any) -> Any:
    """The conjugate transpose of matrices."""
    x = pnp.swapaxes(x, -1, -2)
    return lax.conj(x) if x.dtype.kind == "c" else x


def _first(failed: Any) -> Any:
    """The number, from 1, of the first pivot that has failed, for each matrix; 0 if none has."""
    if not failed.shape[-1]:
        return pnp.zeros(failed.shape[:-1], _INT32)
    return cast(pnp.where(pnp.any(failed, axis=-1), pnp.argmax(failed, axis=-1) + 1, 0), _INT32)


def _info(factors: Any) -> Any:
    """The number of the first pivot that is 0. A matrix with nan has none."""
    zero = pnp.diagonal(factors, axis1=-2, axis2=-1) == 0
    return _first(zero & ~pnp.any(factors != factors, axis=(-1, -2))[..., None])


def _require_factors(out: Out, info: Any, check_errors: bool) -> None:
    if check_errors:
        out.require(info == 0, "the matrix has no factors: it is singular, or not positive definite")


def _turned(out: Out, x: Any) -> Any:
    """The matrices whose factors torch keeps for gradients: of real row-major matrices, the transposes."""
    return pnp.swapaxes(x, -1, -2) if x.dtype.kind != "c" and out.argument(0).is_contiguous() else x


@ops("linalg_cholesky_ex")
def _cholesky_ex(out: Out, x: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    made = linalg.cholesky(_h(x) if upper else x, symmetrize_input=False)
    # A matrix that is not positive definite gives nan; torch gives the number of the first such minor.
    pivots = pnp.diagonal(made, axis1=-2, axis2=-1)
    info = _first(pivots != pivots)
    _require_factors(out, info, check_errors)
    return _h(made) if upper else made, info


@ops("cholesky")
def _cholesky(out: Out, x: Any, upper: bool = False) -> Any:
    return _cholesky_ex(out, x, upper=upper, check_errors=True)[0]


@ops("linalg_qr")
def _qr(out: Out, x: Any, mode: str = "reduced") -> Any:
    if mode == "r":
        return pnp.zeros((0,), x.dtype), pnp.linalg.qr(x, mode="r")
    return tuple(pnp.linalg.qr(x, mode=mode))


def _require_no_nan(out: Out, x: Any) -> None:
    out.require(x == x, "the matrix has an element that is nan, with which the algorithm does not converge")


@ops("_linalg_svd")
def _svd(out: Out, x: Any, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None) -> Any:
    _require_no_nan(out, x)
    if not compute_uv:
        nothing = [pnp.zeros(out.sizes.shape(value.shape), x.dtype) for value in (out.value[0], out.value[2])]
        return nothing[0], pnp.linalg.svd(x, compute_uv=False), nothing[1]
    return tuple(pnp.linalg.svd(x, full_matrices=full_matrices))


@ops("_linalg_eigh")
def _eigh(out: Out, x: Any, uplo: str = "L", compute_v: bool = True) -> Any:
    values, vectors = pnp.linalg.eigh(x, UPLO=uplo, symmetrize_input=False)
    return values, vectors if compute_v else pnp.zeros((0,), x.dtype)


@ops("linalg_eig")
def _eig(out: Out, x: Any) -> Any:
    out.require(pnp.isfinite(x), "the matrix has an element that is infinite or nan")
    return tuple(pnp.linalg.eig(x))


@ops("_linalg_eigvals", "linalg_eigvals")
def _eigvals(out: Out, x: Any) -> Any:
    out.require(pnp.isfinite(x), "the matrix has an element that is infinite or nan")
    return pnp.linalg.eigvals(x)


@ops("linalg_inv_ex")
def _inv_ex(out: Out, x: Any, *, check_errors: bool = False) -> Any:
    info = _info(linalg.lu(x)[0])
    _require_factors(out, info, check_errors)
    return pnp.linalg.inv(x), info


@ops("linalg_solve_triangular")
def _solve_triangular(out: Out, a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    batch = pnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (pnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    return linalg.triangular_solve(a, b, left_side=left, lower=not upper, unit_diagonal=unitriangular)


@ops("triangular_solve")
def _triangular_solve(
    out: Out, b: Any, a: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    batch = pnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (pnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    made = linalg.triangular_solve(
        a, b, left_side=True, lower=not upper, transpose_a=transpose, unit_diagonal=unitriangular
    )
    return made, a


def _lu(x: Any) -> tuple[Any, Any]:
    """The factors in one matrix, and torch's pivots, which count from 1."""
    factors, pivots, _ = linalg.lu(x)
    return factors, cast(pivots + 1, _INT32)


@ops("linalg_lu_factor_ex")
def _lu_factor_ex(out: Out, x: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    if not pivot:
        raise NotImplementedError("pivot=False")
    factors, pivots = _lu(x)
    info = _info(factors)
    _require_factors(out, info, check_errors)
    return factors, pivots, info


@ops("linalg_lu")
def _linalg_lu(out: Out, x: Any, *, pivot: bool = True) -> Any:
    if not pivot:
        raise NotImplementedError("pivot=False")
    factors, _, order = linalg.lu(x)
    return _unpacked(factors, order, x.dtype)


def _unpacked(factors: Any, order: Any, dtype: Any) -> tuple[Any, Any, Any]:
    rows, columns = factors.shape[-2:]
    least = min(rows, columns)
    lower = pnp.tril(factors[..., :, :least], -1) + pnp.eye(rows, least, dtype=dtype)
    upper = pnp.triu(factors[..., :least, :])
    places = pnp.swapaxes(cast(order[..., None, :] == pnp.arange(rows)[:, None], dtype), -1, -1)
    return places, lower, upper


@ops("lu_unpack")
def _lu_unpack(out: Out, factors: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    rows = factors.shape[-2]
    out.require_within(pivots - 1, rows, -2)
    order = linalg.lu_pivots_to_permutation(pivots - 1, rows)
    places, lower, upper = _unpacked(factors, order, factors.dtype)
    nothing = pnp.zeros((0,), factors.dtype)
    data = (lower, upper) if unpack_data else (nothing, nothing)
    return places if unpack_pivots else nothing, *data


@ops("_linalg_det")
def _det(out: Out, x: Any) -> Any:
    return pnp.linalg.det(x), *_lu(_turned(out, x))


@ops("_linalg_slogdet")
def _slogdet(out: Out, x: Any) -> Any:
    return *pnp.linalg.slogdet(x), *_lu(_turned(out, x))


@ops("_linalg_solve_ex")
def _solve_ex(out: Out, a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    factors, pivots = _lu(a)
    info = _info(factors)
    _require_factors(out, info, check_errors)
    return _solved(a, b, out, left), factors, pivots, info


def _solved(a: Any, b: Any, out: Out, left: bool) -> Any:
    is_vector = len(out.shape) == a.ndim - 1
    b = b[..., None] if is_vector else b
    batch = pnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (pnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
    if not left:
        made = pnp.swapaxes(pnp.linalg.solve(pnp.swapaxes(a, -1, -2), pnp.swapaxes(b, -1, -2)), -1, -2)
    else:
        made = pnp.linalg.solve(a, b)
    return made[..., 0] if is_vector else made


@ops("linalg_lu_solve")
def _lu_solve(out: Out, factors: Any, pivots: Any, b: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    if not left or adjoint:
        # X A = B is A^H X^H = B^H, and the other way round.
        lower, upper = pnp.tril(factors, -1) + pnp.eye(factors.shape[-1], dtype=factors.dtype), pnp.triu(factors)
        order = linalg.lu_pivots_to_permutation(pivots - 1, factors.shape[-1])
        whole = pnp.take_along_axis(pnp.matmul(lower, upper), pnp.argsort(order, axis=-1)[..., None], axis=-2)
        return _solved(_h(whole) if adjoint else whole, b, out, left)
    batch = pnp.broadcast_shapes(factors.shape[:-2], b.shape[:-2])
    order = linalg.lu_pivots_to_permutation(pivots - 1, factors.shape[-2])
    order = pnp.broadcast_to(order, (*batch, order.shape[-1]))
    factors, b = (pnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (factors, b))
    moved = pnp.take_along_axis(b, order[..., None], axis=-2)
    half = linalg.triangular_solve(factors, moved, left_side=True, lower=True, unit_diagonal=True)
    return linalg.triangular_solve(factors, half, left_side=True, lower=False)


@ops("cholesky_solve")
def _cholesky_solve(out: Out, b: Any, factor: Any, upper: bool = False) -> Any:
    batch = pnp.broadcast_shapes(factor.shape[:-2], b.shape[:-2])
    factor, b = (pnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (factor, b))
    lower = _h(factor) if upper else factor
    half = linalg.triangular_solve(lower, b, left_side=True, lower=True)
    return linalg.triangular_solve(lower, half, left_side=True, lower=True, transpose_a=True, conjugate_a=True)


@ops("cholesky_inverse")
def _cholesky_inverse(out: Out, factor: Any, upper: bool = False) -> Any:
    eye = pnp.broadcast_to(pnp.eye(factor.shape[-1], dtype=factor.dtype), factor.shape)
    return _cholesky_solve(out, eye, factor, upper)


@ops("linalg_matrix_exp")
def _matrix_exp(out: Out, x: Any) -> Any:
    # Powers of float32 lose digits where terms cancel. Torch's Taylor sums lose fewer.
    wide = np.dtype(np.float64)
    if out.dtype.kind != "c":
        return cast(expm(cast(x, wide)), out.dtype)
    # A complex matrix as a real one of twice the size, with the same products.
    real, imag = cast(lax.real(x), wide), cast(lax.imag(x), wide)
    made = expm(pnp.concatenate([pnp.concatenate([real, -imag], -1), pnp.concatenate([imag, real], -1)], -2))
    size = x.shape[-1]
    return cast(lax.complex(made[..., :size, :size], made[..., size:, :size]), out.dtype)


@ops("linalg_pinv.atol_rtol_tensor")
def _pinv(out: Out, x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    if hermitian:
        s, u = pnp.linalg.eigh(x, UPLO="L", symmetrize_input=False)
        s, vh = abs(s), pnp.where(s < 0, -1, 1)[..., None] * _h(u)
    else:
        _require_no_nan(out, x)
        u, s, vh = pnp.linalg.svd(x, full_matrices=False)
    largest = pnp.max(s, axis=-1, keepdims=True, initial=0)
    eps = float(pnp.finfo(s.dtype).eps) * max(x.shape[-2:])
    atol = pnp.zeros((), s.dtype) if atol is None else cast(atol, s.dtype)
    rtol = pnp.where(atol > 0, 0.0, eps).astype(s.dtype) if rtol is None else cast(rtol, s.dtype)
    bound = pnp.maximum(atol[..., None], rtol[..., None] * largest)
    inverse = pnp.where(s > bound, 1 / pnp.where(s > bound, s, 1), 0)
    return pnp.matmul(_h(vh) * cast(inverse, x.dtype)[..., None, :], _h(u))


@ops("linalg_householder_product")
def _householder_product(out: Out, x: Any, tau: Any) -> Any:
    return linalg.householder_product(x, tau)


@ops("geqrf")
def _geqrf(out: Out, x: Any) -> Any:
    return tuple(orthogonal.geqrf.bind(x))


@ops("ormqr")
def _ormqr(out: Out, x: Any, tau: Any, y: Any, left: bool = True, transpose: bool = False) -> Any:
    return linalg.ormqr(x, tau, y, left=left, transpose=transpose)
