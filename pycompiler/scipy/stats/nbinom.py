"""The negative binomial distribution of the number of failures before success n."""

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
    positive,
    valid,
    where,
)

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of k."""
    return evaluate("nbinom.logpmf", _logpmf, k, n, p, loc)


def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of k.

    >>> from pycompiler.scipy.stats import nbinom
    >>> nbinom.pmf(1, 2, 0.25)
    Array(0.09375, dtype=float32, weak_type=True)
    """
    return evaluate("nbinom.pmf", exp(_logpmf), k, n, p, loc)


def _logpmf(k: Array, n: Array, p: Array, loc: Array) -> Array:
    y = lax.sub(k, loc)
    below = lax.lt(y, 0)
    y = where(below, 0.0, y)
    # gamma(y + n) / (gamma(n) y!), without cancellation.
    choices = lax.neg(lax.add(lax.log(lax.add(y, n)), betaln(n, lax.add(y, 1.0))))
    inside = lax.add(choices, lax.add(xlogy(n, p), xlog1py(y, lax.neg(p))))
    return valid(where(below, -np.inf, inside), positive(n), positive(p), lax.le(p, 1))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
