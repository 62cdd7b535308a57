"""Arithmetic of elements: sums, products, quotients, remainders, powers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch._inductor.inductor_prims  # noqa: F401 - makes prims::fma known

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.elementwise import rounded
from pycompiler.torch.table import Family, Out, cast, floats, times

ops = Family()


@ops("add")
def _add(out: Out, x: Any, y: Any, *, alpha: Any = 1) -> Any:
    dtype = out.compute
    x, y = cast(x, dtype), cast(y, dtype)
    if dtype.kind == "b":
        return pnp.logical_or(x, pnp.logical_and(y, cast(alpha, dtype)))
    return cast(x + times(y, alpha), out.dtype)


@ops("_add_relu")
def _add_relu(out: Out, x: Any, y: Any, alpha: Any = 1) -> Any:
    return pnp.maximum(_add(out, x, y, alpha=alpha), 0)


@ops("sub")
def _sub(out: Out, x: Any, y: Any, *, alpha: Any = 1) -> Any:
    dtype = out.compute
    x, y = cast(x, dtype), cast(y, dtype)
    return cast(x - times(y, alpha), out.dtype)


@ops("rsub")
def _rsub(out: Out, x: Any, y: Any, alpha: Any = 1) -> Any:
    return _sub(out, y, x, alpha=alpha)


def _require_divisors(out: Out, dtype: np.dtype[Any], y: Any) -> None:
    """Integers are not divided by 0."""
    if floats(dtype):
        return
    if hasattr(y, "dtype"):
        out.require(y != 0, "an integer is divided by 0 (ZeroDivisionError)")
    elif isinstance(y, (bool, int)) and not np.asarray(y).astype(dtype):
        raise NotImplementedError("integers that are divided by 0, for which eager torch raises an error")


@ops("div", "true_divide")
def _div(out: Out, x: Any, y: Any, *, rounding_mode: str | None = None) -> Any:
    dtype, given = out.compute, y
    x, y = cast(x, dtype), cast(y, dtype)
    if rounding_mode is None:
        return cast(x / y, out.dtype)
    _require_divisors(out, dtype, given)
    if rounding_mode == "trunc":
        # Torch rounds the quotient to 16 bits before it takes the fraction away: 1 by 0.1 is 10.
        quotient = cast(cast(x / y, out.dtype), dtype) if floats(dtype) else None
        return cast(lax.div(*pnp.broadcast_arrays(x, y)) if quotient is None else pnp.trunc(quotient), out.dtype)
    return cast(_floored(x, y), out.dtype)


def _floored(x: Any, y: Any) -> Any:
    """The floor of a quotient, as torch and Python compute it: from the remainder, so that it is exact."""
    if not floats(x.dtype):
        return pnp.floor_divide(x, y)
    x, y = pnp.broadcast_arrays(x, y)
    rest = lax.rem(x, y)
    quotient = (x - rest) / y
    quotient = pnp.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - 1, quotient)
    rounded = pnp.floor(quotient)
    rounded = pnp.where(quotient - rounded > 0.5, rounded + 1, rounded)
    rounded = pnp.where(quotient == 0, pnp.copysign(pnp.zeros_like(rounded), x / y), rounded)
    return pnp.where(y == 0, x / y, rounded)


@ops("floor_divide")
def _floor_divide(out: Out, x: Any, y: Any) -> Any:
    return _div(out, x, y, rounding_mode="floor")


@ops("mul")
def _mul(out: Out, x: Any, y: Any) -> Any:
    return cast(pnp.multiply(cast(x, out.compute), cast(y, out.compute)), out.dtype)


@ops("remainder")
def _remainder(out: Out, x: Any, y: Any) -> Any:
    _require_divisors(out, out.dtype, y)
    x, y = pnp.broadcast_arrays(rounded(out, x), rounded(out, y))
    if not floats(out.dtype):
        return cast(pnp.remainder(x, y), out.dtype)
    # A rest of 0 keeps the sign of x.
    rest = lax.rem(x, y)
    return cast(pnp.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest), out.dtype)


@ops("fmod")
def _fmod(out: Out, x: Any, y: Any) -> Any:
    _require_divisors(out, out.dtype, y)
    return cast(lax.rem(*pnp.broadcast_arrays(rounded(out, x), rounded(out, y))), out.dtype)


@ops("pow")
def _pow(out: Out, x: Any, y: Any) -> Any:
    dtype = out.compute
    if isinstance(y, (int, float)) and not isinstance(y, bool):
        x = cast(x, dtype)
        if y == 2:
            return cast(x * x, out.dtype)
        if abs(y) == 0.5 and floats(dtype):
            return cast((lax.sqrt if y > 0 else lax.rsqrt)(x), out.dtype)
        if float(y).is_integer() and abs(y) < 32 and (floats(dtype) or y >= 0):
            return cast(lax.integer_pow(x, int(y)), out.dtype)
        if not floats(dtype) and y < 0:
            raise NotImplementedError("negative powers of integers")
    x, y = rounded(out, x), rounded(out, y)
    if dtype.kind != "i":
        return cast(pnp.power(x, y), out.dtype)
    # A negative power of an integer is 0, except of 1 and -1.
    inverse = pnp.where(lax.abs(x) == 1, pnp.where(y % 2 == 0, 1, x), 0)
    return cast(pnp.where(y < 0, inverse, pnp.power(x, pnp.maximum(y, 0))), out.dtype)


@ops("square")
def _square(out: Out, x: Any) -> Any:
    x = cast(x, out.compute)
    return cast(x * x, out.dtype)


@ops("lerp")
def _lerp(out: Out, start: Any, end: Any, weight: Any) -> Any:
    dtype = out.compute
    start, end, weight = cast(start, dtype), cast(end, dtype), cast(weight, dtype)
    near = start + weight * (end - start)
    far = end - (end - start) * (1 - weight)
    return cast(pnp.where(abs(weight) < 0.5, near, far), out.dtype)


@ops("addcmul")
def _addcmul(out: Out, x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    dtype = out.compute
    return cast(cast(x, dtype) + cast(value, dtype) * cast(a, dtype) * cast(b, dtype), out.dtype)


@ops("prims::fma")
def _fma(out: Out, a: Any, b: Any, x: Any) -> Any:
    dtype = out.compute
    return cast(cast(a, dtype) * cast(b, dtype) + cast(x, dtype), out.dtype)


@ops("addcdiv")
def _addcdiv(out: Out, x: Any, a: Any, b: Any, *, value: Any = 1) -> Any:
    dtype = out.compute
    return cast(cast(x, dtype) + cast(value, dtype) * (cast(a, dtype) / cast(b, dtype)), out.dtype)


@ops("ldexp")
def _ldexp(out: Out, x: Any, y: Any) -> Any:
    return cast(cast(x, out.compute) * lax.exp2(cast(y, out.compute)), out.dtype)
