"""The part of each value on a device, in a program that is being divided, and the moves between parts.

`operations` and `partition` import this.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxlib.mlir import ir

from pycompiler.pjrt.factors import RULE
from pycompiler.pjrt.moves import moved, shape_of, tensor_of
from pycompiler.pjrt.shardings import WHOLE, Spread

__all__ = ["SHARDING", "Parts", "clean", "forward"]

# The attributes in which Shardy writes the shardings of arguments and of results.
SHARDING = "sdy.sharding"


class Parts:
    """The spreads of values. A value without a known spread is whole."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._spreads: dict[Any, Spread] = {}
        # The values that were moved before, in the same block.
        self._moved: dict[tuple[Any, Spread, Any], Any] = {}

    def spread(self, value: Any) -> Spread:
        return self._spreads.get(value, WHOLE)

    def know(self, value: Any, spread: Spread) -> None:
        """Note the spread of a value that has the shape of its part."""
        if not spread.is_whole:
            self._spreads[value] = spread

    def set(self, value: Any, spread: Spread) -> None:
        """Give a value that was whole the shape of its part."""
        if not spread.is_whole:
            value.set_type(tensor_of(value.type, spread.part(shape_of(value))))
            self.know(value, spread)

    def full(self, value: Any) -> list[int]:
        """The shape of the value that the parts make up."""
        spread = self.spread(value)
        return [
            size * (spread.mesh.size(spread.of(place)) if spread.mesh else 1)
            for place, size in enumerate(shape_of(value))
        ]

    def move(self, value: Any, wanted: Spread, op: Any) -> Any:
        """A value spread as wanted, by operations before `op`."""
        given = self.spread(value)
        if wanted.is_whole and given.is_whole:
            return value
        key = (value, wanted, op.block)
        if key in self._moved:
            return self._moved[key]
        if not given.is_whole and not wanted.is_whole and given.mesh != wanted.mesh:
            return self.move(self.move(value, WHOLE, op), wanted, op)
        with ir.InsertionPoint(op), op.location:
            value = moved(value, given, wanted, self.count)
        self.know(value, wanted)
        self._moved[key] = value
        return value

    def give(self, op: Any, wanted: Sequence[Spread]) -> None:
        """Give an operation its operands, spread as wanted."""
        for place, spread in enumerate(wanted):
            op.operands[place] = self.move(op.operands[place], spread, op)

    def results(self, op: Any, wanted: Sequence[Spread]) -> None:
        """Give the results of an operation the shapes of their parts."""
        for value, spread in zip(op.results, wanted, strict=True):
            self.set(value, spread)
        clean(op)


def forward(op: Any, value: Any) -> None:
    """Replace the result of an operation by a value, and erase the operation."""
    op.results[0].replace_all_uses_with(value)
    op.erase()


def clean(op: Any) -> None:
    """Drop Shardy's attributes from an operation."""
    for name in (SHARDING, RULE):
        if name in op.attributes:
            del op.attributes[name]
