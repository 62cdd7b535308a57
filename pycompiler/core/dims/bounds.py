"""Lower and upper bounds of polynomials over all sizes of their symbols. Imports `polynomial`; `quotients` imports it.

A bound is found in several ways, and the best one counts: by the interval of each atom, by inequalities of floors and
quotients, and by the two cases of a maximum with 0.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from fractions import Fraction

from pycompiler.core.dims.polynomial import (
    Atom,
    Floor,
    Interval,
    Monomial,
    Positive,
    Quotient,
    Symbol,
    Terms,
    add,
    constant,
    multiply,
    of_atom,
    scale,
    times,
)

__all__ = ["bounds"]

_Rational = dict[Monomial, Fraction]

# If there are more maxima than this, their cases are not distinguished: each maximum doubles the cases.
_MOST_CASES = 5


@functools.lru_cache(maxsize=1 << 12)
def bounds(terms: Terms) -> Interval:
    """A lower and an upper bound of the value. None for an unknown bound."""
    exact = {monomial: Fraction(factor) for monomial, factor in terms}
    low = _low(exact)
    high = _low({monomial: -factor for monomial, factor in exact.items()})
    return None if low is None else math.ceil(low), None if high is None else -math.ceil(high)


@functools.lru_cache(maxsize=1 << 12)
def _units(atom: Atom) -> Interval:
    """The bounds of an atom."""
    if isinstance(atom, Symbol):
        return atom.units
    low, high = bounds(atom.terms)
    if isinstance(atom, Positive):
        return 0, None if high is None else max(high, 0)
    least, greatest = (atom.divisor, atom.divisor) if isinstance(atom, Floor) else bounds(atom.by)
    assert least is not None
    # The smallest divisor gives the quotient farthest from 0, the largest divisor the nearest one.
    if low is not None:
        low = low // least if low < 0 else 0 if greatest is None else low // greatest
    if high is not None:
        high = high // least if high >= 0 else -1 if greatest is None else high // greatest
    return low, high


def _low(terms: _Rational) -> Fraction | None:
    candidates = [_shifted_low(terms, from_above=False), _shifted_low(terms, from_above=True)]
    relaxed = [_without_floors(terms), *_without_quotients(terms)]
    candidates += [_low(other) for other in relaxed if other is not None]
    candidates += [_low_by_cases(terms), *map(_low, _without_multiples(terms))]
    return max((low for low in candidates if low is not None), default=None)


def _shifted_low(terms: _Rational, from_above: bool) -> Fraction | None:
    """A lower bound, with each atom written as its lower bound plus (from above: upper bound minus) a rest >= 0."""
    total: _Rational = {}
    for monomial, factor in terms.items():
        product: _Rational = {(): factor}
        for atom, power in monomial:
            base = _units(atom)[from_above]
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
                least, greatest = _units(atom)
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
        higher = times(monomial, ((atom, 1),))
        result[higher] = result.get(higher, Fraction(0)) + sign * factor
    return result


def _are_positive(atoms: Iterable[Atom]) -> bool:
    """Whether none of the atoms is negative."""
    return all((_units(atom)[0] or 0) >= 0 and _units(atom)[0] is not None for atom in atoms)


def _without_floors(terms: _Rational) -> _Rational | None:
    """A lower estimate: (x - k + 1) / k or x / k for floor(x / k), by the sign. None if no floor can be replaced."""
    result: _Rational = {}
    changed = False
    for monomial, factor in terms.items():
        floor = next((atom for atom, power in monomial if isinstance(atom, Floor) and power == 1), None)
        rest = tuple([item for item in monomial if item[0] is not floor])
        replaced: Iterable[tuple[Monomial, int]] = ((monomial, 1),)
        if floor is not None and _are_positive(atom for atom, _ in rest):
            changed = True
            below = add(floor.terms, constant(1 - floor.divisor)) if factor > 0 else floor.terms
            replaced = [(times(rest, inner), x) for inner, x in below]
            factor /= floor.divisor
        for place, x in replaced:
            result[place] = result.get(place, Fraction(0)) + factor * x
    return result if changed else None


def _plus(terms: _Rational, others: Terms, factor: Fraction) -> _Rational:
    result = dict(terms)
    for monomial, x in others:
        result[monomial] = result.get(monomial, Fraction(0)) + factor * x
        if not result[monomial]:
            del result[monomial]
    return result


def _without_quotients(terms: _Rational) -> Iterable[_Rational]:
    """Lower estimates without one of the quotients q of x by d: by x - d + 1 <= d q <= x, and by q <= x."""
    quotients = {atom: None for monomial in terms for atom, _ in monomial if isinstance(atom, Quotient)}
    for atom in quotients:
        product = multiply(of_atom(atom), atom.by)
        leading, factor = product[0]
        if leading in terms:
            by = terms[leading] / factor
            other = atom.terms
            if by > 0:
                other = add(add(other, scale(atom.by, -1)), constant(1))
            yield _plus(_plus(terms, product, -by), other, by)
        alone: Monomial = ((atom, 1),)
        low = bounds(atom.terms)[0]
        if terms.get(alone, 0) < 0 and low is not None and low >= 0:
            yield _plus(_plus(terms, of_atom(atom), -terms[alone]), atom.terms, terms[alone])


def _without_multiples(terms: _Rational) -> Iterable[_Rational]:
    """Lower estimates without a maximum and a part of the rest: by c max(x, 0) >= k x for 0 <= k <= c, beside -k x.
    So m - n + 2 max(n - m, 0) >= 0."""
    for monomial, factor in terms.items():
        if len(monomial) != 1 or not isinstance(monomial[0][0], Positive) or monomial[0][1] != 1:
            continue
        inner = monomial[0][0].terms
        for leading, x in inner:
            part = -terms.get(leading, Fraction(0)) / x
            if leading and 0 < part < factor:
                rest = dict(terms)
                del rest[monomial]
                yield _plus(rest, inner, part)


def _low_by_cases(terms: _Rational) -> Fraction | None:
    """A lower bound by the two values of a maximum with 0. It is at least either of them."""
    found = list({atom: None for monomial in terms for atom, _ in monomial if isinstance(atom, Positive)})
    if not found or len(found) > _MOST_CASES:
        return None

    def rises(atom: Atom) -> bool:
        mine = [(monomial, factor) for monomial, factor in terms.items() if any(x == atom for x, _ in monomial)]
        return all(
            factor > 0 and _are_positive(x for x, _ in monomial) and dict(monomial)[atom] == 1
            for monomial, factor in mine
        )

    # Maxima that make the value smaller come first: the bounds of the others are used in both cases.
    atom = next((atom for atom in found if not rises(atom)), found[0])
    cases = [_low(_replaced(terms, atom, value)) for value in (atom.terms, ())]
    if rises(atom):
        return max((low for low in cases if low is not None), default=None)
    return None if cases[0] is None or cases[1] is None else min(cases[0], cases[1])


def _replaced(terms: _Rational, atom: Atom, value: Terms) -> _Rational:
    result: _Rational = {}
    for monomial, factor in terms.items():
        power = next((power for x, power in monomial if x == atom), 0)
        product: Terms = ((tuple([item for item in monomial if item[0] != atom]), 1),)
        for _ in range(power):
            product = multiply(product, value)
        result = _plus(result, product, factor)
    return result
