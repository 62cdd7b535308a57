"""The family of sorting: sort, top_k."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.creation import iota
from pycompiler.primitives.gather import take_along
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import batched_at_front

# sort(xs..., dimension, num_keys, is_stable): all arrays in the order of the first num_keys arrays, compared
# lexicographically; nan comes last, and the two zeros are equal.


def _sort_shape(*xs: ShapedArray, dimension: int, num_keys: int, is_stable: bool) -> tuple[ShapedArray, ...]:
    rules.check_same_shape("sort", *xs)
    for x in xs[:num_keys]:
        rules.check_kind("sort", x, "biufc")
    rules.check_axes("sort", "dimension", (dimension,), len(xs[0].shape))
    if not 1 <= num_keys <= len(xs):
        raise ValueError(f"sort: num_keys must be in 1..{len(xs)}, the number of arrays; got {num_keys}")
    return xs


def _sort_jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, dimension: int, num_keys: int, is_stable: bool
) -> tuple[Any, Any]:
    params = {"dimension": dimension, "num_keys": num_keys, "is_stable": is_stable}
    order = iota.bind(dtype=rules.INT32, shape=get_aval(primals[0]).shape, dimension=dimension)
    *outs, order = sort.bind(*primals, order, **params)
    out_tangents = tuple(
        rules.zero_tangent(out) if is_zero(tangent) else take_along(tangent, order, dimension)
        for out, tangent in zip(outs, tangents, strict=True)
    )
    return tuple(outs), out_tangents


def _sort_batch(
    args: Sequence[Value], dims: Dims, *, dimension: int, num_keys: int, is_stable: bool
) -> tuple[Any, Any]:
    out = sort.bind(*batched_at_front(args, dims), dimension=dimension + 1, num_keys=num_keys, is_stable=is_stable)
    return out, tuple(0 for _ in out)


def _sort_reference(*xs: Any, dimension: int, num_keys: int, is_stable: bool) -> tuple[Any, ...]:
    def key(x: Any) -> Any:
        # float64 holds bfloat16 exactly. The sum makes both zeros equal.
        return x.astype(np.float64) + 0.0 if rules.kind(x.dtype) == "f" else x

    keys: list[Any] = []
    for x in xs[:num_keys]:
        keys += [key(x.real), key(x.imag)] if rules.kind(x.dtype) == "c" else [key(x)]
    order = np.lexsort(keys[::-1], axis=dimension)
    return tuple(np.take_along_axis(x, order, axis=dimension) for x in xs)


def _sort_samples(rng: np.random.Generator) -> Iterable[Sample]:
    params = {"dimension": 0, "num_keys": 1, "is_stable": True}
    for dtype in rules.WITH_COMPLEX:
        yield Sample((rules.ordinary(rng, (33,), dtype),), params)
        yield Sample((rules.extremes(dtype),), params)
    for shape, dimension in [((0,), 0), ((1,), 0), ((3, 17), 0), ((3, 17), 1), ((2, 40, 3), 1), ((3, 0), 1)]:
        x = rules.ordinary(rng, shape, rules.FLOAT32)
        numbers = np.arange(x.size, dtype=np.int32).reshape(shape)
        yield Sample((x, numbers), {**params, "dimension": dimension})
        coarse = rng.integers(0, 3, shape).astype(np.int32)
        yield Sample((coarse, x, numbers), {**params, "dimension": dimension, "num_keys": 2})
        yield Sample((coarse, numbers), {**params, "dimension": dimension})


sort = Primitive(
    name="sort",
    shape_rule=_sort_shape,
    jvp=_sort_jvp,
    transpose=None,
    batch=_sort_batch,
    reference=_sort_reference,
    sampler=_sort_samples,
    multiple_results=True,
)

# top_k(x, k, axis): the largest elements in descending order, and their indices as int32. nan comes first, and equal
# elements keep their order.


def _top_k_shape(x: ShapedArray, *, k: int, axis: int) -> tuple[ShapedArray, ...]:
    rules.check_axes("top_k", "axis", (axis,), len(x.shape))
    rules.check_kind("top_k", x, "biuf")
    size = x.shape[axis]
    if k < 0 or k > size:
        raise ValueError(f"top_k: k = {k} is not in 0..{size}, the size of axis {axis} of {short(x)}")
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return ShapedArray(shape, x.dtype, x.weak_type), ShapedArray(shape, rules.INT32)


def _top_k_jvp(primals: Sequence[Value], tangents: Sequence[Value], *, k: int, axis: int) -> tuple[Any, Any]:
    values, places = top_k.bind(*primals, k=k, axis=axis)
    no_change = rules.zero_tangent(places)
    if is_zero(tangents[0]):
        return (values, places), (rules.zero_tangent(values), no_change)
    return (values, places), (take_along(tangents[0], places, axis), no_change)


def _top_k_batch(args: Sequence[Value], dims: Dims, *, k: int, axis: int) -> tuple[Any, Any]:
    dim = rules.only(dims)
    return top_k.bind(args[0], k=k, axis=axis + (axis >= dim)), (dim, dim)


def _top_k_reference(x: Any, *, k: int, axis: int) -> tuple[Any, Any]:
    # Sorted from the end, a stable sort puts the first of equal elements last.
    wide = x.astype(np.float64) + 0.0 if rules.kind(x.dtype) == "f" else x
    order = np.flip(np.argsort(np.flip(wide, axis), axis, kind="stable"), axis)
    places = np.take(x.shape[axis] - 1 - order, np.arange(k), axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int32)


def _top_k_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.ALL:
        yield Sample((rules.ordinary(rng, (33,), dtype),), {"k": 5, "axis": 0})
        yield Sample((rules.extremes(dtype),), {"k": 2, "axis": 0})
    for shape, k, axis in [
        ((4,), 0, 0),
        ((1,), 1, 0),
        ((0,), 0, 0),
        ((3, 17), 17, 1),
        ((2, 40, 3), 3, 1),
        ((0, 5), 2, 1),
    ]:
        yield Sample((rules.ordinary(rng, shape, rules.FLOAT32),), {"k": k, "axis": axis})
    yield Sample((rng.integers(0, 3, (2, 600)).astype(np.int32),), {"k": 30, "axis": 1})


top_k = Primitive(
    name="top_k",
    shape_rule=_top_k_shape,
    jvp=_top_k_jvp,
    transpose=None,
    batch=_top_k_batch,
    reference=_top_k_reference,
    sampler=_top_k_samples,
    multiple_results=True,
)

TABLE = (sort, top_k)
