"""`jax.experimental.hijax` as far as Flax imports it: classes to derive from. Types of users' own have no place in our
graphs, so to bind such a primitive is an error. Flax does so only with `flax_hijax_variable` turned on.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pycompiler.extend.tracing import AbstractValue
from pycompiler.interpreters.ad import Zero, instantiate_zeros, is_undefined_primal

__all__ = [
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "HiPrimitive",
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
    """A primitive on values of users' own types."""

    multiple_results = False

    def __init__(self, name: str) -> None:
        self.name = name

    def bind(self, *_: Any, **__: Any) -> NoReturn:
        """There is no such value: raises NotImplementedError."""
        raise NotImplementedError(
            f"{self.name}: jax.experimental.hijax (values of users' own types in traces) has no counterpart in "
            "pycompiler; turn it off in the library (Flax: flax_hijax_variable), or register the class as a pytree"
        )


class MutableHiType:
    """A type of users' own."""


class AvalQDD:
    """A type beside data that changes."""


class AvalMutableQDD:
    """The same, while it changes."""


class _Effects:
    """Kinds of effects that loops may have."""

    def add_type(self, kind: type) -> None:
        """Nothing: no equation has an effect of users' own."""


control_flow_allowed_effects = _Effects()


def register_hitype(kind: type, to_type: Any) -> None:
    """Nothing: no value of such a type is traced."""


def aval_property(fget: Any) -> property:
    """A property of a type."""
    return property(fget)


def aval_method(function: Any) -> Any:
    """A method of a type."""
    return function
