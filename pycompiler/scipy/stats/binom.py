"""The binomial distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.entropy import xlog1py, xlogy
from pycompiler.scipy.special.gamma import betaln
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    probability,
    some,
    valid,
    where,
)

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of k."""
    return evaluate("binom.logpmf", _logpmf, k, n, p, loc)


def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of k.

    >>> from pycompiler.scipy.stats import binom
    >>> binom.pmf(1, 2, 0.25)
    Array(0.375, dtype=float32, weak_type=True)
    """
    return evaluate("binom.pmf", exp(_logpmf), k, n, p, loc)


def _logpmf(k: Array, n: Array, p: Array, loc: Array) -> Array:
    y = lax.sub(k, loc)
    outside = some(lax.lt(y, 0), lax.gt(y, n))
    y = where(outside, 0.0, y)
    rest = where(outside, 1.0, lax.sub(n, y))
    # The logarithm of the number of choices; its terms do not cancel.
    choices = lax.neg(lax.add(lax.log1p(lax.add(y, rest)), betaln(lax.add(rest, 1.0), lax.add(y, 1.0))))
    inside = lax.add(choices, lax.add(xlogy(y, p), xlog1py(rest, lax.neg(p))))
    return valid(where(outside, -np.inf, inside), lax.ge(n, 0), probability(p))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
