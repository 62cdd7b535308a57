"""Student's t distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats.evaluation import (
    HALF_LOG_2PI,
    constant,
    evaluate,
    exp,
    log1p_square,
    positive,
    standardized,
    valid,
    where,
)

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability density."""
    return evaluate("t.logpdf", _logpdf, x, df, loc, scale)


def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability density.

    >>> from pycompiler.scipy.stats import t
    >>> t.pdf(1.0, 2.0)
    Array(0.19245008, dtype=float32, weak_type=True)
    """
    return evaluate("t.pdf", exp(_logpdf), x, df, loc, scale)


def _logpdf(x: Array, df: Array, loc: Array, scale: Array) -> Array:
    # As in JAX, the sign of the scale does not matter.
    z = standardized(x, loc, scale)
    normal = lax.eq(df, np.inf)
    freedom = where(normal, 1.0, df)
    power = lax.mul(lax.mul(0.5, lax.add(freedom, 1.0)), log1p_square(lax.div(z, lax.sqrt(freedom))))
    weight = lax.sub(HALF_LOG_2PI, _log_of_ratio(lax.mul(0.5, freedom)))
    student = lax.add(power, weight)
    limit = lax.add(lax.mul(0.5, lax.square(where(normal, z, 0.0))), HALF_LOG_2PI)
    logarithm = lax.neg(lax.add(where(normal, limit, student), lax.log(lax.abs(scale))))
    return valid(logarithm, positive(df))


# -(1 - 4**-k) B(2k) / (k (2k - 1)), with Bernoulli's numbers.
_SERIES = (
    *(-0.125, 0.005208333333333333, -0.0015625, 0.0011858258928571428, -0.001681857638888889, 0.0038341175426136365),
    *(-0.012819730318509616, 0.059100405375162764, -0.359287374159869, 2.784861777958117),
)
_LEAST = 8  # from here on the series has the precision of float64


def _log_of_ratio(a: Array) -> Array:
    """log(gamma(a + 1/2) / (gamma(a) sqrt(a))): a series in 1 / a (after DLMF 5.11.8); below _LEAST, that of a + _LEAST
    and the quotients of neighbours. The difference of two log-gammas loses the precision of large a."""
    is_small = lax.lt(a, float(_LEAST))
    small = where(is_small, a, 1.0)
    below, above = lax.mul(small, lax.add(small, float(_LEAST))), lax.add(small, 0.5)
    below = lax.sqrt(below)
    for k in range(1, _LEAST):
        below, above = lax.mul(below, lax.add(small, float(k))), lax.mul(above, lax.add(small, k + 0.5))
    inverse = lax.div(constant(a, 1.0), where(is_small, lax.add(small, float(_LEAST)), a))
    square, total = lax.square(inverse), constant(a, _SERIES[-1])
    for coefficient in _SERIES[-2::-1]:
        total = lax.add(lax.mul(total, square), coefficient)
    return lax.add(lax.mul(total, inverse), where(is_small, lax.log(lax.div(below, above)), 0.0))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
