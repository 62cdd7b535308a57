"""The types of a primitive's rules, the arguments and results that are not arrays, and samples for tests.

`trace` imports this module: `Primitive` has one rule of each type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.types.aval import Typed, get_aval, tangent_aval
from pycompiler.core.types.tree_keys import register_pytree_node


class Zero:
    """A tangent or cotangent of the given aval that is known to be zero. No code is generated for it."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    @staticmethod
    def from_primal_value(val: Any) -> Zero:
        """The zero tangent of a value."""
        return Zero(tangent_aval(get_aval(val)))

    def __repr__(self) -> str:
        return f"Zero({self.aval})"


class UndefinedPrimal(Typed):
    """In a transpose rule: an argument in which the operation is linear, and whose cotangent is needed."""

    __slots__ = ("aval",)

    aval: ShapedArray

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval})"


# In trees that rules of users pass to transformations, they are part of the structure.
register_pytree_node(Zero, lambda zero: ((), zero.aval), lambda aval, _: Zero(aval))
register_pytree_node(UndefinedPrimal, lambda arg: ((), arg.aval), lambda aval, _: UndefinedPrimal(aval))


def is_zero(x: object) -> bool:
    """Whether `x` is a symbolic zero."""
    return type(x) is Zero


def is_undefined(x: object) -> bool:
    """Whether `x` is an argument whose cotangent is needed."""
    return type(x) is UndefinedPrimal


class Sample(NamedTuple):
    """One set of arguments for the tests: arrays, and the parameters of `bind`."""

    args: tuple[np.ndarray[Any, Any], ...]
    params: dict[str, Any] = {}  # noqa: RUF012


Dims = Sequence[int | None]


# (*avals, **params) -> aval, or a tuple of avals. Raises TypeError or ValueError for operands that do not fit.
ShapeRule = Callable[..., Any]
# (primals, tangents, **params) -> (out, tangent_out). A tangent, given or returned, may be a Zero.
JvpRule = Callable[..., tuple[Any, Any]]
# A jvp rule for primitives with graphs. Values that depend on a tangent must come from operations of their own.
LinearizeRule = Callable[..., tuple[Any, Any]]
# (cotangent, *args, **params) -> a cotangent or None for each argument. Linear arguments are UndefinedPrimal.
TransposeRule = Callable[..., Sequence[Any]]
# (args, dims, **params) -> (out, out_dim), for arguments mapped over axis `dims[i]`, or not at all (None).
BatchRule = Callable[..., tuple[Any, Any]]
