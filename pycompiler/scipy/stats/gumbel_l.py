"""The left-skewed Gumbel distribution, of the smallest of many values."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    log_of_double_exponential,
    positive,
    probability,
    rescaled,
    standardized,
    valid,
)

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import gumbel_l
    >>> gumbel_l.cdf(1.0)
    Array(0.93401194, dtype=float32, weak_type=True)
    """
    return evaluate("gumbel_l.cdf", _cdf, x, loc, scale)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("gumbel_l.logcdf", _logcdf, x, loc, scale)


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("gumbel_l.logpdf", _logpdf, x, loc, scale)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("gumbel_l.logsf", _logsf, x, loc, scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("gumbel_l.pdf", exp(_logpdf), x, loc, scale)


def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The quantile, the inverse of `cdf`; nan unless p is in [0, 1]."""
    return evaluate("gumbel_l.ppf", _ppf, p, loc, scale)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("gumbel_l.sf", exp(_logsf), x, loc, scale)


def _logpdf(x: Array, loc: Array, scale: Array) -> Array:
    # For inf, the exponential is the larger part.
    z = lax.min(standardized(x, loc, scale), float(np.finfo(np.float32).max))
    return valid(lax.sub(lax.sub(z, lax.exp(z)), lax.log(scale)), positive(scale))


def _logsf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(lax.neg(lax.exp(standardized(x, loc, scale))), positive(scale))


def _logcdf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(log_of_double_exponential(standardized(x, loc, scale)), positive(scale))


def _cdf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(lax.neg(lax.expm1(_logsf(x, loc, scale))), positive(scale))


def _ppf(p: Array, loc: Array, scale: Array) -> Array:
    z = lax.log(lax.neg(lax.log1p(lax.neg(p))))
    return valid(rescaled(z, loc, scale), positive(scale), probability(p))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
