"""The derivative of the incomplete gamma function by its shape, in float64.

For shapes up to 1, `small_shapes` computes it. For larger ones and results of float64, the runtime's routine does. For
those of float32 it is the derivative of a sample of the gamma distribution by the shape, times the density: a series or
a continued fraction with its derivative, and an expansion for large shapes.
"""

from __future__ import annotations

from math import inf, nan

from pycompiler.primitives import special
from pycompiler.primitives.formulas.gamma import digamma
from pycompiler.primitives.formulas.incomplete import density_of_shape
from pycompiler.primitives.formulas.lanes import (
    Formula,
    Lanes,
    Mask,
    absolute,
    log,
    maximum,
    minimum,
    polynomial,
    sqrt,
    where,
)
from pycompiler.primitives.formulas.legendre import fraction_and_slope, series_and_slope
from pycompiler.primitives.formulas.small_shapes import by_shape, sample_slope, slope_by_shape

_LARGE = 4000.0
_ABOVE = 4.0  # The fraction serves from here: closer to x = a it needs more terms for small shapes than the series.


def _by_series(a: Lanes, x: Lanes, is_needed: Mask) -> Lanes:
    """-(dP/da) / (dP/dx) by P = x^a exp(-x) / gamma(a + 1) (1 + x / (a + 1) + x^2 / ((a + 1)(a + 2)) + ...)."""
    # Near x = a the quotient of terms n and 0 is about exp(-n^2 / (2 a)), below it at most (x / a)^n. Above it, the sum
    # must be better than its terms, of which some cancel: 14 terms more were counted at a + _ABOVE.
    count = minimum(sqrt(a) * 7 + where(x > a, x.like(22), 8), 26 / maximum(1 - x / a, 0.01) + 8)
    value, slope = series_and_slope(a, x, where(is_needed, count, 0))
    return -(x / a) * (value * (log(x) - digamma(a + 1, True)) + slope)


def _by_fraction(a: Lanes, x: Lanes, is_needed: Mask) -> Lanes:
    """The same by Legendre's continued fraction of 1 - P."""
    # Above the terms that were counted for shapes of 1 to 4000 and for x / a of 1 to 10.
    count = 30 / x + minimum(sqrt(a) * 2.4, 5 / maximum(1 - a / x, 1e-3)) + 7
    value, slope = fraction_and_slope(a, x, where(is_needed, count, 0))
    return value * (log(x) - digamma(a, True)) + slope


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
    is_large, is_above = (a >= _LARGE) & (x > a * 0.1) & (x < a * 10), x > a + _ABOVE
    by_series, by_fraction = ~is_large & ~is_above, ~is_large & is_above
    series = _by_series(where(by_series, a, 1), where(by_series, x, 0.5), by_series)
    fraction = _by_fraction(where(by_fraction, a, 1), where(by_fraction, x, 2), by_fraction)
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
