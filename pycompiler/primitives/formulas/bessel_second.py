"""Bessel functions of the second kind, of the orders 0 and 1, and Airy's function Ai: near 0 by polynomials, Y and K
with a logarithm, beyond by their modulus and phase, or scaled by an exponential. All compute in float64."""

from __future__ import annotations

from math import inf, nan, pi

from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import rules, special
from pycompiler.primitives.formulas import bessel
from pycompiler.primitives.formulas import coefficients as first
from pycompiler.primitives.formulas import coefficients_second as fits
from pycompiler.primitives.formulas.lanes import Lanes, absolute, cos, exp, log, polynomial, sin, sqrt, where

__all__ = ["airy_ai", "bessel_k", "bessel_y"]


def bessel_y(x: rules.Value, order: int) -> rules.Value:
    """The Bessel function of the second kind of the order 0 or 1: -inf at 0, nan below."""
    wide = Lanes(x).to(rules.FLOAT64)
    # The near part is that of the last border: 8.
    regular = Lanes(bessel.bessel_j_orders(where(wide <= 8, wide, 8).value, order + 1)[order])
    square = wide * wide
    t = square * (1 / 32) - 1
    near = regular * log(wide) * (2 / pi)
    if order:
        near = near + polynomial(t, fits.Y1_NEAR) * wide - (2 / pi) / wide
    else:
        near = near + polynomial(t, fits.Y0_NEAR)
    # DLMF 10.17.4
    root = 1 / sqrt(wide)
    inverse = root * root
    t = inverse * inverse * 128 - 1
    s, c = sin(wide), cos(wide)
    plus, minus, scale = s + c, s - c, root * pi**-0.5
    if order:
        far = polynomial(t, first.J1_Q) * inverse * minus - polynomial(t, first.J1_P) * plus
    else:
        far = polynomial(t, first.J0_P) * minus + polynomial(t, first.J0_Q) * inverse * plus
    made = where(wide <= 8, near, far * scale)
    made = where(wide.equals(inf), 0, where(wide.equals(0), -inf, where(wide < 0, nan, made)))
    return made.to(get_aval(x).dtype).value


def bessel_k(x: rules.Value, order: int, *, scaled: bool) -> rules.Value:
    """The modified Bessel function of the second kind of the order 0 or 1, times exp(x) if `scaled`: inf at 0, nan
    below."""
    wide = Lanes(x).to(rules.FLOAT64)
    small = where(wide <= 2, wide, 2)
    t = small * small * 0.5 - 1
    regular = Lanes((special.bessel_i1e if order else special.bessel_i0e).bind(small.value)) * exp(small)
    logarithm = log(small * 0.5) * regular
    near = logarithm + polynomial(t, fits.K1_NEAR) / small if order else polynomial(t, fits.K0_NEAR) - logarithm
    root = 1 / sqrt(wide)
    far = polynomial(4 / wide - 1, fits.K1_FAR if order else fits.K0_FAR) * root
    if scaled:
        made = where(wide <= 2, near * exp(small), far)
    else:
        made = where(wide <= 2, near, far * exp(-wide))
    made = where(wide.equals(inf), 0, where(wide.equals(0), inf, where(wide < 0, nan, made)))
    return made.to(get_aval(x).dtype).value


def airy_ai(x: rules.Value) -> rules.Value:
    """Airy's function Ai, which vanishes at the infinities."""
    wide = Lanes(x).to(rules.FLOAT64)
    size = absolute(wide)
    near = polynomial((wide + 1) * (1 / 3), fits.AIRY_NEAR)
    zeta = size * sqrt(size) * (2 / 3)
    inverse = 1 / zeta
    root = 1 / sqrt(sqrt(size))
    right = polynomial(inverse * (2 * _RIGHT) - 1, fits.AIRY_FAR) * exp(-zeta) * root * (0.5 * pi**-0.5)
    t = inverse * inverse * (2 * _LEFT * _LEFT) - 1
    s, c = sin(zeta), cos(zeta)
    left = polynomial(t, fits.AIRY_P) * (c + s) + polynomial(t, fits.AIRY_Q) * inverse * (s - c)
    made = where(wide > 2, right, where(wide < -4, left * root * (2 * pi) ** -0.5, near))
    return where(size.equals(inf), 0, made).to(get_aval(x).dtype).value


# The borders of Airy's function, 2 and -4, as zeta = 2/3 |x|^(3/2).
_RIGHT, _LEFT = 2 / 3 * 2**1.5, 16 / 3
