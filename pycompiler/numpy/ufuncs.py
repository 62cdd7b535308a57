"""Elementwise functions. They promote and broadcast their arguments, then bind a primitive or compose several."""

import operator
from collections.abc import Callable
from math import log as scalar_log
from math import log10 as log10_of
from math import pi
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.boundary import alias
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import complexes
from pycompiler.lax import elementwise as lax
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, check_arrays, weakly
from pycompiler.numpy.promotion import (
    broadcast_of,
    check_promotion,
    converted,
    promoted,
    promoted_inexact,
    weak_scalars,
)
from pycompiler.primitives import PRIMITIVES
from pycompiler.primitives.quotients import sin_quotient

__all__ = [
    "abs", "absolute", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "around", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_invert", "bitwise_left_shift", "bitwise_not",
    "bitwise_right_shift", "cbrt", "ceil", "clip", "conj", "conjugate", "cos", "cosh", "deg2rad", "degrees", "divide",
    "equal", "exp", "exp2", "expm1", "fabs", "floor", "fmax", "fmin", "greater", "greater_equal", "heaviside", "invert",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "left_shift", "less", "less_equal", "log", "log1p", "log2",
    "log10", "logical_not", "not_equal", "positive", "rad2deg", "radians", "reciprocal", "right_shift", "rint", "round",
    "sign", "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "true_divide", "trunc",
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
    # Each part is divided separately, because a complex divisor would turn infinities into nans.
    return by_parts(lambda part: lax.mul(part, 1 / scalar_log(base)), lax.log(x))


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
arcsin = _float_function("arcsin", lax.asin, "The angle in -pi/2..pi/2 whose sine is x.")
asin = alias(arcsin, "asin")
arccos = _float_function("arccos", lax.acos, "The angle in 0..pi whose cosine is x.")
acos = alias(arccos, "acos")
arctan = _float_function("arctan", lax.atan, "The angle in -pi/2..pi/2 whose tangent is x.")
atan = alias(arctan, "atan")
sinh = _float_function("sinh", lax.sinh, "The hyperbolic sine.")
cosh = _float_function("cosh", lax.cosh, "The hyperbolic cosine.")
tanh = _float_function("tanh", lax.tanh, "The hyperbolic tangent.")
arcsinh = _float_function("arcsinh", lax.asinh, "The inverse of the hyperbolic sine.")
asinh = alias(arcsinh, "asinh")
arccosh = _float_function("arccosh", lax.acosh, "The inverse of the hyperbolic cosine; nan below 1.")
acosh = alias(arccosh, "acosh")
arctanh = _float_function("arctanh", lax.atanh, "The inverse of the hyperbolic tangent; nan outside -1..1.")
atanh = alias(arctanh, "atanh")
sqrt = _float_function("sqrt", lax.sqrt, "The square root; nan for a negative number.")
cbrt = _float_function("cbrt", lax.cbrt, "The cube root, also of negative numbers.")
degrees = _float_function("degrees", weak_scalars(lambda x: lax.mul(x, 180 / pi)), "Radians in degrees.")
rad2deg = alias(degrees, "rad2deg")
radians = _float_function("radians", weak_scalars(lambda x: lax.mul(x, pi / 180)), "Degrees in radians.")
deg2rad = alias(radians, "deg2rad")


def fabs(x: Any, /) -> Array:
    """The magnitude of x, as a float; integers are converted. TypeError for complex numbers: use abs."""
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
maximum = _binary("maximum", "max", "The maximum; nan if either is nan.", logical="or")
minimum = _binary("minimum", "min", "The minimum; nan if either is nan.", logical="and")
equal = _binary("equal", "eq", "x == y.")
not_equal = _binary("not_equal", "ne", "x != y.")
less = _order("less", "lt", "x < y.")
less_equal = _order("less_equal", "le", "x <= y.")
greater = _order("greater", "gt", "x > y.")
greater_equal = _order("greater_equal", "ge", "x >= y.")
bitwise_and = _binary("bitwise_and", "and", "The bits that both have.")
bitwise_or = _binary("bitwise_or", "or", "The bits that either has.")
bitwise_xor = _binary("bitwise_xor", "xor", "The bits that exactly one has.")


def _whole(name: str, x: Any, y: Any) -> list[Array]:
    """The operands of a shift in their common dtype. Bools are integers of the default dtype, as in JAX."""
    x, y = promoted(name, x, y)
    if get_aval(x).dtype == dtypes.bool_:
        return promoted(name, *(cast(side, dtypes.scalar_dtype(int)) for side in (x, y)))
    return [x, y]


def left_shift(x: Any, y: Any, /) -> Array:
    """x shifted to the left; filled with zeros."""
    return lax.shift_left(*_whole("left_shift", x, y))


bitwise_left_shift = alias(left_shift, "bitwise_left_shift")


def right_shift(x: Any, y: Any, /) -> Array:
    """x shifted to the right, filled with copies of the sign bit; unsigned integers are filled with zeros."""
    x, y = _whole("right_shift", x, y)
    signed = dtypes.is_signed(get_aval(x).dtype)
    return (lax.shift_right_arithmetic if signed else lax.shift_right_logical)(x, y)


bitwise_right_shift = alias(right_shift, "bitwise_right_shift")


def invert(x: Any, /) -> Array:
    """Each bit flipped; the negation of a bool."""
    check_arrays("invert", x)
    return lax.bitwise_not(x)


bitwise_not = alias(invert, "bitwise_not")
bitwise_invert = alias(invert, "bitwise_invert")


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


abs = alias(absolute, "abs")


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


true_divide = alias(divide, "true_divide")


def arctan2(y: Any, x: Any, /) -> Array:
    """The angle of the point (x, y) in radians, in -pi..pi."""
    return lax.atan2(*promoted_inexact("arctan2", y, x))


atan2 = alias(arctan2, "atan2")


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
    # The derivative by x is 0 everywhere. No 0 flows back to x, because the derivative of x itself could make it nan.
    return lax.select(isnan(x), lax.stop_gradient(x), step)


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
        return by_parts(lambda part: round(part, decimals), a)
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
    # JAX keeps the weak type only of scalars.
    return weakly(lax.div(lax.round(lax.mul(a, factor), 1), factor), get_aval(a).weak_type and not get_aval(a).shape)


around = alias(round, "around")


def clip(arr: Any = None, /, min: Any = None, max: Any = None) -> Array:
    """arr limited to min..max; either may be missing. If min > max, the result is max.

    >>> import pycompiler.numpy as pnp
    >>> pnp.clip(pnp.array([-1, 5]), 0, 3)
    Array([0, 3], dtype=int32)
    """
    check_arrays("clip", arr, *(bound for bound in (min, max) if bound is not None))
    check_promotion("clip", arr, min, max)
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


def by_parts(function: Callable[[Array], Array], x: Array) -> Array:
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
    """Raise an error for complex numbers. It is a TypeError, as in NumPy, and a ValueError, as in jax."""
    if dtypes.is_complex(get_aval(x).dtype):
        raise ArgumentError(f"{name}: takes real arrays, got {short(x)}; ask for its real and imaginary parts")


def conjugate(x: Any, /) -> Array:
    """The complex conjugate of x; a real array itself."""
    check_arrays("conjugate", x)
    return complexes.conj(x) if dtypes.is_complex(get_aval(x).dtype) else as_array(x)


conj = alias(conjugate, "conj")


def where(condition: Any, x: Any = None, y: Any = None, /) -> Array:
    """x where the condition holds, else y; all broadcast. TypeError without x and y."""
    if x is None or y is None:
        raise TypeError("where: needs both x and y, or neither: a call with only the condition gives indices")
    check_arrays("where", condition, x, y)
    shape = broadcast_of("where", condition, x, y)
    x, y = (broadcast_to(side, shape) for side in converted("where", x, y))
    return PRIMITIVES["select"].bind(broadcast_to(truth("where", condition), shape), x, y)
