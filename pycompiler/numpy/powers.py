"""Powers. A whole exponent gives products; for integers, by repeated squaring."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax.operands import broadcast_to, cast, check_arrays, weakly
from pycompiler.numpy.promotion import converted, promoted, promoted_inexact

__all__ = [
    "float_power",
    "pow",
    "power",
]


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


pow = power


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
