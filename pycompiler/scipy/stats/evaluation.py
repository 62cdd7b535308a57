"""Evaluation of the functions of distributions: promotion, one compiled call, and shared parts."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast
from pycompiler.numpy.promotion import broadcast, broadcast_of, check_ranks, promoted_inexact_each
from pycompiler.scipy.special.exponentials import log1mexp

Function = Callable[..., Array]

HALF_LOG_2PI = 0.5 * float(np.log(2 * np.pi))


def evaluate(name: str, function: Function, *args: Any, weak: bool = True) -> Array:
    """function of the arguments in their common floating-point dtype and shape. TypeError for complex numbers.

    float16 and bfloat16 are computed in float32, and rounded once. As in JAX, only a scalar result may be weakly typed,
    and only with `weak`.
    """
    xs = promoted_inexact_each(name, *args)
    if dtypes.is_complex(get_aval(xs[0]).dtype):
        shown = " and ".join(short(get_aval(x)) for x in args)
        raise TypeError(f"{name}: takes real numbers, got {shown}; take their real and imaginary parts")
    check_ranks(name, *xs)
    broadcast_of(name, *xs)
    return eager_jit(_distribution, *xs, name=name, inner=function, weak=weak)


def _distribution(*xs: Array, name: str, inner: Function, weak: bool) -> Array:
    aval = get_aval(xs[0])
    if aval.dtype.itemsize < 4:
        xs = tuple(cast(x, dtypes.float32) for x in xs)
    value = inner(*broadcast(name, *xs))
    weak = weak and not get_aval(value).shape and all(get_aval(x).weak_type for x in xs)
    return cast(value, aval.dtype, weak)


def standardized(x: Array, loc: Array, scale: Array) -> Array:
    """(x - loc) / scale."""
    return lax.div(lax.sub(x, loc), scale)


def rescaled(x: Array, loc: Array, scale: Array) -> Array:
    """The inverse of `standardized`."""
    return lax.add(loc, lax.mul(scale, x))


def where(condition: Array, x: Any, y: Any) -> Array:
    """x if the condition holds, else y; numbers take the dtype and shape of the other one."""
    return lax.select(condition, x, y)


def valid(value: Array, *conditions: Array) -> Array:
    """The value, or nan if one of the conditions on the parameters does not hold."""
    return lax.select(every(*conditions), value, constant(value, np.nan))


def every(*conditions: Array) -> Array:
    """Whether all conditions hold."""
    first, *rest = conditions
    for condition in rest:
        first = lax.bitwise_and(first, condition)
    return first


def some(*conditions: Array) -> Array:
    """Whether one of the conditions holds."""
    first, *rest = conditions
    for condition in rest:
        first = lax.bitwise_or(first, condition)
    return first


def constant(like: Array, value: float) -> Array:
    """The value in the type of an array."""
    aval = get_aval(like)
    return broadcast_to(cast(value, aval.dtype, aval.weak_type), aval.shape)


def positive(x: Array) -> Array:
    """Whether x > 0: the condition on a scale."""
    return lax.gt(x, 0)


def probability(q: Array) -> Array:
    """Whether q is in [0, 1]."""
    return every(lax.ge(q, 0), lax.le(q, 1))


def log_of_double_exponential(z: Array) -> Array:
    """log(1 - exp(-exp(z)))."""
    low = lax.lt(z, -20)
    small = where(low, z, -20.0)
    return where(low, lax.sub(small, lax.mul(0.5, lax.exp(small))), log1mexp(lax.exp(where(low, 0.0, z))))


def log_of_part(part: Array, rest: Array) -> Array:
    """The logarithm of a probability whose complement is known, too: accurate near 1."""
    small = lax.lt(part, 0.5)
    low = lax.log(where(small, part, 0.5))
    return where(small, low, lax.log1p(lax.neg(where(small, 0.5, rest))))


def log1p_square(z: Array) -> Array:
    """log(1 + z**2), without overflow."""
    large = lax.gt(lax.abs(z), 1e8)
    moderate = lax.log1p(lax.square(where(large, 1.0, z)))
    return where(large, lax.mul(2.0, lax.log(lax.abs(where(large, z, 1.0)))), moderate)


def exp(function: Function) -> Function:
    """The function with the logarithm `function`. Equal arguments give the same object, which is the key of cached
    calls."""
    return _EXPONENTIALS.setdefault(function, lambda *xs: lax.exp(function(*xs)))


_EXPONENTIALS: dict[Function, Function] = {}
