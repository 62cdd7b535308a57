"""The gamma distribution, by rejection, and distributions based on it. Algorithms and numbers are JAX's.

Reference: Marsaglia and Tsang, "A simple method for generating gamma variables" (2000). Each element has a separate
key. One loop draws for all elements, until each draw is accepted.
"""

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.dtype import finfo
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.control_flow import while_loop
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, broadcasts, canonical_shape, cast
from pycompiler.lax.shardings import divided
from pycompiler.lax.special import random_gamma_grad
from pycompiler.random.arguments import Dtype, check_castable, check_key, float_dtype, result_shape, sampled
from pycompiler.random.containers import for_keys
from pycompiler.random.continuous import exponential_from
from pycompiler.random.discrete import rademacher_of
from pycompiler.random.streams import (
    Words,
    normal_each,
    normal_of,
    split_each,
    split_keys,
    subkeys,
    uniform_each,
    uniform_of,
    words_of,
)
from pycompiler.transforms import custom_jvp

Shape = tuple[int, ...]


def _until_none(
    condition: Callable[..., Array], body: Callable[..., tuple[Array, ...]], *start: Array
) -> tuple[Array, ...]:
    """A loop for each element: elements whose condition no longer holds keep their values."""

    def running(state: tuple[Array, ...]) -> Array:
        return reduction.reduce_or(state[0], tuple(range(len(get_aval(state[0]).shape))))

    def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
        run, *before = state
        after = [lax.select(run, new, old) for new, old in zip(body(*before), before, strict=True)]
        return (lax.bitwise_and(run, condition(*after)), *after)

    return while_loop(running, step, (condition(*start), *start))[1:]


def _gamma_elements(keys: Words, alpha: Array, *, log_space: bool) -> Array:
    """A sample for each key and alpha, or its logarithm."""
    aval = get_aval(alpha)
    dtype = aval.dtype

    def constant(value: float) -> Array:
        return broadcast_to(cast(value, dtype), aval.shape)

    zero, one = constant(0.0), constant(1.0)
    is_large = lax.ge(alpha, 1.0)
    d = lax.sub(lax.select(is_large, alpha, lax.add(alpha, 1.0)), 1.0 / 3.0)
    c = lax.div(1.0 / 3.0, lax.sqrt(d))

    def is_rejected(*state: Array) -> Array:
        x, v, u = state[-3:]
        quick = lax.ge(u, lax.sub(1.0, lax.mul(lax.mul(x, x), 0.0331)))
        bound = lax.add(lax.mul(x, 0.5), lax.mul(d, lax.add(lax.sub(1.0, v), lax.log(v))))
        return lax.bitwise_and(quick, lax.ge(lax.log(u), bound))

    def draw_v(*state: Array) -> tuple[Array, ...]:
        key, subkey = split_each(state[:-2], 2)
        x = normal_each(subkey, dtype)
        return (*key, x, lax.add(lax.mul(x, c), 1.0))

    def draw(*state: Array) -> tuple[Array, ...]:
        key, x_key, u_key = split_each(state[:-3], 3)
        *_, x, v = _until_none(lambda *state: lax.le(state[-1], 0.0), draw_v, *x_key, zero, constant(-1.0))
        return (*key, lax.mul(x, x), lax.mul(lax.mul(v, v), v), uniform_each(u_key, dtype))

    key, subkey = split_each(keys, 2)
    *_, v, _ = _until_none(is_rejected, draw, *key, zero, one, constant(2.0))
    # For alpha below 1: the sample for alpha + 1, times u ** (1 / alpha).
    u = uniform_each(subkey, dtype)
    if log_space:
        log_u = lax.neg(exponential_from(u))
        kept = lax.bitwise_or(is_large, lax.eq(log_u, 0.0))
        boost = lax.select(kept, zero, lax.mul(log_u, lax.div(1.0, alpha)))
        return lax.add(lax.add(lax.log(d), lax.log(v)), boost)
    boost = lax.select(is_large, one, lax.pow(lax.sub(1.0, u), lax.div(1.0, alpha)))
    return lax.mul(lax.mul(d, v), boost)


@partial(custom_jvp, nondiff_argnums=(2,))
def _keeping_quantiles(drawn: Array, alpha: Array, log_space: bool) -> Array:
    """The sample from a loop without derivative. Its derivative by alpha keeps the quantile of each number."""
    return drawn


@partial(_keeping_quantiles.defjvp, symbolic_zeros=True)
def _quantile_rule(log_space: bool, primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    drawn, alpha = primals
    if not log_space:
        return drawn, lax.mul(random_gamma_grad(alpha, drawn), tangents[1])
    # A sample that underflows its dtype has the slope of the smallest number.
    sample = lax.max(lax.exp(drawn), float(finfo(get_aval(drawn).dtype).tiny))
    return drawn, lax.mul(lax.div(random_gamma_grad(alpha, sample), sample), tangents[1])


def gamma_of(key: Any, alpha: Any, shape: Shape, dtype: Dtype, *, log_space: bool) -> Array:
    """Samples of a shape, or their logarithms; for use inside other functions."""
    alpha = broadcast_to(cast(alpha, dtype), shape)
    count = prod(shape)
    keys = words_of(split_keys(key, (count,)))
    flat = movement.reshape(lax.stop_gradient(alpha), (count,))
    drawn = movement.reshape(_gamma_elements(keys, flat, log_space=log_space), shape)
    return _keeping_quantiles(drawn, alpha, log_space)


def _gamma(key: Array, a: Array, *, shape: Shape, dtype: Dtype, log_space: bool) -> Array:
    return gamma_of(key, a, shape, dtype, log_space=log_space)


@for_keys
def gamma(key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the gamma distribution with shape parameter a and scale 1."""
    check_key("gamma", key)
    size, wanted = result_shape("gamma", shape, a), float_dtype("gamma", dtype)
    return divided("gamma", eager_jit(_gamma, key, a, shape=size, dtype=wanted, log_space=False), out_sharding)


@for_keys
def loggamma(key: Any, a: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """The logarithm of numbers of the gamma distribution, accurate even if these underflow the dtype."""
    check_key("loggamma", key)
    size, wanted = result_shape("loggamma", shape, a), float_dtype("loggamma", dtype)
    return divided("loggamma", eager_jit(_gamma, key, a, shape=size, dtype=wanted, log_space=True), out_sharding)


def _beta(key: Array, a: Array, b: Array, *, shape: Shape, dtype: Dtype) -> Array:
    key_a, key_b = subkeys(key, 2)
    log_a = gamma_of(key_a, a, shape, dtype, log_space=True)
    log_b = gamma_of(key_b, b, shape, dtype, log_space=True)
    greatest = lax.max(log_a, log_b)
    a, b = (lax.exp(lax.sub(x, greatest)) for x in (log_a, log_b))
    return lax.div(a, lax.add(a, b))


@for_keys
def beta(key: Any, a: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the beta distribution, in 0..1."""
    check_key("beta", key)
    wanted = float_dtype("beta", dtype)
    check_castable("beta", wanted, a, b)
    return divided(
        "beta", eager_jit(_beta, key, a, b, shape=result_shape("beta", shape, a, b), dtype=wanted), out_sharding
    )


def _chisquare(key: Array, df: Array, *, shape: Shape, dtype: Dtype) -> Array:
    half = lax.div(cast(df, dtype), 2.0)
    return lax.mul(lax.exp(gamma_of(key, half, shape, dtype, log_space=True)), 2.0)


@for_keys
def chisquare(key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the chi-square distribution of df degrees of freedom."""
    return divided(
        "chisquare", sampled("chisquare", _chisquare, key, shape, float_dtype("chisquare", dtype), df), out_sharding
    )


def _f(key: Array, dfnum: Array, dfden: Array, *, shape: Shape, dtype: Dtype) -> Array:
    dfnum, dfden = (broadcast_to(cast(x, dtype), shape) for x in (dfnum, dfden))
    den_key, num_key = subkeys(key, 2)
    num, den = (_chisquare(k, df, shape=shape, dtype=dtype) for k, df in ((num_key, dfnum), (den_key, dfden)))
    return lax.div(lax.div(num, dfnum), lax.div(den, dfden))


@for_keys
def f(key: Any, dfnum: Any, dfden: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the F distribution of dfnum and dfden degrees of freedom."""
    return divided("f", sampled("f", _f, key, shape, float_dtype("f", dtype), dfnum, dfden), out_sharding)


def _t(key: Array, df: Array, *, shape: Shape, dtype: Dtype) -> Array:
    normal_key, gamma_key = subkeys(key, 2)
    half = broadcast_to(lax.div(cast(df, dtype), 2.0), shape)
    drawn = gamma_of(gamma_key, half, shape, dtype, log_space=False)
    return lax.mul(normal_of(normal_key, shape, dtype), lax.sqrt(lax.div(half, drawn)))


@for_keys
def t(key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of Student's t distribution of df degrees of freedom."""
    return divided("t", sampled("t", _t, key, shape, float_dtype("t", dtype), df), out_sharding)


def _dirichlet(key: Array, alpha: Array, *, shape: Shape, dtype: Dtype) -> Array:
    logs = gamma_of(key, alpha, (*shape, get_aval(alpha).shape[-1]), dtype, log_space=True)
    last = len(shape)
    sizes = get_aval(logs).shape

    def spread(x: Array) -> Array:
        return movement.broadcast_in_dim(x, sizes, tuple(range(last)))

    weights = lax.exp(lax.sub(logs, spread(lax.stop_gradient(reduction.reduce_max(logs, (last,))))))
    return lax.div(weights, spread(reduction.reduce_sum(weights, (last,))))


@for_keys
def dirichlet(key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Probabilities of the Dirichlet distribution, along the last axis of alpha; `shape` does not include this axis.

    Raises ValueError for an alpha without dimensions.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import random
    >>> random.dirichlet(random.key(0), pnp.ones(3)).sum().round(3)
    Array(1., dtype=float32)
    """
    check_key("dirichlet", key)
    wanted = float_dtype("dirichlet", dtype)
    result_shape("dirichlet", None, alpha)
    aval = get_aval(alpha)
    if not aval.shape:
        raise ValueError(f"dirichlet: alpha must have at least one dimension, got {short(aval)}")
    batch = aval.shape[:-1] if shape is None else canonical_shape("dirichlet", shape)
    if not broadcasts(aval.shape[:-1], batch):
        raise ValueError(f"dirichlet: {short(aval)} without its last axis does not broadcast to the shape {batch}")
    return divided("dirichlet", eager_jit(_dirichlet, key, alpha, shape=batch, dtype=wanted), out_sharding)


def _generalized_normal(key: Array, p: Array, *, shape: Shape, dtype: Dtype) -> Array:
    gamma_key, sign_key = subkeys(key, 2)
    drawn = gamma_of(gamma_key, 1 / p, shape, dtype, log_space=False)
    return rademacher_of(sign_key, shape, dtype) * drawn ** (1 / p)


@for_keys
def generalized_normal(key: Any, p: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers whose density is proportional to exp(-|x|**p)."""
    check_key("generalized_normal", key)
    size, wanted = result_shape("generalized_normal", shape, p), float_dtype("generalized_normal", dtype)
    return divided("generalized_normal", eager_jit(_generalized_normal, key, p, shape=size, dtype=wanted), out_sharding)


def _ball(key: Array, p: Array, *, d: int, shape: Shape, dtype: Dtype) -> Array:
    direction_key, radius_key = subkeys(key, 2)
    g = _generalized_normal(direction_key, p, shape=(*shape, d), dtype=dtype)
    e = exponential_from(uniform_of(radius_key, shape, dtype))
    length = ((abs(g) ** p).sum(-1) + e) ** (1 / p)
    return g / length[..., None]


@for_keys
def ball(key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Points with uniform distribution in the unit ball of the p-norm in d dimensions, along the last axis."""
    check_key("ball", key)
    size, wanted = canonical_shape("ball", shape), float_dtype("ball", dtype)
    (count,) = canonical_shape("ball", d)
    return divided("ball", eager_jit(_ball, key, p, d=count, shape=size, dtype=wanted), out_sharding)
