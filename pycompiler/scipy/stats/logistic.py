"""The logistic distribution."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.numpy.arithmetic import logaddexp
from pycompiler.scipy.special.entropy import expit, logit
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    positive,
    rescaled,
    standardized,
    valid,
)

__all__ = ["cdf", "isf", "logpdf", "pdf", "ppf", "sf"]


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import logistic
    >>> logistic.cdf(1.0)
    Array(0.7310586, dtype=float32, weak_type=True)
    """
    return evaluate("logistic.cdf", _cdf, x, loc, scale)


def isf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The inverse of `sf`; nan unless x is in [0, 1]."""
    return evaluate("logistic.isf", _isf, x, loc, scale)


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("logistic.logpdf", _logpdf, x, loc, scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("logistic.pdf", exp(_logpdf), x, loc, scale)


def ppf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The quantile, the inverse of `cdf`; nan unless x is in [0, 1]."""
    return evaluate("logistic.ppf", _ppf, x, loc, scale)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("logistic.sf", _sf, x, loc, scale)


def _logpdf(x: Array, loc: Array, scale: Array) -> Array:
    half = lax.mul(0.5, standardized(x, loc, scale))
    both = logaddexp(half, lax.neg(half))
    return valid(lax.neg(lax.add(lax.mul(2.0, both), lax.log(scale))), positive(scale))


def _cdf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(expit(standardized(x, loc, scale)), positive(scale))


def _sf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(expit(standardized(loc, x, scale)), positive(scale))


def _ppf(q: Array, loc: Array, scale: Array) -> Array:
    return valid(rescaled(logit(q), loc, scale), positive(scale))


def _isf(q: Array, loc: Array, scale: Array) -> Array:
    return valid(rescaled(lax.neg(logit(q)), loc, scale), positive(scale))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
