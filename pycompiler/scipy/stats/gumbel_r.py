"""The right-skewed Gumbel distribution, of the largest of many values."""

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

    >>> from pycompiler.scipy.stats import gumbel_r
    >>> gumbel_r.cdf(1.0)
    Array(0.6922006, dtype=float32, weak_type=True)
    """
    return evaluate("gumbel_r.cdf", exp(_logcdf), x, loc, scale)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("gumbel_r.logcdf", _logcdf, x, loc, scale)


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("gumbel_r.logpdf", _logpdf, x, loc, scale)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("gumbel_r.logsf", _logsf, x, loc, scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("gumbel_r.pdf", exp(_logpdf), x, loc, scale)


def ppf(p: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The quantile, the inverse of `cdf`; nan unless p is in [0, 1]."""
    return evaluate("gumbel_r.ppf", _ppf, p, loc, scale)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("gumbel_r.sf", _sf, x, loc, scale)


def _logpdf(x: Array, loc: Array, scale: Array) -> Array:
    # For -inf, the exponential is the larger part.
    z = lax.max(standardized(x, loc, scale), float(np.finfo(np.float32).min))
    return valid(lax.neg(lax.add(lax.add(z, lax.exp(lax.neg(z))), lax.log(scale))), positive(scale))


def _logcdf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(lax.neg(lax.exp(standardized(loc, x, scale))), positive(scale))


def _logsf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(log_of_double_exponential(standardized(loc, x, scale)), positive(scale))


def _sf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(lax.neg(lax.expm1(_logcdf(x, loc, scale))), positive(scale))


def _ppf(p: Array, loc: Array, scale: Array) -> Array:
    z = lax.neg(lax.log(lax.neg(lax.log(p))))
    return valid(rescaled(z, loc, scale), positive(scale), probability(p))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
