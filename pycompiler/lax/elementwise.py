"""Elementwise functions of lax: arguments of one dtype and shape, except scalars; nothing is promoted."""

import functools
from collections.abc import Callable
from typing import Any

from pycompiler._runtime import Array as ConcreteArray
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.trace import current_trace
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, is_array, short
from pycompiler.core.types.tree import tree_map
from pycompiler.lax import analytic
from pycompiler.lax.bits import bitcast_convert_type as bitcast_convert_type
from pycompiler.lax.bits import nextafter as nextafter
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import Array, broadcast_to, cast, check_arrays, matched, weakly
from pycompiler.lax.precision import AccuracyMode, Tolerance, check_accuracy
from pycompiler.primitives import PRIMITIVES, arithmetic, bits, compare, shape
from pycompiler.primitives import math as math_ops

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_not",
    "bitwise_or", "bitwise_xor", "cbrt", "ceil", "clamp", "convert_element_type", "cos", "cosh", "div", "eq", "erf",
    "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "integer_pow", "is_finite", "le", "log",
    "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "pow", "reciprocal", "rem", "round", "rsqrt",
    "select", "select_n", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh",
    "sqrt", "square", "stop_gradient", "sub", "tan", "tanh",
]  # fmt: skip


def _unary(name: str, summary: str) -> Callable[[Array], Array]:
    primitive: Primitive = PRIMITIVES[name]

    def function(x: Array) -> Array:
        check_arrays(name, x)
        return primitive.bind(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


def _with_accuracy(name: str, summary: str) -> Callable[..., Array]:
    """An elementary function that takes `accuracy`, as in jax. Its accuracy is always that of AccuracyMode.HIGHEST."""
    primitive: Primitive = PRIMITIVES[name]

    def function(x: Array, *, accuracy: Tolerance | AccuracyMode | None = None) -> Array:
        check_arrays(name, x)
        if accuracy is not None:
            check_accuracy(name, accuracy, get_aval(x).dtype)
        return primitive.bind(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{summary} `accuracy`: the largest accepted errors; ValueError if the errors are larger."""
    return function


def _composed_for_complex(name: str, summary: str) -> Callable[[Array], Array]:
    """A primitive of floats, with a composition for complex numbers."""
    on_floats = _unary(name, summary)
    composed: Callable[[Array], Array] = getattr(analytic, name)

    def function(x: Array) -> Array:
        if is_array(x) and dtypes.is_complex(get_aval(x).dtype):
            return weakly(eager_jit(composed, x), get_aval(x).weak_type)
        return on_floats(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    return function


def _binary(name: str, summary: str, primitive: str | None = None) -> Callable[[Array, Array], Array]:
    entry: Primitive = PRIMITIVES[primitive or name]

    def function(x: Array, y: Array) -> Array:
        return entry.bind(*matched(name, x, y))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary} TypeError if the dtypes differ, ValueError if the shapes differ."
    return function


neg = _unary("neg", "-x; integers wrap.")
abs = _unary("abs", "The magnitude of x.")
sign = _unary("sign", "-1, 0 or 1; nan for nan, the same zero for a zero.")
floor = _unary("floor", "The next integer below, as a float.")
ceil = _unary("ceil", "The next integer above, as a float.")
is_finite = _unary("is_finite", "Whether x is neither infinite nor nan.")
exp = _with_accuracy("exp", "e to the power of x.")
exp2 = _with_accuracy("exp2", "2 to the power of x.")
expm1 = _with_accuracy("expm1", "exp(x) - 1, accurate near 0.")
log = _with_accuracy("log", "The natural logarithm; nan for a negative number.")
log1p = _with_accuracy("log1p", "log(1 + x), accurate near 0.")
sin = _with_accuracy("sin", "The sine of x in radians.")
cos = _with_accuracy("cos", "The cosine of x in radians.")
tan = _with_accuracy("tan", "The tangent of x in radians.")
tanh = _with_accuracy("tanh", "The hyperbolic tangent.")
sqrt = _with_accuracy("sqrt", "The square root; nan for a negative number.")
rsqrt = _with_accuracy("rsqrt", "1 / sqrt(x).")
cbrt = _with_accuracy("cbrt", "The cube root, also of negative numbers.")
logistic = _with_accuracy("logistic", "1 / (1 + exp(-x)).")
erf = _unary("erf", "The error function.")
erf_inv = _unary("erf_inv", "The inverse of the error function.")
erfc = _unary("erfc", "1 - erf(x), accurate where it is tiny.")
asin = _composed_for_complex("asin", "The angle in -pi/2..pi/2 whose sine is x.")
acos = _composed_for_complex("acos", "The angle in 0..pi whose cosine is x.")
atan = _composed_for_complex("atan", "The angle in -pi/2..pi/2 whose tangent is x.")
sinh = _composed_for_complex("sinh", "The hyperbolic sine.")
cosh = _composed_for_complex("cosh", "The hyperbolic cosine.")
asinh = _composed_for_complex("asinh", "The inverse of the hyperbolic sine.")
acosh = _composed_for_complex("acosh", "The inverse of the hyperbolic cosine; nan below 1.")
atanh = _composed_for_complex("atanh", "The inverse of the hyperbolic tangent; nan outside -1..1.")
bitwise_not = _unary("not", "Every bit flipped; the negation of a bool.")
bitwise_not.__name__ = bitwise_not.__qualname__ = "bitwise_not"
stop_gradient_of = PRIMITIVES["stop_gradient"]

add = _binary("add", "x + y.")
sub = _binary("sub", "x - y.")


def mul(x: Array, y: Array, *, out_dtype: Any = None) -> Array:
    """x * y, of arrays converted to out_dtype if it is given.

    TypeError if the dtypes differ and out_dtype is not given, ValueError if the shapes differ.
    """
    if out_dtype is not None:
        check_arrays("mul", x, y)
        wanted = dtypes.canonicalize_requested(out_dtype, "mul")
        x, y = cast(x, wanted), cast(y, wanted)
    return PRIMITIVES["mul"].bind(*matched("mul", x, y))


div = _binary("div", "x / y; integers truncate towards zero, and give -1 for a zero divisor.")
rem = _binary("rem", "The remainder of x / y with the sign of x; x for integers and a zero divisor.")
atan2 = _binary("atan2", "The angle of the point (y, x) in radians.")
bitwise_and = _binary("bitwise_and", "The bits that both have.", "and")
bitwise_or = _binary("bitwise_or", "The bits that either has.", "or")
bitwise_xor = _binary("bitwise_xor", "The bits that exactly one of them has.", "xor")
shift_left = _binary("shift_left", "x shifted to the left; 0 if shifted by its width or more.")
shift_right_arithmetic = _binary("shift_right_arithmetic", "x shifted to the right, filled with its highest bit.")
shift_right_logical = _binary("shift_right_logical", "x shifted to the right, filled with zeros.")
max = _binary("max", "The maximum; nan if either is nan.")
min = _binary("min", "The minimum; nan if either is nan.")
eq = _binary("eq", "x == y, a bool.")
ne = _binary("ne", "x != y, a bool.")
lt = _binary("lt", "x < y, a bool.")
le = _binary("le", "x <= y, a bool.")
gt = _binary("gt", "x > y, a bool.")
ge = _binary("ge", "x >= y, a bool.")


# The public functions of two arguments take Python scalars of one type. Inside the package the types may differ.
_OF_ONE_TYPE = (
    *("add", "sub", "mul", "div", "rem", "atan2", "max", "min", "eq", "ne", "lt", "le", "gt", "ge"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"),
)
_SCALARS = frozenset((bool, int, float, complex))


def refuse_mixed_scalars(namespace: dict[str, Any]) -> None:
    """Make the functions of two arguments in a namespace raise TypeError for two Python scalars of different types, as
    JAX's do: no array gives them a dtype."""
    for name in _OF_ONE_TYPE:
        namespace[name] = _of_one_type(name, namespace[name])


def _of_one_type(name: str, inner: Callable[..., Array]) -> Callable[..., Array]:
    @functools.wraps(inner)
    def function(x: Array, y: Array, **options: Any) -> Array:
        if type(x) is not type(y) and type(x) in _SCALARS and type(y) in _SCALARS:
            raise TypeError(
                f"{name}: scalars of different types, {x!r} and {y!r}, and no array gives them a dtype: write them "
                "of one type, or use pycompiler.numpy"
            )
        return inner(x, y, **options)

    return function


def convert_element_type(operand: Array, new_dtype: Any) -> Array:
    """operand in another dtype. Floats to integers truncate and saturate, nan becomes 0; to bool is != 0.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.convert_element_type(pnp.array([1.7]), int)
    Array([1], dtype=int32)
    """
    check_arrays("convert_element_type", operand)
    if new_dtype is None:
        return operand
    dtype = dtypes.canonicalize_requested(new_dtype, "convert_element_type")
    if type(operand) in (int, float, complex) and dtypes.is_integer(dtype):
        operand = _converted_scalar(operand, dtype)
    found = cast(operand, dtype)
    # In a trace, a scalar stays a literal.
    return as_array(found) if current_trace() is None else found


def _converted_scalar(x: complex, dtype: Any) -> Any:
    """A Python scalar that converts to an integer dtype like an array. An int keeps its low bits. A float becomes an
    array, whose conversion truncates."""
    if type(x) is not int:
        return as_array(x)
    limits = dtypes.iinfo(dtype)
    return (x - limits.min) % (limits.max - limits.min + 1) + limits.min


def stop_gradient(x: Any) -> Any:
    """A tree of arrays, unchanged, with a derivative of zero. Integer leaves, which have no derivative, stay.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.stop_gradient(pnp.ones(2))
    Array([1., 1.], dtype=float32)
    """
    return tree_map(_stopped, x)


def _stopped(x: Any) -> Any:
    check_arrays("stop_gradient", x)
    if not dtypes.is_inexact(get_aval(x).dtype) or (type(x) is ConcreteArray and current_trace() is None):
        return x
    return stop_gradient_of.bind(x)


def pow(x: Array, y: Array) -> Array:
    """x to the power of y. A Python integer y becomes products; else both are floats of one dtype, or y is integers."""
    if type(y) is int:
        return integer_pow(x, y)
    check_arrays("pow", x, y)
    base, exponent = get_aval(x), get_aval(y)
    if dtypes.is_inexact(base.dtype) and dtypes.is_integer(exponent.dtype):
        y = cast(y, base.dtype, base.weak_type)
    return math_ops.pow_.bind(*matched("pow", x, y))


def integer_pow(x: Array, y: int) -> Array:
    """x to a fixed integer power, by repeated squaring.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.integer_pow(pnp.array([2.0, 3.0]), 3)
    Array([ 8., 27.], dtype=float32)
    """
    check_arrays("integer_pow", x)
    if type(y) is not int:
        raise TypeError(f"integer_pow: the exponent must be a Python int, got {y!r}; use lax.pow")
    if y == 0:
        one = cast(1, get_aval(x).dtype, get_aval(x).weak_type)
        return shape.broadcast_in_dim.bind(one, shape=get_aval(x).shape, broadcast_dimensions=())
    if y < 0:
        if not dtypes.is_inexact(get_aval(x).dtype):
            raise TypeError(f"integer_pow: {short(get_aval(x))} has no negative power {y}; convert it to a float")
        return reciprocal(integer_pow(x, -y))
    result = None
    while y > 0:
        if y % 2:
            result = x if result is None else mul(result, x)
        y //= 2
        if y:
            x = square(x)
    return result


def square(x: Array) -> Array:
    """x * x."""
    check_arrays("square", x)
    return eager_jit(analytic.square, x) if dtypes.is_complex(get_aval(x).dtype) else mul(x, x)


def reciprocal(x: Array) -> Array:
    """1 / x."""
    # 1 - 0i: a zero imaginary part changes its sign, like any other imaginary part.
    return div(complex(1, -0.0) if is_array(x) and dtypes.is_complex(get_aval(x).dtype) else 1, x)


def round(x: Array, rounding_method: Any = 0) -> Array:
    """x to the nearest integer, as a float; ties away from zero (0, the default) or to even (1)."""
    check_arrays("round", x)
    if int(rounding_method) == 1:
        return arithmetic.round_.bind(x)
    magnitude = abs(x)
    whole = floor(magnitude)
    # Not floor(x + 1/2): the sum may round up.
    return mul(sign(x), select(ge(sub(magnitude, whole), 0.5), add(whole, 1), whole))


def clamp(min: Array, x: Array, max: Array) -> Array:
    """x limited to min..max. The bounds are scalars or of the shape of x.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.clamp(0.0, pnp.array([-1.0, 0.5, 3.0]), 1.0)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    check_arrays("clamp", min, x, max)
    low, value, high = matched("clamp", min, x, max, same_shape=True)
    if dtypes.is_complex(get_aval(value).dtype):
        return arithmetic.min_.bind(arithmetic.max_.bind(low, value), high)
    # Selects instead of extrema: at a bound, the derivative by x is 0, not a half.
    is_low, is_high = compare.le.bind(value, low), compare.gt.bind(value, high)
    if is_array(min):
        # The derivative by the bound is 0 there, too, and so is that by a lower bound that is not below the upper one.
        is_below = bits.and_.bind(compare.lt.bind(value, low), compare.lt.bind(low, high))
        low = compare.select.bind(is_below, low, stop_gradient(low))
    if is_array(max):
        high = compare.select.bind(is_high, high, stop_gradient(high))
    value = compare.select.bind(is_low, low, value)
    return compare.select.bind(compare.ge.bind(value, high), high, value)


def select(pred: Array, on_true: Array, on_false: Array) -> Array:
    """on_true if pred holds, else on_false. pred is bool, a scalar or of the shape of the others.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> lax.select(pnp.array([True, False]), pnp.array([1, 2]), pnp.array([3, 4]))
    Array([1, 4], dtype=int32)
    """
    check_arrays("select", pred, on_true, on_false)
    on_true, on_false = matched("select", on_true, on_false, same_shape=True)
    kind = get_aval(pred).dtype
    if kind != dtypes.bool_:
        if not dtypes.is_integer(kind):
            raise TypeError(f"select: pred must be a bool, or an integer (true from 1), got {short(pred)}")
        pred = ge(pred, 1)
    if get_aval(pred).shape == ():
        pred = broadcast_to(pred, get_aval(on_true).shape)
    return compare.select.bind(pred, on_true, on_false)


def select_n(which: Array, *cases: Array) -> Array:
    """cases[which]: which is a bool for two cases (false first), else an integer that is clamped to the range."""
    check_arrays("select_n", which, *cases)
    if not cases:
        raise ValueError("select_n: needs at least one case")
    first, *others = cases
    if get_aval(which).dtype == dtypes.bool_:
        if len(others) > 1:
            raise TypeError(f"select_n: a bool chooses between two cases, got {len(cases)}; choose by an integer")
        return select(which, others[0] if others else first, first)
    result = first
    for number, case in enumerate(others, start=1):
        result = select(ge(which, number), case, result)
    return result
