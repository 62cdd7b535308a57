"""The family that divides and joins arrays: slice, pad, concatenate, reverse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import is_empty
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import instantiate, move_dim
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.compare import select
from pycompiler.primitives.elementwise import sub
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import batched_at_front, broadcast_in_dim, full, linear, sum_axes

Ints = tuple[int, ...]

# slice(x, start_indices, limit_indices, strides): strides are positive.


def _slice_shape(x: ShapedArray, *, start_indices: Ints, limit_indices: Ints, strides: Ints) -> ShapedArray:
    if not len(x.shape) == len(start_indices) == len(limit_indices) == len(strides):
        raise ValueError(
            f"slice: {short(x)} has {len(x.shape)} dimensions; got {len(start_indices)} starts, "
            f"{len(limit_indices)} limits and {len(strides)} strides"
        )
    for axis, (start, limit, stride) in enumerate(zip(start_indices, limit_indices, strides, strict=True)):
        if stride < 1 or start < 0 or limit < start or limit > x.shape[axis]:
            raise ArgumentError(
                f"slice: axis {axis} of {short(x)}: needs 0 <= start <= limit <= {x.shape[axis]} and stride >= 1, "
                f"got {start}:{limit}:{stride}"
            )
    shape = tuple(
        limit - start if stride == 1 else (limit - start + stride - 1) // stride
        for start, limit, stride in zip(start_indices, limit_indices, strides, strict=True)
    )
    return ShapedArray(shape, x.dtype, x.weak_type)


def _slice_transpose(ct: Value, x: Value, *, start_indices: Ints, limit_indices: Ints, strides: Ints) -> tuple[Value]:
    low, interior = start_indices, tuple(stride - 1 for stride in strides)
    taken = get_aval(ct).shape
    high = tuple(
        size - start - (count + (count - 1) * gap if count != 0 else 0)
        for size, start, count, gap in zip(x.aval.shape, low, taken, interior, strict=True)
    )
    zero = np.zeros((), x.aval.dtype)
    return (pad.bind(ct, zero, low=low, high=high, interior=interior),)


def _slice_batch(
    args: Sequence[Value], dims: Dims, *, start_indices: Ints, limit_indices: Ints, strides: Ints
) -> tuple[Value, int]:
    moved = move_dim(args[0], rules.only(dims), 0)
    size = get_aval(moved).shape[0]
    out = slice_.bind(
        moved, start_indices=(0, *start_indices), limit_indices=(size, *limit_indices), strides=(1, *strides)
    )
    return out, 0


def _slice_reference(x: Any, *, start_indices: Ints, limit_indices: Ints, strides: Ints) -> Any:
    return x[tuple(map(slice, start_indices, limit_indices, strides))].copy()


def _slice_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.STORED:
        x = rules.ordinary(rng, (7, 5), dtype)
        yield Sample((x,), {"start_indices": (1, 0), "limit_indices": (6, 4), "strides": (2, 1)})
    for source, start, limit, strides in [
        ((), (), (), ()),
        ((0,), (0,), (0,), (1,)),
        ((5,), (2,), (2,), (1,)),
        ((5,), (0,), (5,), (1,)),
        ((40,), (3,), (40,), (3,)),
        ((4, 33), (2, 0), (3, 33), (1, 1)),
        ((3, 4, 5), (0, 1, 2), (3, 3, 5), (2, 1, 1)),
    ]:
        x = rules.ordinary(rng, source, rules.FLOAT32)
        yield Sample((x,), {"start_indices": start, "limit_indices": limit, "strides": strides})


slice_ = linear(
    "slice",
    _slice_shape,
    transpose=_slice_transpose,
    batch=_slice_batch,
    reference=_slice_reference,
    sampler=_slice_samples,
)


# pad(x, value, low, high, interior): `interior` values between neighbours, then low and high. These may be negative.


def _pad_shape(x: ShapedArray, value: ShapedArray, *, low: Ints, high: Ints, interior: Ints) -> ShapedArray:
    rules.check_same_dtype("pad", x, value)
    if value.shape != ():
        raise ArgumentError(f"pad: the value must be a scalar, got {short(value)}")
    if not len(x.shape) == len(low) == len(high) == len(interior):
        raise ValueError(
            f"pad: {short(x)} has {len(x.shape)} dimensions; got low {low}, high {high}, interior {interior}"
        )
    shape: list[Any] = []
    for axis, size in enumerate(x.shape):
        gaps = interior[axis] * (size - 1) if interior[axis] and not is_empty(size) else 0
        padded = low[axis] + high[axis] + size + gaps
        if interior[axis] < 0 or padded < 0:
            raise ValueError(
                f"pad: axis {axis} of {short(x)}: low {low[axis]}, high {high[axis]}, interior {interior[axis]} leave "
                f"{padded} elements; the interior must not be negative, low and high must not take more than there is"
            )
        shape.append(padded)
    return ShapedArray(tuple(shape), x.dtype, x.weak_type and value.weak_type)


def _pad_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    out = pad.bind(*primals, **params)
    if all(map(is_zero, tangents)):
        return out, rules.zero_tangent(out)
    return out, pad.bind(*map(instantiate, tangents), **params)


def _pad_transpose(ct: Value, x: Value, value: Value, *, low: Ints, high: Ints, interior: Ints) -> tuple[Value, Value]:
    x_linear, value_linear = rules.is_linear(x, value)
    # First undo low and high (each may have added or removed elements), then keep every (interior + 1)-th.
    negated = [tuple(-amount for amount in amounts) for amounts in (low, high)]
    inner = pad.bind(ct, np.zeros((), get_aval(ct).dtype), low=negated[0], high=negated[1], interior=(0,) * len(low))
    sizes = get_aval(inner).shape
    taken = slice_.bind(
        inner, start_indices=(0,) * len(low), limit_indices=sizes, strides=tuple(gap + 1 for gap in interior)
    )
    ct_value = None
    if value_linear:
        every = tuple(range(len(low)))
        ct_value = sub.bind(sum_axes(ct, every), sum_axes(taken, every))
    return (taken if x_linear else None), ct_value


def _pad_batch(args: Sequence[Value], dims: Dims, *, low: Ints, high: Ints, interior: Ints) -> tuple[Value, int]:
    (x, value), (_, value_dim) = args, dims
    if value_dim is None:
        (moved,) = batched_at_front((x,), (dims[0],))
        return pad.bind(moved, value, low=(0, *low), high=(0, *high), interior=(0, *interior)), 0
    # One value for each example: pad with zeros, then choose the value where a padded array of trues is false.
    x, value = batched_at_front(args, dims)
    aval = get_aval(x)
    wide = {"low": (0, *low), "high": (0, *high), "interior": (0, *interior)}
    padded = pad.bind(x, np.zeros((), aval.dtype), **wide)
    inside = pad.bind(full(aval.shape, True, rules.BOOL), np.zeros((), bool), **wide)
    values = broadcast_in_dim.bind(value, shape=get_aval(padded).shape, broadcast_dimensions=(0,))
    return select.bind(inside, padded, values), 0


def _pad_reference(x: Any, value: Any, *, low: Ints, high: Ints, interior: Ints) -> Any:
    spread = [size + gap * max(size - 1, 0) for size, gap in zip(x.shape, interior, strict=True)]
    sizes = [max(size, size + lo) + max(hi, 0) for size, lo, hi in zip(spread, low, high, strict=True)]
    out = np.full(sizes, value, x.dtype)
    starts = [max(lo, 0) for lo in low]
    out[tuple(slice(s, s + n, gap + 1) for s, n, gap in zip(starts, spread, interior, strict=True))] = x
    cut = [slice(max(-lo, 0), size + min(hi, 0)) for size, lo, hi in zip(sizes, low, high, strict=True)]
    return out[tuple(cut)].copy()


def _pad_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.STORED:
        arrays = (rules.ordinary(rng, (3, 4), dtype), rules.ordinary(rng, (), dtype))
        yield Sample(arrays, {"low": (1, 0), "high": (0, 2), "interior": (0, 1)})
    for source, low, high, interior in [
        ((), (), (), ()),
        ((0,), (2,), (1,), (3,)),
        ((5,), (-2,), (3,), (0,)),
        ((5,), (1,), (-3,), (1,)),
        ((5,), (-2,), (-3,), (0,)),
        ((3, 4), (-1, 2), (0, -1), (2, 0)),
        ((33, 2), (0, 0), (1, 0), (0, 0)),
    ]:
        arrays = (rules.ordinary(rng, source, rules.FLOAT32), rules.ordinary(rng, (), rules.FLOAT32))
        yield Sample(arrays, {"low": low, "high": high, "interior": interior})


pad = Primitive(
    name="pad",
    shape_rule=_pad_shape,
    jvp=_pad_jvp,
    transpose=_pad_transpose,
    batch=_pad_batch,
    reference=_pad_reference,
    sampler=_pad_samples,
    views={"padding_config": lambda own: tuple(zip(own["low"], own["high"], own["interior"], strict=True))},
)


# concatenate(xs..., dimension)


def _concatenate_shape(*xs: ShapedArray, dimension: int) -> ShapedArray:
    if not xs:
        raise ValueError("concatenate: needs at least one array")
    rules.check_axes("concatenate", "dimension", (dimension,), len(xs[0].shape))
    rules.check_same_dtype("concatenate", *xs)
    total: Any = 0
    for x in xs:
        rest = [(*y.shape[:dimension], *y.shape[dimension + 1 :]) for y in (xs[0], x)]
        if rest[0] != rest[1] or len(x.shape) != len(xs[0].shape):
            raise ArgumentError(f"concatenate: shapes differ beside axis {dimension}: {short(xs[0])} and {short(x)}")
        total = total + x.shape[dimension]
    shape = (*xs[0].shape[:dimension], total, *xs[0].shape[dimension + 1 :])
    return ShapedArray(shape, xs[0].dtype, rules.all_weak(*xs))


def _concatenate_jvp(primals: Sequence[Value], tangents: Sequence[Value], *, dimension: int) -> tuple[Value, Value]:
    out = concatenate.bind(*primals, dimension=dimension)
    if all(map(is_zero, tangents)):
        return out, rules.zero_tangent(out)
    return out, concatenate.bind(*map(instantiate, tangents), dimension=dimension)


def _concatenate_transpose(ct: Value, *xs: Value, dimension: int) -> tuple[Value, ...]:
    result: list[Value] = []
    start: Any = 0
    shape = get_aval(ct).shape
    for x, linear_x in zip(xs, rules.is_linear(*xs), strict=True):
        size = (x.aval if linear_x else get_aval(x)).shape[dimension]
        if linear_x:
            starts, limits = [0] * len(shape), list(shape)
            starts[dimension], limits[dimension] = start, start + size
            ones = (1,) * len(shape)
            result.append(slice_.bind(ct, start_indices=tuple(starts), limit_indices=tuple(limits), strides=ones))
        else:
            result.append(None)
        start = start + size
    return tuple(result)


def _concatenate_batch(args: Sequence[Value], dims: Dims, *, dimension: int) -> tuple[Value, int]:
    return concatenate.bind(*batched_at_front(args, dims), dimension=dimension + 1), 0


def _concatenate_reference(*xs: Any, dimension: int) -> Any:
    return np.concatenate(xs, axis=dimension)


def _concatenate_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.STORED:
        yield Sample(tuple(rules.ordinary(rng, (2, n), dtype) for n in (3, 1, 4)), {"dimension": 1})
    for shapes, dimension in [
        (((5,),), 0),
        (((0,), (3,)), 0),
        (((0,), (0,)), 0),
        (((2, 3), (5, 3)), 0),
        (((2, 3, 1), (2, 3, 17), (2, 3, 0)), 2),
    ]:
        xs = tuple(rules.ordinary(rng, shape, rules.FLOAT32) for shape in shapes)
        yield Sample(xs, {"dimension": dimension})


concatenate = Primitive(
    name="concatenate",
    shape_rule=_concatenate_shape,
    jvp=_concatenate_jvp,
    transpose=_concatenate_transpose,
    batch=_concatenate_batch,
    reference=_concatenate_reference,
    sampler=_concatenate_samples,
)


# reverse(x, dimensions)


def _reverse_shape(x: ShapedArray, *, dimensions: Ints) -> ShapedArray:
    rules.check_axes("reverse", "dimensions", dimensions, len(x.shape))
    return x


def _reverse_batch(args: Sequence[Value], dims: Dims, *, dimensions: Ints) -> tuple[Value, int]:
    dim = rules.only(dims)
    shifted = tuple(axis + (axis >= dim) for axis in dimensions)
    return reverse.bind(args[0], dimensions=shifted), dim


def _reverse_transpose(ct: Value, x: Value, *, dimensions: Ints) -> tuple[Value]:
    return (reverse.bind(ct, dimensions=dimensions),)


def _reverse_reference(x: Any, *, dimensions: Ints) -> Any:
    return np.flip(x, dimensions).copy()


def _reverse_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.STORED:
        yield Sample((rules.ordinary(rng, (3, 5), dtype),), {"dimensions": (1,)})
    for source, dimensions in [((), ()), ((0,), (0,)), ((17,), (0,)), ((3, 5), ()), ((2, 3, 4), (0, 2))]:
        yield Sample((rules.ordinary(rng, source, rules.FLOAT32),), {"dimensions": dimensions})


reverse = linear(
    "reverse",
    _reverse_shape,
    transpose=_reverse_transpose,
    batch=_reverse_batch,
    reference=_reverse_reference,
    sampler=_reverse_samples,
)

TABLE = (slice_, pad, concatenate, reverse)
