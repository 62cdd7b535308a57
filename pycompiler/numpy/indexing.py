"""x[index]: integers, slices, ellipsis, None, and integer arrays, static or traced, in any mixture.

An index is split in two steps, as NumPy's rules have it: the basic part (slices, None and, where there is no array,
integers) by slicing, then the arrays together, by rows of a flattened array. Out of range is clamped. Boolean masks are
taken outside `jit`, where the size of the result is known; inside it, `where`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pycompiler._runtime import Array as RuntimeArray
from pycompiler._runtime import current_trace
from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import get_aval, short
from pycompiler.core.errors import NonConcreteBooleanIndexError
from pycompiler.core.trace import Tracer
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.operands import Array, broadcast_to, canonical_axis, cast, check_arrays
from pycompiler.numpy import ufuncs
from pycompiler.numpy.promotion import broadcast_of
from pycompiler.ops import indexing as ops

INT32 = np.dtype(np.int32)


@dataclass(slots=True)
class Axis:
    """What an index says of one dimension of x: a slice, or the integer array (0-d for an integer) at `entry`."""

    start: int = 0
    count: Any = 0
    step: int = 1
    entry: Array | None = None
    static: int | None = None  # the value of entry, where it is a Python integer


@dataclass(slots=True)
class Index:
    """An index, understood: one Axis for each dimension of x, and the result's new dimensions of size 1."""

    axes: list[Axis]
    order: list[int | None]  # the items of the result before arrays: the dimension of a slice, None for a new one


def _is_array(item: Any) -> bool:
    return isinstance(item, RuntimeArray | Tracer | np.ndarray | np.generic | list)


def _items(name: str, index: Any) -> tuple[list[Any], list[tuple[int, tuple[int, ...]]]]:
    """The items of an index, with lists as arrays and masks as the integers at which they hold; and for each mask the
    place of its first item, and its shape."""
    items: list[Any] = []
    masks: list[tuple[int, tuple[int, ...]]] = []
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, list):
            item = np.asarray(item, dtype=np.int32 if not item else None)
        if type(item) is bool or (_is_array(item) and get_aval(item).dtype == dtypes.bool_):
            masks.append((len(items), get_aval(item).shape))
            items.extend(_mask(item))
        elif item is None or item is Ellipsis or isinstance(item, slice):
            items.append(item)
        elif _is_array(item) or hasattr(item, "__index__"):
            if not _is_array(item):
                item = item.__index__()
            elif not dtypes.is_integer(get_aval(item).dtype):
                raise TypeError(f"{name}: an index must be made of integers, got {short(get_aval(item))}")
            elif isinstance(item, np.generic):
                item = int(item)
            items.append(item)
        else:
            raise TypeError(f"{name}: {item!r} of type {type(item).__name__} is not an index")
    return items, masks


def _mask(mask: Any) -> list[Any]:
    if isinstance(mask, Tracer):
        raise NonConcreteBooleanIndexError(
            f"a boolean index {short(get_aval(mask))} is traced, so that the size of the result is not known; use "
            "where(mask, x, y), or x.at[...].set(where(mask, new, old))"
        )
    values = np.asarray(mask)
    if values.ndim == 0:
        raise TypeError("a single bool is not an index; use where")
    return [places.astype(np.int32) for places in np.nonzero(values)]


def understand(name: str, x: Any, index: Any) -> Index:
    shape = get_aval(x).shape
    items, masks = _items(name, index)
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > len(shape):
        raise IndexError(f"{name}: too many indices: {used} for {short(get_aval(x))}")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError(f"{name}: an index can have a single ellipsis ('...')")
    rest = [slice(None)] * (len(shape) - used)
    for place, mask in masks:
        first = sum(item is not None and item is not Ellipsis for item in items[:place])
        first += len(rest) if dots and dots[0] < place else 0
        covered = shape[first : first + len(mask)]
        if covered != mask:
            raise IndexError(
                f"{name}: a boolean index of shape {mask} is applied to dimensions of sizes {covered} of "
                f"{short(get_aval(x))}; they must be equal"
            )
    items = [*items[: dots[0]], *rest, *items[dots[0] + 1 :]] if dots else [*items, *rest]
    result = Index([], [])
    for item in items:
        axis = len(result.axes)
        if item is None:
            result.order.append(None)
        elif isinstance(item, slice):
            result.axes.append(_slice_axis(name, item, shape[axis]))
            result.order.append(axis)
        else:
            result.axes.append(_entry_axis(item, shape[axis]))
            result.order.append(axis)
    return result


def _slice_axis(name: str, item: slice, size: Any) -> Axis:
    if any(isinstance(part, Tracer) for part in (item.start, item.stop, item.step)):
        raise IndexError(
            f"{name}: a slice from or to a traced value has no fixed size; use lax.dynamic_slice, which takes the size"
        )
    if item == slice(None):
        return Axis(0, size, 1)
    start, stop, step = item.indices(size)
    return Axis(start, len(range(start, stop, step)), step)


def _entry_axis(item: Any, size: Any) -> Axis:
    if type(item) is int:
        return Axis(entry=np.int32(min(max(item + size if item < 0 else item, -1), size)), static=item)
    dtype = get_aval(item).dtype
    if dtype != INT32 and dtypes.is_unsigned(dtype):
        return Axis(entry=cast(item, INT32))
    negative = lax.lt(item, cast(0, dtype))
    wrapped = lax.select(negative, lax.add(item, cast(size, dtype)), item)
    return Axis(entry=wrapped if dtype == INT32 else cast(wrapped, INT32))


def sliced(x: Array, axes: Sequence[Axis]) -> Array:
    """x cut to the slices; dimensions that are indexed by arrays stay whole."""
    shape = get_aval(x).shape
    cuts = [Axis(0, size) if axis.entry is not None else axis for axis, size in zip(axes, shape, strict=True)]
    backwards = [i for i, axis in enumerate(cuts) if axis.step < 0]
    starts, limits, steps = [], [], []
    for axis in cuts:
        step = abs(axis.step)
        # A slice that runs backwards is cut forwards from its last element, then turned around.
        first = axis.start + (axis.count - 1) * axis.step if axis.step < 0 and axis.count else axis.start
        first = 0 if axis.count == 0 else first
        starts.append(first)
        limits.append(
            first + axis.count if step == 1 else first + max((axis.count - 1) * step + 1, 0) * (axis.count != 0)
        )
        steps.append(step)
    if (
        any(first != 0 or limit != size for first, limit, size in zip(starts, limits, shape, strict=True))
        or max(steps, default=1) > 1
    ):
        x = movement.slice(x, starts, limits, steps)
    return movement.rev(x, backwards) if backwards else x


def array_axes(axes: Sequence[Axis]) -> list[int]:
    return [i for i, axis in enumerate(axes) if axis.entry is not None]


def place_of_arrays(index: Index, chosen: Sequence[int]) -> int:
    """Where the dimensions of the arrays go among the others: to the first of them if they are neighbours, or first."""
    positions = [i for i, item in enumerate(index.order) if item in chosen]
    together = positions[-1] - positions[0] + 1 == len(positions)
    return positions[0] if together else 0


def flat_positions(x: Array, axes: Sequence[Axis], chosen: Sequence[int], outside: bool) -> tuple[Array, Any]:
    """The row-major positions that the arrays name in the dimensions `chosen`, and how many there are.

    Out of range an index is clamped or, when `outside`, the position is that after the last.
    """
    sizes = [get_aval(x).shape[i] for i in chosen]
    entries = [axes[i].entry for i in chosen]
    shape = broadcast_of("index", *entries)
    position = broadcast_to(np.int32(0), shape)
    inside = broadcast_to(np.asarray(True), shape)
    for entry, size in zip(entries, sizes, strict=True):
        entry = broadcast_to(entry, shape)
        if outside:
            inside = lax.bitwise_and(inside, lax.bitwise_and(lax.ge(entry, 0), lax.lt(entry, size)))
        else:
            entry = lax.clamp(0, entry, max(size - 1, 0))
        position = lax.add(lax.mul(position, size), entry)
    total = prod(sizes)
    return (lax.select(inside, position, total) if outside else position), total


def as_rows(x: Array, chosen: Sequence[int]) -> tuple[Array, list[int]]:
    """x with the dimensions `chosen` made one, the first; and the permutation that brought them there."""
    shape = get_aval(x).shape
    order = [*chosen, *(i for i in range(len(shape)) if i not in chosen)]
    moved = x if order == list(range(len(order))) else movement.transpose(x, order)
    return movement.reshape(moved, (prod(shape[i] for i in chosen), *(shape[i] for i in order[len(chosen) :]))), order


def all_scalars(index: Index) -> bool:
    """Whether every array is a scalar, so that the index is a slice at a place."""
    return all(get_aval(index.axes[i].entry).shape == () for i in array_axes(index.axes))


def getitem(x: Array, index: Any) -> Array:
    """x[index]. IndexError for too many indices, TypeError for what is no index; out of range is clamped."""
    check_arrays("index", x)
    understood = understand("index", x, index)
    axes = understood.axes
    chosen = array_axes(axes)
    if not chosen:
        return with_new(sliced(x, axes), understood, {})
    shape = get_aval(x).shape
    if any(shape[i] == 0 for i in chosen) and prod(broadcast_of("index", *(axes[i].entry for i in chosen))) != 0:
        raise IndexError(f"index: {short(get_aval(x))} is empty where it is indexed")
    if all_scalars(understood):
        x = take_scalars(sliced(x, axes), axes, chosen)
        return with_new(x, understood, dict.fromkeys(chosen))
    rows, _ = as_rows(sliced(x, axes), chosen)
    positions, _ = flat_positions(x, axes, chosen, outside=False)
    taken = ops.gather_rows.bind(rows, positions)
    return arrange(taken, understood, chosen, len(get_aval(positions).shape))


def take_scalars(x: Array, axes: Sequence[Axis], chosen: Sequence[int]) -> Array:
    """x with a dimension of 1 where a scalar chooses: cut statically while tracing; else at a place that is an
    argument, so that one compiled slice serves for every place."""
    shape = get_aval(x).shape
    fixed = all(axes[i].static is not None for i in chosen) and current_trace() is not None
    if fixed:
        starts, limits = [0] * len(shape), list(shape)
        for i in chosen:
            place = axes[i].static or 0
            starts[i] = min(max(place + shape[i] if place < 0 else place, 0), shape[i] - 1)
            limits[i] = starts[i] + 1
        return movement.slice(x, starts, limits)
    sizes = [1 if i in chosen else size for i, size in enumerate(shape)]
    starts = [axes[i].entry if i in chosen else np.int32(0) for i in range(len(shape))]
    # An index before the first is not one from the end here: dynamic_slice of ops clamps it.
    return ops.dynamic_slice.bind(x, *starts, slice_sizes=tuple(sizes))


def with_new(x: Array, index: Index, dropped: dict[int, None]) -> Array:
    """x without the dimensions that scalars chose from, with the new ones of size 1."""
    shape = get_aval(x).shape
    sizes = [1 if item is None else shape[item] for item in index.order if item not in dropped]
    return movement.reshape(x, sizes)


def arrange(taken: Array, index: Index, chosen: Sequence[int], rank: int) -> Array:
    """taken, [arrays' dimensions..., others...], with the former at their place and new dimensions of size 1."""
    shape = get_aval(taken).shape
    others = [i for i in range(len(index.axes)) if i not in chosen]
    place = place_of_arrays(index, chosen)
    kept = [item for item in index.order if item not in chosen]
    order: list[int] = []
    sizes: list[Any] = []
    before = sum(item not in chosen for item in index.order[:place])
    for position, item in enumerate([*kept, "end"]):
        if position == before:
            order += range(rank)
            sizes += shape[:rank]
        if item is None:
            sizes.append(1)
        elif isinstance(item, int):
            order.append(rank + others.index(item))
            sizes.append(shape[rank + others.index(item)])
    if order != list(range(len(order))):
        taken = movement.transpose(taken, order)
    return movement.reshape(taken, sizes)


def take(a: Array, indices: Array, axis: int | None = None, mode: str | None = None, fill_value: Any = None) -> Array:
    """a at integer indices of an axis (None: of the flat array). Negative ones count from the end.

    mode 'clip' brings indices into range, 'wrap' counts around; without a mode, or with 'fill', out of range gives
    fill_value, nan by default for floats, for integers the lowest (signed) or greatest value.
    """
    check_arrays("take", a, indices)
    if axis is None:
        a, axis = movement.reshape(a, (prod(get_aval(a).shape),)), 0
    axis = canonical_axis("take", axis, len(get_aval(a).shape))
    size = get_aval(a).shape[axis]
    dtype = get_aval(indices).dtype
    indices = cast(indices, INT32) if dtype != INT32 else indices
    if mode == "wrap":
        indices = ufuncs.remainder(indices, size)
    elif mode == "clip":
        indices = lax.clamp(0, indices, max(size - 1, 0))
    elif mode not in (None, "fill"):
        raise ValueError(f"take: mode is 'fill', 'clip' or 'wrap', got {mode!r}")
    taken = getitem(a, (*(slice(None),) * axis, indices))
    if mode in ("wrap", "clip"):
        return taken
    inside = lax.bitwise_and(lax.ge(indices, -size), lax.lt(indices, size))
    rank, shape = len(get_aval(indices).shape), get_aval(taken).shape
    mask = movement.broadcast_in_dim(inside, shape, range(axis, axis + rank))
    return lax.select(
        mask, taken, cast(_fill(get_aval(a).dtype) if fill_value is None else fill_value, get_aval(a).dtype)
    )


def _fill(dtype: Any) -> Any:
    if dtypes.is_floating(dtype):
        return np.nan
    if dtype == dtypes.bool_:
        return True
    return dtypes.iinfo(dtype).min if dtypes.is_signed(dtype) else dtypes.iinfo(dtype).max


def take_along_axis(arr: Array, indices: Array, axis: int | None = -1) -> Array:
    """arr at indices that differ from place to place: out[i, j, k] = arr[i, indices[i, j, k], k] for axis 1."""
    check_arrays("take_along_axis", arr, indices)
    if axis is None:
        return getitem(movement.reshape(arr, (prod(get_aval(arr).shape),)), indices)
    rank = len(get_aval(arr).shape)
    axis = canonical_axis("take_along_axis", axis, rank)
    if len(get_aval(indices).shape) != rank:
        raise ValueError(f"take_along_axis: {short(get_aval(indices))} and {short(get_aval(arr))} differ in dimensions")
    shape = get_aval(indices).shape
    entries: list[Array] = []
    for i in range(rank):
        wide = i == axis or shape[i] != 1 or get_aval(arr).shape[i] == 1
        size = shape[i] if wide else get_aval(arr).shape[i]
        places = movement.expand_dims(movement.iota(INT32, size), [j for j in range(rank) if j != i])
        entries.append(indices if i == axis else places)
    return getitem(arr, tuple(entries))
