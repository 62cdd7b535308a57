"""Operations on elements: functions, comparisons, roundings, bits, tests."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.scipy import special
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast, floats

ops = Family()

# Functions of one operand, computed in the dtype of the result.
_UNARY: dict[str, Callable[[Any], Any]] = {
    "acos": lax.acos,
    "acosh": lax.acosh,
    "asin": lax.asin,
    "asinh": lax.asinh,
    "atan": lax.atan,
    "atanh": lax.atanh,
    "cos": lax.cos,
    "cosh": lax.cosh,
    "digamma": lax.digamma,
    "erf": lax.erf,
    "erfc": lax.erfc,
    "erfinv": lax.erf_inv,
    "exp": lax.exp,
    "exp2": lax.exp2,
    "expm1": lax.expm1,
    "i0": pnp.i0,
    "lgamma": lax.lgamma,
    "log": lax.log,
    "log10": pnp.log10,
    "log1p": lax.log1p,
    "log2": pnp.log2,
    "neg": lax.neg,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lax.rsqrt,
    "sigmoid": lax.logistic,
    "sin": lax.sin,
    "sinc": pnp.sinc,
    "sinh": lax.sinh,
    "special_entr": special.entr,
    "special_erfcx": special.erfcx,
    "special_i0e": special.i0e,
    "special_i1": special.i1,
    "special_i1e": special.i1e,
    "special_log_ndtr": special.log_ndtr,
    "special_ndtri": special.ndtri,
    "sqrt": lax.sqrt,
    "tan": lax.tan,
    "tanh": lax.tanh,
}

# Roundings: integers stay.
_ROUNDINGS: dict[str, Callable[[Any], Any]] = {"ceil": lax.ceil, "floor": lax.floor, "trunc": pnp.trunc}


def logaddexp(x: Any, y: Any) -> Any:
    """Torch does not reduce the imaginary part to the principal one: the larger operand's stays."""
    if x.dtype.kind != "c":
        return pnp.logaddexp(x, y)
    is_larger = lax.real(x) >= lax.real(y)
    large, small = pnp.where(is_larger, x, y), pnp.where(is_larger, y, x)
    infinite = lax.real(large) == lax.real(small)
    infinite &= pnp.isinf(lax.real(small))
    made = large + lax.log1p(lax.exp(pnp.where(infinite, 0, small - large)))
    # The sum of two zeros (exp(-inf)) is one of them.
    both = pnp.where(lax.real(small) < 0, small, lax.log(lax.exp(x) + lax.exp(y)))
    return pnp.where(infinite, both, made)


def _heaviside(x: Any, y: Any) -> Any:
    """Torch has no sign for nan: its step is 0."""
    return pnp.where(x == 0, y, cast(x > 0, x.dtype))


def _lcm(x: Any, y: Any) -> Any:
    """Torch makes the result positive after an overflow, too. For small integers the conversion overflows."""
    dtype = x.dtype
    if dtype.itemsize < 4:
        x, y = (cast(part, np.dtype(np.int32)) for part in (x, y))
    made = pnp.lcm(x, y)
    return cast(made if dtype.kind == "u" else lax.abs(made), dtype)


# Two operands of any shapes that broadcast, converted to the dtype of the result. Beside 16-bit floats, torch also
# rounds a number or a scalar array, except in sums, products and quotients.
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "atan2": pnp.arctan2,
    "bitwise_and": pnp.bitwise_and,
    "bitwise_or": pnp.bitwise_or,
    "bitwise_xor": pnp.bitwise_xor,
    "copysign": pnp.copysign,
    "fmax": pnp.fmax,
    "fmin": pnp.fmin,
    "gcd": pnp.gcd,
    "heaviside": _heaviside,
    "hypot": pnp.hypot,
    "lcm": _lcm,
    "logaddexp": logaddexp,
    "logaddexp2": pnp.logaddexp2,
    "maximum": pnp.maximum,
    "minimum": pnp.minimum,
    "special_xlog1py": special.xlog1py,
    "igamma": special.gammainc,
    "igammac": special.gammaincc,
    "xlogy": special.xlogy,
}

# Two operands, compared in their common dtype; the result is a bool.
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": pnp.equal,
    "ge": pnp.greater_equal,
    "gt": pnp.greater,
    "le": pnp.less_equal,
    "lt": pnp.less,
    "ne": pnp.not_equal,
}

_LOGIC: dict[str, Callable[[Any, Any], Any]] = {
    "logical_and": pnp.logical_and,
    "logical_or": pnp.logical_or,
    "logical_xor": pnp.logical_xor,
}


def _unary(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda out, x: cast(function(cast(x, out.compute)), out.dtype)


def _rounding(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda out, x: cast(function(cast(x, out.compute)), out.dtype) if floats(x.dtype) else x


def _binary(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda out, x, y: cast(function(rounded(out, x), rounded(out, y)), out.dtype)


def rounded(out: Out, x: Any) -> Any:
    """An operand that torch rounds to the dtype of the result, in the dtype of the computation."""
    return cast(cast(x, out.dtype), out.compute)


def _comparison(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def compare(out: Out, x: Any, y: Any) -> Any:
        dtype = out.common(0, 1)
        return function(cast(x, dtype), cast(y, dtype))

    return compare


def _logic(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda out, x, y: function(cast(x, np.dtype(bool)), cast(y, np.dtype(bool)))


_KINDS: Any = (
    (_unary, _UNARY),
    (_rounding, _ROUNDINGS),
    (_binary, _BINARY),
    (_comparison, _COMPARISONS),
    (_logic, _LOGIC),
)
for _kind, _table in _KINDS:
    for _name, _function in _table.items():
        ops.add(_name, _kind(_function))
for _name in ("_neg_view", "_neg_view_copy"):
    ops.add(_name, _unary(lax.neg))


@ops("nextafter")
def _nextafter(out: Out, x: Any, y: Any) -> Any:
    # The neighbour in the dtype of the result, not in a wider one.
    return pnp.nextafter(cast(x, out.dtype), cast(y, out.dtype))


@ops("abs")
def _abs(out: Out, x: Any) -> Any:
    return x if x.dtype.kind in "bu" else cast(lax.abs(cast(x, opmath(x.dtype))), out.dtype)


@ops("sgn", "sign")
def _sign(out: Out, x: Any) -> Any:
    if x.dtype == bool:
        return x
    # The sign of nan is 0.
    made = lax.sign(x)
    return pnp.where(x != x, pnp.zeros_like(made), made) if floats(x.dtype) else made


@ops("signbit")
def _signbit(out: Out, x: Any) -> Any:
    return pnp.signbit(x) if floats(x.dtype) else cast(x, out.dtype) & False if x.dtype == bool else x < 0


@ops("bitwise_not")
def _bitwise_not(out: Out, x: Any) -> Any:
    return lax.bitwise_not(x)


@ops("bitwise_left_shift", "__lshift__")
def _left_shift(out: Out, x: Any, y: Any) -> Any:
    x, y = pnp.broadcast_arrays(cast(x, out.dtype), cast(y, out.dtype))
    return lax.shift_left(x, y)


@ops("bitwise_right_shift", "__rshift__")
def _right_shift(out: Out, x: Any, y: Any) -> Any:
    x, y = pnp.broadcast_arrays(cast(x, out.dtype), cast(y, out.dtype))
    # A shift by more than all bits leaves the sign.
    bits = 8 * out.dtype.itemsize
    if out.dtype.kind == "u":
        return lax.shift_right_logical(x, y)
    return lax.shift_right_arithmetic(x, pnp.where((y < 0) | (y >= bits), bits - 1, y).astype(out.dtype))


@ops("logical_not")
def _logical_not(out: Out, x: Any) -> Any:
    return pnp.logical_not(cast(x, np.dtype(bool)))


@ops("isnan")
def _isnan(out: Out, x: Any) -> Any:
    return x != x


@ops("isinf")
def _isinf(out: Out, x: Any) -> Any:
    return pnp.isinf(x) if floats(x.dtype) else pnp.zeros(x.shape, bool)


@ops("isfinite")
def _isfinite(out: Out, x: Any) -> Any:
    return pnp.isfinite(x) if floats(x.dtype) else pnp.ones(x.shape, bool)


@ops("isposinf")
def _isposinf(out: Out, x: Any) -> Any:
    return x == math.inf if floats(x.dtype) else pnp.zeros(x.shape, bool)


@ops("isneginf")
def _isneginf(out: Out, x: Any) -> Any:
    return x == -math.inf if floats(x.dtype) else pnp.zeros(x.shape, bool)


@ops("where")
def _where(out: Out, condition: Any, x: Any, y: Any) -> Any:
    return pnp.where(cast(condition, np.dtype(bool)), cast(x, out.dtype), cast(y, out.dtype))


@ops("clamp")
def _clamp(out: Out, x: Any, min: Any = None, max: Any = None) -> Any:
    x = cast(x, out.dtype)
    x = x if min is None else pnp.maximum(x, cast(min, out.dtype))
    return x if max is None else pnp.minimum(x, cast(max, out.dtype))


@ops("clamp_min")
def _clamp_min(out: Out, x: Any, min: Any) -> Any:
    return _clamp(out, x, min)


@ops("clamp_max")
def _clamp_max(out: Out, x: Any, max: Any) -> Any:
    return _clamp(out, x, None, max)


@ops("round")
def _round(out: Out, x: Any, *, decimals: int = 0) -> Any:
    if not floats(x.dtype):
        if decimals < 0:
            raise NotImplementedError("decimals of integers")
        return x
    x = cast(x, out.compute)
    if decimals:
        scale = 10.0 ** abs(decimals)
        made = pnp.round(x * scale) / scale if decimals > 0 else pnp.round(x / scale) * scale
    else:
        made = pnp.round(x)
    return cast(made, out.dtype)


@ops("frac")
def _frac(out: Out, x: Any) -> Any:
    return x - pnp.trunc(x)


@ops("frexp")
def _frexp(out: Out, x: Any) -> Any:
    mantissa, exponent = pnp.frexp(cast(x, opmath(x.dtype)))
    return cast(mantissa, x.dtype), cast(exponent, np.dtype(np.int32))


@ops("logit")
def _logit(out: Out, x: Any, eps: float | None = None) -> Any:
    x = cast(x, out.compute)
    x = x if eps is None else pnp.clip(x, eps, 1 - eps)
    return cast(lax.log(x / (1 - x)), out.dtype)


@ops("nan_to_num")
def _nan_to_num(out: Out, x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    if not floats(x.dtype):
        return x
    largest = float(pnp.finfo(x.dtype).max)
    x = pnp.where(x != x, cast(0.0 if nan is None else nan, x.dtype), x)
    x = pnp.where(x == math.inf, cast(largest if posinf is None else posinf, x.dtype), x)
    return pnp.where(x == -math.inf, cast(-largest if neginf is None else neginf, x.dtype), x)
