"""Indexing: parts at computed places, and updates of these parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.movement import axis_of
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast

ops = Family()

_NO_MASKS = "masks as indices: the size of the result depends on data"
_OTHER_NUMBER = "shape mismatch: the number of values is not that of the elements that the mask selects"


def _places(indices: Any) -> tuple[Any, ...]:
    """An index of NumPy: None becomes a whole axis. Masks are refused."""
    for index in indices:
        if index is not None and index.dtype in (np.bool_, np.uint8):
            raise NotImplementedError(_NO_MASKS)
    return tuple([slice(None) if index is None else index for index in indices])


def _require_places(out: Out, x: Any, indices: Any) -> None:
    if not str(out.node.target).startswith("aten._unsafe"):
        for axis, index in enumerate(indices):
            if index is not None:
                out.require_within(index, x.shape[axis], axis, negative=True)


@ops("index.Tensor", "_unsafe_index.Tensor")
def _index(out: Out, x: Any, indices: Any) -> Any:
    places = _places(indices)
    _require_places(out, x, indices)
    return x[places]


def _as_mask(x: Any, indices: Any) -> tuple[Any, int] | None:
    """For indices that are one mask, the mask as an operand that broadcasts to x, and the number of axes after its own;
    else None."""
    masks = [(axis, index) for axis, index in enumerate(indices) if index is not None]
    if len(masks) != 1 or masks[0][1].dtype != bool:
        return None
    axis, mask = masks[0]
    after = x.ndim - axis - mask.ndim
    return mask.reshape(mask.shape + (1,) * after), after


def _numbers(out: Out, mask: Any, count: Any) -> Any:
    """For each element that a mask selects, its number among them; 0 for the others."""
    flat = cast(mask.reshape(-1), np.dtype(np.int64))
    out.require(pnp.sum(flat) == cast(count, flat.dtype), _OTHER_NUMBER)
    return pnp.where(mask, (lax.cumsum(flat, 0) - 1).reshape(mask.shape), 0)


@ops("index_put", "_unsafe_index_put")
def _index_put(out: Out, x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    values = cast(values, x.dtype)
    found = _as_mask(x, indices)
    if found is not None:
        mask, after = found
        # The values broadcast to the axes before the mask's, one axis for its elements, and the axes that follow.
        if values.ndim > after:
            axis = values.ndim - after - 1
            shape = mask.shape[: mask.ndim - after]
            if values.shape[axis] == 1:
                values = values.reshape((*values.shape[:axis], *(1,) * len(shape), *values.shape[axis + 1 :]))
            elif values.shape[axis] == 0:
                out.require(~mask, _OTHER_NUMBER)
                return x
            else:
                values = pnp.take(values, _numbers(out, mask.reshape(shape), values.shape[axis]), axis=axis)
        return pnp.where(mask, x + values if accumulate else values, x)
    places = _places(indices)
    _require_places(out, x, indices)
    return _updated(x, places, values, accumulate)


_REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda place, values: place.add(values),
    "sum": lambda place, values: place.add(values),
    "mean": lambda place, values: place.add(values),
    "multiply": lambda place, values: place.multiply(values),
    "prod": lambda place, values: place.multiply(values),
    "amax": lambda place, values: place.max(values),
    "amin": lambda place, values: place.min(values),
}
# Torch's sums and products of bools.
_OF_BOOLS = {"add": "amax", "sum": "amax", "multiply": "amin", "prod": "amin"}


def _reduction(reduce: str, dtype: np.dtype[Any]) -> Callable[[Any, Any], Any]:
    """The update of places, `x.at[...]`, by which a reduction of this dtype joins values."""
    return _REDUCTIONS[_OF_BOOLS.get(reduce, reduce) if dtype.kind == "b" else reduce]


def _updated(x: Any, places: Any, values: Any, accumulate: bool) -> Any:
    """The array with values at places, added or set."""
    return _reduction("add", x.dtype)(x.at[places], values) if accumulate else x.at[places].set(values)


@ops("index_select")
def _index_select(out: Out, x: Any, dim: int, index: Any) -> Any:
    if not x.ndim:
        return lax.reshape(x, out.shape)
    axis = axis_of(dim, x.ndim)
    out.require_within(index, x.shape[axis], axis)
    return pnp.take(x, index.reshape(-1), axis=axis)


def _at(out: Out, x: Any, dim: int, index: Any, negative: bool = False) -> Any:
    axis = axis_of(dim, x.ndim)
    out.require_within(index, x.shape[axis], axis, negative)
    return x.at[(slice(None),) * axis + (index.reshape(-1),)]


@ops("index_add")
def _index_add(out: Out, x: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    source = cast(source, x.dtype)
    source = source if alpha == 1 else source * cast(alpha, x.dtype)
    places = _at(out, x if x.ndim else x.reshape(1), dim, index)
    return _reduction("add", x.dtype)(places, source).reshape(x.shape)


@ops("index_copy")
def _index_copy(out: Out, x: Any, dim: int, index: Any, source: Any) -> Any:
    if not x.ndim:
        return lax.reshape(cast(source, x.dtype), ())
    return _at(out, x, dim, index).set(cast(source, x.dtype))


@ops("index_fill")
def _index_fill(out: Out, x: Any, dim: int, index: Any, value: Any) -> Any:
    if not x.ndim:
        return cast(value, x.dtype) if index.size else x
    return _at(out, x, dim, index, negative=True).set(cast(value, x.dtype))


@ops("gather")
def _gather(out: Out, x: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    if not x.ndim or not index.ndim:
        return lax.reshape(pnp.take(x.reshape(-1), index.reshape(-1)), out.shape)
    return x[_along(out, x, dim, index)]


def _along(out: Out, x: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The index of NumPy for indices along one axis, over a part of the other axes."""
    axis = axis_of(dim, x.ndim)
    out.require_within(index, x.shape[axis], axis)
    return tuple(
        [index if other == axis else lax.broadcasted_iota(np.int64, index.shape, other) for other in range(x.ndim)]
    )


def _scattered(out: Out, x: Any, dim: int, index: Any, source: Any, update: Callable[[Any, Any], Any]) -> Any:
    """`update` of the places with the source: in each axis, only its first elements count."""
    if not index.size:
        return x
    shape = x.shape
    if not x.ndim or not index.ndim:
        x, index, dim = x.reshape(-1), index.reshape(-1), 0
    if hasattr(source, "ndim") and source.ndim:
        source = source[tuple([slice(0, size) for size in index.shape])]
    elif hasattr(source, "ndim"):
        source = pnp.broadcast_to(source, index.shape)
    return update(x.at[_along(out, x, dim, index)], source).reshape(shape)


@ops("scatter.src", "scatter.value")
def _scatter(out: Out, x: Any, dim: int, index: Any, source: Any) -> Any:
    return _scattered(out, x, dim, index, cast(source, x.dtype), lambda place, values: place.set(values))


@ops("scatter_add")
def _scatter_add(out: Out, x: Any, dim: int, index: Any, source: Any) -> Any:
    dtype = opmath(x.dtype)
    made = _scattered(out, cast(x, dtype), dim, index, cast(source, dtype), _reduction("add", dtype))
    return cast(made, x.dtype)


@ops("scatter.reduce", "scatter.value_reduce")
def _scatter_with(out: Out, x: Any, dim: int, index: Any, source: Any, *, reduce: str) -> Any:
    return _scattered(out, x, dim, index, cast(source, x.dtype), _reduction(reduce, x.dtype))


def _neutral(reduce: str, dtype: np.dtype[Any]) -> Any:
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if reduce == "amax" else np.iinfo(dtype).max
    return -np.inf if reduce == "amax" else np.inf


@ops("scatter_reduce", "index_reduce")
def _scatter_reduce(
    out: Out, x: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    if str(out.node.target).startswith("aten.index_reduce"):
        x, source = (value if value.ndim else value.reshape(1) for value in (x, source))
        shape = [1] * x.ndim
        shape[axis_of(dim, x.ndim)] = index.size
        index = pnp.broadcast_to(index.reshape(shape), source.shape)
    if not index.size:
        return lax.reshape(x, out.shape)
    dtype = opmath(x.dtype)
    given, source = cast(x, dtype), cast(source, dtype)
    counts = _scattered(
        out, pnp.zeros(x.shape, np.int64), dim, index, pnp.ones(index.shape, np.int64), lambda p, v: p.add(v)
    )
    if not include_self:
        given = pnp.where(counts > 0, cast(_neutral(reduce, dtype), dtype), given)
    made = _scattered(out, given, dim, index, source, _reduction(reduce, dtype))
    if reduce == "mean":
        counts = pnp.maximum(counts + int(include_self), 1)
        made = pnp.floor_divide(made, counts) if dtype.kind in "iu" else made / cast(counts, dtype)
    return lax.reshape(cast(made, x.dtype), out.shape)


@ops("embedding")
def _embedding(
    out: Out, weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    out.require_within(indices, weight.shape[0])
    return weight[indices]


@ops("embedding_renorm")
def _embedding_renorm(out: Out, weight: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    rows = cast(weight, out.compute)
    length = pnp.linalg.norm(rows, norm_type, axis=1)
    named = pnp.zeros((weight.shape[0],), bool).at[indices.reshape(-1)].set(True)
    scale = pnp.where(named & (length > max_norm), max_norm / (length + 1e-7), 1.0)
    return cast(rows * scale[:, None], out.dtype)


@ops("embedding_dense_backward")
def _embedding_backward(
    out: Out, given: Any, indices: Any, count: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    places, width = indices.reshape(-1), given.shape[-1]
    rows = cast(given, out.compute).reshape(-1, width)
    keeps = places != padding_idx
    rows = pnp.where(keeps[:, None], rows, 0)
    if scale_grad_by_freq:
        often = pnp.zeros((count,), rows.dtype).at[places].add(1)
        rows = rows / often[places][:, None]
    return cast(pnp.zeros((count, width), rows.dtype).at[places].add(rows), out.dtype)


@ops("nonzero_static")
def _nonzero_static(out: Out, x: Any, *, size: Any, fill_value: int = -1) -> Any:
    if x.ndim == 0:
        return pnp.zeros(out.shape, np.int64)
    return cast(pnp.stack(pnp.nonzero(x, size=size, fill_value=fill_value), axis=-1), out.dtype)


@ops("masked_fill")
def _masked_fill(out: Out, x: Any, mask: Any, value: Any) -> Any:
    return pnp.where(mask, cast(value, x.dtype), x)


@ops("masked_scatter")
def _masked_scatter(out: Out, x: Any, mask: Any, source: Any) -> Any:
    x, mask = pnp.broadcast_to(x, out.shape), pnp.broadcast_to(mask, out.shape)
    place = lax.cumsum(cast(mask.reshape(-1), np.dtype(np.int64)), 0) - 1
    number = cast(math.prod(source.shape), place.dtype)
    out.require(place < number, "the source has fewer elements than the mask selects")
    picked = pnp.take(cast(source, x.dtype).reshape(-1), pnp.maximum(place, 0), mode="clip")
    return pnp.where(mask, picked.reshape(x.shape), x)


@ops("masked_scatter_backward")
def _masked_scatter_backward(out: Out, given: Any, mask: Any, sizes: Any) -> Any:
    mask = pnp.broadcast_to(mask, given.shape).reshape(-1)
    count = math.prod(out.shape)
    place = lax.cumsum(cast(mask, np.dtype(np.int64)), 0) - 1
    # Other elements get a place beyond the end, so that they are dropped.
    place = pnp.where(mask, place, count)
    return pnp.zeros((count,), given.dtype).at[place].set(given.reshape(-1), mode="drop").reshape(out.shape)


@ops("take")
def _take(out: Out, x: Any, index: Any) -> Any:
    x = x.reshape(-1)
    out.require_within(index, x.shape[0], negative=True)
    return pnp.take(x, index)


@ops("put")
def _put(out: Out, x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    source = cast(source, x.dtype).reshape(-1)
    out.require_within(index, x.size, negative=True)
    return _updated(x.reshape(-1), index.reshape(-1), source, accumulate).reshape(x.shape)


@ops("repeat_interleave.self_int")
def _repeat_interleave(out: Out, x: Any, repeats: int, dim: Any = None, *, output_size: Any = None) -> Any:
    return pnp.repeat(x.reshape(-1) if dim is None else x, repeats, axis=0 if dim is None else dim)


@ops("repeat_interleave.Tensor")
def _repeat_interleave_each(out: Out, repeats: Any, *, output_size: Any = None) -> Any:
    if output_size is None:
        raise NotImplementedError("the size of the result depends on data: give output_size")
    out.require(repeats >= 0, "a number of repetitions is negative")
    total = pnp.sum(repeats)
    out.require(total == cast(output_size, total.dtype), "the numbers of repetitions do not add up to output_size")
    numbers = lax.iota(repeats.dtype, repeats.shape[0])
    return pnp.repeat(numbers, repeats, total_repeat_length=output_size)


@ops("_jagged_to_padded_dense_forward")
def _padded(out: Out, values: Any, offsets: Any, lengths: Any, padding: float = 0.0) -> Any:
    """The rows between the offsets as matrices of one height, which the padding fills."""
    if len(offsets) != 1:
        raise NotImplementedError("more than one ragged axis")
    starts, ends = offsets[0][:-1, None], offsets[0][1:, None]
    places = starts + lax.iota(offsets[0].dtype, out.shape[1])
    # A place behind all rows gives the padding.
    places = pnp.where(places < ends, places, cast(values.shape[0], places.dtype))
    return pnp.take(values, places, axis=0, mode="fill", fill_value=padding)


@ops("_padded_dense_to_jagged_forward")
def _from_padded(out: Out, dense: Any, offsets: Any, total: Any = None) -> Any:
    """The rows between the offsets, without the padding."""
    if len(offsets) != 1:
        raise NotImplementedError("more than one ragged axis")
    numbers = lax.iota(offsets[0].dtype, out.shape[0])
    batch = pnp.searchsorted(offsets[0][1:], numbers, side="right")
    return dense[batch, numbers - offsets[0][batch]]
