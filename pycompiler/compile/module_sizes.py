"""The symbolic sizes of a module's function, from its attributes: dimensions, symbols, conditions.

The inverse of `emit_sizes`. `compile` and `imported` import this module.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.dims.ranges import larger
from pycompiler.core.dims.text import dimension_from

if TYPE_CHECKING:
    from pycompiler._compiler import ir

__all__ = ["Requirement", "given_dims", "requirements_of", "with_derived"]

_DERIVED: dict[str, Callable[[Dimension, Dimension], Dimension]] = {"maximum": larger, "quotient": operator.floordiv}

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


def _definition(entry: dict[str, Any]) -> tuple[str, Sequence[str]] | None:
    """The definition of a symbol that follows from those before it: "maximum" or "quotient" of two expressions."""
    return next(((kind, entry[kind]) for kind in _DERIVED if kind in entry), None)


def with_derived(module: ir.Module, entry: str, sizes: Sequence[Dimension]) -> list[Dimension]:
    """The sizes of all symbols of a function, from those of the symbols that do not follow from others."""
    found = list(sizes)
    given = _attributes(module, entry).get("array.symbols")
    for one in _listed(given)[len(found) :] if given is not None else ():
        definition = _definition(one)
        if definition is None:
            raise TypeError(
                f"the symbols of @{entry} are {given}, expected those that follow from others behind the rest"
            )
        names = {f"s{number}": size for number, size in enumerate(found)}
        found.append(_DERIVED[definition[0]](*[dimension_from(text, names) for text in definition[1]]))
    return found


def given_dims(module: ir.Module, entry: str) -> tuple[_Side, _Side]:
    """The dimensions of the arguments and of the results of a function. Raises TypeError if the names of symbols are
    not in order, because programs number symbols in the order of names."""
    attributes = _attributes(module, entry)
    if "array.symbols" not in attributes:
        return None, None
    entries = _listed(attributes["array.symbols"])
    facts = [entry for entry in entries if not _definition(entry)]
    width = len(str(len(facts)))
    names = [fact.get("name", f"s{number:0{width}}") for number, fact in enumerate(facts)]
    if names != sorted(set(names)):
        raise TypeError(f"the names of the symbols of @{entry} are {names}, expected distinct ones in their order")
    sizes: list[Dimension] = [
        Dim(name, min=fact.get("min", 0), max=fact.get("max"), multiple_of=fact.get("multiple_of", 1))
        for name, fact in zip(names, facts, strict=True)
    ]
    symbols = {f"s{number}": size for number, size in enumerate(with_derived(module, entry, sizes))}

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
