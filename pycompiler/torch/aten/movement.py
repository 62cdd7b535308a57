"""Shapes: views, joins, parts, repetitions, padding. The results of functional graphs share no memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.layouts import inverse, order_of
from pycompiler.torch.table import Family, Out, cast
from pycompiler.transforms import vjp

ops = Family()


def axis_of(dim: int, ndim: int) -> int:
    """The axis that torch counts from either end; a 0-d tensor has the axes 0 and -1."""
    return dim % max(ndim, 1)


def axes_of(dims: Any, ndim: int) -> tuple[int, ...]:
    """The axes of an operation over `dims`; all for None and for an empty list."""
    if dims is None or (isinstance(dims, (list, tuple)) and not dims):
        return tuple(range(ndim))
    dims = dims if isinstance(dims, (list, tuple)) else [dims]
    return tuple(sorted({axis_of(dim, ndim) for dim in dims})) if ndim else ()


@ops("view", "reshape", "_unsafe_view", "view_copy", "_reshape_copy", "unsqueeze", "unsqueeze_copy", "flatten")
def _view(out: Out, x: Any, *given: Any, **options: Any) -> Any:
    return lax.reshape(x, out.shape)


@ops("squeeze", "squeeze_copy")
def _squeeze(out: Out, x: Any, dims: Any = None) -> Any:
    return lax.reshape(x, out.shape)


@ops("expand", "expand_copy", "broadcast_to")
def _expand(out: Out, x: Any, sizes: Any, *, implicit: bool = False) -> Any:
    return pnp.broadcast_to(x, out.shape)


@ops("permute", "permute_copy")
def _permute(out: Out, x: Any, dims: Any) -> Any:
    return lax.transpose(x, [axis_of(dim, x.ndim) for dim in dims])


@ops("transpose.int", "transpose_copy.int", "swapaxes")
def _transpose(out: Out, x: Any, a: int, b: int) -> Any:
    return pnp.swapaxes(x, a, b) if x.ndim else x


@ops("t", "t_copy")
def _t(out: Out, x: Any) -> Any:
    return x.T


@ops("select.int", "select_copy.int")
def _select(out: Out, x: Any, dim: int, index: Any) -> Any:
    axis = axis_of(dim, x.ndim)
    if not isinstance(index, int):
        # It is within bounds, since torch asserts it; which number it is may depend on data.
        return lax.dynamic_index_in_dim(x, cast(index, np.dtype(np.int64)), axis, keepdims=False)
    index = index + x.shape[axis] if index < 0 else index
    return lax.index_in_dim(x, index, axis, keepdims=False)


def bounds(x: Any, axis: int, start: Any, end: Any) -> tuple[Any, Any]:
    """The begin and end of a slice, in the axis."""
    size = x.shape[axis]

    def within(place: Any, default: Any) -> Any:
        if place is None:
            return default
        if isinstance(place, int) and place >= 1 << 62:
            return size
        place = place + size if place < 0 else place
        if place < 0:
            return 0
        return size if place is not size and place > size else place

    start, end = within(start, 0), within(end, size)
    return start, (start if end < start else end)


@ops("slice.Tensor", "slice_copy.Tensor")
def _slice(out: Out, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    axis = axis_of(dim, x.ndim)
    start, end = bounds(x, axis, start, end)
    return lax.slice_in_dim(x, start, end, step, axis)


@ops("slice_scatter")
def _slice_scatter(
    out: Out, x: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    axis = axis_of(dim, x.ndim)
    start, end = bounds(x, axis, start, end)
    place = (slice(None),) * axis + (slice(start, end, step),)
    return x.at[place].set(cast(source, x.dtype))


@ops("select_scatter")
def _select_scatter(out: Out, x: Any, source: Any, dim: int, index: Any) -> Any:
    axis = axis_of(dim, x.ndim)
    size = x.shape[axis]
    if isinstance(index, int) and isinstance(size, int) and not -size <= index < size:
        raise NotImplementedError(f"the index {index} of an axis of size {size}")
    return x.at[(slice(None),) * axis + (index,)].set(cast(source, x.dtype))


@ops("diagonal", "diagonal_copy")
def _diagonal(out: Out, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return pnp.diagonal(x, offset, dim1, dim2)


@ops("diagonal_scatter")
def _diagonal_scatter(out: Out, x: Any, source: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    a, b = axis_of(dim1, x.ndim), axis_of(dim2, x.ndim)
    rest = [axis for axis in range(x.ndim) if axis not in (a, b)]
    order = [*rest, a, b]
    moved = lax.transpose(x, order)
    count = source.shape[-1]
    numbers = lax.iota(np.int64, count)
    rows, columns = numbers + max(-offset, 0), numbers + max(offset, 0)
    made = moved.at[..., rows, columns].set(cast(source, x.dtype))
    return lax.transpose(made, [order.index(axis) for axis in range(x.ndim)])


@ops("cat")
def _cat(out: Out, tensors: Any, dim: int = 0) -> Any:
    # Torch skips empty tensors of one axis, for any shapes of the others.
    ndim = len(out.shape)
    parts = [cast(x, out.dtype) for x in tensors if not (x.ndim == 1 and ndim > 1 and x.shape[0] == 0)]
    return lax.concatenate(parts, axis_of(dim, ndim)) if parts else pnp.zeros(out.shape, out.dtype)


@ops("stack", "_stack")
def _stack(out: Out, tensors: Any, dim: int = 0) -> Any:
    return pnp.stack([cast(x, out.dtype) for x in tensors], axis_of(dim, len(out.shape)))


@ops("split_with_sizes", "split_with_sizes_copy", "split.Tensor", "split_copy.Tensor", "chunk", "tensor_split")
def _split(out: Out, x: Any, sizes: Any, dim: int = 0, **options: Any) -> Any:
    axis, start, parts = axis_of(dim, x.ndim), 0, []
    for value in out.value:
        end = start + out.sizes.of(value.shape[axis])
        parts.append(lax.slice_in_dim(x, start, end, 1, axis))
        start = end
    return tuple(parts)


@ops("unbind", "unbind_copy")
def _unbind(out: Out, x: Any, dim: int = 0) -> Any:
    axis = axis_of(dim, x.ndim)
    return tuple([lax.index_in_dim(x, number, axis, keepdims=False) for number in range(x.shape[axis])])


@ops("flip")
def _flip(out: Out, x: Any, dims: Any) -> Any:
    return lax.rev(x, [axis_of(dim, x.ndim) for dim in dims]) if x.ndim else x


@ops("roll")
def _roll(out: Out, x: Any, shifts: Any, dims: Any = ()) -> Any:
    shifts = shifts if isinstance(shifts, (list, tuple)) else [shifts]
    if not dims:
        return pnp.roll(x, shifts[0])
    dims = dims if isinstance(dims, (list, tuple)) else [dims]
    for shift, dim in zip(shifts, dims, strict=True):
        x = pnp.roll(x, shift, dim) if x.ndim else x
    return x


@ops("rot90")
def _rot90(out: Out, x: Any, k: int = 1, dims: Any = (0, 1)) -> Any:
    return pnp.rot90(x, k, tuple(dims))


@ops("repeat", "tile")
def _repeat(out: Out, x: Any, repeats: Any) -> Any:
    return pnp.tile(x, tuple(repeats)) if repeats else x


@ops("tril")
def _tril(out: Out, x: Any, diagonal: int = 0) -> Any:
    return pnp.tril(x, diagonal)


@ops("triu")
def _triu(out: Out, x: Any, diagonal: int = 0) -> Any:
    return pnp.triu(x, diagonal)


@ops("constant_pad_nd")
def _constant_pad(out: Out, x: Any, pad: Any, value: Any = 0) -> Any:
    low, high = [0] * x.ndim, [0] * x.ndim
    for number in range(len(pad) // 2):
        low[x.ndim - 1 - number], high[x.ndim - 1 - number] = pad[2 * number], pad[2 * number + 1]
    return lax.pad(x, cast(value, x.dtype), [(a, b, 0) for a, b in zip(low, high, strict=True)])


def _padded(x: Any, pad: Any, mode: str) -> Any:
    widths = [(0, 0)] * x.ndim
    for number in range(len(pad) // 2):
        before, after = pad[2 * number], pad[2 * number + 1]
        axis = x.ndim - 1 - number
        widths[axis] = (max(before, 0), max(after, 0))
    made = pnp.pad(x, widths, mode=mode)
    # Elements that negative widths cut off still count for the padding of the other side.
    for number in range(len(pad) // 2):
        axis = x.ndim - 1 - number
        before, after = max(-pad[2 * number], 0), max(-pad[2 * number + 1], 0)
        made = lax.slice_in_dim(made, before, made.shape[axis] - after, 1, axis)
    return made


@ops("reflection_pad1d", "reflection_pad2d", "reflection_pad3d")
def _reflection_pad(out: Out, x: Any, pad: Any) -> Any:
    return _padded(x, pad, "reflect")


@ops("replication_pad1d", "replication_pad2d", "replication_pad3d")
def _replication_pad(out: Out, x: Any, pad: Any) -> Any:
    return _padded(x, pad, "edge")


@ops("replication_pad1d_backward", "replication_pad2d_backward", "replication_pad3d_backward")
def _replication_pad_backward(out: Out, given: Any, x: Any, pad: Any) -> Any:
    return vjp(lambda value: _padded(value, pad, "edge"), x)[1](given)[0]


@ops("reflection_pad1d_backward", "reflection_pad2d_backward", "reflection_pad3d_backward")
def _reflection_pad_backward(out: Out, given: Any, x: Any, pad: Any) -> Any:
    return vjp(lambda value: _padded(value, pad, "reflect"), x)[1](given)[0]


@ops("narrow_copy")
def _narrow(out: Out, x: Any, dim: int, start: Any, length: Any) -> Any:
    axis = axis_of(dim, x.ndim)
    start = start + x.shape[axis] if start < 0 else start
    return lax.slice_in_dim(x, start, start + length, 1, axis)


@ops("unfold", "unfold_copy")
def _unfold(out: Out, x: Any, dim: int, size: int, step: int) -> Any:
    axis = axis_of(dim, x.ndim)
    if not x.ndim:
        return lax.reshape(x, out.shape)
    count = out.shape[axis]
    places = np.arange(count)[:, None] * step + np.arange(size)
    made = pnp.take(x, places, axis=axis)
    return pnp.moveaxis(made, axis + 1, -1)


def _in_storage(out: Out, x: Any, size: Any, stride: Any, storage_offset: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """The elements of a tensor as they lie in memory, the places of a strided view in them, and the order of the
    tensor's axes in memory."""
    value = out.argument(0)
    order = order_of(value)
    if order is None and not value.is_contiguous():
        raise NotImplementedError("as_strided of a tensor whose elements do not lie densely")
    order = tuple(range(x.ndim)) if order is None else order
    start = out.sizes.of(value.storage_offset())
    first = 0 if storage_offset is None else storage_offset - start
    last = first + sum((count - 1) * by for count, by in zip(size, stride, strict=True))
    # A view without elements may be anywhere.
    if 0 not in size and (first < 0 or last >= math.prod(x.shape)):
        raise NotImplementedError("as_strided of elements of the storage that are none of the tensor")
    elements = lax.transpose(x, order).reshape(-1)
    if _is_all_in_order(size, stride, first, x.shape):
        return elements, None, order
    places: Any = pnp.zeros((), np.int64) + first
    for count, by in zip(size, stride, strict=True):
        places = places[..., None] + lax.iota(np.int64, count) * by
    return elements, places, order


def _is_all_in_order(size: Any, stride: Any, first: Any, shape: Any) -> bool:
    """Whether a strided view has all elements of a dense tensor, as they lie in memory."""
    count: Any = 1
    for length, by in reversed(list(zip(size, stride, strict=True))):
        if length != 1 and by != count:
            return False
        count = count * length
    return first == 0 and count == math.prod(shape)


@ops("as_strided", "as_strided_copy")
def _as_strided(out: Out, x: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    elements, places, _ = _in_storage(out, x, size, stride, storage_offset)
    if places is None:
        return elements.reshape(out.shape)
    return pnp.zeros(out.shape, out.dtype) if 0 in size else pnp.take(elements, places)


@ops("as_strided_scatter")
def _as_strided_scatter(out: Out, x: Any, source: Any, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    elements, places, order = _in_storage(out, x, size, stride, storage_offset)
    if places is None:
        made = cast(source, x.dtype)
    elif not all(isinstance(number, int) for number in (*size, *stride)):
        raise NotImplementedError("as_strided_scatter of symbolic sizes")
    elif _overlaps(size, stride):
        raise NotImplementedError("as_strided_scatter to places that overlap")
    else:
        made = elements.at[places].set(cast(source, x.dtype))
    return lax.transpose(made.reshape([x.shape[axis] for axis in order]), inverse(order))


def _overlaps(size: Any, stride: Any) -> bool:
    """Whether two elements of a strided view share their place."""
    places = np.zeros((), np.int64)
    for by, count in zip(stride, size, strict=True):
        places = places[..., None] + np.arange(count) * by
    return len(np.unique(places)) != places.size
