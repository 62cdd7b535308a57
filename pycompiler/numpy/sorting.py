"""Sorting, and functions that read from a sorted array."""

from math import prod
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import canonical_axis, cast, check_arrays
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.complexes import imag, real
from pycompiler.numpy.promotion import converted, requested
from pycompiler.numpy.taking import take

__all__ = [
    "argpartition",
    "argsort",
    "digitize",
    "lexsort",
    "partition",
    "searchsorted",
    "sort",
]


def _along(name: str, a: Any, axis: int | None) -> tuple[Array, int]:
    """a and one of its axes; a is flattened if the axis is None."""
    check_arrays(name, a)
    shape = get_aval(a).shape
    if axis is None:
        return movement.reshape(a, (prod(shape),)), 0
    return a, canonical_axis(name, axis, len(shape))


def _no_kind(name: str, kind: Any, order: Any) -> None:
    for given, what in ((kind, "kind; stable= says whether equal elements keep their order"), (order, "order")):
        if given is not None:
            raise TypeError(f"{name}: takes no {what}")


def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """a sorted along an axis (None: flat), nan last; with descending, in reverse order.

    >>> import pycompiler.numpy as pnp
    >>> pnp.sort(pnp.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    _no_kind("sort", kind, order)
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
    dtype: Any = None,
) -> Array:
    """The indices that sort a along an axis (None: flat); equal elements keep their order.

    >>> import pycompiler.numpy as pnp
    >>> pnp.argsort(pnp.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    _no_kind("argsort", kind, order)
    x, axis = _along("argsort", a, axis)
    wanted = dtypes.scalar_dtype(int) if dtype is None else requested("argsort", dtype)
    if not dtypes.is_integer(wanted):
        raise TypeError(f"argsort: dtype= is one of integers, got {wanted.name}")
    numbers = movement.broadcasted_iota(wanted, get_aval(x).shape, axis)
    if descending:
        # Reversing before and after the sort keeps the order of equal elements.
        x, numbers = movement.rev(x, (axis,)), movement.rev(numbers, (axis,))
    _, indices = reduction.sort_key_val(x, numbers, axis, stable)
    return movement.rev(indices, (axis,)) if descending else indices


def lexsort(keys: Any, axis: int = -1) -> Array:
    """The indices that sort by several keys; the last key is the primary one. Scalars give 0.

    >>> import pycompiler.numpy as pnp
    >>> pnp.lexsort((pnp.array([1, 0, 0]), pnp.array([1, 2, 1])))
    Array([2, 0, 1], dtype=int32)
    """
    arrays = list(keys)
    if not arrays:
        raise TypeError("lexsort: takes at least one key, got none")
    check_arrays("lexsort", *arrays)
    # A scalar counts as a vector of one element, as in NumPy.
    axis = canonical_axis("lexsort", axis, len(get_aval(arrays[0]).shape) or 1)
    if all(get_aval(key).shape == () for key in arrays):
        return movement.full((), 0, dtypes.scalar_dtype(int))
    numbers = movement.broadcasted_iota(dtypes.scalar_dtype(int), get_aval(arrays[0]).shape, axis)
    return reduction.sort((*reversed(arrays), numbers), axis, num_keys=len(arrays))[-1]


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan") -> Array:
    """The places of values v in the sorted vector a: before equal elements ('left') or after them ('right').

    sorter: the indices that sort a, if it is not sorted. method: 'scan', 'scan_unrolled' and 'sort' halve the range in
    each step; 'compare_all' compares each value with each element. The results are equal. nan counts as the maximum.

    >>> import pycompiler.numpy as pnp
    >>> pnp.searchsorted(pnp.array([1, 3, 5]), 4)
    Array(2, dtype=int32)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', got {side!r}")
    if method not in ("scan", "scan_unrolled", "sort", "compare_all"):
        raise ValueError(f"searchsorted: method is 'scan', 'scan_unrolled', 'sort' or 'compare_all', got {method!r}")
    check_arrays("searchsorted", a, v, *(() if sorter is None else (sorter,)))
    if len(get_aval(a).shape) != 1:
        raise ValueError(f"searchsorted: a is a sorted vector, got {short(a)}")
    a, v = converted("searchsorted", a, v)
    if sorter is not None:
        a = take(a, sorter)
    count = get_aval(a).shape[0]
    few = type(count) is not int or count <= 8 or method == "compare_all"
    return eager_jit(_by_comparing if few else _by_halving, a, v, side=side)


def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Array:
    """The number of the bin of each x, from 1: bins[i-1] <= x < bins[i], or with `right` bins[i-1] < x <= bins[i].

    For descending bins: bins[i-1] > x >= bins[i], or bins[i-1] >= x > bins[i]. method: see searchsorted.

    >>> import pycompiler.numpy as pnp
    >>> pnp.digitize(pnp.array([0.5, 2.5]), pnp.array([0, 1, 2]))
    Array([1, 3], dtype=int32)
    """
    check_arrays("digitize", x, bins)
    if len(get_aval(bins).shape) != 1:
        raise ValueError(f"digitize: bins are a sorted vector, got {short(bins)}")
    count = get_aval(bins).shape[0]
    if count == 0:
        return movement.full(get_aval(x).shape, 0, dtypes.int32)
    how = "scan" if method is None else method
    x, bins = converted("digitize", x, bins)
    side = "left" if right else "right"
    ends = [movement.index_in_dim(bins, i, keepdims=False) for i in (0, -1)]
    ascends = ufuncs.greater_equal(ends[1], ends[0])
    found = searchsorted(ufuncs.where(ascends, bins, movement.rev(bins, (0,))), x, side, method=how)
    return ufuncs.where(ascends, found, ufuncs.subtract(count, found))


def _stands_before(element: Array, value: Array, side: str) -> Array:
    """Whether an element comes before the place of a value. nan is the greatest number, also as a complex part."""
    if dtypes.is_complex(get_aval(value).dtype):
        (re, im), (re_value, im_value) = ((real(x), imag(x)) for x in (element, value))
        both_nan = ufuncs.logical_and(ufuncs.isnan(re), ufuncs.isnan(re_value))
        same = ufuncs.logical_or(ufuncs.equal(re, re_value), both_nan)
        by_imag = ufuncs.logical_and(same, _stands_before(im, im_value, side))
        return ufuncs.logical_or(_stands_before(re, re_value, "left"), by_imag)
    before = ufuncs.less(element, value) if side == "left" else ufuncs.less_equal(element, value)
    if not dtypes.is_floating(get_aval(value).dtype):
        return before
    missing = ufuncs.isnan(value)
    return ufuncs.logical_or(
        before, ufuncs.logical_and(missing, ufuncs.logical_not(ufuncs.isnan(element))) if side == "left" else missing
    )


def _by_comparing(a: Array, v: Array, *, side: str) -> Array:
    rank = len(get_aval(v).shape)
    before = _stands_before(a, movement.expand_dims(v, (rank,)), side)
    return reductions.sum(before, axis=rank, dtype=dtypes.int32)


def _by_halving(a: Array, v: Array, *, side: str) -> Array:
    count, shape = get_aval(a).shape[0], get_aval(v).shape
    # The middle is computed from a sum, which does not overflow, because the sign bit is unused.
    index = dtypes.position_dtype("searchsorted", count)
    low, high = movement.full(shape, 0, index), movement.full(shape, count, index)
    for _ in range(count.bit_length()):
        middle = lax.shift_right_logical(lax.add(low, high), 1)
        # If the range is empty, the middle may be the end, and the comparison is not used.
        go_right = ufuncs.logical_and(ufuncs.less(low, high), _stands_before(take(a, middle, mode="clip"), v, side))
        low = ufuncs.where(go_right, lax.add(middle, 1), low)
        high = ufuncs.where(ufuncs.logical_and(ufuncs.less(low, high), ufuncs.logical_not(go_right)), middle, high)
    return low


def partition(a: Any, kth: int, axis: int = -1) -> Array:
    """a with its kth smallest element along an axis at its sorted place. No element before this one is larger, no
    element after it is smaller.

    The smallest elements are in ascending order, the others in descending order; complex ones are all in ascending
    order.

    >>> import pycompiler.numpy as pnp
    >>> int(pnp.partition(pnp.array([3, 1, 2]), 1)[1])
    2
    """
    return _partition("partition", a, kth, axis)[0]


def argpartition(a: Any, kth: int, axis: int = -1) -> Array:
    """The indices that partition a: see partition."""
    return cast(_partition("argpartition", a, kth, axis)[1], dtypes.scalar_dtype(int))


def _partition(name: str, a: Any, kth: int, axis: int) -> tuple[Array, Array]:
    check_arrays(name, a)
    shape = get_aval(a).shape
    if not shape:
        raise ValueError(f"{name}: takes an array with at least one dimension, got {short(get_aval(a))}")
    axis = canonical_axis(name, axis, len(shape))
    size = shape[axis]
    place = canonical_axis(f"{name}, kth", kth, size) if isinstance(size, int) else kth + size if kth < 0 else kth
    if not 0 <= place < size:
        raise ValueError(f"{name}: kth {kth} is out of range for the {size} elements of axis {axis}")
    return eager_jit(_partitioned, a, kth=place, axis=axis)


def _partitioned(a: Array, *, kth: Any, axis: int) -> tuple[Array, Array]:
    # In descending order, the smallest elements come last. They are reversed and moved to the front.
    aval = get_aval(a)
    count = aval.shape[axis]
    if dtypes.is_complex(aval.dtype):  # top_k does not support them; a sorted array is partitioned, too
        return reduction.sort_key_val(a, movement.broadcasted_iota(dtypes.int32, aval.shape, axis), axis)
    values, places = reduction.top_k(a, count, axis=axis)
    head = [
        movement.rev(movement.slice_in_dim(x, count - kth - 1, count, axis=axis), (axis,)) for x in (values, places)
    ]
    tail = [movement.slice_in_dim(x, 0, count - kth - 1, axis=axis) for x in (values, places)]
    whole = [movement.concatenate(pair, axis) for pair in zip(head, tail, strict=True)]
    return whole[0], whole[1]
