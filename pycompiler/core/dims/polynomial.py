"""Integer polynomials over atoms, the representation of symbolic dimensions: arithmetic, and bounds for all sizes.

An atom is a symbol in units of its `multiple_of` (so that `n // 8` is exact), or a floor division that is not exact.
Terms are in normal form: equal polynomials have equal terms. `dims` imports this module, and adds Python's operators
and errors.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Union

Atom = Union["Symbol", "Floor"]
# Atoms with their powers, sorted by key. The empty monomial is the constant term.
Monomial = tuple[tuple[Atom, int], ...]
# Higher degrees first, the constant last. Printing uses the same order.
Terms = tuple[tuple[Monomial, int], ...]
_Sum = dict[Monomial, int]
_Rational = dict[Monomial, Fraction]
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


class Floor:
    """The floor of a polynomial divided by an int of at least 2, which does not divide it for every size."""

    __slots__ = ("_hash", "divisor", "key", "terms")

    def __init__(self, terms: Terms, divisor: int) -> None:
        self.terms = terms
        self.divisor = divisor
        self._hash = hash((terms, divisor))
        # Sorts after the symbols, whose names are identifiers.
        self.key = f"~{show(terms)}/{divisor}"

    @property
    def units(self) -> Interval:
        low, high = bounds(self.terms)
        return None if low is None else low // self.divisor, None if high is None else high // self.divisor

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Floor) and self.divisor == other.divisor and self.terms == other.terms
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Floor, (self.terms, self.divisor)


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


def symbols(terms: Terms) -> dict[str, Symbol]:
    """The symbols by name. Raises ValueError when two symbols of one name have different bounds."""
    found: dict[str, Symbol] = {}
    for monomial, _ in terms:
        for atom, _ in monomial:
            merge(found, {atom.name: atom} if isinstance(atom, Symbol) else symbols(atom.terms))
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
            monomial = _times(left, right)
            total[monomial] = total.get(monomial, 0) + x * y
    return normal(total)


def _times(a: Monomial, b: Monomial) -> Monomial:
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


def floor_divide(terms: Terms, divisor: int) -> Terms:
    """The floor of the quotient by a positive int: the exactly divisible part, and a Floor of the rest."""
    whole = normal({monomial: factor // divisor for monomial, factor in terms})
    rest = normal({monomial: factor % divisor for monomial, factor in terms})
    if not rest or not rest[0][0]:
        return whole
    common = math.gcd(divisor, *[factor for monomial, factor in rest if monomial])
    rest = normal({monomial: factor // common for monomial, factor in rest})
    divisor //= common
    # The floor of a floor: floor((floor(x / a) + c) / b) is floor((x + a*c) / (a*b)).
    monomial, factor = rest[0]
    if divisor > 1 and factor == 1 and len(monomial) == 1 and (len(rest) == 1 or (len(rest) == 2 and not rest[1][0])):
        atom, power = monomial[0]
        if isinstance(atom, Floor) and power == 1:
            added = rest[1][1] if len(rest) == 2 else 0
            inner = add(atom.terms, constant(added * atom.divisor))
            return add(whole, floor_divide(inner, divisor * atom.divisor))
    if divisor == 1:
        return add(whole, rest)
    low, high = bounds(rest)
    if low is not None and high is not None and low // divisor == high // divisor:
        return add(whole, constant(low // divisor))
    return add(whole, ((((Floor(rest, divisor), 1),), 1),))


def evaluate(terms: Terms, sizes: Mapping[str, Any]) -> Any:
    """The value for a size of each symbol: an int or a dimension."""
    total: Any = 0
    for monomial, factor in terms:
        value: Any = factor
        for atom, power in monomial:
            if isinstance(atom, Symbol):
                unit = sizes[atom.name] // atom.multiple_of
            else:
                unit = evaluate(atom.terms, sizes) // atom.divisor
            for _ in range(power):
                value = value * unit
        total = total + value
    return total


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


def with_symbol(terms: Terms, symbol: Symbol) -> Terms:
    """The same terms with other bounds for the symbol of this name."""
    total: Terms = ()
    for monomial, factor in terms:
        product = constant(factor)
        for atom, power in monomial:
            if isinstance(atom, Floor):
                unit = floor_divide(with_symbol(atom.terms, symbol), atom.divisor)
            elif atom.name == symbol.name:
                unit = floor_divide(of_symbol(symbol), atom.multiple_of)
            else:
                unit = floor_divide(of_symbol(atom), atom.multiple_of)
            for _ in range(power):
                product = multiply(product, unit)
        total = add(total, product)
    return total


def divisors(terms: Terms) -> set[int]:
    """The divisors of the floors in it."""
    floors = [atom for monomial, _ in terms for atom, _ in monomial if isinstance(atom, Floor)]
    return {floor.divisor for floor in floors}.union(*[divisors(floor.terms) for floor in floors])


# Bounds


@functools.lru_cache(maxsize=1 << 12)
def bounds(terms: Terms) -> Interval:
    """A lower and an upper bound of the value. None for an unknown bound."""
    exact = {monomial: Fraction(factor) for monomial, factor in terms}
    low = _low(exact)
    high = _low({monomial: -factor for monomial, factor in exact.items()})
    return None if low is None else math.ceil(low), None if high is None else -math.ceil(high)


def _low(terms: _Rational) -> Fraction | None:
    candidates = [_shifted_low(terms, from_above=False), _shifted_low(terms, from_above=True)]
    relaxed = _without_floors(terms)
    if relaxed is not None:
        candidates.append(_low(relaxed))
    return max((low for low in candidates if low is not None), default=None)


def _shifted_low(terms: _Rational, from_above: bool) -> Fraction | None:
    """A lower bound, with each atom written as its lower bound plus (from above: upper bound minus) a rest >= 0."""
    total: _Rational = {}
    for monomial, factor in terms.items():
        product: _Rational = {(): factor}
        for atom, power in monomial:
            base = atom.units[from_above]
            if base is None:
                return None
            for _ in range(power):
                product = _times_shifted(product, atom, base, -1 if from_above else 1)
        for shifted, value in product.items():
            total[shifted] = total.get(shifted, Fraction(0)) + value
    low = Fraction(0)
    for monomial, factor in total.items():
        if not monomial:
            low += factor
        elif factor < 0:
            for atom, power in monomial:
                least, greatest = atom.units
                if least is None or greatest is None:
                    return None
                factor *= (greatest - least) ** power
            low += factor
    return low


def _times_shifted(product: _Rational, atom: Atom, base: int, sign: int) -> _Rational:
    result: _Rational = {}
    for monomial, factor in product.items():
        if base:
            result[monomial] = result.get(monomial, Fraction(0)) + base * factor
        higher = _times(monomial, ((atom, 1),))
        result[higher] = result.get(higher, Fraction(0)) + sign * factor
    return result


def _without_floors(terms: _Rational) -> _Rational | None:
    """A lower estimate: (x - k + 1) / k or x / k for floor(x / k), by the sign. None if no floor can be replaced."""
    result: _Rational = {}
    changed = False
    for monomial, factor in terms.items():
        floor = next((atom for atom, power in monomial if isinstance(atom, Floor) and power == 1), None)
        rest = tuple([item for item in monomial if item[0] is not floor])
        replaced: Iterable[tuple[Monomial, int]] = ((monomial, 1),)
        if floor is not None and all((atom.units[0] or 0) >= 0 and atom.units[0] is not None for atom, _ in rest):
            changed = True
            below = add(floor.terms, constant(1 - floor.divisor)) if factor > 0 else floor.terms
            replaced = [(_times(rest, inner), x) for inner, x in below]
            factor /= floor.divisor
        for place, x in replaced:
            result[place] = result.get(place, Fraction(0)) + factor * x
    return result if changed else None


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
    """`2*n + 1`, `n*m - n//2`."""
    text = ""
    for factor, parts in presented(terms):
        size = abs(factor)
        alone = size == 1 and len(parts) == 1 and (factor > 0 or bool(text))
        names = [_show_part(*part, alone) for part in parts]
        body = "*".join([str(size), *names] if size != 1 or not names else names)
        sign = "-" if factor < 0 else "+"
        text += (f" {sign} " if text else "-" * (sign == "-")) + body
    return text or "0"


def _show_part(atom: Atom, divisor: int, power: int, alone: bool) -> str:
    if isinstance(atom, Symbol):
        text = atom.name if divisor == 1 else f"{atom.name}//{divisor}"
    else:
        inner, divisor = show(atom.terms), atom.divisor
        text = f"{inner}//{divisor}" if inner.isidentifier() else f"({inner})//{divisor}"
    if divisor != 1 and (not alone or power != 1):
        text = f"({text})"
    return text if power == 1 else f"{text}**{power}"
