"""The generalized normal distribution."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.gamma import gammainc, gammaincc, gammaln
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    positive,
    valid,
    where,
)

__all__ = ["cdf", "logpdf", "pdf"]


def cdf(x: Any, beta: Any) -> Array:
    """The probability of a value of at most x."""
    return evaluate("gennorm.cdf", _cdf, x, beta)


def logpdf(x: Any, beta: Any) -> Array:
    """The logarithm of the probability density."""
    return evaluate("gennorm.logpdf", _logpdf, x, beta)


def pdf(x: Any, beta: Any) -> Array:
    """The probability density.

    >>> from pycompiler.scipy.stats import gennorm
    >>> gennorm.pdf(1.0, 2.0)
    Array(0.20755374, dtype=float32, weak_type=True)
    """
    return evaluate("gennorm.pdf", exp(_logpdf), x, beta)


def _logpdf(x: Array, beta: Array) -> Array:
    weight = lax.sub(lax.log(lax.mul(0.5, beta)), gammaln(lax.reciprocal(beta)))
    return valid(lax.sub(weight, lax.pow(lax.abs(x), beta)), positive(beta))


def _cdf(x: Array, beta: Array) -> Array:
    left = lax.lt(x, 0)
    power, order = lax.pow(lax.abs(x), beta), lax.reciprocal(beta)
    below = lax.mul(0.5, gammaincc(order, power))
    return valid(where(left, below, lax.add(0.5, lax.mul(0.5, gammainc(order, power)))), positive(beta))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
