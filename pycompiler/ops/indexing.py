"""The family of indexing by values: slices at computed places, and rows chosen by an array of indices."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.aval import ShapedArray, get_aval, short
from pycompiler.core.dims import dim_product
from pycompiler.core.primitive import Primitive, Sample, is_zero
from pycompiler.core.structural import instantiate, mapped_size, move_dim, with_batch_dim
from pycompiler.ops import rules
from pycompiler.ops.arithmetic import convert, max_, min_
from pycompiler.ops.bits import and_
from pycompiler.ops.compare import ge, lt, select
from pycompiler.ops.creation import iota
from pycompiler.ops.elementwise import add, mul, sub
from pycompiler.ops.rules import Dims, Shape, Value
from pycompiler.ops.shape import batched_at_front, broadcast_in_dim, full, full_like, reshaped

Ints = tuple[int, ...]


def _clamped(index: Value, last: Any) -> Value:
    """The index brought into 0..last."""
    return max_.bind(min_.bind(index, full_like(index, last)), full_like(index, 0))


def _positions(shape: Shape, dimension: int, dtype: rules.Dtype) -> Value:
    return iota.bind(dtype=dtype, shape=tuple(shape), dimension=dimension)


def _check_starts(name: str, x: ShapedArray, starts: Sequence[ShapedArray]) -> None:
    if len(starts) != len(x.shape):
        raise ValueError(f"{name}: {short(x)} has {len(x.shape)} dimensions, got {len(starts)} starts")
    for start in starts:
        rules.check_scalar(name, "a start", start)


# dynamic_slice(x, starts..., slice_sizes): a start is brought into the range in which the slice fits.


def _dynamic_slice_shape(x: ShapedArray, *starts: ShapedArray, slice_sizes: Ints) -> ShapedArray:
    _check_starts("dynamic_slice", x, starts)
    if len(slice_sizes) != len(x.shape) or any(
        not 0 <= taken <= size for taken, size in zip(slice_sizes, x.shape, strict=True)
    ):
        raise ValueError(f"dynamic_slice: slice_sizes {slice_sizes} do not fit into {short(x)}")
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
        return dynamic_slice.bind(moved, np.int32(0), *args[1:], slice_sizes=(size, *slice_sizes)), 0
    # A place for each example: gather single elements from the flat array, by their row-major positions.
    x, *starts = batched_at_front(args, dims)
    shape = get_aval(x).shape
    taken = (shape[0], *slice_sizes)
    position = full(taken, 0, rules.INT32)
    for axis, size in enumerate(shape):
        index = _positions(taken, axis, rules.INT32)
        if axis > 0:
            start = _clamped(starts[axis - 1], size - slice_sizes[axis - 1])
            index = add.bind(index, broadcast_in_dim.bind(start, shape=taken, broadcast_dimensions=(0,)))
        position = add.bind(mul.bind(position, full(taken, size, rules.INT32)), index)
    return gather_rows.bind(reshaped(x, (dim_product(shape),)), position), 0


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
        raise ValueError(f"dynamic_update_slice: the update {short(update)} does not fit into {short(x)}")
    return ShapedArray(x.shape, x.dtype, rules.all_weak(x, update))


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
        return dynamic_update_slice.bind(x, update, np.int32(0), *args[2:]), 0
    # A place for each example: look every position of the result up in the update, or keep it.
    x, update, *starts = batched_at_front(args, dims)
    shape, taken = get_aval(x).shape, get_aval(update).shape
    if any(isinstance(count, int) and count == 0 for count in taken):
        return x, 0
    inside = full(shape, True, rules.BOOL)
    position = _positions(shape, 0, rules.INT32)
    for axis in range(1, len(shape)):
        start = _clamped(starts[axis - 1], shape[axis] - taken[axis])
        index = sub.bind(
            _positions(shape, axis, rules.INT32), broadcast_in_dim.bind(start, shape=shape, broadcast_dimensions=(0,))
        )
        fits = and_.bind(ge.bind(index, full_like(index, 0)), lt.bind(index, full_like(index, taken[axis])))
        inside = and_.bind(inside, fits)
        position = add.bind(mul.bind(position, full_like(index, taken[axis])), _clamped(index, taken[axis] - 1))
    looked_up = gather_rows.bind(reshaped(update, (dim_product(taken),)), position)
    return select.bind(inside, looked_up, x), 0


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


# gather_rows(x: [N, rest...], indices: [...]): x[indices]; an index is brought into 0..N-1.


def _gather_rows_shape(x: ShapedArray, indices: ShapedArray) -> ShapedArray:
    rules.check_kind("gather_rows", indices, "iu")
    if not x.shape:
        raise ValueError("gather_rows: a scalar has no rows")
    if x.shape[0] == 0 and dim_product(indices.shape) != 0:
        raise ValueError(f"gather_rows: {short(x)} has no rows to choose from")
    return ShapedArray((*indices.shape, *x.shape[1:]), x.dtype, x.weak_type)


def _gather_rows_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    out = gather_rows.bind(*primals)
    if is_zero(tangents[0]):
        return out, rules.zero_tangent(out)
    return out, gather_rows.bind(tangents[0], primals[1])


def _gather_rows_transpose(ct: Value, x: Value, indices: Value) -> tuple[Value, None]:
    shape = x.aval.shape
    zeros = full(shape, 0, x.aval.dtype)
    # What was read clamped is written clamped; an empty x was not read.
    inside = _clamped(indices, shape[0] - 1) if shape[0] != 0 else indices
    return scatter_add_rows.bind(zeros, inside, ct), None


def _rows_of_all(x: Value, indices: Value, missing: bool) -> tuple[Value, Value]:
    """Batched rows as rows of one flat array: x [B, N, rest] as [B*N, rest], and the indices [B, ...] into it.

    Out of range, an index is brought into the range of its example or, when `missing`, out of the flat array's.
    """
    size, rows, *rest = get_aval(x).shape
    aval = get_aval(indices)
    if aval.dtype != rules.INT32:
        indices = convert.bind(indices, new_dtype=rules.INT32)
    base = mul.bind(_positions(aval.shape, 0, rules.INT32), full(aval.shape, rows, rules.INT32))
    if missing:
        fits = and_.bind(ge.bind(indices, full_like(indices, 0)), lt.bind(indices, full_like(indices, rows)))
        indices = select.bind(fits, add.bind(indices, base), full_like(indices, size * rows))
    else:
        indices = add.bind(_clamped(indices, rows - 1), base)
    return reshaped(x, (size * rows, *rest)), indices


def _gather_rows_batch(args: Sequence[Value], dims: Dims) -> tuple[Value, int]:
    (x, indices), (x_dim, indices_dim) = args, dims
    if indices_dim is None:
        # The batch dimension is one more dimension of a row.
        return gather_rows.bind(move_dim(x, rules.only((x_dim,)), 1), indices), len(get_aval(indices).shape)
    if x_dim is None:
        return gather_rows.bind(x, move_dim(indices, indices_dim, 0)), 0
    flat, positions = _rows_of_all(move_dim(x, x_dim, 0), move_dim(indices, indices_dim, 0), missing=False)
    return gather_rows.bind(flat, positions), 0


def _gather_rows_reference(x: Any, indices: Any) -> Any:
    return x[np.clip(indices, 0, max(len(x) - 1, 0))]


def _gather_rows_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.ALL:
        yield Sample((rules.ordinary(rng, (7, 5), dtype), np.array([3, 0, 6, 3], np.int32)), {})
    for source, indices in [((5,), (3,)), ((5, 0), (2,)), ((0, 3), (0,)), ((4, 17, 2), (2, 3)), ((6, 3), ())]:
        x = rules.ordinary(rng, source, rules.FLOAT32)
        yield Sample((x, np.asarray(rng.integers(-3, 9, indices)).astype(np.int32)), {})


gather_rows = Primitive(
    name="gather_rows",
    shape_rule=_gather_rows_shape,
    jvp=_gather_rows_jvp,
    transpose=_gather_rows_transpose,
    batch=_gather_rows_batch,
    reference=_gather_rows_reference,
    sampler=_gather_rows_samples,
)


# scatter_add_rows(x: [N, rest...], indices: [...], updates: [..., rest...]): x with the updates added to its rows, in
# the order of the indices; an index that is out of range is dropped.


def _scatter_add_rows_shape(x: ShapedArray, indices: ShapedArray, updates: ShapedArray) -> ShapedArray:
    rules.check_kind("scatter_add_rows", x, "iuf")
    rules.check_kind("scatter_add_rows", indices, "iu")
    rules.check_same_dtype("scatter_add_rows", x, updates)
    if not x.shape or updates.shape != (*indices.shape, *x.shape[1:]):
        raise ValueError(
            f"scatter_add_rows: the updates {short(updates)} are not rows of {short(x)}, "
            f"one for each of {short(indices)}"
        )
    return ShapedArray(x.shape, x.dtype, rules.all_weak(x, updates))


def _scatter_add_rows_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    out = scatter_add_rows.bind(*primals)
    if is_zero(tangents[0]) and is_zero(tangents[2]):
        return out, rules.zero_tangent(out)
    return out, scatter_add_rows.bind(instantiate(tangents[0]), primals[1], instantiate(tangents[2]))


def _scatter_add_rows_transpose(ct: Value, x: Value, indices: Value, updates: Value) -> tuple[Value, None, Value]:
    x_linear, updates_linear = rules.is_linear(x, updates)
    ct_updates = None
    if updates_linear:
        shape, rows = updates.aval.shape, get_aval(ct).shape[0]
        if rows == 0:
            ct_updates = full(shape, 0, updates.aval.dtype)
        else:
            fits = and_.bind(ge.bind(indices, full_like(indices, 0)), lt.bind(indices, full_like(indices, rows)))
            kept = tuple(range(len(get_aval(indices).shape)))
            fits = broadcast_in_dim.bind(fits, shape=shape, broadcast_dimensions=kept)
            ct_updates = select.bind(fits, gather_rows.bind(ct, indices), full(shape, 0, updates.aval.dtype))
    return (ct if x_linear else None), None, ct_updates


def _scatter_add_rows_batch(args: Sequence[Value], dims: Dims) -> tuple[Value, int]:
    (x, indices, updates), (x_dim, indices_dim, updates_dim) = args, dims
    size = mapped_size(args, dims)
    if indices_dim is None:
        # The batch dimension is one more dimension of a row.
        x = with_batch_dim(x, x_dim, 1, size)
        updates = with_batch_dim(updates, updates_dim, len(get_aval(indices).shape), size)
        return scatter_add_rows.bind(x, indices, updates), 1
    x, indices, updates = batched_at_front(args, dims)
    shape = get_aval(x).shape
    flat, positions = _rows_of_all(x, indices, missing=True)
    return reshaped(scatter_add_rows.bind(flat, positions, updates), shape), 0


def _scatter_add_rows_reference(x: Any, indices: Any, updates: Any) -> Any:
    wide = x.astype(np.float64) if rules.kind(x.dtype) == "f" else x.copy()
    fits = (indices >= 0) & (indices < len(x))
    np.add.at(wide, indices[fits], updates[fits].astype(wide.dtype))
    return wide.astype(x.dtype)


def _scatter_add_rows_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for dtype in rules.NUMBERS:
        x, updates = rules.ordinary(rng, (7, 5), dtype), rules.ordinary(rng, (4, 5), dtype)
        yield Sample((x, np.array([3, 0, 6, 3], np.int32), updates), {})
    for source, indices in [((5,), (3,)), ((5, 0), (2,)), ((0, 3), (2,)), ((4, 17, 2), (2, 3)), ((6, 3), ())]:
        x = rules.ordinary(rng, source, rules.FLOAT32)
        chosen = np.asarray(rng.integers(-3, 9, indices)).astype(np.int32)
        yield Sample((x, chosen, rules.ordinary(rng, (*indices, *source[1:]), rules.FLOAT32)), {})


scatter_add_rows = Primitive(
    name="scatter_add_rows",
    shape_rule=_scatter_add_rows_shape,
    jvp=_scatter_add_rows_jvp,
    transpose=_scatter_add_rows_transpose,
    batch=_scatter_add_rows_batch,
    reference=_scatter_add_rows_reference,
    sampler=_scatter_add_rows_samples,
)

TABLE = (dynamic_slice, dynamic_update_slice, gather_rows, scatter_add_rows)
