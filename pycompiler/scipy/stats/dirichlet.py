"""The Dirichlet distribution of the probabilities of several categories."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import cast
from pycompiler.numpy import reductions
from pycompiler.numpy.promotion import promoted_inexact_each
from pycompiler.scipy.special.entropy import xlogy
from pycompiler.scipy.special.gamma import gammaln
from pycompiler.scipy.stats.evaluation import where

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, alpha: Any) -> Array:
    """The logarithm of the probability density.

    alpha: f[k]. x: f[k, ...], whose columns add up to 1, or f[k - 1, ...] without the last row. The result has the
    shape of a row; it is -inf for a column that is not of probabilities. ValueError for other shapes.
    """
    x, alpha = promoted_inexact_each("dirichlet.logpdf", x, alpha)
    given, of = get_aval(x), get_aval(alpha)
    if dtypes.is_complex(of.dtype):
        raise TypeError(f"dirichlet.logpdf: takes real numbers, got {short(given)} and {short(of)}")
    if len(of.shape) != 1:
        raise ValueError(f"dirichlet.logpdf: alpha must have one axis, got {short(of)}")
    if not given.shape or given.shape[0] not in (of.shape[0], of.shape[0] - 1):
        raise ValueError(
            f"dirichlet.logpdf: the first axis of x must have the size of alpha, or one less, got {short(given)} for "
            f"{short(of)}"
        )
    return eager_jit(_logpdf, x, alpha)


def pdf(x: Any, alpha: Any) -> Array:
    """The probability density. Parameters as in `logpdf`.

    >>> from pycompiler.scipy.stats import dirichlet
    >>> import pycompiler.numpy as pnp
    >>> dirichlet.pdf(pnp.array([0.25, 0.75]), pnp.array([1.0, 2.0]))
    Array(1.5, dtype=float32)
    """
    return lax.exp(logpdf(x, alpha))


def _logpdf(x: Array, alpha: Array) -> Array:
    dtype = get_aval(x).dtype
    # For short floats, the sum is 1 up to the rounding of the parts.
    tolerance = 1e-6 if dtype.itemsize >= 4 else 4 * float(dtypes.finfo(dtype).eps)
    if dtype.itemsize < 4:
        x, alpha = cast(x, dtypes.float32), cast(alpha, dtypes.float32)
    (size,) = get_aval(alpha).shape
    if get_aval(x).shape[0] != size:
        x = movement.concatenate([x, lax.sub(1.0, reductions.sum(x, 0, keepdims=True))], 0)
    weights = movement.broadcast_in_dim(lax.sub(alpha, 1.0), get_aval(x).shape, (0,))
    norm = lax.sub(reductions.sum(gammaln(alpha)), gammaln(reductions.sum(alpha)))
    logarithm = lax.sub(reductions.sum(xlogy(weights, x), 0), norm)
    distance = lax.abs(lax.sub(reductions.sum(x, 0), 1.0))
    outside = lax.bitwise_or(lax.gt(distance, tolerance), reductions.any(lax.lt(x, 0), 0))
    return cast(where(outside, -np.inf, logarithm), dtype)


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
