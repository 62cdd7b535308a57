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


# With the rules of the logarithm and the quotient, there would be four divisions, and nan at 1.
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
    """The result, weakly typed if p is a number, as in jax."""
    return weakly(result, False) if get_aval(p).shape else result


def _rel_entr(p: Array, q: Array) -> Array:
    inside = lax.bitwise_and(lax.ge(p, 0), lax.gt(q, 0))
    value = _weighted_log_ratio(lax.select(inside, p, _constant(p, 1)), lax.select(inside, q, _constant(q, 1)))
    edge = lax.select(lax.bitwise_and(lax.eq(p, 0), lax.eq(q, 0)), _constant(p, 0), _constant(p, np.inf))
    undefined = lax.bitwise_or(lax.ne(p, p), lax.ne(q, q))
    return lax.select(undefined, _constant(p, np.nan), lax.select(inside, value, edge))


@custom_jvp
def _weighted_log_ratio(p: Array, q: Array) -> Array:
    """p log(p / q), for p >= 0 and q > 0."""
    return lax.select(lax.eq(p, 0), _constant(p, 0), lax.mul(p, _log_ratio(p, q)))


# At p = 0 the slope by p is -inf, and the slope by q, 0, has the slope -1 / q by p.
_weighted_log_ratio.defjvps(
    lambda t, out, p, q: lax.mul(t, lax.add(_log_ratio(p, q), _constant(p, 1))),
    lambda t, out, p, q: lax.neg(lax.mul(t, lax.div(p, q))),
)


@custom_jvp
def _log_ratio(p: Array, q: Array) -> Array:
    """log(p / q), for p >= 0 and q > 0.

    Near 1, the quotient loses digits that the difference has: there it is 2 artanh((p - q) / (p + q)), by its series.
    If the quotient overflows or underflows, finite numbers are scaled. One division serves all three.
    """
    limits = dtypes.finfo(get_aval(p).dtype)
    most = float(limits.max)
    near = lax.bitwise_and(lax.gt(p, lax.mul(q, 0.7)), lax.lt(p, lax.mul(q, 1.4)))
    over = lax.bitwise_and(lax.gt(p, lax.mul(q, most)), lax.le(p, most))
    # p < q tiny, without its product: that is denormal, for which processors take long.
    small = int(limits.minexp) // 4
    tiny = lax.lt(lax.mul(p, 2.0 ** (small - int(limits.minexp))), lax.mul(q, 2.0**small))
    under = lax.bitwise_and(tiny, lax.le(q, most))

    def by_size(where_over: float, where_under: float, elsewhere: Array) -> Array:
        otherwise = lax.select(under, _constant(p, where_under), elsewhere)
        return lax.select(over, _constant(p, where_over), otherwise)

    # The scale takes four fifths of the exponents on each side, so that the greatest quotient, by the least denormal
    # number, fits. Elsewhere great numbers are scaled, too: their sum would overflow.
    bits = -(-4 * int(limits.maxexp) // 5)
    less, more = 2.0**-bits, 2.0**bits
    shrunk = lax.select(lax.gt(q, 1), _constant(p, 0.25), _constant(p, 1))
    p, q = lax.mul(p, by_size(less, more, shrunk)), lax.mul(q, by_size(more, less, shrunk))
    quotient = lax.div(lax.select(near, lax.sub(p, q), p), lax.select(near, lax.add(p, q), q))
    offset = 2 * bits * float(np.log(2))
    far = lax.add(lax.log(quotient), by_size(offset, -offset, _constant(p, 0)))
    return lax.select(near, _twice_artanh(quotient), far)


def _twice_artanh(x: Array) -> Array:
    """2 artanh(x) for |x| < 0.18, by Taylor's series: each term has five bits more."""
    square = lax.mul(x, x)
    terms = int(dtypes.finfo(get_aval(x).dtype).nmant) // 5 + 1
    series = _constant(x, 2 / (2 * terms + 1))
    for k in range(terms - 1, 0, -1):
        series = lax.add(lax.mul(series, square), _constant(x, 2 / (2 * k + 1)))
    return lax.add(lax.mul(lax.mul(series, square), x), lax.mul(x, 2.0))


_log_ratio.defjvps(lambda t, out, p, q: lax.div(t, p), lambda t, out, p, q: lax.neg(lax.div(t, q)))


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
