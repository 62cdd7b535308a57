"""A line search for the strong Wolfe conditions (Nocedal and Wright, Numerical Optimization, 2006, section 3.5).

It is one loop with one evaluation in each iteration. First the step doubles until an interval must contain a good step.
Then the interval shrinks around this step.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.types import dtype as dtypes
from pycompiler.lax.control_flow import while_loop

Array = Any

# The fractions of the slope at 0: for a sufficient decrease, and for the slope at the step.
_DECREASE, _CURVATURE = 1e-4, 0.9
# The maximum number of evaluations within an interval.
_MOST_ZOOMS = 30


class Step(NamedTuple):
    """The result: the step, the function and its gradient there, whether the search failed, and the failed phase.

    status: 0, 1 (the interval became too small), or 3 (the step doubled too often).
    """

    size: Array
    value: Array
    slope: Array
    evaluations: Array
    failed: Array
    status: Array


class _Point(NamedTuple):
    """A step, with the value and the derivative along the direction."""

    a: Array
    value: Array
    rate: Array


class _Search(NamedTuple):
    zooming: Array
    done: Array
    failed: Array
    count: Array
    zooms: Array
    low: _Point
    high: _Point
    last: _Point
    # The lowest point that has a sufficient decrease, and its gradient; at the end the result.
    best: _Point
    slope: Array


def search(
    function: Callable[[Array], tuple[Array, Array]],
    x: Array,
    direction: Array,
    value: Array,
    slope: Array,
    first: Array,
    most: int,
) -> Step:
    """A step along a direction from x, with the value and the slope of the function there. `first`: the first step to
    try; `most`: the maximum number of steps before an interval is known."""
    real = value.dtype
    start = _Point(pnp.zeros((), real), value, pnp.real(pnp.dot(slope, direction)).astype(real))
    # Differences of values below this are rounding.
    slack = 4 * float(dtypes.finfo(real).eps) * pnp.abs(value)
    least = 1e-10 if real.itemsize == 8 else 1e-5

    def too_high(point: _Point) -> Array:
        return point.value > start.value + _DECREASE * point.a * start.rate + slack

    def step(state: _Search) -> _Search:
        bracketing = pnp.where(state.count == 0, first.astype(real), 2 * state.last.a)
        a = pnp.where(state.zooming, _within(state), bracketing)
        result, gradient = function(x + a.astype(direction.dtype) * direction)
        rate = pnp.real(pnp.dot(gradient, direction)).astype(real)
        point = _Point(a, result.astype(real), rate)
        # A step is too long if the function at its end is not a number.
        bad = too_high(point) | ~pnp.isfinite(point.value)
        above_low = point.value > state.low.value + slack
        good = pnp.abs(rate) <= -_CURVATURE * start.rate
        # The interval of the zoom: its low end has a sufficient decrease and falls towards the high end.
        raised = bad | (above_low & (state.zooming | (state.count > 0)))
        done = good & ~raised
        turned = pnp.where(state.zooming, rate * (state.high.a - state.low.a) >= 0, rate >= 0)
        # In the first phase, the low end is the point before.
        before = _select(state.zooming, state.low, state.last)
        high = _select(raised, point, _select(turned, before, state.high))
        low = _select(raised, before, point)
        last = _select(raised, _select(state.zooming, state.high, point), before)
        last = _select(state.zooming, last, point)
        better = ~bad & (point.value <= state.best.value + slack) | done
        zooming = state.zooming | raised | turned
        zooms = state.zooms + state.zooming
        small = zooming & ((pnp.abs(high.a - low.a) <= least * pnp.maximum(high.a, low.a)) | (zooms >= _MOST_ZOOMS))
        return _Search(
            zooming,
            done,
            small & ~done,
            state.count + 1,
            zooms,
            low,
            high,
            last,
            _select(better, point, state.best),
            pnp.where(better, gradient.astype(slope.dtype), state.slope),
        )

    def goes_on(state: _Search) -> Array:
        return ~state.done & ~state.failed & (state.zooming | (state.count < most))

    no, zero = pnp.asarray(False), pnp.asarray(0)
    state = while_loop(goes_on, step, _Search(no, no, no, zero, zero, start, start, start, start, slope))
    status = pnp.where(state.done, 0, pnp.where(state.failed, 1, 3))
    return Step(state.best.a, state.best.value, state.slope, state.count, ~state.done, status)


def _select(condition: Array, one: _Point, other: _Point) -> _Point:
    return _Point(*(pnp.where(condition, a, b) for a, b in zip(one, other, strict=True)))


def _within(state: _Search) -> Array:
    """The next step in the interval: the minimum of a cubic or a parabola, unless it is too near to an end."""
    low, high, last = state.low, state.high, state.last
    width = pnp.abs(high.a - low.a)
    begin, end = pnp.minimum(low.a, high.a), pnp.maximum(low.a, high.a)

    def usable(a: Array, share: float) -> Array:
        return (a > begin + share * width) & (a < end - share * width)

    cubic, parabola = _cubic_minimum(low, high, last), _parabola_minimum(low, high)
    middle = (low.a + high.a) / 2
    simple = pnp.where(usable(parabola, 0.1), parabola, middle)
    return pnp.where((state.zooms > 0) & usable(cubic, 0.2), cubic, simple)


def _parabola_minimum(low: _Point, high: _Point) -> Array:
    """The minimum of the parabola through both values, with the derivative at the low end."""
    width = high.a - low.a
    curvature = (high.value - low.value - low.rate * width) / width**2
    return low.a - low.rate / (2 * curvature)


def _cubic_minimum(low: _Point, high: _Point, last: _Point) -> Array:
    """The minimum of the cubic through three values, with the derivative at the low end; nan if there is none."""
    first, second = high.a - low.a, last.a - low.a
    rest = high.value - low.value - low.rate * first
    more = last.value - low.value - low.rate * second
    scale = (first * second) ** 2 * (first - second)
    cube = (second**2 * rest - first**2 * more) / scale
    square = (first**3 * more - second**3 * rest) / scale
    return low.a + (-square + pnp.sqrt(square**2 - 3 * cube * low.rate)) / (3 * cube)


def first_step(value: Array, before: Array, rate: Array) -> Array:
    """The first step of a search, from the decrease of the last iteration; at most 1."""
    step = 1.01 * 2 * (value - before) / rate
    return pnp.where((step > 0) & (step <= 1), step, np.float32(1).astype(value.dtype))
