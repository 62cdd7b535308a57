"""The family of sorting."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.aval import ShapedArray, get_aval
from pycompiler.core.dims import dim_product
from pycompiler.core.primitive import Primitive, Sample, is_zero
from pycompiler.ops import rules
from pycompiler.ops.creation import iota
from pycompiler.ops.elementwise import add, mul
from pycompiler.ops.indexing import gather_rows
from pycompiler.ops.rules import Dims, Value
from pycompiler.ops.shape import batched_at_front, full, reshaped

# sort(xs..., dimension, num_keys, is_stable): all arrays in the order of the first num_keys of them, compared one after
# the other; nan comes last, the zeros are equal.


def _sort_shape(*xs: ShapedArray, dimension: int, num_keys: int, is_stable: bool) -> tuple[ShapedArray, ...]:
    rules.check_same_shape("sort", *xs)
    for x in xs[:num_keys]:
        rules.check_kind("sort", x, "biufc")
    rules.check_axes("sort", "dimension", (dimension,), len(xs[0].shape))
    if not 1 <= num_keys <= len(xs):
        raise ValueError(f"sort: num_keys must be in 1..{len(xs)}, the number of arrays; got {num_keys}")
    return xs


def take_along(x: Value, indices: Value, dimension: int) -> Value:
    """x at int32 indices in one dimension: result[i, j, k] = x[i, indices[i, j, k], k] for dimension 1."""
    shape = get_aval(x).shape
    chosen = get_aval(indices).shape
    position = full(chosen, 0, rules.INT32)
    for axis, size in enumerate(shape):
        index = indices if axis == dimension else iota.bind(dtype=rules.INT32, shape=chosen, dimension=axis)
        position = add.bind(mul.bind(position, full(chosen, size, rules.INT32)), index)
    return gather_rows.bind(reshaped(x, (dim_product(shape),)), position)


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
        # bfloat16 in float64, in which it is exact, and the zeros made one.
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

TABLE = (sort,)
