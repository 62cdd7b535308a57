"""Order statistics (medians, quantiles) and covariances."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import dim_product, is_empty
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import broadcast_to, canonical_axes, cast, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.contraction import matmul
from pycompiler.numpy.cumulative import cumsum
from pycompiler.numpy.diagonals import diagonal
from pycompiler.numpy.movement import atleast_2d, concatenate, moveaxis, squeeze, transpose
from pycompiler.numpy.promotion import FLOAT16S, check_promotion, promoted_inexact, requested
from pycompiler.numpy.taking import take, take_along_axis

__all__ = [
    "corrcoef",
    "cov",
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")


def _lines(name: str, a: Any, axis: Any) -> tuple[Array, tuple[int, ...]]:
    """a as a float with the given axes (None: all) merged into a last axis, and the shape of the result with sizes
    1."""
    check_arrays(name, a)
    shape = get_aval(a).shape
    axes = canonical_axes(name, axis, len(shape))
    kept = [i for i in range(len(shape)) if i not in axes]
    x = transpose(a, [*kept, *axes])
    line = movement.reshape(x, (*(shape[i] for i in kept), prod(shape[i] for i in axes)))
    return line, tuple(1 if i in axes else size for i, size in enumerate(shape))


def median(a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False) -> Array:
    """The middle element over axes, or the mean of the two middle elements; nan if any element is.

    >>> import pycompiler.numpy as pnp
    >>> pnp.median(pnp.array([3, 1, 7, 4]))
    Array(3.5, dtype=float32)
    """
    _refused("median", out, overwrite_input)
    return _quantile("median", a, 0.5, axis, "midpoint", keepdims, None, False)


def nanmedian(
    a: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, keepdims: bool = False
) -> Array:
    """The median over axes of the elements that are not nan; nan without such elements."""
    _refused("nanmedian", out, overwrite_input)
    return _quantile("nanmedian", a, 0.5, axis, "midpoint", keepdims, None, True)


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """The quantiles over axes: a fraction q (0..1, a scalar or a vector) of the elements lies below each; nan if any
    element is.

    method: 'linear', 'lower', 'higher', 'midpoint', 'nearest', 'inverted_cdf'. weights: of the shape of a, or of its
    axes; only for 'inverted_cdf'. The result has the dimension of q first.

    >>> import pycompiler.numpy as pnp
    >>> pnp.quantile(pnp.arange(5.0), 0.25)
    Array(1., dtype=float32)
    """
    _refused("quantile", out, overwrite_input)
    return _quantile("quantile", a, q, axis, method, keepdims, weights, False)


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """`quantile` of the elements that are not nan; nan without such elements."""
    _refused("nanquantile", out, overwrite_input)
    return _quantile("nanquantile", a, q, axis, method, keepdims, weights, True)


@decided
def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
    out_sharding: Any = None,
) -> Array:
    """`quantile` with q in 0..100.

    >>> import pycompiler.numpy as pnp
    >>> pnp.percentile(pnp.arange(5.0), 75)
    Array(3., dtype=float32)
    """
    _refused("percentile", out, overwrite_input)
    return divided(
        "percentile",
        _quantile("percentile", a, _percents("percentile", q), axis, method, keepdims, weights, False),
        out_sharding,
    )


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """`nanquantile` with q in 0..100."""
    _refused("nanpercentile", out, overwrite_input)
    return _quantile("nanpercentile", a, _percents("nanpercentile", q), axis, method, keepdims, weights, True)


def _shares(name: str, q: Any) -> Array:
    """q as a float that can count places along an axis, which float16 cannot."""
    (q,) = promoted_inexact(name, q)
    return cast(q, dtypes.float32) if get_aval(q).dtype in FLOAT16S else q


def _percents(name: str, q: Any) -> Array:
    return lax.div(_shares(name, q), 100.0)


def _refused(name: str, out: Any, overwrite_input: Any) -> None:
    ufuncs.no_out(name, out)
    if overwrite_input:
        raise ValueError(f"{name}: arrays never change, so there is no overwrite_input")


def _quantile(
    name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, weights: Any, without_nan: bool
) -> Array:
    if method not in _METHODS:
        raise ValueError(f"{name}: method is one of {', '.join(_METHODS)}, got {method!r}")
    check_arrays(name, a, q)
    if dtypes.is_complex(get_aval(a).dtype) and not name.endswith("median"):
        # A value between two complex numbers is undefined. Only the median is defined, as the mean of the two middle
        # elements.
        raise ArgumentError(f"{name}: takes real arrays, got {short(a)}; ask for its real and imaginary parts")
    q = _shares(name, q)
    if get_aval(q).ndim > 1:
        raise ValueError(f"{name}: q is a scalar or a vector, got {short(q)}")
    lines, kept = _lines(name, a, axis)
    given: Sequence[Any] = ()
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"{name}: only method 'inverted_cdf' takes weights, not {method!r}")
        given = (_lines(name, _weights(name, weights, a, axis), axis)[0],)
    (lines, *given) = promoted_inexact(name, lines, *given)
    if is_empty(get_aval(lines).shape[-1]):
        raise ValueError(f"{name}: there are no elements over the axes {axis} of {short(a)}")
    if method == "inverted_cdf":
        result = eager_jit(_inverted_cdf, lines, q, *given, without_nan=without_nan)
    else:
        result = eager_jit(_ordered, lines, q, method=method, without_nan=without_nan)
    return movement.reshape(result, (*get_aval(q).shape, *kept)) if keepdims else result


def _weights(name: str, weights: Any, a: Any, axis: Any) -> Array:
    check_arrays(name, a, weights)
    shape, given = get_aval(a).shape, get_aval(weights).shape
    if given == shape:
        return weights
    axes = canonical_axes(name, axis, len(shape))
    if axis is None or given != tuple(shape[i] for i in axes):
        raise ValueError(f"{name}: weights are of the shape of {short(a)} or of its axes {axis}, got {short(weights)}")
    return broadcast_to(movement.expand_dims(weights, [i for i in range(len(shape)) if i not in axes]), shape)


def _ordered(lines: Array, q: Array, *, method: str, without_nan: bool) -> Array:
    """Quantiles along the last axis, from the sorted lines."""
    aval, share = get_aval(lines), get_aval(q)
    ordered = reduction.sort(lines, -1)
    if without_nan:
        count = reductions.sum(ufuncs.logical_not(ufuncs.isnan(lines)), -1, dtype=share.dtype, keepdims=True)
    else:
        count = cast(aval.shape[-1], share.dtype)
    top = lax.sub(count, cast(1, share.dtype))
    # One place for each q in each line: (..., q).
    place = ufuncs.multiply(movement.reshape(q, (dim_product(share.shape),)), top)
    low, high = lax.floor(place), lax.ceil(place)
    above = lax.sub(place, low)
    bounded = [ufuncs.maximum(ufuncs.minimum(end, top), cast(0, share.dtype)) for end in (low, high)]
    indices = [cast(end, dtypes.scalar_dtype(int)) for end in bounded]
    if without_nan:
        below, over = (take_along_axis(ordered, index, -1) for index in indices)
    else:
        below, over = (take(ordered, index, axis=-1) for index in indices)
    if method == "linear":
        wide = [cast(end, dtypes.wider(lines, q)) for end in (below, over)]
        result = ufuncs.add(
            ufuncs.multiply(wide[0], lax.sub(cast(1, share.dtype), above)), ufuncs.multiply(wide[1], above)
        )
        # Between two equal infinities, the result is that infinity, for any fraction. Between other equal numbers, the
        # derivative has both fractions.
        same = ufuncs.logical_and(ufuncs.equal(below, over), ufuncs.isinf(below))
        result = ufuncs.where(same, wide[0], result)
    elif method == "midpoint":
        result = ufuncs.multiply(ufuncs.add(below, over), np.asarray(0.5, aval.dtype))
    elif method == "nearest":
        result = ufuncs.where(ufuncs.less_equal(above, 0.5), below, over)
    else:
        result = below if method == "lower" else over
    if not without_nan:
        last = movement.slice_in_dim(ordered, -1, None, axis=-1)
        result = ufuncs.where(ufuncs.isnan(last), last, result)
    return _with_shares_first(cast(result, aval.dtype), share.shape)


def _inverted_cdf(lines: Array, q: Array, *weights: Array, without_nan: bool) -> Array:
    """The first element of each sorted line at which the sum of weights reaches the fraction q."""
    aval, share = get_aval(lines), get_aval(q)
    ordered, weight = reduction.sort_key_val(lines, weights[0] if weights else movement.full_like(lines, 1.0), -1)
    missing = ufuncs.isnan(ordered)
    bad = ufuncs.logical_or(ufuncs.isnan(weight), ufuncs.less(weight, 0))
    weight = cast(weight, dtypes.wider(lines, q))
    reached = cumsum(ufuncs.where(ufuncs.logical_or(missing, bad), cast(0, get_aval(weight).dtype), weight), -1)
    total = movement.slice_in_dim(reached, -1, None, axis=-1)
    wanted = ufuncs.multiply(movement.reshape(q, (dim_product(share.shape),)), total)
    before = ufuncs.less(movement.expand_dims(reached, (-2,)), movement.expand_dims(wanted, (-1,)))
    place = reductions.sum(before, -1, dtype=int)
    there = reductions.sum(ufuncs.logical_not(missing), -1, dtype=int, keepdims=True)
    top = ufuncs.subtract(there, 1) if without_nan else aval.shape[-1] - 1
    place = ufuncs.maximum(ufuncs.minimum(place, top), 0)
    result = take_along_axis(ordered, place, -1)
    nothing = ufuncs.equal(there, 0) if without_nan else ufuncs.not_equal(there, aval.shape[-1])
    nothing = ufuncs.logical_or(nothing, reductions.any(bad, -1, keepdims=True))
    return _with_shares_first(ufuncs.where(nothing, cast(np.nan, aval.dtype), result), share.shape)


def _with_shares_first(result: Array, shape: tuple[int, ...]) -> Array:
    """(..., q) as (q, ...), or without q if it is a scalar."""
    return moveaxis(result, -1, 0) if shape else squeeze(result, -1)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Array:
    """The covariances of variables, which are the rows of m (columns with rowvar=False) and of y.

    The divisor is the number of observations minus ddof: 1, or 0 with bias. fweights (integers): the count of each
    observation; aweights: the weight of each observation.

    >>> import pycompiler.numpy as pnp
    >>> pnp.cov(pnp.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    check_promotion("cov", m, y)
    x = _observations(m, y, rowvar, dtype)
    if ddof is not None:
        get_aval(ddof)  # TypeError for an object that is not a number
    less = (0 if bias else 1) if ddof is None else ddof
    count = get_aval(x).shape[1]
    weight = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        check_arrays("cov", given)
        if get_aval(given).shape != (count,):
            raise ValueError(f"cov: {name} must have one number for each of {count} observations, got {short(given)}")
        if name == "fweights" and not dtypes.is_integer(get_aval(given).dtype):
            raise TypeError(f"cov: fweights are integers, got {short(given)}")
        given = ufuncs.abs(given)
        weight = given if weight is None else ufuncs.multiply(weight, given)
    if weight is None:
        centered = ufuncs.subtract(x, reductions.mean(x, 1, keepdims=True))
        return squeeze(
            ufuncs.divide(matmul(centered, ufuncs.conjugate(transpose(centered))), count - less if count else np.nan)
        )
    if dtype is not None:
        weight = cast(weight, get_aval(x).dtype)
    mean, total = reductions.average(x, 1, broadcast_to(weight, get_aval(x).shape), returned=True)
    total = movement.index_in_dim(total, 0, keepdims=False)
    if less == 0:
        factor = total
    elif aweights is None:
        factor = ufuncs.subtract(total, less)
    else:
        squared = reductions.sum(ufuncs.multiply(weight, ufuncs.abs(aweights)))
        factor = ufuncs.subtract(total, ufuncs.divide(ufuncs.multiply(less, squared), total))
    centered = ufuncs.subtract(x, movement.expand_dims(mean, (1,)))
    return squeeze(
        ufuncs.divide(matmul(ufuncs.multiply(centered, weight), ufuncs.conjugate(transpose(centered))), factor)
    )


def _observations(m: Any, y: Any, rowvar: bool, dtype: Any) -> Array:
    """The variables as the rows of one matrix."""
    if dtype is not None and not dtypes.is_floating(requested("cov", dtype)):
        raise ValueError(f"cov: dtype= is one of floats, got {requested('cov', dtype).name}")
    check_arrays("cov", m, *(() if y is None else (y,)))
    for one in (m,) if y is None else (m, y):
        if get_aval(one).ndim > 2:
            raise ValueError(f"cov: takes vectors and matrices, got {short(one)}")
    parts = []
    for one in (m,) if y is None else (m, y):
        x = atleast_2d(one)
        parts.append(transpose(x) if not rowvar and get_aval(one).ndim == 2 else x)
    (x,) = promoted_inexact("cov", parts[0] if y is None else concatenate(parts, 0))
    return x if dtype is None else cast(x, requested("cov", dtype))


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Array:
    """The correlations of variables, which are the rows of x (columns with rowvar=False) and of y, in -1..1.

    >>> import pycompiler.numpy as pnp
    >>> pnp.corrcoef(pnp.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    check_promotion("corrcoef", x, y)
    covariance = cov(x, y, rowvar, dtype=dtype)
    if get_aval(covariance).ndim == 0:
        return ufuncs.divide(covariance, covariance)
    deviation = ufuncs.sqrt(diagonal(covariance))
    scaled = ufuncs.divide(covariance, movement.expand_dims(deviation, (1,)))
    return ufuncs.clip(ufuncs.divide(scaled, deviation), -1, 1)
