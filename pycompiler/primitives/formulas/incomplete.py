"""The incomplete gamma function, in float64. For results of float32: fixed numbers of terms, without loops.

For results of float64, shapes above 1 are computed by the runtime's routine: with long exponents, formulas in float64
lose three digits. Shapes up to 1 have their own formulas.
"""

from __future__ import annotations

from math import inf, nan, pi

from pycompiler.primitives import special
from pycompiler.primitives.formulas import coefficients as fits
from pycompiler.primitives.formulas import small_shapes
from pycompiler.primitives.formulas.error import erfcx_of_positive
from pycompiler.primitives.formulas.gamma import log_gamma, stirling_rest
from pycompiler.primitives.formulas.lanes import (
    Formula,
    Lanes,
    Mask,
    exp,
    log,
    maximum,
    minimum,
    polynomial,
    sqrt,
    where,
)


def density_of_shape(a: Lanes, x: Lanes) -> Lanes:
    """x^a exp(-x) / gamma(a + 1)."""
    is_large = a >= 20
    far, near = where(is_large, a, 20.0), where(is_large, 1.0, a)
    ratio = where(is_large, x / far, 1.0)
    large = far * (log(ratio) - ratio + 1) - stirling_rest(far, True) - log(far * (2 * pi)) * 0.5
    small = near * log(x) - x - log_gamma(near + 1, True)
    return exp(where(is_large, large, small))


def _series(a: Lanes, x: Lanes, terms: int) -> Lanes:
    """1 + x / (a + 1) (1 + x / (a + 2) (...)), as one quotient."""
    # Beyond this shape, the density that it is multiplied by is 0.
    a = minimum(a, 1e6)
    top = bottom = x.like(1)
    for k in range(terms, 0, -1):
        bottom = bottom * (a + k) * (1 / 32)
        top = top * x * (1 / 32) + bottom
    return top / bottom


def _fraction(a: Lanes, x: Lanes, terms: int) -> Lanes:
    """Legendre's continued fraction 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)), as one quotient from its end."""
    x, a = minimum(x, 1e6), minimum(a, 1e6)  # as in the series
    below = x + (2 * terms + 1) - a
    top, bottom = x.like(1), below
    for k in range(terms, 0, -1):
        below = below - 2
        top, bottom = bottom, (below * bottom + top * ((a - k) * k)) * 2.0**-6
        top = top * 2.0**-6
    return top / bottom


def _uniform(a: Lanes, x: Lanes) -> tuple[Lanes, Lanes]:
    """P and Q for a >= 20 and x near a: N. Temme, "The asymptotic expansion of the incomplete gamma functions", 1979,
    with a fit of the sum."""
    distance = (x - a) / a
    half = polynomial((distance - 0.025) * (1 / 0.575), fits.LOG1P_REST_F32)
    eta = distance * sqrt(half * 2)
    exponent = a * distance * distance * half
    gauss = exp(-exponent)
    # t of eta in -0.71..0.52 and of the inverse of a.
    t, u = (eta + 0.095) * (1 / 0.615), 40 / a - 1
    rest = polynomial_of(u, [polynomial(t, row) for row in fits.TEMME_F32])
    rest = rest * gauss / sqrt(a * (2 * pi))
    tail = erfcx_of_positive(sqrt(exponent), True) * gauss * 0.5
    is_above = distance > 0
    lower, upper = where(is_above, 1 - tail, tail) - rest, where(is_above, tail, 1 - tail) + rest
    return lower, upper


def polynomial_of(x: Lanes, coefficients: list[Lanes]) -> Lanes:
    total = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total


def _parts(a: Lanes, x: Lanes) -> tuple[Lanes, Lanes]:
    """P and Q within the domain."""
    a_near, x_near = maximum(a, 20.0), x
    is_uniform = (a >= 20) & (x > a * 0.46) & (x < a * 1.59)
    is_upper = (x >= 1.5) & (x > a)
    density = density_of_shape(a, x)
    series = density * _series(a, where(is_upper, 1.0, x), 32)
    fraction = density * a * _fraction(where(is_upper, a, 1.0), where(is_upper, x, 2.0), 24)
    lower, upper = where(is_upper, 1 - fraction, series), where(is_upper, fraction, 1 - series)
    middle = _uniform(where(is_uniform, a_near, 20.0), where(is_uniform, x_near, 20.0))
    return where(is_uniform, middle[0], lower), where(is_uniform, middle[1], upper)


def _domain(a: Lanes, x: Lanes) -> tuple[Mask, Mask, Mask]:
    """Where the function has no value, where P is 0, and where P is 1."""
    missing = ~((a >= 0) & (x >= 0)) | ((a + x).equals(0)) | (a.equals(inf) & x.equals(inf))
    return missing, x.equals(0) | a.equals(inf), a.equals(0) | x.equals(inf)


def _lower(a: Lanes, x: Lanes) -> Lanes:
    return _parts(a, x)[0]


def _upper(a: Lanes, x: Lanes) -> Lanes:
    return _parts(a, x)[1]


def _igamma(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    missing, none, whole = _domain(a, x)
    p, y = where(missing | none | whole, 1.0, a), where(missing | none | whole, 1.0, x)
    value = minimum(small_shapes.by_shape(special.igamma, small_shapes.lower, _lower, p, y, is_single), 1)
    return where(missing, nan, where(none, 0, where(whole, 1, value)))


def _igammac(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    missing, none, whole = _domain(a, x)
    p, y = where(missing | none | whole, 1.0, a), where(missing | none | whole, 1.0, x)
    value = maximum(small_shapes.by_shape(special.igammac, small_shapes.upper, _upper, p, y, is_single), 0)
    return where(missing, nan, where(none, 1, where(whole, 0, value)))


FORMULAS = {
    special.igamma: Formula(_igamma, is_wide=True, has_routine=True),
    special.igammac: Formula(_igammac, is_wide=True, has_routine=True),
}
