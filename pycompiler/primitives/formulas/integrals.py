"""Integrals, in float64: the exponential integrals for results of float32, those of sine and cosine, of Fresnel, the
dilogarithm and Owen's function."""

from __future__ import annotations

from math import inf, nan, pi

import numpy as np

from pycompiler.primitives import special
from pycompiler.primitives.formulas import coefficients as fits
from pycompiler.primitives.formulas.error import erfcx_of_positive
from pycompiler.primitives.formulas.lanes import (
    Formula,
    Lanes,
    absolute,
    cos,
    exp,
    exp_of_square,
    floor,
    log,
    log1p,
    maximum,
    minimum,
    nearest,
    polynomial,
    sin,
    where,
)

# The first root of the cosine integral, in two parts, and its logarithm plus Euler's constant.
_ROOT, _ROOT_REST = 0.6165054856207163, -4.209920321433186e-17
_CIN_OF_ROOT = 0.09352760649023573


def _auxiliary(size: Lanes, is_single: bool) -> tuple[Lanes, Lanes]:
    """The functions f and g of DLMF 6.2.17 and 6.2.18, from 6 on."""
    inverse = 1 / size
    square = inverse * inverse
    t = square * 72 - 1
    f = polynomial(t, fits.SICI_F_F32 if is_single else fits.SICI_F) * inverse
    return f, polynomial(t, fits.SICI_G_F32 if is_single else fits.SICI_G) * square


def _sin_integral(x: Lanes, is_single: bool) -> Lanes:
    size = absolute(x)
    near = polynomial(x * x * (1 / 18) - 1, fits.SI_NEAR_F32 if is_single else fits.SI_NEAR) * x
    f, g = _auxiliary(size, is_single)
    far = where(size < inf, pi / 2 - (f * cos(size) + g * sin(size)), pi / 2)
    return where(size <= 6, near, where(x < 0, -far, where(x.is_nan(), x, far)))


def _cos_integral(x: Lanes, is_single: bool) -> Lanes:
    square = x * x
    fit = polynomial(square * (1 / 18) - 1, fits.CIN_NEAR_F32 if is_single else fits.CIN_NEAR)
    # Near the root, the logarithm of the quotient by it.
    distance = ((x - _ROOT) - _ROOT_REST) * (1 / _ROOT)
    is_close = absolute(distance) < 0.25
    logarithm = where(is_close, log1p(where(is_close, distance, 0)), log(x * (1 / _ROOT)))
    near = logarithm + (_CIN_OF_ROOT - square * fit)
    f, g = _auxiliary(x, is_single)
    far = where(x < inf, f * sin(x) - g * cos(x), 0)
    return where(x >= 0, where(x <= 6, near, far), nan)


def _fresnel_waves(size: Lanes) -> tuple[Lanes, Lanes]:
    """The sine and cosine of pi x^2 / 2. For x = n + d and the nearest n, x^2 is n^2 + 2nd + d^2, and the first is 0 or
    1 modulo 4, and the second exact modulo 4 but for one rounding."""
    whole = nearest(size)
    offset = size - whole
    half = whole * 0.5
    odd = where(half.equals(floor(half)), size.like(0), 1)
    product = whole * offset
    product = product - nearest(product * 0.5) * 2
    angle = (odd + product * 2 + offset * offset) * (pi / 2)
    return sin(angle), cos(angle)


def _fresnel_auxiliary(size: Lanes, is_single: bool) -> tuple[Lanes, Lanes]:
    """The functions f and g of DLMF 7.2.10 and 7.2.11, from 2 on."""
    inverse = 1 / size
    square = inverse * inverse
    t = square * square * 32 - 1
    f = polynomial(t, fits.FRESNEL_F_F32 if is_single else fits.FRESNEL_F) * inverse * (1 / pi)
    g = polynomial(t, fits.FRESNEL_G_F32 if is_single else fits.FRESNEL_G) * inverse * square * (1 / pi**2)
    return f, g


def _fresnel_sin(x: Lanes, is_single: bool) -> Lanes:
    size = absolute(x)
    square = x * x
    near = polynomial(square * square * 0.125 - 1, fits.FRESNEL_S_NEAR_F32 if is_single else fits.FRESNEL_S_NEAR)
    f, g = _fresnel_auxiliary(size, is_single)
    sine, cosine = _fresnel_waves(size)
    far = where(size < 1e17, 0.5 - (f * cosine + g * sine), where(x.is_nan(), x, 0.5))
    return where(size <= 2, near * square * x, where(x < 0, -far, far))


def _fresnel_cos(x: Lanes, is_single: bool) -> Lanes:
    size = absolute(x)
    square = x * x
    near = polynomial(square * square * 0.125 - 1, fits.FRESNEL_C_NEAR_F32 if is_single else fits.FRESNEL_C_NEAR)
    f, g = _fresnel_auxiliary(size, is_single)
    sine, cosine = _fresnel_waves(size)
    far = where(size < 1e17, 0.5 + (f * sine - g * cosine), where(x.is_nan(), x, 0.5))
    return where(size <= 2, near * x, where(x < 0, -far, far))


def _spence(x: Lanes, is_single: bool) -> Lanes:
    """The dilogarithm of 1 - x by its series in u = -log(x), of x or of the numbers that Euler's and Landen's formulas
    lead to (DLMF 25.12.4, 25.12.6)."""
    is_large = x > 2
    y = where(is_large, 1 / x, x)
    is_small = y < 0.5
    u = -log1p(where(is_small, -y, y - 1))
    square = u * u
    # No sum of two products: it would be rounded in two ways.
    series = (polynomial(square * 4 - 1, fits.DILOGARITHM_F32 if is_single else fits.DILOGARITHM) - u * 0.25) * u
    logarithm = log(x)
    # log(y) log(1 - y)
    product = where(is_large, logarithm * u, -logarithm * u)
    product = where(y.equals(0), 0, product)
    value = where(is_small, pi**2 / 6 - product - series, series)
    value = where(is_large, -value - logarithm * logarithm * 0.5, value)
    return where(x >= 0, value, nan)


def _owens_t(h: Lanes, a: Lanes, is_single: bool) -> Lanes:
    """The integral of exp(-h^2 (1 + t^2) / 2) / (1 + t^2) / (2 pi) over t from 0 to a, by Gauss's rule. For a > 1 it is
    that of a h and 1 / a, subtracted from probabilities; beyond h t = 9 the integrand vanishes."""
    high, slope = absolute(h), absolute(a)
    is_steep = slope > 1
    product = where(high.equals(0), high, high * slope)
    above, inner = where(is_steep, product, high), where(is_steep, 1 / slope, slope)
    # exp(-h^2 / 2) is 0 beyond 40.
    first, second = (exp_of_square(minimum(x, 64), -0.5, is_single) for x in (high, product))
    far = 6.0 if is_single else 9.0
    end = minimum(inner, far / maximum(above, far))
    half_square = minimum(above, 64) * minimum(above, 64) * 0.5
    total = end.like(0)
    points, weights = np.polynomial.legendre.leggauss(12 if is_single else 26)
    for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
        t = end * float(point)
        square = t * t
        total = total + exp(-(half_square * square)) / (square + 1) * float(weight)
    integral = total * end * where(is_steep, second, first) * (0.5 / pi)
    tails = [
        erfcx_of_positive(x * 0.5**0.5, is_single) * gauss * 0.5 for x, gauss in ((high, first), (product, second))
    ]
    steep = (tails[0] + tails[1]) * 0.5 - tails[0] * tails[1] - integral
    value = where(is_steep, steep, integral)
    value = where(a < 0, -value, value)
    return where(h.is_nan() | a.is_nan(), nan, where(a.equals(0) | high.equals(inf), 0, value))


def _exponential(x: Lanes) -> Lanes:
    """Ei(x) for results of float32."""
    near_x = where((x > -2) & (x < 8), x, 1.0)
    near = near_x * polynomial(near_x * 0.2 - 0.6, fits.EXPI_NEAR_F32) + (log(absolute(near_x)) + 0.5772156649015329)
    # exp(Ei's argument) is infinite in float32 well before.
    above, below = minimum(maximum(x, 8), 300), maximum(-x, 2)
    right = exp(above) / above * polynomial(16 / above - 1, fits.EXPI_FAR_F32)
    left = -exp(-below) / below * polynomial(4 / below - 1, fits.EXP1_FAR_F32)
    return where(x >= 8, right, where(x <= -2, left, near))


def _expi(x: Lanes, is_single: bool) -> Lanes:
    value = where(x.equals(0), -inf, where(x.equals(-inf), -0.0, _exponential(x)))
    return where(x.is_nan(), nan, value)


def _exp1(x: Lanes, is_single: bool) -> Lanes:
    value = where(x.equals(0), inf, where(x.equals(inf), 0, -_exponential(-x)))
    return where(x >= 0, value, nan)


FORMULAS = {
    special.exp1: Formula(_exp1, is_wide=True, only_narrow=True),
    special.expi: Formula(_expi, is_wide=True, only_narrow=True),
    special.sin_integral: Formula(_sin_integral, is_wide=True),
    special.cos_integral: Formula(_cos_integral, is_wide=True),
    special.fresnel_sin: Formula(_fresnel_sin, is_wide=True),
    special.fresnel_cos: Formula(_fresnel_cos, is_wide=True),
    special.spence: Formula(_spence, is_wide=True),
    special.owens_t: Formula(_owens_t, is_wide=True),
}
