"""Dimensions: Python ints, or symbols and the integer polynomials over them (`n`, `2*n + 1`, `n*m`).

Shape rules use the helpers below and never ask for an int, so that one graph can stand for all sizes. A symbol stands
for any size of at least 1. Equality is equality for all sizes; an order that depends on the size is an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard, Union

from pycompiler.core.errors import InconclusiveDimensionError

# A monomial: symbols with their powers, sorted by name. The empty one is the constant term.
_Monomial = tuple[tuple[str, int], ...]
_Terms = dict[_Monomial, int]

Dimension = Union[int, "Dim"]
Shape = tuple[Dimension, ...]


class Dim:
    """A symbolic dimension: `Dim("n")`, and what `+`, `-`, `*` and exact `//` make of it. Constants are ints again."""

    __slots__ = ("_hash", "_terms")

    _terms: tuple[tuple[_Monomial, int], ...]
    _hash: int

    def __init__(self, name: str) -> None:
        if not name.isidentifier():
            raise ValueError(f"Dim: a symbol's name must be an identifier, got {name!r}")
        self._set({((name, 1),): 1})

    def _set(self, terms: _Terms) -> None:
        # The order of printing: higher degrees first, the constant last.
        self._terms = tuple(sorted(terms.items(), key=lambda term: (-sum(p for _, p in term[0]), term[0])))
        self._hash = hash(("Dim", self._terms))

    @staticmethod
    def _make(terms: _Terms) -> Dimension:
        terms = {monomial: factor for monomial, factor in terms.items() if factor}
        if not terms:
            return 0
        if len(terms) == 1 and () in terms:
            return terms[()]
        dim = object.__new__(Dim)
        dim._set(terms)
        return dim

    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols in it, sorted."""
        return tuple(sorted({name for monomial, _ in self._terms for name, _ in monomial}))

    def evaluate(self, sizes: dict[str, int]) -> int:
        """The size, given the size of each symbol."""
        total = 0
        for monomial, factor in self._terms:
            for name, power in monomial:
                factor *= sizes[name] ** power
            total += factor
        return total

    def __add__(self, other: object) -> Dimension:
        if not is_dimension(other):
            return NotImplemented
        terms = dict(self._terms)
        for monomial, factor in _terms_of(other):
            terms[monomial] = terms.get(monomial, 0) + factor
        return Dim._make(terms)

    __radd__ = __add__

    def __neg__(self) -> Dimension:
        return Dim._make({monomial: -factor for monomial, factor in self._terms})

    def __sub__(self, other: object) -> Dimension:
        return self + -other if is_dimension(other) else NotImplemented

    def __rsub__(self, other: object) -> Dimension:
        return -self + other if is_dimension(other) else NotImplemented

    def __mul__(self, other: object) -> Dimension:
        if not is_dimension(other):
            return NotImplemented
        terms: _Terms = {}
        for left, a in self._terms:
            for right, b in _terms_of(other):
                powers = dict(left)
                for name, power in right:
                    powers[name] = powers.get(name, 0) + power
                monomial = tuple(sorted(powers.items()))
                terms[monomial] = terms.get(monomial, 0) + a * b
        return Dim._make(terms)

    __rmul__ = __mul__

    def __divmod__(self, other: object) -> tuple[Dimension, Dimension]:
        if not is_dimension(other):
            return NotImplemented
        quotient = _divide(self, other)
        if quotient is None:
            raise InconclusiveDimensionError(f"{self} is not a multiple of {other} for every {_names(self, other)}")
        return quotient, 0

    def __rdivmod__(self, other: object) -> tuple[Dimension, Dimension]:
        if not isinstance(other, int):
            return NotImplemented
        if other == 0:
            return 0, 0
        raise InconclusiveDimensionError(f"{other} is not a multiple of {self} for every {_names(self)}")

    def __floordiv__(self, other: object) -> Dimension:
        return divmod(self, other)[0] if is_dimension(other) else NotImplemented

    def __rfloordiv__(self, other: int) -> Dimension:
        return self.__rdivmod__(other)[0]

    def __mod__(self, other: object) -> Dimension:
        return divmod(self, other)[1] if is_dimension(other) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dim) and self._terms == other._terms

    def __hash__(self) -> int:
        return self._hash

    def __lt__(self, other: Dimension) -> bool:
        return _below_zero(self - other, f"{self} < {other}")

    def __gt__(self, other: Dimension) -> bool:
        return _below_zero(other - self, f"{self} > {other}")

    def __le__(self, other: Dimension) -> bool:
        return not _below_zero(other - self, f"{self} <= {other}")

    def __ge__(self, other: Dimension) -> bool:
        return not _below_zero(self - other, f"{self} >= {other}")

    def __bool__(self) -> bool:
        low, high = _bounds(self)
        if (low is not None and low > 0) or (high is not None and high < 0):
            return True
        raise InconclusiveDimensionError(f"whether {self} is 0 depends on the size of {_names(self)}")

    def __int__(self) -> int:
        raise InconclusiveDimensionError(f"the dimension {self} has no fixed size; its symbols are {_names(self)}")

    def __repr__(self) -> str:
        text = ""
        for monomial, factor in self._terms:
            names = "*".join(name if power == 1 else f"{name}**{power}" for name, power in monomial)
            size = abs(factor)
            body = names if names and size == 1 else f"{size}*{names}" if names else str(size)
            sign = "-" if factor < 0 else "+"
            text += (f" {sign} " if text else "-" * (sign == "-")) + body
        return text


def _terms_of(dim: Dimension) -> tuple[tuple[_Monomial, int], ...]:
    return dim._terms if isinstance(dim, Dim) else (((), dim),)  # pyright: ignore[reportPrivateUsage]


def _names(*dims: Dimension) -> str:
    return ", ".join(sorted({name for dim in dims if isinstance(dim, Dim) for name in dim.symbols()}))


def _bounds(dim: Dimension) -> tuple[int | None, int | None]:
    """The least and greatest size, None where there is no bound. Every symbol is at least 1."""
    terms = _terms_of(dim)
    at_one = sum(factor for _, factor in terms)
    factors = [factor for monomial, factor in terms if monomial]
    low = at_one if all(factor > 0 for factor in factors) else None
    high = at_one if all(factor < 0 for factor in factors) else None
    return low, high


def _below_zero(difference: Dimension, question: str) -> bool:
    low, high = _bounds(difference)
    if high is not None and high < 0:
        return True
    if low is not None and low >= 0:
        return False
    raise InconclusiveDimensionError(f"{question} depends on the size of {_names(difference)}")


def _divide(dim: Dimension, by: Dimension) -> Dimension | None:
    """The exact quotient by an int, by a monomial or by a multiple of itself; None where there is none."""
    divisor = _terms_of(by)
    if by == 0 and isinstance(by, int):
        raise ZeroDivisionError(f"{dim} // 0")
    terms: _Terms = {}
    if len(divisor) == 1:
        ((powers_below, factor_below),) = divisor
        for monomial, factor in _terms_of(dim):
            powers = dict(monomial)
            for name, power in powers_below:
                powers[name] = powers.get(name, 0) - power
            if factor % factor_below or any(power < 0 for power in powers.values()):
                return None
            terms[tuple(sorted((n, p) for n, p in powers.items() if p))] = factor // factor_below
        return Dim._make(terms)  # pyright: ignore[reportPrivateUsage]
    leading, factor = _terms_of(dim)[0], divisor[0]
    if leading[0] == factor[0] and leading[1] % factor[1] == 0 and by * (leading[1] // factor[1]) == dim:
        return leading[1] // factor[1]
    return None


def is_dimension(x: object) -> TypeGuard[Dimension]:
    """Whether `x` can be a dimension: an int (bool excepted) or symbolic."""
    return isinstance(x, Dim) or (isinstance(x, int) and not isinstance(x, bool))


def same_shape(a: Iterable[Dimension], b: Iterable[Dimension]) -> bool:
    """Whether two shapes are equal for all sizes."""
    return tuple(a) == tuple(b)


def dim_product(dims: Iterable[Dimension]) -> Dimension:
    """The number of elements of a shape."""
    product: Dimension = 1
    for dim in dims:
        product = product * dim
    return product


def broadcast_dim(a: Dimension, b: Dimension) -> Dimension:
    """The dimension that two broadcast to, by NumPy's rule. Raises ValueError when they are neither equal nor 1."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    raise ValueError(f"dimensions {a} and {b} differ and neither is 1")


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that all broadcast to, by NumPy's rule. Raises ValueError that shows them."""
    rank = max(map(len, shapes), default=0)
    result: list[Dimension] = [1] * rank
    for shape in shapes:
        for axis, dim in enumerate(shape, rank - len(shape)):
            try:
                result[axis] = broadcast_dim(result[axis], dim)
            except ValueError:
                shown = " and ".join(show_shape(shape) for shape in shapes)
                raise ValueError(f"shapes {shown} do not broadcast: axis {axis} has {result[axis]} and {dim}") from None
    return tuple(result)


def show_shape(shape: Iterable[Dimension]) -> str:
    """`[3,n]`."""
    return "[" + ",".join(map(str, shape)) + "]"
