"""Elementwise functions: arguments are promoted and broadcast, then bound to a primitive or composed of several."""

import operator
from collections.abc import Callable
from math import log as scalar_log
from math import log10 as log10_of
from math import pi
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import analytic, complexes
from pycompiler.lax import bits as lax_bits
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, check_arrays, weakly
from pycompiler.numpy.promotion import broadcast_of, converted, promoted, promoted_inexact, weak_scalars
from pycompiler.ops import PRIMITIVES
from pycompiler.ops.quotients import sin_quotient
from pycompiler.transforms import custom_jvp

__all__ = [
    "abs", "absolute", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "around", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_right_shift", "cbrt", "ceil", "clip", "conj", "conjugate", "copysign", "cos", "cosh", "deg2rad",
    "degrees", "divide", "divmod", "equal", "exp", "exp2", "expm1", "fabs", "floor", "floor_divide", "fmax", "fmin",
    "fmod", "greater", "greater_equal", "heaviside", "invert", "isclose", "isfinite", "isinf", "isnan", "isneginf",
    "isposinf", "left_shift", "less", "less_equal", "log", "log1p", "log2", "log10", "logical_not", "mod",
    "nan_to_num", "nextafter", "not_equal", "positive", "rad2deg", "radians", "reciprocal", "remainder",
    "right_shift", "rint", "round", "sign", "signbit", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh",
    "true_divide", "trunc",
]  # fmt: skip

Unary = Callable[[Any], Array]
Binary = Callable[[Any, Any], Array]


def _named(function: Any, name: str, summary: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


def _float_function(name: str, function: Callable[[Array], Array], summary: str) -> Unary:
    """A function of floats. Integers and bools are converted to floats."""

    def ufunc(x: Any, /) -> Array:
        return function(*promoted_inexact(name, x))

    return _named(ufunc, name, f"{summary} Integers are converted to floats.")


def _logarithm(primitive: str, base: int, x: Array) -> Array:
    """A logarithm by its primitive, or composed for complex numbers. The result is not weakly typed, as in JAX."""
    dtype = get_aval(x).dtype
    if not dtypes.is_complex(dtype):
        return PRIMITIVES[primitive].bind(cast(x, dtype))
    # Each part separately: a complex divisor would turn infinities into nans.
    return _by_parts(lambda part: lax.mul(part, 1 / scalar_log(base)), lax.log(x))


exp = _float_function("exp", lax.exp, "e to the power of x.")
exp2 = _float_function("exp2", lax.exp2, "2 to the power of x.")
expm1 = _float_function("expm1", lax.expm1, "exp(x) - 1, accurate near 0.")
log = _float_function("log", lax.log, "The natural logarithm; nan for a negative number.")
log1p = _float_function("log1p", lax.log1p, "log(1 + x), accurate near 0.")
log2 = _float_function("log2", lambda x: _logarithm("log2", 2, x), "The logarithm to base 2.")
log10 = _float_function("log10", lambda x: _logarithm("log10", 10, x), "The logarithm to base 10.")
sin = _float_function("sin", lax.sin, "The sine of x in radians.")
cos = _float_function("cos", lax.cos, "The cosine of x in radians.")
tan = _float_function("tan", lax.tan, "The tangent of x in radians.")
arcsin = asin = _float_function("arcsin", lax.asin, "The angle in -pi/2..pi/2 whose sine is x.")
arccos = acos = _float_function("arccos", lax.acos, "The angle in 0..pi whose cosine is x.")
arctan = atan = _float_function("arctan", lax.atan, "The angle in -pi/2..pi/2 whose tangent is x.")
sinh = _float_function("sinh", lax.sinh, "The hyperbolic sine.")
cosh = _float_function("cosh", lax.cosh, "The hyperbolic cosine.")
tanh = _float_function("tanh", lax.tanh, "The hyperbolic tangent.")
arcsinh = asinh = _float_function("arcsinh", lax.asinh, "The inverse of the hyperbolic sine.")
arccosh = acosh = _float_function("arccosh", lax.acosh, "The inverse of the hyperbolic cosine; nan below 1.")
arctanh = atanh = _float_function("arctanh", lax.atanh, "The inverse of the hyperbolic tangent; nan outside -1..1.")
sqrt = _float_function("sqrt", lax.sqrt, "The square root; nan for a negative number.")
cbrt = _float_function("cbrt", lax.cbrt, "The cube root, also of negative numbers.")
degrees = rad2deg = _float_function("degrees", weak_scalars(lambda x: lax.mul(x, 180 / pi)), "Radians in degrees.")
radians = deg2rad = _float_function("radians", weak_scalars(lambda x: lax.mul(x, pi / 180)), "Degrees in radians.")


def fabs(x: Any, /) -> Array:
    """The magnitude of x, as a float; integers are converted. TypeError for complex numbers, which abs takes."""
    (x,) = promoted_inexact("fabs", x)
    refuse_complex("fabs", x)
    return lax.abs(x)


def _binary(name: str, primitive: str, summary: str, *, logical: str | None = None) -> Binary:
    """A function of two arrays in their common dtype. Two bools use the primitive `logical`."""
    entry: Primitive = PRIMITIVES[primitive]
    on_bools: Primitive | None = PRIMITIVES[logical] if logical else None

    def ufunc(x: Any, y: Any, /) -> Array:
        x, y = promoted(name, x, y)
        if on_bools is not None and get_aval(x).dtype == dtypes.bool_:
            return on_bools.bind(x, y)
        return entry.bind(x, y)

    return _named(ufunc, name, summary)


def _order(name: str, primitive: str, summary: str) -> Binary:
    """A comparison in the common dtype. Complex numbers compare by their real parts, then by their imaginary parts."""
    entry: Primitive = PRIMITIVES[primitive]

    def ufunc(x: Any, y: Any, /) -> Array:
        x, y = promoted(name, x, y)
        if not dtypes.is_complex(get_aval(x).dtype):
            return entry.bind(x, y)
        (x_re, x_im), (y_re, y_im) = ((complexes.real(side), complexes.imag(side)) for side in (x, y))
        return lax.select(lax.eq(x_re, y_re), entry.bind(x_im, y_im), entry.bind(x_re, y_re))

    return _named(ufunc, name, summary)


add = _binary("add", "add", "x + y; logical or of bools.", logical="or")
subtract = _binary("subtract", "sub", "x - y.")
multiply = _binary("multiply", "mul", "x * y; logical and of bools.", logical="and")
maximum = _binary("maximum", "max", "The maximum; nan if either is.", logical="or")
minimum = _binary("minimum", "min", "The minimum; nan if either is.", logical="and")
equal = _binary("equal", "eq", "x == y.")
not_equal = _binary("not_equal", "ne", "x != y.")
less = _order("less", "lt", "x < y.")
less_equal = _order("less_equal", "le", "x <= y.")
greater = _order("greater", "gt", "x > y.")
greater_equal = _order("greater_equal", "ge", "x >= y.")
bitwise_and = _binary("bitwise_and", "and", "The bits that both have.")
bitwise_or = _binary("bitwise_or", "or", "The bits that either has.")
bitwise_xor = _binary("bitwise_xor", "xor", "The bits that exactly one has.")
left_shift = bitwise_left_shift = _binary("left_shift", "shift_left", "x shifted to the left; filled with zeros.")


def right_shift(x: Any, y: Any, /) -> Array:
    """x shifted to the right, filled with copies of the sign bit; unsigned integers are filled with zeros."""
    x, y = promoted("right_shift", x, y)
    signed = dtypes.is_signed(get_aval(x).dtype)
    return (lax.shift_right_arithmetic if signed else lax.shift_right_logical)(x, y)


bitwise_right_shift = right_shift


def invert(x: Any, /) -> Array:
    """Each bit flipped; the negation of a bool."""
    check_arrays("invert", x)
    return lax.bitwise_not(x)


bitwise_not = bitwise_invert = invert


def _logical(name: str, function: Any, summary: str) -> Binary:
    def ufunc(x: Any, y: Any, /) -> Array:
        return function(*promoted(name, truth(name, x), truth(name, y)))

    return _named(ufunc, name, summary)


def truth(name: str, x: Any) -> Array:
    """x != 0."""
    check_arrays(name, x)
    return cast(x, dtypes.bool_)


logical_and = _logical("logical_and", lax.bitwise_and, "Whether both are not 0.")
logical_or = _logical("logical_or", lax.bitwise_or, "Whether either is not 0.")
logical_xor = _logical("logical_xor", lax.bitwise_xor, "Whether exactly one of them is not 0.")


def logical_not(x: Any, /) -> Array:
    """Whether x is 0."""
    return lax.bitwise_not(truth("logical_not", x))


def positive(x: Any, /) -> Array:
    """x."""
    check_arrays("positive", x)
    return as_array(x)


def negative(x: Any, /) -> Array:
    """-x; integers wrap."""
    return lax.neg(x)


def absolute(x: Any, /) -> Array:
    """The magnitude of x, real for complex numbers; the lowest integer wraps to itself."""
    check_arrays("abs", x)
    dtype = get_aval(x).dtype
    return as_array(x) if dtype == dtypes.bool_ or dtypes.is_unsigned(dtype) else lax.abs(x)


abs = absolute


def sign(x: Any, /) -> Array:
    """-1, 0 or 1; nan for nan; x / abs(x) for a complex number."""
    return lax.sign(x)


def square(x: Any, /) -> Array:
    """x * x; bools count as int32."""
    check_arrays("square", x)
    dtype = get_aval(x).dtype
    if dtype == dtypes.bool_:
        return as_array(cast(x, dtypes.int32))
    return lax.square(x) if dtypes.is_complex(dtype) else multiply(x, x)


def reciprocal(x: Any, /) -> Array:
    """1 / x; integers are converted to floats."""
    return lax.reciprocal(*promoted_inexact("reciprocal", x))


def divide(x: Any, y: Any, /) -> Array:
    """x / y as a float."""
    return lax.div(*promoted_inexact("divide", x, y))


true_divide = divide


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
    """x / y rounded down. Integer division by zero is that of XLA."""
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


mod = remainder


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
    """The remainder; a zero gets the sign of y, as in a modulus of IEEE that follows y."""
    aval = get_aval(y)
    if not dtypes.is_floating(aval.dtype):
        return rest
    positive = broadcast_to(cast(0.0, aval.dtype, aval.weak_type), aval.shape)
    return lax.select(lax.eq(rest, 0), lax.select(lax.lt(y, 0), lax.neg(positive), positive), rest)


_zero_like.defjvps(None, lambda tangent, *_: tangent)


def arctan2(y: Any, x: Any, /) -> Array:
    """The angle of the point (x, y) in radians, in -pi..pi."""
    return lax.atan2(*promoted_inexact("arctan2", y, x))


atan2 = arctan2


def logaddexp(x: Any, y: Any, /) -> Array:
    """log(exp(x) + exp(y)), without overflow of intermediate values."""
    x, y = promoted_inexact("logaddexp", x, y)
    if dtypes.is_complex(get_aval(x).dtype):
        return eager_jit(analytic.logaddexp, x, y)
    return _logaddexp(x, y)


def logarithm_of_sum(x: Array, y: Array, power: Unary, unit: float) -> Array:
    """max(x, y) + log(1 + b**-|x - y|) for a base b: `power` computes powers of b, `unit` is the logarithm of b."""
    difference = lax.sub(x, y)
    # Equal infinities have no difference. Their sum is the result.
    undefined = isnan(difference)
    distance = lax.abs(lax.select(undefined, 0.0, difference))
    more = lax.log1p(power(lax.neg(distance)))
    more = more if unit == 1 else lax.mul(more, 1 / unit)
    return lax.select(undefined, lax.add(x, y), lax.add(lax.max(x, y), more))


@custom_jvp
def _logaddexp(x: Array, y: Array) -> Array:
    return logarithm_of_sum(x, y, lax.exp, 1)


@_logaddexp.defjvp
def _logaddexp_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    return with_shares(_logaddexp, lax.exp, primals, tangents)


def with_shares(
    function: Binary, power: Unary, primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    """The logarithm of a sum, and its tangent by the terms' shares in the sum. As in jax, an infinite term has its
    share for any sum."""
    total = function(*primals)
    shares = [power(lax.sub(_finite(x), _finite(total))) for x in primals]
    return total, lax.add(*(lax.mul(t, share) for t, share in zip(tangents, shares, strict=True)))


def _finite(x: Array) -> Array:
    return lax.select(lax.eq(x, np.inf), 0.0, x)


@weak_scalars
def sinc(x: Any, /) -> Array:
    """sin(pi x) / (pi x), with its limit 1 at 0."""
    (x,) = promoted_inexact("sinc", x)
    return weakly(eager_jit(_sinc, x), get_aval(x).weak_type)


def _sinc(x: Array) -> Array:
    return sin_quotient(lax.mul(x, pi))


@weak_scalars
def heaviside(x: Any, y: Any, /) -> Array:
    """0 below 0, 1 above, y at 0."""
    x, y = promoted_inexact("heaviside", x, y)
    step = lax.select(lax.lt(x, 0), 0.0, lax.select(lax.gt(x, 0), 1.0, y))
    return lax.select(isnan(x), x, step)


def _integers_unchanged(name: str, function: Callable[[Array], Array], summary: str) -> Unary:
    def ufunc(x: Any, /) -> Array:
        check_arrays(name, x)
        (x,) = converted(name, x)
        refuse_complex(name, x)
        return function(x) if dtypes.is_floating(get_aval(x).dtype) else as_array(x)

    return _named(ufunc, name, summary)


floor = _integers_unchanged("floor", lax.floor, "The greatest integer not above x.")
ceil = _integers_unchanged("ceil", lax.ceil, "The least integer not below x.")


def trunc(x: Any) -> Array:
    """The next integer towards zero."""
    return _towards_zero(x)


_towards_zero = _integers_unchanged(
    "trunc", lambda x: lax.select(lax.lt(x, 0), lax.ceil(x), lax.floor(x)), "The next integer towards zero."
)


def rint(x: Any, /) -> Array:
    """The nearest integer as a float, ties to even. Integers are converted to the default floats."""
    check_arrays("rint", x)
    if not dtypes.is_inexact(get_aval(x).dtype):
        return as_array(cast(x, dtypes.scalar_dtype(float)))
    (x,) = converted("rint", x)
    return round(x)


def round(a: Any, decimals: int = 0, out: None = None) -> Array:
    """a rounded to a number of decimals, ties to even.

    >>> import pycompiler.numpy as pnp
    >>> pnp.round(pnp.array([1.25, 2.5]))
    Array([1., 2.], dtype=float32)
    """
    check_arrays("round", a)
    no_out("round", out)
    decimals = operator.index(decimals)
    if dtypes.is_complex(get_aval(a).dtype):
        return _by_parts(lambda part: round(part, decimals), a)
    if not dtypes.is_floating(get_aval(a).dtype):
        if decimals < 0:
            raise TypeError(f"round: {short(get_aval(a))} takes no negative decimals; convert it to a float")
        return as_array(a)
    if decimals == 0:
        return lax.round(a, 1)
    if decimals > log10_of(float(dtypes.finfo(get_aval(a).dtype).max)):
        # No float has this many decimals, and the factor would be infinite.
        return as_array(a)
    factor = 10.0**decimals
    return weakly(lax.div(lax.round(lax.mul(a, factor), 1), factor), False)


around = round


def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Array:
    """arr limited to min..max; either may be missing. If min > max, the result is max.

    >>> import pycompiler.numpy as pnp
    >>> pnp.clip(pnp.array([-1, 5]), 0, 3)
    Array([0, 3], dtype=int32)
    """
    check_arrays("clip", arr, *(bound for bound in (min, max) if bound is not None))
    if min is not None:
        arr = maximum(min, arr)
    return as_array(arr) if max is None else minimum(max, arr)


def fmax(x1: Any, x2: Any) -> Array:
    """The maximum; if one is nan, the other."""
    x, y = promoted("fmax", x1, x2)
    return lax.select(lax.bitwise_or(greater(x, y), isnan(y)), x, y)


def fmin(x1: Any, x2: Any) -> Array:
    """The minimum; if one is nan, the other."""
    x, y = promoted("fmin", x1, x2)
    return lax.select(lax.bitwise_or(less(x, y), isnan(y)), x, y)


def _by_parts(function: Callable[[Array], Array], x: Array) -> Array:
    """A function applied to both parts of a complex array."""
    return complexes.complex(function(complexes.real(x)), function(complexes.imag(x)))


def _test(name: str, function: Callable[[Array], Array], otherwise: bool, summary: str) -> Unary:
    """A test of floats, with a constant result for integers."""

    def ufunc(x: Any, /) -> Array:
        check_arrays(name, x)
        aval = get_aval(x)
        if dtypes.is_floating(aval.dtype):
            return function(x)
        if dtypes.is_complex(aval.dtype):
            parts = function(complexes.real(x)), function(complexes.imag(x))
            return (lax.bitwise_and if otherwise else lax.bitwise_or)(*parts)
        return as_array(broadcast_to(np.asarray(otherwise), aval.shape))

    return _named(ufunc, name, summary)


isnan = _test("isnan", lambda x: lax.ne(x, x), False, "Whether x is nan.")
isfinite = _test("isfinite", lax.is_finite, True, "Whether x is neither infinite nor nan.")
isinf = _test("isinf", lambda x: lax.eq(lax.abs(x), np.inf), False, "Whether x is infinite.")
_isposinf = _test("isposinf", lambda x: lax.eq(x, np.inf), False, "Whether x is infinite and positive.")
_isneginf = _test("isneginf", lambda x: lax.eq(x, -np.inf), False, "Whether x is infinite and negative.")


def no_out(name: str, out: Any) -> None:
    """Raise TypeError if out= is given."""
    if out is not None:
        raise TypeError(f"{name}: arrays never change, so there is no out=")


def isposinf(x: Any, /, out: None = None) -> Array:
    """Whether x is infinite and positive."""
    no_out("isposinf", out)
    refuse_complex("isposinf", x)
    return _isposinf(x)


def isneginf(x: Any, /, out: None = None) -> Array:
    """Whether x is infinite and negative."""
    no_out("isneginf", out)
    refuse_complex("isneginf", x)
    return _isneginf(x)


def refuse_complex(name: str, x: Any) -> None:
    """Raise an error for complex numbers: a TypeError, as NumPy's, and a ValueError, as jax's."""
    if dtypes.is_complex(get_aval(x).dtype):
        raise ArgumentError(f"{name}: takes real arrays, got {short(x)}; ask for its real and imaginary parts")


def _bits(x: Array) -> Array:
    return lax_bits.bitcast_convert_type(x, np.dtype(f"int{get_aval(x).dtype.itemsize * 8}"))


def signbit(x: Any, /) -> Array:
    """Whether x is negative, including -0.0 and negative nans."""
    check_arrays("signbit", x)
    refuse_complex("signbit", x)
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


def conjugate(x: Any, /) -> Array:
    """The complex conjugate of x; a real array itself."""
    check_arrays("conjugate", x)
    return complexes.conj(x) if dtypes.is_complex(get_aval(x).dtype) else as_array(x)


conj = conjugate


def where(condition: Any, x: Any = None, y: Any = None, /) -> Array:
    """x where the condition holds, else y; all broadcast. TypeError without x and y."""
    if x is None or y is None:
        raise TypeError("where: needs both x and y, or neither: the condition alone gives the indices where it holds")
    check_arrays("where", condition, x, y)
    shape = broadcast_of("where", condition, x, y)
    x, y = (broadcast_to(side, shape) for side in converted("where", x, y))
    return PRIMITIVES["select"].bind(broadcast_to(truth("where", condition), shape), x, y)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """x with nan (by 0) and the infinities (by the limits of the dtype) replaced by finite numbers.

    >>> import pycompiler.numpy as pnp
    >>> pnp.nan_to_num(pnp.array([pnp.nan, 1.0]), nan=-1)
    Array([-1.,  1.], dtype=float32)
    """
    check_arrays("nan_to_num", x)
    dtype = get_aval(x).dtype
    if dtypes.is_complex(dtype):
        refuse_complex("nan_to_num, the number for a part,", nan)
        return _by_parts(lambda part: nan_to_num(part, copy, nan, posinf, neginf), x)
    if not dtypes.is_floating(dtype):
        return as_array(x)
    limits = dtypes.finfo(dtype)
    x = where(isnan(x), cast(nan, dtype), x)
    x = where(isposinf(x), cast(float(limits.max) if posinf is None else posinf, dtype), x)
    return where(isneginf(x), cast(float(limits.min) if neginf is None else neginf, dtype), x)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    """Whether |a - b| <= atol + rtol |b|; equal infinities are close, nans are with equal_nan.

    >>> import pycompiler.numpy as pnp
    >>> pnp.isclose(pnp.array([1.0, 2.0]), pnp.array([1.0, 2.1]))
    Array([ True, False], dtype=bool)
    """
    check_arrays("isclose", a, b)
    if dtypes.is_key(dtypes.result_type(a, b)[0]):
        return equal(a, b)
    a, b = promoted_inexact("isclose", a, b)
    real = dtypes.real_part(get_aval(a).dtype)
    close = lax.le(lax.abs(lax.sub(a, b)), lax.add(cast(atol, real), lax.mul(lax.abs(b), rtol)))
    finite = lax.bitwise_and(isfinite(a), isfinite(b))
    result = lax.select(finite, close, lax.eq(a, b))
    return lax.bitwise_or(result, lax.bitwise_and(isnan(a), isnan(b))) if equal_nan else result
