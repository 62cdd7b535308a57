"""The geometric distribution of the first success, counted from 1."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.entropy import xlog1py
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    positive,
    valid,
    where,
)

__all__ = ["logpmf", "pmf"]


def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of k."""
    return evaluate("geom.logpmf", _logpmf, k, p, loc)


def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of k.

    >>> from pycompiler.scipy.stats import geom
    >>> geom.pmf(2, 0.25)
    Array(0.1875, dtype=float32, weak_type=True)
    """
    return evaluate("geom.pmf", exp(_logpmf), k, p, loc)


def _logpmf(k: Array, p: Array, loc: Array) -> Array:
    y = lax.sub(k, loc)
    below = lax.le(y, 0)
    inside = lax.add(xlog1py(lax.sub(where(below, 1.0, y), 1.0), lax.neg(p)), lax.log(p))
    return valid(where(below, -np.inf, inside), positive(p), lax.le(p, 1))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
