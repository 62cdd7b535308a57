"""The chi-squared distribution: a gamma distribution."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats import gamma
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
)

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import chi2
    >>> chi2.cdf(1.0, 2.0)
    Array(0.39346933, dtype=float32, weak_type=True)
    """
    return evaluate("chi2.cdf", _cdf, x, df, loc, scale)


def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("chi2.logcdf", _logcdf, x, df, loc, scale)


def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("chi2.logpdf", _logpdf, x, df, loc, scale)


def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("chi2.logsf", _logsf, x, df, loc, scale)


def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("chi2.pdf", exp(_logpdf), x, df, loc, scale)


def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("chi2.sf", _sf, x, df, loc, scale)


def _logpdf(x: Array, df: Array, loc: Array, scale: Array) -> Array:
    return gamma.log_density(x, lax.mul(0.5, df), loc, lax.mul(2.0, scale))


def _cdf(x: Array, df: Array, loc: Array, scale: Array) -> Array:
    return gamma.below(x, lax.mul(0.5, df), loc, lax.mul(2.0, scale))


def _sf(x: Array, df: Array, loc: Array, scale: Array) -> Array:
    return gamma.above(x, lax.mul(0.5, df), loc, lax.mul(2.0, scale))


def _logcdf(x: Array, df: Array, loc: Array, scale: Array) -> Array:
    return gamma.log_below(x, lax.mul(0.5, df), loc, lax.mul(2.0, scale))


def _logsf(x: Array, df: Array, loc: Array, scale: Array) -> Array:
    return gamma.log_above(x, lax.mul(0.5, df), loc, lax.mul(2.0, scale))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
