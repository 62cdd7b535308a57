"""Arrays with nans: reductions that ignore nans, and the replacement of nans by numbers. Imports `reductions`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval
from pycompiler.lax.operands import cast, check_arrays
from pycompiler.numpy import ufuncs
from pycompiler.numpy.reductions import Axis, all, argmax, argmin, mask_of, max, mean, min, prod, sum, variance
from pycompiler.primitives.reduction import highest, lowest

__all__ = [
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """x with nan (by 0) and the infinities (by the limits of the dtype) replaced by finite numbers.

    >>> import pycompiler.numpy as pnp
    >>> pnp.nan_to_num(pnp.array([pnp.nan, 1.0]), nan=-1)
    Array([-1.,  1.], dtype=float32)
    """
    check_arrays("nan_to_num", x)
    dtype = get_aval(x).dtype
    if dtypes.is_complex(dtype):
        ufuncs.refuse_complex("nan_to_num, the number for a part,", nan)
        return ufuncs.by_parts(lambda part: nan_to_num(part, copy, nan, posinf, neginf), x)
    if not dtypes.is_floating(dtype):
        return as_array(x)
    limits = dtypes.finfo(dtype)
    x = ufuncs.where(ufuncs.isnan(x), cast(nan, dtype), x)
    x = ufuncs.where(ufuncs.isposinf(x), cast(float(limits.max) if posinf is None else posinf, dtype), x)
    return ufuncs.where(ufuncs.isneginf(x), cast(float(limits.min) if neginf is None else neginf, dtype), x)


def _nan_to(name: str, a: Any, value: Any) -> Array:
    """a with its nans replaced by a value."""
    check_arrays(name, a)
    dtype = get_aval(a).dtype
    return ufuncs.where(ufuncs.isnan(a), cast(value, dtype), a) if dtypes.is_inexact(dtype) else a


def nansum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The sum over axes, without nans.

    >>> import pycompiler.numpy as pnp
    >>> pnp.nansum(pnp.array([1.0, pnp.nan, 3.0]))
    Array(4., dtype=float32)
    """
    return sum(_nan_to("nansum", a, 0), axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The product over axes, without nans."""
    return prod(_nan_to("nanprod", a, 1), axis, dtype, out, keepdims, initial, where)


def _nan_extremum(name: str, function: Any, identity: Callable[[Any], Any], word: str) -> Any:
    def extremum(
        a: Any,
        axis: Axis = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        check_arrays(name, a)
        dtype = get_aval(a).dtype
        result = function(_nan_to(name, a, identity(dtype)), axis, out, keepdims, initial, where)
        if initial is not None or not dtypes.is_inexact(dtype):
            return result
        return ufuncs.where(all(ufuncs.isnan(a), axis, keepdims=keepdims), cast(np.nan, dtype), result)

    extremum.__name__ = extremum.__qualname__ = name
    extremum.__doc__ = f"The {word} over axes, without nans; nan if all elements are nan."
    return extremum


nanmax = _nan_extremum("nanmax", max, lowest, "greatest")
nanmin = _nan_extremum("nanmin", min, highest, "least")


def _without_nan(name: str, a: Any, where: Any) -> Any:
    """The where= of a function that ignores nans. A dtype without nan keeps the where= of the caller."""
    check_arrays(name, a)
    aval = get_aval(a)
    if not dtypes.is_inexact(aval.dtype):
        return where
    there = ufuncs.logical_not(ufuncs.isnan(a))
    return there if where is None else ufuncs.logical_and(there, mask_of(name, where, aval.shape))


def nanmean(
    a: Any, axis: Axis = None, dtype: Any = None, out: None = None, keepdims: bool = False, where: Any = None
) -> Array:
    """The mean over axes, without nans; nan if all elements are.

    >>> import pycompiler.numpy as pnp
    >>> pnp.nanmean(pnp.array([1.0, pnp.nan, 3.0]))
    Array(2., dtype=float32)
    """
    return mean(a, axis, dtype, out, keepdims, where=_without_nan("nanmean", a, where))


def nanvar(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """The variance over axes, without nans; nan if the count minus ddof is not positive."""
    kept = _without_nan("nanvar", a, where)
    return variance("nanvar", _nan_to("nanvar", a, 0), axis, dtype, out, ddof, keepdims, kept, mean, None)


def nanstd(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: int = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """The square root of the variance over axes, without nans."""
    kept = _without_nan("nanstd", a, where)
    return ufuncs.sqrt(variance("nanstd", _nan_to("nanstd", a, 0), axis, dtype, out, ddof, keepdims, kept, mean, None))


def _nan_arg_extremum(name: str, function: Any, instead: float, word: str) -> Any:
    def arg_extremum(a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None) -> Array:
        check_arrays(name, a)
        place = function(_nan_to(name, a, instead), axis, out, keepdims)
        if not dtypes.is_floating(get_aval(a).dtype):
            return place
        return ufuncs.where(all(ufuncs.isnan(a), axis, keepdims=bool(keepdims)), -1, place)

    arg_extremum.__name__ = arg_extremum.__qualname__ = name
    arg_extremum.__doc__ = f"The index of the {word} without nans, along an axis or in the flat array; -1 if all are."
    return arg_extremum


nanargmax = _nan_arg_extremum("nanargmax", argmax, -np.inf, "greatest")
nanargmin = _nan_arg_extremum("nanargmin", argmin, np.inf, "least")
