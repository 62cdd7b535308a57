"""The von Mises distribution of angles."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax import elementwise as lax
from pycompiler.lax import special as lax_special
from pycompiler.lax.names import nearest_name
from pycompiler.scipy.stats.evaluation import (
    evaluate,
    exp,
    valid,
)

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, kappa: Any) -> Array:
    """The logarithm of the probability density."""
    return evaluate("vonmises.logpdf", _logpdf, x, kappa)


def pdf(x: Any, kappa: Any) -> Array:
    """The probability density.

    >>> from pycompiler.scipy.stats import vonmises
    >>> vonmises.pdf(1.0, 2.0)
    Array(0.20571446, dtype=float32, weak_type=True)
    """
    return evaluate("vonmises.pdf", exp(_logpdf), x, kappa)


def _logpdf(x: Array, kappa: Array) -> Array:
    # cos(x) - 1, without cancellation.
    fall = lax.mul(-2.0, lax.square(lax.sin(lax.mul(0.5, x))))
    logarithm = lax.sub(lax.mul(kappa, fall), lax.log(lax.mul(2 * np.pi, lax_special.bessel_i0e(kappa))))
    return valid(logarithm, lax.ge(kappa, 0))


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
