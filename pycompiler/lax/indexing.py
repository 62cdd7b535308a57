"""gather and scatter with XLA's dimension numbers: one array of index vectors with their components in its last
dimension.

Imports `movement`. The primitives take the components as separate arrays; this module separates them.
"""

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.dims.dims import Dim, Dimension, dim_product
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise, movement
from pycompiler.lax.operands import Array, broadcast_to, canonical_axis, cast, check_arrays
from pycompiler.primitives import gather as ops
from pycompiler.primitives.arithmetic import bitcast, convert

__all__ = [
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "ScatterDimensionNumbers",
    "gather",
    "index_take",
    "scatter",
    "scatter_add",
    "scatter_apply",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_sub",
]

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)


class GatherScatterMode(enum.Enum):
    """The handling of a window that is not inside the operand.

    CLIP moves the window inside. FILL_OR_DROP reads a fill value, and drops a write. PROMISE_IN_BOUNDS declares that no
    window is outside; if one is, a read moves it inside, and a write is dropped.
    """

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3

    @staticmethod
    def from_any(s: "str | GatherScatterMode | None") -> "GatherScatterMode":
        """The mode of a name: 'clip', 'fill' or 'drop' (also for None), 'promise_in_bounds'."""
        if isinstance(s, GatherScatterMode):
            return s
        known = {
            "clip": GatherScatterMode.CLIP,
            None: GatherScatterMode.FILL_OR_DROP,
            "fill": GatherScatterMode.FILL_OR_DROP,
            "drop": GatherScatterMode.FILL_OR_DROP,
            "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
        }
        if s not in known:
            raise ValueError(f"mode is 'clip', 'fill', 'drop' or 'promise_in_bounds', got {s!r}")
        return known[s]

    @property
    def attribute(self) -> str:
        """The name of the mode in the primitives."""
        names = {self.CLIP: "clip", self.FILL_OR_DROP: "fill", self.PROMISE_IN_BOUNDS: "promise_in_bounds"}
        return names[self]


Mode = str | GatherScatterMode | None


class GatherDimensionNumbers(NamedTuple):
    """The roles of the dimensions in a gather; see XLA's documentation of Gather."""

    offset_dims: tuple[int, ...]
    collapsed_slice_dims: tuple[int, ...]
    start_index_map: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()
    start_indices_batching_dims: tuple[int, ...] = ()


class ScatterDimensionNumbers(NamedTuple):
    """The roles of the dimensions in a scatter; see XLA's documentation of Scatter."""

    update_window_dims: Sequence[int]
    inserted_window_dims: Sequence[int]
    scatter_dims_to_operand_dims: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    scatter_indices_batching_dims: Sequence[int] = ()


def fill_of(x: Array, fill: Any) -> Array:
    """A fill value as a scalar of the dtype of x.

    The default is nan for floats, the lowest value for signed integers, the greatest value for unsigned ones, and the
    key of the greatest words for keys.
    """
    dtype = get_aval(x).dtype
    if fill is None and dtypes.is_key(dtype):
        return bitcast.bind(convert.bind(-1, new_dtype=dtypes.uint64), new_dtype=dtype)
    if fill is None:
        if dtypes.is_integer(dtype):
            fill = dtypes.iinfo(dtype).min if dtypes.is_signed(dtype) else dtypes.iinfo(dtype).max
        else:
            fill = True if dtype == dtypes.bool_ else np.nan
    if get_aval(fill).shape != ():
        raise ValueError(f"fill_value must be a scalar, got {short(get_aval(fill))}")
    return cast(fill, dtype)


def as_positions(array: Array, size: Any = None) -> Array:
    """Integers as int32, or as int64 if they are int64 or if int32 does not hold `size`. Larger numbers become the
    greatest position."""
    dtype = get_aval(array).dtype
    if dtypes.position_dtype("index", size) == INT64:
        if dtype == dtypes.uint64:
            array = elementwise.min(array, cast(2**63 - 1, dtype))
        return cast(array, INT64)
    if dtype in (INT32, INT64):
        return cast(array, INT32) if isinstance(array, Dim) else array
    if dtypes.is_unsigned(dtype) and dtypes.iinfo(dtype).bits > 16:
        array = elementwise.min(array, cast(2**31 - 1, dtype))
    return cast(array, INT32)


def alike(indices: Sequence[Array]) -> list[Array]:
    """Positions of one dtype for a gather or scatter: int32, or int64 if one of them is."""
    dtypes_ = {get_aval(index).dtype for index in indices}
    return list(indices) if len(dtypes_) < 2 else [cast(index, INT64) for index in indices]


def _most(x: Array) -> int:
    """The greatest of the known sizes."""
    return max([0, *[size for size in get_aval(x).shape if isinstance(size, int)]])


def _components(name: str, indices: Array, expected: int, most: int) -> tuple[list[Array], tuple[Any, ...]]:
    """The components of index vectors into dimensions of `most` elements, and the shape that they share."""
    aval = get_aval(indices)
    if not dtypes.is_integer(aval.dtype):
        raise ArgumentError(f"{name}: indices must be integers, got {short(aval)}")
    if not aval.shape or aval.shape[-1] != expected:
        raise ArgumentError(
            f"{name}: the last dimension of the indices {short(aval)} must hold vectors of {expected} components, "
            "one for each dimension that is indexed"
        )
    indices, last = as_positions(indices, most), len(aval.shape) - 1
    return [movement.index_in_dim(indices, k, last, keepdims=False) for k in range(expected)], aval.shape[:-1]


def _ints(dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(dim) for dim in dims)


def gather(
    operand: Array,
    start_indices: Array,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Sequence[Any],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Mode = None,
    fill_value: Any = None,
) -> Array:
    """Windows of operand at index vectors. Outside of the operand, mode 'fill' gives fill_value; other modes clamp."""
    check_arrays("gather", operand, start_indices)
    how = "promise_in_bounds" if mode is None else GatherScatterMode.from_any(mode).attribute
    dims = GatherDimensionNumbers(*map(_ints, dimension_numbers))
    indices, batch = _components("gather", start_indices, len(dims.start_index_map), _most(operand))
    sizes = tuple(slice_sizes)
    if not indices:  # without an index, index a dimension of size 1
        operand = movement.expand_dims(operand, (rank := len(get_aval(operand).shape),))
        dims = dims._replace(collapsed_slice_dims=(*dims.collapsed_slice_dims, rank), start_index_map=(rank,))
        indices, sizes = [movement.full(batch, np.int32(0))], (*sizes, 1)
    fill = (fill_of(operand, fill_value),) if how == "fill" else ()
    return ops.gather.bind(
        operand,
        *indices,
        *fill,
        **dims._asdict(),
        slice_sizes=sizes,
        mode=how,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
    )


def index_take(src: Array, idxs: Sequence[Array], axes: Sequence[int]) -> Array:
    """src at index arrays, whose dimensions come first in the result; negative indices count from the end."""
    check_arrays("index_take", src, *idxs)
    shape = get_aval(src).shape
    axes = tuple(canonical_axis("index_take", axis, len(shape)) for axis in axes)
    indices = [as_positions(index, shape[axis]) for index, axis in zip(idxs, axes, strict=True)]
    around: list[Array] = []
    for index, axis in zip(indices, axes, strict=True):
        size = cast(shape[axis], get_aval(index).dtype)
        rest = elementwise.rem(index, size)
        around.append(elementwise.select(elementwise.lt(rest, 0), elementwise.add(rest, size), rest))
    return ops.gather.bind(
        src,
        *alike(around),
        offset_dims=tuple(range(1, len(shape) - len(axes) + 1)),
        collapsed_slice_dims=axes,
        start_index_map=axes,
        operand_batching_dims=(),
        start_indices_batching_dims=(),
        slice_sizes=tuple(1 if axis in axes else size for axis, size in enumerate(shape)),
        mode="clip",
        indices_are_sorted=False,
        unique_indices=False,
    )


def _scatter(
    name: str,
    kind: str,
    operand: Array,
    scatter_indices: Array,
    updates: Array,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Mode,
) -> Array:
    check_arrays(name, operand, scatter_indices, updates)
    aval = get_aval(operand)
    if get_aval(updates).weak_type:
        updates = cast(updates, aval.dtype)
    elif get_aval(updates).dtype != aval.dtype:
        raise TypeError(f"{name}: dtypes differ: {short(aval)} and {short(get_aval(updates))}; convert one")
    if kind in ("add", "mul") and aval.dtype == dtypes.bool_:
        raise TypeError(f"{name}: takes numbers, got {short(aval)}")
    dims = ScatterDimensionNumbers(*map(_ints, dimension_numbers))
    indices, batch = _components(name, scatter_indices, len(dims.scatter_dims_to_operand_dims), _most(operand))
    if not indices:  # without an index, index a dimension of size 1
        operand = movement.expand_dims(operand, (rank := len(aval.shape),))
        dims = dims._replace(
            inserted_window_dims=(*dims.inserted_window_dims, rank), scatter_dims_to_operand_dims=(rank,)
        )
        indices = [movement.full(batch, np.int32(0))]
    out = ops.scatter.bind(
        operand,
        updates,
        *indices,
        **dims._asdict(),
        kind=kind,
        mode=GatherScatterMode.from_any(mode).attribute,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
    )
    return movement.reshape(out, aval.shape)


def scatter(
    operand: Array,
    scatter_indices: Array,
    updates: Array,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """operand with windows replaced at index vectors, in their order: the last write stays.

    Writes outside of the operand are dropped unless the mode is 'clip'.
    """
    hints = (indices_are_sorted, unique_indices, mode)
    return _scatter("scatter", "set", operand, scatter_indices, updates, dimension_numbers, *hints)


def scatter_add(
    operand: Array,
    scatter_indices: Array,
    updates: Array,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """operand with windows at index vectors added."""
    hints = (indices_are_sorted, unique_indices, mode)
    return _scatter("scatter_add", "add", operand, scatter_indices, updates, dimension_numbers, *hints)


def scatter_sub(
    operand: Array,
    scatter_indices: Array,
    updates: Array,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """operand with windows at index vectors subtracted."""
    check_arrays("scatter_sub", updates)
    hints = (indices_are_sorted, unique_indices, mode)
    return _scatter("scatter_sub", "add", operand, scatter_indices, elementwise.neg(updates), dimension_numbers, *hints)


def scatter_mul(
    operand: Array,
    scatter_indices: Array,
    updates: Array,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """operand multiplied by windows at index vectors. The derivative by the updates requires unique_indices."""
    hints = (indices_are_sorted, unique_indices, mode)
    return _scatter("scatter_mul", "mul", operand, scatter_indices, updates, dimension_numbers, *hints)


def scatter_min(
    operand: Array,
    scatter_indices: Array,
    updates: Array,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """operand with the minimum of its elements and windows at index vectors."""
    hints = (indices_are_sorted, unique_indices, mode)
    return _scatter("scatter_min", "min", operand, scatter_indices, updates, dimension_numbers, *hints)


def scatter_max(
    operand: Array,
    scatter_indices: Array,
    updates: Array,
    dimension_numbers: ScatterDimensionNumbers,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """operand with the maximum of its elements and windows at index vectors."""
    hints = (indices_are_sorted, unique_indices, mode)
    return _scatter("scatter_max", "max", operand, scatter_indices, updates, dimension_numbers, *hints)


def scatter_apply(
    operand: Array,
    scatter_indices: Array,
    func: Callable[[Array], Array],
    dimension_numbers: ScatterDimensionNumbers,
    *,
    update_shape: Sequence[Any] = (),
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Mode = None,
) -> Array:
    """operand with an elementwise function applied to each element, once for each window that has the element."""
    check_arrays("scatter_apply", operand, scatter_indices)
    counts = scatter_add(
        movement.full(get_aval(operand).shape, np.int32(0)),
        scatter_indices,
        movement.full(tuple(update_shape), np.int32(1)),
        dimension_numbers,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
    )
    most = 1 if unique_indices else dim_product(get_aval(scatter_indices).shape[:-1])
    return apply_counted(operand, counts, func, most)


def apply_counted(x: Array, counts: Array, func: Callable[[Array], Array], most: Dimension) -> Array:
    """x with an elementwise function applied to each element `counts` times, at most `most` times.

    Each round is an operation on the whole array. The number of rounds is the greatest count, or `most` if the counts
    are traced.
    """
    aval = get_aval(x)
    rounds = int(most) if isinstance(counts, Tracer) else int(np.max(np.asarray(counts), initial=0))
    for done in range(rounds):
        changed = broadcast_to(cast(func(x), aval.dtype), aval.shape)
        x = elementwise.select(elementwise.gt(counts, np.int32(done)), changed, x)
    return x
