"""Legendre's continued fraction of the incomplete gamma function and the power series, each with its derivative by the
shape, from their ends, in loops over as many terms as some lane needs.

From their beginning, recurrences for numerators and denominators lose two digits.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycompiler.primitives.formulas.lanes import Lanes
from pycompiler.primitives.formulas.loops import count_down

_STEPS = 8  # terms for one quotient


def fraction(a: Lanes, x: Lanes, count: Lanes) -> Lanes:
    """x / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))) with at least `count` terms, where that
    is above 0."""
    inverse = 1 / x
    first, square = (x + 1 - a) * inverse, inverse * inverse

    def begin(k: Lanes) -> Sequence[Lanes]:
        return (first + inverse * (k * 2),)

    def step(k: Lanes, value: Lanes, a: Lanes, inverse: Lanes, first: Lanes, square: Lanes) -> Sequence[Lanes]:
        top, bottom = value.like(1), value
        for _ in range(_STEPS):
            factor = (a - k) * (k * square)
            k = k - 1
            top, bottom = bottom, (first + inverse * (k * 2)) * bottom + factor * top
        return (bottom / top,)

    (value,) = count_down(count, _STEPS, begin, step, [a, inverse, first, square])
    return 1 / value


def fraction_and_slope(a: Lanes, x: Lanes, count: Lanes) -> tuple[Lanes, Lanes]:
    """`fraction` and its derivative by a."""
    inverse = 1 / x
    first, square = (x + 1 - a) * inverse, inverse * inverse

    def begin(k: Lanes) -> Sequence[Lanes]:
        return first + inverse * (k * 2), -inverse

    def step(
        k: Lanes, value: Lanes, slope: Lanes, a: Lanes, inverse: Lanes, first: Lanes, square: Lanes
    ) -> Sequence[Lanes]:
        top, bottom, top_slope, bottom_slope = value.like(1), value, value.like(0), slope
        for _ in range(_STEPS):
            rate = k * square
            factor = (a - k) * rate
            k = k - 1
            along = first + inverse * (k * 2)
            rise = along * bottom_slope - inverse * bottom + factor * top_slope + rate * top
            top, bottom, top_slope, bottom_slope = bottom, along * bottom + factor * top, bottom_slope, rise
        scale = 1 / top
        value = bottom * scale
        return value, (bottom_slope - value * top_slope) * scale

    value, slope = count_down(count, _STEPS, begin, step, [a, inverse, first, square])
    result = 1 / value
    return result, -(slope * result * result)


def series_and_slope(a: Lanes, x: Lanes, count: Lanes) -> tuple[Lanes, Lanes]:
    """1 + x / (a + 1) (1 + x / (a + 2) (1 + ...)) with at least `count` terms, and its derivative by a."""

    def begin(k: Lanes) -> Sequence[Lanes]:
        return k.like(1), k.like(0)

    def step(k: Lanes, value: Lanes, slope: Lanes, a: Lanes, x: Lanes) -> Sequence[Lanes]:
        top, bottom, top_slope, bottom_slope = value, value.like(1), slope, value.like(0)
        for _ in range(_STEPS):
            along = a + k
            k = k - 1
            bottom_slope = bottom + along * bottom_slope
            bottom = along * bottom
            top, top_slope = bottom + x * top, bottom_slope + x * top_slope
        scale = 1 / bottom
        value = top * scale
        return value, (top_slope - value * bottom_slope) * scale

    value, slope = count_down(count, _STEPS, begin, step, [a, x])
    return value, slope
