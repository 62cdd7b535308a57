"""Weighted logarithms: entropies, divergences, logits, the Box-Cox transformation."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, weakly
from pycompiler.numpy.promotion import promoted_inexact, weak_scalars
from pycompiler.primitives import special as ops
from pycompiler.primitives.quotients import expm1_quotient
from pycompiler.transforms import custom_jvp


def xlogy(x: Any, y: Any) -> Array:
    """x log(y); 0 if x is 0.

    >>> from pycompiler.scipy import special
    >>> special.xlogy(0.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    x, y = promoted_inexact("xlogy", x, y)
    return eager_jit(_complex_xlogy, x, y) if dtypes.is_complex(get_aval(x).dtype) else ops.xlogy.bind(x, y)


def xlog1py(x: Any, y: Any) -> Array:
    """x log(1 + y); 0 if x is 0."""
    x, y = promoted_inexact("xlog1py", x, y)
    return eager_jit(_complex_xlog1py, x, y) if dtypes.is_complex(get_aval(x).dtype) else ops.xlog1py.bind(x, y)


def _weighted(x: Array, y: Array, logarithm: Array) -> Array:
    """x times a logarithm of y; 0 if x is 0, unless y is nan."""
    vanishes = lax.bitwise_and(lax.eq(x, 0), lax.eq(y, y))
    return lax.select(vanishes, _constant(x, 0), lax.mul(x, logarithm))


def _share(t: Array, x: Array, y: Array) -> Array:
    """t x / y; 0 if x is 0."""
    vanishes = lax.eq(x, 0)
    return lax.mul(t, lax.select(vanishes, x, lax.div(x, lax.select(vanishes, _constant(y, 1), y))))


@custom_jvp
def _weighted_log(x: Array, y: Array) -> Array:
    return _weighted(x, y, lax.log(y))


_weighted_log.defjvps(lambda t, out, x, y: lax.mul(t, lax.log(y)), lambda t, out, x, y: _share(t, x, y))


@custom_jvp
def _weighted_log1p(x: Array, y: Array) -> Array:
    return _weighted(x, y, lax.log1p(y))


_weighted_log1p.defjvps(
    lambda t, out, x, y: lax.mul(t, lax.log1p(y)), lambda t, out, x, y: _share(t, x, lax.add(y, _constant(y, 1)))
)


def _complex_xlogy(x: Array, y: Array) -> Array:
    return _weighted_log(x, y)


def _complex_xlog1py(x: Array, y: Array) -> Array:
    return _weighted_log1p(x, y)


@weak_scalars
def logit(x: Any) -> Array:
    """log(x / (1 - x)), the inverse of expit.

    >>> from pycompiler.scipy import special
    >>> special.logit(0.75)
    Array(1.0986123, dtype=float32, weak_type=True)
    """
    return eager_jit(_logit, *promoted_inexact("logit", x))


@custom_jvp
def _logit(x: Array) -> Array:
    return lax.log(lax.div(x, lax.sub(1, x)))


# The rules of the logarithm and the quotient would divide four times, and give nan at 1.
_logit.defjvps(lambda t, out, x: lax.div(t, lax.mul(x, lax.sub(1, x))))


def expit(x: Any) -> Array:
    """1 / (1 + exp(-x)).

    >>> from pycompiler.scipy import special
    >>> special.expit(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.logistic(*promoted_inexact("expit", x))


def entr(x: Any) -> Array:
    """-x log(x); 0 at 0, -inf below.

    >>> from pycompiler.scipy import special
    >>> special.entr(0.5)
    Array(0.3465736, dtype=float32, weak_type=True)
    """
    return eager_jit(_entr, *promoted_inexact("entr", x))


def _entr(x: Array) -> Array:
    return lax.select(lax.lt(x, 0), _constant(x, -np.inf), lax.sub(_constant(x, 0), ops.xlogy.bind(x, x)))


def rel_entr(p: Any, q: Any) -> Array:
    """p log(p / q) if both are positive, 0 if p is 0 and q is not negative, else inf."""
    return _weak_by_first(p, eager_jit(_rel_entr, *promoted_inexact("rel_entr", p, q)))


def _weak_by_first(p: Any, result: Array) -> Array:
    """The result, weakly typed if p is a number, as in jax. In jax, arrays meet constants of their dtype."""
    return weakly(result, False) if get_aval(p).shape else result


def _rel_entr(p: Array, q: Array) -> Array:
    positive = lax.bitwise_and(lax.gt(p, 0), lax.gt(q, 0))
    safe_p = lax.select(positive, p, _constant(p, 1))
    safe_q = lax.select(positive, q, _constant(q, 1))
    ratio = lax.div(safe_p, safe_q)
    near = lax.bitwise_and(lax.gt(ratio, 0.5), lax.lt(ratio, 2))
    # Near 1, the quotient has lost digits that the difference still has. If the quotient over- or underflows, its
    # logarithm does not.
    close = lax.log1p(lax.select(near, lax.div(lax.sub(safe_p, safe_q), safe_q), _constant(p, 0)))
    least = float(dtypes.finfo(get_aval(p).dtype).tiny)
    whole = lax.bitwise_and(lax.ge(ratio, least), lax.is_finite(ratio))
    apart = lax.select(
        whole, lax.log(lax.select(whole, ratio, _constant(p, 1))), lax.sub(lax.log(safe_p), lax.log(safe_q))
    )
    result = lax.mul(safe_p, lax.select(near, close, apart))
    # At p = 0 the result is 0, and its derivative by p is -inf. Its derivative by q, -p / q, has a derivative by p.
    zero = lax.bitwise_and(lax.eq(p, 0), lax.ge(q, 0))
    inner = lax.bitwise_and(zero, lax.gt(q, 0))
    safe_q = lax.select(inner, q, _constant(q, 1))
    at_zero = lax.select(inner, lax.sub(ops.xlogy.bind(p, p), ops.xlogy.bind(p, safe_q)), _constant(p, 0))
    edge = lax.select(zero, at_zero, _constant(p, np.inf))
    undefined = lax.bitwise_or(lax.ne(p, p), lax.ne(q, q))
    return lax.select(undefined, _constant(p, np.nan), lax.select(positive, result, edge))


def kl_div(p: Any, q: Any) -> Array:
    """rel_entr(p, q) - p + q, one term of the Kullback-Leibler divergence."""
    return _weak_by_first(p, eager_jit(_kl_div, *promoted_inexact("kl_div", p, q)))


def _kl_div(p: Array, q: Array) -> Array:
    relative = _rel_entr(p, q)
    outside = lax.bitwise_or(lax.lt(p, 0), lax.bitwise_or(lax.lt(q, 0), _only_first(p, q)))
    undefined = lax.bitwise_or(lax.ne(p, p), lax.ne(q, q))
    inside = lax.bitwise_or(lax.bitwise_not(outside), undefined)
    return lax.select(inside, lax.add(lax.sub(relative, p), q), relative)


def _only_first(p: Array, q: Array) -> Array:
    return lax.bitwise_and(lax.gt(p, 0), lax.eq(q, 0))


def boxcox(x: Any, lmbda: Any) -> Array:
    """(x**lmbda - 1) / lmbda; log(x) if lmbda is 0."""
    x, lmbda = promoted_inexact("boxcox", x, lmbda)
    return weakly(
        eager_jit(_power_of_log, x, lmbda, one_more=False), get_aval(x).weak_type and get_aval(lmbda).weak_type
    )


def boxcox1p(x: Any, lmbda: Any) -> Array:
    """boxcox of 1 + x, accurate near 0."""
    x, lmbda = promoted_inexact("boxcox1p", x, lmbda)
    return weakly(
        eager_jit(_power_of_log, x, lmbda, one_more=True), get_aval(x).weak_type and get_aval(lmbda).weak_type
    )


def _power_of_log(x: Array, lmbda: Array, *, one_more: bool) -> Array:
    logarithm = lax.log1p(x) if one_more else lax.log(x)
    bounded = lax.bitwise_or(lax.ne(lmbda, 0), lax.is_finite(logarithm))
    u = lax.select(bounded, lax.mul(lmbda, logarithm), _constant(lmbda, 0))
    # For small u, the quotient has derivatives by lmbda, also at 0. Else lmbda is not 0.
    near = lax.lt(lax.abs(u), 0.5)
    small = lax.mul(logarithm, expm1_quotient(lax.select(near, u, _constant(u, 0))))
    one = _constant(u, 1)
    large = lax.div(lax.expm1(lax.select(near, one, u)), lax.select(near, one, lmbda))
    return lax.select(near, small, large)


def _constant(x: Array, value: float) -> Array:
    aval = get_aval(x)
    return broadcast_to(cast(value, aval.dtype, aval.weak_type), aval.shape)
