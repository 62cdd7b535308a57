"""The modified Bessel functions of the first kind, scaled by exp(-|x|): polynomials up to 8 and in 1 / x beyond. Those
of the first kind of the first orders, by recurrences."""

from __future__ import annotations

from math import factorial, inf, log2, pi

from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import rules, special
from pycompiler.primitives.formulas import coefficients as fits
from pycompiler.primitives.formulas.lanes import Formula, Lanes, absolute, cos, polynomial, sin, sqrt, where

#: The greatest order of `bessel_j_orders`: the start of its recurrence is no number of float64 beyond 1 / 170!.
GREATEST_ORDER = 48


def _i0e(x: Lanes, is_single: bool) -> Lanes:
    size = absolute(x)
    fit = polynomial(size * 0.25 - 1, fits.I0E_NEAR_F32 if is_single else fits.I0E_NEAR)
    near = (fit * size + 1) / (size * 0.5 + 1)
    root = 1 / sqrt(size)
    far = polynomial(root * root * 16 - 1, fits.I0E_FAR_F32 if is_single else fits.I0E_FAR) * root
    return where(size <= 8, near, far)


def _i1e(x: Lanes, is_single: bool) -> Lanes:
    size = absolute(x)
    half = size * 0.5 + 1
    fit = polynomial(size * 0.25 - 1, fits.I1E_NEAR_F32 if is_single else fits.I1E_NEAR)
    near = (fit * size + 0.5) * x / (half * half)
    root = 1 / sqrt(size)
    far = polynomial(root * root * 16 - 1, fits.I1E_FAR_F32 if is_single else fits.I1E_FAR) * root
    return where(size <= 8, near, where(x < 0, -far, far))


def _by_descent(x: Lanes, orders: int, last: int) -> list[Lanes]:
    """The orders below `orders`, by Miller's recurrence from the order `last`, which vanishes there: DLMF 3.6(iii). It
    is that of (2 / x)^n J_n, so it has no division. The scale is the sum J_0 + 2 J_2 + 2 J_4 + ... = 1."""
    half = x * 0.5
    square = half * half
    scaled, above = x.like(1 / factorial(last)), x.like(0)
    total = scaled * 2
    found: list[Lanes] = []
    for n in range(last, 0, -1):
        scaled, above = scaled * n - square * above, scaled
        if n % 2:
            total = total * square + (scaled * 2 if n > 1 else scaled)
        if n <= orders:
            found.append(scaled)
    factor, result = 1 / total, list[Lanes]()
    for value in reversed(found):
        result.append(value * factor)
        factor = factor * half
    return result


def _by_ascent(x: Lanes, orders: int, is_single: bool) -> list[Lanes]:
    """The orders below `orders` for |x| >= 8, and not less than the orders: the first two by their modulus and phase,
    the others by the recurrence from these."""
    size = absolute(x)
    root = 1 / sqrt(size)
    inverse = root * root
    t = inverse * inverse * 128 - 1
    s, c = sin(size), cos(size)
    plus, minus, scale = s + c, s - c, root * pi**-0.5
    p, q = (fits.J0_P_F32, fits.J0_Q_F32) if is_single else (fits.J0_P, fits.J0_Q)
    result = [(polynomial(t, p) * plus - polynomial(t, q) * inverse * minus) * scale]
    p, q = (fits.J1_P_F32, fits.J1_Q_F32) if is_single else (fits.J1_P, fits.J1_Q)
    first = (polynomial(t, p) * minus + polynomial(t, q) * inverse * plus) * scale
    result.append(where(x < 0, -first, first))
    twice = 2 / x
    for n in range(1, orders - 1):
        result.append(twice * n * result[n] - result[n - 1])
    return result[:orders]


def _bessel_j_orders(x: Lanes, orders: int, is_single: bool) -> list[Lanes]:
    border = max(8, orders - 1)
    last = 2
    # The first order that vanishes up to the border.
    while last < orders or last * log2(border / 2) - log2(factorial(last)) > (-36 if is_single else -64):
        last += 2
    is_near, is_infinite = absolute(x) <= border, absolute(x).equals(inf)
    near = _by_descent(where(is_near, x, 1), orders, last)
    far = _by_ascent(where(is_near | is_infinite, border, x), orders, is_single)
    odd = where(x < 0, x.like(-0.0), 0)
    infinite = [x.like(0), odd]
    return [where(is_infinite, infinite[n % 2], where(is_near, near[n], far[n])) for n in range(orders)]


def bessel_j_orders(x: rules.Value, orders: int) -> list[rules.Value]:
    """The Bessel functions of the first kind of the orders 0 to orders - 1 <= GREATEST_ORDER, in float64."""
    dtype = get_aval(x).dtype
    is_single = dtype != rules.FLOAT64
    results = _bessel_j_orders(Lanes(x).to(rules.FLOAT64), orders, is_single)
    return [result.to(dtype).value for result in results]


FORMULAS = {special.bessel_i0e: Formula(_i0e), special.bessel_i1e: Formula(_i1e)}
