"""Derivatives and integrals of sampled functions, interpolation between samples."""

import functools
from collections.abc import Sequence
from math import pi
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import canonical_axes, canonical_axis, cast, check_arrays, weakly
from pycompiler.numpy import arithmetic, reductions, ufuncs
from pycompiler.numpy.cumulative import cumsum
from pycompiler.numpy.movement import concatenate, moveaxis
from pycompiler.numpy.promotion import converted, inexact, promoted_inexact
from pycompiler.numpy.sorting import searchsorted
from pycompiler.numpy.taking import take

__all__ = [
    "gradient",
    "interp",
    "trapezoid",
    "unwrap",
]


def _steps(x: Array, axis: int) -> Array:
    """The differences of neighbours along an axis."""
    return lax.sub(movement.slice_in_dim(x, 1, None, axis=axis), movement.slice_in_dim(x, 0, -1, axis=axis))


def gradient(
    f: Any, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int | None = None
) -> Array | list[Array]:
    """The derivatives of sampled values along axes: central differences, one-sided differences at the ends.

    varargs: the distance of samples (1): for each axis a number, or a vector of sample places. One axis gives an array,
    several give a list. Only edge_order=None (the first order) is supported.

    >>> import pycompiler.numpy as pnp
    >>> pnp.gradient(pnp.array([1.0, 4.0, 9.0]))
    Array([3., 4., 5.], dtype=float32)
    """
    if edge_order is not None:
        raise TypeError(f"gradient: the ends are of first order, edge_order={edge_order!r} is not supported")
    check_arrays("gradient", f, *varargs)
    dtype = inexact(dtypes.result_type(f, *varargs)[0])
    rank = get_aval(f).ndim
    axes = canonical_axes("gradient", axis, rank)
    spacings = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    if len(spacings) != len(axes):
        raise TypeError(f"gradient: takes one spacing, or one for each of the {len(axes)} axes, got {len(varargs)}")
    x = cast(f, dtype)
    results: list[Array] = []
    for along, spacing in zip(axes, spacings, strict=True):
        size = get_aval(f).shape[along]
        if size < 2:
            raise ValueError(f"gradient: axis {along} of {short(f)} has less than 2 elements")
        if get_aval(spacing).shape not in ((), (size,)):
            raise ValueError(
                f"gradient: a spacing is a number or {size} places along axis {along}, got {short(spacing)}"
            )
        slopes = eager_jit(_gradient, x, cast(spacing, dtype), axis=along)
        results.append(weakly(slopes, get_aval(f).weak_type))
    return results[0] if len(axes) == 1 else results


def _gradient(x: Array, spacing: Array, *, axis: int) -> Array:
    if not get_aval(spacing).ndim:
        return _gradient_of_even_samples(x, spacing, axis)
    steps = _steps(x, axis)
    others = [i for i in range(get_aval(x).ndim) if i != axis]
    widths = movement.expand_dims(_steps(spacing, 0), others)
    slopes = ufuncs.divide(steps, widths)
    left, right = movement.slice_in_dim(slopes, 0, -1, axis=axis), movement.slice_in_dim(slopes, 1, None, axis=axis)
    # Each slope is weighted by the distance on the other side.
    before, after = (movement.slice_in_dim(widths, *part, axis=axis) for part in ((0, -1), (1, None)))
    weighted = ufuncs.add(ufuncs.multiply(left, after), ufuncs.multiply(right, before))
    inner = ufuncs.divide(weighted, lax.add(before, after))
    first, last = (movement.slice_in_dim(slopes, *part, axis=axis) for part in ((0, 1), (-1, None)))
    return movement.concatenate([first, inner, last], axis)


def _gradient_of_even_samples(x: Array, spacing: Array, axis: int) -> Array:
    """The gradient in one pass over the samples."""
    size = get_aval(x).shape[axis]

    def difference(low: int, high: Any, distance: int) -> Array:
        part = functools.partial(movement.slice_in_dim, x, axis=axis)
        return lax.sub(part(low + distance, high + distance), part(low, high))

    inner = lax.mul(difference(0, size - 2, 2), 0.5)
    first, last = difference(0, 1, 1), difference(size - 2, size - 1, 1)
    return movement.concatenate([ufuncs.divide(steps, spacing) for steps in (first, inner, last)], axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """The integral of samples along an axis by the trapezoidal rule; the samples are at places x, or at distances dx.

    >>> import pycompiler.numpy as pnp
    >>> pnp.trapezoid(pnp.array([1.0, 2.0, 3.0]))
    Array(4., dtype=float32)
    """
    check_arrays("trapezoid", y, dx if x is None else x)
    dtype = inexact(dtypes.result_type(y, dx if x is None else x)[0]) if x is not None else None
    along = canonical_axis("trapezoid", axis, get_aval(y).ndim)
    (values,) = promoted_inexact("trapezoid", y) if dtype is None else (cast(y, dtype),)
    values = moveaxis(values, along, -1)
    if x is None:
        widths = dx
        if get_aval(dx).ndim:
            missing = get_aval(y).ndim - get_aval(dx).ndim
            widths = moveaxis(movement.expand_dims(dx, range(missing)), along, -1)
    else:
        places = cast(x, dtype)
        widths = _steps(places, 0) if get_aval(x).ndim == 1 else moveaxis(_steps(places, axis), axis, -1)
    sums = lax.add(movement.slice_in_dim(values, 1, None, axis=-1), movement.slice_in_dim(values, 0, -1, axis=-1))
    return ufuncs.multiply(reductions.sum(ufuncs.multiply(sums, widths), -1), 0.5)


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * pi) -> Array:
    """p with multiples of the period added, so that neighbours along an axis differ by at most half of it.

    Steps of less than discont (half the period) stay unchanged.
    """
    p, period = converted("unwrap", p, period)
    axis = canonical_axis("unwrap", axis, get_aval(p).ndim)
    if get_aval(p).shape[axis] == 0:
        return as_array(p)
    limit = ufuncs.divide(period, 2) if discont is None else discont
    return eager_jit(_unwrap, p, period, limit, axis=axis)


def _unwrap(p: Array, period: Array, discont: Array, *, axis: int) -> Array:
    integers = dtypes.is_integer(get_aval(p).dtype)
    half = arithmetic.floor_divide(period, 2) if integers else ufuncs.divide(period, 2)
    steps = _steps(p, axis)
    short_steps = ufuncs.subtract(arithmetic.remainder(ufuncs.add(steps, half), period), half)
    # A step of exactly half a period upwards stays upwards.
    upwards = ufuncs.logical_and(ufuncs.equal(short_steps, ufuncs.negative(half)), ufuncs.greater(steps, 0))
    short_steps = ufuncs.where(upwards, half, short_steps)
    correction = ufuncs.where(ufuncs.less(ufuncs.abs(steps), discont), 0, ufuncs.subtract(short_steps, steps))
    first, rest = (movement.slice_in_dim(p, *part, axis=axis) for part in ((0, 1), (1, None)))
    return concatenate([first, ufuncs.add(rest, cumsum(correction, axis=axis))], axis)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Array:
    """The piecewise linear function through the points (xp, fp), xp ascending, at x.

    left, right: the values below xp[0] and above xp[-1]: numbers (by default fp[0] and fp[-1]), or 'extrapolate'.
    period: x and xp are taken modulo the period, in any order; left and right then have no effect.

    >>> import pycompiler.numpy as pnp
    >>> pnp.interp(2.5, pnp.array([1, 2, 3]), pnp.array([3.0, 2.0, 0.0]))
    Array(1., dtype=float32)
    """
    check_arrays("interp", x, xp, fp)
    if get_aval(xp).ndim != 1 or get_aval(xp).shape != get_aval(fp).shape:
        raise ValueError(f"interp: xp and fp are vectors of one length, got {short(xp)} and {short(fp)}")
    if get_aval(xp).shape[0] == 0:
        raise ValueError("interp: xp and fp have no elements")
    for name, side in (("left", left), ("right", right)):
        if isinstance(side, str) and side != "extrapolate":
            raise ValueError(f"interp: {name} is a number or 'extrapolate', got {side!r}")
    dtype = inexact(dtypes.result_type(x, xp)[0])
    points, (values,) = (cast(x, dtype), cast(xp, dtype)), promoted_inexact("interp", fp)
    if period is not None:
        check_arrays("interp", period)
        if get_aval(period).shape != ():
            raise ValueError(f"interp: the period is a scalar, got {short(period)}")
        return eager_jit(_periodic, *points, values, cast(period, dtype))
    inner = eager_jit(_interpolated, *points, values)
    for side, place, beyond in ((left, 0, ufuncs.less), (right, -1, ufuncs.greater)):
        if not isinstance(side, str):
            end = movement.index_in_dim(values, place, keepdims=False) if side is None else side
            outside = beyond(points[0], movement.index_in_dim(points[1], place, keepdims=False))
            inner = ufuncs.where(outside, end, inner)
    return inner


def _interpolated(x: Array, xp: Array, fp: Array) -> Array:
    count = get_aval(xp).shape[0]
    if count == 1:
        return ufuncs.where(ufuncs.isnan(x), lax.stop_gradient(x), movement.index_in_dim(fp, 0, keepdims=False))
    place = ufuncs.clip(searchsorted(xp, x, side="right"), 1, count - 1)
    before = ufuncs.subtract(place, 1)
    (x0, x1), (f0, f1) = ((take(table, before), take(table, place)) for table in (xp, fp))
    width = lax.sub(x1, x0)
    # If two places are equal, neither the value nor a derivative may divide by their distance.
    tiny = float(np.spacing(np.float32(dtypes.finfo(get_aval(xp).dtype).eps)))
    single = ufuncs.less_equal(lax.abs(width), tiny)
    share = ufuncs.divide(lax.sub(x, x0), ufuncs.where(single, 1, width))
    return ufuncs.where(single, f0, ufuncs.add(f0, ufuncs.multiply(share, lax.sub(f1, f0))))


def _periodic(x: Array, xp: Array, fp: Array, period: Array) -> Array:
    period = lax.abs(period)
    places, values = reduction.sort_key_val(arithmetic.remainder(xp, period), fp)
    first, last = ((0, 1), (-1, None))
    places = movement.concatenate(
        [
            ufuncs.subtract(movement.slice_in_dim(places, *last), period),
            places,
            ufuncs.add(movement.slice_in_dim(places, *first), period),
        ],
        0,
    )
    values = movement.concatenate(
        [movement.slice_in_dim(values, *last), values, movement.slice_in_dim(values, *first)], 0
    )
    return _interpolated(arithmetic.remainder(x, period), places, values)
