"""Scaled dot-product attention, with grouped heads, masks, windows and lengths."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import contraction, movement
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, broadcasts, cast, check_arrays
from pycompiler.lax.precision import DotAlgorithmPreset
from pycompiler.nn.functions import softmax
from pycompiler.numpy.promotion import converted
from pycompiler.scipy.special import logsumexp

_NAME = "dot_product_attention"


def _with_four(x: Array) -> Array:
    missing = 4 - len(get_aval(x).shape)
    return movement.expand_dims(x, range(missing)) if missing > 0 else x


def _check(what: str, x: Any, shape: tuple[Any, ...], dtype: Any = None) -> None:
    """Raise ValueError unless x has the dtype and the shape. None in the shape means any size."""
    aval = get_aval(x)
    fits = len(aval.shape) == len(shape) and all(
        want is None or size == want for size, want in zip(aval.shape, shape, strict=False)
    )
    if not fits or (dtype is not None and aval.dtype != dtype):
        wanted = ",".join("?" if size is None else str(size) for size in shape)
        raise ValueError(f"{_NAME}: {what} must be {'' if dtype is None else dtype.name}[{wanted}], got {short(aval)}")


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """softmax(query key^T scale + bias) value for each head, the softmax in float32.

    query: [batch, T, heads, size] (or without batch); key and value: [batch, S, groups, size]. heads must be a multiple
    of groups. bias is added to the logits [batch, heads, T, S]; mask selects the logits that count. scale: by default 1
    / sqrt(size). With is_causal, position t reads positions up to t. local_window_size (left, right) is the number of
    positions on both sides. The lengths (int32[batch]) are the numbers of valid positions; at positions after them the
    result is 0. With return_residual, the logarithm of the softmax's denominator [batch, T, heads] is a second result.
    implementation: None or 'xla'.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import nn
    >>> nn.dot_product_attention(*[pnp.ones((5, 2, 8))] * 3).shape
    (5, 2, 8)
    """
    if implementation not in (None, "xla"):
        raise ValueError(f"{_NAME}: implementation must be None or 'xla', got {implementation!r}")
    optional = {
        "bias": bias,
        "mask": mask,
        "query_seq_lengths": query_seq_lengths,
        "key_value_seq_lengths": key_value_seq_lengths,
    }
    given = {name: x for name, x in optional.items() if x is not None}
    check_arrays(_NAME, query, key, value, *given.values())
    shape = get_aval(query).shape
    query, key, value = map(_with_four, (query, key, value))
    for name in ("bias", "mask"):
        if name in given:
            given[name] = _with_four(given[name])
    _check("key", key, (None,) * 4)
    batch, sources, groups, size = get_aval(key).shape
    dtype = get_aval(key).dtype
    _check("value", value, (batch, sources, groups, size), dtype)
    _check("query", query, (batch, None, None, size), dtype)
    targets, heads = get_aval(query).shape[1:3]
    if heads % groups:
        raise ValueError(f"{_NAME}: the query's {heads} heads must be a multiple of the key's {groups}")
    for name in ("query_seq_lengths", "key_value_seq_lengths"):
        if name in given:
            _check(name, given[name], (batch,), dtypes.int32)
    if "mask" in given:
        _check("mask", given["mask"], (None,) * 4, dtypes.bool_)
    for name in ("bias", "mask"):
        if name in given and not broadcasts(get_aval(given[name]).shape, (batch, heads, targets, sources)):
            raise ValueError(
                f"{_NAME}: {name} {short(get_aval(given[name]))} does not broadcast to the logits' shape "
                f"{(batch, heads, targets, sources)}"
            )
    window = (local_window_size, local_window_size) if isinstance(local_window_size, int) else local_window_size
    out, residual = eager_jit(
        _attention,
        query,
        key,
        value,
        *given.values(),
        names=tuple(given),
        scale=float(1 / np.sqrt(size)) if scale is None else scale,
        causal=is_causal,
        window=window,
    )
    out = movement.reshape(out, shape)
    return (out, movement.reshape(residual, shape[:-1])) if return_residual else out


def _attention(
    query: Array,
    key: Array,
    value: Array,
    *rest: Array,
    names: tuple[str, ...],
    scale: Any,
    causal: bool,
    window: tuple[int, int] | None,
) -> tuple[Array, Array]:
    given = dict(zip(names, rest, strict=True))
    dtype = get_aval(query).dtype
    batch, targets, heads, size = get_aval(query).shape
    sources, groups = get_aval(key).shape[1:3]
    # [batch, groups, heads of the group, T, S]: the heads of a group share its key and value.
    grouped = movement.reshape(query, (batch, targets, groups, heads // groups, size))
    wide = dtypes.wider(dtype, dtypes.float32)
    precision = DotAlgorithmPreset.BF16_BF16_F32 if dtype == dtypes.bfloat16 else None
    products = contraction.dot_general(grouped, key, (((4,), (3,)), ((0, 2), (0, 2))), precision, wide)
    logits = movement.transpose(products, (0, 1, 3, 2, 4))
    logits = movement.reshape(logits, (batch, heads, targets, sources))
    logits = lax.mul(logits, cast(scale, wide))
    if "bias" in given:
        both = converted(_NAME, logits, broadcast_to(given["bias"], get_aval(logits).shape))
        logits = cast(lax.add(*both), wide)
    logits = cast(_masked(logits, given, causal, window), dtypes.float32)
    weights = cast(softmax(logits, axis=-1), dtype)
    weights = movement.reshape(weights, (batch, groups, heads // groups, targets, sources))
    out = contraction.dot_general(weights, value, (((4,), (1,)), ((0, 1), (0, 2))))
    out = movement.reshape(movement.transpose(out, (0, 3, 1, 2, 4)), (batch, targets, heads, size))
    if "query_seq_lengths" in given:
        places = movement.broadcasted_iota(dtypes.int32, get_aval(out).shape, 1)
        counts = lax.lt(places, _along_batch(given["query_seq_lengths"], get_aval(out).shape))
        out = lax.mul(out, cast(counts, dtype))
    residual = movement.transpose(cast(logsumexp(logits, axis=-1), dtype), (0, 2, 1))
    return out, lax.stop_gradient(residual)


def _along_batch(lengths: Array, shape: tuple[Any, ...]) -> Array:
    return movement.broadcast_in_dim(lengths, shape, (0,))


def _masked(logits: Array, given: dict[str, Array], causal: bool, window: tuple[int, int] | None) -> Array:
    """The logits, with a large negative number in the place of masked ones."""
    shape, dtype = get_aval(logits).shape, get_aval(logits).dtype
    target, source = (movement.broadcasted_iota(dtypes.int32, shape, axis) for axis in (2, 3))
    conditions: list[Array] = []
    if "mask" in given:
        conditions.append(broadcast_to(given["mask"], shape))
    if causal:
        conditions.append(lax.ge(target, source))
    if window is not None:
        left, right = window
        conditions.append(lax.le(target, lax.add(source, left)))
        conditions.append(lax.ge(target, lax.sub(source, right)))
    if "query_seq_lengths" in given:
        conditions.append(lax.lt(target, _along_batch(given["query_seq_lengths"], shape)))
    if "key_value_seq_lengths" in given:
        conditions.append(lax.lt(source, _along_batch(given["key_value_seq_lengths"], shape)))
    if not conditions:
        return logits
    counts = conditions[0]
    for condition in conditions[1:]:
        counts = lax.bitwise_and(counts, condition)
    # The number is finite, so that a row without valid logits gives a mean, not nan.
    low = -0.7 * float(dtypes.finfo(dtypes.float32).max)
    return lax.select(counts, logits, movement.full_like(logits, cast(low, dtype)))
