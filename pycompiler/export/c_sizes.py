"""Symbolic sizes in C: the parameters of an exported function that say them, and expressions of these.

Before `c_source`, for functions whose arguments have symbols (`Dim`) in their shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pycompiler.core.dims.dims import Dim, Dimension, Symbol, dim_product


@dataclass(frozen=True)
class Size:
    """A symbol, and the parameter that is its size."""

    name: str
    symbol: Symbol

    @property
    def about(self) -> str:
        """What a header says of it."""
        return f"the size {self.symbol.name}, {self.symbol.described()}"

    @property
    def refused(self) -> str:
        """The condition that holds for a size that it can't have."""
        tests = [f"{self.name} < {self.symbol.min}"]
        if self.symbol.max is not None:
            tests.append(f"{self.name} > {self.symbol.max}")
        if self.symbol.multiple_of != 1:
            tests.append(f"{self.name} % {self.symbol.multiple_of}")
        return " || ".join(tests)


def expression(dim: Dimension, names: Mapping[str, str]) -> str:
    """A size in C, of int64_t, given the names of the parameters; floors are those of Python."""
    if isinstance(dim, int):
        return str(dim)
    terms: list[str] = []
    for factor, parts in dim.terms():
        factors = [_quotient(part, divisor, names) for part, divisor, power in parts for _ in range(power)]
        terms.append(" * ".join([*factors, f"({factor})"] if factor != 1 or not factors else factors))
    return f"({' + '.join(terms)})"


def _quotient(dim: Dim, divisor: int, names: Mapping[str, str]) -> str:
    symbol = dim.symbol()
    text = f"(int64_t)({names[symbol.name]})" if symbol is not None else expression(dim, names)
    if divisor == 1:
        return text
    if (dim.bounds()[0] or 0) >= 0 and dim.bounds()[0] is not None:
        return f"(({text}) / {divisor})"
    return f"(({text}) / {divisor} - (({text}) % {divisor} < 0))"


def elements(shape: Sequence[Dimension], names: Mapping[str, str], of_each: int) -> str:
    """How many elements of C an array has, each of it being so many."""
    return expression(dim_product(shape) * of_each, names)
