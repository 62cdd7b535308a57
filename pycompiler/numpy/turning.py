"""Functions that reverse, rotate and roll arrays. Imports `movement`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, surely_below
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.operands import canonical_axes, canonical_axis, cast, check_arrays
from pycompiler.numpy.movement import ndim, ravel, reshape, shape, swapaxes, unstack

__all__ = [
    "flip",
    "fliplr",
    "flipud",
    "roll",
    "rot90",
]


def flip(m: Any, axis: Any = None) -> Array:
    """m reversed along the given axes, or along all axes."""
    return movement.rev(m, canonical_axes("flip", axis, ndim(m)))


def fliplr(m: Any) -> Array:
    """m with its columns in reverse order."""
    return flip(m, 1)


def flipud(m: Any) -> Array:
    """m with its rows in reverse order."""
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """m rotated by k quarter turns, from the first of the axes to the second."""
    first, second = canonical_axes("rot90", axes, ndim(m))
    match k % 4:
        case 0:
            return as_array(m)
        case 1:
            return swapaxes(flip(m, second), first, second)
        case 2:
            return flip(m, (first, second))
        case _:
            return flip(swapaxes(m, first, second), second)


def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """a moved along axes (None: flat) by numbers of places. Elements that leave one end enter at the other.

    >>> import pycompiler.numpy as pnp
    >>> pnp.roll(pnp.array([1, 2, 3]), 1)
    Array([3, 1, 2], dtype=int32)
    """
    if axis is None:
        return reshape(roll(ravel(a), shift, 0), shape(a))
    rank = ndim(a)
    # An axis may be named twice: both shifts apply.
    axes = [canonical_axis("roll", one, rank) for one in (axis if isinstance(axis, Sequence) else (axis,))]
    shifts = _shifts(shift)
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise ValueError(f"roll: {len(shifts)} shifts do not fit {len(axes)} axes; give one for each, or one for all")
    count = max(len(axes), len(shifts)) if axes and shifts else 0
    axes, shifts = ([*each] * count if len(each) == 1 else each for each in (axes, shifts))
    for places, along in zip(shifts, axes, strict=True) if count else ():
        total = get_aval(a).shape[along]
        if isinstance(places, Array | Tracer):
            a = _rolled_by(a, as_array(places), along)
            continue
        if isinstance(total, Dim) or isinstance(places, Dim):
            a = _rolled(a, places, along)
            continue
        places = places % total if total else 0
        if places:
            end = movement.slice_in_dim(a, total - places, total, axis=along)
            a = movement.concatenate([end, movement.slice_in_dim(a, 0, total - places, axis=along)], along)
    return as_array(a)


def _shifts(shift: Any) -> list[Any]:
    """The numbers of places, one for each axis: ints, dimensions, and integer arrays of this package."""
    if isinstance(shift, Sequence) and not isinstance(shift, str):
        return [one for part in shift for one in _shifts(part)]
    if isinstance(shift, Dim) or type(shift) is int:
        return [shift]
    check_arrays("roll", shift)
    aval = get_aval(shift)
    if not (dtypes.is_integer(aval.dtype) or aval.dtype == dtypes.bool_):
        way = ".astype(int)" if hasattr(shift, "astype") else "int()"
        raise TypeError(f"roll: a shift is an integer, got {short(aval)}; convert it by {way}")
    if isinstance(shift, Array | Tracer):
        return [shift] if not aval.shape else unstack(ravel(shift))  # type: ignore[list-item]
    return [int(one) for one in np.asarray(shift).ravel()]


def _rolled_by(a: Any, places: Array, along: int) -> Array:
    """a moved along an axis by a computed number of places."""
    total = get_aval(a).shape[along]
    if isinstance(total, int) and total == 0:
        return a
    kind = get_aval(places).dtype
    if kind.itemsize < 4:
        kind = np.dtype(np.int32)
    size = cast(total, kind)
    left = lax.rem(cast(places, kind), size)
    kind = np.dtype(np.int64 if kind == np.int64 else np.int32)
    left, size = cast(left, kind), cast(total, kind)
    # The place where the result begins, from 0 to total - 1, for a shift of either sign.
    start = lax.rem(lax.sub(size, left), size)
    return movement.dynamic_slice_in_dim(movement.concatenate([a, a], along), start, total, along)


def _rolled(a: Any, places: Any, along: int) -> Array:
    """a moved along an axis, if the size or the number of places is symbolic."""
    places = places if isinstance(places, Dim) else int(places)
    total = get_aval(a).shape[along]
    cut = total - places if surely_below(-1, places) else -places
    if surely_below(-1, cut) and surely_below(cut, total + 1):
        end = movement.slice_in_dim(a, cut, total, axis=along)
        return movement.concatenate([end, movement.slice_in_dim(a, 0, cut, axis=along)], along)
    # The shift may exceed the size: cut from two copies at a computed place.
    start = lax.rem(lax.add(lax.rem(-places, total), total), total)
    return movement.dynamic_slice_in_dim(movement.concatenate([a, a], along), start, total, along)
