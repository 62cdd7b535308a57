"""Special functions of complex numbers: the Faddeeva function, spherical harmonics, the logarithm of gamma.

They are compositions of functions of the real and imaginary parts.
"""

import operator
from math import log, pi
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.config.config import enable_x64
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax.barriers import optimization_barrier
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import broadcast_to, cast, check_arrays
from pycompiler.numpy import movement
from pycompiler.numpy.promotion import mixed_inexact, never_weak, promoted, promoted_inexact
from pycompiler.primitives import special as ops
from pycompiler.primitives.complex import complex_, imag, real
from pycompiler.primitives.shape import full_like
from pycompiler.transforms import custom_jvp


def is_complex(x: Any) -> bool:
    """Whether the array is complex."""
    return dtypes.is_complex(get_aval(x).dtype)


@never_weak
def wofz(z: Any) -> Array:
    """The Faddeeva function exp(-z**2) erfc(-i z) of complex z; real numbers are converted to complex ones."""
    (z,) = promoted_inexact("wofz", z)
    return eager_jit(_wofz if is_complex(z) else _wofz_of_real, z)


@custom_jvp
def _wofz_of_real(x: Array) -> Array:
    """exp(-x**2) + 2i / sqrt(pi) F(x), with Dawson's integral F, in float64."""
    part = dtypes.real_part(dtypes.with_parts(get_aval(x).dtype))
    with enable_x64(True):
        wide = cast(x, dtypes.float64)
        real_part, imag_part = lax.exp(lax.neg(lax.square(wide))), lax.mul(ops.dawsn.bind(wide), 2 / pi**0.5)
        return complex_.bind(cast(real_part, part), cast(imag_part, part))


@_wofz_of_real.defjvp
def _wofz_of_real_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    w = _wofz_of_real(*primals)
    part = dtypes.real_part(get_aval(w).dtype)
    (x,), (t,) = ([cast(value, part) for value in values] for values in (primals, tangents))
    return w, lax.mul(_wofz_slope(complex_.bind(x, full_like(x, 0)), w), complex_.bind(t, full_like(t, 0)))


def _wofz_slope(z: Array, w: Array) -> Array:
    """2i / sqrt(pi) - 2 z w, which needs no other value of the function."""
    product = lax.mul(lax.mul(z, w), -2)
    return complex_.bind(real.bind(product), lax.add(imag.bind(product), 2 / pi**0.5))


def _wofz(z: Array) -> Array:
    return _faddeeva(real.bind(z), imag.bind(z))


@custom_jvp
def _faddeeva(x: Array, y: Array) -> Array:
    # Three loops: one loop for both parts would need too many registers, and many temporary arrays.
    x, y = optimization_barrier((x, y))
    x, y, first = optimization_barrier((x, y, ops.wofz_real.bind(x, y)))
    return complex_.bind(*optimization_barrier((first, ops.wofz_imag.bind(x, y))))


@_faddeeva.defjvp
def _faddeeva_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    w = _faddeeva(*primals)
    return w, lax.mul(_wofz_slope(complex_.bind(*primals), w), complex_.bind(*tangents))


def complex_erfcx(z: Any) -> Array:
    """erfcx of a complex array: the Faddeeva function of i z."""
    return _faddeeva(lax.neg(imag.bind(z)), real.bind(z))


def sph_harm_y(n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None) -> Array:
    """The spherical harmonic of degree n >= 0 and order m, both integers, at the polar angle theta and the azimuth phi.
    theta may lie outside of 0..pi.

    The functions are orthonormal on the sphere, with the phase of Condon and Shortley; 0 if abs(m) > n, which includes
    negative n. The arguments broadcast. A degree above n_max, a Python integer, counts as n_max. NotImplementedError
    for diff_n.
    """
    if diff_n is not None:
        raise NotImplementedError("sph_harm_y: diff_n is not supported; differentiate with grad or jacfwd")
    n, m = promoted("sph_harm_y", n, m)
    for what, given in (("degree", n), ("order", m)):
        if not dtypes.is_integer(get_aval(given).dtype):
            raise TypeError(f"sph_harm_y: the {what} must be of integers, got {short(get_aval(given))}; convert it")
    if n_max is not None:
        n = lax.min(n, cast(operator.index(n_max), get_aval(n).dtype))
    check_arrays("sph_harm_y", theta, phi)
    n, m, theta, phi = mixed_inexact("sph_harm_y", n, m, movement.atleast_1d(theta), phi)
    return eager_jit(_sph_harm_y, n, m, theta, phi)


def _sph_harm_y(n: Array, m: Array, theta: Array, phi: Array) -> Array:
    none = lax.lt(n, 0)
    # The polar angle in 0..pi with the same cosine. The result depends only on the cosine.
    turned = lax.sub(theta, lax.mul(lax.round(lax.mul(theta, 1 / (2 * pi)), 1), 2 * pi))
    folded = lax.select(lax.lt(turned, 0), lax.neg(turned), turned)
    size = ops.sph_legendre.bind(lax.select(none, 0, n), m, folded)
    size, angle = lax.select(none, 0, size), lax.mul(m, phi)
    return complex_.bind(lax.mul(size, lax.cos(angle)), lax.mul(size, lax.sin(angle)))


def complex_loggamma(z: Any) -> Array:
    """The principal branch of log gamma of a complex array; nan at 0, -1, -2, ...

    Stirling's formula (DLMF 5.11.1) computes it. Near 0, where the formula is inaccurate, 8 steps of the recurrence
    come first. On the left half plane, the reflection of D. Hare, "Computing the principal branch of log-Gamma", 1997,
    comes first.
    """
    x, y = real.bind(z), imag.bind(z)
    near_axis = lax.lt(lax.abs(y), 8)
    left = lax.bitwise_and(near_axis, lax.lt(x, 0.1))
    # On the left half plane, 1 - z replaces z.
    right_x = lax.select(left, lax.sub(1, x), x)
    right_y = lax.select(left, lax.neg(y), y)
    close = lax.bitwise_and(near_axis, lax.lt(right_x, 8))
    steps = _zero(z)
    for k in range(8):
        steps = lax.add(steps, lax.log(complex_.bind(lax.add(right_x, k), right_y)))
    moved = complex_.bind(lax.select(close, lax.add(right_x, 8), right_x), right_y)
    value = lax.sub(_stirling(moved), lax.select(close, steps, _zero(z)))
    reflected = lax.sub(_reflection(x, y, left), value)
    result = lax.select(left, reflected, value)
    pole = lax.bitwise_and(lax.eq(y, 0), lax.bitwise_and(lax.le(x, 0), lax.eq(x, lax.floor(x))))
    return lax.select(pole, _constant(z, complex(np.nan, np.nan)), result)


def _stirling(z: Array) -> Array:
    # B(2k) / (2k (2k - 1)).
    coefficients = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400]
    inverse = lax.div(_constant(z, 1), z)
    square, rest = lax.mul(inverse, inverse), _constant(z, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        rest = lax.add(lax.mul(rest, square), _constant(z, coefficient))
    main = lax.sub(lax.mul(lax.sub(z, _constant(z, 0.5)), lax.log(z)), z)
    return lax.add(lax.add(main, _constant(z, log(2 * pi) / 2)), lax.mul(rest, inverse))


def _reflection(x: Array, y: Array, left: Array) -> Array:
    """log(pi / sin(pi z)) on the branch that continues log gamma from the right."""
    # Elsewhere 1/2 replaces z, because unselected values must have a derivative, too.
    x = lax.select(left, x, broadcast_to(cast(0.5, get_aval(x).dtype), get_aval(x).shape))
    # sin(pi z) uses the distance to the nearest integer, so that it is accurate near its zeros.
    nearest = lax.round(x)
    turn = lax.mul(lax.sub(x, nearest), pi)
    odd = lax.ne(lax.rem(nearest, 2), 0)
    height = lax.mul(lax.select(left, y, broadcast_to(cast(0, get_aval(y).dtype), get_aval(y).shape)), pi)
    sine, cosine = lax.mul(lax.sin(turn), lax.cosh(height)), lax.mul(lax.cos(turn), lax.sinh(height))
    sine, cosine = (lax.select(odd, lax.neg(part), part) for part in (sine, cosine))
    logarithm = lax.log(complex_.bind(sine, cosine))
    # Whole turns that the principal logarithm does not include.
    turns = lax.mul(lax.floor(lax.add(lax.mul(x, 0.5), 0.25)), 2 * pi)
    turns = lax.select(_is_negative(y), lax.neg(turns), turns)
    return complex_.bind(lax.sub(log(pi), real.bind(logarithm)), lax.sub(turns, imag.bind(logarithm)))


def _is_negative(y: Array) -> Array:
    """Whether y is below 0 or the negative zero."""
    return lax.bitwise_or(lax.lt(y, 0), lax.bitwise_and(lax.eq(y, 0), lax.lt(lax.div(1, y), 0)))


def complex_gamma(z: Any) -> Array:
    """gamma of a complex array."""
    return lax.exp(complex_loggamma(z))


def _constant(z: Array, value: complex) -> Array:
    aval = get_aval(z)
    return broadcast_to(np.asarray(value, aval.dtype), aval.shape)


def _zero(z: Array) -> Array:
    return _constant(z, 0)
