"""Composed functions of two numbers: quotients and remainders, powers, hypot, logarithms of sums. Imports `ufuncs`.

The formulas of hypot and of the logarithms neither overflow nor lose precision. A power with a whole exponent is a
product. For integers, it is computed by repeated squaring.
"""

from math import log
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.tracing.boundary import alias
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import analytic
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, check_arrays, weakly
from pycompiler.numpy.promotion import converted, promoted, promoted_inexact, weak_scalars
from pycompiler.numpy.ufuncs import Binary, Unary, isposinf, refuse_complex
from pycompiler.transforms import custom_jvp

__all__ = [
    "divmod",
    "float_power",
    "floor_divide",
    "fmod",
    "hypot",
    "mod",
    "pow",
    "power",
    "remainder",
]


def _of_reals(name: str, x: Any, y: Any) -> list[Any]:
    """The promoted operands, with bools as int32. Only real numbers can be rounded down to a whole quotient."""
    pair = promoted(name, x, y)
    dtype = get_aval(pair[0]).dtype
    if dtype == dtypes.bool_:
        return [cast(x, dtypes.int32) for x in pair]
    if not (dtypes.is_integer(dtype) or dtypes.is_floating(dtype)):
        raise TypeError(f"{name}: takes integers or real floats, got {short(pair[0])} after promotion; convert first")
    return pair


def floor_divide(x: Any, y: Any, /) -> Array:
    """x / y rounded down. Integer division by zero gives XLA's results."""
    x, y = _of_reals("floor_divide", x, y)
    dtype = get_aval(x).dtype
    if dtypes.is_unsigned(dtype):
        return lax.div(x, y)
    if dtypes.is_integer(dtype):
        quotient = lax.div(x, y)
        down = lax.bitwise_and(lax.ne(lax.sign(x), lax.sign(y)), lax.ne(lax.rem(x, y), 0))
        return lax.select(down, lax.sub(quotient, 1), quotient)
    return divmod(x, y)[0]


def remainder(x: Any, y: Any, /) -> Array:
    """The remainder of floor_divide, with the sign of y, also for a zero. For integers, the remainder by 0 is 0."""
    x, y = _of_reals("remainder", x, y)
    y = _divisor(y)
    rest = lax.rem(x, y)
    other_side = lax.bitwise_and(lax.ne(lax.lt(rest, 0), lax.lt(y, 0)), lax.ne(rest, 0))
    return _zero_like(y, lax.select(other_side, lax.add(rest, y), rest))


mod = alias(remainder, "mod")


def _divisor(y: Array) -> Array:
    """y; for integers, zeros are replaced by ones, so that a remainder by 0 is 0."""
    aval = get_aval(y)
    if not dtypes.is_integer(aval.dtype):
        return y
    return lax.select(lax.eq(y, 0), broadcast_to(cast(1, aval.dtype, aval.weak_type), aval.shape), y)


def fmod(x: Any, y: Any, /) -> Array:
    """The remainder with the sign of x. For integers, the remainder by 0 is 0."""
    x, y = _of_reals("fmod", x, y)
    return lax.rem(x, _divisor(y))


def divmod(x: Any, y: Any, /) -> tuple[Array, Array]:
    """floor_divide and remainder."""
    x, y = _of_reals("divmod", x, y)
    if not dtypes.is_floating(get_aval(x).dtype):
        return floor_divide(x, y), remainder(x, y)
    rest = lax.rem(x, y)
    # For a divisor of 0 the quotient is infinite, although the remainder is nan.
    quotient = lax.div(lax.select(lax.eq(y, 0), x, lax.sub(x, rest)), y)
    other_side = lax.bitwise_and(lax.ne(rest, 0), lax.ne(lax.sign(y), lax.sign(rest)))
    rest = lax.select(other_side, lax.add(rest, y), rest)
    quotient = lax.select(other_side, lax.sub(quotient, 1), quotient)
    whole = lax.round(quotient, 1)
    zero = lax.stop_gradient(lax.mul(lax.div(x, y), 0))
    return lax.select(lax.eq(whole, 0), zero, whole), _zero_like(y, rest)


@custom_jvp
def _zero_like(y: Array, rest: Array) -> Array:
    """The remainder; a zero gets the sign of y."""
    aval = get_aval(y)
    if not dtypes.is_floating(aval.dtype):
        return rest
    positive = broadcast_to(cast(0.0, aval.dtype, aval.weak_type), aval.shape)
    return lax.select(lax.eq(rest, 0), lax.select(lax.lt(y, 0), lax.neg(positive), positive), rest)


_zero_like.defjvps(None, lambda tangent, *_: tangent)


def power(x: Any, y: Any, /) -> Array:
    """x to the power of y. A Python integer y becomes products; integers then need an exponent that is not negative.
    Bools count as int32."""
    check_arrays("power", x, y)
    if type(y) is int:
        # A Python scalar x has no fixed width, but the product needs one.
        (base,) = converted("power", x)
        return lax.integer_pow(_numbers(base), y)
    whole = dtypes.is_integer(get_aval(y).dtype)
    weak = get_aval(x).weak_type and get_aval(y).weak_type
    x, y = map(_numbers, promoted("power", x, y))
    if dtypes.is_inexact(get_aval(x).dtype):
        # JAX does not promote operands for integer exponents. The dtype is weak if both are weak.
        found = lax.pow(x, y)
        return weakly(found, weak) if whole else found
    return _integer_power(x, y)


pow = alias(power, "pow")


def _numbers(x: Array) -> Array:
    return cast(x, dtypes.int32) if get_aval(x).dtype == dtypes.bool_ else x


def float_power(x: Any, y: Any, /) -> Array:
    """x to the power of y, as a float."""
    return lax.pow(*promoted_inexact("float_power", x, y))


def _integer_power(x: Array, y: Array) -> Array:
    """The power by repeated squaring over the bits of the exponent; a negative exponent counts as 0 except its sign."""
    dtype = get_aval(x).dtype
    result = broadcast_to(cast(1, dtype, get_aval(x).weak_type), get_aval(x).shape)
    for bit in range(dtype.itemsize * 8 - dtypes.is_signed(dtype)):
        if bit:
            x = lax.mul(x, x)
        has_bit = lax.ne(lax.bitwise_and(lax.shift_right_logical(y, bit), 1), 0)
        result = lax.select(has_bit, lax.mul(result, x), result)
    return result


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
    # The derivative by the longer and the shorter side would lose the second order for equal sides.
    length = _hypot(*primals)
    some = lax.select(lax.eq(length, 0), 1.0, length)
    return length, lax.add(*(lax.mul(t, lax.div(side, some)) for t, side in zip(tangents, primals, strict=True)))


def logaddexp(x: Any, y: Any, /) -> Array:
    """log(exp(x) + exp(y)), without overflow of intermediate values."""
    x, y = promoted_inexact("logaddexp", x, y)
    if dtypes.is_complex(get_aval(x).dtype):
        return eager_jit(analytic.logaddexp, x, y)
    return _logaddexp(x, y)


def logarithm_of_sum(x: Array, y: Array, power: Unary, unit: float) -> Array:
    """max(x, y) + log(1 + b**-|x - y|) for a base b: `power` computes powers of b, `unit` is the logarithm of b."""
    # Equal infinities have no difference. Equal numbers get the logarithm of 2 without a product, which a sum would
    # contract: logaddexp2(-1, -1) is exactly 0.
    equal = lax.eq(x, y)
    distance = lax.abs(lax.select(equal, 0.0, lax.sub(x, y)))
    more = lax.log1p(power(lax.neg(distance)))
    more = more if unit == 1 else lax.mul(more, 1 / unit)
    return lax.select(equal, lax.add(x, log(2) / unit), lax.add(lax.max(x, y), more))


@custom_jvp
def _logaddexp(x: Array, y: Array) -> Array:
    return logarithm_of_sum(x, y, lax.exp, 1)


@_logaddexp.defjvp
def _logaddexp_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    return with_shares(_logaddexp, lax.exp, primals, tangents)


def with_shares(
    function: Binary, power: Unary, primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    """The logarithm of a sum, and its tangent from the terms' fractions of the sum. As in jax, an infinite term has its
    fraction for any sum."""
    total = function(*primals)
    shares = [power(lax.sub(_finite(x), _finite(total))) for x in primals]
    return total, lax.add(*(lax.mul(t, share) for t, share in zip(tangents, shares, strict=True)))


def _finite(x: Array) -> Array:
    return lax.select(lax.eq(x, np.inf), 0.0, x)


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
