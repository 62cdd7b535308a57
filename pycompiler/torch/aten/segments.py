"""Reductions of segments: neighbours along one axis, given by lengths or by offsets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast

ops = Family()

# The result of a segment without elements, and the first operand of others.
_FIRST = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}
_UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda place, values: place.add(values, mode="drop"),
    "mean": lambda place, values: place.add(values, mode="drop"),
    "prod": lambda place, values: place.multiply(values, mode="drop"),
    "max": lambda place, values: place.max(values, mode="drop"),
    "min": lambda place, values: place.min(values, mode="drop"),
}


@dataclass
class _Segments:
    """The segments of all rows of an array [outer, length, inner] as one list, and the segment of each element. An
    element without a segment has a number behind the last one."""

    outer: tuple[Any, ...]
    inner: tuple[Any, ...]
    each: Any  # the numbers of segments in a row
    sizes: Any  # [segments of all rows]
    places: Any  # [elements of all rows]

    @property
    def count(self) -> Any:
        return self.sizes.shape[0]

    def rows(self, x: Any) -> Any:
        """An array as [elements or segments of all rows, inner]."""
        return x.reshape(math.prod(self.outer) * x.shape[len(self.outer)], *self.inner)

    def column(self, x: Any) -> Any:
        """Numbers of segments beside rows."""
        return x.reshape(x.shape[0], *(1,) * len(self.inner))

    def reduced(self, reduce: str, values: Any, first: float) -> Any:
        made = pnp.full((self.count, *self.inner), first, values.dtype)
        return _UPDATES[reduce](made.at[self.places], values)

    def of_elements(self, x: Any) -> Any:
        """For each element, the number of its segment; 0 for elements of none."""
        return pnp.take(x, self.places, axis=0, mode="fill", fill_value=0)


def _segments(data: Any, axis: int, lengths: Any, offsets: Any) -> _Segments:
    if lengths is not None:
        start = pnp.zeros((*lengths.shape[:-1], 1), lengths.dtype)
        offsets = pnp.concatenate([start, lax.cumsum(lengths, lengths.ndim - 1)], axis=-1)
    outer, length, inner = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
    each, rows = offsets.shape[-1] - 1, math.prod(outer)
    offsets = cast(offsets, np.dtype(np.int64)).reshape(rows, each + 1)
    row = lax.broadcasted_iota(np.int64, (rows, each + 1), 0)
    # The number of offsets up to an element names its segment.
    begun = pnp.zeros((rows, length + 1), np.int64).at[row, offsets].add(1, mode="drop")
    segment = lax.cumsum(begun, 1)[:, :length] - 1
    first = lax.broadcasted_iota(np.int64, segment.shape, 0) * each
    places = pnp.where((segment >= 0) & (segment < each), first + segment, rows * each)
    sizes = offsets[:, 1:] - offsets[:, :-1]
    return _Segments(outer, inner, each, sizes.reshape(-1), places.reshape(-1))


@ops("segment_reduce")
def _segment_reduce(
    out: Out,
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    indices: Any = None,
    offsets: Any = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Any:
    if lengths is not None and not unsafe:
        out.require(lengths >= 0, "a length is negative")
        total = pnp.sum(lengths, axis=-1)
        out.require(total == cast(data.shape[axis], total.dtype), "the lengths do not add up to the size of the axis")
    parts = _segments(data, axis, lengths, offsets)
    made = parts.reduced(reduce, parts.rows(cast(data, out.compute)), _FIRST[reduce] if initial is None else initial)
    if reduce == "mean":
        sizes = parts.column(parts.sizes)
        mean = made / cast(pnp.maximum(sizes, 1), made.dtype)
        made = pnp.where(sizes > 0, mean, math.nan if initial is None else initial)
    return cast(made.reshape(out.shape), out.dtype)


@ops("_segment_reduce_backward")
def _segment_reduce_backward(
    out: Out,
    given: Any,
    output: Any,
    data: Any,
    reduce: str,
    *,
    lengths: Any = None,
    offsets: Any = None,
    axis: int = 0,
    initial: Any = None,
) -> Any:
    parts = _segments(data, axis, lengths, offsets)
    given, output, x = (parts.rows(cast(value, opmath(data.dtype))) for value in (given, output, data))
    if reduce == "mean":
        given = given / cast(parts.column(pnp.maximum(parts.sizes, 1)), given.dtype)
    slopes = parts.of_elements(given)
    if reduce in ("max", "min"):
        # The elements that equal the result share its gradient.
        equal = cast((x != x) | (x == parts.of_elements(output)), x.dtype)
        counts = parts.reduced("sum", equal, 0.0)
        slopes = slopes * equal / pnp.maximum(parts.of_elements(counts), 1)
    elif reduce == "prod":
        slopes = slopes * _others(parts, x, output, 1.0 if initial is None else initial)
    return cast(slopes.reshape(data.shape), out.dtype)


def _others(parts: _Segments, x: Any, output: Any, first: float) -> Any:
    """For each element, the product of its segment without it."""
    is_zero, is_nan = x == 0, x != x
    is_plain = ~(is_zero | is_nan)
    rest = parts.of_elements(parts.reduced("prod", pnp.where(is_plain, x, 1), first))
    zeros, nans = (
        parts.of_elements(parts.reduced("sum", cast(one, x.dtype), 0.0)) - cast(one, x.dtype)
        for one in (is_zero, is_nan)
    )
    rest = pnp.where(zeros > 0, rest * 0, rest)
    rest = pnp.where(nans > 0, math.nan, rest)
    return pnp.where(is_plain, parts.of_elements(output) / pnp.where(is_plain, x, 1), rest)
