"""The modified Bessel functions of the first kind, scaled by exp(-|x|): polynomials up to 8 and in 1 / x beyond."""

from __future__ import annotations

from pycompiler.primitives import special
from pycompiler.primitives.formulas import coefficients as fits
from pycompiler.primitives.formulas.lanes import Formula, Lanes, absolute, polynomial, sqrt, where


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


FORMULAS = {special.bessel_i0e: Formula(_i0e), special.bessel_i1e: Formula(_i1e)}
