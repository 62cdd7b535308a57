"""Complex functions that are compositions: squares, hyperbolic sines, inverse functions, logaddexp.

Each formula takes a number whose parts are not negative, and restores the signs afterwards. The sign of a zero chooses
the side of a cut, as in C99's Annex G. Infinities and nans follow that annex, too. Each function has a custom
derivative, because terms may have infinite derivatives where the derivative of the function is finite.

Hull, Fairgrieve, Tang: "Implementing the complex arcsine and arccosine functions using exception handling" (1997).
Kahan: "Branch cuts for complex elementary functions, or much ado about nothing's sign bit" (1987).
"""

import math
from typing import Any

import numpy as np

from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import PRIMITIVES
from pycompiler.primitives.complex import complex_, imag, real
from pycompiler.primitives.shape import full_like
from pycompiler.transforms import custom_jvp

Array = Any

_add, _sub, _mul, _div, _neg, _abs = (PRIMITIVES[name] for name in ("add", "sub", "mul", "div", "neg", "abs"))
_max, _min, _eq, _lt, _le, _select = (PRIMITIVES[name] for name in ("max", "min", "eq", "lt", "le", "select"))
_exp, _round, _ge = (PRIMITIVES[name] for name in ("exp", "round", "ge"))
_both, _either, _bitcast = (PRIMITIVES[name] for name in ("and", "or", "bitcast"))
_sqrt, _sin, _cos, _atan2, _log, _log1p = (PRIMITIVES[name] for name in ("sqrt", "sin", "cos", "atan2", "log", "log1p"))


def _parts(z: Array) -> tuple[Array, Array]:
    return real.bind(z), imag.bind(z)


def _sizes(z: Array) -> tuple[Array, Array]:
    """The magnitudes of the real and the imaginary part."""
    x, y = _parts(z)
    return _abs.bind(x), _abs.bind(y)


def _times(x: Array, factor: float) -> Array:
    return _mul.bind(x, full_like(x, factor))


def _plus(x: Array, summand: float) -> Array:
    return _add.bind(x, full_like(x, summand))


def _chosen(condition: Array, x: Array | float, y: Array) -> Array:
    return _select.bind(condition, full_like(y, x) if isinstance(x, int | float) else x, y)


def _is(x: Array, value: float) -> Array:
    return _eq.bind(x, full_like(x, value))


def _is_above(x: Array, bound: float) -> Array:
    return _lt.bind(full_like(x, bound), x)


def _is_below(x: Array, bound: float) -> Array:
    return _lt.bind(x, full_like(x, bound))


def _signed(size: Array, x: Array) -> Array:
    """A number that is not negative, with the sign of x, including the sign of a zero."""
    dtype = get_aval(x).dtype
    bits = np.dtype(f"uint{dtype.itemsize * 8}")
    whole, sign = (_bitcast.bind(number, new_dtype=bits) for number in (size, x))
    highest = full_like(sign, 1 << (dtype.itemsize * 8 - 1))
    return _bitcast.bind(_either.bind(whole, _both.bind(sign, highest)), new_dtype=dtype)


def _turned(z: Array) -> Array:
    """i z."""
    x, y = _parts(z)
    return complex_.bind(_neg.bind(y), x)


def _turned_back(z: Array) -> Array:
    """-i z."""
    x, y = _parts(z)
    return complex_.bind(y, _neg.bind(x))


def _beside_one(z: Array) -> tuple[Array, Array]:
    """1 - z and 1 + z; a zero imaginary part keeps its sign, or the other one."""
    x, y = _parts(z)
    return complex_.bind(_sub.bind(full_like(x, 1), x), _neg.bind(y)), complex_.bind(_plus(x, 1), y)


def _over_roots(t: Array, below: Array, above: Array) -> Array:
    """t divided by the roots of two numbers, one after the other, because their product may overflow."""
    return _div.bind(_div.bind(t, _sqrt.bind(below)), _sqrt.bind(above))


# Squares and hyperbolic sines.


@custom_jvp
def _square(z: Array) -> Array:
    x, y = _sizes(z)
    # The sum of equal magnitudes may overflow although the difference of their squares is 0.
    cancels = _both.bind(_eq.bind(x, y), _is_below(x, math.inf))
    half = _mul.bind(*_parts(z))
    difference = _mul.bind(_sub.bind(x, y), _add.bind(x, y))
    return complex_.bind(_chosen(cancels, 0, difference), _add.bind(half, half))


_square.defjvps(lambda t, out, z: _mul.bind(t, _add.bind(z, z)))


def square(z: Array) -> Array:
    """z * z, without overflow of intermediate values."""
    return _square(z)


def sinh(z: Array) -> Array:
    """-i sin(i z)."""
    return _turned_back(_sin.bind(_turned(z)))


def cosh(z: Array) -> Array:
    """cos(i z)."""
    return _cos.bind(_turned(z))


# Sums of logarithms.


@custom_jvp
def _logaddexp(x: Array, y: Array) -> Array:
    first = _ge.bind(real.bind(x), real.bind(y))
    greater, lesser = _select.bind(first, x, y), _select.bind(first, y, x)
    total = _add.bind(greater, _log1p.bind(_exp.bind(_sub.bind(lesser, greater))))
    # If the real parts are -inf, their difference is nan; the result is -inf.
    total = _select.bind(_is(real.bind(greater), -math.inf), greater, total)
    re, im = _parts(total)
    turns = _round.bind(_times(im, 0.5 / math.pi))
    return complex_.bind(re, _sub.bind(im, _times(turns, 2 * math.pi)))


@_logaddexp.defjvp
def _logaddexp_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    total = _logaddexp(*primals)
    terms: list[Array] = []
    for x, t in zip(primals, tangents, strict=True):
        difference = _select.bind(_eq.bind(x, total), full_like(x, 0), _sub.bind(x, total))
        terms.append(_mul.bind(t, _exp.bind(difference)))
    return total, _add.bind(*terms)


def logaddexp(x: Array, y: Array) -> Array:
    """log(exp(x) + exp(y)), with the imaginary part in -pi..pi."""
    return _logaddexp(x, y)


# Inverses of sines.


def _arc(x: Array, y: Array) -> tuple[Array, Array]:
    """Two values for x + iy in the first quadrant: the real part of sqrt(1 - z) sqrt(1 + z), and an imaginary part.

    The angle of the point (first value, x) is the real part of the inverse sine; the second value is its imaginary
    part.
    """
    limits = np.finfo(get_aval(x).dtype)
    huge, tiny = math.sqrt(float(limits.max)) / 8, math.sqrt(float(limits.tiny)) * 4
    above, below = _plus(x, 1), _plus(x, -1)
    # The distances from -1 and 1. Their mean is the greater half axis of an ellipse through z.
    far, near = _abs.bind(complex_.bind(above, y)), _abs.bind(complex_.bind(below, y))
    axis = _times(_add.bind(far, near), 0.5)
    wide, gap = _add.bind(far, above), _add.bind(near, _abs.bind(below))
    square, half = _mul.bind(y, y), _times(_add.bind(axis, x), 0.5)
    rest = _div.bind(square, wide)
    inner = _sqrt.bind(_mul.bind(half, _add.bind(rest, gap)))
    outer = _mul.bind(y, _sqrt.bind(_add.bind(_div.bind(half, wide), _div.bind(half, gap))))
    root = _chosen(_is_above(x, 1), outer, inner)

    # The axis minus 1, without a subtraction if the axis is close to 1.
    is_left = _is_below(x, 1)
    between = _chosen(_is_below(axis, 1.5), _times(_add.bind(rest, _div.bind(square, gap)), 0.5), _plus(axis, -1))
    excess = _chosen(is_left, between, _times(_add.bind(rest, gap), 0.5))
    grown = _add.bind(excess, _sqrt.bind(_mul.bind(excess, _plus(axis, 1))))
    # For huge numbers, the length is log 2|z|. A quarter of |z| does not overflow, and the addition of 1 does not
    # change it.
    is_huge = _is_above(_max.bind(x, y), huge)
    quarter = _abs.bind(complex_.bind(_times(x, 0.25), _times(y, 0.25)))
    length = _log1p.bind(_chosen(is_huge, quarter, grown))
    length = _add.bind(length, _chosen(is_huge, math.log(8), full_like(x, 0)))
    flat = _div.bind(y, _sqrt.bind(_mul.bind(_sub.bind(full_like(x, 1), x), above)))
    length = _chosen(_both.bind(is_left, _is_below(y, tiny)), flat, length)
    length = _chosen(_either.bind(_is(x, math.inf), _is(y, math.inf)), math.inf, length)
    # On the imaginary axis the angle is 0, for any imaginary part.
    return _chosen(_is(x, 0), 1, _chosen(is_huge, y, root)), length


@custom_jvp
def _asin(z: Array) -> Array:
    x, y = _parts(z)
    size = _abs.bind(x)
    root, length = _arc(size, _abs.bind(y))
    return complex_.bind(_signed(_atan2.bind(size, root), x), _signed(length, y))


_asin.defjvps(lambda t, out, z: _over_roots(t, *_beside_one(z)))


def asin(z: Array) -> Array:
    """Cuts on the real axis outside -1..1."""
    return _asin(z)


@custom_jvp
def _acos(z: Array) -> Array:
    x, y = _parts(z)
    root, length = _arc(*_sizes(z))
    return complex_.bind(_atan2.bind(root, x), _signed(length, _neg.bind(y)))


_acos.defjvps(lambda t, out, z: _neg.bind(_over_roots(t, *_beside_one(z))))


def acos(z: Array) -> Array:
    """Cuts on the real axis outside -1..1."""
    return _acos(z)


@custom_jvp
def _acosh(z: Array) -> Array:
    x, y = _parts(z)
    root, length = _arc(*_sizes(z))
    return complex_.bind(length, _signed(_atan2.bind(root, x), y))


def _acosh_slope(t: Array, out: Array, z: Array) -> Array:
    x, y = _parts(z)
    return _over_roots(t, complex_.bind(_plus(x, -1), y), complex_.bind(_plus(x, 1), y))


_acosh.defjvps(_acosh_slope)


def acosh(z: Array) -> Array:
    """A cut on the real axis below 1."""
    return _acosh(z)


def asinh(z: Array) -> Array:
    """-i asin(i z)."""
    return _turned_back(asin(_turned(z)))


# Inverses of tangents.


@custom_jvp
def _atanh(z: Array) -> Array:
    x, y = _sizes(z)
    limits = np.finfo(get_aval(x).dtype)
    huge, tiny = math.sqrt(float(limits.max)) / 8, math.sqrt(float(limits.tiny)) * 4
    rest, square = _sub.bind(full_like(x, 1), x), _mul.bind(y, y)
    distance = _add.bind(_mul.bind(rest, rest), square)
    # At 1, the square of the distance may underflow. log(2 / y) / 2 uses a fraction of 2 / y, which doesn't overflow.
    is_pole, bits = _both.bind(_is(x, 1), _is_below(y, tiny)), limits.nmant + 1
    inner = _chosen(is_pole, _div.bind(full_like(y, 0.5**bits), y), _div.bind(_times(x, 4), distance))
    growth = _mul.bind(_log1p.bind(inner), _chosen(is_pole, 0.5, full_like(x, 0.25)))
    growth = _add.bind(growth, _chosen(is_pole, (bits + 1) * math.log(2) / 2, full_like(x, 0)))
    angle = _times(_atan2.bind(_times(y, 2), _sub.bind(_mul.bind(rest, _plus(x, 1)), square)), 0.5)

    greater, lesser = _max.bind(x, y), _min.bind(x, y)
    is_huge, is_high = _is_above(greater, huge), _is(y, math.inf)
    ratio = _div.bind(lesser, greater)
    # x / (x^2 + y^2)
    decay = _div.bind(_div.bind(_div.bind(x, greater), greater), _plus(_mul.bind(ratio, ratio), 1))
    growth = _chosen(is_huge, decay, growth)
    vanishes = _either.bind(_is(x, 0), _either.bind(_is(x, math.inf), is_high))
    growth = _chosen(vanishes, 0, growth)
    angle = _chosen(_either.bind(is_huge, is_high), math.pi / 2, angle)
    return complex_.bind(_signed(growth, real.bind(z)), _signed(angle, imag.bind(z)))


def _atanh_slope(t: Array, out: Array, z: Array) -> Array:
    below, above = _beside_one(z)
    return _div.bind(_div.bind(t, below), above)


_atanh.defjvps(_atanh_slope)


def atanh(z: Array) -> Array:
    """log((1 + z) / (1 - z)) / 2, with cuts on the real axis outside -1..1."""
    return _atanh(z)


def atan(z: Array) -> Array:
    """-i atanh(i z)."""
    return _turned_back(atanh(_turned(z)))
