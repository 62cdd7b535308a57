"""Distributions of bools and integers, from uniform numbers. The algorithms are JAX's, and the numbers equal JAX's."""

from typing import Any

import numpy as np

from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import Array, broadcast_to, cast
from pycompiler.lax.shardings import divided
from pycompiler.numpy.promotion import promoted_inexact
from pycompiler.random.arguments import Dtype, check_key, int_dtype, result_shape
from pycompiler.random.containers import for_keys
from pycompiler.random.streams import UINTS, bits_of, subkeys, uniform_of

Shape = tuple[int, ...]


def _bernoulli(key: Array, p: Array, *, shape: Shape, dtype: Dtype, mode: str) -> Array:
    p = broadcast_to(cast(p, dtype), shape)
    if mode == "low":
        return lax.lt(uniform_of(key, shape, dtype), p)
    drawn = uniform_of(key, (2, *shape), dtype)
    high, low = (movement.index_in_dim(drawn, i, keepdims=False) for i in (0, 1))
    return lax.lt(lax.mul(low, 2.0 ** -int(dtypes.finfo(dtype).nmant)), lax.sub(p, high))


@for_keys
def bernoulli(key: Array, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None) -> Array:
    """True with probability p. The mode 'high' uses twice as many random bits, for small probabilities.

    Raises TypeError for a p that is not a float.

    >>> from pycompiler import random
    >>> random.bernoulli(random.key(1), 0.5, (4,))
    Array([False,  True, False,  True], dtype=bool)
    """
    check_key("bernoulli", key)
    if mode not in ("low", "high"):
        raise ValueError(f"bernoulli: the mode must be 'low' or 'high', got {mode!r}")
    size = result_shape("bernoulli", shape, p)
    dtype = get_aval(p).dtype
    if not dtypes.is_floating(dtype):
        raise TypeError(f"bernoulli: the probability p must be a float, got {short(get_aval(p))}")
    return divided("bernoulli", eager_jit(_bernoulli, key, p, shape=size, dtype=dtype, mode=mode), out_sharding)


def rademacher_of(key: Array, shape: Shape, dtype: Dtype) -> Array:
    """-1 or 1; for use inside other functions."""
    drawn = cast(lax.lt(uniform_of(key, shape, dtypes.scalar_dtype(float)), 0.5), dtype)
    return lax.sub(lax.mul(drawn, 2), 1)


def _rademacher(key: Array, *, shape: Shape, dtype: Dtype) -> Array:
    return rademacher_of(key, shape, dtype)


@for_keys
def rademacher(key: Array, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """-1 or 1 with equal probability; int32 unless a dtype is given."""
    check_key("rademacher", key)
    wanted = dtypes.canonicalize_requested(int if dtype is None else dtype, "rademacher")
    return divided(
        "rademacher", eager_jit(_rademacher, key, shape=result_shape("rademacher", shape), dtype=wanted), out_sharding
    )


def _clipped(x: Array, dtype: Dtype) -> Array:
    """An integer in another integer dtype, clamped to its range instead of wrapped."""
    given, wanted = dtypes.iinfo(get_aval(x).dtype), dtypes.iinfo(dtype)
    low, high = max(int(given.min), int(wanted.min)), min(int(given.max), int(wanted.max))
    return cast(lax.clamp(low, x, high), dtype)


def randint_of(key: Array, low: Array, high: Array, shape: Shape, dtype: Dtype) -> Array:
    """Integers from low up to high; for use inside other functions."""
    # Twice the bits of the result, modulo the span: the bias is of the order of span / 2**(2 width).
    high_dtype = get_aval(high).dtype
    beyond = lax.gt(high, _clipped(np.asarray(dtypes.iinfo(dtype).max, dtype), high_dtype))
    low, high, beyond = (broadcast_to(x, shape) for x in (_clipped(low, dtype), _clipped(high, dtype), beyond))
    width = dtype.itemsize * 8
    unsigned = UINTS[width]
    upper, lower = (bits_of(subkey, width, shape) for subkey in subkeys(key, 2))
    span = lax.select(lax.le(high, low), 1, cast(lax.sub(high, low), unsigned))
    span = lax.select(lax.bitwise_and(beyond, lax.gt(high, low)), lax.add(span, 1), span)
    multiplier = lax.rem(broadcast_to(cast(2 ** (width // 2), unsigned), shape), span)
    multiplier = lax.rem(lax.mul(multiplier, multiplier), span)
    offset = lax.add(lax.mul(lax.rem(upper, span), multiplier), lax.rem(lower, span))
    return lax.add(low, cast(lax.rem(offset, span), dtype))


def _randint(key: Array, low: Array, high: Array, *, shape: Shape, dtype: Dtype) -> Array:
    if dtype.itemsize >= 4:
        return randint_of(key, low, high, shape, dtype)
    # The numbers are drawn with 32 bits, for a small bias, and with bounds clamped to the range of the dtype.
    limits = dtypes.iinfo(dtype)
    low, high = (
        lax.clamp(int(limits.min), cast(x, dtypes.int32), int(limits.max) + extra) for x, extra in ((low, 0), (high, 1))
    )
    return cast(randint_of(key, low, high, shape, dtypes.int32), dtype)


@for_keys
def randint(key: Array, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Integers from minval up to, not including, maxval; int32 unless a dtype is given. An empty range gives minval.

    >>> from pycompiler import random
    >>> random.randint(random.key(4), (5,), 0, 10)
    Array([5, 2, 1, 8, 1], dtype=int32)
    """
    check_key("randint", key)
    wanted = int_dtype("randint", dtype)
    bounds = [_bound(x, wanted) for x in (minval, maxval)]
    size = result_shape("randint", shape, *bounds)
    default = dtypes.scalar_dtype(int)
    low, high = (x if dtypes.is_integer(get_aval(x).dtype) else cast(x, default) for x in bounds)
    return divided("randint", eager_jit(_randint, key, low, high, shape=size, dtype=wanted), out_sharding)


def _bound(x: Any, dtype: Dtype) -> Any:
    """A bound. If only the dtype of the result holds a Python integer, the integer gets that dtype."""
    limits, default = dtypes.iinfo(dtype), dtypes.iinfo(dtypes.scalar_dtype(int))
    if type(x) is int and not int(default.min) <= x <= int(default.max) and int(limits.min) <= x <= int(limits.max):
        return np.asarray(x, dtype)
    return x


def _geometric(key: Array, p: Array, *, shape: Shape, dtype: Dtype) -> Array:
    u = uniform_of(key, shape, get_aval(p).dtype)
    u = lax.select(lax.eq(u, 0.0), 1.0, u)
    failures = broadcast_to(lax.log1p(lax.neg(p)), shape)
    return cast(lax.add(lax.floor(lax.div(lax.log(u), failures)), 1.0), dtype)


@for_keys
def geometric(key: Array, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """The number of trials, of probability p, until the first success; int32 unless a dtype is given."""
    check_key("geometric", key)
    wanted = int_dtype("geometric", dtype)
    size = result_shape("geometric", shape, p)
    (p,) = promoted_inexact("geometric", p)
    return divided("geometric", eager_jit(_geometric, key, p, shape=size, dtype=wanted), out_sharding)
