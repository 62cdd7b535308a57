"""The most frequent value, ranks, and the standard error of the mean."""

from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement as lax_movement
from pycompiler.lax import reduction as lax_reduction
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import Array, broadcast_to, canonical_axis, cast, check_arrays
from pycompiler.numpy import cumulative, movement, nans, reductions, sorting, taking, ufuncs
from pycompiler.numpy.promotion import promoted_inexact


class ModeResult(NamedTuple):
    """The most frequent values, and their counts."""

    mode: Array
    count: Array


def _check_policy(name: str, policy: str) -> None:
    if policy not in ("propagate", "omit", "raise"):
        raise ValueError(f"{name}: nan_policy is 'propagate', 'omit' or 'raise', got {policy!r}")
    if policy != "propagate":
        raise NotImplementedError(
            f"{name}: nan_policy={policy!r} depends on the values, which are not known under jit; remove nans before"
        )


def _run_starts(ordered: Array) -> Array:
    """Whether each element of sorted lines (the last dimension) differs from the one before it; nans count as equal."""
    shape = get_aval(ordered).shape
    last = len(shape) - 1
    before = lax_movement.slice_in_dim(ordered, 0, shape[last] - 1, axis=last)
    after = lax_movement.slice_in_dim(ordered, 1, shape[last], axis=last)
    both_nan = lax.bitwise_and(lax.ne(before, before), lax.ne(after, after))
    differs = lax.bitwise_and(lax.ne(before, after), lax.bitwise_not(both_nan))
    first = broadcast_to(np.asarray(True), (*shape[:last], 1))
    return movement.concatenate([first, differs], -1)


def _positions(shape: tuple[int, ...]) -> Array:
    return lax_movement.broadcasted_iota(dtypes.int32, shape, len(shape) - 1)


def _run_bounds(starts: Array) -> tuple[Array, Array]:
    """The number of each element's run, and the start of each run, followed by the length."""
    shape = get_aval(starts).shape
    length = shape[-1]
    number = lax.sub(cumulative.cumsum(cast(starts, dtypes.int32), -1), 1)
    marked = lax.select(starts, _positions(shape), broadcast_to(np.asarray(length, np.int32), shape))
    end = broadcast_to(np.asarray(length, np.int32), (*shape[:-1], 1))
    return number, movement.concatenate([sorting.sort(marked, -1), end], -1)


def mode(a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False) -> ModeResult:
    """The most frequent value along an axis (None: of all elements), the smallest if there are several, and its count.

    nans count as equal. The mode of an empty array is nan. nan_policy must be 'propagate'.
    """
    _check_policy("mode", nan_policy)
    check_arrays("mode", a)
    a = movement.atleast_1d(a)
    rank = len(get_aval(a).shape)
    kept = (1,) * rank
    if axis is None:
        a, axis = movement.ravel(a), 0
    else:
        axis = canonical_axis("mode", axis, rank)
        kept = tuple(1 if i == axis else n for i, n in enumerate(get_aval(a).shape))
    lines = movement.moveaxis(a, axis, -1)
    shape = get_aval(lines).shape[:-1]
    if 0 in get_aval(lines).shape:
        dtype = dtypes.scalar_dtype(float)
        value, count = (as_array(broadcast_to(np.asarray(x, dtype), shape)) for x in (np.nan, 0))
    else:
        value, count = eager_jit(_mode, lines)
    target = kept if keepdims else shape
    return ModeResult(lax_movement.reshape(value, target), lax_movement.reshape(count, target))


def _mode(lines: Array) -> tuple[Array, Array]:
    ordered = sorting.sort(lines, -1)
    number, bounds = _run_bounds(_run_starts(ordered))
    length = lax.sub(_positions(get_aval(number).shape), taking.take_along_axis(bounds, number, -1))
    last = len(get_aval(number).shape) - 1
    place = lax_reduction.argmax(length, last, dtypes.int32)
    value = taking.take_along_axis(ordered, lax_movement.expand_dims(place, (last,)), -1)
    return lax_movement.squeeze(value, (last,)), lax.add(lax_reduction.reduce_max(length, (last,)), 1)


def rankdata(a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate") -> Array:
    """The ranks of the elements, from 1, as floats: of all elements (flat), or along an axis.

    Equal elements get the 'average', 'min' or 'max' of their ranks, ranks without gaps ('dense'), or ranks in order
    ('ordinal'). If one element is nan, all ranks are nan. nan_policy must be 'propagate'.
    """
    _check_policy("rankdata", nan_policy)
    check_arrays("rankdata", a)
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f"rankdata: method is 'average', 'min', 'max', 'dense' or 'ordinal', got {method!r}")
    a = movement.ravel(a) if axis is None else as_array(a)
    axis = 0 if axis is None else canonical_axis("rankdata", axis, len(get_aval(a).shape))
    if 0 in get_aval(a).shape:
        return as_array(broadcast_to(np.asarray(0, dtypes.scalar_dtype(float)), get_aval(a).shape))
    return eager_jit(_rankdata, a, axis=axis, method=method, dtype=dtypes.scalar_dtype(float))


def _rankdata(a: Array, *, axis: int, method: str, dtype: Any) -> Array:
    lines = movement.moveaxis(a, axis, -1)
    places = _positions(get_aval(lines).shape)
    ordered, order = lax_reduction.sort_key_val(lines, places)
    _, rank = lax_reduction.sort_key_val(order, places)
    if method == "ordinal":
        result = cast(lax.add(rank, 1), dtype)
    else:
        number, bounds = _run_bounds(_run_starts(ordered))
        run = taking.take_along_axis(number, rank, -1)
        result = cast(_tied(run, bounds, method), dtype)
        if method == "average":
            result = lax.mul(result, 0.5)
    has_nan = reductions.any(lax.ne(lines, lines), -1, keepdims=True)
    result = ufuncs.where(has_nan, np.asarray(np.nan, dtype), result)
    return movement.moveaxis(result, -1, axis)


def _tied(run: Array, bounds: Array, method: str) -> Array:
    """The ranks of runs from their bounds; for 'average', twice the ranks."""
    if method == "dense":
        return lax.add(run, 1)
    least = lax.add(taking.take_along_axis(bounds, run, -1), 1)
    greatest = taking.take_along_axis(bounds, lax.add(run, 1), -1)
    return least if method == "min" else greatest if method == "max" else lax.add(least, greatest)


def sem(a: Any, axis: int | None = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False) -> Array:
    """The standard deviation divided by the root of the number of elements. nan_policy='omit' ignores nans."""
    (a,) = promoted_inexact("sem", a)
    dtype = get_aval(a).dtype
    if nan_policy == "propagate":
        shape = get_aval(a).shape
        axis = None if axis is None else canonical_axis("sem", axis, len(shape))
        size = int(np.prod(shape)) if axis is None else shape[axis]
        return lax.div(reductions.std(a, axis, ddof=ddof, keepdims=keepdims), cast(float(size) ** 0.5, dtype))
    if nan_policy == "omit":
        count = reductions.sum(lax.eq(a, a), axis, keepdims=keepdims)
        return lax.div(nans.nanstd(a, axis, ddof=ddof, keepdims=keepdims), lax.sqrt(cast(count, dtype)))
    raise ValueError(f"sem: nan_policy is 'propagate' or 'omit', got {nan_policy!r}")
