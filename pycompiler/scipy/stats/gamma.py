"""The gamma distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.entropy import xlogy
from pycompiler.scipy.special.gamma import gammainc, gammaincc, gammaln
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    log_of_part,
    positive,
    some,
    standardized,
    valid,
    where,
)

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import gamma
    >>> gamma.cdf(1.0, 2.0)
    Array(0.26424113, dtype=float32, weak_type=True)
    """
    return evaluate("gamma.cdf", below, x, a, loc, scale)


def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("gamma.logcdf", log_below, x, a, loc, scale)


def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("gamma.logpdf", log_density, x, a, loc, scale)


def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("gamma.logsf", log_above, x, a, loc, scale)


def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("gamma.pdf", exp(log_density), x, a, loc, scale)


def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("gamma.sf", above, x, a, loc, scale)


def _split(x: Array, loc: Array, scale: Array) -> tuple[Array, Array]:
    """Whether a number is below the support; its distance from the beginning, replaced by one of the support if it is
    below."""
    z = standardized(x, loc, scale)
    left = lax.lt(z, 0)
    return left, where(left, 1.0, z)


def _above_zero(x: Array, loc: Array, scale: Array) -> tuple[Array, Array]:
    """Like `_split`, but the beginning counts as below: there the probability is 0, and, as in JAX, its slope, too."""
    z = standardized(x, loc, scale)
    left = lax.le(z, 0)
    return left, where(left, 1.0, z)


def log_density(x: Array, a: Array, loc: Array, scale: Array) -> Array:
    left, z = _split(x, loc, scale)
    finite = where(lax.eq(z, np.inf), 1.0, z)
    inside = lax.sub(lax.sub(xlogy(lax.sub(a, 1.0), finite), finite), lax.add(gammaln(a), lax.log(scale)))
    outside = some(left, lax.eq(z, np.inf))
    return valid(where(outside, -np.inf, inside), positive(a), positive(scale))


def below(x: Array, a: Array, loc: Array, scale: Array) -> Array:
    left, z = _above_zero(x, loc, scale)
    return valid(where(left, 0.0, gammainc(a, z)), positive(a), positive(scale))


def above(x: Array, a: Array, loc: Array, scale: Array) -> Array:
    left, z = _above_zero(x, loc, scale)
    return valid(where(left, 1.0, gammaincc(a, z)), positive(a), positive(scale))


def log_below(x: Array, a: Array, loc: Array, scale: Array) -> Array:
    left, z = _above_zero(x, loc, scale)
    inside = log_of_part(gammainc(a, z), gammaincc(a, z))
    return valid(where(left, -np.inf, inside), positive(a), positive(scale))


def log_above(x: Array, a: Array, loc: Array, scale: Array) -> Array:
    left, z = _above_zero(x, loc, scale)
    inside = log_of_part(gammaincc(a, z), gammainc(a, z))
    return valid(where(left, 0.0, inside), positive(a), positive(scale))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
