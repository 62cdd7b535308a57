"""Analysis of an index expression: the selected part of each dimension of x, and the layout of the result.

Only `plan` implements NumPy's rules for indices. `indexing` reads by a plan, `updates` writes by one. The result has
two parts: the static `Plan`, which can be part of the key of a compiled call, and the arrays, which are its arguments.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycompiler._runtime import Array as RuntimeArray
from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dim, surely_below
from pycompiler.core.dims.ranges import slice_indices
from pycompiler.core.errors import NonConcreteBooleanIndexError
from pycompiler.core.tracing.arguments import array_of, as_index, has_array
from pycompiler.core.tracing.trace import Tracer, no_value
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import tree_leaves
from pycompiler.lax import elementwise as lax
from pycompiler.lax.indexing import alike, as_positions
from pycompiler.lax.operands import Array, cast
from pycompiler.numpy.creation import array as new_array
from pycompiler.numpy.data_sizes import gathered_places, hint
from pycompiler.numpy.promotion import broadcast_of


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of a dimension: `count` elements from `start`, with a step. It lies inside the dimension."""

    start: Any = 0
    count: Any = 0
    step: int = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """The static content of an index, without the values of its arrays."""

    shape: tuple[Any, ...]  # the shape of x
    axes: tuple[Slice | int, ...]  # for each dimension of x: its slice, or the number of the array that indexes it
    order: tuple[int | None, ...]  # result dimensions, without those of the arrays: one of x, or None for a new one
    place: int  # the place of the arrays' dimensions in `order`
    batch: tuple[Any, ...]  # the common shape of the arrays
    wrapped: tuple[bool, ...]  # for each array: whether a negative index counts from the end

    @property
    def indexed(self) -> dict[int, int]:
        """The dimensions of x that arrays index, with the number of the array."""
        return {dim: axis for dim, axis in enumerate(self.axes) if isinstance(axis, int)}

    def layout(self) -> list[Any]:
        """The result's dimensions without new ones: a dimension of x, or ('batch', i) for the i-th of the arrays."""
        labels: list[Any] = [item for item in self.order[: self.place] if item is not None]
        labels += [("batch", i) for i in range(len(self.batch))]
        return [*labels, *(item for item in self.order[self.place :] if item is not None)]

    def result_shape(self) -> tuple[Any, ...]:
        """The shape of x[index]."""
        sizes = [1 if item is None else self._count(item) for item in self.order]
        return (*sizes[: self.place], *self.batch, *sizes[self.place :])

    def _count(self, dim: int) -> Any:
        axis = self.axes[dim]
        assert isinstance(axis, Slice)
        return axis.count


@dataclass(slots=True)
class Entry:
    """An array of an index, with its value if it is a Python integer or a dimension."""

    array: Array
    static: Any = None

    @property
    def is_far(self) -> bool:
        """Whether the value is a number that int32 does not hold. A slice can start there; arrays have no such
        positions."""
        return isinstance(self.static, int) and type(self.array) is np.int64


def arrays_of(name: str, entries: Sequence[Entry]) -> list[Array]:
    """The arrays of an index. OverflowError for a position that their dtypes do not hold."""
    for entry in entries:
        if entry.is_far:
            dtypes.position_dtype(name, entry.static)
    return [entry.array for entry in entries]


def _is_array(item: Any) -> bool:
    return isinstance(item, RuntimeArray | Tracer | np.ndarray | np.generic | list | tuple)


def is_mask(item: Any) -> bool:
    """Whether an item of an index is a boolean array or a bool."""
    return type(item) is bool or (
        isinstance(item, RuntimeArray | Tracer | np.ndarray | np.generic) and get_aval(item).dtype == dtypes.bool_
    )


def lone_mask(index: Any) -> Any:
    """The mask, if an index is one mask, alone or with an ellipsis after it."""
    if isinstance(index, tuple) and len(index) in (1, 2) and (len(index) == 1 or index[1] is Ellipsis):
        index = index[0]
    return index if is_mask(index) else None


def _items(name: str, index: Any) -> tuple[list[Any], list[tuple[int, tuple[int, ...]]]]:
    """The items of an index, and the place of the first item and the shape of each mask.

    Lists become arrays. Masks become the integers at which they hold.
    """
    if isinstance(index, list):
        raise TypeError(
            f"{name}: a list may mean one array or several indices: write x[array(...)] or x[tuple(...)], got {index!r}"
        )
    items: list[Any] = []
    masks: list[tuple[int, tuple[int, ...]]] = []
    for item in index if isinstance(index, tuple) else (index,):
        if has_array(type(item)):
            item = array_of(item)
        if isinstance(item, list | tuple):
            traced = any(isinstance(part, Tracer) for part in tree_leaves(item))
            item = new_array(item) if traced else np.asarray(item, dtype=np.int32 if not item else None)
        if is_mask(item):
            shape = get_aval(item).shape
            masks.append((len(items), shape))
            places = _places(name, item)
            # A mask without dimensions uses no dimension of x, and adds a dimension of size 1 or 0.
            items.extend(places if shape else [Entry(np.zeros(len(places[0]), np.int32))])
        elif item is None or item is Ellipsis or isinstance(item, slice | Dim):
            items.append(item)
        elif _is_array(item) or hasattr(item, "__index__"):
            if not _is_array(item):
                item = item.__index__()
            elif not dtypes.is_integer(get_aval(item).dtype):
                raise TypeError(f"{name}: an index must be made of integers or bools, got {short(get_aval(item))}")
            elif isinstance(item, np.generic):
                item = int(item)
            elif isinstance(item, np.ndarray) and item.dtype == np.int64 and not config.enable_x64:
                item = np.clip(item, -(2**31), 2**31 - 1).astype(np.int32)  # no place needs more bits
            items.append(item)
        else:
            raise TypeError(f"{name}: {item!r} of type {type(item).__name__} is not an index")
    return items, masks


def _places(name: str, mask: Any) -> list[Any]:
    if isinstance(mask, Tracer):
        traced = gathered_places("index", mask) if get_aval(mask).shape else None
        if traced is not None:
            return traced
        no_value(
            NonConcreteBooleanIndexError,
            mask,
            f"{name}: the number of true elements, for a boolean index,",
            "use where(mask, x, y), nonzero(mask, size=...) as the index, or x.at[mask].set(value) with one value, "
            + hint(),
        )
    values = np.asarray(mask)
    if values.ndim == 0:
        return [np.zeros(int(values), np.int32)]
    dtype = dtypes.position_dtype(name, max(values.shape))
    return [places.astype(dtype) for places in np.nonzero(values)]


def _takes(item: Any) -> bool:
    """Whether an item of an index takes a dimension of x."""
    return item is not None and item is not Ellipsis and not isinstance(item, Entry)


def plan(name: str, x: Any, index: Any, wrap: bool = True, checks: bool = True) -> tuple[Plan, list[Entry]]:
    """The plan of an index of x, and its arrays. IndexError for too many indices, TypeError for an invalid index."""
    aval = get_aval(x)
    shape = aval.shape
    items, masks = _items(name, index)
    used = sum(map(_takes, items))
    if used > len(shape):
        raise IndexError(f"{name}: too many indices: {used} for {short(aval)}")
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError(f"{name}: an index can have a single ellipsis ('...')")
    rest = [slice(None)] * (len(shape) - used)
    for place, mask in masks:
        first = sum(map(_takes, items[:place]))
        first += len(rest) if dots and dots[0] < place else 0
        covered = shape[first : first + len(mask)]
        # As in NumPy, a mask without elements along a dimension holds nowhere.
        if len(covered) != len(mask) or any(
            m != n and not (isinstance(m, int) and m == 0) for m, n in zip(mask, covered, strict=True)
        ):
            raise IndexError(
                f"{name}: a boolean index of shape {mask} is applied to dimensions of sizes {covered} of "
                f"{short(aval)}; they must be equal"
            )
    together = _neighbours(items)
    items = [*items[: dots[0]], *rest, *items[dots[0] + 1 :]] if dots else [*items, *rest]
    axes: list[Slice | int] = []
    order: list[Any] = []
    entries: list[Entry] = []
    for item in items:
        if item is None:
            order.append(None)
        elif isinstance(item, slice):
            order.append(len(axes))
            axes.append(_slice(name, item, shape[len(axes)]))
        else:
            order.append(...)  # an array
            if isinstance(item, Entry):
                entries.append(item)
                continue
            entries.append(_entry(name, item, len(axes), aval, wrap, checks))
            axes.append(len(entries) - 1)
    return _laid_out(name, shape, axes, order, entries, together, wrap), entries


def _neighbours(items: Sequence[Any]) -> bool:
    """Whether the arrays and integers of an index are adjacent. As in NumPy, an ellipsis separates them even if it
    covers no dimension."""
    arrays = [i for i, item in enumerate(items) if not (item is None or item is Ellipsis or isinstance(item, slice))]
    return bool(arrays) and arrays[-1] - arrays[0] + 1 == len(arrays)


def _laid_out(
    name: str, shape: Any, axes: list[Any], order: list[Any], entries: list[Entry], together: bool, wrap: bool
) -> Plan:
    # The dimensions of adjacent arrays take the place of the first array. Those of other arrays come first.
    batch = broadcast_of(name, *(entry.array for entry in entries)) if entries else ()
    return Plan(
        shape=tuple(shape),
        axes=tuple(axes),
        order=tuple(item for item in order if item is not ...),
        place=order.index(...) if together else 0,
        batch=tuple(batch),
        wrapped=tuple(wrap and entry.static is None for entry in entries),
    )


def _slice(name: str, item: slice, size: Any) -> Slice:
    if item == slice(None):
        return Slice(0, size, 1)
    parts = [_bound(name, part) for part in (item.start, item.stop, item.step)]
    return Slice(*slice_indices(slice(*parts), size))


def _bound(name: str, part: Any) -> Any:
    """A bound or the step of a slice as an int, a dimension or None."""
    if part is None or type(part) is int or isinstance(part, Dim):
        return part
    if isinstance(part, Tracer) and part.concrete_value() is None:
        instead = "lax.dynamic_slice, which takes the size"
        if name.startswith("at[]") and not name.endswith(".get"):
            instead = "lax.dynamic_update_slice, or where(arange(n) < stop, new, x)"
        raise IndexError(f"{name}: a slice from or to a traced value has no fixed size; use {instead}")
    found = as_index(name, "slice", array_of(part))
    if type(found) is not int:
        raise TypeError(f"{name}: a slice is made of integers, got {part!r} of type {type(part).__name__}")
    return found


def _entry(name: str, item: Any, dim: int, x: Any, wrap: bool, checks: bool) -> Entry:
    size = x.shape[dim]
    if isinstance(item, Dim) or (type(item) is int and isinstance(size, Dim)):
        if wrap and surely_below(item, 0):
            item = item + size
        elif wrap and not surely_below(-1, item):
            return Entry(item)
        return Entry(item if isinstance(item, Dim) else np.int32(item), static=item)
    if type(item) is int:
        limits = np.iinfo(np.int64 if config.enable_x64 else np.int32)
        if not limits.min <= item <= limits.max:
            dtypes.position_dtype(f"{name} {item}", size)
            raise OverflowError(f"{name}: the index {item} does not fit {limits.dtype}")
        if size == 0:
            raise IndexError(f"{name}: index {item} is out of bounds for axis {dim} of {short(x)}, which is empty")
        place = item + size if item < 0 and wrap else item
        if not 0 <= place < size and checks and config.read("check_static_indices"):
            raise IndexError(
                f"{name}: index {item} is out of bounds for axis {dim} of {short(x)}, and the setting "
                "check_static_indices is on"
            )
        if not -(2**31) <= place <= dtypes.MOST_POSITION:
            place = min(max(place, -1), size)  # inside, or next to it
        return Entry((np.int64 if place > dtypes.MOST_POSITION else np.int32)(place), static=place)
    return Entry(item)


def positions(plan: Plan, arrays: Sequence[Array]) -> list[Array]:
    """The arrays as int32, or all as int64, with negative indices counted from the end."""
    result: list[Array] = []
    sizes = {axis: plan.shape[dim] for dim, axis in plan.indexed.items()}
    for number, array in enumerate(arrays):
        dtype = get_aval(array).dtype
        array = as_positions(array, sizes.get(number))
        if plan.wrapped[number] and number in sizes and not dtypes.is_unsigned(dtype):
            dtype = get_aval(array).dtype
            negative = lax.lt(array, cast(0, dtype))
            array = lax.select(negative, lax.add(array, cast(sizes[number], dtype)), array)
        result.append(array)
    return alike(result)
