"""The Faddeeva function w(z) = exp(-z^2) erfc(-iz) of z = x + iy, by its real and imaginary parts, in float64."""

from __future__ import annotations

from math import exp as exp_of
from math import gamma as gamma_of
from math import nan, pi
from typing import NamedTuple

from pycompiler.primitives import special
from pycompiler.primitives.formulas.lanes import (
    Formula,
    Lanes,
    Mask,
    absolute,
    cos,
    exp,
    floor,
    maximum,
    minimum,
    sin,
    where,
)


class _Complex(NamedTuple):
    real: Lanes
    imag: Lanes

    def plus(self, other: _Complex) -> _Complex:
        return _Complex(self.real + other.real, self.imag + other.imag)

    def minus(self, other: _Complex) -> _Complex:
        return _Complex(self.real - other.real, self.imag - other.imag)

    def times(self, other: _Complex) -> _Complex:
        real = self.real * other.real - self.imag * other.imag
        return _Complex(real, self.real * other.imag + self.imag * other.real)

    def scaled(self, factor: float) -> _Complex:
        return _Complex(self.real * factor, self.imag * factor)

    def turned(self) -> _Complex:
        """i times the number."""
        return _Complex(-self.imag, self.real)

    def over(self, other: _Complex) -> _Complex:
        inverse = 1 / (other.real * other.real + other.imag * other.imag)
        real = self.real * other.real + self.imag * other.imag
        return _Complex(real * inverse, (self.imag * other.real - self.real * other.imag) * inverse)


def _either(mask: Mask, yes: _Complex, no: _Complex) -> _Complex:
    return _Complex(where(mask, yes.real, no.real), where(mask, yes.imag, no.imag))


def _far(z: _Complex, terms: int) -> _Complex:
    """The continued fraction of Laplace, as one quotient from its end."""
    one, zero = z.real.like(1), z.real.like(0)
    top, bottom = _Complex(zero, zero), _Complex(one, zero)
    for n in range(terms, 0, -1):
        top, bottom = bottom.scaled(n * 2.0**-7), z.times(bottom).minus(top).scaled(2.0**-6)
    return bottom.turned().over(z.times(bottom).minus(top)).scaled(pi**-0.5)


def _series(z: _Complex, terms: int) -> _Complex:
    """The sum of (iz)^n / gamma(n / 2 + 1), which preserves small imaginary parts."""
    turned, one = z.turned(), z.real.like(1)
    total = _Complex(one * (1 / gamma_of(terms / 2 + 1)), one * 0)
    for n in range(terms - 1, -1, -1):
        total = total.times(turned)
        total = _Complex(total.real + 1 / gamma_of(n / 2 + 1), total.imag)
    return total


def _sampled(z: _Complex, count: int) -> _Complex:
    """The trapezoidal rule of M. Al Azah and S. Chandler-Wilde, "Computation of the complex error function using
    modified trapezoidal rules", 2021, with a correction for the pole. The points lie between the multiples of h or on
    them; those farther from z are used."""
    x, y = z
    h = (pi / (count + 1)) ** 0.5
    ratio = x * (1 / h)
    phase = ratio - floor(ratio)
    is_high = y >= maximum(x, pi / h)
    is_between = is_high | (y >= x) | (phase < 0.25) | (phase > 0.75)
    total = _Complex(x * 0, x * 0)
    for k in range(count + 1):
        between, on = (k + 0.5) * h, k * h
        t = where(is_between, between, x.like(on))
        weight = where(is_between, exp_of(-between * between), x.like(exp_of(-on * on) * (0.5 if k == 0 else 1)))
        # z^2 - t^2 as a product, which preserves the digits of a small difference.
        real, imag = (x - t) * (x + t) - y * y, x * y * 2
        scale = weight / (real * real + imag * imag)
        total = _Complex(total.real + real * scale, total.imag - imag * scale)
    rule = z.times(total).turned().scaled(2 * h / pi)
    gauss = _gauss(x, y)
    # 1 + exp(-2 pi i z / h), or 1 minus it on the multiples.
    size, angle = exp(minimum(y, pi / h) * (2 * pi / h)), ratio * (-2 * pi)
    size = where(is_between, size, -size)
    correction = gauss.over(_Complex(size * cos(angle) + 1, size * sin(angle)))
    return _either(is_high, rule, rule.plus(correction))


def _gauss(x: Lanes, y: Lanes) -> _Complex:
    """2 exp(-z^2)."""
    size = exp((y - x) * (y + x)) * 2
    # The angle is infinite only if the size is 0, or if x is.
    is_plain = (size > 0) & (absolute(x) > 0)
    angle = where(is_plain, x * y * -2, 0)
    return _Complex(size * cos(angle), where(is_plain, size * sin(angle), 0))


def _first_quadrant(x: Lanes, y: Lanes, is_single: bool) -> _Complex:
    square = x * x + y * y
    is_far, is_near = square > 72, square < (1e-4 if is_single else 2.5e-3)
    # The continued fraction of larger numbers has no more than its first term, and the series of the others overflow.
    limit = 1e10
    far = _far(_Complex(minimum(x, limit), minimum(y, limit)), 7 if is_single else 15)
    outside = is_far | is_near
    middle = _sampled(_Complex(where(outside, 1.0, x), where(outside, 1.0, y)), 6 if is_single else 11)
    near = _series(_Complex(where(is_near, x, 0), where(is_near, y, 0)), 6 if is_single else 14)
    # On the axis the real part is exact.
    far = _Complex(where(y.equals(0), exp(-minimum(x, 100) * minimum(x, 100)), far.real), far.imag)
    return _either(is_far, far, _either(is_near, near, middle))


def _huge(x: Lanes, y: Lanes) -> _Complex:
    """i / (sqrt(pi) z), without overflow of the square."""
    greatest = maximum(x, y)
    scale = 1 / greatest
    first, second = x * scale, y * scale
    first, second = where(x.equals(greatest), 1, first), where(y.equals(greatest), 1, second)
    inverse = scale * pi**-0.5 / (first * first + second * second)
    return _Complex(second * inverse, first * inverse)


def _parts(x: Lanes, y: Lanes, is_single: bool) -> _Complex:
    size = _Complex(absolute(x), absolute(y))
    w = _first_quadrant(*size, is_single)
    greatest = maximum(*size)
    w = _either(greatest > 1e8, _huge(maximum(size.real, 1e-300), size.imag), w)
    w = _Complex(w.real, where(x < 0, -w.imag, w.imag))
    # w(-z) = 2 exp(-z^2) - w(z); the value above is that of the point mirrored at the real axis.
    gauss = _gauss(x, where(y < 0, y, 0))
    below = _Complex(gauss.real - w.real, where(x.equals(0), 0, gauss.imag + w.imag))
    w = _either(y < 0, below, w)
    missing = x.is_nan() | y.is_nan()
    return _Complex(where(missing, nan, w.real), where(missing, nan, w.imag))


def _wofz_real(x: Lanes, y: Lanes, is_single: bool) -> Lanes:
    return _parts(x, y, is_single).real


def _wofz_imag(x: Lanes, y: Lanes, is_single: bool) -> Lanes:
    return _parts(x, y, is_single).imag


FORMULAS = {
    special.wofz_real: Formula(_wofz_real, is_wide=True),
    special.wofz_imag: Formula(_wofz_imag, is_wide=True),
}
