"""Divisors of integers, signs and parts of floating-point numbers, bits in bytes.

Imports `ufuncs`, which has the other elementwise functions.
"""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import dim_product
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import bits as lax_bits
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.bits import population_count
from pycompiler.lax.control_flow import while_loop
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import canonical_axis, cast, check_arrays
from pycompiler.lax.special import bessel_i0e, unscaled
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.promotion import broadcast, converted, promoted, promoted_inexact, weak_scalars
from pycompiler.transforms import custom_jvp

__all__ = [
    "bitwise_count",
    "copysign",
    "frexp",
    "gcd",
    "i0",
    "lcm",
    "ldexp",
    "modf",
    "nextafter",
    "packbits",
    "signbit",
    "spacing",
    "unpackbits",
]


def _integers(name: str, x1: Any, x2: Any) -> list[Array]:
    pair = promoted(name, x1, x2)
    if not dtypes.is_integer(get_aval(pair[0]).dtype):
        raise ArgumentError(f"{name}: takes integers, got {short(x1)} and {short(x2)}")
    return pair


@weak_scalars
def gcd(x1: Any, x2: Any) -> Array:
    """The greatest common divisor, which is not negative; 0 for two zeros. By Euclid's algorithm."""
    return eager_jit(_gcd, *_integers("gcd", x1, x2))


def _gcd(x: Array, y: Array) -> Array:
    if dtypes.is_signed(get_aval(x).dtype):
        x, y = lax.abs(x), lax.abs(y)
    divisor = while_loop(_has_rest, _next_rest, (x, y))[0]
    # The lowest integer has no magnitude in its dtype, and leaves negative remainders.
    return lax.abs(divisor) if dtypes.is_signed(get_aval(x).dtype) else divisor


def _has_rest(pair: tuple[Array, Array]) -> Array:
    return reductions.any(lax.ne(pair[1], 0))


def _next_rest(pair: tuple[Array, Array]) -> tuple[Array, Array]:
    x, y = pair
    ended = lax.eq(y, 0)
    return lax.select(ended, x, y), lax.select(ended, y, lax.rem(x, lax.select(ended, x, y)))


@weak_scalars
def lcm(x1: Any, x2: Any) -> Array:
    """The least common multiple, which is not negative; 0 if either is 0."""
    return eager_jit(_lcm, *_integers("lcm", x1, x2))


def _lcm(x: Array, y: Array) -> Array:
    divisor = _gcd(x, y)
    if dtypes.is_signed(get_aval(x).dtype):
        x, y = lax.abs(x), lax.abs(y)
    nothing = lax.eq(divisor, 0)
    return lax.select(nothing, divisor, lax.mul(x, lax.div(y, ufuncs.where(nothing, 1, divisor))))


def bitwise_count(x: Any, /) -> Array:
    """The number of 1 bits in the magnitude of x, as a uint8."""
    check_arrays("bitwise_count", x)
    (x,) = converted("bitwise_count", x)
    kind = get_aval(x).dtype
    if kind == dtypes.bool_:
        return lax.convert_element_type(x, np.uint8)
    if not dtypes.is_integer(kind):
        raise TypeError(f"bitwise_count: takes integers, got {short(x)}")
    return cast(population_count(lax.abs(x) if dtypes.is_signed(kind) else x), np.dtype(np.uint8))


def i0(x: Any) -> Array:
    """The modified Bessel function of the first kind and order 0."""
    (x,) = promoted_inexact("i0", x)
    ufuncs.refuse_complex("i0", x)
    return unscaled(x, bessel_i0e(x))


def modf(x: Any, /, out: None = None) -> tuple[Array, Array]:
    """The fractional part and the integral part, both with the sign of x."""
    ufuncs.no_out("modf", out)
    return eager_jit(_modf, *promoted_inexact("modf", x))


def _modf(x: Array) -> tuple[Array, Array]:
    return _fraction(x), ufuncs.trunc(x)


@custom_jvp
def _fraction(x: Array) -> Array:
    whole = ufuncs.trunc(x)
    # A zero also has the sign of x. An infinity has no fractional part.
    aval = get_aval(x)
    zero = ufuncs.where(signbit(x), cast(-0.0, aval.dtype, aval.weak_type), cast(0.0, aval.dtype, aval.weak_type))
    return ufuncs.where(lax.eq(x, whole), zero, lax.sub(x, whole))


# This derivative also holds at whole numbers, where the zero above has none.
_fraction.defjvps(lambda tangent, *_: tangent)


def _format(dtype: Any) -> tuple[Any, int, int]:
    """The integer dtype for the bits of a float, the number of bits of its fraction, and the bias of its exponent."""
    info = dtypes.finfo(dtype)
    return np.dtype(f"int{dtype.itemsize * 8}"), int(info.nmant), 1 - int(info.minexp)


def frexp(x: Any, /) -> tuple[Array, Array]:
    """x as mantissa * 2**exponent: the mantissa in 0.5..1 (0 for 0), and the exponent as an int32.

    An infinity or nan is its own mantissa.
    """
    return eager_jit(_frexp, *promoted_inexact("frexp", x))


def _frexp(x: Array) -> tuple[Array, Array]:
    dtype = get_aval(x).dtype
    bits, fraction, bias = _format(dtype)
    # Denormals are scaled up first, because their exponent field is 0.
    small = lax.lt(lax.abs(x), float(dtypes.finfo(dtype).tiny))
    scaled = ufuncs.where(small, lax.mul(x, np.asarray(2.0 ** (fraction + 1), dtype)), x)
    pattern = lax.bitcast_convert_type(scaled, bits)
    width = 8 * dtype.itemsize - 1 - fraction
    mask = (1 << width) - 1
    exponent = lax.bitwise_and(lax.shift_right_logical(pattern, fraction), np.asarray(mask, bits))
    exponent = lax.sub(cast(exponent, np.dtype(np.int32)), np.int32(bias - 1))
    exponent = lax.sub(exponent, ufuncs.where(small, np.int32(fraction + 1), np.int32(0)))
    none = lax.bitwise_or(lax.eq(x, 0), lax.bitwise_not(lax.is_finite(x)))
    exponent = ufuncs.where(none, np.int32(0), exponent)
    # The exact product has a derivative; operations on bits have none.
    return _ldexp(x, lax.neg(exponent)), exponent


def ldexp(x1: Any, x2: Any, /) -> Array:
    """x1 * 2**x2, rounded once, for integers x2."""
    check_arrays("ldexp", x1, x2)
    kind = get_aval(x2).dtype
    if not dtypes.is_integer(kind):
        raise ArgumentError(f"ldexp: the exponents are integers, got {short(x2)}")
    (x,) = promoted_inexact("ldexp", x1)
    x, exponent = broadcast("ldexp", x, x2)
    return eager_jit(_ldexp, x, exponent)


def _ldexp(x: Array, exponent: Array) -> Array:
    dtype = get_aval(x).dtype
    if dtype.itemsize < 4:
        # float32 holds every product except those whose result is 0 or infinite.
        return cast(_ldexp(cast(x, dtypes.float32), exponent), dtype)
    bits, fraction, bias = _format(dtype)
    least = 1 - bias
    n = _within(exponent, 4 * bias)
    # At most two steps up, or two steps down that avoid denormals. Only the last product is rounded.
    for _ in range(2):
        high, low = lax.gt(n, bias), lax.lt(n, least)
        up, down = np.asarray(2.0**bias, dtype), np.asarray(2.0 ** (least + fraction + 1), dtype)
        x = lax.mul(x, ufuncs.where(high, up, ufuncs.where(low, down, np.asarray(1, dtype))))
        taken = ufuncs.where(high, np.int32(bias), ufuncs.where(low, np.int32(least + fraction + 1), np.int32(0)))
        n = lax.sub(n, taken)
    n = ufuncs.clip(n, least, bias)
    power = lax.shift_left(cast(lax.add(n, np.int32(bias)), bits), fraction)
    return lax.mul(x, lax.bitcast_convert_type(power, dtype))


def _within(n: Array, limit: int) -> Array:
    """Integers as int32, clamped first to -limit..limit in their own dtype, which may be narrower or wider."""
    info = dtypes.iinfo(get_aval(n).dtype)
    low, high = max(-limit, int(info.min)), min(limit, int(info.max))
    return cast(lax.clamp(low, n, high), np.dtype(np.int32))


def _bits(x: Array) -> Array:
    return lax_bits.bitcast_convert_type(x, np.dtype(f"int{get_aval(x).dtype.itemsize * 8}"))


def signbit(x: Any, /) -> Array:
    """Whether x is negative, including -0.0 and negative nans."""
    check_arrays("signbit", x)
    ufuncs.refuse_complex("signbit", x)
    (x,) = converted("signbit", x)
    if dtypes.is_floating(get_aval(x).dtype):
        return lax.lt(_bits(x), 0)
    return lax.lt(x, cast(0, get_aval(x).dtype))


def copysign(x: Any, y: Any, /) -> Array:
    """The magnitude of x with the sign of y."""
    x, y = promoted_inexact("copysign", x, y)
    magnitude = lax.abs(x)
    return lax.select(signbit(y), lax.neg(magnitude), magnitude)


def nextafter(x: Any, y: Any, /) -> Array:
    """The number next to x in the direction of y."""
    return lax_bits.nextafter(*promoted_inexact("nextafter", x, y))


def spacing(x: Any, /) -> Array:
    """The distance to the next number away from 0, with the sign of x; nan for an infinity.

    In float16 it is the distance to the next greater number, as in NumPy, and positive.
    """
    (x,) = promoted_inexact("spacing", x)
    ufuncs.refuse_complex("spacing", x)
    return eager_jit(_spacing, x)


def _spacing(x: Array) -> Array:
    dtype = get_aval(x).dtype
    away = np.asarray(np.inf, dtype)
    if dtype != dtypes.float16:
        away = ufuncs.where(lax.lt(x, 0), lax.neg(away), away)
    result = lax.sub(lax.nextafter(x, away), x)
    return ufuncs.where(lax.is_finite(x), result, np.asarray(np.nan, dtype))


def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Array:
    """Bits that tell whether elements along an axis (None: of the flat array) are not 0, eight in a byte.

    bitorder: 'big' (the first element is the highest bit) or 'little'.

    >>> import pycompiler.numpy as pnp
    >>> pnp.packbits(pnp.array([1, 0, 0, 0, 0, 0, 0, 1]))
    Array([129], dtype=uint8)
    """
    _check_order("packbits", bitorder)
    check_arrays("packbits", a)
    if not (dtypes.is_integer(get_aval(a).dtype) or get_aval(a).dtype == dtypes.bool_):
        raise TypeError(f"packbits: takes integers and bools, got {short(a)}; compare it with 0")
    lines, axis = _lines("packbits", a, axis)
    lines = ufuncs.truth("packbits", lines)
    count = get_aval(lines).shape[axis]
    return eager_jit(_packbits, lines, axis=axis, missing=-count % 8, little=bitorder == "little")


def _packbits(lines: Array, *, axis: int, missing: int, little: bool) -> Array:
    shape = get_aval(lines).shape
    config = [(0, missing if i == axis else 0, 0) for i in range(len(shape))]
    bits = cast(movement.pad(lines, np.asarray(False), config), np.dtype(np.uint8))
    eights = movement.reshape(bits, (*shape[:axis], (shape[axis] + missing) // 8, 8, *shape[axis + 1 :]))
    return reductions.sum(ufuncs.multiply(eights, _weights(len(shape) - axis - 1, little)), axis + 1, np.uint8)


def _weights(after: int, little: bool) -> Any:
    """The value of each of eight bits, with further dimensions after it."""
    powers = np.left_shift(1, np.arange(8)).astype(np.uint8)
    return (powers if little else powers[::-1]).reshape(8, *(1,) * after)


def unpackbits(a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """The bits of bytes along an axis (None: of the flat array) as zeros and ones.

    count: the number of bits. Zeros are added if there are fewer; a negative count removes bits at the end.

    >>> import pycompiler.numpy as pnp
    >>> pnp.unpackbits(pnp.array([3], "uint8"))
    Array([0, 0, 0, 0, 0, 0, 1, 1], dtype=uint8)
    """
    _check_order("unpackbits", bitorder)
    check_arrays("unpackbits", a)
    if get_aval(a).dtype != np.uint8:
        raise TypeError(f"unpackbits: takes uint8, got {short(a)}")
    lines, axis = _lines("unpackbits", a, axis)
    total = 8 * get_aval(lines).shape[axis]
    wanted = total if count is None else count + total if count < 0 else count
    return eager_jit(_unpackbits, lines, axis=axis, missing=max(wanted, 0) - total, little=bitorder == "little")


def _unpackbits(lines: Array, *, axis: int, missing: int, little: bool) -> Array:
    shape = get_aval(lines).shape
    wide = movement.expand_dims(lines, (axis + 1,))
    bits = ufuncs.bitwise_and(wide, _weights(len(shape) - axis - 1, little))
    flat = cast(ufuncs.not_equal(bits, 0), np.dtype(np.uint8))
    flat = movement.reshape(flat, (*shape[:axis], 8 * shape[axis], *shape[axis + 1 :]))
    config = [(0, missing if i == axis else 0, 0) for i in range(len(shape))]
    return movement.pad(flat, np.asarray(0, np.uint8), config)


def _check_order(name: str, bitorder: Any) -> None:
    if bitorder not in ("big", "little"):
        raise ValueError(f"{name}: bitorder is 'big' or 'little', got {bitorder!r}")


def _lines(name: str, a: Any, axis: int | None) -> tuple[Array, int]:
    check_arrays(name, a)
    shape = get_aval(a).shape
    if axis is None:
        return movement.reshape(a, (dim_product(get_aval(a).shape),)), 0
    return a, canonical_axis(name, axis, len(shape))
