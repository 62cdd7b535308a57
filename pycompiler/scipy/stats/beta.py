"""The beta distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.entropy import xlog1py, xlogy
from pycompiler.scipy.special.gamma import betainc, betaln
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


def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import beta
    >>> beta.cdf(0.5, 2.0, 3.0)
    Array(0.6875, dtype=float32, weak_type=True)
    """
    return evaluate("beta.cdf", _cdf, x, a, b, loc, scale)


def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most x."""
    return evaluate("beta.logcdf", _logcdf, x, a, b, loc, scale)


def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("beta.logpdf", _logpdf, x, a, b, loc, scale)


def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above x."""
    return evaluate("beta.logsf", _logsf, x, a, b, loc, scale)


def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("beta.pdf", exp(_logpdf), x, a, b, loc, scale)


def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above x."""
    return evaluate("beta.sf", _sf, x, a, b, loc, scale)


def _logpdf(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> Array:
    z = standardized(x, loc, scale)
    outside = some(lax.lt(z, 0), lax.gt(z, 1))
    z = where(outside, 0.5, z)
    powers = lax.add(xlogy(lax.sub(a, 1.0), z), xlog1py(lax.sub(b, 1.0), lax.neg(z)))
    inside = lax.sub(lax.sub(powers, betaln(a, b)), lax.log(scale))
    return valid(where(outside, -np.inf, inside), positive(a), positive(b), positive(scale))


def _parts(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> tuple[Array, Array]:
    """The probabilities of values below and above. At the ends, their slopes are 0, as in JAX."""
    z = standardized(x, loc, scale)
    below, above = lax.le(z, 0), lax.ge(z, 1)
    inside = where(some(below, above), 0.5, z)
    lower, upper = betainc(a, b, inside), betainc(b, a, lax.sub(1.0, inside))
    return where(below, 0.0, where(above, 1.0, lower)), where(below, 1.0, where(above, 0.0, upper))


def _cdf(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> Array:
    return valid(_parts(x, a, b, loc, scale)[0], positive(a), positive(b), positive(scale))


def _sf(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> Array:
    return valid(_parts(x, a, b, loc, scale)[1], positive(a), positive(b), positive(scale))


def _logcdf(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> Array:
    below, above = _parts(x, a, b, loc, scale)
    return valid(log_of_part(below, above), positive(a), positive(b), positive(scale))


def _logsf(x: Array, a: Array, b: Array, loc: Array, scale: Array) -> Array:
    below, above = _parts(x, a, b, loc, scale)
    return valid(log_of_part(above, below), positive(a), positive(b), positive(scale))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
