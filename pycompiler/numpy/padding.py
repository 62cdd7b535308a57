"""`pad`: elements beyond the ends of each axis, by mode.

The axes are padded one after the other, so that corners come from earlier padding.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, is_dimension, is_empty
from pycompiler.core.dims.ranges import smaller
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.core.types.tree import tree_leaves
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.operands import broadcast_to, cast, check_arrays, weakly
from pycompiler.numpy import reductions, statistics
from pycompiler.numpy.mapping import apply_along_axis
from pycompiler.numpy.movement import concatenate
from pycompiler.numpy.ranges import first_axis_at, line_between
from pycompiler.numpy.turning import flip

__all__ = [
    "pad",
]

_STATISTICS: dict[str, Callable[..., Array]] = {
    "maximum": reductions.max,
    "minimum": reductions.min,
    "mean": reductions.mean,
    "median": statistics.median,
}
# The modes with their keyword arguments.
_OPTIONS: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",),
    "edge": (),
    "empty": (),
    "linear_ramp": ("end_values",),
    **dict.fromkeys(_STATISTICS, ("stat_length",)),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Array:
    """array with elements added at both ends of each axis.

    pad_width: a number, a pair (before, after), a pair for each axis, or a dict of axes and pairs. mode: 'constant'
    (constant_values=0), 'edge', 'empty' (zeros), 'linear_ramp' (end_values=0), 'maximum', 'mean', 'median', 'minimum'
    (stat_length=None), 'reflect', 'symmetric' (reflect_type='even' or 'odd'), 'wrap', or a function of (vector,
    (before, after), axis, kwargs) that returns the padded vector. ValueError for widths below 0, for an unknown mode,
    for options of another mode.

    >>> import pycompiler.numpy as pnp
    >>> pnp.pad(pnp.array([1, 2]), 1, constant_values=9)
    Array([9, 1, 2, 9], dtype=int32)
    """
    check_arrays("pad", array)
    aval = get_aval(array)
    widths: list[tuple[Any, Any]] = _widths(pad_width, len(aval.shape))
    if callable(mode):
        return weakly(_by_function(array, widths, mode, kwargs), aval.weak_type)
    if mode not in _OPTIONS:
        raise ValueError(f"pad: mode is one of {', '.join(_OPTIONS)}, or a function; got {mode!r}")
    others = set(kwargs) - set(_OPTIONS[mode])
    if others:
        takes = ", ".join(_OPTIONS[mode]) or "no options"
        raise ValueError(f"pad: mode {mode!r} takes {takes}, got {', '.join(sorted(others))}")
    if mode in ("constant", "empty"):
        return weakly(as_array(_constant(array, widths, kwargs.get("constant_values", 0))), aval.weak_type)
    for axis, (before, after) in enumerate(widths):
        if before == after == 0:
            continue
        if is_empty(aval.shape[axis]):
            raise ValueError(f"pad: axis {axis} of {short(aval)} is empty, so mode {mode!r} has no elements to use")
        if mode == "edge":
            ends = [movement.slice_in_dim(array, *end, axis=axis) for end in ((0, 1), (-1, None))]
            array = _with_ends(array, axis, before, after, *ends)
        elif mode == "wrap":
            size = aval.shape[axis]
            if isinstance(size, Dim) or isinstance(before, Dim) or isinstance(after, Dim):
                array = _around(array, axis, (size - before, size), (0, after))
                continue
            places = np.arange(-before, size + after) % size
            array = _taken(array, places, axis)
        elif mode == "linear_ramp":
            array = _ramp(array, axis, before, after, _pair("end_values", kwargs.get("end_values", 0), axis, aval))
        elif mode in _STATISTICS:
            lengths: Any = kwargs.get("stat_length")
            lengths = (None, None) if lengths is None else _pair("stat_length", lengths, axis, aval)
            array = _statistic(array, axis, before, after, _STATISTICS[mode], lengths)
        else:
            array = _mirrored(array, axis, before, after, mode, kwargs.get("reflect_type", "even"))
    return weakly(as_array(array), aval.weak_type)


def _widths(pad_width: Any, rank: int) -> list[tuple[int, int]]:
    if any(isinstance(size, Dim) for size in tree_leaves(pad_width)):
        return _symbolic_widths(pad_width, rank)
    if isinstance(pad_width, dict):
        pairs: list[Any] = [(0, 0)] * rank
        for axis, width in pad_width.items():
            pairs[axis] = (width, width) if np.ndim(width) == 0 else width
        pad_width = pairs
    try:
        widths = np.broadcast_to(np.asarray(pad_width), (rank, 2))
    except ValueError:
        raise ValueError(
            f"pad: pad_width is a number, a pair (before, after), or a pair for each of the {rank} axes, "
            f"got {pad_width!r}"
        ) from None
    if widths.size and widths.dtype.kind not in "iu":
        raise TypeError(f"pad: pad_width must be integers of at least 0, got {pad_width!r}")
    if widths.size and widths.min() < 0:
        raise ValueError(f"pad: pad_width must be integers of at least 0, got {pad_width!r}")
    return [(int(before), int(after)) for before, after in widths]


def _symbolic_widths(pad_width: Any, rank: int) -> list[tuple[Any, Any]]:
    """Like `_widths`, for widths some of which are symbolic sizes."""
    if isinstance(pad_width, dict):
        given: Any = [pad_width.get(axis, 0) for axis in range(rank)]
    else:
        each = isinstance(pad_width, Sequence) and isinstance(pad_width[0], Sequence)
        given = pad_width if each else [pad_width] * rank
    pairs = [(x, x) if not isinstance(x, Sequence) else tuple(x) for x in given]
    if len(pairs) == 1:
        pairs = pairs * rank
    if len(pairs) != rank or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"pad: pad_width is a number, a pair, or one for each of the {rank} axes, got {pad_width!r}")
    for width in (width for pair in pairs for width in pair):
        if not is_dimension(width) or width < 0:
            raise ValueError(f"pad: pad_width must be integers of at least 0, got {width!r}")
    return pairs


def _pair(name: str, values: Any, axis: int, aval: Any) -> tuple[Any, Any]:
    """The values of an option for the two ends of an axis."""
    check_arrays("pad", *(values if isinstance(values, tuple | list) and not np.ndim(values[0]) else ()))
    if hasattr(values, "aval") and get_aval(values).shape == ():
        return values, values
    try:
        before, after = np.broadcast_to(np.asarray(values), (len(aval.shape), 2))[axis]
    except ValueError:
        raise ValueError(f"pad: {name} is a number, a pair, or a pair for each axis, got {values!r}") from None
    return before, after


def _constant(array: Any, widths: list[tuple[int, int]], constant_values: Any) -> Array:
    aval = get_aval(array)
    if hasattr(constant_values, "aval") or np.ndim(constant_values) == 0:
        check_arrays("pad", constant_values)
        return movement.pad(array, cast(constant_values, aval.dtype), [(before, after, 0) for before, after in widths])
    for axis, sides in enumerate(widths):
        values = _pair("constant_values", constant_values, axis, aval)
        for side, (width, value) in enumerate(zip(sides, values, strict=True)):
            config = [(0, 0, 0)] * len(aval.shape)
            config[axis] = (0, width, 0) if side else (width, 0, 0)
            array = movement.pad(array, cast(value.item(), aval.dtype), config)
    return array


def _repeated(line: Array, axis: int, count: int) -> Array:
    """A slice of size 1 along an axis, `count` times."""
    shape = get_aval(line).shape
    return broadcast_to(line, (*shape[:axis], count, *shape[axis + 1 :]))


def _with_ends(array: Array, axis: int, before: int, after: int, first: Array, last: Array) -> Array:
    return concatenate([_repeated(first, axis, before), array, _repeated(last, axis, after)], axis)


def _taken(array: Array, places: Any, axis: int) -> Array:
    """array at known places of an axis, joined from runs of places."""
    parts: list[Array] = []
    start = 0
    while start < len(places):
        stop = start + 1
        step = int(places[stop] - places[start]) if stop < len(places) else 1
        while step in (-1, 1) and stop < len(places) and places[stop] - places[stop - 1] == step:
            stop += 1
        low, high = sorted((int(places[start]), int(places[stop - 1])))
        part = movement.slice_in_dim(array, low, high + 1, axis=axis)
        parts.append(flip(part, axis) if step == -1 else part)
        start = stop
    return concatenate(parts, axis)


def _around(array: Array, axis: int, left: Any, right: Any, turn: bool = False) -> Array:
    """array between two slices of itself, which lie inside it."""
    size = get_aval(array).shape[axis]
    for start, stop in (left, right):
        if start < 0 or stop > size:
            raise ValueError(f"pad: the padding exceeds the {size} elements of axis {axis} of {short(get_aval(array))}")
    sides = [movement.slice_in_dim(array, start, stop, axis=axis) for start, stop in (left, right)]
    first, last = (flip(side, axis) for side in sides) if turn else sides
    return concatenate([first, array, last], axis)


def _ramp(array: Array, axis: int, before: int, after: int, ends: tuple[Any, Any]) -> Array:
    dtype = get_aval(array).dtype
    sides: list[Array] = []
    for end, width, place in ((ends[0], before, (0, 1)), (ends[1], after, (-1, None))):
        edge = movement.squeeze(movement.slice_in_dim(array, *place, axis=axis), (axis,))
        ramp, _ = line_between(cast(end if hasattr(end, "aval") else end.item(), dtype), edge, width, False, dtype)
        ramp = first_axis_at("pad", ramp, axis)
        sides.append(ramp if place == (0, 1) else flip(ramp, axis))
    return concatenate([sides[0], array, sides[1]], axis)


def _statistic(
    array: Array, axis: int, before: int, after: int, statistic: Callable[..., Array], lengths: tuple[Any, Any]
) -> Array:
    aval = get_aval(array)
    size = aval.shape[axis]
    sides: list[Array] = []
    for length, last in zip(lengths, (False, True), strict=True):
        count = size if length is None else smaller(int(length), size)
        if count < 1:
            raise ValueError(f"pad: stat_length must be at least 1, got {length}")
        part = movement.slice_in_dim(array, size - count if last else 0, size if last else count, axis=axis)
        value = statistic(part, axis=axis, keepdims=True)
        if dtypes.is_integer(aval.dtype) and dtypes.is_floating(get_aval(value).dtype):
            value = lax.round(value, 1)
        sides.append(cast(value, aval.dtype))
    return _with_ends(array, axis, before, after, *sides)


def _mirrored(array: Array, axis: int, before: int, after: int, mode: str, reflect_type: Any) -> Array:
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"pad: reflect_type is 'even' or 'odd', got {reflect_type!r}")
    size = get_aval(array).shape[axis]
    # A single element mirrors itself.
    skip = smaller(size - 1, 1) if mode == "reflect" else 0
    if isinstance(size, Dim) or isinstance(before, Dim) or isinstance(after, Dim):
        if reflect_type == "odd":
            raise ValueError("pad: reflect_type 'odd' takes sizes that are ints, got an axis of " + str(size))
        return _around(array, axis, (skip, skip + before), (size - skip - after, size - skip), turn=True)
    if reflect_type == "even":
        period = max(2 * (size - skip), 1) if size > 1 or mode == "symmetric" else 1
        places = np.arange(-before, size + after) % period
        return _taken(array, np.where(places < size, places, period - 1 + skip - places), axis)
    if mode == "reflect" and size == 1:
        first = movement.slice_in_dim(array, 0, 1, axis=axis)
        return _with_ends(array, axis, before, after, first, first)
    while before or after:
        size = get_aval(array).shape[axis]
        low, high = min(before, size - skip), min(after, size - skip)
        first, last = (movement.slice_in_dim(array, *end, axis=axis) for end in ((0, 1), (-1, None)))
        left = flip(movement.slice_in_dim(array, skip, skip + low, axis=axis), axis)
        right = flip(movement.slice_in_dim(array, size - skip - high, size - skip, axis=axis), axis)
        left, right = (
            lax.sub(_repeated(lax.add(edge, edge), axis, count), side)
            for edge, count, side in ((first, low, left), (last, high, right))
        )
        array = concatenate([left, array, right], axis)
        before, after = before - low, after - high
    return array


def _by_function(array: Any, widths: list[tuple[int, int]], function: Callable[..., Any], kwargs: Any) -> Array:
    array = _constant(array, widths, 0)
    for axis, width in enumerate(widths):
        array = apply_along_axis(function, axis, array, width, axis, kwargs)
    return as_array(array)
