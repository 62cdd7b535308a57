"""Quotients of polynomials that round down, and maxima with 0, in normal form. Imports `bounds`; `dims` imports it."""

from __future__ import annotations

import math

from pycompiler.core.dims.bounds import bounds
from pycompiler.core.dims.polynomial import (
    Floor,
    Positive,
    Quotient,
    Symbol,
    Terms,
    add,
    constant,
    multiply,
    normal,
    of_atom,
    of_symbol,
    scale,
)

__all__ = ["floor_divide", "positive_part", "quotient", "with_symbol"]


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
    return add(whole, of_atom(Floor(rest, divisor)))


def quotient(terms: Terms, by: Terms) -> Terms:
    """The floor of the quotient by a polynomial of at least 1: the multiples of it, and a Quotient of the rest."""
    (leading, factor), whole, rest = by[0], (), terms
    for monomial, first in terms:
        powers = dict(monomial)
        for atom, power in leading:
            powers[atom] = powers.get(atom, 0) - power
        if first // factor and not any(power < 0 for power in powers.values()):
            term = ((tuple([item for item in powers.items() if item[1]]), first // factor),)
            left = add(rest, scale(multiply(term, by), -1))
            # A multiple is split off only if the rest becomes shorter, or its factor of this monomial smaller.
            if len(left) < len(rest) or abs(dict(left).get(monomial, 0)) < abs(dict(rest).get(monomial, 0)):
                whole, rest = add(whole, term), left
    for nearest in (0, -1):
        # From nearest * by to less than (nearest + 1) * by.
        low, high = bounds(add(rest, scale(by, -nearest))), bounds(add(rest, scale(by, -nearest - 1)))
        if low[0] is not None and low[0] >= 0 and high[1] is not None and high[1] < 0:
            return add(whole, constant(nearest))
    return add(whole, of_atom(Quotient(rest, by)))


def positive_part(terms: Terms) -> Terms:
    """The maximum of a polynomial and 0."""
    low, high = bounds(terms)
    if low is not None and low >= 0:
        return terms
    if high is not None and high <= 0:
        return ()
    if terms[0][1] < 0:
        return add(of_atom(Positive(scale(terms, -1))), terms)
    return of_atom(Positive(terms))


def with_symbol(terms: Terms, symbol: Symbol) -> Terms:
    """The same terms with other bounds for the symbol of this name."""
    total: Terms = ()
    for monomial, factor in terms:
        product = constant(factor)
        for atom, power in monomial:
            if isinstance(atom, Floor):
                unit = floor_divide(with_symbol(atom.terms, symbol), atom.divisor)
            elif isinstance(atom, Quotient):
                unit = quotient(with_symbol(atom.terms, symbol), with_symbol(atom.by, symbol))
            elif isinstance(atom, Positive):
                unit = positive_part(with_symbol(atom.terms, symbol))
            else:
                unit = floor_divide(of_symbol(symbol if atom.name == symbol.name else atom), atom.multiple_of)
            for _ in range(power):
                product = multiply(product, unit)
        total = add(total, product)
    return total
