"""The Pareto distribution: a power law."""

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


def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import pareto
    >>> pareto.cdf(2.0, 1.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return evaluate("pareto.cdf", _cdf, x, b, loc, scale)


def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("pareto.logcdf", _logcdf, x, b, loc, scale)


def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("pareto.logpdf", _logpdf, x, b, loc, scale)


def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("pareto.logsf", _logsf, x, b, loc, scale)


def pdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("pareto.pdf", exp(_logpdf), x, b, loc, scale)


def ppf(q: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The quantile, the inverse of `cdf`; nan unless q is in [0, 1]."""
    return evaluate("pareto.ppf", _ppf, q, b, loc, scale)


def sf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("pareto.sf", exp(_logsf), x, b, loc, scale)


def _split(x: Array, b: Array, loc: Array, scale: Array) -> tuple[Array, Array]:
    """Whether a number is below the support; the logarithm of its quotient with the beginning."""
    z = standardized(x, loc, scale)
    below = lax.lt(z, 1)
    return below, lax.log(where(below, 2.0, z))


def _logpdf(x: Array, b: Array, loc: Array, scale: Array) -> Array:
    below, logarithm = _split(x, b, loc, scale)
    inside = lax.sub(lax.sub(lax.log(b), lax.mul(lax.add(b, 1.0), logarithm)), lax.log(scale))
    return valid(where(below, -np.inf, inside), positive(b), positive(scale))


def _cdf(x: Array, b: Array, loc: Array, scale: Array) -> Array:
    below, logarithm = _split(x, b, loc, scale)
    inside = lax.neg(lax.expm1(lax.neg(lax.mul(b, logarithm))))
    return valid(where(below, 0.0, inside), positive(b), positive(scale))


def _logcdf(x: Array, b: Array, loc: Array, scale: Array) -> Array:
    below, logarithm = _split(x, b, loc, scale)
    return valid(where(below, -np.inf, log1mexp(lax.mul(b, logarithm))), positive(b), positive(scale))


def _logsf(x: Array, b: Array, loc: Array, scale: Array) -> Array:
    below, logarithm = _split(x, b, loc, scale)
    return valid(where(below, 0.0, lax.neg(lax.mul(b, logarithm))), positive(b), positive(scale))


def _ppf(q: Array, b: Array, loc: Array, scale: Array) -> Array:
    z = lax.exp(lax.neg(lax.div(lax.log1p(lax.neg(q)), b)))
    return valid(rescaled(z, loc, scale), positive(b), positive(scale), probability(q))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
