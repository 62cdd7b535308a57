"""The sizes of a call, solved from its inputs: from the sizes of tensors, and from inputs that are sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import sympy
import torch

from pycompiler.torch.sizes import is_nested

__all__ = ["Sources"]

# The number of an input and its axis, None for an input that is a number.
Place = tuple[int, int | None]
# A bound: sizes have fewer bits.
_BITS = 40


class Sources:
    """The symbols of a graph's inputs, in an order for solving: each has an expression at some place in which it is the
    only new symbol."""

    def __init__(self, graph: torch.fx.Graph, numbers: Collection[str] = ()) -> None:
        """`numbers` are symbols that are no sizes."""
        # One place for each expression.
        self._places: dict[Any, Place] = {}
        # The first input with each symbol, and the value in torch's trace.
        nodes: dict[str, torch.fx.Node] = {}
        self._examples: dict[str, int] = {}
        for place, node, size in _sizes(graph):
            if any(str(symbol) in numbers for symbol in size.node.expr.free_symbols):
                continue
            self._places.setdefault(size.node.expr, place)
            for symbol in size.node.expr.free_symbols:
                nodes.setdefault(str(symbol), node)
                value = size.node.shape_env.backed_var_to_val.get(symbol)
                if value is not None:
                    self._examples[str(symbol)] = int(value)
        self.symbols = _followed(list(self._places))
        # Symbols that can't be solved, or without a value in torch.
        self.missing = {n: node for n, node in nodes.items() if n not in self.symbols or n not in self._examples}
        self._numbers = list(self._places.values())

    def key(self, args: list[Any]) -> tuple[int, ...]:
        """The numbers at the places."""
        return tuple([int(args[n]) if axis is None else args[n].shape[axis] for n, axis in self._numbers])

    def example(self) -> tuple[int, ...]:
        """The key of the call for which torch has traced the graph."""
        return tuple([int(_at(expression, self._examples)) for expression in self._places])

    def solve(self, key: tuple[int, ...]) -> dict[str, int]:
        """The sizes of the symbols."""
        given = dict(zip(self._places, key, strict=True))
        for values in _solutions(list(self.symbols.items()), given, {}):
            if all(_at(expression, values) == size for expression, size in given.items()):
                return values
        raise RuntimeError(f"torch.compile with pycompiler: no sizes of the symbols fit the inputs: {given}")


def _sizes(graph: torch.fx.Graph) -> Iterator[tuple[Place, torch.fx.Node, torch.SymInt]]:
    """The symbolic sizes of the inputs."""
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    for number, node in enumerate(inputs):
        value = node.meta["val"]
        given: Any = enumerate(value.shape) if isinstance(value, torch.Tensor) else [(None, value)]
        for axis, size in given:
            if isinstance(size, torch.SymInt) and not is_nested(size):
                yield (number, axis), node, size


def _at(expression: Any, values: Mapping[str, int]) -> Any:
    """An expression of sizes, with values for some of its symbols."""
    if expression.is_symbol and str(expression) in values:
        return sympy.Integer(values[str(expression)])
    known = {symbol: sympy.Integer(values[str(symbol)]) for symbol in expression.free_symbols if str(symbol) in values}
    return expression.xreplace(known).expand()


def _followed(expressions: list[Any]) -> dict[str, Any]:
    # Expressions that decide a symbol at once come first.
    kinds = (lambda e, s: e.is_symbol, lambda e, s: _power(e, s) is not None, lambda e, s: True)
    found: dict[str, Any] = {}
    while True:
        count = len(found)
        for decides in kinds:
            for expression in expressions:
                new = [symbol for symbol in expression.free_symbols if str(symbol) not in found]
                if len(new) == 1 and decides(expression, new[0]):
                    found[str(new[0])] = expression
            if len(found) > count:
                break
        if len(found) == count:
            return found


def _power(expression: Any, symbol: Any) -> int | None:
    """The only power of a symbol in a polynomial."""
    if not expression.is_polynomial(symbol):
        return None
    powers = {power for (power,), _ in sympy.Poly(expression.expand(), symbol).terms()} - {0}
    return powers.pop() if len(powers) == 1 else None


def _solutions(
    symbols: list[tuple[str, Any]], given: Mapping[Any, int], known: dict[str, int]
) -> Iterator[dict[str, int]]:
    """The values of the symbols that satisfy their expressions."""
    if not symbols:
        yield known
        return
    (name, expression), *rest = symbols
    for value in _roots(_at(expression, known), given[expression]):
        yield from _solutions(rest, given, {**known, name: value})


def _roots(expression: Any, size: int) -> Iterator[int]:
    """The values of the only symbol for which an expression has a given value."""
    symbol, *_ = expression.free_symbols
    power = _power(expression, symbol)
    if power is not None:
        quotient = sympy.Rational(size - expression.coeff(symbol, 0), expression.coeff(symbol, power))
        yield int(quotient) if power == 1 else int(sympy.integer_nthroot(int(quotient), power)[0])
        return

    # Other expressions, such as n // 2, grow with the symbol.
    def is_less(value: int) -> bool:
        return bool(expression.subs(symbol, value) < size)

    value, step = 0, 1 << _BITS
    while step:
        value += step if is_less(value + step) else 0
        step //= 2
    value += is_less(value)
    while expression.subs(symbol, value) == size:
        yield value
        value += 1
