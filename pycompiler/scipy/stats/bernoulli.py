"""The Bernoulli distribution: 1 with the probability p, else 0."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.entropy import xlog1py, xlogy
from pycompiler.scipy.stats.evaluation import (
    constant,
    evaluate,
    exp,
    probability,
    some,
    valid,
    where,
)

__all__ = ["cdf", "logpmf", "pmf", "ppf"]


def cdf(k: Any, p: Any) -> Array:
    """The probability of a value of at most k."""
    return evaluate("bernoulli.cdf", _cdf, k, p)


def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of k."""
    return evaluate("bernoulli.logpmf", _logpmf, k, p, loc)


def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of k.

    >>> from pycompiler.scipy.stats import bernoulli
    >>> bernoulli.pmf(1, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return evaluate("bernoulli.pmf", exp(_logpmf), k, p, loc)


def ppf(q: Any, p: Any) -> Array:
    """The quantile, the inverse of `cdf`; nan unless q is in [0, 1]."""
    return evaluate("bernoulli.ppf", _ppf, q, p)


def _logpmf(k: Array, p: Array, loc: Array) -> Array:
    y = lax.sub(k, loc)
    outside = some(lax.lt(y, 0), lax.gt(y, 1))
    y = where(outside, 0.5, y)
    inside = lax.add(xlogy(y, p), xlog1py(lax.sub(1.0, y), lax.neg(p)))
    return valid(where(outside, -np.inf, inside), probability(p))


def _cdf(k: Array, p: Array) -> Array:
    # The comparison keeps a nan of k.
    steps = where(lax.lt(k, 0), 0.0, where(lax.lt(k, 1), lax.sub(1.0, p), 1.0))
    return valid(steps, lax.eq(k, k), probability(p))


def _ppf(q: Array, p: Array) -> Array:
    return valid(where(lax.le(q, lax.sub(1.0, p)), constant(q, 0), constant(q, 1)), probability(q), probability(p))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
