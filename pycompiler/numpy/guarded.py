"""Functions of two numbers whose direct formulas would overflow or lose precision. After `ufuncs`."""

from math import log
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.numpy.promotion import promoted_inexact, weak_scalars
from pycompiler.numpy.ufuncs import isposinf, logaddexp, logarithm_of_sum, refuse_complex, with_shares
from pycompiler.transforms import custom_jvp

__all__ = [
    "hypot",
]


@weak_scalars
def hypot(x: Any, y: Any, /) -> Array:
    """sqrt(x**2 + y**2) of real numbers, without overflow of intermediate values. Its derivative at 0 counts as 0."""
    x, y = promoted_inexact("hypot", x, y)
    refuse_complex("hypot", x)
    return _hypot(x, y)


@custom_jvp
def _hypot(x: Array, y: Array) -> Array:
    x, y = lax.abs(x), lax.abs(y)
    longer, shorter = lax.max(x, y), lax.min(x, y)
    zero = lax.eq(longer, 0)
    ratio = lax.div(shorter, lax.select(zero, 1.0, longer))
    result = lax.select(zero, longer, lax.mul(longer, lax.sqrt(lax.add(1.0, lax.mul(ratio, ratio)))))
    return lax.select(lax.bitwise_or(isposinf(x), isposinf(y)), np.inf, result)


@_hypot.defjvp
def _hypot_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    # Not the derivative by the longer and the shorter side: for equal sides, that choice loses the second order.
    length = _hypot(*primals)
    some = lax.select(lax.eq(length, 0), 1.0, length)
    return length, lax.add(*(lax.mul(t, lax.div(side, some)) for t, side in zip(tangents, primals, strict=True)))


@weak_scalars
def logaddexp2(x: Any, y: Any, /) -> Array:
    """log2(2**x + 2**y), without overflow of intermediate values."""
    x, y = promoted_inexact("logaddexp2", x, y)
    if not dtypes.is_complex(get_aval(x).dtype):
        return _logaddexp2(x, y)
    return lax.mul(logaddexp(lax.mul(x, log(2)), lax.mul(y, log(2))), 1 / log(2))


@custom_jvp
def _logaddexp2(x: Array, y: Array) -> Array:
    return logarithm_of_sum(x, y, lax.exp2, log(2))


@_logaddexp2.defjvp
def _logaddexp2_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    return with_shares(_logaddexp2, lax.exp2, primals, tangents)
