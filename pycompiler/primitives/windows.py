"""Shared parts of gather and scatter: XLA's dimension numbers, the resulting shapes, references and samples.

A window is a block of the operand at a position that depends on data. Each component of a position is a separate array
(the k-th index); all have the same shape. This module binds no primitive: `gather`, which imports it, has the entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.primitive import Sample
from pycompiler.core.types.aval import ShapedArray, short
from pycompiler.primitives import rules
from pycompiler.primitives.rules import Shape

Ints = tuple[int, ...]

MODES = ("clip", "fill", "promise_in_bounds")
KINDS = ("set", "add", "mul", "min", "max")


def without(rank: int, dims: Sequence[int]) -> list[int]:
    """The dimensions of range(rank) that are not among `dims`."""
    return [dim for dim in range(rank) if dim not in dims]


def _check_increasing(name: str, what: str, dims: Sequence[int], rank: int) -> None:
    rules.check_axes(name, what, dims, rank)
    if list(dims) != sorted(dims):
        raise ArgumentError(f"{name}: {what} {tuple(dims)} must increase")


def _check_indices(
    name: str, x: ShapedArray, indices: Sequence[ShapedArray], dims: Ints, batching: Ints, of_indices: Ints, mode: str
) -> Shape:
    """The common shape of the indices."""
    if mode not in MODES:
        raise ArgumentError(f"{name}: mode is one of {', '.join(MODES)}, got {mode!r}")
    if len(indices) != len(dims):
        raise ArgumentError(
            f"{name}: {len(indices)} indices for the dimensions {dims} of {short(x)}; it needs one for each"
        )
    rules.check_axes(name, "indexed and batching dimensions", (*dims, *batching), len(x.shape))
    for index in indices:
        if index.dtype not in (rules.INT32, rules.INT64):
            raise TypeError(f"{name}: an index is int32 or int64, got {short(index)}")
    if indices:
        rules.check_same_shape(name, *indices)
    shape = indices[0].shape if indices else ()
    rules.check_axes(name, "batching dimensions of the indices", of_indices, len(shape))
    if [x.shape[i] for i in batching] != [shape[i] for i in of_indices]:
        raise ArgumentError(
            f"{name}: the batching dimensions {batching} of {short(x)} and {of_indices} of the indices {shape} differ"
        )
    return shape


def gather_shape(
    x: ShapedArray,
    *inputs: ShapedArray,
    offset_dims: Ints,
    collapsed_slice_dims: Ints,
    start_index_map: Ints,
    operand_batching_dims: Ints,
    start_indices_batching_dims: Ints,
    slice_sizes: Shape,
    mode: str,
    indices_are_sorted: bool,
    unique_indices: bool,
) -> ShapedArray:
    if mode == "fill" and inputs:
        inputs, fill = inputs[:-1], inputs[-1]
        if fill.shape != () or fill.dtype != x.dtype:
            raise TypeError(f"gather: the fill must be a scalar of the dtype of {short(x)}, got {short(fill)}")
    batch = _check_indices(
        "gather", x, inputs, start_index_map, operand_batching_dims, start_indices_batching_dims, mode
    )
    dropped = (*collapsed_slice_dims, *operand_batching_dims)
    _check_increasing("gather", "collapsed_slice_dims", collapsed_slice_dims, len(x.shape))
    rules.check_axes("gather", "collapsed and batching dimensions", dropped, len(x.shape))
    if (
        len(slice_sizes) != len(x.shape)
        or any(not 0 <= taken <= size for taken, size in zip(slice_sizes, x.shape, strict=True))
        or any(slice_sizes[dim] != 1 for dim in dropped)
    ):
        raise ArgumentError(
            f"gather: slice_sizes {slice_sizes} must have a size for each dimension of {short(x)}, no greater than it, "
            f"and 1 in the dimensions {dropped} that are collapsed or batching"
        )
    window = [slice_sizes[dim] for dim in without(len(x.shape), dropped)]
    rank = len(batch) + len(window)
    _check_increasing("gather", "offset_dims", offset_dims, rank)
    if len(offset_dims) != len(window):
        raise ArgumentError(f"gather: offset_dims {offset_dims} must name {len(window)} dimensions, those of a window")
    shape: list[Any] = [None] * rank
    for dim, size in zip(offset_dims, window, strict=True):
        shape[dim] = size
    for dim, size in zip(without(rank, offset_dims), batch, strict=True):
        shape[dim] = size
    return ShapedArray(tuple(shape), x.dtype, x.weak_type)


def scatter_shape(
    x: ShapedArray,
    updates: ShapedArray,
    *indices: ShapedArray,
    update_window_dims: Ints,
    inserted_window_dims: Ints,
    scatter_dims_to_operand_dims: Ints,
    operand_batching_dims: Ints,
    scatter_indices_batching_dims: Ints,
    kind: str,
    mode: str,
    indices_are_sorted: bool,
    unique_indices: bool,
) -> ShapedArray:
    if kind not in KINDS:
        raise ArgumentError(f"scatter: kind is one of {', '.join(KINDS)}, got {kind!r}")
    if kind != "set":
        rules.check_kind(f"scatter of kind {kind}", x, {"add": "iufc", "mul": "iufc"}.get(kind, "biufc"))
    rules.check_same_dtype("scatter", x, updates)
    batch = _check_indices(
        "scatter", x, indices, scatter_dims_to_operand_dims, operand_batching_dims, scatter_indices_batching_dims, mode
    )
    dropped = (*inserted_window_dims, *operand_batching_dims)
    _check_increasing("scatter", "inserted_window_dims", inserted_window_dims, len(x.shape))
    rules.check_axes("scatter", "inserted and batching dimensions", dropped, len(x.shape))
    _check_increasing("scatter", "update_window_dims", update_window_dims, len(updates.shape))
    window = [x.shape[dim] for dim in without(len(x.shape), dropped)]
    rest = tuple(updates.shape[dim] for dim in without(len(updates.shape), update_window_dims))
    if (
        len(window) != len(update_window_dims)
        or rest != batch
        or any(updates.shape[dim] > size for dim, size in zip(update_window_dims, window, strict=True))
    ):
        raise ArgumentError(
            f"scatter: the updates {short(updates)} with windows in {update_window_dims} do not fit {short(x)}, "
            f"whose windows have at most {tuple(window)}, and indices of shape {batch}"
        )
    return ShapedArray(x.shape, x.dtype, rules.all_weak(x, updates))


# References


def _starts(indices: Sequence[Any], limits: Sequence[int], clip: bool) -> tuple[list[Any], Any]:
    """The starts, clipped to 0..limit if `clip`, and a mask: whether all components lie in this range."""
    inside = np.asarray(True)
    for index, limit in zip(indices, limits, strict=True):
        inside = inside & (index >= 0) & (index <= limit)
    return [np.clip(index, 0, limit) if clip else index for index, limit in zip(indices, limits, strict=True)], inside


def _along(size: int, dim: int, rank: int) -> Any:
    """0..size - 1 along one of `rank` dimensions."""
    shape = [1] * rank
    shape[dim] = size
    return np.arange(size).reshape(shape)


def gather_reference(
    x: Any,
    *inputs: Any,
    offset_dims: Ints,
    collapsed_slice_dims: Ints,
    start_index_map: Ints,
    operand_batching_dims: Ints,
    start_indices_batching_dims: Ints,
    slice_sizes: Ints,
    mode: str,
    **_: Any,
) -> Any:
    indices, fill = (inputs[:-1], inputs[-1]) if mode == "fill" else (inputs, None)
    batch = indices[0].shape if indices else ()
    rank = len(batch) + len(offset_dims)
    batch_dims = without(rank, offset_dims)

    def spread(array: Any) -> Any:
        return np.expand_dims(array, offset_dims)

    starts, inside = _starts(indices, [x.shape[d] - slice_sizes[d] for d in start_index_map], True)
    places: list[Any] = [0] * x.ndim
    for dim, start in zip(start_index_map, starts, strict=True):
        places[dim] = spread(start)
    for dim, source in zip(operand_batching_dims, start_indices_batching_dims, strict=True):
        places[dim] = _along(x.shape[dim], batch_dims[source], rank)
    kept = without(x.ndim, (*collapsed_slice_dims, *operand_batching_dims))
    for dim, place in zip(kept, offset_dims, strict=True):
        places[dim] = places[dim] + _along(slice_sizes[dim], place, rank)
    shape = [0] * rank
    window = [slice_sizes[dim] for dim in kept]
    for dim, size in zip((*batch_dims, *offset_dims), (*batch, *window), strict=True):
        shape[dim] = size
    if 0 in shape:
        return np.zeros(shape, x.dtype)
    out = np.broadcast_to(x[tuple(places)], shape) if places else np.broadcast_to(x, shape)
    return (
        rules.where(spread(np.broadcast_to(inside, batch)), out, fill).astype(x.dtype)
        if fill is not None
        else out.copy()
    )


_COMBINE: dict[str, Any] = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def scatter_reference(
    x: Any,
    updates: Any,
    *indices: Any,
    update_window_dims: Ints,
    inserted_window_dims: Ints,
    scatter_dims_to_operand_dims: Ints,
    operand_batching_dims: Ints,
    scatter_indices_batching_dims: Ints,
    kind: str,
    mode: str,
    **_: Any,
) -> Any:
    out = x.astype(np.float64) if rules.kind(x.dtype) == "f" else x.copy()
    batch_dims = without(updates.ndim, update_window_dims)
    sizes = [1] * x.ndim
    for dim, place in zip(
        without(x.ndim, (*inserted_window_dims, *operand_batching_dims)), update_window_dims, strict=True
    ):
        sizes[dim] = updates.shape[place]
    limits = [x.shape[d] - sizes[d] for d in scatter_dims_to_operand_dims]
    starts, inside = _starts(indices, limits, mode == "clip")
    for position in np.ndindex(*(updates.shape[d] for d in batch_dims)):
        if mode != "clip" and not np.broadcast_to(inside, [updates.shape[d] for d in batch_dims])[position]:
            continue
        first = [0] * x.ndim
        for dim, start in zip(scatter_dims_to_operand_dims, starts, strict=True):
            first[dim] = int(start[position])
        for dim, source in zip(operand_batching_dims, scatter_indices_batching_dims, strict=True):
            first[dim] = position[source]
        target = tuple(slice(s, s + n) for s, n in zip(first, sizes, strict=True))
        at: list[Any] = [slice(None)] * updates.ndim
        for dim, place in zip(batch_dims, position, strict=True):
            at[dim] = place
        update = updates[tuple(at)].astype(out.dtype).reshape(sizes)
        with np.errstate(all="ignore"):
            out[target] = update if kind == "set" else _COMBINE[kind](out[target], update)
    return out.astype(x.dtype)


# Samples: (shape of x, shape of the indices, largest index, dimension numbers).

_NONE: dict[str, Any] = {"indices_are_sorted": False, "unique_indices": False}


def _dims(offset: Ints, dropped: Ints, indexed: Ints, batching: Ints, of_indices: Ints, sizes: Ints) -> dict[str, Any]:
    return {
        "offset_dims": offset,
        "collapsed_slice_dims": dropped,
        "start_index_map": indexed,
        "operand_batching_dims": batching,
        "start_indices_batching_dims": of_indices,
        "slice_sizes": sizes,
        **_NONE,
    }


_CASES: list[tuple[Ints, Ints, dict[str, Any]]] = [
    ((7, 5), (4,), _dims((1,), (0,), (0,), (), (), (1, 5))),
    ((5,), (3,), _dims((), (0,), (0,), (), (), (1,))),
    ((5, 0), (2,), _dims((1,), (0,), (0,), (), (), (1, 0))),
    ((4, 17, 2), (2, 3), _dims((2, 3), (0,), (0,), (), (), (1, 17, 2))),
    ((6, 3), (), _dims((0,), (0,), (0,), (), (), (1, 3))),
    ((4, 33), (3,), _dims((0,), (1,), (1,), (), (), (4, 1))),  # columns; each becomes a column of the result
    ((4, 5), (2, 3), _dims((), (0, 1), (1, 0), (), (), (1, 1))),  # single elements
    ((5, 7), (4,), _dims((0, 2), (), (0, 1), (), (), (2, 3))),  # blocks
    ((3, 5, 2), (3, 4), _dims((2,), (1,), (1,), (0,), (0,), (1, 1, 2))),  # rows of each example
    ((3, 9), (2, 3), _dims((), (1,), (1,), (0,), (1,), (1, 1))),
    ((0, 3), (2,), _dims((1, 2), (), (0,), (), (), (0, 3))),
]


def _indices(rng: np.random.Generator, shape: Ints, batch: Ints, dims: dict[str, Any], dtype: rules.Dtype) -> list[Any]:
    """Indices for samples; some are out of bounds."""
    limits: list[int] = [shape[dim] for dim in dims["start_index_map"]]
    return [np.asarray(rng.integers(-3, limit + 3, batch)).astype(dtype) for limit in limits]


def gather_samples(rng: np.random.Generator) -> Iterable[Sample]:
    rows = _CASES[0][2]
    for dtype in rules.STORED:
        yield Sample((rules.ordinary(rng, (7, 5), dtype), np.array([3, 0, 6, 3], np.int32)), {**rows, "mode": "clip"})
    for number, (shape, batch, dims) in enumerate(_CASES):
        for mode in ("clip", "fill") if number % 2 else ("fill",):
            x = rules.ordinary(rng, shape, rules.FLOAT32)
            wide = rules.INT64 if number % 2 else rules.INT32
            indices = _indices(rng, shape, batch, dims, wide)
            fill = [rules.ordinary(rng, (), rules.FLOAT32)] if mode == "fill" else []
            yield Sample((x, *indices, *fill), {**dims, "mode": mode})


def scatter_samples(rng: np.random.Generator) -> Iterable[Sample]:
    def updates_of(shape: Ints, batch: Ints, dims: dict[str, Any], dtype: rules.Dtype) -> Any:
        offset, sizes = dims["offset_dims"], dims["slice_sizes"]
        kept = without(len(shape), (*dims["collapsed_slice_dims"], *dims["operand_batching_dims"]))
        wide = [0] * (len(batch) + len(offset))
        for dim, source in zip(offset, kept, strict=True):
            wide[dim] = sizes[source]
        for dim, size in zip(without(len(wide), offset), batch, strict=True):
            wide[dim] = size
        return rules.ordinary(rng, tuple(wide), dtype)

    def params(dims: dict[str, Any], kind: str, mode: str) -> dict[str, Any]:
        return {
            "update_window_dims": dims["offset_dims"],
            "inserted_window_dims": dims["collapsed_slice_dims"],
            "scatter_dims_to_operand_dims": dims["start_index_map"],
            "operand_batching_dims": dims["operand_batching_dims"],
            "scatter_indices_batching_dims": dims["start_indices_batching_dims"],
            "kind": kind,
            "mode": mode,
            "indices_are_sorted": False,
            "unique_indices": kind == "mul",  # mul has a derivative only with unique indices
        }

    rows = _CASES[0][2]
    some = {"b": ("set", "max"), "c": ("add", "set", "mul", "max"), "s": ("set",)}
    for dtype in rules.STORED:
        every = dtype in (rules.FLOAT32, rules.INT32)
        for kind in KINDS if every else some.get(rules.kind(dtype), ("add", "min")):
            places = np.array([3, 0, 6, 1] if kind == "mul" else [3, 0, 6, 3], np.int32)
            arrays = (rules.ordinary(rng, (7, 5), dtype), rules.ordinary(rng, (4, 5), dtype), places)
            yield Sample(arrays, params(rows, kind, "fill"))
    for number, (shape, batch, dims) in enumerate(_CASES):
        others = [("set", "clip"), ("max", "fill"), ("set", "fill"), ("mul", "fill")]
        for kind, mode in (("add", "fill"), others[number % len(others)]):
            x = rules.ordinary(rng, shape, rules.FLOAT32)
            wide = rules.INT64 if number % 2 else rules.INT32
            indices = _indices(rng, shape, batch, dims, wide)
            if kind == "mul":  # one index is inside, the others are outside
                for index in indices:
                    index.ravel()[1:] = 99
                if dims["operand_batching_dims"]:
                    continue
            yield Sample((x, updates_of(shape, batch, dims, rules.FLOAT32), *indices), params(dims, kind, mode))
