"""Sorting, and what is read off a sorted array."""

from math import prod
from typing import Any

import numpy as np

from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.operands import Array, canonical_axis, cast, check_arrays
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.promotion import converted, promoted_inexact


def _along(name: str, a: Any, axis: int | None) -> tuple[Array, int]:
    """a and an axis of it; flat when the axis is None."""
    check_arrays(name, a)
    shape = get_aval(a).shape
    if axis is None:
        return movement.reshape(a, (prod(shape),)), 0
    return a, canonical_axis(name, axis, len(shape))


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """a sorted along an axis (None: flat), nan last, or backwards with descending."""
    x, axis = _along("sort", a, axis)
    result = reduction.sort(x, axis, stable)
    return movement.rev(result, (axis,)) if descending else result


def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The indices that sort a along an axis (None: flat); equal elements keep their order."""
    x, axis = _along("argsort", a, axis)
    numbers = movement.broadcasted_iota(dtypes.scalar_dtype(int), get_aval(x).shape, axis)
    if descending:
        # Sorted backwards and turned around, so that equal elements keep their order.
        x, numbers = movement.rev(x, (axis,)), movement.rev(numbers, (axis,))
    _, indices = reduction.sort_key_val(x, numbers, axis, stable)
    return movement.rev(indices, (axis,)) if descending else indices


def lexsort(keys: Any, axis: int = -1) -> Array:
    """The indices that sort by several keys, the last of which counts most."""
    arrays = list(keys)
    check_arrays("lexsort", *arrays)
    axis = canonical_axis("lexsort", axis, len(get_aval(arrays[0]).shape))
    numbers = movement.broadcasted_iota(dtypes.scalar_dtype(int), get_aval(arrays[0]).shape, axis)
    return reduction.sort((*reversed(arrays), numbers), axis, num_keys=len(arrays))[-1]


def median(a: Any, axis: int | None = None, keepdims: bool = False) -> Array:
    """The middle of the elements along an axis (None: of all), or the mean of the two in the middle; nan if any is."""
    (x,) = promoted_inexact("median", a)
    rank = len(get_aval(x).shape)
    flat, along = _along("median", x, axis)
    count = get_aval(flat).shape[along]
    if count == 0:
        raise ValueError("median: there are no elements")
    ordered = reduction.sort(flat, along)
    middle = [movement.index_in_dim(ordered, i, along, keepdims=False) for i in ((count - 1) // 2, count // 2)]
    # Nan is last: where the last one is nan, so is the median.
    last = movement.index_in_dim(ordered, count - 1, along, keepdims=False)
    result = lax.select(ufuncs.isnan(last), last, lax.mul(lax.add(*middle), np.asarray(0.5, get_aval(x).dtype)))
    if not keepdims:
        return result
    return movement.expand_dims(result, range(rank) if axis is None else (along,))


def searchsorted(a: Any, v: Any, side: str = "left", sorter: None = None) -> Array:
    """Where the values v belong in the sorted vector a: before equal elements ('left') or after them ('right')."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', got {side!r}")
    check_arrays("searchsorted", a, v)
    a, v = converted("searchsorted", a, v)
    shape, count = get_aval(v).shape, get_aval(a).shape[0]
    pairs = (*shape, count)
    rank = len(shape)
    elements = movement.broadcast_in_dim(a, pairs, (rank,))
    values = movement.broadcast_in_dim(v, pairs, tuple(range(rank)))
    # As many as stand before: each value is compared with each element.
    before = lax.lt(elements, values) if side == "left" else lax.le(elements, values)
    return reductions.sum(cast(before, dtypes.scalar_dtype(int)), axis=rank)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Array:
    """The sums of all elements up to each along an axis (None: flat), in as many steps as the length has bits."""
    return _cumulative("cumsum", a, axis, dtype, lax.add, 0)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Array:
    """The products of all elements up to each along an axis (None: flat), in as many steps as the length has bits."""
    return _cumulative("cumprod", a, axis, dtype, lax.mul, 1)


def _cumulative(name: str, a: Any, axis: int | None, dtype: Any, combine: Any, identity: int) -> Array:
    x, axis = _along(name, a, axis)
    aval = get_aval(x)
    wanted = aval.dtype if dtype is None else dtypes.canonicalize_requested(dtype, name)
    if dtype is None and wanted == dtypes.bool_:
        wanted = dtypes.scalar_dtype(int)
    x = cast(x, wanted)
    total, distance = aval.shape[axis], 1
    # Each step combines with the element that is twice as far back (Hillis and Steele, 1986).
    while distance < total:
        config = [(0, 0, 0)] * len(aval.shape)
        config[axis] = (distance, -distance, 0)
        x = combine(x, movement.pad(x, np.asarray(identity, wanted), config))
        distance *= 2
    return x
