"""The Laplace distribution: exponential on both sides."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    positive,
    standardized,
    valid,
    where,
)

__all__ = ["cdf", "logpdf", "pdf"]


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import laplace
    >>> laplace.cdf(1.0)
    Array(0.8160603, dtype=float32, weak_type=True)
    """
    return evaluate("laplace.cdf", _cdf, x, loc, scale)


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("laplace.logpdf", _logpdf, x, loc, scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("laplace.pdf", exp(_logpdf), x, loc, scale)


def _logpdf(x: Array, loc: Array, scale: Array) -> Array:
    distance = lax.abs(standardized(x, loc, scale))
    return valid(lax.neg(lax.add(distance, lax.log(lax.mul(2.0, scale)))), positive(scale))


def _cdf(x: Array, loc: Array, scale: Array) -> Array:
    z = standardized(x, loc, scale)
    left = lax.le(z, 0)
    below = lax.mul(0.5, lax.exp(where(left, z, 0.0)))
    above = lax.mul(0.5, lax.exp(where(left, 0.0, lax.neg(z))))
    return valid(where(left, below, lax.sub(1.0, above)), positive(scale))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
