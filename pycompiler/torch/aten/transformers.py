"""Layers of transformers in evaluation, for which torch has one operation: attention of several heads, and a whole
encoder layer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.attention import attend
from pycompiler.torch.aten.normalization import layer_norm
from pycompiler.torch.table import Family, Out, cast

ops = Family()

# The types of masks: of pairs of query and key, of keys of a batch; any other: of all scores.
_PAIRS, _KEYS = 0, 1


def _linear(x: Any, weight: Any, bias: Any) -> Any:
    return pnp.matmul(x, cast(weight, x.dtype).T) + cast(bias, x.dtype)


def _hidden(mask: Any, mask_type: int | None) -> Any:
    """A mask over [batch, heads, queries, keys]: a number other than 0 hides the score, as torch reads it."""
    if mask is None:
        return None
    mask = mask if mask.dtype == bool else mask != 0
    if mask_type == _PAIRS:
        return mask[None, None]
    if mask_type == _KEYS:
        return mask[:, None, None, :]
    if mask.ndim != 4:
        raise NotImplementedError(f"a mask of {mask.ndim} dimensions of the type {mask_type}")
    return mask


def _heads(x: Any, count: int) -> Any:
    batch, length, width = x.shape
    return pnp.swapaxes(x.reshape(batch, length, count, width // count), 1, 2)


def _attention(
    inputs: tuple[Any, Any, Any],
    heads: int,
    projection: tuple[Any, Any],
    result: tuple[Any, Any],
    hidden: Any,
    wanted: bool = False,
) -> tuple[Any, Any]:
    """The result of attention, and the weights of all heads if they are wanted. Query, key and value are the thirds of
    the projection's rows."""
    query, key, value = inputs
    if query is key and key is value:
        parts = pnp.split(_linear(query, *projection), 3, axis=-1)
    else:
        weights, biases = (pnp.split(part, 3) for part in projection)
        parts = [_linear(x, *pair) for x, pair in zip(inputs, zip(weights, biases, strict=True), strict=True)]
    query, key, value = (_heads(part, heads) for part in parts)
    scale = 1 / math.sqrt(query.shape[-1])
    made: Any
    weights = None
    if wanted:
        scores = pnp.matmul(query, pnp.swapaxes(key, -1, -2)) * scale
        scores = scores if hidden is None else pnp.where(hidden, -np.inf, scores)
        weights = lax.exp(scores - pnp.max(scores, axis=-1, keepdims=True))
        weights = weights / pnp.sum(weights, axis=-1, keepdims=True)
        made = pnp.matmul(weights, value)
    else:
        made, spread = attend(query, key, value, None if hidden is None else ~hidden, False, scale)
        # The softmax of a row with only hidden scores.
        made = made if hidden is None else pnp.where(spread[..., None] == -np.inf, np.nan, made)
    made = pnp.swapaxes(made, 1, 2)
    return _linear(made.reshape(*made.shape[:2], -1), *result), weights


@ops("_native_multi_head_attention")
def _native_multi_head_attention(
    out: Out,
    query: Any,
    key: Any,
    value: Any,
    embed_dim: Any,
    num_head: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    mask: Any = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> Any:
    nodes = out.node.args[:3]
    query = cast(query, out.compute)
    key = query if nodes[1] is nodes[0] else cast(key, out.compute)
    value = key if nodes[2] is nodes[1] else cast(value, out.compute)
    made, weights = _attention(
        (query, key, value),
        num_head,
        (qkv_weight, qkv_bias),
        (proj_weight, proj_bias),
        _hidden(mask, mask_type),
        need_weights,
    )
    if weights is None:
        weights = pnp.zeros((0,), out.dtype)
    elif average_attn_weights:
        weights = pnp.mean(weights, axis=1)
    return cast(made, out.dtype), cast(weights, out.dtype)


@ops("_transformer_encoder_layer_fwd")
def _transformer_encoder_layer(
    out: Out,
    x: Any,
    embed_dim: Any,
    num_heads: int,
    qkv_weight: Any,
    qkv_bias: Any,
    proj_weight: Any,
    proj_bias: Any,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Any,
    norm_bias_1: Any,
    norm_weight_2: Any,
    norm_bias_2: Any,
    ffn_weight_1: Any,
    ffn_bias_1: Any,
    ffn_weight_2: Any,
    ffn_bias_2: Any,
    mask: Any = None,
    mask_type: int | None = None,
) -> Any:
    x = cast(x, out.compute)

    def first_norm(x: Any) -> Any:
        return layer_norm(x, 1, norm_weight_1, norm_bias_1, eps)[0]

    def second_norm(x: Any) -> Any:
        return layer_norm(x, 1, norm_weight_2, norm_bias_2, eps)[0]

    def attention(x: Any) -> Any:
        hidden = _hidden(mask, mask_type)
        return _attention((x, x, x), num_heads, (qkv_weight, qkv_bias), (proj_weight, proj_bias), hidden)[0]

    def feed_forward(x: Any) -> Any:
        inner = _linear(x, ffn_weight_1, ffn_bias_1)
        inner = 0.5 * inner * (1 + lax.erf(inner * math.sqrt(0.5))) if use_gelu else pnp.maximum(inner, 0)
        return _linear(inner, ffn_weight_2, ffn_bias_2)

    if norm_first:
        x = x + attention(first_norm(x))
        return cast(x + feed_forward(second_norm(x)), out.dtype)
    x = first_norm(x + attention(x))
    return cast(second_norm(x + feed_forward(x)), out.dtype)
