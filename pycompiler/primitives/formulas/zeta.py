"""The Hurwitz zeta function and the derivatives of digamma, in float64, by Euler and Maclaurin's formula: DLMF 25.11.

For q below zero, the sum consists of a sum over the positive terms, and one over the negated negative terms.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

from pycompiler.primitives import special
from pycompiler.primitives.formulas.gamma import digamma, gamma, log_gamma
from pycompiler.primitives.formulas.lanes import (
    Formula,
    Lanes,
    Mask,
    absolute,
    exp,
    floor,
    log,
    maximum,
    minimum,
    power,
    where,
)
from pycompiler.primitives.formulas.loops import if_any

# B(2j) / (2j)!
_BERNOULLI = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
    -174611 / 802857662698291200000,
    77683 / 14101100039391805440000,
)

# (x + e)**s times a factor, of x, e and s: e is the rounding error of x.
Powers = Callable[[Lanes, Lanes | None, Lanes], Lanes]


def _is_even(x: Lanes) -> Mask:
    half = x * 0.5
    return half.equals(floor(half))


def _sum(s: Lanes, q: Lanes, powers: Powers, is_single: bool) -> Lanes:
    """The sum of (q + k)**-s over k >= 0, for q > 0, times the factor of the powers."""
    count, order = (5, 6) if is_single else (8, 11)
    far = q + count
    inverse = 1 / far
    # Beyond this exponent the powers of `far` vanish, and larger exponents would overflow in the products.
    t = minimum(s, 2000)
    rest = t.like(_BERNOULLI[order - 1])
    for j in range(order - 2, -1, -1):
        rest = rest * ((t + (2 * j + 1)) * inverse) * ((t + (2 * j + 2)) * inverse) + _BERNOULLI[j]
    rest = 1 / (s - 1) + inverse * (0.5 + t * inverse * rest)
    total = powers(far, _rounding(q, count, far, is_single), 1 - s) * rest
    for k in range(count - 1, 0, -1):
        x = q + k
        total = total + powers(x, _rounding(q, k, x, is_single), -s)
    first = powers(q, None, -s)
    return where(first < inf, total + first, first)


def _rounding(q: Lanes, k: int, x: Lanes, is_single: bool) -> Lanes | None:
    """q + k - x for the rounded sum x."""
    if is_single:
        return None
    part = x - q
    return (q - (x - part)) + (k - part)


def _two_sided(s: Lanes, q: Lanes, powers: Powers, is_single: bool) -> Lanes:
    """The same for any q, and for q < 0 whole s."""
    is_below, size = q < 0, absolute(q)
    part = size - floor(size)
    first = _sum(s, where(is_below, 1 - part, q), powers, is_single)
    # All numbers at the distance of `part` from whole numbers above 0, without those that are beyond q.
    second = _sum(s, part, powers, is_single) - _sum(s, where(is_below, size + 1, part), powers, is_single)
    return where(is_below, first + where(_is_even(s), second, -second), first)


def _hurwitz(s: Lanes, q: Lanes, powers: Powers, is_single: bool) -> Lanes:
    def plain(s: Lanes, q: Lanes) -> Lanes:
        return _sum(s, q, powers, is_single)

    def rare(s: Lanes, q: Lanes) -> Lanes:
        return _two_sided(s, q, powers, is_single)

    return if_any(q < 0, rare, plain, s, q)


def _with_edges(s: Lanes, q: Lanes, value: Lanes) -> Lanes:
    """The values at the edges of the domain."""
    at_end = where(q > 1, 0, where(q.equals(1), 1, q.like(inf)))
    value = where(s.equals(inf) | q.equals(inf), where(q < 0, nan, at_end), value)
    value = where((q < 0) & ~s.equals(floor(s)), nan, value)
    value = where(s.equals(1) | ((q <= 0) & q.equals(floor(q))), inf, value)
    return where((s >= 1) & ~q.is_nan(), value, nan)


def _zeta(s: Lanes, q: Lanes, is_single: bool) -> Lanes:
    def powers(x: Lanes, error: Lanes | None, s: Lanes) -> Lanes:
        if error is None:
            return exp(s * log(x)) if is_single else power(x, s)
        # Beyond, the powers vanish.
        return power(x, s) * (1 + maximum(s, -1100) * (error / x))

    return _with_edges(s, q, _hurwitz(s, q, powers, is_single))


def _polygamma(m: Lanes, x: Lanes, is_single: bool) -> Lanes:
    """(-1)^(m + 1) m! zeta(m + 1, x), DLMF 25.11.12."""
    s = m + 1
    log_factorial = log_gamma(s, is_single)
    is_large = m > 100  # the factorial is a part of the powers, as one of both may overflow

    def powers(x: Lanes, error: Lanes | None, t: Lanes) -> Lanes:
        if is_single:
            return exp(t * log(x) + log_factorial)
        value = power(x * where(is_large, exp(log_factorial / t), 1), t)
        return value if error is None else value * (1 + maximum(t, -1100) * (error / x))

    size = _hurwitz(s, x, powers, is_single)
    if not is_single:
        size = where(is_large, size, size * gamma(minimum(s, 101), is_single))
    is_even = _is_even(m)
    value = where(is_even, -size, size)
    value = where(x.equals(inf), 0, value)
    value = where((x <= 0) & x.equals(floor(x)), where(is_even, nan, x.like(inf)), value)
    value = where((m > 0) & m.equals(floor(m)) & (x > -inf), value, nan)
    return where(m.equals(0), digamma(x, is_single), value)


FORMULAS = {
    special.zeta: Formula(_zeta, is_wide=True),
    special.polygamma: Formula(_polygamma, is_wide=True),
}
