"""Sorting, the largest elements, places in sorted sequences, counts."""

from __future__ import annotations

from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.movement import axis_of
from pycompiler.torch.table import Family, Out, cast

ops = Family()


def sorted_with_places(x: Any, axis: int, descending: bool) -> tuple[Any, Any]:
    """The sorted elements and their places; equal ones keep their order, and nan is the largest."""
    if not x.ndim:
        return x, pnp.zeros((), np.int64)
    places = lax.broadcasted_iota(np.int64, x.shape, axis)
    given = cast(x, np.dtype(np.uint8)) if x.dtype == bool else x
    if descending:
        # The reversed order of a reversed sequence keeps the order of equal elements.
        given, places = lax.rev(given, [axis]), lax.rev(places, [axis])
    made, places = lax.sort((given, places), dimension=axis, num_keys=1, is_stable=True)
    if descending:
        made, places = lax.rev(made, [axis]), lax.rev(places, [axis])
    return cast(made, x.dtype), places


@ops("sort")
def _sort(out: Out, x: Any, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> Any:
    return sorted_with_places(x, axis_of(dim, x.ndim), descending)


@ops("argsort")
def _argsort(out: Out, x: Any, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> Any:
    return sorted_with_places(x, axis_of(dim, x.ndim), descending)[1]


@ops("topk")
def _topk(out: Out, x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    if not x.ndim:
        return x, pnp.zeros((), np.int64)
    axis = axis_of(dim, x.ndim)
    made, places = sorted_with_places(x, axis, largest)
    return lax.slice_in_dim(made, 0, k, 1, axis), lax.slice_in_dim(places, 0, k, 1, axis)


@ops("kthvalue")
def _kthvalue(out: Out, x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if not x.ndim:
        return x, pnp.zeros((), np.int64)
    axis = axis_of(dim, x.ndim)
    return tuple(lax.index_in_dim(part, k - 1, axis, keepdim) for part in sorted_with_places(x, axis, False))


def _middle(x: Any, axis: int, keepdim: bool, skips_nan: bool) -> tuple[Any, Any]:
    """The lower median and its place; nan, if there is one and it counts."""
    made, places = sorted_with_places(x, axis, False)
    size = x.shape[axis]
    middle: Any = (size - 1) // 2
    if x.dtype.kind in "fV":
        missing = pnp.sum(made != made, axis=axis, keepdims=True)
        if skips_nan:
            middle = pnp.maximum((size - missing - 1) // 2, 0)
        else:
            middle = pnp.where(missing > 0, size - missing, middle)
        picked = tuple(pnp.take_along_axis(part, middle, axis) for part in (made, places))
        return picked if keepdim else tuple(lax.squeeze(part, (axis,)) for part in picked)  # pyright: ignore[reportReturnType]
    return tuple(lax.index_in_dim(part, middle, axis, keepdim) for part in (made, places))  # pyright: ignore[reportReturnType]


def _median_of(out: Out, x: Any, dim: Any, keepdim: bool, skips_nan: bool) -> Any:
    if dim is None:
        return _middle(x.reshape(-1), 0, False, skips_nan)[0]
    if not x.ndim:
        return x, pnp.zeros((), np.int64)
    return _middle(x, axis_of(dim, x.ndim), keepdim, skips_nan)


@ops("median")
def _median(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _median_of(out, x, dim, keepdim, False)


@ops("nanmedian")
def _nanmedian(out: Out, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return _median_of(out, x, dim, keepdim, True)


@ops("mode")
def _mode(out: Out, x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    if not x.ndim:
        return x, pnp.zeros((), np.int64)
    axis = axis_of(dim, x.ndim)
    # For sorted elements: the length of the run that ends at each element, then the first of the longest runs.
    made, places = sorted_with_places(pnp.moveaxis(x, axis, -1), x.ndim - 1, False)
    numbers = lax.broadcasted_iota(np.int64, made.shape, x.ndim - 1)
    begins = pnp.concatenate([pnp.ones_like(made[..., :1], bool), made[..., 1:] != made[..., :-1]], axis=-1)
    length = numbers - lax.cummax(pnp.where(begins, numbers, 0), x.ndim - 1)
    best = pnp.argmax(length, axis=-1, keepdims=True)
    picked = [pnp.take_along_axis(part, best, axis=-1) for part in (made, places)]
    return tuple(pnp.moveaxis(part, -1, axis) if keepdim else part[..., 0] for part in picked)


@ops("searchsorted")
def _searchsorted(
    out: Out,
    sequence: Any,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    if sorter is not None:
        out.require_within(sorter, sequence.shape[-1], sequence.ndim - 1)
        sequence = pnp.take_along_axis(sequence, sorter, axis=-1)
    side = side or ("right" if right else "left")
    dtype = out.common(0, 1)
    sequence, values = cast(sequence, dtype), cast(values, dtype)
    if sequence.ndim == 1:
        return cast(pnp.searchsorted(sequence, values, side), out.dtype)
    # A comparison with each element; the sequences are sorted.
    below = (
        sequence[..., None, :] <= values[..., :, None]
        if side == "right"
        else sequence[..., None, :] < values[..., :, None]
    )
    return cast(pnp.sum(below, axis=-1), out.dtype)


@ops("bucketize")
def _bucketize(out: Out, values: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    dtype = out.common(0, 1)
    side = "right" if right else "left"
    return cast(pnp.searchsorted(cast(boundaries, dtype), cast(values, dtype), side), out.dtype)
