"""Functions of lax that create arrays and change their shapes: creation, broadcasting, slicing, padding, joining."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array as RuntimeArray
from pycompiler._runtime import Device, ShapedArray, counted, current_trace, filled
from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dim, Dimension, dim_product
from pycompiler.core.dims.dims import broadcast_shapes as broadcast_shapes
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.placement import put
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import (
    Array,
    canonical_axes,
    canonical_axis,
    canonical_shape,
    cast,
    check_arrays,
    literal,
    type_like,
)
from pycompiler.lax.operands import broadcast_to as _broadcast_to
from pycompiler.lax.placement import place_leaf, place_of_struct
from pycompiler.lax.shardings import divided, divided_like
from pycompiler.primitives import compare, creation, indexing
from pycompiler.primitives import movement as ops
from pycompiler.primitives import shape as shapes
from pycompiler.primitives.arithmetic import bitcast, convert
from pycompiler.primitives.bits import or_, shift_left
from pycompiler.primitives.elementwise import add

__all__ = [
    "broadcast", "broadcast_in_dim", "broadcast_to_rank", "broadcasted_iota", "collapse", "concatenate",
    "dynamic_index_in_dim", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_update_index_in_dim",
    "dynamic_update_slice", "dynamic_update_slice_in_dim", "expand_dims", "full", "full_like", "index_in_dim",
    "iota", "pad", "reshape", "rev", "slice", "slice_in_dim", "squeeze", "transpose",
]  # fmt: skip


def full(shape: Any, fill_value: Array, dtype: Any = None, *, sharding: Any = None) -> Array:
    """An array of one value. The default dtype is that of the value.

    >>> from pycompiler import lax
    >>> lax.full((2,), 3.0)
    Array([3., 3.], dtype=float32, weak_type=True)
    """
    check_arrays("full", fill_value)
    if get_aval(fill_value).shape != ():
        raise ArgumentError(f"full: the value must be a scalar, got {short(get_aval(fill_value))}")
    wanted = get_aval(fill_value).dtype if dtype is None else dtypes.canonicalize_requested(dtype, "full")
    weak = dtype is None and get_aval(fill_value).weak_type
    sizes = canonical_shape("full", shape)
    if dtypes.is_key(wanted) and not dtypes.is_key(get_aval(fill_value).dtype):
        fill_value = _key_of(fill_value)
    if type(fill_value) in _NUMBERS and wanted.kind in "biufc" and _is_direct(sizes):
        made = filled(ShapedArray(sizes, wanted, weak), literal(fill_value, wanted).tobytes())
    else:
        made = shapes.broadcast_in_dim.bind(cast(fill_value, wanted, weak), shape=sizes, broadcast_dimensions=())
    return divided("full", made, sharding)


def _key_of(number: Array) -> Array:
    """The key whose two numbers are both this number."""
    half = convert.bind(cast(number, dtypes.uint32), new_dtype=dtypes.uint64)
    # Without enable_x64, words of 64 bits exist, but their literals do not.
    word = or_.bind(half, shift_left.bind(half, convert.bind(32, new_dtype=dtypes.uint64)))
    return bitcast.bind(word, new_dtype=dtypes.KEY)


def full_like(x: Array, fill_value: Array, dtype: Any = None, shape: Any = None, sharding: Any = None) -> Array:
    """An array of one value, with the shape and dtype of x unless these are given, on the device to which x is
    committed. x may be any object with a shape and a dtype, such as a reference."""
    aval = type_like("full_like", x)
    sizes = aval.shape if shape is None else shape
    if dtype is None and aval.weak_type:
        made = full(sizes, cast(fill_value, aval.dtype, True))
    else:
        made = full(sizes, fill_value, aval.dtype if dtype is None else dtype)
    if sharding is None and type(x) is RuntimeArray and type(made) is RuntimeArray and x.committed:
        device = x.device
        if isinstance(device, Device) and device is not made.device:
            return put(made, device)
    place = place_of_struct(x) if sharding is None and shape is None else None
    made = made if place is None else place_leaf("full_like", made, place)
    return divided_like("full_like", made, aval, shape, sharding)


def _is_direct(sizes: Sequence[Any]) -> bool:
    """Whether an array of these sizes is created directly, without operands: no trace runs, and no check for nan."""
    if current_trace() is not None or config.debug_nans or config.debug_infs:
        return False
    return all(type(size) is int and size >= 0 for size in sizes)


_NUMBERS = (bool, int, float, complex)
_COUNTED = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def _check_count(name: str, dtype: Any, size: Dimension) -> None:
    """Raise OverflowError if int32, the dtype of positions, does not hold all numbers. Numbers of narrower dtypes
    wrap."""
    if dtype == dtypes.int32 and dtypes.position_dtype(name, size) != dtype:
        more = "" if config.enable_x64 else ', after config.update("enable_x64", True)'
        raise OverflowError(f"{name}: {size} numbers do not fit into int32; count in int64{more}")


def iota(dtype: Any, size: Dimension) -> Array:
    """0, 1, ... size - 1.

    >>> from pycompiler import lax
    >>> lax.iota(int, 3)
    Array([0, 1, 2], dtype=int32)
    """
    wanted = dtypes.canonicalize_requested(dtype, "iota")
    _check_count("iota", wanted, size)
    if wanted in _COUNTED and _is_direct((size,)):
        return counted(ShapedArray((size,), wanted))
    return broadcasted_iota(dtype, (size,), 0)


def broadcasted_iota(dtype: Any, shape: Any, dimension: int, *, out_sharding: Any = None) -> Array:
    """An array of indices along one dimension.

    >>> from pycompiler import lax
    >>> lax.broadcasted_iota(int, (2, 3), 1)
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    sizes = canonical_shape("broadcasted_iota", shape)
    axis = canonical_axis("broadcasted_iota", dimension, len(sizes))
    wanted = dtypes.canonicalize_requested(dtype, "broadcasted_iota")
    _check_count("broadcasted_iota", wanted, sizes[axis])
    # Small types are converted from a dtype that holds every index, so that they wrap or round like any conversion.
    counting = dtypes.int32 if dtypes.is_small(wanted) else dtypes.real_part(wanted)
    counted = creation.iota.bind(dtype=counting, shape=sizes, dimension=axis)
    return divided("broadcasted_iota", counted if counting == wanted else cast(counted, wanted), out_sharding)


@decided
def broadcast(operand: Array, sizes: Sequence[int], *, out_sharding: Any = None) -> Array:
    """operand repeated along new leading dimensions.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.broadcast(pnp.arange(2), (3,))
    Array([[0, 1],
           [0, 1],
           [0, 1]], dtype=int32)
    """
    check_arrays("broadcast", operand)
    return divided(
        "broadcast",
        _broadcast_to(operand, (*canonical_shape("broadcast", sizes), *get_aval(operand).shape)),
        out_sharding,
    )


@decided
def broadcast_in_dim(
    operand: Array, shape: Any, broadcast_dimensions: Sequence[int], *, out_sharding: Any = None
) -> Array:
    """operand repeated to a shape; its dimension i becomes dimension broadcast_dimensions[i].

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.broadcast_in_dim(pnp.arange(2), (2, 3), (0,))
    Array([[0, 0, 0],
           [1, 1, 1]], dtype=int32)
    """
    check_arrays("broadcast_in_dim", operand)
    places = [int(axis) for axis in broadcast_dimensions]
    order = sorted(range(len(places)), key=places.__getitem__)
    if order != sorted(order) and len(places) == get_aval(operand).ndim:
        operand, places = transpose(operand, order), [places[axis] for axis in order]
    return divided(
        "broadcast_in_dim",
        shapes.broadcast_in_dim.bind(
            operand,
            shape=canonical_shape("broadcast_in_dim", shape),
            broadcast_dimensions=tuple(places),
        ),
        out_sharding,
    )


def broadcast_to_rank(x: Array, rank: int) -> Array:
    """x with leading dimensions of size 1, up to a rank."""
    return expand_dims(x, range(rank - len(get_aval(x).shape)))


@decided
def reshape(
    operand: Array, new_sizes: Any, dimensions: Sequence[int] | None = None, *, out_sharding: Any = None
) -> Array:
    """operand in another shape, row-major. With `dimensions`, operand is first transposed to this order.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.reshape(pnp.arange(4), (2, 2))
    Array([[0, 1],
           [2, 3]], dtype=int32)
    """
    check_arrays("reshape", operand)
    if dimensions is not None:
        operand = transpose(operand, dimensions)
    return divided("reshape", shapes.reshaped(operand, canonical_shape("reshape", new_sizes)), out_sharding)


def collapse(operand: Array, start_dimension: int, stop_dimension: int | None = None) -> Array:
    """operand with the dimensions start..stop collapsed into one."""
    shape = get_aval(operand).shape
    start, stop, _ = slice_object(start_dimension, stop_dimension).indices(len(shape))
    if start >= stop:
        raise ValueError(f"collapse: no dimension in {start_dimension}..{stop_dimension} of {short(get_aval(operand))}")
    return reshape(operand, (*shape[:start], dim_product(shape[start:stop]), *shape[stop:]))


def transpose(operand: Array, permutation: Sequence[int]) -> Array:
    """operand with its dimensions permuted: dimension i of the result is dimension permutation[i] of operand.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.transpose(pnp.ones((2, 3)), (1, 0)).shape
    (3, 2)
    """
    check_arrays("transpose", operand)
    return shapes.transpose.bind(operand, permutation=tuple(int(axis) for axis in permutation))


def squeeze(array: Array, dimensions: Sequence[int]) -> Array:
    """array without the given dimensions, which are of size 1.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.squeeze(pnp.ones((1, 3)), (0,)).shape
    (3,)
    """
    check_arrays("squeeze", array)
    shape = get_aval(array).shape
    axes = canonical_axes("squeeze", tuple(dimensions), len(shape))
    for axis in axes:
        if shape[axis] != 1:
            raise ValueError(f"squeeze: axis {axis} of {short(get_aval(array))} has size {shape[axis]}, not 1")
    return shapes.reshaped(array, tuple(size for axis, size in enumerate(shape) if axis not in axes))


def expand_dims(array: Array, dimensions: Sequence[int]) -> Array:
    """array with new dimensions of size 1; their places count in the result.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.expand_dims(pnp.ones(3), (0,)).shape
    (1, 3)
    """
    check_arrays("expand_dims", array)
    dimensions = tuple(dimensions)
    shape = get_aval(array).shape
    ndim = len(shape) + len(dimensions)
    axes = canonical_axes("expand_dims", dimensions, ndim)
    sizes = iter(shape)
    return shapes.reshaped(array, tuple(1 if axis in axes else next(sizes) for axis in range(ndim)))


def rev(operand: Array, dimensions: Sequence[int]) -> Array:
    """operand reversed in some dimensions.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.rev(pnp.arange(3), (0,))
    Array([2, 1, 0], dtype=int32)
    """
    check_arrays("rev", operand)
    axes = canonical_axes("rev", tuple(dimensions), len(get_aval(operand).shape))
    return ops.reverse.bind(operand, dimensions=axes)


# The maximum number of operands of one eager concatenation. Each number of operands is a program of its own, and
# thousands of operands make a long program. So a list of losses is joined in groups, by few programs, which other lists
# share.
_TOGETHER = 32


def concatenate(operands: Sequence[Array], dimension: int) -> Array:
    """Arrays of one dtype, one after the other along a dimension.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.concatenate([pnp.zeros(1), pnp.ones(1)], 0)
    Array([0., 1.], dtype=float32)
    """
    check_arrays("concatenate", *operands)
    if not operands:
        raise ValueError("concatenate: needs at least one array")
    axis = canonical_axis("concatenate", dimension, len(get_aval(operands[0]).shape))
    while len(operands) > _TOGETHER and current_trace() is None:
        groups = [operands[at : at + _TOGETHER] for at in range(0, len(operands), _TOGETHER)]
        operands = [ops.concatenate.bind(*group, dimension=axis) for group in groups]
    return ops.concatenate.bind(*operands, dimension=axis)


def pad(operand: Array, padding_value: Array, padding_config: Sequence[tuple[int, int, int]]) -> Array:
    """operand with (low, high, interior) values added in each dimension; low and high may be negative.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.pad(pnp.array([1, 2]), 0, [(1, 0, 1)])
    Array([0, 1, 0, 2], dtype=int32)
    """
    check_arrays("pad", operand, padding_value)
    low, high, interior = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    aval, given = get_aval(operand), get_aval(padding_value)
    value = cast(padding_value, aval.dtype) if given.weak_type else padding_value
    padded = ops.pad.bind(operand, value, low=low, high=high, interior=interior)
    return cast(padded, aval.dtype, True) if aval.weak_type and given.weak_type else padded


slice_object = slice


def slice(
    operand: Array,
    start_indices: Sequence[Dimension],
    limit_indices: Sequence[Dimension],
    strides: Sequence[Dimension] | None = None,
) -> Array:
    """The part of operand from start to limit, with strides, in each dimension.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.slice(pnp.arange(10), (2,), (8,), (3,))
    Array([2, 5], dtype=int32)
    """
    check_arrays("slice", operand)
    steps = (1,) * len(start_indices) if strides is None else tuple(strides)
    return ops.slice_.bind(
        operand, start_indices=tuple(start_indices), limit_indices=tuple(limit_indices), strides=steps
    )


def slice_in_dim(
    operand: Array, start_index: Dimension | None, limit_index: Dimension | None, stride: int = 1, axis: int = 0
) -> Array:
    """operand[start:limit:stride] in one dimension.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.slice_in_dim(pnp.arange(10), 2, 5)
    Array([2, 3, 4], dtype=int32)
    """
    check_arrays("slice_in_dim", operand)
    shape = get_aval(operand).shape
    axis = canonical_axis("slice_in_dim", axis, len(shape))
    start, limit = 0 if start_index is None else start_index, shape[axis] if limit_index is None else limit_index
    start, limit = (index + shape[axis] if index < 0 else index for index in (start, limit))
    starts: list[Dimension] = [0] * len(shape)
    limits, strides = list(shape), [1] * len(shape)
    starts[axis], limits[axis], strides[axis] = start, limit, stride
    return slice(operand, starts, limits, strides)


def index_in_dim(operand: Array, index: int, axis: int = 0, keepdims: bool = True) -> Array:
    """The element at an index of one dimension, which is removed unless keepdims."""
    shape = get_aval(operand).shape
    axis = canonical_axis("index_in_dim", axis, len(shape))
    if not -shape[axis] <= index < shape[axis]:
        raise IndexError(f"index_in_dim: index {index} is out of range for axis {axis} of {short(get_aval(operand))}")
    index = index % shape[axis]
    taken = slice_in_dim(operand, index, index + 1, axis=axis)
    return taken if keepdims else squeeze(taken, (axis,))


def _wrapped(start: Array, size: Any, wrap: bool, wanted: Any) -> Array:
    """A start in the dtype of positions. With `wrap`, negative ones count from the end."""
    if type(start) is int:
        limits = np.iinfo(wanted)
        place = start + size if start < 0 and wrap else start
        return cast(place, wanted) if isinstance(place, Dim) else wanted.type(np.clip(place, limits.min, limits.max))
    dtype = get_aval(start).dtype
    if wrap and not dtypes.is_unsigned(dtype):
        if wanted == dtypes.int64:
            start, dtype = cast(start, wanted), wanted
        from_end = add.bind(start, cast(size, dtype))
        start = compare.select.bind(compare.lt.bind(start, cast(0, dtype)), from_end, start)
    return cast(start, wanted)


def _farthest(start: Array, size: Any, wrap: bool) -> int:
    """The greatest position in computations of a start in a dimension of `size` elements."""
    if not isinstance(size, int):
        return 0
    if type(start) is int:
        return min(start + size if start < 0 and wrap else start, size)
    return size if wrap and not dtypes.is_unsigned(get_aval(start).dtype) else 0


def _starts(
    name: str, operand: Array, start_indices: Any, allow_negative_indices: bool | Sequence[bool]
) -> list[Array]:
    if hasattr(start_indices, "aval") or isinstance(start_indices, np.ndarray):
        count = get_aval(start_indices).shape[0]
        start_indices = [index_in_dim(start_indices, i, keepdims=False) for i in range(count)]
    check_arrays(name, *start_indices)
    shape = get_aval(operand).shape
    if len(start_indices) != len(shape):
        raise ValueError(f"{name}: {short(get_aval(operand))} needs {len(shape)} starts, got {len(start_indices)}")
    for start in start_indices:
        if get_aval(start).shape != () or not dtypes.is_integer(get_aval(start).dtype):
            raise TypeError(f"{name}: a start must be a scalar integer, got {short(get_aval(start))}")
    wraps = (
        [allow_negative_indices] * len(shape) if isinstance(allow_negative_indices, bool) else allow_negative_indices
    )
    places = list(zip(start_indices, shape, wraps, strict=True))
    wanted = dtypes.position_dtype(name, max([0, *[_farthest(*place) for place in places]]))
    return [_wrapped(start, size, wrap, wanted) for start, size, wrap in places]


def dynamic_slice(
    operand: Array,
    start_indices: Any,
    slice_sizes: Sequence[int],
    *,
    allow_negative_indices: bool | Sequence[bool] = True,
) -> Array:
    """The part of a fixed size at computed starts, which are clamped to the range; negative ones count from the end.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.dynamic_slice(pnp.arange(10), (4,), (3,))
    Array([4, 5, 6], dtype=int32)
    """
    check_arrays("dynamic_slice", operand)
    starts = _starts("dynamic_slice", operand, start_indices, allow_negative_indices)
    return indexing.dynamic_slice.bind(operand, *starts, slice_sizes=canonical_shape("dynamic_slice", slice_sizes))


def dynamic_slice_in_dim(
    operand: Array, start_index: Array, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True
) -> Array:
    """dynamic_slice in one dimension.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.dynamic_slice_in_dim(pnp.arange(10), 4, 3)
    Array([4, 5, 6], dtype=int32)
    """
    sizes = list(get_aval(operand).shape)
    axis = canonical_axis("dynamic_slice_in_dim", axis, len(sizes))
    starts: list[Array] = [0] * len(sizes)
    starts[axis], sizes[axis] = start_index, slice_size
    return dynamic_slice(operand, starts, sizes, allow_negative_indices=allow_negative_indices)


def dynamic_index_in_dim(
    operand: Array, index: Array, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True
) -> Array:
    """The element at a computed index of one dimension, which is removed unless keepdims.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.dynamic_index_in_dim(pnp.arange(10), 4)
    Array([4], dtype=int32)
    """
    taken = dynamic_slice_in_dim(operand, index, 1, axis, allow_negative_indices=allow_negative_indices)
    return taken if keepdims else squeeze(taken, (axis,))


def dynamic_update_slice(
    operand: Array, update: Array, start_indices: Any, *, allow_negative_indices: bool | Sequence[bool] = True
) -> Array:
    """operand with a part replaced, at computed starts that are clamped to the range.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.dynamic_update_slice(pnp.zeros(4), pnp.ones(2), (1,))
    Array([0., 1., 1., 0.], dtype=float32)
    """
    check_arrays("dynamic_update_slice", operand, update)
    starts = _starts("dynamic_update_slice", operand, start_indices, allow_negative_indices)
    return indexing.dynamic_update_slice.bind(operand, update, *starts)


def dynamic_update_slice_in_dim(
    operand: Array, update: Array, start_index: Array, axis: int, *, allow_negative_indices: bool = True
) -> Array:
    """dynamic_update_slice in one dimension.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.dynamic_update_slice_in_dim(pnp.zeros(4), pnp.ones(2), 1, 0)
    Array([0., 1., 1., 0.], dtype=float32)
    """
    ndim = len(get_aval(operand).shape)
    starts: list[Array] = [0] * ndim
    starts[canonical_axis("dynamic_update_slice_in_dim", axis, ndim)] = start_index
    return dynamic_update_slice(operand, update, starts, allow_negative_indices=allow_negative_indices)


def dynamic_update_index_in_dim(
    operand: Array, update: Array, index: Array, axis: int, *, allow_negative_indices: bool = True
) -> Array:
    """operand with the element at a computed index of one dimension replaced."""
    axis = canonical_axis("dynamic_update_index_in_dim", axis, len(get_aval(operand).shape))
    if len(get_aval(update).shape) != len(get_aval(operand).shape):
        update = expand_dims(update, (axis,))
    return dynamic_update_slice_in_dim(operand, update, index, axis, allow_negative_indices=allow_negative_indices)
