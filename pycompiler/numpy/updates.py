"""x.at[index]: new arrays with some elements of x changed. Out of range is dropped.

After `indexing`, which says what an index means.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler.core.aval import as_array, get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.operands import Array, broadcast_to, broadcasts, cast, check_arrays
from pycompiler.numpy import ufuncs
from pycompiler.numpy.indexing import (
    INT32,
    Axis,
    Index,
    all_scalars,
    arrange,
    array_axes,
    as_rows,
    flat_positions,
    getitem,
    place_of_arrays,
    sliced,
    take_scalars,
    understand,
    with_new,
)
from pycompiler.ops import indexing as ops


class IndexUpdate:
    """`x.at`: `x.at[index].set(values)` and its like give a new array with some elements changed."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> "Place":
        return Place(self.array, index)

    def __repr__(self) -> str:
        return f"IndexUpdate({self.array!r})"


class Place:
    """`x.at[index]`: what can be done there. Every method gives a new array; out of range is dropped."""

    __slots__ = ("array", "index")

    def __init__(self, array: Array, index: Any) -> None:
        self.array = array
        self.index = index

    def get(self, **hints: Any) -> Array:
        """The elements: x[index]."""
        return getitem(self.array, self.index)

    def set(self, values: Any, **hints: Any) -> Array:
        """x with the elements replaced; where an index occurs twice the last value stays."""
        return self._changed("set", values, lambda old, new: new)

    def add(self, values: Any, **hints: Any) -> Array:
        """x with values added; where an index occurs twice both are."""
        return self._changed("add", values, ufuncs.add)

    def subtract(self, values: Any, **hints: Any) -> Array:
        """x with values subtracted; where an index occurs twice both are."""
        return self._changed("add", ufuncs.negative(values), ufuncs.add)

    def multiply(self, values: Any, **hints: Any) -> Array:
        """x with elements multiplied."""
        return self._changed("multiply", values, ufuncs.multiply)

    mul = multiply

    def divide(self, values: Any, **hints: Any) -> Array:
        """x with elements divided."""
        return self._changed("divide", values, ufuncs.divide)

    def power(self, values: Any, **hints: Any) -> Array:
        """x with elements raised to a power."""
        return self._changed("power", values, ufuncs.power)

    def min(self, values: Any, **hints: Any) -> Array:
        """x with the lesser of the elements and values."""
        return self._changed("min", values, ufuncs.minimum)

    def max(self, values: Any, **hints: Any) -> Array:
        """x with the greater of the elements and values."""
        return self._changed("max", values, ufuncs.maximum)

    def apply(self, ufunc: Callable[[Array], Array], **hints: Any) -> Array:
        """x with a function applied to the elements."""
        return self._changed("apply", self.get(), lambda old, new: ufunc(old))

    def _changed(self, name: str, values: Any, combine: Callable[[Array, Array], Array]) -> Array:
        x = as_array(self.array)
        name = f"at[].{name}"
        check_arrays(name, values)
        index = understand(name, x, self.index)
        if all_scalars(index):
            return _set_slice(name, x, index, values, combine)
        return _set_rows(name, x, index, values, combine)


def _fitted(name: str, values: Any, shape: Any, dtype: Any) -> Array:
    """values in the shape and dtype of what they replace."""
    given = get_aval(values).shape
    if not broadcasts(given, shape):
        raise ValueError(
            f"{name}: values {short(get_aval(values))} do not broadcast to the indexed shape {tuple(shape)}"
        )
    return broadcast_to(cast(values, dtype), shape)


def _set_slice(name: str, x: Array, index: Index, values: Any, combine: Callable[[Array, Array], Array]) -> Array:
    """x changed in a slice at a place: its elements are read, combined, and written back."""
    axes, shape, dtype = index.axes, get_aval(x).shape, get_aval(x).dtype
    chosen = array_axes(axes)
    if any(shape[i] == 0 for i in chosen):
        return x
    old = take_scalars(sliced(x, axes), axes, chosen)
    seen = with_new(old, index, dict.fromkeys(chosen))
    new = cast(combine(seen, _fitted(name, values, get_aval(seen).shape, dtype)), dtype)
    new = movement.reshape(broadcast_to(new, get_aval(seen).shape), get_aval(old).shape)
    inside = np.asarray(True)
    for i in chosen:
        entry = axes[i].entry
        inside = lax.bitwise_and(inside, lax.bitwise_and(lax.ge(entry, 0), lax.lt(entry, shape[i])))
    if chosen:
        new = lax.select(inside, new, old)
    backwards = [i for i, axis in enumerate(axes) if axis.entry is None and axis.step < 0]
    new = movement.rev(new, backwards) if backwards else new
    if all(abs(axis.step) == 1 for axis in axes):
        starts = [
            axis.entry
            if axis.entry is not None
            else np.int32(axis.start if axis.step > 0 or not axis.count else axis.start - axis.count + 1)
            for axis in axes
        ]
        return ops.dynamic_update_slice.bind(x, new, *starts) if axes else new
    return _set_strided(x, new, axes, chosen)


def _set_strided(x: Array, new: Array, axes: Sequence[Axis], chosen: Sequence[int]) -> Array:
    """x with every n-th element replaced: the new ones spread apart, chosen where a spread mask says so."""
    shape, dtype = get_aval(x).shape, get_aval(x).dtype
    if prod(get_aval(new).shape) == 0:
        return x
    # The dimensions that scalars choose from are cut out, changed, and written back at their place.
    inner = take_scalars(x, axes, chosen)
    sizes = get_aval(inner).shape
    config = []
    for i, axis in enumerate(axes):
        step = abs(axis.step)
        first = 0 if axis.entry is not None else axis.start + min(axis.step, 0) * (axis.count - 1)
        count = 1 if axis.entry is not None else axis.count
        config.append((first, sizes[i] - first - (count - 1) * step - 1, step - 1))
    mask = movement.pad(broadcast_to(np.asarray(True), get_aval(new).shape), np.asarray(False), config)
    changed = lax.select(mask, movement.pad(new, cast(0, dtype), config), inner)
    if not chosen:
        return changed
    starts = [axis.entry if axis.entry is not None else np.int32(0) for axis in axes]
    return ops.dynamic_update_slice.bind(x, changed, *starts) if shape else changed


def _set_rows(name: str, x: Array, index: Index, values: Any, combine: Callable[[Array, Array], Array]) -> Array:
    """x changed at integer arrays: rows of the flattened array are added to, or replaced by their last writer."""
    axes, aval = index.axes, get_aval(x)
    chosen = array_axes(axes)
    if any(axis.entry is None and (axis.step != 1 or axis.count != aval.shape[i]) for i, axis in enumerate(axes)):
        # Cut the slices out, change them there, and put them back.
        cut = sliced(x, axes)
        whole = [axis if axis.entry is not None else Axis(0, axis.count) for axis in axes]
        changed = _set_rows(name, cut, Index(whole, index.order), values, combine)
        cuts = [Axis(0, size) if axis.entry is not None else axis for axis, size in zip(axes, aval.shape, strict=True)]
        back = Index(cuts, list(range(len(axes))))
        return _set_slice(name, x, back, changed, lambda old, new: new)
    rows, order = as_rows(x, chosen)
    positions, total = flat_positions(x, axes, chosen, outside=True)
    rank = len(get_aval(positions).shape)
    reading, _ = flat_positions(x, axes, chosen, outside=False)
    if total == 0:
        return x
    old = arrange(ops.gather_rows.bind(rows, reading), index, chosen, rank)
    fitted = _fitted(name, values, get_aval(old).shape, aval.dtype)
    if name == "at[].add":
        changed = ops.scatter_add_rows.bind(rows, positions, _disarrange(fitted, index, chosen, rank))
    elif name in ("at[].set", "at[].apply"):
        new = cast(combine(old, fitted), aval.dtype)
        changed = _replaced(rows, positions, _disarrange(new, index, chosen, rank))
    else:
        raise NotImplementedError(
            f"{name} at integer arrays is not there yet, since an index may occur twice; if none does, write "
            "x.at[index].set(...) with the elements x[index] combined"
        )
    shape = aval.shape
    moved = movement.reshape(changed, tuple(shape[i] for i in order))
    return movement.transpose(moved, [order.index(i) for i in range(len(order))])


def _disarrange(values: Array, index: Index, chosen: Sequence[int], rank: int) -> Array:
    """The inverse of _arrange: the arrays' dimensions first, no new ones."""
    before = sum(item not in chosen for item in index.order[: place_of_arrays(index, chosen)])
    kept = [item for item in index.order if item not in chosen]
    shape = list(get_aval(values).shape)
    labels: list[Any] = [*kept[:before], *(("array", i) for i in range(rank)), *kept[before:]]
    sizes = [size for size, label in zip(shape, labels, strict=True) if label is not None]
    labels = [label for label in labels if label is not None]
    values = movement.reshape(values, sizes)
    wanted = [*(("array", i) for i in range(rank)), *sorted(label for label in labels if isinstance(label, int))]
    return movement.transpose(values, [labels.index(label) for label in wanted])


def _replaced(rows: Array, positions: Array, updates: Array) -> Array:
    """rows with those at the positions replaced, by the last update that names each. There is no primitive for it yet:
    every row looks for its last writer, which costs a comparison for each pair."""
    (total, *rest), count = get_aval(rows).shape, prod(get_aval(positions).shape)
    if count == 0:
        return rows
    positions = movement.reshape(positions, (count,))
    updates = movement.reshape(updates, (count, *rest))
    pairs = (total, count)
    named = lax.eq(movement.broadcasted_iota(INT32, pairs, 0), movement.broadcast_in_dim(positions, pairs, (1,)))
    numbers = lax.select(named, movement.broadcasted_iota(INT32, pairs, 1), np.int32(-1))
    last = reduction.reduce_max(numbers, (1,))
    chosen = ops.gather_rows.bind(updates, lax.max(last, 0))
    written = movement.broadcast_in_dim(lax.ge(last, 0), (total, *rest), (0,))
    return lax.select(written, chosen, rows)
