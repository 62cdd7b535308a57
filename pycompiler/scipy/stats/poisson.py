"""The Poisson distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import broadcast_to
from pycompiler.numpy import reductions
from pycompiler.scipy.special.entropy import xlogy
from pycompiler.scipy.special.gamma import gammaincc, gammaln
from pycompiler.scipy.stats.evaluation import (
    constant,
    evaluate,
    every,
    exp,
    some,
    valid,
    where,
)

__all__ = ["cdf", "entropy", "logpmf", "pmf"]


def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The probability of a value of at most k."""
    return evaluate("poisson.cdf", _cdf, k, mu, loc)


def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of k."""
    return evaluate("poisson.logpmf", _logpmf, k, mu, loc)


def pmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The probability of k.

    >>> from pycompiler.scipy.stats import poisson
    >>> poisson.pmf(1, 2.0)
    Array(0.27067056, dtype=float32, weak_type=True)
    """
    return evaluate("poisson.pmf", exp(_logpmf), k, mu, loc)


def entropy(mu: Any, loc: Any = 0) -> Array:
    """The entropy, in nats; nan if mu is negative."""
    return evaluate("poisson.entropy", _entropy, mu, loc)


def _logpmf(k: Array, mu: Array, loc: Array) -> Array:
    y = lax.sub(k, loc)
    outside = some(lax.lt(y, 0), every(lax.ne(lax.floor(y), y), lax.eq(y, y)))
    y = where(outside, 0.0, y)
    inside = lax.sub(lax.sub(xlogy(y, mu), gammaln(lax.add(y, 1.0))), mu)
    return valid(where(outside, -np.inf, inside), lax.ge(mu, 0))


def _cdf(k: Array, mu: Array, loc: Array) -> Array:
    y = lax.sub(k, loc)
    below = lax.lt(y, 0)
    inside = gammaincc(lax.floor(lax.add(where(below, 0.0, y), 1.0)), mu)
    return valid(where(below, 0.0, inside), lax.ge(mu, 0))


# By the size of the dtype: the limit of the mean, and the number of terms to sum below it. Other terms are too small.
# In float32, the terms of large means are less exact than the series.
_SUMS = {4: (20.0, 100), 8: (100.0, 260)}


def _entropy(mu: Array, loc: Array) -> Array:
    limit, terms = _SUMS[get_aval(mu).dtype.itemsize]
    large = lax.ge(mu, limit)
    some_mean = lax.bitwise_and(lax.gt(mu, 0), lax.bitwise_not(large))
    shape = get_aval(mu).shape
    mean = broadcast_to(movement.expand_dims(where(some_mean, mu, 1.0), (len(shape),)), (*shape, terms))
    counts = lax.convert_element_type(np.arange(terms, dtype=np.int32), get_aval(mu).dtype)
    logarithm = _logpmf(broadcast_to(counts, (*shape, terms)), mean, constant(mean, 0))
    summed = lax.neg(reductions.sum(lax.mul(lax.exp(logarithm), logarithm), -1))
    # The asymptotic series in 1 / mu.
    inverse = lax.reciprocal(where(large, mu, limit))
    series = lax.mul(inverse, lax.add(1 / 12, lax.mul(inverse, lax.add(1 / 24, lax.mul(inverse, 19 / 360)))))
    half = lax.mul(0.5, lax.log(lax.mul(float(2 * np.pi * np.e), where(large, mu, limit))))
    value = where(large, lax.sub(half, series), where(lax.eq(mu, 0), 0.0, summed))
    # loc only shifts the values.
    return valid(value, lax.ge(mu, 0), lax.eq(loc, loc))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
