"""Bags of embeddings: sums, means and maxima of rows of a table, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast

ops = Family()

_SUM, _MEAN, _MAX = 0, 1, 2


def _bags(indices: Any, offsets: Any, count: Any) -> Any:
    """The bag of each index. Bags begin at the offsets; an empty bag has the offset of the next one."""
    places = lax.iota(offsets.dtype, indices.shape[0])
    return pnp.searchsorted(offsets[:count], places, side="right") - 1


def _kept(indices: Any, padding_idx: int) -> Any:
    """A mask of the indices that count, as a column: all but the padding."""
    return (indices != padding_idx if padding_idx >= 0 else pnp.full(indices.shape, True))[:, None]


@ops("_embedding_bag", "_embedding_bag_forward_only")
def _embedding_bag(
    out: Out,
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> Any:
    count, width = out.shape
    out.require_within(indices, weight.shape[0])
    number = cast(indices.shape[0], offsets.dtype)
    out.require(offsets[:1] == 0, "the first bag must begin at 0")
    out.require(offsets <= number, "a bag begins behind the last index")
    bags, kept = _bags(indices, offsets, count), _kept(indices, padding_idx)
    rows = pnp.where(kept, cast(weight[indices], out.compute), 0)
    sizes = pnp.zeros((count,), offsets.dtype).at[bags].add(cast(kept[:, 0], offsets.dtype))
    shapes = [out.sizes.shape(value.shape) for value in out.value[1:]]
    of_bags, of_sizes = (
        made if made.shape == shape else pnp.zeros(shape, offsets.dtype)
        for made, shape in zip((cast(bags, offsets.dtype), sizes), shapes, strict=False)
    )
    if mode == _MAX:
        made, places = _largest(rows, kept, bags, indices, count, width)
        made = pnp.where(sizes[:, None] > 0, made, 0)
        return cast(made, out.dtype), of_bags, of_sizes, cast(places, offsets.dtype)
    if per_sample_weights is not None:
        rows = rows * cast(per_sample_weights, rows.dtype)[:, None]
    made = pnp.zeros((count, width), rows.dtype).at[bags].add(rows)
    if mode == _MEAN:
        made = made / cast(pnp.maximum(sizes, 1), rows.dtype)[:, None]
    return cast(made, out.dtype), of_bags, of_sizes, pnp.zeros(shapes[2], offsets.dtype)


def _largest(rows: Any, kept: Any, bags: Any, indices: Any, count: Any, width: Any) -> tuple[Any, Any]:
    """The largest elements of each bag, and their rows in the table: the first row of equal elements."""
    made = pnp.full((count, width), -np.inf, rows.dtype).at[bags].max(pnp.where(kept, rows, -np.inf))
    number = indices.shape[0]
    places = pnp.where(kept & (rows == made[bags]), lax.broadcasted_iota(np.int64, rows.shape, 0), number)
    first = pnp.full((count, width), number, np.int64).at[bags].min(places)
    return made, pnp.where(first < number, indices.at[first].get(mode="clip"), 0)


@ops("_embedding_bag_backward")
def _embedding_bag_backward(
    out: Out,
    given: Any,
    indices: Any,
    offsets: Any,
    of_bags: Any,
    sizes: Any,
    largest: Any,
    number: Any,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Any,
    padding_idx: int = -1,
) -> Any:
    if sparse:
        raise NotImplementedError("sparse gradients")
    count, width = given.shape
    given = cast(given, opmath(given.dtype))
    table = pnp.zeros((number, width), given.dtype)
    if mode == _MAX:
        columns = lax.broadcasted_iota(largest.dtype, largest.shape, 1)
        return cast(table.at[largest, columns].add(pnp.where(sizes[:, None] > 0, given, 0)), out.dtype)
    if mode == _MEAN:
        given = given / cast(pnp.maximum(sizes, 1), given.dtype)[:, None]
    rows = given[_bags(indices, offsets, count)]
    if per_sample_weights is not None:
        rows = rows * cast(per_sample_weights, rows.dtype)[:, None]
    if scale_grad_by_freq:
        rows = rows / cast(_frequencies(indices, number), rows.dtype)[:, None]
    return cast(table.at[indices].add(pnp.where(_kept(indices, padding_idx), rows, 0)), out.dtype)


def _frequencies(indices: Any, number: Any) -> Any:
    """For each index, the divisor of its gradient. Torch's loop over the distinct indices takes the count of the index
    at their number among all sorted ones (EmbeddingBag.cpp, `counts[indices_data[i]]`), not their own."""
    counts = pnp.zeros((number,), np.int64).at[indices].add(1)
    distinct = lax.cumsum(cast(counts > 0, np.dtype(np.int64)), 0) - 1
    return counts[pnp.sort(indices)[distinct[indices]]]


@ops("_embedding_bag_per_sample_weights_backward")
def _embedding_bag_weights_backward(
    out: Out, given: Any, weight: Any, indices: Any, offsets: Any, of_bags: Any, mode: int, padding_idx: int = -1
) -> Any:
    given = cast(given, out.compute)
    rows = given[_bags(indices, offsets, given.shape[0])] * cast(weight[indices], out.compute)
    return cast(pnp.sum(pnp.where(_kept(indices, padding_idx), rows, 0), axis=1), out.dtype)
