"""The beta-binomial distribution: binomial, with a probability from a beta distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.gamma import betaln
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    positive,
    some,
    valid,
    where,
)

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of k."""
    return evaluate("betabinom.logpmf", _logpmf, k, n, a, b, loc)


def pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """The probability of k.

    >>> from pycompiler.scipy.stats import betabinom
    >>> betabinom.pmf(1, 2, 1.0, 1.0)
    Array(0.3333333, dtype=float32, weak_type=True)
    """
    return evaluate("betabinom.pmf", exp(_logpmf), k, n, a, b, loc)


def _logpmf(k: Array, n: Array, a: Array, b: Array, loc: Array) -> Array:
    y = lax.sub(lax.floor(k), loc)
    outside = some(lax.lt(y, 0), lax.gt(y, n))
    y = where(outside, 0.0, y)
    rest = where(outside, 1.0, lax.sub(n, y))
    choices = lax.neg(lax.add(lax.log1p(lax.add(y, rest)), betaln(lax.add(rest, 1.0), lax.add(y, 1.0))))
    inside = lax.add(choices, lax.sub(betaln(lax.add(y, a), lax.add(rest, b)), betaln(a, b)))
    return valid(where(outside, -np.inf, inside), lax.ge(n, 0), positive(a), positive(b))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
