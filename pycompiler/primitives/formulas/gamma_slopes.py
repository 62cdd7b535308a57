"""The derivative of the incomplete gamma function by its shape, in float64.

For shapes up to 1, `small_shapes` computes it. For larger ones and results of float64, the runtime's routine does. For
those of float32 it is the derivative of a sample of the gamma distribution by the shape, times the density: a series or
a continued fraction with its derivative, in loops that end when all lanes have, and an expansion for large shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

from pycompiler.primitives import special
from pycompiler.primitives.formulas.gamma import digamma
from pycompiler.primitives.formulas.incomplete import density_of_shape
from pycompiler.primitives.formulas.lanes import Formula, Lanes, Mask, absolute, log, polynomial, sqrt, where
from pycompiler.primitives.formulas.loops import while_any
from pycompiler.primitives.formulas.small_shapes import by_shape, sample_slope, slope_by_shape

_ERROR = 2.0**-34
_STEPS = 4
_LARGE = 4000.0


def _by_series(a: Lanes, x: Lanes) -> Lanes:
    """-(dP/da) / (dP/dx) by P = x^a exp(-x) / gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ...)."""

    def goes_on(n: Lanes, term: Lanes, rate: Lanes, total: Lanes, slope: Lanes, *others: Lanes) -> Mask:
        return (term > total * _ERROR) | (absolute(term * rate) > absolute(slope) * _ERROR)

    def step(n: Lanes, term: Lanes, rate: Lanes, total: Lanes, slope: Lanes, a: Lanes, x: Lanes) -> Sequence[Lanes]:
        for _ in range(_STEPS):
            n = n + 1
            inverse = 1 / (a + n)
            term = term * (x * inverse)
            rate = rate - inverse
            total = total + term
            slope = slope + term * rate
        return n, term, rate, total, slope, a, x

    zero = x.like(0)
    _, _, _, total, slope, _, _ = while_any(goes_on, step, (zero, zero + 1, zero, zero + 1, zero, a, x))
    return -(x / a) * (total * (log(x) - digamma(a + 1, True)) + slope)


def _by_fraction(a: Lanes, x: Lanes) -> Lanes:
    """The same by Legendre's continued fraction of 1 - P, 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)). Numerators,
    denominators and their derivatives by a are scaled such that the newest denominator is 1."""

    def goes_on(n: Lanes, change: Lanes, *others: Lanes) -> Mask:
        return change > _ERROR

    def step(
        n: Lanes,
        change: Lanes,
        value: Lanes,
        slope: Lanes,
        top: Lanes,
        bottom: Lanes,
        top_slope: Lanes,
        bottom_slope: Lanes,
        last_slope: Lanes,
        a: Lanes,
        x: Lanes,
    ) -> Sequence[Lanes]:
        # (numerator, denominator) of the last two convergents, and their slopes.
        before, now = (top, bottom), (value, x.like(1))
        slopes_before, slopes_now = (top_slope, bottom_slope), (slope, last_slope)
        for _ in range(_STEPS):
            n = n + 1
            along, across = x + 1 - a + n * 2, n * (a - n)
            after = tuple(along * p + across * q for p, q in zip(now, before, strict=True))
            slopes_after = tuple(
                along * dp - p + across * dq + n * q
                for p, q, dp, dq in zip(now, before, slopes_now, slopes_before, strict=True)
            )
            before, now, slopes_before, slopes_now = now, after, slopes_now, slopes_after
        scale = 1 / now[1]
        newest = now[0] * scale
        rise = (slopes_now[0] - newest * slopes_now[1]) * scale
        previous = slope - value * last_slope
        change = absolute(newest - value) / absolute(newest)
        change = where(absolute(rise - previous) > absolute(rise) * _ERROR, 1, change)
        scaled = [part * scale for part in (slopes_now[0], *before, *slopes_before, slopes_now[1])]
        return n, change, newest, *scaled, a, x

    zero, one = x.like(0), x.like(1)
    inverse = 1 / (x + 1 - a)
    # The convergents 0 / 1 and 1 / (x + 1 - a), whose denominators have the slopes 0 and -1.
    state = (zero, one, inverse, zero, zero, inverse, zero, zero, -inverse, a, x)
    _, _, value, slope, _, _, _, _, last_slope, _, _ = while_any(goes_on, step, state)
    return x * (value * (log(x) - digamma(a, True)) + (slope - value * last_slope))


def _by_expansion(a: Lanes, x: Lanes) -> Lanes:
    """The same for large a, by the first two terms of N. Temme's uniform expansion, with eta^2 / 2 = u - 1 - log(u)
    for u = x / a: u - u' eta / 2 - u' (1 / eta - u' / (u - 1)) / (2 a), and u' = eta u / (u - 1)."""
    away = (x - a) / a
    u = away + 1
    is_near = absolute(away) < 1e-3
    far = where(is_near, 1.0, away)
    near = where(is_near, away, 0)
    square = where(is_near, near * near * polynomial(near, (1, -2 / 3, 1 / 2, -2 / 5)), (far - log(far + 1)) * 2)
    first = where(is_near, near * polynomial(near, (1, -2 / 3, 1 / 2, -2 / 5)), square / far) * u
    eta = sqrt(where(is_near, 1.0, square))
    eta = where(far < 0, -eta, eta)
    slope = eta * u / far
    second = where(is_near, -1 / 3, slope * (1 / eta - slope / far))
    return u - first * 0.5 - second / (a * 2)


def _slope(a: Lanes, x: Lanes) -> Lanes:
    # Far from the mean the others need few terms.
    is_large, is_above = (a >= _LARGE) & (x > a * 0.1) & (x < a * 10), (x > a) & (x > 1)
    shown = ~is_large
    series = _by_series(where(shown & ~is_above, a, 1), where(shown & ~is_above, x, 0.5))
    fraction = _by_fraction(where(shown & is_above, a, 1), where(shown & is_above, x, 2))
    far = _by_expansion(where(is_large, a, _LARGE), where(is_large, x, _LARGE))
    return where(is_large, far, where(is_above, fraction, series))


def _density_slope(a: Lanes, x: Lanes) -> Lanes:
    density = density_of_shape(a, x) * (a / x)
    return where(density.equals(0), 0, -(_slope(a, x) * density))


def _random_gamma_grad(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    ordinary = (a > 0) & (x > 0) & (a < inf) & (x < inf)
    p, y = where(ordinary, a, 1), where(ordinary, x, 1)
    value = by_shape(special.random_gamma_grad, sample_slope, _slope, p, y, is_single)
    return where(ordinary, value, where((a > 0) & (a < inf) & x.equals(0), x.like(0), nan))


def _igamma_grad_a(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    ordinary = (a > 0) & (x > 0) & (a < inf) & (x < inf)
    p, y = where(ordinary, a, 1), where(ordinary, x, 1)
    value = by_shape(special.igamma_grad_a, slope_by_shape, _density_slope, p, y, is_single)
    at_end = (a > 0) & (a < inf) & (x.equals(0) | x.equals(inf))
    return where(ordinary, value, where(at_end, x.like(0), nan))


FORMULAS = {
    special.random_gamma_grad: Formula(_random_gamma_grad, is_wide=True, has_routine=True),
    special.igamma_grad_a: Formula(_igamma_grad_a, is_wide=True, has_routine=True),
}
