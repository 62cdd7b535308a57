"""Student's t distribution."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.special.gamma import betaln
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
    weight = lax.add(betaln(lax.mul(0.5, freedom), constant(z, 0.5)), lax.mul(0.5, lax.log(freedom)))
    student = lax.add(power, weight)
    limit = lax.add(lax.mul(0.5, lax.square(where(normal, z, 0.0))), HALF_LOG_2PI)
    logarithm = lax.neg(lax.add(where(normal, limit, student), lax.log(lax.abs(scale))))
    return valid(logarithm, positive(df))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
