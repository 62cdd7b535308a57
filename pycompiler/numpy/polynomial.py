"""Polynomials as vectors of coefficients, the highest power first."""

import operator
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, dim_product
from pycompiler.core.dims.ranges import larger
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, check_arrays
from pycompiler.numpy import arithmetic, reductions, ufuncs
from pycompiler.numpy.arithmetic import power
from pycompiler.numpy.contraction import matmul
from pycompiler.numpy.creation import asarray
from pycompiler.numpy.diagonals import eye
from pycompiler.numpy.linalg.decompositions import eigvals
from pycompiler.numpy.linalg.solving import inv, lstsq
from pycompiler.numpy.movement import atleast_1d, transpose
from pycompiler.numpy.promotion import broadcast_of, converted, inexact, promoted_inexact
from pycompiler.numpy.sorting import argsort
from pycompiler.numpy.taking import take

__all__ = [
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
    "vander",
]


def _vectors(name: str, *polynomials: Any) -> None:
    check_arrays(name, *polynomials)
    for one in polynomials:
        if get_aval(one).ndim != 1:
            raise ValueError(f"{name}: a polynomial is a vector of coefficients, got {short(one)}")


def polyval(p: Any, x: Any, *, unroll: int = 16) -> Array:
    """The polynomial p at x, by Horner's rule. p may have further dimensions, which broadcast with x.

    `unroll` is accepted for compatibility: all steps are one compiled call.

    >>> import pycompiler.numpy as pnp
    >>> pnp.polyval(pnp.array([1.0, 0.0, 2.0]), 3.0)
    Array(11., dtype=float32)
    """
    check_arrays("polyval", p, x)
    if get_aval(p).ndim == 0:
        raise ValueError("polyval: a polynomial is a vector of coefficients, got a scalar")
    return eager_jit(_polyval, *converted("polyval", p, x))


def _polyval(p: Array, x: Array) -> Array:
    count, *rest = get_aval(p).shape
    shape = broadcast_of("polyval", movement.full(rest, 0, get_aval(x).dtype), x)
    x = broadcast_to(x, shape)
    result = movement.full(shape, 0, get_aval(x).dtype)
    for i in range(count):
        term = broadcast_to(movement.index_in_dim(p, i, keepdims=False), shape)
        result = lax.add(lax.mul(result, x), term)
    return result


def _aligned(name: str, a1: Any, a2: Any) -> list[Array]:
    """Two polynomials of one length: the shorter one gets zeros in front."""
    a1, a2 = (atleast_1d(one) for one in (a1, a2))
    _vectors(name, a1, a2)
    count = larger(get_aval(a1).shape[0], get_aval(a2).shape[0])
    parts = converted(name, a1, a2)
    return [movement.pad(one, _zero(one), [(count - get_aval(one).shape[0], 0, 0)]) for one in parts]


def _zero(like: Array) -> Any:
    return cast(0, get_aval(like).dtype, get_aval(like).weak_type)


def polyadd(a1: Any, a2: Any) -> Array:
    """The sum of two polynomials."""
    return lax.add(*_aligned("polyadd", a1, a2))


def polysub(a1: Any, a2: Any) -> Array:
    """The difference of two polynomials."""
    return lax.sub(*_aligned("polysub", a1, a2))


def _product(a: Array, b: Array) -> Array:
    """The sums of the antidiagonals of the outer product: padding skews its rows, which are then added."""
    n, m = get_aval(a).shape[0], get_aval(b).shape[0]
    outer = ufuncs.multiply(movement.expand_dims(a, (1,)), b)
    flat = movement.reshape(movement.pad(outer, _zero(outer), [(0, 0, 0), (0, n, 0)]), (n * (n + m),))
    skewed = movement.reshape(movement.slice_in_dim(flat, 0, n * (n + m - 1)), (n, n + m - 1))
    return reductions.sum(skewed, 0, dtype=get_aval(a).dtype)


def _trimmed(name: str, polynomial: Any, tolerance: float = 0.0) -> Array:
    """A polynomial without leading zeros, which must be known."""
    values = np.asarray(polynomial)
    (places,) = np.nonzero(np.abs(values) > tolerance)
    return movement.slice_in_dim(polynomial, int(places[0]) if places.size else values.size, None)


def polymul(a1: Any, a2: Any, *, trim_leading_zeros: bool = False) -> Array:
    """The product of two polynomials. trim_leading_zeros (outside jit): ignore the leading zeros of each."""
    a1, a2 = (atleast_1d(one) for one in (a1, a2))
    _vectors("polymul", a1, a2)
    dtype = inexact(dtypes.result_type(a1, a2)[0])
    a1, a2 = (lax.convert_element_type(one, dtype) for one in (a1, a2))
    if trim_leading_zeros and max(dim_product(get_aval(a1).shape), dim_product(get_aval(a2).shape)) > 1:
        a1, a2 = _trimmed("polymul", a1), _trimmed("polymul", a2)
    a1, a2 = (one if dim_product(get_aval(one).shape) else movement.full((1,), 0, dtype) for one in (a1, a2))
    return eager_jit(_product, a1, a2)


def polydiv(u: Any, v: Any, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """The quotient and the remainder of two polynomials.

    The remainder has the length of u, unless trim_leading_zeros (outside jit).
    """
    u, v = (atleast_1d(one) for one in (u, v))
    _vectors("polydiv", u, v)
    if dim_product(get_aval(v).shape) == 0:
        raise ValueError("polydiv: the divisor has no coefficients")
    dtype = inexact(dtypes.result_type(u, v)[0])
    u, v = (lax.convert_element_type(one, dtype) for one in (u, v))
    quotient, rest = eager_jit(_quotient, u, v)
    if trim_leading_zeros:
        rest = _trimmed("polydiv", rest, float(dtypes.finfo(dtype).eps) ** 0.5)
    return quotient, rest


def _quotient(u: Array, v: Array) -> tuple[Array, Array]:
    n, m = get_aval(u).shape[0], get_aval(v).shape[0]
    scale = lax.div(1.0, movement.index_in_dim(v, 0, keepdims=True))
    parts: list[Array] = []
    for k in range(n - m + 1):
        factor = lax.mul(scale, movement.slice_in_dim(u, k, k + 1))
        parts.append(factor)
        u = lax.sub(u, movement.pad(ufuncs.multiply(v, factor), _zero(u), [(k, n - m - k, 0)]))
    return (movement.concatenate(parts, 0) if parts else movement.full((1,), 0, get_aval(u).dtype)), u


def polyder(p: Any, m: int = 1) -> Array:
    """The m-th derivative of a polynomial."""
    _vectors("polyder", p)
    order = _order("polyder", m)
    (p,) = promoted_inexact("polyder", p)
    count = get_aval(p).shape[0]
    if order == 0:
        return as_array(p)
    left = larger(count - order, 0)
    kept = movement.slice_in_dim(p, 0, left)
    if isinstance(left, Dim):
        falling = lax.sub(cast(count - 1, np.int32), movement.iota(np.int32, left))
        powers = cast(falling, get_aval(p).dtype)
        for i in range(order):
            kept = lax.mul(kept, lax.sub(powers, float(i)))
        return kept
    powers = np.arange(count - 1, order - 1, -1, dtype=np.float64)
    factors = np.prod([powers - i for i in range(order)], axis=0)
    return lax.mul(kept, factors.astype(get_aval(p).dtype))


def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """The m-th antiderivative of a polynomial. k: the m constants of integration, or one for all steps."""
    _vectors("polyint", p)
    order = _order("polyint", m)
    k = atleast_1d(0 if k is None else k)
    if get_aval(k).shape not in ((1,), (order,)):
        raise ValueError(f"polyint: k is a scalar or a vector of {order} constants, got {short(k)}")
    dtype = inexact(dtypes.result_type(p, k)[0])
    p, k = (lax.convert_element_type(one, dtype) for one in (p, k))
    if order == 0:
        return as_array(p)
    count = get_aval(p).shape[0] + order
    powers = np.arange(count - 1, -1, -1, dtype=np.float64)
    divisors = np.prod([np.maximum(powers - i, 1) for i in range(order)], axis=0)
    return lax.div(movement.concatenate([p, broadcast_to(k, (order,))], 0), divisors.astype(dtype))


def _order(name: str, m: Any) -> int:
    if not hasattr(m, "__index__") or m.__index__() < 0:
        raise ValueError(f"{name}: m is an integer of at least 0, got {m!r}")
    return m.__index__()


def poly(seq_of_zeros: Any) -> Array:
    """The polynomial with leading coefficient 1 and the given zeros.

    A square matrix gives its characteristic polynomial, whose zeros are the eigenvalues. ValueError for other shapes.
    """
    check_arrays("poly", seq_of_zeros)
    shape = get_aval(seq_of_zeros).shape
    if len(shape) == 2 and shape[0] == shape[1] and shape[0] != 0:
        seq_of_zeros = eigvals(seq_of_zeros)
    (zeros,) = promoted_inexact("poly", seq_of_zeros)
    zeros = atleast_1d(zeros)
    if get_aval(zeros).ndim != 1:
        raise ValueError(f"poly: takes a vector of zeros or a square matrix, got {short(zeros)}")
    if dim_product(get_aval(zeros).shape) == 0:
        return movement.full((), 1, get_aval(zeros).dtype)
    return eager_jit(_from_zeros, zeros)


def _from_zeros(zeros: Array) -> Array:
    result = movement.full((1,), 1, get_aval(zeros).dtype)
    for i in range(get_aval(zeros).shape[0]):
        shifted = movement.pad(result, _zero(result), [(1, 0, 0)])
        longer = movement.pad(result, _zero(result), [(0, 1, 0)])
        result = lax.sub(longer, ufuncs.multiply(shifted, movement.index_in_dim(zeros, i, keepdims=False)))
    return result


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """The matrix whose columns are the powers N-1, ..., 1, 0 of x (0, 1, ... with increasing); N defaults to len(x)."""
    check_arrays("vander", x)
    if get_aval(x).ndim != 1:
        raise ValueError(f"vander: takes a vector, got {short(x)}")
    count = get_aval(x).shape[0] if N is None else operator.index(N)
    if count < 0:
        raise ValueError(f"vander: N is at least 0, got {count}")
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    aval = get_aval(x)
    return power(movement.expand_dims(x, (1,)), powers.astype(aval.dtype))


def roots(p: Any, *, strip_zeros: bool = True) -> Array:
    """The zeros of a polynomial, complex: the eigenvalues of its companion matrix.

    Leading zeros are ignored (outside jit). With strip_zeros=False, each of them makes one root nan.

    >>> import pycompiler.numpy as pnp
    >>> pnp.sort(pnp.roots(pnp.array([1.0, -3.0, 2.0])).real)
    Array([1., 2.], dtype=float32)
    """
    (p,) = promoted_inexact("roots", p)
    p = atleast_1d(p)
    _vectors("roots", p)
    count = get_aval(p).shape[0]
    if strip_zeros:
        if isinstance(p, Tracer):
            raise TypeError("roots: the number of leading zeros is not known under jit; pass strip_zeros=False")
        (places,) = np.nonzero(np.asarray(p))
        return _roots(movement.slice_in_dim(p, int(places[0]) if places.size else count, None))
    leading = ufuncs.where(reductions.all(ufuncs.equal(p, 0)), count, reductions.argmin(ufuncs.equal(p, 0)))
    # Leading zeros move to the end, where they become roots of 0. These roots are moved to the end of the result.
    place = arithmetic.remainder(ufuncs.add(movement.iota(np.int32, count), leading), count)
    turned = ufuncs.where(ufuncs.equal(leading, count), cast(1, get_aval(p).dtype), take(p, place))
    found = _roots(turned)
    number = get_aval(found).shape[0]
    found = take(found, argsort(ufuncs.equal(found, 0)))
    there = ufuncs.less(movement.iota(np.int32, number), ufuncs.subtract(number, leading))
    return ufuncs.where(there, found, cast(complex(np.nan, np.nan), get_aval(found).dtype))


def _roots(p: Array) -> Array:
    count = get_aval(p).shape[0]
    kind = dtypes.wider(get_aval(p).dtype, dtypes.complex64)
    if count < 2:
        return movement.full((0,), 0, kind)
    first, rest = movement.slice_in_dim(p, 0, 1), movement.slice_in_dim(p, 1, None)
    top = movement.expand_dims(lax.neg(ufuncs.divide(rest, first)), (0,))
    below = eye(count - 2, count - 1, dtype=get_aval(p).dtype)
    return eigvals(movement.concatenate([top, below], 0))


def polyfit(
    x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    """The polynomial of degree deg with the least squared distance to the points (x, y).

    y: a vector, or a matrix with a column for each fit. w: the weight of each point. rcond: singular values up to this
    multiple of the maximum count as zero (len(x) eps). full: also return the residuals, the rank, the singular values
    and rcond. cov: also return the covariance matrix of the coefficients; cov='unscaled' does not scale it by the
    residuals.

    >>> import pycompiler.numpy as pnp
    >>> pnp.polyfit(pnp.array([0.0, 1.0, 2.0]), pnp.array([1.0, 3.0, 5.0]), 1).round(3)
    Array([2., 1.], dtype=float32)
    """
    check_arrays("polyfit", x, y, *(() if w is None else (w,)))
    order = _order("polyfit", deg) + 1
    (x,), (y,) = promoted_inexact("polyfit", x), promoted_inexact("polyfit", y)
    if get_aval(x).ndim != 1 or dim_product(get_aval(x).shape) == 0 or get_aval(y).ndim not in (1, 2):
        raise TypeError(f"polyfit: x is a vector, y a vector or a matrix, got {short(x)} and {short(y)}")
    count = get_aval(x).shape[0]
    if get_aval(y).shape[0] != count:
        raise TypeError(f"polyfit: y must have one element for each of x, got {short(x)} and {short(y)}")
    rcond = count * float(dtypes.finfo(get_aval(x).dtype).eps) if rcond is None else rcond
    left, right = vander(x, order), y
    if w is not None:
        (w,) = promoted_inexact("polyfit", w)
        if get_aval(w).shape != (count,):
            raise TypeError(f"polyfit: w must have one weight for each of x, got {short(w)}")
        left = ufuncs.multiply(left, movement.expand_dims(w, (1,)))
        right = ufuncs.multiply(right, movement.expand_dims(w, (1,)) if get_aval(y).ndim == 2 else w)
    # Columns of norm 1 have the best condition.
    scale = ufuncs.sqrt(reductions.sum(ufuncs.square(left), 0))
    left = ufuncs.divide(left, scale)
    found, residuals, rank, values = lstsq(left, right, rcond)
    found = ufuncs.divide(found, movement.expand_dims(scale, (1,)) if get_aval(found).ndim == 2 else scale)
    if full:
        return found, residuals, rank, values, asarray(rcond)
    if not cov:
        return found
    base = ufuncs.divide(inv(matmul(transpose(left), left)), ufuncs.multiply(movement.expand_dims(scale, (1,)), scale))
    factor = asarray(1.0)
    if cov != "unscaled":
        if count <= order:
            raise ValueError(f"polyfit: the covariance needs more than {order} points, got {count}; or cov='unscaled'")
        factor = ufuncs.divide(residuals, count - order)
    if get_aval(y).ndim == 1:
        return found, ufuncs.multiply(base, factor)
    return found, ufuncs.multiply(movement.expand_dims(base, (2,)), atleast_1d(factor))
