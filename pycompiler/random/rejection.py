"""Poisson, binomial and multinomial numbers: by inversion if few steps are expected, else by rejection.

The algorithms are JAX's, and the numbers equal JAX's.

References: Knuth, "The Art of Computer Programming", volume 2; Hormann, "The transformed rejection method for
generating Poisson random variables" (1993); Hormann, "The generation of binomial random variates" (1993);
Kachitvichyanukul and Schmeiser, "Binomial random variate generation" (1988).
"""

from typing import Any

import numpy as np

from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.control_flow import fori_loop, while_loop
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import Array, broadcast_to, cast
from pycompiler.lax.shardings import divided
from pycompiler.lax.special import lgamma
from pycompiler.numpy import cumulative, indexing, ufuncs
from pycompiler.numpy.promotion import promoted_inexact
from pycompiler.random.arguments import Dtype, check_key, float_dtype, int_dtype, result_shape
from pycompiler.random.containers import for_keys
from pycompiler.random.streams import numbers, split_keys, subkeys, uniform_of

Shape = tuple[int, ...]


def _any(x: Array) -> Array:
    return reduction.reduce_or(x, tuple(range(len(get_aval(x).shape))))


def _filled(value: float, like: Array) -> Array:
    aval = get_aval(like)
    return broadcast_to(cast(value, aval.dtype), aval.shape)


def _poisson_knuth(key: Array, lam: Array, dtype: Dtype) -> Array:
    """The number of uniform numbers whose product stays above exp(-lam)."""
    shape = get_aval(lam).shape

    def body(state: tuple[Array, ...]) -> tuple[Array, ...]:
        count, key, log_product = state
        key, subkey = subkeys(key, 2)
        count = lax.select(log_product > -lam, count + 1, count)
        return count, key, log_product + lax.log(uniform_of(subkey, shape, dtypes.float32))

    start = (broadcast_to(cast(0, dtype), shape), numbers(key), _filled(0.0, lam))
    return while_loop(lambda state: _any(state[2] > -lam), body, start)[0] - 1


def _poisson_rejection(key: Array, lam: Array, dtype: Dtype) -> Array:
    shape, kind = get_aval(lam).shape, get_aval(lam).dtype
    log_lam = lax.log(lam)
    b = 0.931 + 2.53 * lax.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2)

    def body(state: tuple[Array, ...]) -> tuple[Array, ...]:
        out, accepted, key = state
        key, u_key, v_key = subkeys(key, 3)
        u = uniform_of(u_key, shape, kind) - 0.5
        v = uniform_of(v_key, shape, kind)
        shifted = 0.5 - abs(u)
        k = lax.floor((2 * a / shifted + b) * u + lam + 0.43)
        s = lax.log(v * inverse_alpha / (a / (shifted * shifted) + b))
        likely = s <= -lam + k * log_lam - lgamma(k + 1)
        rejected = (k < 0) | ((shifted < 0.013) & (v > shifted))
        accept = ((shifted >= 0.07) & (v <= v_r)) | (~rejected & likely)
        return lax.select(accept, k, out), accepted | accept, key

    start = (_filled(-1.0, lam), broadcast_to(False, shape), numbers(key))
    return cast(while_loop(lambda state: _any(~state[1]), body, start)[0], dtype)


def _poisson(key: Array, lam: Array, *, shape: Shape, dtype: Dtype) -> Array:
    lam = broadcast_to(cast(lam, dtypes.float32), shape)
    is_small = lax.ne(lam, lam) | (lam < 10)
    small, large = lax.select(is_small, lam, 0.0), lax.select(is_small, 100000.0, lam)
    drawn = lax.select(is_small, _poisson_knuth(key, small, dtype), _poisson_rejection(key, large, dtype))
    return lax.select(lam == 0, broadcast_to(cast(0, dtype), shape), drawn)


@for_keys
def poisson(key: Array, lam: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Integers of the Poisson distribution of mean lam; int32 unless a dtype is given. A mean of nan gives -1."""
    check_key("poisson", key)
    return divided(
        "poisson",
        eager_jit(_poisson, key, lam, shape=result_shape("poisson", shape, lam), dtype=int_dtype("poisson", dtype)),
        out_sharding,
    )


def _stirling_tail(k: Array) -> Array:
    """log(k!) minus Stirling's formula for it."""
    tails = [0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211]
    tails += [0.0138761288230707, 0.0118967099458917, 0.010411265261972, 0.00925546218271273, 0.00833056343336287]
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    place = cast(lax.floor(lax.clamp(0.0, k, 9.0)), dtypes.int32)
    return lax.select(k <= 9, indexing.getitem(np.array(tails, get_aval(k).dtype), place), series)


def _binomial_inversion(key: Array, count: Array, p: Array) -> Array:
    """The number of geometric waiting times whose sum is at most the count."""
    aval = get_aval(p)
    log_failure = lax.log1p(-p)

    def body(state: tuple[Array, ...]) -> tuple[Array, ...]:
        successes, trials, key = state
        subkey, key = subkeys(key, 2)
        successes = lax.select(trials <= count, successes + 1, successes)
        waited = lax.ceil(lax.log(uniform_of(subkey, aval.shape, aval.dtype)) / log_failure)
        return successes, trials + waited, key

    start = (_filled(0.0, p), _filled(0.0, p), numbers(key))
    return while_loop(lambda state: _any(state[1] <= count), body, start)[0] - 1


def _binomial_rejection(key: Array, count: Array, p: Array) -> Array:
    aval = get_aval(p)
    deviation = lax.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = count * p + 0.5
    v_r = 0.92 - 4.2 / b
    r = p / (1 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    m = lax.floor((count + 1) * p)

    def body(state: tuple[Array, ...]) -> tuple[Array, ...]:
        out, accepted, key = state
        key, u_key, v_key = subkeys(key, 3)
        u = uniform_of(u_key, aval.shape, aval.dtype) - 0.5
        v = uniform_of(v_key, aval.shape, aval.dtype)
        us = 0.5 - abs(u)
        quick = (us >= 0.07) & (v <= v_r)
        k = lax.floor((2 * a / us + b) * u + c)
        rejected = (k < 0) | (k > count)
        v = lax.log(v * alpha / (a / (us * us) + b))
        bound = (
            (m + 0.5) * lax.log((m + 1) / (r * (count - m + 1)))
            + (count + 1) * lax.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * lax.log(r * (count - k + 1) / (k + 1))
            + _stirling_tail(m)
            + _stirling_tail(count - m)
            - _stirling_tail(k)
            - _stirling_tail(count - k)
        )
        accept = quick | (~rejected & (v <= bound))
        return lax.select(accept, k, out), accepted | accept, key

    start = (_filled(-1.0, p), broadcast_to(False, aval.shape), numbers(key))
    return while_loop(lambda state: _any(~state[1]), body, start)[0]


def _binomial(key: Array, n: Array, p: Array, *, shape: Shape, dtype: Dtype) -> Array:
    kind = get_aval(p).dtype
    n, p = (broadcast_to(cast(x, kind), shape) for x in (n, p))
    below_half = p < 0.5
    q = lax.select(below_half, p, 1.0 - p)
    no_count = lax.ne(n, n) | (n < 0.0)
    no_limit = lax.eq(n, np.inf)
    not_p, negative_p = lax.ne(q, q), q < 0.0
    q = lax.select(not_p | negative_p, 0.01, q)
    few = no_count | (n * q <= 10.0)
    n = lax.floor(n)
    inverted = _binomial_inversion(key, lax.select(few, n, 0.0), q)
    rejected = _binomial_rejection(key, lax.select(few, 10000.0, n), lax.select(few, 0.5, q))
    samples = lax.select(few, cast(inverted, dtype), cast(rejected, dtype))
    invalid = negative_p | not_p | no_count
    samples = lax.select(invalid, np.asarray(np.nan, dtype), samples)
    samples = lax.select(no_limit & ~invalid, np.asarray(np.inf, dtype), samples)
    return lax.select(below_half | no_count | not_p | no_limit, samples, cast(n, dtype) - samples)


@for_keys
def binomial(key: Array, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Array:
    """The number of successes in n trials of probability p, as floats; nan for an invalid n or p."""
    check_key("binomial", key)
    wanted = float_dtype("binomial", dtype)
    size = result_shape("binomial", shape, n, p)
    (p,) = promoted_inexact("binomial", p)
    return eager_jit(_binomial, key, n, p, shape=size, dtype=wanted)


def _multinomial(key: Array, n: Array, p: Array, *, shape: Shape, dtype: Dtype) -> Array:
    kind = get_aval(p).dtype
    n, p = broadcast_to(cast(n, kind), shape[:-1]), broadcast_to(p, shape)
    last, categories = len(shape) - 1, shape[-1]
    p = movement.transpose(p, (last, *range(last)))
    left = movement.rev(cumulative.cumsum(movement.rev(p, (0,)), 0), (0,))
    ratios = ufuncs.clip(p / lax.select(lax.eq(left, 0.0), 1.0, left), 0, 1)
    keys = split_keys(key, (categories,))

    def body(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        remainder, counts = state
        ratio, subkey = (movement.dynamic_index_in_dim(x, i, keepdims=False) for x in (ratios, keys))
        count = _binomial(subkey, remainder, ratio, shape=shape[:-1], dtype=kind)
        return remainder - count, movement.dynamic_update_index_in_dim(counts, count, i, 0)

    _, counts = fori_loop(0, categories, body, (n, broadcast_to(cast(0.0, kind), get_aval(p).shape)))
    return cast(movement.transpose(counts, (*range(1, last + 1), 0)), dtype)


@for_keys
def multinomial(key: Array, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int | bool = 1) -> Array:
    """The count of each category in n trials; `p` are probabilities along the last axis. `unroll` has no effect.

    Raises ValueError for a p without dimensions.
    """
    check_key("multinomial", key)
    size = result_shape("multinomial", shape, p)
    if not size:
        raise ValueError("multinomial: p must have at least one dimension, that of the categories")
    result_shape("multinomial", size[:-1], n)
    (p,) = promoted_inexact("multinomial", p)
    wanted = dtypes.canonicalize_requested(float if dtype is None else dtype, "multinomial")
    return eager_jit(_multinomial, key, n, p, shape=size, dtype=wanted)
