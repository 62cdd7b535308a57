"""`jax.experimental.hijax`: values of users' own types in traced functions (`core.tracing.user_values`).

When an operation of such a type is bound, its lowering runs at once, with tracers in the place of arrays. So a graph
has only operations on arrays. Derivatives and mapped forms are those of the lowering: `abstract_eval`, `jvp` and
`transpose` of a HiPrimitive are not called. `Box`, `VJPHiPrimitive` and `HiPspec` are missing.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pycompiler.core.tracing.user_values import made, present, register
from pycompiler.extend.tracing import AbstractValue
from pycompiler.interpreters.ad import Zero, instantiate_zeros, is_undefined_primal
from pycompiler.ref import AbstractRef

__all__ = [
    "AbstractRef",
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
    "HiType",
    "MutableHiType",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
]


class HiPrimitive:
    """An operation on values of users' own types. A subclass defines `to_lojax`, in terms of their arrays."""

    multiple_results = False

    def __init__(self, name: str) -> None:
        self.name = name

    def bind(self, *args: Any, **params: Any) -> Any:
        """The result of the lowering."""
        out = self.to_lojax(*map(present, args), **params)
        made(out if self.multiple_results else (out,))
        return out

    def to_lojax(self, *args: Any, **params: Any) -> Any:
        """The operation on arrays. A subclass defines it."""
        raise NotImplementedError(f"{self.name}: {type(self).__name__} must define to_lojax")

    def __repr__(self) -> str:
        return self.name


class _Type:
    """A type of users' own, with the conversions between its values and arrays."""

    is_high = True
    has_qdd = False

    def to_tangent_aval(self) -> Any:
        """The type of tangents. A subclass may define it."""
        return _undefined(self, "to_tangent_aval")


def _undefined(kind: object, name: str) -> NoReturn:
    raise NotImplementedError(f"{type(kind).__name__} must define {name}")


class HiType(_Type):
    """A type of values that do not change."""


class MutableHiType(_Type):
    """A type of values that change. A subclass defines these methods, for a state `state`."""

    has_qdd = True

    def lo_ty_qdd(self, state: Any, /) -> list[Any]:
        """The types of the arrays."""
        return _undefined(self, "lo_ty_qdd")

    def new_from_loval(self, state: Any, /, *vals: Any) -> Any:
        """A value of these arrays."""
        return _undefined(self, "new_from_loval")

    def read_loval(self, state: Any, val: Any, /) -> list[Any]:
        """The arrays of a value."""
        return _undefined(self, "read_loval")

    def update_from_loval(self, state: Any, val: Any, /, *lo_vals: Any) -> None:
        """Give a value these arrays."""
        _undefined(self, "update_from_loval")


class AvalQDD:
    """A type beside the state of a value."""

    def __init__(self, aval: Any, qdd: Any) -> None:
        self.aval = aval
        self.qdd = qdd


class AvalMutableQDD:
    """A type beside a state that changes."""

    def __init__(self, aval: Any, mutable_qdd: Any) -> None:
        self.aval = aval
        self.mutable_qdd = mutable_qdd


class _Effects:
    """The kinds of effects that loops may have: all kinds, because lowerings leave no effects of users' own."""

    def add_type(self, kind: type) -> None:
        """Does nothing."""


control_flow_allowed_effects = _Effects()


def register_hitype(val_cls: type, typeof_fn: Any) -> None:
    """Let values of a class be arguments of traced functions. `typeof_fn` returns the type of a value."""
    register(val_cls, typeof_fn)


def aval_property(fget: Any) -> property:
    """A property of a type, for its traced values. Here, traced values are values of the class itself."""
    return property(fget)


def aval_method(function: Any) -> Any:
    """A method of a type, for its traced values."""
    return function
