"""The incomplete gamma functions and their derivative by the shape for shapes a up to 1, in float64.

Below x = 1.1, P = w (1 - v) for w = x^a / gamma(a + 1) and the series v of -a (-x)^n / ((a + n) n!), which also serves
where a vanishes. Above, Q is a w exp(-x) / x times Legendre's continued fraction x / (x + 1 - a - 1 (1 - a) / (x + 3 -
a - ...)). In both, powers have short exponents, so float64 is enough for results of float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives.formulas import coefficients as fits
from pycompiler.primitives.formulas.gamma import digamma_between
from pycompiler.primitives.formulas.lanes import Lanes, Mask, exp, expm1, log, polynomial, power, where
from pycompiler.primitives.formulas.legendre import fraction, fraction_and_slope
from pycompiler.primitives.formulas.loops import if_any

_FAR = 1.1


class _Split(NamedTuple):
    """The arguments on both sides of `_FAR`, with harmless ones elsewhere."""

    is_far: Mask
    near: Lanes
    far: Lanes


def _split(x: Lanes) -> _Split:
    is_far = x >= _FAR
    return _Split(is_far, where(is_far, 1.0, x), where(is_far, x, _FAR))


def _center(a: Lanes, is_single: bool) -> Lanes:
    """log(gamma(a + 1)) / a."""
    return (a - 1) * polynomial(a - 1, fits.LOG_GAMMA_F32 if is_single else fits.LOG_GAMMA)


def _ratio(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    """w = x^a / gamma(a + 1). One exponential loses digits by its rounded exponent, which only float32 affords."""
    if is_single:
        return exp(a * (log(x) - _center(a, is_single)))
    return power(x, a) * exp(-(a * _center(a, is_single)))


def _terms(a: Lanes, x: Lanes, is_single: bool) -> list[tuple[int, Lanes, Lanes]]:
    """n, (-x)^n / n! and 1 / (a + n) for the terms of v."""
    found: list[tuple[int, Lanes, Lanes]] = []
    term = x.like(1)
    for n in range(1, 15 if is_single else 20):
        term = term * x * (-1 / n)
        found.append((n, term, 1 / (a + n)))
    return found


def _series(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    """v, for x < 1.1."""
    total = x.like(0)
    for _, term, inverse in _terms(a, x, is_single):
        total = total - term * inverse
    return total * a


def _count(split: _Split, is_single: bool) -> Lanes:
    """The terms of the continued fraction: the error after n of them is about exp(-4 sqrt(n x))."""
    return where(split.is_far, split.far.like(40 if is_single else 80), 0)


def lower(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    """P within its domain."""
    split = _split(x)
    ratio = _ratio(a, x, is_single)
    far = 1 - ratio * exp(-split.far) * (a / split.far) * fraction(a, split.far, _count(split, is_single))
    return where(split.is_far, far, ratio * (1 - _series(a, split.near, is_single)))


def upper(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    """Q within its domain."""
    split = _split(x)
    far = _ratio(a, split.far, is_single) * exp(-split.far) * (a / split.far)
    far = far * fraction(a, split.far, _count(split, is_single))
    v = _series(a, split.near, is_single)
    u = expm1(a * (log(split.near) - _center(a, is_single)))
    return where(split.is_far, far, v - u * (1 - v))


class _Slopes(NamedTuple):
    """dP/da is w times `near` below 1.1, and -w exp(-x) times `far` above."""

    split: _Split
    near: Lanes
    far: Lanes


def _slopes(a: Lanes, x: Lanes, is_single: bool) -> _Slopes:
    split = _split(x)
    rate = log(x) - digamma_between(a + 1, is_single)
    value, slope = x.like(1), x.like(0)
    for n, term, inverse in _terms(a, split.near, is_single):
        value = value + a * term * inverse
        slope = slope + n * term * inverse * inverse
    value_far, rise = fraction_and_slope(a, split.far, _count(split, is_single))
    return _Slopes(split, value * rate + slope, ((a * rate + 1) * value_far + a * rise) / split.far)


def slope_by_shape(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    """dP/da for a > 0 and finite x > 0."""
    split, near, far = _slopes(a, x, is_single)
    return _ratio(a, x, is_single) * where(split.is_far, -(exp(-split.far) * far), near)


def sample_slope(a: Lanes, x: Lanes, is_single: bool) -> Lanes:
    """-(dP/da) / (dP/dx), the derivative of a sample of the gamma distribution by its shape."""
    split, near, far = _slopes(a, x, is_single)
    return where(split.is_far, split.far * far, -(split.near * exp(split.near) * near)) / a


def by_shape(
    primitive: Primitive,
    small: Callable[[Lanes, Lanes, bool], Lanes],
    large: Callable[[Lanes, Lanes], Lanes],
    a: Lanes,
    x: Lanes,
    is_single: bool,
) -> Lanes:
    """small(a, x, is_single) for shapes up to 1. For larger shapes large(a, x) or, for results of float64, the routine
    of the runtime: within its own formula, a primitive is this routine. If no lane needs large shapes, both are
    skipped. For a lane that does not need it, the routine ends at once: the value of a lane does not depend on other
    lanes."""
    is_long = a > 1

    def others(short: Lanes, a: Lanes, x: Lanes) -> Lanes:
        is_long = a > 1
        p = where(is_long, a, 2.0)
        if is_single:
            return where(is_long, large(p, where(is_long, x, 2.0)), short)
        return where(is_long, Lanes(primitive.bind(p.value, where(is_long, x, 0.0).value)), short)

    def none(short: Lanes, a: Lanes, x: Lanes) -> Lanes:
        return short

    short = small(where(is_long, 1.0, a), where(is_long, 1.0, x), is_single)
    return if_any(is_long, others, none, short, a, x)
