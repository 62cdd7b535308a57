"""The family of windows: reduce_window_sum, _prod, _max, _min, and the derivatives of the extrema, select_and_gather
and select_and_scatter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import is_empty, surely_below
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.elementwise import add, mul
from pycompiler.primitives.movement import pad, slice_
from pycompiler.primitives.reduction import highest, lowest
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import batched_at_front, full, linear

Ints = tuple[int, ...]

# reduce_window_*(x, window_dimensions, window_strides, low, high, base_dilation, window_dilation): x is spread and
# padded with the neutral element; window i takes the elements i * stride + k * dilation.


def dilated(size: Any, dilation: int) -> Any:
    """The size with dilation - 1 gaps between neighbours."""
    return size if dilation == 1 or is_empty(size) else (size - 1) * dilation + 1


def count_windows(padded: Any, window: int, stride: int) -> Any:
    """The number of windows, `stride` apart. Raises InconclusiveDimensionError if a size may hold less than none."""
    # If the window exceeds the size by less than a stride, the quotient is 0.
    if not surely_below(window - stride - 1, padded) and padded < window:
        return 0
    return padded - window + 1 if stride == 1 else (padded - window) // stride + 1


def _windows(
    name: str,
    x: ShapedArray,
    *,
    window_dimensions: Ints,
    window_strides: Ints,
    low: Ints,
    high: Ints,
    base_dilation: Ints,
    window_dilation: Ints,
) -> tuple[Any, ...]:
    """The shape of the windows."""
    described = (window_dimensions, window_strides, low, high, base_dilation, window_dilation)
    if any(len(numbers) != len(x.shape) for numbers in described):
        raise ArgumentError(
            f"{name}: {short(x)} has {len(x.shape)} dimensions; got window_dimensions {window_dimensions}, "
            f"window_strides {window_strides}, padding {tuple(zip(low, high, strict=False))}, base_dilation "
            f"{base_dilation}, window_dilation {window_dilation}"
        )
    for what, numbers in [
        ("window_dimensions", window_dimensions),
        ("window_strides", window_strides),
        ("base_dilation", base_dilation),
        ("window_dilation", window_dilation),
    ]:
        if any(number < 1 for number in numbers):
            raise ArgumentError(f"{name}: {what} must be at least 1, got {numbers}")
    shape: list[Any] = []
    for axis, size in enumerate(x.shape):
        padded = dilated(size, base_dilation[axis]) + low[axis] + high[axis]
        if surely_below(padded, 0):
            raise ArgumentError(
                f"{name}: padding {(low[axis], high[axis])} takes more than axis {axis} of {short(x)} has"
            )
        shape.append(
            count_windows(padded, dilated(window_dimensions[axis], window_dilation[axis]), window_strides[axis])
        )
    return tuple(shape)


def _with_leading(params: dict[str, Any]) -> dict[str, Any]:
    """The windows with one more dimension in front, which they do not divide."""
    first = {"low": 0, "high": 0}
    return {key: (first.get(key, 1), *value) if isinstance(value, tuple) else value for key, value in params.items()}


def positions(shape: Ints, params: dict[str, Any], x: Value, neutral: Value) -> Iterable[Value]:
    """For each position in a window, the slice of x (padded with a scalar) with the elements of all windows there."""
    interior = tuple(dilation - 1 for dilation in params["base_dilation"])
    padded = pad.bind(x, neutral, low=params["low"], high=params["high"], interior=interior)
    strides = params["window_strides"]
    for place in product(*map(range, params["window_dimensions"])):
        starts = tuple(k * step for k, step in zip(place, params["window_dilation"], strict=True))
        if 0 in shape:
            starts = limits = (0,) * len(shape)
        else:
            limits = tuple(
                start + (count - 1) * stride + 1 for start, count, stride in zip(starts, shape, strides, strict=True)
            )
        yield slice_.bind(padded, start_indices=starts, limit_indices=limits, strides=strides)


def patches(x: Any, neutral: Any, params: dict[str, Any]) -> Any:
    """NumPy's array of all windows: the dimensions of the windows, then those inside a window."""
    shape = _windows("", ShapedArray(x.shape, x.dtype), **params)
    interior = tuple(dilation - 1 for dilation in params["base_dilation"])
    assert pad.reference is not None
    padded = pad.reference(x, neutral, low=params["low"], high=params["high"], interior=interior)
    places: list[Any] = []
    steps = zip(shape, params["window_strides"], params["window_dimensions"], params["window_dilation"], strict=True)
    for axis, (count, stride, window, dilation) in enumerate(steps):
        grid = [1] * (2 * x.ndim)
        grid[axis], grid[x.ndim + axis] = count, window
        place = rules.arange(count)[:, None] * stride + rules.arange(window)[None, :] * dilation
        places.append(place.reshape(grid))
    return padded[tuple(places)] if places else padded


def _over_windows(function: Any, neutral: Callable[[rules.Dtype], Any]) -> Callable[..., Any]:
    """The reference of a reduction: in float64, over NumPy's array of windows."""

    def reference(x: Any, **params: Any) -> Any:
        wide = x.astype(rules.WIDE.get(rules.kind(x.dtype), x.dtype))
        values = patches(wide, neutral(wide.dtype), params)
        with np.errstate(all="ignore"):
            return np.asarray(
                function.reduce(values, axis=tuple(range(x.ndim, 2 * x.ndim)), initial=neutral(wide.dtype))
            ).astype(x.dtype)

    return reference


def window_params(
    window: Ints,
    strides: Ints | None = None,
    low: Ints | None = None,
    high: Ints | None = None,
    base_dilation: Ints | None = None,
    window_dilation: Ints | None = None,
) -> dict[str, Any]:
    """The parameters of windows, with the usual values for omitted ones."""
    ones, zeros = (1,) * len(window), (0,) * len(window)
    return {
        "window_dimensions": window,
        "window_strides": strides or ones,
        "low": low or zeros,
        "high": high or zeros,
        "base_dilation": base_dilation or ones,
        "window_dilation": window_dilation or ones,
    }


_WINDOWS: tuple[tuple[Ints, dict[str, Any]], ...] = (
    ((), window_params(())),
    ((7,), window_params((3,), (2,), (1,), (1,))),
    ((0,), window_params((2,), None, (1,), (2,))),
    ((5,), window_params((9,))),
    ((4, 5), window_params((2, 3), (1, 2), (-1, 2), (1, -1), (2, 1), (1, 2))),
    ((2, 6, 6, 3), window_params((1, 2, 2, 1), (1, 2, 2, 1))),
    ((1, 2, 9, 20), window_params((1, 1, 3, 3), (1, 1, 1, 1), (0, 0, 1, 1), (0, 0, 1, 1))),
)  # fmt: skip


def _samples(dtypes: Sequence[rules.Dtype]) -> Callable[[np.random.Generator], Iterable[Sample]]:
    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        for dtype in dtypes:
            yield Sample((rules.ordinary(rng, (4, 9), dtype),), window_params((2, 3), (1, 2), (1, 0), (0, 1)))
        for shape, params in _WINDOWS:
            yield Sample((rules.ordinary(rng, shape, dtypes[0]),), params)

    return sampler


def _reduce_window(
    name: str, kinds: str, reference: Callable[..., Any], jvp: Callable[..., Value] | None, **entries: Any
) -> Primitive:
    """The entry of a reduction over windows. `jvp` is (tangent, x, **params) -> tangent, or None if it is linear."""
    dtypes = [dtype for dtype in rules.WITH_COMPLEX if rules.kind(dtype) in kinds]

    def shape_rule(x: ShapedArray, **params: Any) -> ShapedArray:
        rules.check_kind(name, x, kinds)
        return ShapedArray(_windows(name, x, **params), x.dtype, x.weak_type)

    def batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Value, int]:
        (moved,) = batched_at_front(args, dims)
        return primitive.bind(moved, **_with_leading(params)), 0

    def jvp_rule(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
        out = primitive.bind(*primals, **params)
        if is_zero(tangents[0]):
            return out, rules.zero_tangent(out)
        assert jvp is not None
        return out, jvp(tangents[0], primals[0], **params)

    rest: dict[str, Any] = {"batch": batch, "reference": reference, "sampler": _samples(dtypes), **entries}
    if jvp is None:
        primitive = linear(name, shape_rule, **rest)
    else:
        primitive = Primitive(name=name, shape_rule=shape_rule, jvp=jvp_rule, transpose=None, **rest)
    return primitive


def _sum_transpose(
    ct: Value,
    x: Value,
    *,
    window_dimensions: Ints,
    window_strides: Ints,
    low: Ints,
    high: Ints,
    base_dilation: Ints,
    window_dilation: Ints,
) -> tuple[Value]:
    # Each element sums the cotangents of the windows that hold it. They lie within a window's reach to its left.
    shape, given = x.aval.shape, get_aval(ct).shape
    if any(size == 0 for size in (*shape, *given)):
        return (full(shape, 0, x.aval.dtype),)
    reach = [dilated(w, d) for w, d in zip(window_dimensions, window_dilation, strict=True)]
    before = tuple(w - lo - 1 for w, lo in zip(reach, low, strict=True))
    after = tuple(
        dilated(n, base) + w - 1 - dilated(m, stride) - first
        for n, base, w, m, stride, first in zip(shape, base_dilation, reach, given, window_strides, before, strict=True)
    )
    return (
        reduce_window_sum.bind(
            ct,
            window_dimensions=window_dimensions,
            window_strides=base_dilation,
            low=before,
            high=after,
            base_dilation=window_strides,
            window_dilation=window_dilation,
        ),
    )


def _prod_jvp(t: Value, x: Value, **params: Any) -> Value:
    """The products and their tangents, position by position of a window."""
    shape = _windows("reduce_window_prod", get_aval(x), **params)
    one, zero = np.ones((), get_aval(x).dtype), np.zeros((), get_aval(t).dtype)
    parts = zip(positions(shape, params, x, one), positions(shape, params, t, zero), strict=True)
    value, tangent = next(iter(parts))
    for x_part, t_part in parts:
        tangent = add.bind(mul.bind(tangent, x_part), mul.bind(value, t_part))
        value = mul.bind(value, x_part)
    return tangent


def _select_jvp(greatest: bool) -> Callable[..., Value]:
    def jvp(t: Value, x: Value, **params: Any) -> Value:
        return select_and_gather.bind(t, x, greatest=greatest, **params)

    return jvp


def _zero(dtype: rules.Dtype) -> Any:
    return 0


def _one(dtype: rules.Dtype) -> Any:
    return 1


reduce_window_sum = _reduce_window(
    "reduce_window_sum", "iufc", _over_windows(np.add, _zero), None, transpose=_sum_transpose
)
reduce_window_prod = _reduce_window("reduce_window_prod", "iuf", _over_windows(np.multiply, _one), _prod_jvp)
reduce_window_max = _reduce_window("reduce_window_max", "biuf", _over_windows(np.maximum, lowest), _select_jvp(True))
reduce_window_min = _reduce_window("reduce_window_min", "biuf", _over_windows(np.minimum, highest), _select_jvp(False))


# select_and_gather(source, operand, greatest, ...): the elements of source at the positions of the windows' first
# extrema in operand, 0 for windows of padding. select_and_scatter(source, operand, greatest, ...): each element of
# source belongs to a window, and is added at the position of its extremum. Both are linear in source; operand only
# selects positions.


def _check_source(name: str, source: ShapedArray, operand: ShapedArray, shape: tuple[Any, ...]) -> None:
    rules.check_kind(name, operand, "f")
    rules.check_same_dtype(name, source, operand)
    if source.shape != shape:
        raise ArgumentError(f"{name}: the source must have the shape {shape}, got {short(source)} for {short(operand)}")


def _gather_shape(source: ShapedArray, operand: ShapedArray, *, greatest: bool, **params: Any) -> ShapedArray:
    _check_source("select_and_gather", source, operand, operand.shape)
    return ShapedArray(_windows("select_and_gather", operand, **params), operand.dtype)


def _scatter_shape(source: ShapedArray, operand: ShapedArray, *, greatest: bool, **params: Any) -> ShapedArray:
    _check_source("select_and_scatter", source, operand, _windows("select_and_scatter", operand, **params))
    return ShapedArray(operand.shape, operand.dtype)


def _select(
    name: str, shape_rule: Callable[..., ShapedArray], transposed: Callable[[], Primitive], **entries: Any
) -> Primitive:
    def jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
        out = primitive.bind(*primals, **params)
        if is_zero(tangents[0]):
            return out, rules.zero_tangent(out)
        return out, primitive.bind(tangents[0], primals[1], **params)

    def transpose(ct: Value, source: Value, operand: Value, **params: Any) -> tuple[Value, None]:
        return transposed().bind(ct, operand, **params), None

    def batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Value, int]:
        return primitive.bind(*batched_at_front(args, dims), **_with_leading(params)), 0

    primitive = Primitive(name=name, shape_rule=shape_rule, jvp=jvp, transpose=transpose, batch=batch, **entries)
    return primitive


def _chosen(x: Any, greatest: bool, params: dict[str, Any]) -> Any:
    """The flat index of each window's extremum in x; -1 for windows of padding."""
    values = patches(x.astype(np.float64), np.nan, params)
    places = patches(rules.arange(x.size).reshape(x.shape), -1, params)
    inside = places >= 0
    # Padding ranks below all values, nan above them.
    clipped = np.clip(values if greatest else -values, -1e308, 1e308)
    ranked = rules.where(inside, rules.where(np.isnan(values), np.inf, clipped), -np.inf)
    if not ranked.size:
        return np.zeros(ranked.shape[: x.ndim], int)
    flat = (*ranked.shape[: x.ndim], -1)
    best = ranked.reshape(flat).argmax(-1)
    return np.take_along_axis(places.reshape(flat), best[..., None], -1)[..., 0]


def _gather_reference(source: Any, operand: Any, *, greatest: bool, **params: Any) -> Any:
    places = _chosen(operand, greatest, params)
    flat = np.append(source.ravel(), np.zeros(1, source.dtype))
    return flat[places]


def _scatter_reference(source: Any, operand: Any, *, greatest: bool, **params: Any) -> Any:
    places = _chosen(operand, greatest, params)
    out = np.zeros(operand.size + 1)
    np.add.at(out, places.ravel(), source.ravel().astype(np.float64))
    return out[:-1].reshape(operand.shape).astype(source.dtype)


def _select_samples(gathers: bool) -> Callable[[np.random.Generator], Iterable[Sample]]:
    def sampler(rng: np.random.Generator) -> Iterable[Sample]:
        cases = [(dtype, (4, 9), window_params((2, 3), (1, 2), (1, 0), (0, 1))) for dtype in rules.FLOATS]
        cases += [(rules.FLOAT32, shape, params) for shape, params in _WINDOWS]
        for number, (dtype, shape, params) in enumerate(cases):
            operand = rules.ordinary(rng, shape, dtype)
            given = shape if gathers else _windows("", ShapedArray(shape, dtype), **params)
            yield Sample((rules.ordinary(rng, given, dtype), operand), {"greatest": number % 2 == 0, **params})

    return sampler


select_and_gather = _select(
    "select_and_gather",
    _gather_shape,
    lambda: select_and_scatter,
    reference=_gather_reference,
    sampler=_select_samples(True),
)
select_and_scatter = _select(
    "select_and_scatter",
    _scatter_shape,
    lambda: select_and_gather,
    reference=_scatter_reference,
    sampler=_select_samples(False),
)

TABLE = (
    reduce_window_sum,
    reduce_window_prod,
    reduce_window_max,
    reduce_window_min,
    select_and_gather,
    select_and_scatter,
)
