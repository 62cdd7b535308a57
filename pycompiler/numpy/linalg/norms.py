"""Norms, condition numbers and ranks of numpy.linalg."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes
from pycompiler.core.dims.ranges import larger
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import canonical_axes, cast, check_arrays
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.arithmetic import power
from pycompiler.numpy.linalg.arguments import any_matrix, eps_times, inexact_arrays, is_narrow, widened
from pycompiler.numpy.linalg.decompositions import svd, svdvals
from pycompiler.numpy.linalg.solving import inv
from pycompiler.numpy.movement import expand_dims, moveaxis
from pycompiler.primitives.linalg import rules as la

Axis = int | tuple[int, ...] | None


def _in_float32(function: Callable[..., Array]) -> Callable[..., Array]:
    """The norm of a narrower float, computed in float32 because its squares may overflow, and rounded at the end."""

    @functools.wraps(function)
    def computed(x: Array, **params: Any) -> Array:
        norm = function(widened(x), **params)
        return cast(norm, get_aval(x).dtype) if is_narrow(get_aval(x).dtype) else norm

    return computed


def _root(total: Array, root: Callable[[Array], Array]) -> Array:
    """The root of a sum of powers. At zero, where it has no derivative, the derivative is 0, not a product of 0 and
    inf."""
    vanishes = lax.eq(total, 0)
    return lax.select(vanishes, total, root(lax.select(vanishes, 1.0, total)))


def _root_of_squares(x: Array, axis: Axis, keepdims: bool) -> Array:
    squares = la.real_part(lax.mul(x, la.conj(x)))
    return _root(reductions.sum(squares, axis=axis, keepdims=keepdims), lax.sqrt)


@_in_float32
def _vector_norm(x: Array, *, axis: Axis, keepdims: bool, order: Any) -> Array:
    where = {"axis": axis, "keepdims": keepdims}
    if order == 2:
        return _root_of_squares(x, axis, keepdims)
    if order == 0:
        real = la.real_dtype(get_aval(x).dtype)
        return reductions.sum(cast(lax.ne(x, np.zeros((), get_aval(x).dtype)), real), **where)
    size = lax.abs(x)
    if order == np.inf:
        return reductions.max(size, initial=0, **where)
    if order == -np.inf:
        return reductions.min(size, **where)
    if order == 1:
        return reductions.sum(size, **where)
    dtype = get_aval(size).dtype
    total = reductions.sum(power(size, np.asarray(order, dtype)), **where)
    inverse = np.asarray(1 / order, dtype)
    if order < 0:
        return power(total, inverse)
    return _root(total, lambda total: power(total, inverse))


def _order(name: str, order: Any) -> Any:
    if isinstance(order, str):
        raise ValueError(f"{name}: ord is a number, inf or -inf for the norm of a vector, got {order!r}")
    return 2 if order is None else order


def vector_norm(x: Any, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """The norm of the elements along axes (None: all) as one vector: the ord-th root of the sum of ord-th powers of
    magnitudes. inf: the maximum; -inf: the minimum; 0: the number of nonzero elements.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.vector_norm(pnp.array([1.0, -2.0]), ord=1)
    Array(3., dtype=float32)
    """
    (x,) = inexact_arrays("vector_norm", x, narrow=True)
    axes = canonical_axes("vector_norm", axis, len(get_aval(x).shape))
    return eager_jit(_vector_norm, x, axis=axes, keepdims=bool(keepdims), order=_order("vector_norm", ord))


@_in_float32
def _matrix_norm(x: Array, *, axis: tuple[int, int], keepdims: bool, order: Any) -> Array:
    if order in (None, "f", "fro"):
        return _root_of_squares(x, axis, keepdims)
    if order in ("nuc", 2, -2):
        s = svdvals(moveaxis(x, axis, (-2, -1)))
        if order == "nuc":
            norm = reductions.sum(s, axis=-1)
        else:
            norm = reductions.max(s, axis=-1, initial=0) if order == 2 else reductions.min(s, axis=-1)
        return expand_dims(norm, axis) if keepdims else norm
    row, column = axis
    summed, chosen = (row, column) if order in (1, -1) else (column, row)
    sums = reductions.sum(lax.abs(x), axis=summed, keepdims=True)
    both = {"axis": chosen, "keepdims": True}
    norm = reductions.max(sums, initial=0, **both) if order in (1, np.inf) else reductions.min(sums, **both)
    return norm if keepdims else reductions.sum(norm, axis=axis)


def norm(x: Any, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Array:
    """The norm of vectors along one axis, or of matrices along two axes. Without ord and axis, the norm of all
    elements.

    ord of a vector: see vector_norm. ord of a matrix:

    - None or 'fro': the root of the sum of squares; 'nuc': the sum of singular values
    - 2 and -2: the maximum and the minimum of singular values
    - 1 and -1: the maximum and the minimum sum of magnitudes in a column; inf and -inf: in a row

    ValueError for another ord or number of axes.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.norm(pnp.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    (x,) = inexact_arrays("norm", x, narrow=True)
    rank = len(get_aval(x).shape)
    if axis is None and ord is None:
        return eager_jit(_vector_norm, x, axis=tuple(range(rank)), keepdims=bool(keepdims), order=2)
    axes = canonical_axes("norm", axis, rank)
    if len(axes) == 1:
        return eager_jit(_vector_norm, x, axis=axes, keepdims=bool(keepdims), order=_order("norm", ord))
    if len(axes) != 2:
        raise ValueError(
            f"norm: takes one axis of vectors or two of matrices, got {axes} for {short(get_aval(x))}; pass axis="
        )
    if ord not in (None, "f", "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        raise ValueError(f"norm: ord of a matrix is None, 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {ord!r}")
    if ord in ("nuc", 2, -2):
        (x,) = inexact_arrays("norm", x)  # LAPACK requires them
    return eager_jit(_matrix_norm, x, axis=axes, keepdims=bool(keepdims), order=ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of each matrix; ord as for norm.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.matrix_norm(pnp.array([[3.0, 0.0], [0.0, 4.0]]))
    Array(5., dtype=float32)
    """
    check_arrays("matrix_norm", x)
    if len(get_aval(x).shape) < 2:
        raise ArgumentError(f"matrix_norm: expects a shape [..., m, n], got {short(get_aval(x))}")
    return norm(x, ord=ord, keepdims=keepdims, axis=(-2, -1))


def cond(x: Any, p: Any = None) -> Array:
    """The condition number of each matrix: the ratio of extreme singular values for p None and 2, its inverse for -2,
    else norm(x, p) norm(inv(x), p). inf if x is singular. ValueError for empty matrices.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.cond(pnp.diag(pnp.array([4.0, 2.0])))
    Array(2., dtype=float32)
    """
    x = any_matrix("cond", x)
    aval = get_aval(x)
    if 0 in aval.shape[-2:]:
        raise ValueError(f"cond: takes matrices that are not empty, got {short(aval)}")
    if p not in (None, 2, -2) and aval.shape[-1] != aval.shape[-2]:
        raise ValueError(f"cond: takes square matrices for p = {p!r}, got {short(aval)}")
    return eager_jit(_cond, x, p=p)


def _cond(x: Array, *, p: Any) -> Array:
    if p in (None, 2, -2):
        s = svdvals(x)
        greatest, least = reductions.max(s, axis=-1), reductions.min(s, axis=-1)
        if p != -2:
            return lax.div(greatest, least)
        ratio = lax.div(least, greatest)
    else:
        ratio = lax.mul(norm(x, p, (-2, -1)), norm(inv(x), p, (-2, -1)))
    bad = ufuncs.logical_and(ufuncs.isnan(ratio), ufuncs.logical_not(reductions.any(ufuncs.isnan(x), axis=(-2, -1))))
    return ufuncs.where(bad, np.asarray(np.inf, get_aval(ratio).dtype), ratio)


def _rank(x: Array, rtol: Array | None = None, *, hermitian: bool) -> Array:
    s = svd(x, full_matrices=False, compute_uv=False, hermitian=hermitian)
    aval = get_aval(s)
    if aval.shape[-1] == 0:
        return reductions.sum(cast(s, np.dtype(np.int32)), axis=-1)
    if rtol is None:
        eps = eps_times(larger(*get_aval(x).shape[-2:]), np.asarray(np.finfo(aval.dtype).eps, aval.dtype))
        rtol = lax.mul(reductions.max(s, axis=-1), eps)
    return reductions.sum(cast(ufuncs.greater(s, expand_dims(rtol, -1)), np.dtype(np.int32)), axis=-1)


def matrix_rank(M: Any, rtol: Any = None, *, hermitian: bool = False, tol: Any = None) -> Array:
    """The number of singular values of each matrix that exceed a bound, an integer.

    The bound is rtol (or tol, its other name), without a scale. By default it is the maximum singular value times
    max(m, n) eps.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linalg.matrix_rank(pnp.ones((3, 3)))
    Array(1, dtype=int32)
    """
    if tol is not None:
        if rtol is not None:
            raise ValueError("matrix_rank: tol and rtol are two names of one parameter; give one of them")
        rtol = tol
    check_arrays("matrix_rank", M)
    if len(get_aval(M).shape) < 2:
        return cast(reductions.any(ufuncs.not_equal(M, 0)), np.dtype(np.int32))
    (x,) = inexact_arrays("matrix_rank", M)
    if rtol is not None:
        check_arrays("matrix_rank", rtol)
        try:
            broadcast_shapes(get_aval(rtol).shape, get_aval(x).shape[:-2])
        except ValueError:
            raise ValueError(
                f"matrix_rank: a tolerance is a scalar, or one for each matrix of {short(get_aval(x))}; got "
                f"{short(get_aval(rtol))}"
            ) from None
    return eager_jit(_rank, x, *(() if rtol is None else (rtol,)), hermitian=bool(hermitian))
