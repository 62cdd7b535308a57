"""The exponential distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.exponentials import log1mexp
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    positive,
    probability,
    rescaled,
    standardized,
    valid,
    where,
)

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import expon
    >>> expon.cdf(1.0)
    Array(0.63212055, dtype=float32, weak_type=True)
    """
    return evaluate("expon.cdf", _cdf, x, loc, scale)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("expon.logcdf", _logcdf, x, loc, scale)


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("expon.logpdf", _logpdf, x, loc, scale)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("expon.logsf", _logsf, x, loc, scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("expon.pdf", exp(_logpdf), x, loc, scale)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The quantile, the inverse of `cdf`; nan unless q is in [0, 1]."""
    return evaluate("expon.ppf", _ppf, q, loc, scale)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("expon.sf", exp(_logsf), x, loc, scale)


def _split(x: Array, loc: Array, scale: Array) -> tuple[Array, Array]:
    """Whether a number is below the support; its distance from the beginning, replaced by one of the support if it is
    below."""
    z = standardized(x, loc, scale)
    below = lax.lt(z, 0)
    return below, where(below, 1.0, z)


def _logpdf(x: Array, loc: Array, scale: Array) -> Array:
    below, z = _split(x, loc, scale)
    return valid(where(below, -np.inf, lax.neg(lax.add(z, lax.log(scale)))), positive(scale))


def _cdf(x: Array, loc: Array, scale: Array) -> Array:
    below, z = _split(x, loc, scale)
    return valid(where(below, 0.0, lax.neg(lax.expm1(lax.neg(z)))), positive(scale))


def _logcdf(x: Array, loc: Array, scale: Array) -> Array:
    below, z = _split(x, loc, scale)
    return valid(where(below, -np.inf, log1mexp(z)), positive(scale))


def _logsf(x: Array, loc: Array, scale: Array) -> Array:
    below, z = _split(x, loc, scale)
    return valid(where(below, 0.0, lax.neg(z)), positive(scale))


def _ppf(q: Array, loc: Array, scale: Array) -> Array:
    return valid(rescaled(lax.neg(lax.log1p(lax.neg(q))), loc, scale), positive(scale), probability(q))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
