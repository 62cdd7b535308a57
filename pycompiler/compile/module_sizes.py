"""The symbolic sizes of a module's function, from its attributes: dimensions, symbols, conditions.

The inverse of `emit_sizes`. `compile` and `imported` import this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.dims.text import dimension_from

if TYPE_CHECKING:
    from pycompiler._compiler import ir

__all__ = ["Requirement", "given_dims", "requirements_of"]

# For each argument or result, its dimensions, or None if the type has all of them; None if there is no symbolic one.
_Side = list["tuple[Dimension, ...] | None"] | None


def _attributes(module: ir.Module, entry: str) -> dict[str, ir.Attribute]:
    for op in module.body.operations:
        attributes = op.attributes
        if op.name == "func.func" and attributes["sym_name"].value == entry:
            return attributes
    return {}


def _listed(attribute: ir.Attribute) -> list[dict[str, Any]]:
    """The dictionaries of a list."""
    return cast("list[dict[str, Any]]", attribute.value)


def given_dims(module: ir.Module, entry: str) -> tuple[_Side, _Side]:
    """The dimensions of the arguments and of the results of a function. Raises TypeError for names of symbols that are
    not in their order, by which programs number them."""
    attributes = _attributes(module, entry)
    if "array.symbols" not in attributes:
        return None, None
    facts = _listed(attributes["array.symbols"])
    width = len(str(len(facts)))
    names = [fact.get("name", f"s{number:0{width}}") for number, fact in enumerate(facts)]
    if names != sorted(set(names)):
        raise TypeError(f"the names of the symbols of @{entry} are {names}, expected distinct ones in their order")
    symbols = {
        f"s{number}": Dim(name, min=fact.get("min", 0), max=fact.get("max"), multiple_of=fact.get("multiple_of", 1))
        for number, (name, fact) in enumerate(zip(names, facts, strict=True))
    }

    def side(name: str) -> _Side:
        if name not in attributes:
            return None
        entries = _listed(attributes[name])
        return [
            tuple([dimension_from(text, symbols) for text in entry["array.dims"]]) if "array.dims" in entry else None
            for entry in entries
        ]

    return side("arg_attrs"), side("res_attrs")


class Requirement(NamedTuple):
    """A condition on the sizes of the arguments, by expressions of a map: both sides, then numbers of the message."""

    is_equal: bool
    sizes: tuple[str, ...]
    message: str

    def complaint(self, unknown: Sequence[int]) -> str | None:
        """The message for the sizes of all `?` of the arguments, or None if they fulfil the condition."""
        names = {f"d{number}": size for number, size in enumerate(unknown)}
        left, right, *values = [dimension_from(text, names) for text in self.sizes]
        if left == right or (not self.is_equal and left > right):
            return None
        message = self.message
        for number, value in enumerate(values):
            message = message.replace(f"{{{number}}}", str(value))
        return message


def requirements_of(module: ir.Module, entry: str) -> tuple[Requirement, ...]:
    """The conditions on the sizes of the arguments of a function, in the order of the program."""
    attributes = _attributes(module, entry)
    if "array.requires" not in attributes:
        return ()
    given = _listed(attributes["array.requires"])
    return tuple([Requirement(one["condition"] == "equal", tuple(one["sizes"]), one["message"]) for one in given])
