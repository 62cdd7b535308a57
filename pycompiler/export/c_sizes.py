"""Symbolic sizes in C: parameters of an exported function for symbols, and expressions of them.

`c_source` imports this module. It serves functions whose arguments have symbols (`Dim`) in their shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pycompiler.core.dims.dims import Dim, Dimension, Symbol, dim_product


@dataclass(frozen=True)
class Size:
    """A symbol, and the name of the parameter for its size."""

    name: str
    symbol: Symbol

    @property
    def about(self) -> str:
        """The description in the header."""
        return f"the size {self.symbol.name}, {self.symbol.described()}"

    @property
    def refused(self) -> str:
        """The C condition that holds for an invalid size."""
        tests = [f"{self.name} < {self.symbol.min}"]
        if self.symbol.max is not None:
            tests.append(f"{self.name} > {self.symbol.max}")
        if self.symbol.multiple_of != 1:
            tests.append(f"{self.name} % {self.symbol.multiple_of}")
        return " || ".join(tests)


def expression(dim: Dimension, names: Mapping[str, str]) -> str:
    """A size as an int64_t expression of C, from the names of the parameters. Divisions round down, as in Python."""
    if isinstance(dim, int):
        return str(dim)
    derived = dim.derived()
    if derived is not None:
        kind, left, right = derived
        if kind == "quotient":
            return _divided(left, expression(right, names), names)
        value = expression(left, names)
        return f"({value} > 0 ? {value} : 0)"
    terms: list[str] = []
    for factor, parts in dim.terms():
        factors = [_quotient(part, divisor, names) for part, divisor, power in parts for _ in range(power)]
        terms.append(" * ".join([*factors, f"({factor})"] if factor != 1 or not factors else factors))
    return f"({' + '.join(terms)})"


def _quotient(dim: Dim, divisor: int, names: Mapping[str, str]) -> str:
    symbol = dim.symbol()
    if divisor == 1:
        return f"(int64_t)({names[symbol.name]})" if symbol is not None else expression(dim, names)
    return _divided(dim, str(divisor), names)


def _divided(dim: Dimension, by: str, names: Mapping[str, str]) -> str:
    text = expression(dim, names)
    low = dim.bounds()[0] if isinstance(dim, Dim) else dim
    if low is not None and low >= 0:
        return f"(({text}) / {by})"
    return f"(({text}) / {by} - (({text}) % {by} < 0))"


def elements(shape: Sequence[Dimension], names: Mapping[str, str], of_each: int) -> str:
    """The number of C elements of an array whose elements each take `of_each` of them."""
    return expression(dim_product(shape) * of_each, names)
