"""x[index]: slices, ellipsis, None, integers, integer and boolean arrays in any mixture.

Reads by the plan of an index from `index_plan`: slices first, then one gather for the arrays. Indices out of
range are clamped, unless a mode specifies another rule.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import current_trace
from pycompiler.core.dims.dims import Dim, dim_product, surely_below
from pycompiler.core.dims.ranges import range_length, smaller
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import movement
from pycompiler.lax.dynamic_slices import cut, has_slices
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.indexing import fill_of
from pycompiler.lax.operands import Array, broadcast_to, cast, check_arrays
from pycompiler.numpy.data_sizes import not_empty, places_of
from pycompiler.numpy.index_plan import Entry, Plan, Slice, arrays_of, lone_mask, plan, positions
from pycompiler.primitives import indexing as slices
from pycompiler.primitives.gather import gather

INT32 = np.dtype(np.int32)


def getitem(x: Array, index: Any) -> Array:
    """x[index]. IndexError for too many indices, TypeError for an invalid index; indices out of range are clamped."""
    check_arrays("index", x)
    if has_slices(index):
        window = cut("index", x, index)
        return getitem(window.part, window.index)
    mask = lone_mask(index)
    if isinstance(mask, Tracer) and get_aval(mask).shape:
        found = _where_it_holds(x, mask)
        if found is not None:
            return found
    planned, entries = plan("index", x, index)
    return read("index", x, planned, entries)


def _where_it_holds(x: Array, mask: Any) -> Array | None:
    """x[mask], if a size may depend on the mask. All rows are gathered first; the count then cuts the result."""
    shape, ndim = get_aval(x).shape, len(get_aval(mask).shape)
    found = places_of("index", mask) if get_aval(mask).shape == shape[:ndim] else None
    if found is None:
        return None
    rows = movement.reshape(x, (dim_product(shape[:ndim]), *shape[ndim:]))
    if found.size == 0:
        return rows
    rows = not_empty(rows)
    planned, entries = plan("index", rows, found.padded, wrap=False)
    return found.first(read("index", rows, planned, entries))


def read(
    name: str,
    x: Array,
    planned: Plan,
    entries: Sequence[Entry],
    mode: str = "clip",
    fill: Array = None,
    **hints: bool,
) -> Array:
    """The elements of x at a plan. `fill` is the value outside of x with mode 'fill'."""
    if not planned.batch and not entries:
        return _whole(x, planned)
    if not planned.batch and mode != "fill":
        return _at_scalars(x, planned, entries)
    # With another mode, a fill value has no effect, as in JAX.
    fill = fill_of(x, fill) if mode == "fill" else None
    if 0 in [planned.shape[dim] for dim in planned.indexed]:
        if mode != "fill" and dim_product(planned.batch) != 0:
            raise IndexError(f"{name}: {short(get_aval(x))} is empty along an indexed axis")
        return movement.full(planned.result_shape(), cast(0 if fill is None else fill, get_aval(x).dtype))
    arrays = arrays_of(name, entries)
    extra = () if fill is None else (fill,)
    return eager_jit(_gathered, x, *arrays, *extra, planned=planned, mode=mode, hints=tuple(hints.items()))


def _whole(x: Array, planned: Plan) -> Array:
    """The result of an index of only slices and new dimensions."""
    new = None in planned.order
    steps = sum(isinstance(axis, Slice) and axis.step < 0 for axis in planned.axes)
    return eager_jit(_viewed, x, planned=planned) if new or steps else _viewed(x, planned=planned)


def _viewed(x: Array, *, planned: Plan) -> Array:
    return movement.reshape(sliced(x, planned), planned.result_shape())


def _gathered(x: Array, *arrays: Array, planned: Plan, mode: str, hints: tuple[tuple[str, bool], ...]) -> Array:
    fill = arrays[len(planned.wrapped) :]
    layout = planned.layout()
    offset_dims = tuple(i for i, label in enumerate(layout) if isinstance(label, int))
    dims = planned.indexed
    x = sliced(x, planned)
    shape = get_aval(x).shape
    if not dims:  # masks without dimensions
        sizes: list[Any] = [shape[label] if isinstance(label, int) else planned.batch[label[1]] for label in layout]
        out = movement.broadcast_in_dim(x, sizes, offset_dims)
    else:
        indices = positions(planned, arrays[: len(planned.wrapped)])
        out = gather.bind(
            x,
            *(broadcast_to(indices[axis], planned.batch) for axis in dims.values()),
            *fill,
            offset_dims=offset_dims,
            collapsed_slice_dims=tuple(dims),
            start_index_map=tuple(dims),
            operand_batching_dims=(),
            start_indices_batching_dims=(),
            slice_sizes=tuple(1 if dim in dims else size for dim, size in enumerate(shape)),
            mode=mode,
            **{"indices_are_sorted": False, "unique_indices": False, **dict(hints)},
        )
    return movement.reshape(out, planned.result_shape())


def sliced(x: Array, planned: Plan) -> Array:
    """x cut to the slices. Dimensions that are indexed by arrays stay whole."""
    shape = get_aval(x).shape
    cuts = [axis if isinstance(axis, Slice) else Slice(0, size) for axis, size in zip(planned.axes, shape, strict=True)]
    if all(axis == Slice(0, size) for axis, size in zip(cuts, shape, strict=True)):
        return x
    # A slice with a negative step is cut forwards from its last element, then reversed. If each call decides whether it
    # is empty, it has no last element, and is cut from the reversed array.
    turned = [dim for dim, axis in enumerate(cuts) if axis.step < 0 and isinstance(axis.count, Dim)]
    x = movement.rev(x, turned) if turned else x
    parts: dict[int, tuple[Dim, int]] = {}
    starts, limits, steps = [], [], []
    for dim, (axis, size) in enumerate(zip(cuts, shape, strict=True)):
        step = abs(axis.step)
        first = axis.start + (axis.count - 1) * axis.step if axis.step < 0 else axis.start
        first = size - 1 - axis.start if dim in turned else first
        starts.append(first if axis.count != 0 else 0)
        limits.append(starts[-1] + ((axis.count - 1) * step + 1 if axis.count != 0 else 0))
        steps.append(step)
        if step > 1 and isinstance(axis.count, Dim):
            # The slice may be empty. Then its last element is before its first.
            if range_length(first, size, step) == axis.count:
                limits[-1] = size
            elif not surely_below(0, axis.count):
                limits[-1] = first + smaller(axis.count * step, size - first)
                steps[-1] = 1
                parts[dim] = axis.count, step
    if starts != [0] * len(shape) or tuple(limits) != shape or max(steps) > 1:
        x = movement.slice(x, starts, limits, steps)
    for dim, (count, step) in parts.items():
        x = _each(x, dim, count, step)
    backwards = [dim for dim, axis in enumerate(cuts) if axis.step < 0 and dim not in turned]
    return movement.rev(x, backwards) if backwards else x


def _each(x: Array, dim: int, count: Dim, step: int) -> Array:
    """The first element of each group of `step` elements along a dimension with `count` groups. Padding completes the
    last group."""
    shape = get_aval(x).shape
    missing = [(0, count * step - size if i == dim else 0, 0) for i, size in enumerate(shape)]
    x = movement.pad(x, cast(0, get_aval(x).dtype), missing)
    return movement.slice_in_dim(x, 0, count * step, step, dim)


def _at_scalars(x: Array, planned: Plan, entries: Sequence[Entry]) -> Array:
    """x at scalars. While tracing, it is a static slice. Else the place is an argument, so that one compiled slice
    serves all places. A place outside of x is an argument, too: `checkify` finds it in the graph."""
    shape, dims = planned.shape, planned.indexed
    for dim in dims:
        if shape[dim] == 0:
            raise IndexError(f"index: {short(get_aval(x))} is empty along an indexed axis")
    chosen = {dim: entries[axis] for dim, axis in dims.items()}
    cuts = {dim: _cut(entry.static, shape[dim]) for dim, entry in chosen.items()}
    is_far = any(entry.is_far for entry in entries)
    if (current_trace() is not None or is_far) and None not in cuts.values():
        axes: list[Any] = [cuts.get(dim, axis) for dim, axis in enumerate(planned.axes)]
        order = tuple(range(len(shape)))
        x = sliced(x, Plan(shape, tuple(axes), order, 0, (), ()))
        return movement.reshape(x, planned.result_shape())
    arrays = arrays_of("index", entries)
    return eager_jit(_at_places, x, *arrays, planned=planned)


def _cut(place: Any, size: Any) -> Slice | None:
    """The slice at a place that is certainly inside of the dimension; otherwise None."""
    if place is None:
        return None
    return Slice(place, 1) if surely_below(-1, place) and surely_below(place, size) else None


def _at_places(x: Array, *arrays: Array, planned: Plan) -> Array:
    places = positions(planned, arrays)
    x = sliced(x, planned)
    chosen = {dim: places[axis] for dim, axis in planned.indexed.items()}
    wide = any(get_aval(place).dtype != INT32 for place in places)
    dtype = np.dtype(np.int64) if wide else INT32
    starts = [cast(chosen[dim], dtype) if dim in chosen else dtype.type(0) for dim in range(len(planned.shape))]
    sizes = tuple(1 if dim in chosen else size for dim, size in enumerate(get_aval(x).shape))
    # A negative index does not count from the end here: the primitive dynamic_slice clamps it.
    return movement.reshape(slices.dynamic_slice.bind(x, *starts, slice_sizes=sizes), planned.result_shape())
