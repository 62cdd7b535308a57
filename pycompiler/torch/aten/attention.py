"""Scaled dot-product attention, in blocks of keys: the matrix of all scores is never stored."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast

ops = Family()

# The number of keys of a block. A block of scores of one head stays in the cache.
_BLOCK = 256


def _blocks(keys: Any) -> list[tuple[int, int]]:
    """The bounds of the blocks; a symbolic number of keys is one block."""
    if not isinstance(keys, int) or keys <= _BLOCK:
        return [(0, keys)]
    return [(start, min(start + _BLOCK, keys)) for start in range(0, keys, _BLOCK)]


def _by_keys(x: Any, heads: int) -> Any:
    """The rows of all heads that share a head of the keys (grouped queries), as rows of one head."""
    batch, own, length, width = x.shape
    return x if own == heads else x.reshape((batch, heads, own // heads * length, width))


def _product(x: Any, other: Any) -> Any:
    """The product of matrices by heads, with `other` of the keys' heads."""
    made = pnp.matmul(_by_keys(x, other.shape[1]), other)
    return made.reshape((*x.shape[:-1], other.shape[-1]))


def _transposed_product(x: Any, other: Any, heads: int) -> Any:
    """The product of the transposed matrices and others, summed over the heads that share a head of the keys."""
    return pnp.matmul(pnp.swapaxes(_by_keys(x, heads), -1, -2), _by_keys(other, heads))


def _scores(query: Any, key: Any, mask: Any, start: Any, end: Any, is_causal: bool, scale: float) -> Any:
    """The scores of all queries with a block of keys."""
    part = lax.slice_in_dim(key, start, end, 1, 2)
    made = _product(query, pnp.swapaxes(part, -1, -2)) * scale
    if mask is not None:
        shape = (1,) * (4 - mask.ndim) + tuple(mask.shape)
        mask = mask.reshape(shape)
        mask = mask if shape[-1] == 1 else lax.slice_in_dim(mask, start, end, 1, 3)
        made = pnp.where(mask, made, -math.inf) if mask.dtype == bool else made + cast(mask, made.dtype)
    if is_causal:
        shape = tuple(made.shape[-2:])
        rows = lax.broadcasted_iota(np.int64, shape, 0)
        columns = lax.broadcasted_iota(np.int64, shape, 1) + start
        made = pnp.where(columns <= rows, made, -math.inf)
    return made


def attend(query: Any, key: Any, value: Any, mask: Any, is_causal: bool, scale: float) -> tuple[Any, Any]:
    """The weighted values of [batch, heads, length, width], and the logarithm of the sum of the exponentials of each
    query's scores. A mask says which scores count, or is added to them."""
    return attend_by(lambda start, end: _scores(query, key, mask, start, end, is_causal, scale), value)[:2]


def attend_by(scores_of: Callable[[Any, Any], Any], value: Any) -> tuple[Any, Any, Any]:
    """Like `attend`, from a function of the bounds of a block of keys. Also returns the largest score of each query."""
    # The largest score so far, the sum of exponentials and the sum of values, both relative to it.
    largest = total = made = None
    for start, end in _blocks(value.shape[2]):
        scores = scores_of(start, end)
        top = pnp.max(scores, axis=-1, keepdims=True)
        top = top if largest is None else pnp.maximum(largest, top)
        # A row whose scores are all hidden has weights of 0.
        base = pnp.where(top == -math.inf, 0, top)
        weights = lax.exp(scores - base)
        part = _product(weights, lax.slice_in_dim(value, start, end, 1, 2))
        count = pnp.sum(weights, axis=-1, keepdims=True)
        if largest is not None:
            shrink = lax.exp(largest - base)
            count, part = total * shrink + count, made * shrink + part
        largest, total, made = top, count, part
    assert largest is not None
    assert total is not None
    hidden = total == 0
    result = pnp.where(hidden, 0, made / pnp.where(hidden, 1, total))
    spread = pnp.where(hidden, -math.inf, lax.log(pnp.where(hidden, 1, total)) + pnp.where(hidden, 0, largest))
    return result, spread[..., 0], largest[..., 0]


@ops("_scaled_dot_product_flash_attention_for_cpu")
def _attention(
    out: Out,
    query: Any,
    key: Any,
    value: Any,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> Any:
    if dropout_p:
        raise NotImplementedError("dropout in attention")
    dtype = query.dtype
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    query, key, value = (cast(x, opmath(dtype)) for x in (query, key, value))
    result, spread = attend(query, key, value, attn_mask, is_causal, scale)
    return cast(result, dtype), spread


@ops("_scaled_dot_product_flash_attention_for_cpu_backward")
def _attention_backward(
    out: Out,
    given: Any,
    query: Any,
    key: Any,
    value: Any,
    made: Any,
    spread: Any,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Any = None,
    scale: float | None = None,
) -> Any:
    if dropout_p:
        raise NotImplementedError("dropout in attention")
    dtype = query.dtype
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    given, query, key, value, made = (cast(x, opmath(dtype)) for x in (given, query, key, value, made))
    spread = cast(spread, query.dtype)[..., None]
    spread = pnp.where(spread == -math.inf, math.inf, spread)
    inner = pnp.sum(given * made, axis=-1, keepdims=True)
    slope_query: Any = None
    slopes_key, slopes_value = [], []
    for start, end in _blocks(key.shape[2]):
        weights = lax.exp(_scores(query, key, attn_mask, start, end, is_causal, scale) - spread)
        part = lax.slice_in_dim(value, start, end, 1, 2)
        slopes = weights * (_product(given, pnp.swapaxes(part, -1, -2)) - inner) * scale
        slopes_value.append(_transposed_product(weights, given, key.shape[1]))
        slopes_key.append(_transposed_product(slopes, query, key.shape[1]))
        more = _product(slopes, lax.slice_in_dim(key, start, end, 1, 2))
        slope_query = more if slope_query is None else slope_query + more
    joined = [parts[0] if len(parts) == 1 else lax.concatenate(parts, 2) for parts in (slopes_key, slopes_value)]
    return cast(slope_query, dtype), cast(joined[0], dtype), cast(joined[1], dtype)
