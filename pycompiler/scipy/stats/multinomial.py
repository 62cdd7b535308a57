"""The multinomial distribution of the counts of n independent draws."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import cast, check_arrays
from pycompiler.numpy import reductions
from pycompiler.numpy.promotion import promoted_inexact_each
from pycompiler.numpy.ufuncs import add, less, logical_or, maximum, not_equal, subtract, where
from pycompiler.scipy.special.entropy import xlogy
from pycompiler.scipy.special.gamma import gammaln

__all__ = ["logpmf", "pmf"]


def logpmf(x: Any, n: Any, p: Any) -> Array:
    """The logarithm of the probability of the counts x in n draws.

    x: integers[..., k]. n: integers[...]. p: f[..., k], probabilities with the sum 1. The result has the dtype of p; it
    is -inf if the counts do not add up to n. ValueError unless x and n are of integers.
    """
    check_arrays("multinomial.logpmf", x, n, p)
    for what, given in (("x", x), ("n", n)):
        if not dtypes.is_integer(get_aval(given).dtype):
            raise ValueError(
                f"multinomial.logpmf: {what} must be of integers, got {short(get_aval(given))}; convert it"
            )
    for what, given in (("x", x), ("p", p)):
        if not get_aval(given).shape:
            raise ValueError(f"multinomial.logpmf: {what} must have a last axis of categories, got a scalar")
    (p,) = promoted_inexact_each("multinomial.logpmf", p)
    if dtypes.is_complex(get_aval(p).dtype):
        raise TypeError(f"multinomial.logpmf: takes real probabilities, got {short(get_aval(p))}")
    return eager_jit(_logpmf, x, n, p)


def pmf(x: Any, n: Any, p: Any) -> Array:
    """The probability of the counts x in n draws. Parameters as in `logpmf`.

    >>> from pycompiler.scipy.stats import multinomial
    >>> import pycompiler.numpy as pnp
    >>> multinomial.pmf(pnp.array([1, 1]), 2, pnp.array([0.25, 0.75]))
    Array(0.375, dtype=float32)
    """
    return lax.exp(logpmf(x, n, p))


def _logpmf(x: Array, n: Array, p: Array) -> Array:
    dtype = get_aval(p).dtype
    wide = dtypes.float32 if dtype.itemsize < 4 else dtype
    outside = logical_or(not_equal(reductions.sum(x, -1), n), reductions.any(less(x, 0), -1))
    counts = maximum(cast(x, wide), 0.0)
    terms = subtract(xlogy(counts, cast(p, wide)), gammaln(add(counts, 1.0)))
    total = add(gammaln(add(cast(n, wide), 1.0)), reductions.sum(terms, -1))
    return cast(where(outside, -np.inf, total), dtype)


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
