"""Functions of complex numbers that are composed of others: hyperbolic sines and the inverses.

Kahan, "Branch cuts for complex elementary functions, or much ado about nothing's sign bit" (1987): the sign of a zero
chooses the side of a cut, so that 1 - z is taken apart from the imaginary part, whose zero keeps its sign.
"""

from typing import Any

from pycompiler.ops import PRIMITIVES
from pycompiler.ops.complex import complex_, conj, imag, real
from pycompiler.ops.shape import full_like

Array = Any

_add, _sub, _mul, _div, _neg = (PRIMITIVES[name] for name in ("add", "sub", "mul", "div", "neg"))
_sqrt, _sin, _cos, _atan2, _log1p = (PRIMITIVES[name] for name in ("sqrt", "sin", "cos", "atan2", "log1p"))
_abs, _select, _lt, _asinh = (PRIMITIVES[name] for name in ("abs", "select", "lt", "asinh"))


def _parts(z: Array) -> tuple[Array, Array]:
    return real.bind(z), imag.bind(z)


def _times(x: Array, factor: float) -> Array:
    return _mul.bind(x, full_like(x, factor))


def _plus(x: Array, summand: float) -> Array:
    return _add.bind(x, full_like(x, summand))


def _turned(z: Array) -> Array:
    """i z."""
    x, y = _parts(z)
    return complex_.bind(_neg.bind(y), x)


def _turned_back(z: Array) -> Array:
    """-i z."""
    x, y = _parts(z)
    return complex_.bind(y, _neg.bind(x))


def _roots(z: Array) -> tuple[Array, Array]:
    """The square roots of 1 - z and 1 + z."""
    x, y = _parts(z)
    below = complex_.bind(_sub.bind(full_like(x, 1), x), _neg.bind(y))
    return _sqrt.bind(below), _sqrt.bind(complex_.bind(_plus(x, 1), y))


def sinh(z: Array) -> Array:
    """-i sin(i z)."""
    return _turned_back(_sin.bind(_turned(z)))


def cosh(z: Array) -> Array:
    """cos(i z)."""
    return _cos.bind(_turned(z))


def asin(z: Array) -> Array:
    """Cuts on the real axis outside -1..1."""
    below, above = _roots(z)
    angle = _atan2.bind(real.bind(z), real.bind(_mul.bind(below, above)))
    return complex_.bind(angle, _asinh.bind(imag.bind(_mul.bind(conj(below), above))))


def acos(z: Array) -> Array:
    """Cuts on the real axis outside -1..1."""
    below, above = _roots(z)
    angle = _times(_atan2.bind(real.bind(below), real.bind(above)), 2)
    return complex_.bind(angle, _asinh.bind(imag.bind(_mul.bind(conj(above), below))))


def acosh(z: Array) -> Array:
    """A cut on the real axis below 1."""
    x, y = _parts(z)
    below, above = _sqrt.bind(complex_.bind(_plus(x, -1), y)), _sqrt.bind(complex_.bind(_plus(x, 1), y))
    angle = _times(_atan2.bind(imag.bind(below), real.bind(above)), 2)
    return complex_.bind(_asinh.bind(real.bind(_mul.bind(conj(below), above))), angle)


def asinh(z: Array) -> Array:
    """-i asin(i z)."""
    return _turned_back(asin(_turned(z)))


def atanh(z: Array) -> Array:
    """log((1 + z) / (1 - z)) / 2, with cuts on the real axis outside -1..1."""
    x, y = _parts(z)
    size = _abs.bind(x)
    rest = _sub.bind(full_like(x, 1), size)
    square = _mul.bind(y, y)
    distance = _add.bind(_mul.bind(rest, rest), square)
    growth = _times(_log1p.bind(_div.bind(_times(size, 4), distance)), 0.25)
    signed = _select.bind(_lt.bind(x, full_like(x, 0)), _neg.bind(growth), growth)
    angle = _times(_atan2.bind(_times(y, 2), _sub.bind(_mul.bind(rest, _plus(size, 1)), square)), 0.5)
    return complex_.bind(signed, angle)


def atan(z: Array) -> Array:
    """-i atanh(i z)."""
    return _turned_back(atanh(_turned(z)))
