"""The normal distribution, truncated to loc + scale * a to loc + scale * b."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.error import log_ndtr, ndtr
from pycompiler.scipy.special.exponentials import log1mexp
from pycompiler.scipy.stats.evaluation import (
    HALF_LOG_2PI,
    evaluate,
    exp,
    log_of_part,
    positive,
    some,
    standardized,
    valid,
    where,
)

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import truncnorm
    >>> truncnorm.cdf(0.5, -1.0, 2.0)
    Array(0.6508804, dtype=float32, weak_type=True)
    """
    return evaluate("truncnorm.cdf", exp(_logcdf), x, a, b, loc, scale)


def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("truncnorm.logcdf", _logcdf, x, a, b, loc, scale)


def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("truncnorm.logpdf", _logpdf, x, a, b, loc, scale)


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("truncnorm.logsf", _logsf, x, a, b, loc, scale)


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("truncnorm.pdf", exp(_logpdf), x, a, b, loc, scale)


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("truncnorm.sf", exp(_logsf), x, a, b, loc, scale)


def _log_mass(a: Array, b: Array) -> Array:
    """The logarithm of the normal probability of a to b, for a < b."""
    above = lax.gt(a, 0)
    central = lax.bitwise_not(some(lax.le(b, 0), above))
    # The left tail is exact; the right one is its reflection.
    low, high = where(above, lax.neg(b), a), where(above, lax.neg(a), b)
    low, high = log_ndtr(where(central, -2.0, low)), log_ndtr(where(central, -1.0, high))
    empty = lax.eq(low, -np.inf)
    ratio = lax.sub(high, where(empty, -1.0, low))
    tail = lax.add(high, where(empty, 0.0, log1mexp(where(empty, 1.0, ratio))))
    # Both parts of the middle, and both tails, are positive: their sums do not cancel.
    left, right = where(central, a, -1.0), where(central, b, 1.0)
    root = float(np.sqrt(0.5))
    middle = lax.mul(0.5, lax.sub(lax.erf(lax.mul(root, right)), lax.erf(lax.mul(root, left))))
    tails = lax.add(ndtr(left), ndtr(lax.neg(right)))
    return where(central, log_of_part(middle, tails), tail)


def _logpdf(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> Array:
    z = standardized(x, loc, scale)
    outside = some(lax.lt(z, a), lax.gt(z, b))
    normal = lax.neg(lax.add(lax.mul(0.5, lax.square(where(outside, 0.0, z))), HALF_LOG_2PI))
    inside = lax.sub(lax.sub(normal, lax.log(scale)), _log_mass(a, b))
    return valid(where(outside, -np.inf, inside), lax.lt(a, b), positive(scale))


def _logcdf(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> Array:
    z = standardized(x, loc, scale)
    low, high = lax.le(z, a), lax.ge(z, b)
    outside = some(low, high)
    left, right = where(outside, -1.0, a), where(outside, 1.0, b)
    z = where(outside, 0.0, z)
    whole = _log_mass(left, right)
    part, rest = (lax.sub(_log_mass(*ends), whole) for ends in ((left, z), (z, right)))
    most = lax.gt(part, -0.1)
    inside = where(most, lax.log1p(lax.neg(lax.exp(where(most, rest, -1.0)))), part)
    return valid(where(low, -np.inf, where(high, 0.0, inside)), lax.lt(a, b), positive(scale))


def _logsf(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> Array:
    return _logcdf(lax.neg(x), lax.neg(b), lax.neg(a), lax.neg(loc), scale)


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
