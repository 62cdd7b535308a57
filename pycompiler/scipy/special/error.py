"""The error function, the normal distribution and related functions."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import check_arrays
from pycompiler.numpy.creation import nested
from pycompiler.numpy.promotion import never_weak, promoted_inexact
from pycompiler.primitives import special as ops
from pycompiler.scipy.special import plane


def erf(x: Any) -> Array:
    """The error function.

    >>> from pycompiler.scipy import special
    >>> special.erf(1.0)
    Array(0.84270084, dtype=float32, weak_type=True)
    """
    return lax.erf(*promoted_inexact("erf", x))


def erfc(x: Any) -> Array:
    """1 - erf(x), accurate where it is small."""
    return lax.erfc(*promoted_inexact("erfc", x))


def erfinv(x: Any) -> Array:
    """The inverse of the error function."""
    return lax.erf_inv(*promoted_inexact("erfinv", x))


@never_weak
def erfcx(x: Any) -> Array:
    """exp(x**2) erfc(x), also for complex numbers, without underflow or overflow for x > 0."""
    (x,) = promoted_inexact("erfcx", x)
    return eager_jit(plane.complex_erfcx, x) if plane.is_complex(x) else ops.erfcx.bind(x)


@never_weak
def dawsn(x: Any) -> Array:
    """Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x."""
    return ops.dawsn.bind(*promoted_inexact("dawsn", x))


@nested(1)
@never_weak
def ndtr(x: Any) -> Array:
    """The normal distribution function. TypeError unless x is float32 or float64.

    >>> from pycompiler.scipy import special
    >>> special.ndtr(0.0)
    Array(0.5, dtype=float32)
    """
    return eager_jit(_ndtr, wide_float("ndtr", x))


def _ndtr(x: Array) -> Array:
    return lax.mul(lax.erfc(lax.mul(x, -(0.5**0.5))), 0.5)


@nested(1)
@never_weak
def log_ndtr(x: Any, series_order: int = 3) -> Array:
    """The logarithm of the normal distribution function. TypeError unless x is float32 or float64.

    It is computed to full precision for any series_order, which must be a Python integer in 0..30.
    """
    if not isinstance(series_order, int):
        raise TypeError(f"log_ndtr: series_order must be a Python integer, got {series_order!r}")
    if not 0 <= series_order <= 30:
        raise ValueError(f"log_ndtr: series_order must be in 0..30, got {series_order}")
    return ops.log_ndtr.bind(wide_float("log_ndtr", x))


@never_weak
def ndtri(p: Any) -> Array:
    """The quantile of the normal distribution at the probability p. TypeError unless p is float32 or float64.

    >>> from pycompiler.scipy import special
    >>> special.ndtri(0.975)
    Array(1.9599644, dtype=float32)
    """
    return ops.ndtri.bind(wide_float("ndtri", p))


def wide_float(name: str, x: Any) -> Array:
    """x, which must be float32 or float64."""
    check_arrays(name, x)
    aval = get_aval(x)
    if aval.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"{name}: takes float32 and float64, got {short(aval)}; convert it")
    return x
