"""The Cauchy distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats.evaluation import (
    constant,
    evaluate,
    exp,
    log1p_square,
    log_of_part,
    positive,
    probability,
    rescaled,
    some,
    standardized,
    valid,
    where,
)

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import cauchy
    >>> cauchy.cdf(1.0)
    Array(0.75, dtype=float32, weak_type=True)
    """
    return evaluate("cauchy.cdf", _cdf, x, loc, scale)


def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The inverse of `sf`; nan unless q is in [0, 1]."""
    return evaluate("cauchy.isf", _isf, q, loc, scale)


def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("cauchy.logcdf", _logcdf, x, loc, scale)


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("cauchy.logpdf", _logpdf, x, loc, scale)


def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("cauchy.logsf", _logsf, x, loc, scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("cauchy.pdf", exp(_logpdf), x, loc, scale)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The quantile, the inverse of `cdf`; nan unless q is in [0, 1]."""
    return evaluate("cauchy.ppf", _ppf, q, loc, scale)


def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("cauchy.sf", _sf, x, loc, scale)


def _logpdf(x: Array, loc: Array, scale: Array) -> Array:
    square = log1p_square(standardized(x, loc, scale))
    return valid(lax.neg(lax.add(lax.add(square, float(np.log(np.pi))), lax.log(scale))), positive(scale))


def _below(z: Array) -> Array:
    # The angle of (-z, 1) is small, and exact, on the far left.
    return lax.mul(1 / np.pi, lax.atan2(constant(z, 1), lax.neg(z)))


def _cdf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(_below(standardized(x, loc, scale)), positive(scale))


def _sf(x: Array, loc: Array, scale: Array) -> Array:
    return valid(_below(standardized(loc, x, scale)), positive(scale))


def _logcdf(x: Array, loc: Array, scale: Array) -> Array:
    z = standardized(x, loc, scale)
    return valid(log_of_part(_below(z), _below(lax.neg(z))), positive(scale))


def _logsf(x: Array, loc: Array, scale: Array) -> Array:
    return _logcdf(lax.neg(x), lax.neg(loc), scale)


def _quantile(q: Array) -> Array:
    # On each side, the tangent is that of a small angle, up to the middle half.
    left, right = lax.lt(q, 0.25), lax.gt(q, 0.75)
    tail = where(left, q, where(right, lax.sub(1.0, q), 0.25))
    outer = lax.reciprocal(lax.tan(lax.mul(np.pi, tail)))
    middle = lax.tan(lax.mul(np.pi, lax.sub(where(some(left, right), 0.5, q), 0.5)))
    return valid(where(left, lax.neg(outer), where(right, outer, middle)), probability(q))


def _ppf(q: Array, loc: Array, scale: Array) -> Array:
    return valid(rescaled(_quantile(q), loc, scale), positive(scale))


def _isf(q: Array, loc: Array, scale: Array) -> Array:
    return valid(rescaled(lax.neg(_quantile(q)), loc, scale), positive(scale))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
