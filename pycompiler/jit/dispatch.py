"""The functions of `numpy` whose common calls never enter Python, with the options that each is compiled for.

Imports `numpy/` and `jit`; `array` makes methods of these functions. Outside of traces, a call with arrays, plain
numbers and the options in this table goes from the interpreter directly to the compiled code. Every other call goes to
the function as `numpy` defines it. Functions whose program depends on values of arguments (the exponent of a power, the
size of a range) are not in the table.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pycompiler.numpy as pnp
from pycompiler._runtime import ArrayFunction
from pycompiler.core.hooks import set_checks_enabled, set_settled_dtypes
from pycompiler.core.types import dtype as dtypes
from pycompiler.diagnostics import checks
from pycompiler.jit.jit import eager_function


class _Row(NamedTuple):
    """Functions of `fewest` to `most` arrays. They are specialized to the options, given by position or by name."""

    names: str
    fewest: int
    most: int
    options: tuple[str, ...] = ()
    dtypes: bool = False


_TABLE = (
    _Row("exp exp2 expm1 log log1p log2 log10 sin cos tan arcsin asin arccos acos arctan atan sinh cosh tanh", 1, 1),
    _Row("arcsinh asinh arccosh acosh arctanh atanh sqrt cbrt degrees rad2deg radians deg2rad fabs sinc", 1, 1),
    _Row("invert bitwise_not bitwise_invert logical_not positive negative absolute abs sign square reciprocal", 1, 1),
    _Row("bitwise_count spacing frexp modf", 1, 1),
    _Row("floor ceil trunc rint isnan isfinite isinf isposinf isneginf signbit conjugate conj real imag", 1, 1),
    _Row("add subtract multiply maximum minimum equal not_equal less less_equal greater greater_equal", 2, 2),
    _Row("bitwise_and bitwise_or bitwise_xor left_shift bitwise_left_shift right_shift bitwise_right_shift", 2, 2),
    _Row("logical_and logical_or logical_xor divide true_divide floor_divide remainder mod fmod divmod", 2, 2),
    _Row("gcd lcm ldexp", 2, 2),
    _Row("arctan2 atan2 hypot logaddexp logaddexp2 heaviside fmax fmin copysign nextafter", 2, 2),
    _Row("where", 3, 3),
    _Row("clip", 1, 3),
    _Row("round around", 1, 1, ("decimals",)),
    _Row("matmul dot vdot inner outer vecdot matvec vecmat", 2, 2),
    _Row("sum prod mean nansum nanprod nanmean", 1, 1, ("axis", "dtype", "keepdims"), dtypes=True),
    _Row("max amax min amin any all ptp count_nonzero nanmax nanmin", 1, 1, ("axis", "keepdims")),
    _Row("var std nanvar nanstd", 1, 1, ("axis", "dtype", "ddof", "keepdims"), dtypes=True),
    _Row("argmax argmin nanargmax nanargmin", 1, 1, ("axis", "keepdims")),
    _Row("cumsum cumprod", 1, 1, ("axis", "dtype"), dtypes=True),
    _Row("reshape", 1, 1, ("shape", "order")),
    _Row("ravel", 1, 1, ("order",)),
    _Row("transpose", 1, 1, ("axes",)),
    _Row("matrix_transpose", 1, 1),
    _Row("swapaxes", 1, 1, ("axis1", "axis2")),
    _Row("moveaxis", 1, 1, ("source", "destination")),
    _Row("squeeze expand_dims flip sort argsort", 1, 1, ("axis",)),
    _Row("broadcast_to", 1, 1, ("shape",)),
    _Row("tril triu", 1, 1, ("k",)),
    _Row("diagonal trace", 1, 1, ("offset", "axis1", "axis2")),
    _Row("astype", 1, 1, ("dtype",), dtypes=True),
)

# NumPy's ufuncs that are not in the table, with the reason.
WITHOUT_ROW = {
    "power": "the program depends on the value of the exponent",
    "pow": "the program depends on the value of the exponent",
    "float_power": "the program depends on the value of the exponent",
}


def direct_names() -> list[str]:
    """The functions of the table."""
    return [name for row in _TABLE for name in row.names.split()]


def dispatched(
    function: Callable[..., Any],
    fewest: int,
    most: int,
    options: tuple[str, ...] = (),
    *,
    dtypes: bool = False,
    numbers: tuple[int, ...] | None = None,
) -> ArrayFunction:
    """`function`, with compiled code for the calls that need no Python. `numbers`: the positions of options whose names
    are not enough."""
    if isinstance(function, ArrayFunction):
        result: ArrayFunction = function
        inner = function.compiled_by if isinstance(function, pnp.ufunc) else function.general
    else:
        result = ArrayFunction(function)
        functools.update_wrapper(result, function)
        inner = getattr(function, "__wrapped__", function)
    result.set_compiled(functools.partial(_compiled, inner, options, numbers), fewest, most, options, dtypes)
    return result


def _compiled(function: Callable[..., Any], options: tuple[str, ...], numbers: tuple[int, ...] | None) -> Any:
    return eager_function(function, options, numbers or ())


def _attach() -> None:
    made: dict[int, ArrayFunction] = {}
    namespace: dict[str, Any] = pnp.__dict__
    for names, fewest, most, options, with_dtypes in _TABLE:
        for name in names.split():
            function = namespace[name]
            if id(function) not in made:
                made[id(function)] = dispatched(function, fewest, most, options, dtypes=with_dtypes)
            namespace[name] = made[id(function)]


def _settled_dtypes() -> list[Any]:
    """The objects that name one dtype under every configuration, or that mean the default one."""
    found: list[Any] = [bool, int, float]
    for name in ("bool_", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32"):
        dtype: np.dtype[Any] = getattr(dtypes, name)
        found += [dtype, dtype.type, getattr(pnp, name)]
    return found


_attach()
set_settled_dtypes(tuple(_settled_dtypes()))
set_checks_enabled(checks.are_enabled)
