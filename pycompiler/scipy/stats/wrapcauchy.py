"""The wrapped Cauchy distribution, on 0 to 2 pi."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    positive,
    some,
    valid,
    where,
)

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, c: Any) -> Array:
    """The logarithm of the probability density."""
    return evaluate("wrapcauchy.logpdf", _logpdf, x, c)


def pdf(x: Any, c: Any) -> Array:
    """The probability density.

    >>> from pycompiler.scipy.stats import wrapcauchy
    >>> wrapcauchy.pdf(1.0, 0.5)
    Array(0.16819303, dtype=float32, weak_type=True)
    """
    return evaluate("wrapcauchy.pdf", exp(_logpdf), x, c)


def _logpdf(x: Array, c: Array) -> Array:
    outside = some(lax.lt(x, 0), lax.gt(x, float(2 * np.pi)))
    angle = where(outside, 1.0, x)
    # 1 + c**2 - 2 c cos(x), without cancellation.
    sine = lax.square(lax.sin(lax.mul(0.5, angle)))
    distance = lax.add(lax.square(lax.sub(1.0, c)), lax.mul(lax.mul(4.0, c), sine))
    weight = lax.sub(lax.log1p(lax.neg(lax.square(c))), float(np.log(2 * np.pi)))
    logarithm = lax.sub(weight, lax.log(distance))
    return valid(where(outside, -np.inf, logarithm), positive(c), lax.lt(c, 1))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
