"""The normal distribution."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import cast
from pycompiler.scipy.special.error import log_ndtr, ndtr, ndtri
from pycompiler.scipy.stats.evaluation import (
    HALF_LOG_2PI,
    evaluate,
    exp,
    positive,
    rescaled,
    standardized,
    valid,
)

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import norm
    >>> norm.cdf(1.0)
    Array(0.8413447, dtype=float32)
    """
    return evaluate("norm.cdf", _cdf, x, loc, scale, weak=False)


def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The inverse of `sf`; nan unless q is in [0, 1]."""
    return _default_float(evaluate("norm.isf", _isf, q, loc, scale, weak=False))


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("norm.logcdf", _logcdf, x, loc, scale, weak=False)


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("norm.logpdf", _logpdf, x, loc, scale)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("norm.logsf", _logsf, x, loc, scale, weak=False)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("norm.pdf", exp(_logpdf), x, loc, scale)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The quantile, the inverse of `cdf`; nan unless q is in [0, 1]."""
    return _default_float(evaluate("norm.ppf", _ppf, q, loc, scale, weak=False))


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("norm.sf", _sf, x, loc, scale, weak=False)


def _default_float(x: Array) -> Array:
    """As in JAX, quantiles have the default dtype of floats."""
    return cast(x, dtypes.scalar_dtype(float))


def _logpdf(x: Array, loc: Array, scale: Array) -> Array:
    # As in JAX, the sign of the scale does not matter.
    z = standardized(x, loc, scale)
    return lax.neg(lax.add(lax.add(lax.mul(0.5, lax.square(z)), HALF_LOG_2PI), lax.log(lax.abs(scale))))


def _cdf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(ndtr(standardized(x, loc, scale)), positive(scale))


def _logcdf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(log_ndtr(standardized(x, loc, scale)), positive(scale))


def _sf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(ndtr(standardized(loc, x, scale)), positive(scale))


def _logsf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(log_ndtr(standardized(loc, x, scale)), positive(scale))


def _ppf(q: Array, loc: Array, scale: Array) -> Array:
    return valid(rescaled(ndtri(q), loc, scale), positive(scale))


def _isf(q: Array, loc: Array, scale: Array) -> Array:
    return valid(rescaled(lax.neg(ndtri(q)), loc, scale), positive(scale))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
