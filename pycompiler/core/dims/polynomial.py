"""Integer polynomials over atoms, the representation of symbolic dimensions: arithmetic, and bounds for all sizes.

An atom is a symbol in units of its `multiple_of` (so that `n // 8` is exact), a floor division by a number or by a
polynomial that is not exact, or the maximum of a polynomial and 0. Terms are in normal form: equal polynomials have
equal terms. `bounds` and `dims` import this module; `dims` adds Python's operators and errors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Union

Atom = Union["Symbol", "Floor", "Quotient", "Positive"]
# Atoms with their powers, sorted by key. The empty monomial is the constant term.
Monomial = tuple[tuple[Atom, int], ...]
# Higher degrees first, the constant last. Printing uses the same order.
Terms = tuple[tuple[Monomial, int], ...]
_Sum = dict[Monomial, int]
Interval = tuple[int | None, int | None]


class Symbol:
    """A name for a size from `min` to `max` (None: unbounded) that is a multiple of `multiple_of`."""

    __slots__ = ("_hash", "max", "min", "multiple_of", "name")

    def __init__(self, name: str, min: int = 1, max: int | None = None, multiple_of: int = 1) -> None:
        self.name = name
        self.min = -(-min // multiple_of) * multiple_of
        self.max = None if max is None else max // multiple_of * multiple_of
        self.multiple_of = multiple_of
        self._hash = hash((name, self.min, self.max, multiple_of))

    @property
    def key(self) -> str:
        return self.name

    @property
    def units(self) -> Interval:
        """The bounds of the atom: of the size divided by `multiple_of`."""
        return self.min // self.multiple_of, None if self.max is None else self.max // self.multiple_of

    def holds(self, size: int) -> bool:
        """Whether the symbol can have this size."""
        return self.min <= size and (self.max is None or size <= self.max) and size % self.multiple_of == 0

    def described(self) -> str:
        """`1 or more`, `from 8 to 64, a multiple of 8`."""
        span = f"{self.min} or more" if self.max is None else f"from {self.min} to {self.max}"
        return span + (f", a multiple of {self.multiple_of}" if self.multiple_of != 1 else "")

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Symbol)
            and self.name == other.name
            and (self.min, self.max, self.multiple_of) == (other.min, other.max, other.multiple_of)
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Symbol, (self.name, self.min, self.max, self.multiple_of)

    def __repr__(self) -> str:
        """The constructor call: `Dim("n", min=8, multiple_of=8)`."""
        given = [f'"{self.name}"']
        if self.min != self.multiple_of:
            given.append(f"min={self.min}")
        if self.max is not None:
            given.append(f"max={self.max}")
        if self.multiple_of != 1:
            given.append(f"multiple_of={self.multiple_of}")
        return f"Dim({', '.join(given)})"


class _Derived:
    """An atom that follows from polynomials."""

    __slots__ = ("_hash", "key", "terms")

    def __init__(self, terms: Terms, key: str) -> None:
        self.terms = terms
        # Sorts after the symbols, whose names are identifiers.
        self.key = f"~{key}"
        self._hash = hash((self.__class__, terms, key))

    def __eq__(self, other: object) -> bool:
        # The keys of one class show all that distinguishes atoms, but for the bounds of their symbols.
        return self is other or (
            isinstance(other, _Derived)
            and self.__class__ is other.__class__
            and self.key == other.key
            and self.parts == other.parts
        )

    def __hash__(self) -> int:
        return self._hash

    @property
    def parts(self) -> tuple[Terms, ...]:
        """The polynomials in it."""
        return (self.terms,)


class Floor(_Derived):
    """The floor of a polynomial divided by an int of at least 2, which does not divide it for every size."""

    __slots__ = ("divisor",)

    def __init__(self, terms: Terms, divisor: int) -> None:
        super().__init__(terms, f"{show(terms)}/{divisor}")
        self.divisor = divisor

    def __reduce__(self) -> tuple[Any, ...]:
        return Floor, (self.terms, self.divisor)


class Quotient(_Derived):
    """The floor of a polynomial divided by another one, which is at least 1 and does not divide it for every size."""

    __slots__ = ("by",)

    def __init__(self, terms: Terms, by: Terms) -> None:
        super().__init__(terms, f"{show(terms)}/({show(by)})")
        self.by = by

    @property
    def parts(self) -> tuple[Terms, ...]:
        return self.terms, self.by

    def __reduce__(self) -> tuple[Any, ...]:
        return Quotient, (self.terms, self.by)


class Positive(_Derived):
    """The maximum of a polynomial and 0, for a polynomial that is positive for some sizes only. Its first factor is
    positive: the maximum with 0 of the negated one is the difference of the two."""

    __slots__ = ()

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms, f"max({show(terms)}, 0)")

    def __reduce__(self) -> tuple[Any, ...]:
        return Positive, (self.terms,)


def normal(terms: Mapping[Monomial, int]) -> Terms:
    """The terms in their order, without those that are zero."""
    kept = [(monomial, factor) for monomial, factor in terms.items() if factor]
    if len(kept) > 1:
        kept.sort(key=_sort_key)
    return tuple(kept)


def _sort_key(term: tuple[Monomial, int]) -> tuple[Any, ...]:
    # Graded lexicographic: the leading term of a product is the product of the leading terms. Division needs this.
    monomial = term[0]
    return -sum(power for _, power in monomial), tuple((atom.key, -power) for atom, power in monomial)


def constant(value: int) -> Terms:
    return (((), value),) if value else ()


def of_symbol(symbol: Symbol) -> Terms:
    return ((((symbol, 1),), symbol.multiple_of),)


def of_atom(atom: Atom) -> Terms:
    return ((((atom, 1),), 1),)


def symbols(terms: Terms) -> dict[str, Symbol]:
    """The symbols by name. Raises ValueError when two symbols of one name have different bounds."""
    found: dict[str, Symbol] = {}
    for monomial, _ in terms:
        for atom, _ in monomial:
            if isinstance(atom, Symbol):
                merge(found, {atom.name: atom})
            else:
                for part in atom.parts:
                    merge(found, symbols(part))
    return found


def merge(into: dict[str, Symbol], others: Mapping[str, Symbol]) -> None:
    """Add symbols. Raises ValueError when one has the name of another with different bounds."""
    for name, symbol in others.items():
        known = into.setdefault(name, symbol)
        if known != symbol:
            raise ValueError(
                f"the symbol {name} stands for two different dimensions, {known!r} and {symbol!r}; make it once and "
                "use it for both, or give one another name"
            )


def add(a: Terms, b: Terms) -> Terms:
    total: _Sum = dict(a)
    for monomial, factor in b:
        total[monomial] = total.get(monomial, 0) + factor
    return normal(total)


def scale(terms: Terms, by: int) -> Terms:
    return tuple([(monomial, factor * by) for monomial, factor in terms]) if by else ()


def multiply(a: Terms, b: Terms) -> Terms:
    total: _Sum = {}
    for left, x in a:
        for right, y in b:
            monomial = times(left, right)
            total[monomial] = total.get(monomial, 0) + x * y
    return normal(total)


def times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].key))


def divide_exactly(terms: Terms, by: Terms) -> Terms | None:
    """The quotient, or None if there is a remainder."""
    (leading, factor), quotient = by[0], ()
    while terms:
        monomial, first = terms[0]
        powers = dict(monomial)
        for atom, power in leading:
            powers[atom] = powers.get(atom, 0) - power
        if first % factor or any(power < 0 for power in powers.values()):
            return None
        term = ((tuple([item for item in powers.items() if item[1]]), first // factor),)
        quotient = add(quotient, term)
        terms = add(terms, scale(multiply(term, by), -1))
    return quotient


def evaluate(terms: Terms, sizes: Mapping[str, Any]) -> Any:
    """The value for a size of each symbol: an int or a dimension."""
    total: Any = 0
    for monomial, factor in terms:
        value: Any = factor
        for atom, power in monomial:
            unit = _evaluate_atom(atom, sizes)
            for _ in range(power):
                value = value * unit
        total = total + value
    return total


def _evaluate_atom(atom: Atom, sizes: Mapping[str, Any]) -> Any:
    if isinstance(atom, Symbol):
        return sizes[atom.name] // atom.multiple_of
    value = evaluate(atom.terms, sizes)
    if isinstance(atom, Floor):
        return value // atom.divisor
    if isinstance(atom, Quotient):
        return value // evaluate(atom.by, sizes)
    return max(value, 0) if isinstance(value, int) else value.positive_part()


def linear_in(terms: Terms, symbol: Symbol) -> tuple[int, Terms] | None:
    """The factor of the symbol's unit, and the rest, which is free of the symbol. None if the factor is no number."""
    factor, rest = 0, ()
    for term in terms:
        if term[0] == ((symbol, 1),):
            factor = term[1]
        elif symbol.name in symbols((term,)):
            return None
        else:
            rest = (*rest, term)
    return (factor, rest) if factor else None


def divisors(terms: Terms) -> set[int]:
    """The divisors of the floors in it."""
    atoms = [atom for monomial, _ in terms for atom, _ in monomial if not isinstance(atom, Symbol)]
    inner = [divisors(part) for atom in atoms for part in atom.parts]
    return {atom.divisor for atom in atoms if isinstance(atom, Floor)}.union(*inner)


# Showing


def presented(terms: Terms) -> list[tuple[int, list[tuple[Atom, int, int]]]]:
    """Each term as a factor and its (atom, divisor, power): the size of a symbol, or an exact quotient of it."""
    result: list[tuple[int, list[tuple[Atom, int, int]]]] = []
    for monomial, factor in terms:
        parts: dict[tuple[Atom, int], int] = {}
        for atom, power in monomial:
            for _ in range(power):
                unit = atom.multiple_of if isinstance(atom, Symbol) else 1
                common = math.gcd(factor, unit)
                factor //= common
                part = (atom, unit // common)
                parts[part] = parts.get(part, 0) + 1
        result.append((factor, [(atom, divisor, power) for (atom, divisor), power in parts.items()]))
    return result


def show(terms: Terms) -> str:
    """`2*n + 1`, `n*m - n//2`, `max(n - 2, 0)`, `min(n, 5)`."""
    both = _extremes(terms)
    if both is not None:
        return f"{both[0]}({show(both[1])}, {show(both[2])})"
    text = ""
    for factor, parts in presented(terms):
        size = abs(factor)
        alone = size == 1 and len(parts) == 1 and (factor > 0 or bool(text))
        names = [_show_part(*part, alone) for part in parts]
        body = "*".join([str(size), *names] if size != 1 or not names else names)
        sign = "-" if factor < 0 else "+"
        text += (f" {sign} " if text else "-" * (sign == "-")) + body
    return text or "0"


def _extremes(terms: Terms) -> tuple[str, Terms, Terms] | None:
    """A sum with one maximum with 0 as the maximum or minimum of two others, which are shorter."""
    found = [(monomial[0][0], factor) for monomial, factor in terms if _is_maximum(monomial)]
    if len(found) != 1 or abs(found[0][1]) != 1:
        return None
    atom, factor = found[0]
    assert isinstance(atom, Positive)
    rest = add(terms, scale(of_atom(atom), -factor))
    other = add(rest, scale(atom.terms, factor))
    return ("max", other, rest) if factor == 1 else ("min", rest, other)


def _is_maximum(monomial: Monomial) -> bool:
    return len(monomial) == 1 and isinstance(monomial[0][0], Positive) and monomial[0][1] == 1


def _show_part(atom: Atom, divisor: int, power: int, alone: bool) -> str:
    if isinstance(atom, Symbol):
        text = atom.name if divisor == 1 else f"{atom.name}//{divisor}"
    elif isinstance(atom, Positive):
        text = f"max({show(atom.terms)}, 0)"
    else:
        divisor = atom.divisor if isinstance(atom, Floor) else 0
        inner, by = show(atom.terms), str(divisor) if isinstance(atom, Floor) else show(atom.by)
        text = "//".join([part if part.isidentifier() or part.isdecimal() else f"({part})" for part in (inner, by)])
    if divisor != 1 and (not alone or power != 1):
        text = f"({text})"
    return text if power == 1 else f"{text}**{power}"
