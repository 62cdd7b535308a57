"""Sizes of torch's graphs beside ours: a SymInt becomes a `Dim`, a polynomial of symbols with the bounds that torch's
guards leave."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping
from typing import Any

import sympy
import torch
from torch.utils._sympy.functions import CleanDiv, FloorDiv, Max, Min, Mod, PythonMod

from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.errors import InconclusiveDimensionError

__all__ = ["Sizes", "is_nested", "is_of_data", "limits"]


def is_of_data(value: Any) -> bool:
    """Whether a number or a condition has symbols whose values data decide: torch names them u0, and floats zuf0."""
    names = map(str, value.node.expr.free_symbols) if isinstance(value, _SYMBOLIC) else ()
    return any(name.startswith(("u", "zuf")) for name in names)


_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


def limits(bounds: Any) -> tuple[int, int | None]:
    """The bounds of a size, from one of torch's ranges; None for no upper bound."""
    low, high = bounds.lower, bounds.upper
    return (
        max(int(low), 0) if low.is_Integer else 0,
        int(high) if high.is_Integer and int(high) < 1 << 40 else None,
    )


def is_nested(size: torch.SymInt) -> bool:
    """Whether a size is the ragged axis of a nested tensor, which has no number."""
    value = size.node.shape_env.backed_var_to_val.get(size.node.expr)
    return value is not None and not value.is_Integer


class Sizes:
    """The symbols of one graph, by the names in torch. With `values`, each is the int of one call. `ranges` are bounds
    instead of those from torch's guards, and `names` are names of the `Dim`s. `given` are the symbols of the graph's
    inputs: others depend on data if torch has no value for them. `numbers` are symbols that are no sizes
    (scalars.py)."""

    def __init__(
        self,
        values: dict[str, int] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        names: Mapping[str, str] | None = None,
        given: Collection[str] = (),
        numbers: Collection[str] = (),
    ) -> None:
        self.values = values
        self.ranges = ranges or {}
        self.names = names or {}
        self.given = given
        self.numbers = frozenset(numbers).difference(values or ())
        self.symbols: dict[str, Dim] = {}
        # Whether data decide a size: torch has no value for it, so there is no program for one size.
        self.of_data = values is None and any(name.startswith("u") for name in given if name not in self.numbers)

    def of(self, size: Any) -> Dimension:
        """The dimension for an int or a SymInt. Raises InconclusiveDimensionError for an expression without a
        polynomial, whose value is known only at each call."""
        if not isinstance(size, torch.SymInt):
            return int(size)
        expression = size.node.expr
        return self._of(expression, size.node.shape_env) if self.values is None else int(self._value(expression))

    def is_number(self, value: Any) -> bool:
        """Whether a SymInt, a SymFloat or a SymBool has symbols that are no sizes."""
        if not self.numbers or not isinstance(value, _SYMBOLIC):
            return False
        return any(str(symbol) in self.numbers for symbol in value.node.expr.free_symbols)

    def symbols_in(self, size: torch.SymInt) -> list[Dim]:
        """The symbols of a size that may be no size itself, such as n - 10; none if a call has made them ints."""
        if self.values is not None:
            return []
        try:
            return [self._symbol(x, size.node.shape_env) for x in sorted(size.node.expr.free_symbols, key=str)]
        except NotImplementedError:
            return []

    def number(self, value: Any) -> Any:
        """The value of a SymFloat or a SymBool. Raises InconclusiveDimensionError if it is known only at each call."""
        if self.values is None:
            raise InconclusiveDimensionError(f"the number {value} of sizes is not the same for all of them")
        return value.node.pytype(self._value(value.node.expr))

    def _value(self, x: Any) -> Any:
        """The value of an expression at the sizes of a call."""
        assert self.values is not None
        symbols = {str(symbol): symbol for symbol in getattr(x, "free_symbols", ())}
        for name in symbols:
            if name not in self.values:
                raise NotImplementedError(f"the size {name}, which depends on data")
        return x.xreplace({symbol: sympy.Integer(self.values[name]) for name, symbol in symbols.items()})

    def shape(self, shape: Any) -> tuple[Dimension, ...]:
        return tuple([self.of(size) for size in shape])

    def _of(self, x: Any, env: Any) -> Any:
        if isinstance(x, sympy.Integer) or x.is_Integer:
            return int(x)
        if isinstance(x, sympy.Symbol):
            return self._symbol(x, env)
        parts = [self._of(part, env) for part in x.args]
        if isinstance(x, sympy.Add):
            return sum(parts[1:], parts[0])
        if isinstance(x, sympy.Mul):
            product = parts[0]
            for part in parts[1:]:
                product = product * part
            return product
        if isinstance(x, sympy.Pow) and isinstance(parts[1], int) and parts[1] >= 0:
            return parts[0] ** parts[1]
        if isinstance(x, (FloorDiv, CleanDiv)):
            return parts[0] // parts[1]
        if isinstance(x, (Mod, PythonMod)):
            return parts[0] % parts[1]
        if isinstance(x, (sympy.Min, sympy.Max, Min, Max)):
            # Raises InconclusiveDimensionError where the bounds leave the order open.
            smaller = isinstance(x, (sympy.Min, Min))
            return functools.reduce(lambda a, b: a if (a <= b) == smaller else b, parts)
        raise InconclusiveDimensionError(f"the size {x} is no polynomial of the symbols")

    def _symbol(self, x: Any, env: Any) -> Dim:
        name = str(x)
        if name not in self.symbols:
            bounds = env.var_to_range.get(x)
            if bounds is None or (name.startswith("u") and name not in self.given):
                raise NotImplementedError(f"the size {name}, which depends on data")
            if bounds.lower < 0:
                raise InconclusiveDimensionError(f"the number {name} may be negative: it is no size")
            low, high = self.ranges[name] if name in self.ranges else limits(bounds)
            self.symbols[name] = Dim(self.names.get(name, name), min=low, max=high, multiple_of=_divisor(x, env))
        return self.symbols[name]


def _divisor(symbol: Any, env: Any) -> int:
    """A number by which torch's guards have found a size to be divisible."""
    found = 1
    equations = [guard.expr for guard in env.guards if isinstance(guard.expr, sympy.Eq)]
    for one, other in [*((e.lhs, e.rhs) for e in equations), *((e.rhs, e.lhs) for e in equations)]:
        # size == n * (size // n), or size % n == 0.
        if one == symbol and isinstance(other, sympy.Mul) and len(other.args) == 2:
            number, quotient = other.args
            if isinstance(quotient, FloorDiv) and quotient.args == (symbol, number) and number.is_Integer:
                found = math.lcm(found, int(number))
        if other == 0 and isinstance(one, (Mod, PythonMod)) and one.args[0] == symbol and one.args[1].is_Integer:
            found = math.lcm(found, int(one.args[1]))
    for remainder in env.divisible:
        if remainder.args[0] == symbol and remainder.args[1].is_Integer:
            found = math.lcm(found, int(remainder.args[1]))
    return found
