"""Abstract values: the shape, dtype and weak type of a value. `ShapedArray` itself lives in `_runtime`.

Every operand of `bind` has an aval (`get_aval`): arrays, tracers, NumPy's arrays and scalars, Python's scalars.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

import numpy as np

from pycompiler._runtime import Array, ShapedArray, array_from_numpy
from pycompiler.core.config.config import config
from pycompiler.core.dims import dims
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes

_T = TypeVar("_T")

__all__ = [
    "Elementless",
    "ShapedArray",
    "Typed",
    "as_array",
    "for_rule",
    "get_aval",
    "is_array",
    "same_type",
    "shaped",
    "short",
    "show_as_jax",
    "strong",
    "tangent_aval",
]


class Typed:
    """A base class of objects with an aval: it gives them the attributes of the aval."""

    __slots__ = ()

    aval: Any

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def weak_type(self) -> bool:
        return self.aval.weak_type

    @property
    def ndim(self) -> int:
        return len(self.aval.shape)

    @property
    def size(self) -> Any:
        return dims.dim_product(self.aval.shape)


def shaped(shape: Iterable[dims.Dimension], dtype: dtypes.DType, weak_type: bool = False) -> ShapedArray:
    """An aval of the shape and dtype; symbolic dimensions are allowed."""
    return ShapedArray(tuple(shape), dtype, weak_type)


def short(aval: Any) -> str:
    """`f32[3,4]`: the form of avals in messages and printed graphs. Takes values and scalars too.

    `f32[8@x,2]` is divided along the Explicit mesh axis x.
    """
    if not isinstance(aval, ShapedArray):
        aval = get_aval(aval)
    if aval.explicit_sharding is not None:
        return dtypes.short_name(aval.dtype) + _show_divided(aval)
    return dtypes.short_name(aval.dtype) + dims.show_shape(aval.shape)


def _show_divided(aval: ShapedArray) -> str:
    parts: list[str] = []
    for size, names in zip(aval.shape, aval.explicit_sharding.axes_of_dimensions, strict=True):
        axes = f"({','.join(map(str, names))})" if len(names) > 1 else "".join(map(str, names))
        parts.append(f"{size}@{axes}" if names else str(size))
    return f"[{','.join(parts)}]"


def _describe(aval: ShapedArray) -> str:
    """`ShapedArray(float32[8@x,2])`."""
    return f"ShapedArray({_str_short(aval)}{', weak_type=True' if aval.weak_type else ''})"


def _str_short(aval: ShapedArray, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
    """The dtype and the dimensions, `float32[8@x,2]`, with the axes that divide them. `short_dtypes`: `f32`.
    `mesh_axis_types`: with the types of the axes of the mesh."""
    shown = _show_divided(aval) if aval.explicit_sharding is not None else dims.show_shape(aval.shape)
    types = f"({aval.sharding.mesh.types_of_axes})" if mesh_axis_types else ""
    return f"{dtypes.short_name(aval.dtype) if short_dtypes else aval.dtype.name}{shown}{types}"


# The text of `f"{aval}"` in the messages of shape rules.
setattr(ShapedArray, "__str__", short)  # noqa: B010
setattr(ShapedArray, "__repr__", _describe)  # noqa: B010


def show_as_jax() -> None:
    """`str` of an aval is JAX's from now on, `float32[8@x,2]`, which programs look at."""
    setattr(ShapedArray, "__str__", _str_short)  # noqa: B010


def tangent_aval(aval: ShapedArray) -> ShapedArray:
    """The type of a tangent: that of the value. The tangent of integers is always a symbolic zero, of their type."""
    return aval


def strong(aval: ShapedArray) -> ShapedArray:
    """`aval` without its weak type."""
    return aval.update(weak_type=False) if aval.weak_type else aval


def _one_array(aval: ShapedArray) -> list[ShapedArray]:
    return [aval]


def _as_one_array(_: ShapedArray, value: Any) -> list[Any]:
    return [value]


def _from_one_array(_: ShapedArray, value: Any) -> Any:
    return value


# JAX's methods of abstract values.
_METHODS: dict[str, Callable[..., Any]] = {
    "str_short": _str_short,
    "strip_weak_type": strong,
    "to_tangent_aval": tangent_aval,
    "to_ct_aval": tangent_aval,
    "to_cotangent_aval": tangent_aval,
    # Types of users consist of arrays. A value of this type consists of one array, which is the value itself.
    "lo_ty": _one_array,
    "lower_val": _as_one_array,
    "raise_val": _from_one_array,
    "normalize": strong,
}
for _name, _method in _METHODS.items():
    setattr(ShapedArray, _name, _method)


def same_type(a: ShapedArray, b: ShapedArray) -> bool:
    """Whether shape and dtype agree. The weak type is not part of a value's type in a graph."""
    return a is b or (a.dtype == b.dtype and a.shape == b.shape)


def _scalar_aval(x: complex | dims.Dim) -> ShapedArray:
    return _SCALAR_AVALS[x.__class__][config.enable_x64]


# The avals of Python's scalars, without and with enable_x64.
_SCALAR_AVALS: dict[type, tuple[ShapedArray, ...]] = {
    kind: tuple([ShapedArray((), dtype, kind is not bool) for dtype in both]) for kind, both in dtypes.SCALARS.items()
}


def _numpy_aval(x: np.ndarray[Any, Any] | np.generic) -> ShapedArray:
    return ShapedArray(x.shape, dtypes.canonicalize(x.dtype))


_own_aval: Callable[[Any], ShapedArray] = operator.attrgetter("aval")

# The function that gives the aval of a value of exactly this type. The modules that define tracers add theirs.
_BY_TYPE: dict[type, Callable[[Any], ShapedArray]] = {
    bool: _scalar_aval,
    int: _scalar_aval,
    float: _scalar_aval,
    complex: _scalar_aval,
    np.ndarray: _numpy_aval,
    Array: _own_aval,
    # As an operand beside an array, a dimension is a number, like a Python int.
    dims.Dim: _scalar_aval,
}


def has_aval_by(kind: type[_T], find: Callable[[_T], ShapedArray]) -> None:
    """Values of exactly this class are arrays, and this function gives their avals."""
    _BY_TYPE[kind] = find


def has_aval(kind: type[_T]) -> type[_T]:
    """A decorator: values of exactly this class are arrays, and their attribute `aval` is their aval."""
    _BY_TYPE[kind] = _own_aval
    return kind


def get_aval(x: Any) -> ShapedArray:
    """The abstract value of anything that `bind` takes. Raises TypeError for a value that is not an array or scalar."""
    kind = x.__class__
    find = _BY_TYPE.get(kind)
    if find is not None:
        return find(x)
    aval = getattr(x, "aval", None)
    if isinstance(aval, ShapedArray):
        return aval
    if isinstance(x, (np.ndarray, np.generic)):
        check_unmasked(x)
        return _numpy_aval(cast(Any, x))
    for scalar in (bool, int, float, complex):
        if isinstance(x, scalar):
            return _SCALAR_AVALS[scalar][config.enable_x64]
    # As in JAX, a ValueError too for objects that functions take as arrays.
    error = ArgumentError if hasattr(kind, "__jax_array__") else TypeError
    raise error(f"{x!r} of type {kind.__name__} is not an array or a scalar")


def check_unmasked(x: Any) -> None:
    """Raise TypeError for NumPy's masked arrays, whose mask would be lost."""
    # NumPy imports its module for them at the first use, which takes longer than most calls.
    module = sys.modules.get("numpy.ma")
    if module is not None and isinstance(x, module.MaskedArray):
        raise ArgumentError("a masked array would lose its mask: give x.filled(value), or the data and the mask apart")


def is_array(x: Any) -> bool:
    """Whether `bind` takes `x`."""
    if type(x) in _BY_TYPE or isinstance(x, (Array, np.ndarray, np.generic, bool, int, float, complex)):
        return True
    # An object with `__jax_array__` stands for another array, to which it may forward all attributes.
    return not hasattr(x.__class__, "__jax_array__") and isinstance(getattr(x, "aval", None), ShapedArray)


def for_rule(x: Any) -> Any:
    """A value for a rule of the user: an array for a NumPy scalar, the cotangent that a gradient begins with."""
    return as_array(x) if isinstance(x, np.generic) else x


def as_array(x: Any) -> Any:
    """`x` on the device: NumPy's arrays and scalars and Python's scalars are copied, arrays and tracers stay.

    A warning tells that a 64-bit NumPy array is narrowed, once for each call site. Raises TypeError for a value that is
    not an array or scalar, OverflowError for a Python int that does not fit into its dtype.
    """
    if isinstance(x, (np.ndarray, np.generic, bool, int, float, complex)):
        aval = get_aval(x)
        given = np.asarray(x)
        if isinstance(x, np.ndarray) and given.dtype != aval.dtype:
            dtypes.warn_of_narrowing("an input array", given.dtype, aval.dtype)
        if isinstance(x, (int, float, complex)):
            return array_from_numpy(dtypes.host_scalar(x, aval.dtype), aval)
        return array_from_numpy(np.ascontiguousarray(np.asarray(x, aval.dtype)).reshape(aval.shape), aval)
    get_aval(x)
    if isinstance(x, Elementless):
        raise TypeError(f"{x!r} has no elements: only eval_shape, make_jaxpr, linear_transpose and lower take it")
    if isinstance(x, dims.Dim):
        raise TypeError(f"the dimension {x} has a value only inside of a traced function whose arguments have it")
    return x


class Elementless:
    """A base class of values that have an aval but no elements. They can be traced, but not computed with."""

    __slots__ = ()
