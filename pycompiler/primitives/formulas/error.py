"""Relatives of the error function: erfcx, Dawson's integral, the normal distribution's logarithm and quantile."""

from __future__ import annotations

from math import inf, nan

from pycompiler.primitives import rules, special
from pycompiler.primitives.formulas import coefficients as fits
from pycompiler.primitives.formulas.lanes import (
    Formula,
    Lanes,
    absolute,
    exp_of_square,
    log,
    log1p,
    minimum,
    polynomial,
    sqrt,
    where,
)


def erfcx_of_positive(x: Lanes, is_single: bool) -> Lanes:
    """exp(x^2) erfc(x) for x >= 0: a polynomial in (x - k) / (x + k), divided by 1 + 2x. See M. Shepherd and J.
    Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x) in 0 <= x < inf", 1981."""
    if is_single:  # one division, whose denominator is finite for numbers of float32
        x = minimum(x, 1e100)
        first, second = x + 3.75, x * 2 + 1
        inverse = 1 / (first * second)
        return polynomial(1 - second * inverse * 7.5, fits.ERFCX_F32) * (first * inverse)
    return polynomial(1 - 7.5 / (x + 3.75), fits.ERFCX) / (x * 2 + 1)


def _erfcx(x: Lanes, is_single: bool) -> Lanes:
    right = erfcx_of_positive(absolute(x), is_single)
    # Beyond 27 the exponential is infinite.
    below = where(x < -27, -27, x)
    return where(x < 0, exp_of_square(below, 1.0, is_single) * 2 - right, right)


def _dawsn(x: Lanes, is_single: bool) -> Lanes:
    size, square, inverse = absolute(x), x * x, 1 / x
    t = square * 0.32 - 1
    if is_single:  # the quotient keeps the fit's values near 1
        near = polynomial(t, fits.DAWSON_NARROW_F32) * x / (square + 1)
        middle, far = fits.DAWSON_MIDDLE_F32, fits.DAWSON_FAR_F32
    else:
        near = polynomial(t, fits.DAWSON_NEAR) * x
        middle, far = fits.DAWSON_MIDDLE, fits.DAWSON_FAR
    outer = where(size < 5, polynomial(size * 0.8 - 3, middle), polynomial(inverse * inverse * 50 - 1, far))
    return where(size < 2.5, near, outer * inverse)


def _log_ndtr(x: Lanes, is_single: bool) -> Lanes:
    half = erfcx_of_positive(absolute(x) * 0.5**0.5, is_single) * 0.5
    # On the right, 1 minus the upper tail; on the left, the logarithm of a half of erfcx, and of the exponential.
    right = where(x > 0, x, 0)
    tail = half * exp_of_square(minimum(right, 64), -0.5, is_single)
    if is_single:  # the logarithms in float32, of exact numbers
        left = log(half.to(rules.FLOAT32)) - (x * x * 0.5).to(rules.FLOAT32)
        return where(x.to(rules.FLOAT32) > 0, log1p(-tail.to(rules.FLOAT32)), left)
    # Far on the left, where 1 - half is 1, the square is all that counts.
    value = log1p(where(x > 0, -tail, where(half < 2.0**-53, 2.0**-53, half) - 1))
    return where(x > 0, value, value - x * x * 0.5)


# M. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", 1988, PPND16: numerators and
# denominators for |p - 1/2| <= 0.425, and for the root of -log p up to 5 and beyond.
# fmt: off
_NUMERATORS = (
    (3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946,
     45921.95393154987, 67265.7709270087, 33430.57558358813, 2509.0809287301227),
    (1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045,
     1.2704582524523684, 0.2417807251774506, 0.022723844989269184, 0.0007745450142783414),
    (6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487,
     0.026532189526576124, 0.0012426609473880784, 2.7115555687434876e-05, 2.0103343992922881e-07),
)
_DENOMINATORS = (
    (1.0, 42.31333070160091, 687.1870074920579, 5394.196021424751,
     21213.794301586597, 39307.89580009271, 28729.085735721943, 5226.495278852854),
    (1.0, 2.053191626637759, 1.6763848301838038, 0.6897673349851,
     0.14810397642748008, 0.015198666563616457, 0.0005475938084995345, 1.0507500716444169e-09),
    (1.0, 0.599832206555888, 0.1369298809227358, 0.014875361290850615,
     0.0007868691311456133, 1.8463183175100548e-05, 1.421511758316446e-07, 2.0442631033899397e-15),
)
# fmt: on


def _ndtri(p: Lanes, is_single: bool) -> Lanes:
    offset = p - 0.5
    is_inner = absolute(offset) <= 0.425
    root = sqrt(-log(minimum(p, 1 - p)))
    if is_single:
        center = polynomial(offset * offset * (2 / 0.425**2) - 1, fits.NDTRI_INNER_F32) * offset
        tail = polynomial((2 - 1.055 - 4 / (root + 1)) * (1 / 0.595), fits.NDTRI_OUTER_F32) * root
        value = where(is_inner, center, where(offset < 0, -tail, tail))
        return _with_ends(p, value)
    inner, near, far = 0.180625 - offset * offset, root - 1.6, root - 5
    is_near = root <= 5

    def side(rows: tuple[tuple[float, ...], ...]) -> Lanes:
        tail = where(is_near, polynomial(near, rows[1]), polynomial(far, rows[2]))
        return where(is_inner, polynomial(inner, rows[0]), tail)

    ratio = side(_NUMERATORS) / side(_DENOMINATORS)
    value = where(is_inner, ratio * offset, where(offset < 0, -ratio, ratio))
    return _with_ends(p, value)


def _with_ends(p: Lanes, value: Lanes) -> Lanes:
    value = where(p.equals(0), -inf, where(p.equals(1), inf, value))
    return where((p >= 0) & (p <= 1), value, nan)


FORMULAS = {
    special.erfcx: Formula(_erfcx, is_wide=True),
    special.dawsn: Formula(_dawsn),
    special.log_ndtr: Formula(_log_ndtr, is_wide=True),
    special.ndtri: Formula(_ndtri),
}
