"""The uniform distribution on loc to loc + scale."""

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
    positive,
    probability,
    rescaled,
    some,
    standardized,
    valid,
    where,
)

__all__ = ["cdf", "logpdf", "pdf", "ppf"]


def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most x.

    >>> from pycompiler.scipy.stats import uniform
    >>> uniform.cdf(0.25)
    Array(0.25, dtype=float32)
    """
    return evaluate("uniform.cdf", _cdf, x, loc, scale, weak=False)


def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("uniform.logpdf", _logpdf, x, loc, scale)


def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density."""
    return evaluate("uniform.pdf", exp(_logpdf), x, loc, scale)


def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The quantile, the inverse of `cdf`; nan unless q is in [0, 1]."""
    return evaluate("uniform.ppf", _ppf, q, loc, scale)


def _logpdf(x: Array, loc: Array, scale: Array) -> Array:
    z = standardized(x, loc, scale)
    outside = some(lax.lt(z, 0), lax.gt(z, 1))
    density = where(outside, constant(z, -np.inf), lax.neg(lax.log(scale)))
    # The comparison keeps a nan of x.
    return valid(density, positive(scale), lax.eq(x, x))


def _cdf(x: Array, loc: Array, scale: Array) -> Array:
    z = standardized(x, loc, scale)
    return valid(where(lax.lt(z, 0), 0.0, where(lax.gt(z, 1), 1.0, z)), positive(scale))


def _ppf(q: Array, loc: Array, scale: Array) -> Array:
    return valid(rescaled(q, loc, scale), positive(scale), probability(q))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
