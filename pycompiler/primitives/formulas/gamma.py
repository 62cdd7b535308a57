"""The gamma function, its logarithm and its first derivative, and the logarithm of the beta function, in float64."""

from __future__ import annotations

from math import inf, nan, pi
from typing import NamedTuple

from pycompiler.primitives import special
from pycompiler.primitives.formulas import coefficients as fits
from pycompiler.primitives.formulas.lanes import (
    Formula,
    Lanes,
    absolute,
    cos,
    exp,
    floor,
    log,
    log1p,
    maximum,
    minimum,
    nearest,
    polynomial,
    power,
    sin,
    where,
)

HALF_LOG_TWO_PI = 0.918938533204672741780329736405617640
# The positive root of digamma, in two parts.
_ROOT, _ROOT_REST = 1.4616321449683622, 9.549995429965697e-17


def _lowered(x: Lanes, least: float, steps: int) -> tuple[Lanes, Lanes]:
    """x - k < least + 1 for the least whole k >= 0 and x < least + 1 + steps, and the product of the k numbers below
    x."""
    product = x.like(1)
    for _ in range(steps):
        is_above = x >= least + 1
        below = x - 1
        product = where(is_above, product * below, product)
        x = where(is_above, below, x)
    return x, product


def stirling_rest(x: Lanes, is_single: bool) -> Lanes:
    """The rest of log(gamma(x)) = (x - 1/2) log(x) - x + log(2 pi) / 2 + rest, for x >= 8."""
    inverse = 1 / x
    return polynomial(inverse * inverse * 128 - 1, fits.STIRLING_F32 if is_single else fits.STIRLING) * inverse


class _Parts(NamedTuple):
    """log(gamma(x)) for x >= 0, the logarithm of gamma at a near place in 1..3, and, for x < 9, their quotient."""

    value: Lanes
    center: Lanes
    factor: Lanes


def _log_gamma_parts(x: Lanes, is_single: bool) -> _Parts:
    is_small, is_large = x < 1, x >= 9
    y, product = _lowered(where(is_large, 2.0, x), 2.0, 6)
    # The distance from 2; x + 1 would be rounded.
    distance = where(is_small, x - 1, y - 2)
    center = (distance + 1) * distance * polynomial(distance, fits.LOG_GAMMA_F32 if is_single else fits.LOG_GAMMA)
    factor = where(is_small | is_large, x, product)
    logarithm = log(factor)
    large = (x - 0.5) * logarithm - x + (stirling_rest(x, is_single) + HALF_LOG_TWO_PI)
    large = where(x < inf, large, x)
    value = where(is_large, large, where(is_small, center - logarithm, center + logarithm))
    return _Parts(value, center, factor)


def _log_gamma_and_parts(x: Lanes, is_single: bool) -> tuple[Lanes, _Parts]:
    """log |gamma(x)|, and the parts of log(gamma(|x|))."""
    size = absolute(x)
    parts = _log_gamma_parts(size, is_single)
    # log |gamma(-s)| = log(pi / (s |sin(pi s)|)) - log(gamma(s)); for small s, s / pi alone has no infinite inverse.
    wave = absolute(sin((size - nearest(size)) * pi))
    is_small = size < 1
    reflected = -log(where(is_small, wave, wave * size) * (1 / pi)) - where(is_small, parts.center, parts.value)
    return where((x < 0) & (size < inf), reflected, parts.value), parts


def log_gamma(x: Lanes, is_single: bool) -> Lanes:
    """log |gamma(x)|."""
    return _log_gamma_and_parts(x, is_single)[0]


def digamma_between(x: Lanes, is_single: bool) -> Lanes:
    """The derivative of log(gamma(x)) for x in 1..2."""
    fit = polynomial(x * 2 - 3, fits.DIGAMMA_F32 if is_single else fits.DIGAMMA)
    return fit * ((x - _ROOT) - _ROOT_REST)


def digamma(x: Lanes, is_single: bool) -> Lanes:
    """The derivative of log |gamma(x)|."""
    size = absolute(x)
    is_small, is_large = size < 1, size >= 8
    # The sum of 1 / (y + k) as one quotient.
    y, top, bottom = where(is_large, 1.5, size), x.like(0), x.like(1)
    for _ in range(6):
        is_above = y >= 2
        below = y - 1
        top = where(is_above, top * below + bottom, top)
        bottom = where(is_above, bottom * below, bottom)
        y = where(is_above, below, y)
    y = where(is_small, size + 1, y)
    top, bottom = where(is_small, -1, top), where(is_small, size, bottom)
    near = digamma_between(y, is_single) + top / bottom
    inverse = 1 / size
    square = inverse * inverse
    rest = polynomial(square * 128 - 1, fits.DIGAMMA_REST_F32 if is_single else fits.DIGAMMA_REST)
    far = log(size) - inverse * 0.5 - rest * square
    right = where(is_large, far, near)
    # digamma(-s) = digamma(s) + 1 / s + pi / tan(pi s)
    angle = (size - nearest(size)) * pi
    pole = where(angle.equals(0), nan, inverse + cos(angle) / sin(angle) * pi)
    # Close to 0 two of the three terms cancel.
    left = where(size < 1e-8, inverse - 0.5772156649015329, right + pole)
    value = where(x < 0, left, right)
    return where(x.equals(0), -1 / x, value)


def gamma(x: Lanes, is_single: bool) -> Lanes:
    """The gamma function; nan at -1, -2, ..."""
    size = absolute(x)
    is_large, is_left = size >= 8, x <= -1
    # By steps up or down to 2..3, also from -1..0.
    y = where(is_large, 2.0, where(is_left, size, x))
    below = y.like(1)
    for _ in range(3):
        is_below = y < 2
        below = where(is_below, below * y, below)
        y = where(is_below, y + 1, y)
    y, above = _lowered(y, 2.0, 5)
    near = polynomial(y * 2 - 5, fits.GAMMA_F32 if is_single else fits.GAMMA) * above / below
    # Stirling's formula. Two factors, as one power would overflow before the result.
    far = minimum(where(is_large, size, 8.0), 200)
    rest = polynomial(16 / far - 1, fits.GAMMA_FAR_F32 if is_single else fits.GAMMA_FAR) * (2 * pi) ** 0.5
    if is_single:
        first, second = where(is_large, exp((far - 0.5) * log(far) - far) * rest, near), near.like(1)
    else:
        half = power(far, far * 0.5 - 0.25)
        first, second = where(is_large, half * exp(-far) * rest, near), where(is_large, half, 1)
    # gamma(-s) = -pi / (s sin(pi s) gamma(s))
    whole = nearest(size)
    is_odd = ~(whole * 0.5).equals(floor(whole * 0.5))
    wave = sin((size - whole) * pi)
    reflected = (-pi) / (size * first * where(is_odd, -wave, wave)) / second
    reflected = where(wave.equals(0), nan, reflected)
    value = where(is_left, reflected, first * second)
    value = where(x.equals(0), 1 / x, value)
    return where((x > -inf) | x.is_nan(), where(x.is_nan(), x, value), nan)


def log_beta(a: Lanes, b: Lanes, is_single: bool) -> Lanes:
    """A. DiDonato and A. Morris, "Algorithm 708: Significant digit computation of the incomplete beta function ratios",
    1992, for large numbers: no large logarithms cancel."""
    low, high = minimum(a, b), maximum(a, b)
    total = low + high
    (first, one), (second, two), (third, three) = (_log_gamma_and_parts(x, is_single) for x in (low, high, total))
    value = first + second - third
    if not is_single:
        # For small positive numbers with one logarithm, whose argument is near 1 where the result is near 0.
        factors = [where(x < 1, 1 / y.factor, y.factor) for x, y in ((low, one), (high, two), (total, three))]
        together = one.center + two.center - three.center + log(factors[0] * factors[1] / factors[2])
        value = where((low > 1e-300) & (total < 9), together, value)
    # gamma(low) times gamma(high) / gamma(total), by Stirling's formula.
    is_far = (high >= (1e5 if is_single else 8.0)) & (total >= 8)
    large, rest_of = where(is_far, high, 16.0), where(is_far, low, 1.0)
    ratio, spread_total = rest_of / large, rest_of + large
    rest = stirling_rest(large, is_single) - stirling_rest(spread_total, is_single)
    spread = log1p(ratio)
    far = first + (rest - (large - 0.5) * spread - rest_of * log(spread_total) + rest_of)
    if not is_single:
        wide = maximum(rest_of, 8)
        both = stirling_rest(wide, is_single) + rest + HALF_LOG_TWO_PI - log(large) * 0.5
        both = both + (wide - 0.5) * log(ratio / (ratio + 1)) - large * spread
        far = where(low >= 10, both, far)
    value = where(is_far, far, value)
    value = where(high.equals(inf) & (low > 0), -inf, value)
    pole = low.equals(floor(low)) & (low <= 0)
    return where(low.is_nan() | high.is_nan(), nan, where(pole, inf, value))


FORMULAS = {
    special.lgamma: Formula(log_gamma, is_wide=True),
    special.digamma: Formula(digamma, is_wide=True),
    special.gamma: Formula(gamma, is_wide=True),
    special.betaln: Formula(log_beta, is_wide=True),
}
