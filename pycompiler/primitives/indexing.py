"""The family of slices at computed positions. If the positions differ between examples, they become gathers and
scatters (`gather`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Primitive, Sample, is_zero
from pycompiler.core.tracing.structural import instantiate, mapped_size, move_dim, with_batch_dim
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.gather import gather, scatter
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import batched_at_front, full

Ints = tuple[int, ...]


def _check_starts(name: str, x: ShapedArray, starts: Sequence[ShapedArray]) -> None:
    if len(starts) != len(x.shape):
        raise ArgumentError(f"{name}: {short(x)} has {len(x.shape)} dimensions, got {len(starts)} starts")
    for start in starts:
        rules.check_scalar(name, "a start", start)


def _zero_beside(starts: Sequence[Value]) -> Value:
    """A start of 0, of the dtype of the others."""
    return get_aval(starts[0]).dtype.type(0) if starts else np.int32(0)


# dynamic_slice(x, starts..., slice_sizes): a start is clipped so that the slice fits.


def _dynamic_slice_shape(x: ShapedArray, *starts: ShapedArray, slice_sizes: Ints) -> ShapedArray:
    _check_starts("dynamic_slice", x, starts)
    if len(slice_sizes) != len(x.shape) or any(
        not 0 <= taken <= size for taken, size in zip(slice_sizes, x.shape, strict=True)
    ):
        raise ArgumentError(f"dynamic_slice: slice_sizes {slice_sizes} do not fit into {short(x)}")
    return ShapedArray(slice_sizes, x.dtype, x.weak_type)


def _dynamic_slice_jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, slice_sizes: Ints
) -> tuple[Value, Value]:
    out = dynamic_slice.bind(*primals, slice_sizes=slice_sizes)
    if is_zero(tangents[0]):
        return out, rules.zero_tangent(out)
    return out, dynamic_slice.bind(tangents[0], *primals[1:], slice_sizes=slice_sizes)


def _dynamic_slice_transpose(ct: Value, x: Value, *starts: Value, slice_sizes: Ints) -> tuple[Value, ...]:
    zeros = full(x.aval.shape, 0, x.aval.dtype)
    return (dynamic_update_slice.bind(zeros, ct, *starts), *(None for _ in starts))


def _dynamic_slice_batch(args: Sequence[Value], dims: Dims, *, slice_sizes: Ints) -> tuple[Value, int]:
    if all(dim is None for dim in dims[1:]):
        moved = move_dim(args[0], rules.only(dims[:1]), 0)
        size = get_aval(moved).shape[0]
        return dynamic_slice.bind(moved, _zero_beside(args[1:]), *args[1:], slice_sizes=(size, *slice_sizes)), 0
    # One position for each example.
    size = mapped_size(args, dims)
    rank = len(slice_sizes)
    every = tuple(range(rank))
    params: dict[str, Any] = {
        "offset_dims": tuple(range(1, rank + 1)),
        "collapsed_slice_dims": (),
        "start_index_map": every,
        "operand_batching_dims": (),
        "start_indices_batching_dims": (),
        "slice_sizes": slice_sizes,
        "mode": "clip",
        "indices_are_sorted": False,
        "unique_indices": False,
    }
    x, starts = args[0], [with_batch_dim(start, dim, 0, size) for start, dim in zip(args[1:], dims[1:], strict=True)]
    if dims[0] is not None:
        x = move_dim(x, dims[0], 0)
        params["start_index_map"] = tuple(range(1, rank + 1))
        params["operand_batching_dims"] = params["start_indices_batching_dims"] = (0,)
        params["slice_sizes"] = (1, *slice_sizes)
    return gather.bind(x, *starts, **params), 0


def _clip_starts(starts: Sequence[Any], sizes: Ints, taken: Ints) -> list[int]:
    return [min(max(int(s), 0), size - count) for s, size, count in zip(starts, sizes, taken, strict=True)]


def _dynamic_slice_reference(x: Any, *starts: Any, slice_sizes: Ints) -> Any:
    begins = _clip_starts(starts, x.shape, slice_sizes)
    return x[tuple(slice(s, s + n) for s, n in zip(begins, slice_sizes, strict=True))].copy()


def _starts(values: Iterable[int]) -> tuple[Any, ...]:
    return tuple(np.asarray(value, np.int32) for value in values)


def _dynamic_slice_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.ALL:
        yield Sample((rules.ordinary(rng, (7, 5), dtype), *_starts((2, 1))), {"slice_sizes": (3, 2)})
    for source, starts, sizes in [
        ((), (), ()),
        ((5,), (-3,), (2,)),
        ((5,), (9,), (2,)),
        ((5,), (2**31 - 1,), (5,)),
        ((5,), (1,), (0,)),
        ((3, 40), (1, 3), (1, 33)),
        ((3, 4, 5), (0, 3, -(2**31)), (3, 2, 1)),
    ]:
        x = rules.ordinary(rng, source, rules.FLOAT32)
        yield Sample((x, *_starts(starts)), {"slice_sizes": sizes})


dynamic_slice = Primitive(
    name="dynamic_slice",
    shape_rule=_dynamic_slice_shape,
    jvp=_dynamic_slice_jvp,
    transpose=_dynamic_slice_transpose,
    batch=_dynamic_slice_batch,
    reference=_dynamic_slice_reference,
    sampler=_dynamic_slice_samples,
)


# dynamic_update_slice(x, update, starts...)


def _dynamic_update_slice_shape(x: ShapedArray, update: ShapedArray, *starts: ShapedArray) -> ShapedArray:
    rules.check_same_dtype("dynamic_update_slice", x, update)
    _check_starts("dynamic_update_slice", x, starts)
    if len(update.shape) != len(x.shape) or any(
        taken > size for taken, size in zip(update.shape, x.shape, strict=True)
    ):
        raise ArgumentError(f"dynamic_update_slice: the update {short(update)} does not fit into {short(x)}")
    return ShapedArray(x.shape, x.dtype)


def _dynamic_update_slice_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    out = dynamic_update_slice.bind(*primals)
    if is_zero(tangents[0]) and is_zero(tangents[1]):
        return out, rules.zero_tangent(out)
    return out, dynamic_update_slice.bind(instantiate(tangents[0]), instantiate(tangents[1]), *primals[2:])


def _dynamic_update_slice_transpose(ct: Value, x: Value, update: Value, *starts: Value) -> tuple[Value, ...]:
    x_linear, update_linear = rules.is_linear(x, update)
    shape = update.aval.shape if update_linear else get_aval(update).shape
    zeros = full(shape, 0, get_aval(ct).dtype)
    return (
        dynamic_update_slice.bind(ct, zeros, *starts) if x_linear else None,
        dynamic_slice.bind(ct, *starts, slice_sizes=shape) if update_linear else None,
        *(None for _ in starts),
    )


def _dynamic_update_slice_batch(args: Sequence[Value], dims: Dims) -> tuple[Value, int]:
    if all(dim is None for dim in dims[2:]):
        x, update = batched_at_front(args[:2], dims[:2])
        return dynamic_update_slice.bind(x, update, _zero_beside(args[2:]), *args[2:]), 0
    # One position for each example.
    x, update, *starts = batched_at_front(args, dims)
    inner = tuple(range(1, len(get_aval(x).shape)))
    out = scatter.bind(
        x,
        update,
        *starts,
        update_window_dims=inner,
        inserted_window_dims=(),
        scatter_dims_to_operand_dims=inner,
        operand_batching_dims=(0,),
        scatter_indices_batching_dims=(0,),
        kind="set",
        mode="clip",
        indices_are_sorted=True,
        unique_indices=True,
    )
    return out, 0


def _dynamic_update_slice_reference(x: Any, update: Any, *starts: Any) -> Any:
    begins = _clip_starts(starts, x.shape, update.shape)
    out = x.copy()
    out[tuple(slice(s, s + n) for s, n in zip(begins, update.shape, strict=True))] = update
    return out


def _dynamic_update_slice_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.ALL:
        x, update = rules.ordinary(rng, (7, 5), dtype), rules.ordinary(rng, (3, 2), dtype)
        yield Sample((x, update, *_starts((2, 1))), {})
    for source, sizes, starts in [
        ((), (), ()),
        ((5,), (2,), (-3,)),
        ((5,), (2,), (9,)),
        ((5,), (0,), (1,)),
        ((3, 40), (1, 33), (1, 3)),
    ]:
        x, update = rules.ordinary(rng, source, rules.FLOAT32), rules.ordinary(rng, sizes, rules.FLOAT32)
        yield Sample((x, update, *_starts(starts)), {})


dynamic_update_slice = Primitive(
    name="dynamic_update_slice",
    shape_rule=_dynamic_update_slice_shape,
    jvp=_dynamic_update_slice_jvp,
    transpose=_dynamic_update_slice_transpose,
    batch=_dynamic_update_slice_batch,
    reference=_dynamic_update_slice_reference,
    sampler=_dynamic_update_slice_samples,
)


TABLE = (dynamic_slice, dynamic_update_slice)
