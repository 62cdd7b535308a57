"""The normal distribution of vectors."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import linalg
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import broadcast_to, cast
from pycompiler.numpy import movement, reductions
from pycompiler.numpy.diagonals import diagonal
from pycompiler.numpy.promotion import broadcast_of, promoted_inexact_each
from pycompiler.numpy.ufuncs import add, divide, multiply, subtract
from pycompiler.scipy.stats.evaluation import HALF_LOG_2PI

__all__ = ["logpdf", "pdf"]


def logpdf(x: Any, mean: Any, cov: Any, allow_singular: None = None) -> Array:
    """The logarithm of the probability density.

    mean: f[..., n]. x: f[..., n]. cov: f[..., n, n], symmetric and positive definite, else the result is nan; or a
    scalar, the variance in each direction. A scalar mean means numbers instead of vectors. Leading axes broadcast.
    allow_singular must be None. ValueError for shapes that do not fit.
    """
    if allow_singular is not None:
        raise NotImplementedError("multivariate_normal.logpdf: allow_singular must be None; cov must be regular")
    x, mean, cov = promoted_inexact_each("multivariate_normal.logpdf", x, mean, cov)
    shown = f"x {short(get_aval(x))}, mean {short(get_aval(mean))}, cov {short(get_aval(cov))}"
    if dtypes.is_complex(get_aval(x).dtype):
        raise TypeError(f"multivariate_normal.logpdf: takes real numbers, got {shown}")
    difference = broadcast_of("multivariate_normal.logpdf", x, mean)
    shape = get_aval(cov).shape
    if not get_aval(mean).shape:
        broadcast_of("multivariate_normal.logpdf", x, cov)
        return eager_jit(_of_numbers, x, mean, cov)
    if shape:
        n = get_aval(mean).shape[-1]
        if shape[-2:] != (n, n) or difference[-1] != n:
            raise ValueError(
                f"multivariate_normal.logpdf: for a mean of {n} numbers, x must have {n} numbers and cov the shape "
                f"({n}, {n}), got {shown}"
            )
    return eager_jit(_of_vectors if shape else _of_directions, x, mean, cov)


def pdf(x: Any, mean: Any, cov: Any) -> Array:
    """The probability density. Parameters as in `logpdf`.

    >>> from pycompiler.scipy.stats import multivariate_normal
    >>> import pycompiler.numpy as pnp
    >>> multivariate_normal.pdf(pnp.zeros(2), pnp.zeros(2), pnp.eye(2))
    Array(0.15915495, dtype=float32)
    """
    return lax.exp(logpdf(x, mean, cov))


def _of_numbers(x: Array, mean: Array, cov: Array) -> Array:
    square = divide(lax.square(subtract(x, mean)), cov)
    return multiply(-0.5, add(add(square, lax.log(cov)), 2 * HALF_LOG_2PI))


def _of_directions(x: Array, mean: Array, cov: Array) -> Array:
    difference = subtract(x, mean)
    n = get_aval(difference).shape[-1]
    square = divide(reductions.sum(lax.square(difference), -1), cov)
    return multiply(-0.5, add(square, multiply(float(n), lax.add(lax.log(cov), 2 * HALF_LOG_2PI))))


def _of_vectors(x: Array, mean: Array, cov: Array) -> Array:
    dtype = get_aval(cov).dtype
    if dtype.itemsize < 4:
        x, mean, cov = (cast(one, dtypes.float32) for one in (x, mean, cov))
    difference = subtract(x, mean)
    lower = linalg.cholesky(cov)
    n = get_aval(cov).shape[-1]
    batch = get_aval(cov).shape[:-2]
    if batch:
        whole = broadcast_of("logpdf", reductions.sum(difference, -1), reductions.sum(cov, (-1, -2)))
        columns = movement.expand_dims(broadcast_to(difference, (*whole, n)), -1)
        white = linalg.triangular_solve(broadcast_to(lower, (*whole, n, n)), columns, left_side=True, lower=True)
        square = reductions.sum(lax.square(white), (-1, -2))
    else:
        # One solve for all vectors.
        shape = get_aval(difference).shape
        rows = movement.reshape(difference, (-1, n)) if 0 not in shape else movement.reshape(difference, (0, n))
        white = linalg.triangular_solve(lower, movement.transpose(rows), left_side=True, lower=True)
        square = movement.reshape(reductions.sum(lax.square(white), 0), shape[:-1])
    volume = reductions.sum(lax.log(diagonal(lower, axis1=-2, axis2=-1)), -1)
    return cast(subtract(multiply(-0.5, square), add(volume, n * HALF_LOG_2PI)), dtype)


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
