"""Reductions: sums, means, extrema, counts over axes; and comparisons of whole arrays.

Sums of float16 and bfloat16 are computed in float32. Sums of small integers and of bools are 32 (with enable_x64: 64)
bits wide.
"""

import builtins
from collections.abc import Callable
from math import prod as product_of
from typing import Any

import numpy as np

from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import as_array, get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax import reduction as reduce
from pycompiler.lax.operands import Array, broadcast_to, canonical_axes, canonical_axis, cast, check_arrays
from pycompiler.numpy import ufuncs
from pycompiler.numpy.promotion import FLOAT16S, inexact, requested
from pycompiler.ops.reduction import highest, lowest

Axis = Any  # None for all, an int, or a tuple of ints


def _restored(x: Array, shape: tuple[Any, ...], axes: tuple[int, ...], keepdims: bool) -> Array:
    """The reduced array, with dimensions of size 1 where keepdims asks for them."""
    if not keepdims:
        return x
    return movement.reshape(x, tuple(1 if axis in axes else size for axis, size in enumerate(shape)))


def _masked(name: str, a: Array, where: Any, instead: Any) -> Array:
    """a, with `instead` where `where` does not hold."""
    return a if where is None else ufuncs.where(where, a, cast(instead, get_aval(a).dtype))


def _no_out(name: str, out: Any) -> None:
    if out is not None:
        raise TypeError(f"{name}: arrays never change, so there is no out=")


def _accumulated(
    name: str, function: Callable[..., Array], a: Any, axis: Axis, dtype: Any, keepdims: bool, where: Any, start: Any
) -> tuple[Array, Any]:
    """A sum or product in the dtype in which it is computed, and the dtype that it is to have."""
    check_arrays(name, a)
    aval = get_aval(a)
    wanted = requested(name, dtype)
    if wanted is None:
        wanted = aval.dtype
        if not dtypes.is_floating(wanted):
            default = dtypes.scalar_dtype(int)
            if dtypes.is_unsigned(wanted):
                default = np.dtype(f"u{default.name}")
            if wanted.itemsize < default.itemsize:
                wanted = default
    computed = dtypes.float32 if wanted in FLOAT16S else wanted
    axes = canonical_axes(name, axis, len(aval.shape))
    x = cast(a, computed)
    return _restored(function(_masked(name, x, where, start), axes), aval.shape, axes, keepdims), wanted


def sum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The sum over axes."""
    _no_out("sum", out)
    total, wanted = _accumulated("sum", reduce.reduce_sum, a, axis, dtype, keepdims, where, 0)
    total = total if get_aval(total).dtype == wanted else cast(total, wanted)
    return total if initial is None else ufuncs.add(total, initial)


def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The product over axes."""
    _no_out("prod", out)
    total, wanted = _accumulated("prod", reduce.reduce_prod, a, axis, dtype, keepdims, where, 1)
    total = total if get_aval(total).dtype == wanted else cast(total, wanted)
    return total if initial is None else ufuncs.multiply(total, initial)


def _extremum(
    name: str, function: Callable[..., Array], identity: Callable[[Any], Any], combine: Any, word: str
) -> Any:
    def extremum(
        a: Any,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        _no_out(name, out)
        check_arrays(name, a)
        aval = get_aval(a)
        axes = canonical_axes(name, axis, len(aval.shape))
        if where is not None and initial is None:
            raise ValueError(f"{name}: where= needs initial=, the value for no elements")
        if initial is None and builtins.any(aval.shape[i] == 0 for i in axes):
            raise ValueError(f"{name}: {short(aval)} has no elements over axes {axes}, and no initial= is given")
        x = _masked(name, cast(a, aval.dtype), where, identity(aval.dtype))
        result = _restored(function(x, axes), aval.shape, axes, keepdims)
        return result if initial is None else combine(result, cast(initial, aval.dtype))

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = f"The {word} over axes; nan if any is. ValueError over no elements unless initial= is given."
    return extremum


max = amax = _extremum("max", reduce.reduce_max, lowest, ufuncs.maximum, "greatest")
min = amin = _extremum("min", reduce.reduce_min, highest, ufuncs.minimum, "least")


def ptp(a: Any, axis: Axis = None, out: None = None, keepdims: bool = False) -> Array:
    """The greatest less the least over axes."""
    return ufuncs.subtract(max(a, axis, out, keepdims), min(a, axis, out, keepdims))


def any(a: Any, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Array:
    """Whether any element over axes is other than 0."""
    _no_out("any", out)
    x = _masked("any", ufuncs.truth("any", a), where, False)
    shape = get_aval(x).shape
    axes = canonical_axes("any", axis, len(shape))
    return _restored(reduce.reduce_or(x, axes), shape, axes, keepdims)


def all(a: Any, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: Any = None) -> Array:
    """Whether all elements over axes are other than 0."""
    _no_out("all", out)
    x = _masked("all", ufuncs.truth("all", a), where, True)
    shape = get_aval(x).shape
    axes = canonical_axes("all", axis, len(shape))
    return _restored(reduce.reduce_and(x, axes), shape, axes, keepdims)


def count_nonzero(a: Any, axis: Axis = None, keepdims: bool = False) -> Array:
    """How many elements over axes are other than 0."""
    return sum(ufuncs.truth("count_nonzero", a), axis, keepdims=keepdims)


def _count(name: str, a: Any, axis: Axis, where: Any, keepdims: bool, dtype: Any) -> Any:
    """How many elements are averaged: a number, or an array where a mask says."""
    shape = get_aval(a).shape
    if where is not None:
        mask = broadcast_to(ufuncs.truth(name, where), shape)
        return cast(sum(mask, axis, keepdims=keepdims), dtype)
    return product_of(shape[i] for i in canonical_axes(name, axis, len(shape)))


def mean(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None, keepdims: bool = False, *, where: Any = None
) -> Array:
    """The mean over axes, of integers as a float. Over no elements nan."""
    _no_out("mean", out)
    check_arrays("mean", a)
    wanted = inexact(get_aval(a).dtype) if dtype is None else dtype
    total, wanted = _accumulated("mean", reduce.reduce_sum, a, axis, wanted, keepdims, where, 0)
    count = _count("mean", a, axis, where, keepdims, get_aval(total).dtype)
    result = ufuncs.divide(total, count)
    return result if get_aval(result).dtype == wanted else cast(result, wanted)


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    """The mean over axes, each element counted by its weight."""
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        count = _count("average", a, axis, None, keepdims, None)
        return (
            (result, broadcast_to(cast(count, get_aval(result).dtype), get_aval(result).shape)) if returned else result
        )
    check_arrays("average", a, weights)
    shape = get_aval(a).shape
    if get_aval(weights).shape != shape:
        if axis is None or len(get_aval(weights).shape) != 1:
            raise ValueError(
                f"average: weights {short(weights)} are not of the shape of {short(a)}, nor of one axis of it"
            )
        axis = canonical_axis("average", axis, len(shape))
        weights = movement.broadcast_in_dim(weights, shape, (axis,))
    a, weights = ufuncs.promoted_inexact("average", a, weights)
    total = sum(weights, axis, keepdims=keepdims)
    result = ufuncs.divide(sum(lax.mul(a, weights), axis, keepdims=keepdims), total)
    return (result, total) if returned else result


def var(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    correction: float | None = None,
) -> Array:
    """The mean of the squared distances from the mean, divided by the count less ddof (or `correction`)."""
    _no_out("var", out)
    check_arrays("var", a)
    wanted = inexact(get_aval(a).dtype) if dtype is None else requested("var", dtype)
    computed = dtypes.float32 if wanted in FLOAT16S else wanted
    x = cast(a, computed)
    centered = ufuncs.subtract(x, mean(x, axis, keepdims=True, where=where))
    total = sum(lax.mul(centered, centered), axis, keepdims=keepdims, where=where)
    count = _count("var", a, axis, where, keepdims, computed)
    less = ddof if correction is None else correction
    result = ufuncs.divide(total, ufuncs.subtract(count, less) if where is not None else count - less)
    return cast(result, wanted)


def std(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    correction: float | None = None,
) -> Array:
    """The square root of the variance."""
    return ufuncs.sqrt(var(a, axis, dtype, out, ddof, keepdims, where=where, correction=correction))


def _arg_extremum(name: str, function: Callable[..., Array], word: str) -> Any:
    def arg_extremum(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
        _no_out(name, out)
        check_arrays(name, a)
        shape = get_aval(a).shape
        kept = (1,) * len(shape)
        if axis is None:
            a, axis = movement.reshape(a, (product_of(shape),)), 0
        else:
            axis = canonical_axis(name, axis, len(shape))
            kept = (*shape[:axis], 1, *shape[axis + 1 :])
        result = function(a, axis, dtypes.scalar_dtype(int))
        return movement.reshape(result, kept) if keepdims else result

    arg_extremum.__name__ = arg_extremum.__qualname__ = name
    arg_extremum.__doc__ = f"The index of the {word} in an axis, or in the flat array: of the first, or the first nan."
    return arg_extremum


argmax = _arg_extremum("argmax", reduce.argmax, "greatest")
argmin = _arg_extremum("argmin", reduce.argmin, "least")


def _without_nan(name: str, function: Callable[..., Array], instead: Callable[[Any], Any], summary: str) -> Any:
    def nan_reduction(a: Any, axis: Axis = None, **options: Any) -> Array:
        check_arrays(name, a)
        return function(
            ufuncs.where(ufuncs.isnan(a), cast(instead(get_aval(a).dtype), get_aval(a).dtype), a), axis, **options
        )

    nan_reduction.__name__ = nan_reduction.__qualname__ = name
    nan_reduction.__doc__ = summary
    return nan_reduction


nansum = _without_nan("nansum", sum, lambda dtype: 0, "The sum over axes, nans left out.")
nanprod = _without_nan("nanprod", prod, lambda dtype: 1, "The product over axes, nans left out.")


def nanmax(a: Any, axis: Axis = None, keepdims: bool = False) -> Array:
    """The greatest over axes, nans left out; nan where there is nothing else."""
    return _nan_extremum(max, lowest, a, axis, keepdims)


def nanmin(a: Any, axis: Axis = None, keepdims: bool = False) -> Array:
    """The least over axes, nans left out; nan where there is nothing else."""
    return _nan_extremum(min, highest, a, axis, keepdims)


def _nan_extremum(function: Any, identity: Any, a: Any, axis: Axis, keepdims: bool) -> Array:
    missing = ufuncs.isnan(a)
    dtype = get_aval(a).dtype
    result = function(ufuncs.where(missing, cast(identity(dtype), dtype), a), axis, keepdims=keepdims)
    if not dtypes.is_floating(dtype):
        return result
    return ufuncs.where(all(missing, axis, keepdims=keepdims), cast(np.nan, dtype), result)


def nanmean(a: Any, axis: Axis = None, keepdims: bool = False) -> Array:
    """The mean over axes, nans left out."""
    return mean(a, axis, keepdims=keepdims, where=ufuncs.logical_not(ufuncs.isnan(a)))


def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether all elements are close. See isclose."""
    return all(ufuncs.isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Array:
    """Whether two arrays have one shape and equal elements."""
    check_arrays("array_equal", a1, a2)
    if get_aval(a1).shape != get_aval(a2).shape:
        return as_array(np.asarray(False))
    same = ufuncs.equal(a1, a2)
    if equal_nan:
        same = ufuncs.logical_or(same, ufuncs.logical_and(ufuncs.isnan(a1), ufuncs.isnan(a2)))
    return all(same)
