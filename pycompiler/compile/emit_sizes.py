"""Symbolic sizes in a module: types with `?`, `array.symbol`, arithmetic on symbols, and the attributes of @main.

Part of `emit`. The symbols of a program are numbered in the order of their names. The sizes in a call have the same
order. A maximum with 0, and a quotient of two sizes, become further symbols after these. The code computes them from
the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycompiler._compiler import ir
from pycompiler.core.dims.dims import Dim, Dimension, Symbol
from pycompiler.core.types.aval import ShapedArray

# MLIR's number for an unknown size: `?`.
UNKNOWN = -(2**63)


def as_numbers(value: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tuple of sizes, or of tuples of them, with UNKNOWN in place of symbolic sizes."""
    return tuple([as_numbers(x) if isinstance(x, tuple) else UNKNOWN if isinstance(x, Dim) else x for x in value])


def dims_in(value: Any) -> list[Dim]:
    """The symbolic sizes in a parameter, in order."""
    if isinstance(value, Dim):
        return [value]
    return [dim for part in value for dim in dims_in(part)] if isinstance(value, tuple) else []


class SizeEmitter:
    """Emits the sizes of one module."""

    def __init__(self, context: ir.Context, symbols: Sequence[Symbol]) -> None:
        self.context = context
        self.numbers = {symbol: number for number, symbol in enumerate(symbols)}
        # By number: the definitions of symbols that follow from others.
        self._derived: dict[Dim, tuple[int, str]] = {}
        self._unknown = ir.Location.unknown(context)
        self._index = ir.Type.parse("index", context)
        self._long = ir.Type.parse("i64", context)

    def value(self, dim: Dimension, ip: ir.InsertionPoint) -> ir.Value:
        """The dimension as an index value, at `ip`."""
        if not isinstance(dim, Dim):
            return self._constant(dim, ip)
        number = self._number(dim)
        if number is not None:
            return self._op("array.symbol", [], ip, {"number": ir.IntegerAttr.get(self._long, number)})
        total: ir.Value | None = None
        for factor, parts in dim.terms():
            product: ir.Value | None = None
            for part, divisor, power in parts:
                size = self.value(part, ip)
                if divisor != 1:
                    size = self._op("arith.floordivsi", [size, self._constant(divisor, ip)], ip, {})
                for _ in range(power):
                    product = size if product is None else self._op("arith.muli", [product, size], ip, {})
            if product is None:
                product = self._constant(factor, ip)
            elif factor != 1:
                product = self._op("arith.muli", [product, self._constant(factor, ip)], ip, {})
            total = product if total is None else self._op("arith.addi", [total, product], ip, {})
        assert total is not None
        return total

    def _number(self, dim: Dim) -> int | None:
        """The number of a symbol, also of one that follows from others. None for other dimensions."""
        symbol = dim.symbol()
        if symbol is not None:
            return self.numbers[symbol]
        definition = dim.derived()
        if definition is None:
            return None
        if dim not in self._derived:
            kind, left, right = definition
            both = f"({self._expression(left)}, {self._expression(right)})"
            number = len(self.numbers) + len(self._derived)
            text = f"{{{kind} = affine_map<()[{_listed(number)}] -> {both}>}}"
            self._derived[dim] = number, text
        return self._derived[dim][0]

    def _constant(self, number: int, ip: ir.InsertionPoint) -> ir.Value:
        attributes: dict[str, ir.Attribute] = {"value": ir.IntegerAttr.get(self._index, number)}
        return self._op("arith.constant", [], ip, attributes)

    def _op(
        self, name: str, operands: list[ir.Value], ip: ir.InsertionPoint, attributes: dict[str, ir.Attribute]
    ) -> ir.Value:
        return ir.Operation.create(name, [self._index], operands, attributes, loc=self._unknown, ip=ip).results[0]

    # The attributes of @main.

    def attributes(
        self, inputs: Sequence[ShapedArray], outputs: Sequence[ShapedArray], tokens: int
    ) -> dict[str, ir.Attribute]:
        """The attributes of a function with these arguments and results, after `tokens` others: dimensions, symbols."""
        if not self.numbers:
            return {}
        for aval in (*inputs, *outputs):
            for dim in aval.shape:
                self._expression(dim)
        facts = [*map(_facts, self.numbers), *[text for _, text in self._derived.values()]]
        found = {"array.symbols": ir.Attribute.parse(f"[{', '.join(facts)}]", self.context)}
        for name, avals in (("arg_attrs", inputs), ("res_attrs", outputs)):
            entries = ["{}"] * tokens + [self._dims(aval) for aval in avals]
            found[name] = ir.Attribute.parse(f"[{', '.join(entries)}]", self.context)
        return found

    def _dims(self, aval: ShapedArray) -> str:
        if aval.is_concrete:
            return "{}"
        shape = ", ".join(map(self._expression, aval.shape))
        return f"{{array.dims = affine_map<()[{_listed(len(self.numbers) + len(self._derived))}] -> ({shape})>}}"

    def _expression(self, dim: Dimension) -> str:
        if not isinstance(dim, Dim):
            return str(dim)
        number = self._number(dim)
        if number is not None:
            return f"s{number}"
        sums: list[str] = []
        for factor, parts in dim.terms():
            factors = [] if factor == 1 and parts else [str(factor)]
            for part, divisor, power in parts:
                name = self._expression(part)
                factors += [name if divisor == 1 else f"(({name}) floordiv {divisor})"] * power
            sums.append(" * ".join(reversed(factors)))
        return " + ".join(sums)


def _listed(symbols: int) -> str:
    return ", ".join(f"s{number}" for number in range(symbols))


def _facts(symbol: Symbol) -> str:
    known = [f"min = {symbol.min} : i64"]
    if symbol.max is not None:
        known.append(f"max = {symbol.max} : i64")
    if symbol.multiple_of != 1:
        known.append(f"multiple_of = {symbol.multiple_of} : i64")
    return f"{{{', '.join(known)}}}"
