"""Ranges of numbers: `arange`, and lines between two ends, with equal distances or equal ratios. Imports `creation`."""

import math
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, surely_below
from pycompiler.core.dims.ranges import range_length
from pycompiler.core.errors import ArgumentError, ConcretizationTypeError
from pycompiler.core.tracing.trace import Tracer, no_value
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise, movement
from pycompiler.lax.operands import broadcast_to, canonical_axis, canonical_shape, cast, check_arrays
from pycompiler.lax.placement import created, filled, place_leaf
from pycompiler.lax.shardings import divided
from pycompiler.numpy.creation import asarray, from_numpy, full
from pycompiler.numpy.promotion import broadcast, inexact, promoted, requested

__all__ = [
    "arange",
    "geomspace",
    "linspace",
    "logspace",
]


def _fixed(name: str, x: Any) -> Any:
    """A number that must be known while tracing, because a size depends on it."""
    if isinstance(x, Tracer):
        no_value(ConcretizationTypeError, x, f"{name}: the value, for the size of the result,", "give a number")
    return x.item() if hasattr(x, "item") else x


def _whole(name: str, x: Any) -> Any:
    """A symbolic size or a whole number, in a call with symbolic sizes."""
    if isinstance(x, Dim) or x == int(x):
        return x if isinstance(x, Dim) else int(x)
    raise TypeError(f"{name}: with symbolic sizes, the other arguments must be whole numbers, got {x!r}")


def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """start, start + step, ... below stop. The dtype is int32 for integers, else float32, unless it is given.

    >>> import pycompiler.numpy as pnp
    >>> pnp.arange(2, 10, 3)
    Array([2, 5, 8], dtype=int32)
    """
    given = [x for x in (start, stop, step) if x is not None]
    start, stop, step = (None if x is None else _fixed("arange", x) for x in (start, stop, step))
    for x in (start, stop, step):
        if isinstance(x, complex | np.complexfloating):
            raise ArgumentError(f"arange: the bounds and the step are real numbers, got {x!r}; multiply the result")
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if step == 0:
        raise ValueError("arange: the step must not be 0")
    kind = dtypes.result_type(*given)[0] if dtype is None else requested("arange", dtype)
    if isinstance(start, Dim) or isinstance(stop, Dim) or isinstance(step, Dim):
        first, last, by = (_whole("arange", x) for x in (start, stop, step))
        places = movement.iota(kind, range_length(first, last, by))
        scaled = places if by == 1 else elementwise.mul(places, cast(by, kind))
        return divided("arange", scaled if first == 0 else elementwise.add(scaled, cast(first, kind)), out_sharding)
    if start == 0 and step == 1 and isinstance(stop, int | float) and math.isfinite(stop):
        count = max(0, math.ceil(stop))
        return divided(
            "arange",
            filled("arange", device, (count,), kind, False, lambda: movement.iota(kind, count)),
            out_sharding,
        )
    values = np.arange(start, stop, step).astype(kind)
    return divided(
        "arange", filled("arange", device, values.shape, kind, False, lambda: from_numpy(values, kind)), out_sharding
    )


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """num values from start to stop, at equal distances. The last value is stop unless endpoint is false.

    >>> import pycompiler.numpy as pnp
    >>> pnp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    if device is not None:
        ends, steps = (start, stop), []

        def make() -> Array:
            line, step = linspace(*ends, num, endpoint, True, dtype, axis)
            steps.append(step)
            return line

        line = created("linspace", device, make)
        return (line, place_leaf("linspace", steps[0], device)) if retstep else line
    (num,) = canonical_shape("linspace", (num,))
    first, last = asarray(start), asarray(stop)
    wanted = requested("linspace", dtype) or inexact(dtypes.result_type(first, last)[0])
    line, step = line_between(first, last, num, endpoint, wanted)
    line = first_axis_at("linspace", line, axis)
    return (line, cast(step, inexact(wanted))) if retstep else line


def line_between(first: Any, last: Any, num: Any, endpoint: bool, dtype: Any) -> tuple[Array, Array]:
    """num numbers of a dtype from first to last along a first dimension (integers rounded down), and their distance."""
    given, whole = dtypes.wider(first, last), dtypes.is_integer(dtype)
    # float16 can't count far enough.
    kind = dtypes.wider(inexact(given), inexact(dtype), dtypes.float32)
    parts = num - 1 if endpoint else num
    # For a single number, the step is nan, and the number is the start.
    several: Any = None if isinstance(parts, int) or surely_below(0, parts) else elementwise.gt(parts, 0)
    count: Any = elementwise.max(parts, 1) if several is not None else max(parts, 1)
    ends = first, last
    first, last = broadcast("linspace", cast(first, kind), cast(last, kind))
    shape = (num, *get_aval(first).shape)
    span = elementwise.sub(last, first)
    if isinstance(parts, int) and parts <= 0:
        step = full((), np.nan, kind)
    else:
        step = elementwise.div(span, cast(parts, kind))
    if several is not None:
        step = elementwise.select(several, step, full(shape[1:], np.nan, kind))
    index = movement.broadcasted_iota(kind, shape, 0)
    share = elementwise.div(index, cast(count, kind))
    if whole and dtypes.is_integer(given):
        start, stop = broadcast("linspace", *ends)
        offset = elementwise.mul(broadcast_to(span, shape), share)
        return cast(_exact_line(start, stop, count, shape, offset), dtype), step
    first, last = broadcast_to(first, shape), broadcast_to(last, shape)
    if whole:
        # For whole numbers, a single quotient of exact values. It is rounded once, and never below a whole result.
        total = elementwise.mul(first, elementwise.sub(cast(count, kind), index))
        total = elementwise.add(total, elementwise.mul(last, index))
        return cast(elementwise.floor(elementwise.div(total, cast(count, kind))), dtype), step
    if isinstance(num, int) and num == 1:  # it has no derivative by the end, even if its cotangent is infinite
        return cast(first, dtype), step
    start_part = elementwise.mul(first, elementwise.sub(1.0, share))
    result = elementwise.add(start_part, elementwise.mul(last, share))
    if endpoint and (several is not None or num > 1):
        is_last = elementwise.eq(index, cast(num - 1, kind))
        if several is not None:
            is_last = elementwise.bitwise_and(is_last, broadcast_to(several, shape))
        result = elementwise.select(is_last, last, result)
    return cast(result, dtype), step


def _exact_line(first: Any, last: Any, count: Any, shape: tuple[Any, ...], offset: Array) -> Array:
    """first + floor(k (last - first) / count) for integers, from the approximation first + offset.

    The error of the offset follows from the remainder of its product with count, which is small. So the result is exact
    even if the products wrap.
    """
    integer = dtypes.scalar_dtype(int)
    first, last = (broadcast_to(cast(end, integer), shape) for end in (first, last))
    count = broadcast_to(cast(count, integer), shape)
    # The distance of two integers may need all bits of an unsigned dtype.
    size = cast(elementwise.abs(offset), np.dtype(f"u{integer.name}"))
    near = cast(size, integer)
    near = elementwise.select(elementwise.lt(offset, 0), elementwise.neg(near), near)
    product = elementwise.mul(movement.broadcasted_iota(integer, shape, 0), elementwise.sub(last, first))
    missing = elementwise.sub(product, elementwise.mul(near, count))
    more, rest = elementwise.div(missing, count), elementwise.rem(missing, count)
    more = elementwise.select(elementwise.lt(rest, 0), elementwise.sub(more, 1), more)
    return elementwise.add(first, elementwise.add(near, more))


def first_axis_at(name: str, x: Array, axis: int) -> Array:
    """x with its first dimension moved to an axis of the result."""
    rank = len(get_aval(x).shape)
    place = canonical_axis(name, axis, rank)
    return movement.transpose(x, [*range(1, place + 1), 0, *range(place + 1, rank)]) if place else x


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """num powers of the base, whose exponents have equal distances from start to stop.

    >>> import pycompiler.numpy as pnp
    >>> pnp.logspace(0, 2, 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    check_arrays("logspace", start, stop, base)
    wanted = requested("logspace", dtype) or inexact(dtypes.result_type(start, stop)[0])
    exponents, _ = line_between(start, stop, num, endpoint, inexact(wanted))
    powers = elementwise.pow(*promoted("logspace", base, exponents))
    return first_axis_at("logspace", cast(powers, wanted), axis)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    """num numbers from start to stop; the ratio of neighbours is constant.

    >>> import pycompiler.numpy as pnp
    >>> pnp.geomspace(1, 8, 4).round(3)
    Array([1., 2., 4., 8.], dtype=float32)
    """
    check_arrays("geomspace", start, stop)
    wanted = requested("geomspace", dtype) or inexact(dtypes.result_type(start, stop)[0])
    kind = dtypes.wider(inexact(wanted), dtypes.float32)
    first, last = broadcast("geomspace", cast(start, kind), cast(stop, kind))
    sign = elementwise.sign(first)
    logarithms = [elementwise.log(elementwise.div(end, sign)) for end in (first, last)]
    exponents, _ = line_between(logarithms[0], logarithms[1], num, endpoint, kind)
    result = elementwise.mul(*broadcast("geomspace", sign, elementwise.exp(exponents)))
    # The ends are the given numbers, not results of logarithms.
    shape = get_aval(result).shape
    index = movement.broadcasted_iota(np.int32, shape, 0)
    ends = [(0, first), (num - 1, last)] if endpoint else [(0, first)]
    for place, end in reversed(ends):
        result = elementwise.select(elementwise.eq(index, place), broadcast_to(end, shape), result)
    return first_axis_at("geomspace", cast(result, wanted), axis)
