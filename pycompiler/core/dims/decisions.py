"""Decisions about polynomials by the bounds of their symbols, and the error for undecided questions.

Imports `quotients`; `dims` imports this module.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from pycompiler.core.dims import polynomial
from pycompiler.core.dims.bounds import bounds
from pycompiler.core.dims.polynomial import Symbol, Terms
from pycompiler.core.dims.quotients import with_symbol
from pycompiler.core.errors import InconclusiveDimensionError
from pycompiler.core.source import user_source

# The answer to a question about terms. None if the bounds leave it open.
Decision = Callable[[Terms], bool | None]

# The largest proposed bound, in units of a symbol without a maximum.
_LARGEST = 1 << 40


def equals_zero(terms: Terms) -> bool | None:
    """Whether the value is 0: for all sizes, for none, or (None) perhaps for some."""
    low, high = bounds(terms)
    if (low is not None and low > 0) or (high is not None and high < 0):
        return False
    if low == high == 0:
        return True
    # In a sum of 0, a common divisor of the terms with symbols also divides the constant.
    constant = sum(factor for monomial, factor in terms if not monomial)
    return False if constant % math.gcd(*[factor for monomial, factor in terms if monomial]) else None


def is_negative(terms: Terms) -> bool | None:
    """Whether the value is below 0 for all sizes, for none, or (None) perhaps for some."""
    low, high = bounds(terms)
    return True if high is not None and high < 0 else False if low is not None and low >= 0 else None


def inconclusive(question: str, decide: Decision, terms: Terms) -> InconclusiveDimensionError:
    """The error for a question that the bounds leave open: the user's line, the symbols, the bounds that decide it.

    `decide` answers the question about `terms`. It is tried with other bounds of their symbols.
    """
    symbols = [symbol for _, symbol in sorted(polynomial.symbols(terms).items())]
    known = ", and of ".join(f"{symbol.name}, which is {symbol.described()}" for symbol in symbols)
    found = [bound for symbol in symbols for bound in _deciding(terms, symbol, decide)]
    if found:
        advice = "give the symbol a bound, as " + " or ".join(found)
    elif len(symbols) > 1:
        advice = "use one symbol for sizes that are equal, or bounds for each that tell them apart"
    else:
        advice = f"ask a question with one answer for every {symbols[0].name}, or make the size an int"
    return InconclusiveDimensionError(
        f"{place()}whether {question} depends on the size of {known}.\nWhat to do: {advice}"
    )


def _deciding(terms: Terms, symbol: Symbol, decide: Decision) -> Iterable[str]:
    """The symbol with the loosest bounds that decide the question, for each kind of bound that can decide it."""
    low, high, by = symbol.min, symbol.max, symbol.multiple_of

    def bounded(least: int, greatest: int | None, multiple: int = by) -> Symbol:
        return Symbol(symbol.name, least, greatest, multiple)

    def decides(candidate: Symbol) -> bool:
        return decide(with_symbol(terms, candidate)) is not None

    multiple = bounded(low, high, math.lcm(by, *polynomial.divisors(terms)))
    if multiple.multiple_of != by and (multiple.max is None or multiple.max > multiple.min) and decides(multiple):
        yield repr(multiple)
        return
    # The number of units by which a bound can move. At least two sizes must remain.
    most = (_LARGEST if high is None else (high - low) // by) - 1
    above = _least(lambda amount: decides(bounded(low + amount * by, high)), most)
    if above is not None:
        found = bounded(low + above * by, high)
        yield repr(found).replace(")", ", min=1)") if found.min == 1 else repr(found)
    below = _greatest(lambda amount: decides(bounded(low, low + amount * by)), most)
    if below is not None:
        yield repr(bounded(low, low + below * by))


# Bounds that decide are small, as a rule, and a decision about quotients of quotients takes milliseconds: both searches
# double the amount from 1 on, and divide the last interval.


def _least(holds: Callable[[int], bool], most: int) -> int | None:
    """The least amount from 1 to `most` with a property that greater amounts keep. None if no amount has it."""
    if most < 1 or not holds(most):
        return None
    low, high = 0, 1
    while high < most and not holds(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _greatest(holds: Callable[[int], bool], most: int) -> int | None:
    """The greatest amount from 1 to `most` with a property that smaller amounts keep. None if no amount has it."""
    if most < 1 or not holds(1):
        return None
    low, high = 1, 2
    while high <= most and holds(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def place() -> str:
    """The user's line, the beginning of an error's message. Empty if there is none."""
    source = user_source()
    return f"{source.describe()}\n" if source else ""
