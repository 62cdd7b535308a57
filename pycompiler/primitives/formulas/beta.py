"""The incomplete beta function, in float64, by a continued fraction."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan, pi

from pycompiler.primitives import special
from pycompiler.primitives.formulas import coefficients as fits
from pycompiler.primitives.formulas.error import erfcx_of_positive
from pycompiler.primitives.formulas.gamma import log_beta, log_gamma, stirling_rest
from pycompiler.primitives.formulas.lanes import (
    Formula,
    Lanes,
    Mask,
    absolute,
    exp,
    expm1,
    log,
    log1p,
    maximum,
    minimum,
    polynomial,
    sign,
    sqrt,
    where,
)
from pycompiler.primitives.formulas.loops import if_any, while_any

_STEPS = 4
# A bound that no fraction reaches, unless the distribution is narrower than the distance of two numbers.
_MOST_STEPS = 1e6


# The terms beyond 1 / (12 z) of the rest in Stirling's formula, differentiated: of z**-4, z**-6, ...
_STIRLING_SLOPES = (3 / 360, -5 / 1260, 7 / 1680, -9 / 1188, 11 * 691 / 360360, -13 / 156, 15 * 3617 / 122400)
# Gauss's points and weights on 0..1.
_GAUSS = ((0.5 - 0.15**0.5, 5 / 18), (0.5, 8 / 18), (0.5 + 0.15**0.5, 5 / 18))


def _log_gamma_rise(p: Lanes, q: Lanes) -> Lanes:
    """log(gamma(q + p) / gamma(q)) for p <= 1, as exact as p."""
    steps = q.like(0)
    for _ in range(8):
        is_below = q < 8
        steps = where(is_below, steps + log1p(p / q), steps)
        q = where(is_below, q + 1, q)
    total = q + p
    slope = p.like(0)
    for point, weight in _GAUSS:
        inverse = 1 / (q + p * point)
        square = inverse * inverse
        slope = slope + polynomial(square, _STIRLING_SLOPES) * square * square * weight
    rest = p * (slope - 1 / (q * total * 12))
    return (q - 0.5) * log1p(p / q) + p * log(total) - p + rest - steps


def _density(a: Lanes, b: Lanes, x: Lanes, y: Lanes, distance: Lanes, is_single: bool) -> Lanes:
    """x^a y^b / B(a, b)."""
    is_large = (a >= 8) & (b >= 8)
    p, q, away = where(is_large, a, 8.0), where(is_large, b, 8.0), where(is_large, distance, 0)
    total = p + q
    exponent = p * log1p(maximum(-away / p, -1)) + q * log1p(maximum(away / q, -1))
    rest = stirling_rest(total, is_single) - stirling_rest(p, is_single) - stirling_rest(q, is_single)
    large = exp(exponent + rest) * sqrt(p / total * q * (0.5 / pi))
    c, d = where(is_large, 1.0, a), where(is_large, 1.0, b)
    # The smaller one of x and y is exact.
    first, second = (where(z < 0.5, log(z), log1p(-w)) for z, w in ((x, y), (y, x)))
    value = -log_beta(c, d, is_single)
    if not is_single:
        low, high = minimum(c, d), maximum(c, d)
        near = minimum(low, 0.25)
        value = where(low <= 0.25, _log_gamma_rise(near, high) - log_gamma(near, is_single), value)
    small = exp(c * first + d * second + value)
    return where(is_large, large, small)


def _fraction(a: Lanes, b: Lanes, x: Lanes, distance: Lanes, is_single: bool) -> Lanes:
    """A. DiDonato and A. Morris, "Algorithm 708: Significant digit computation of the incomplete beta function ratios",
    1992, equation 9. The convergents are scaled such that the newest denominator is 1."""
    error = 2.0**-32 if is_single else 2.0**-49

    def goes_on(n: Lanes, change: Lanes, *others: Lanes) -> Mask:
        return (change > error) & (n < _MOST_STEPS)

    def step(
        n: Lanes, change: Lanes, value: Lanes, top: Lanes, bottom: Lanes, a: Lanes, b: Lanes, x: Lanes, distance: Lanes
    ) -> Sequence[Lanes]:
        tops, bottoms = (top, value), (bottom, x.like(1))
        inverse = 1 / (a + n * 2 + 1)
        total = a + b
        for _ in range(_STEPS):
            scale = (a + n) * (total + n)
            n = n + 1
            part = n * (b - n) * x * inverse
            alpha = part * x * scale * inverse
            inverse = 1 / (a + n * 2 + 1)
            beta = n + part + (a + n) * (distance + 1 + n * (2 - x)) * inverse
            tops = tops[1], beta * tops[1] + alpha * tops[0]
            bottoms = bottoms[1], beta * bottoms[1] + alpha * bottoms[0]
        scale = 1 / bottoms[1]
        newest = tops[1] * scale
        change = absolute(newest - value)
        change = where(change > absolute(newest) * error, change / absolute(newest), 0)
        return n, change, newest, tops[0] * scale, bottoms[0] * scale, a, b, x, distance

    first = a * (distance + 1) / (a + 1)
    zero = x.like(0)
    return while_any(goes_on, step, (zero, zero + 1, first, zero + 1, zero, a, b, x, distance))[2]


def _normal(a: Lanes, b: Lanes, distance: Lanes) -> Lanes:
    """The function for large a and b: the first two terms of N. Temme's uniform expansion, DLMF 8.18.9."""
    total = a + b
    mean, other = a / total, b / total
    away = -distance / total
    exponent = -(a * log1p(maximum(away / mean, -1)) + b * log1p(maximum(-away / other, -1)))
    exponent = maximum(exponent, 0)
    # Close to the mean both terms of the difference grow; there is its limit.
    width = sqrt(mean * other)
    eta = sign(away) * sqrt(exponent * 2 / total)
    is_close = absolute(away) < width * 1e-4
    limit = (other - mean) / (width * 3)
    rest = where(is_close, limit, 1 / where(is_close, -1.0, eta) - width / where(is_close, -1.0, away))
    gauss = exp(-exponent)
    tail = erfcx_of_positive(sqrt(exponent), False) * gauss * 0.5
    return where(away > 0, 1 - tail, tail) + rest * gauss / sqrt(total * (2 * pi))


def _complement(p: Lanes, q: Lanes, x: Lanes, is_single: bool) -> Lanes:
    """1 minus the function for p < 1 and small x, also for vanishing p: 1 - (1 + u)(1 + v) with 1 + u =
    x^p / (p B(p, q)) and the series v of p (1 - q) ... (n - q) x^n / (n! (p + n))."""
    error = 2.0**-32 if is_single else 2.0**-56

    def goes_on(n: Lanes, term: Lanes, total: Lanes, *others: Lanes) -> Mask:
        return (absolute(term) > absolute(total) * error) & (n < _MOST_STEPS)

    def step(n: Lanes, term: Lanes, total: Lanes, p: Lanes, q: Lanes, x: Lanes) -> Sequence[Lanes]:
        for _ in range(_STEPS):
            n = n + 1
            term = term * ((1 - q / n) * x)
            total = total + term / (p + n)
        return n, term, total, p, q, x

    zero = x.like(0)
    v = while_any(goes_on, step, (zero, zero + 1, zero, p, q, x))[2] * p
    center = (p - 1) * polynomial(p - 1, fits.LOG_GAMMA_F32 if is_single else fits.LOG_GAMMA)
    u = expm1(p * (log(x) - center) + _log_gamma_rise(p, q))
    return -(u + v + u * v)


def _betainc(a: Lanes, b: Lanes, x: Lanes, is_single: bool) -> Lanes:
    given = a, b, x
    ordinary = (a > 0) & (b > 0) & (x > 0) & (x < 1) & (a < inf) & (b < inf)
    a, b, x = (where(ordinary, argument, replacement) for argument, replacement in ((a, 1.0), (b, 1.0), (x, 0.5)))
    is_above = x * (a + b + 2) > a + 1
    y = 1 - x
    p, q = where(is_above, b, a), where(is_above, a, b)
    u, v = where(is_above, y, x), where(is_above, x, y)
    distance = p * v - q * u
    density = _density(p, q, u, v, distance, is_single)
    is_wide = minimum(p, q) > (1e6 if is_single else 1e10)
    # Other lanes than these would overflow in the fraction.
    is_seen = (density > 0) & ~is_wide
    shown = where(is_seen, p, 1), where(is_seen, q, 1), where(is_seen, u, 0.5), where(is_seen, distance, 0)
    fraction = _fraction(*shown, is_single)
    value = minimum(where(is_seen, density / fraction, 0), 1)
    wide = _normal(where(is_wide, p, 1), where(is_wide, q, 1), where(is_wide, distance, 0))
    value = where(is_wide, wide, value)
    is_small = is_above & (p < (1e-4 if is_single else 0.5))

    def rare(value: Lanes, p: Lanes, q: Lanes, u: Lanes) -> Lanes:
        near = _complement(where(is_small, p, 0.5), where(is_small, q, 1.0), where(is_small, u, 0.25), is_single)
        return where(is_small, near, plain(value, p, q, u))

    def plain(value: Lanes, p: Lanes, q: Lanes, u: Lanes) -> Lanes:
        return where(is_above, 1 - value, value)

    value = if_any(is_small, rare, plain, value, p, q, u)
    return where(ordinary, value, _edge(*given))


def _edge(a: Lanes, b: Lanes, x: Lanes) -> Lanes:
    value = where(b.equals(0) | a.equals(inf), 0, where(a.equals(0) | b.equals(inf), x.like(1), nan))
    value = where(x.equals(0) | x.equals(1), x, value)
    missing = (a.equals(0) & b.equals(0)) | (a.equals(inf) & b.equals(inf))
    return where((a >= 0) & (b >= 0) & (x >= 0) & (x <= 1) & ~missing, value, nan)


FORMULAS = {special.betainc: Formula(_betainc, is_wide=True)}
