"""gather and scatter: windows read and changed at positions that depend on data. Each is the transpose of the other.

`windows` has the shapes and the references. The k-th index is a separate argument; `windows` explains this.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import dim_product
from pycompiler.core.tracing.primitive import Primitive, is_undefined, is_zero
from pycompiler.core.tracing.structural import add_tangents, instantiate, mapped_size, with_batch_dim
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import rules, windows
from pycompiler.primitives.arithmetic import convert, div
from pycompiler.primitives.compare import eq, select
from pycompiler.primitives.creation import iota
from pycompiler.primitives.elementwise import mul
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import broadcast_in_dim, full, full_like, reshaped, sum_axes

Params = dict[str, Any]


def _shifted(dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(dim + 1 for dim in dims)


def _without(shape: rules.Shape, dim: int) -> rules.Shape:
    return (*shape[:dim], *shape[dim + 1 :])


def scatter_params(params: Params, kind: str) -> Params:
    """The parameters of the scatter that writes the positions that this gather reads."""
    return {
        "update_window_dims": params["offset_dims"],
        "inserted_window_dims": params["collapsed_slice_dims"],
        "scatter_dims_to_operand_dims": params["start_index_map"],
        "operand_batching_dims": params["operand_batching_dims"],
        "scatter_indices_batching_dims": params["start_indices_batching_dims"],
        "kind": kind,
        "mode": params["mode"],
        "indices_are_sorted": params["indices_are_sorted"],
        "unique_indices": params["unique_indices"],
    }


def gather_params(params: Params, x_shape: rules.Shape, updates_shape: rules.Shape) -> Params:
    """The parameters of the gather that reads the positions that this scatter writes."""
    dropped = (*params["inserted_window_dims"], *params["operand_batching_dims"])
    sizes: list[Any] = [1] * len(x_shape)
    for dim, source in zip(windows.without(len(x_shape), dropped), params["update_window_dims"], strict=True):
        sizes[dim] = updates_shape[source]
    return {
        "offset_dims": params["update_window_dims"],
        "collapsed_slice_dims": params["inserted_window_dims"],
        "start_index_map": params["scatter_dims_to_operand_dims"],
        "operand_batching_dims": params["operand_batching_dims"],
        "start_indices_batching_dims": params["scatter_indices_batching_dims"],
        "slice_sizes": tuple(sizes),
        "mode": params["mode"],
        "indices_are_sorted": params["indices_are_sorted"],
        "unique_indices": params["unique_indices"],
    }


def _read(x: Value, indices: Sequence[Value], params: Params, fill: Any = 0) -> Value:
    """gather, with the fill as a constant if the mode needs one."""
    if params["mode"] != "fill":
        return gather.bind(x, *indices, **params)
    return gather.bind(x, *indices, np.asarray(fill).astype(get_aval(x).dtype), **params)


def _split(inputs: Sequence[Value], mode: str) -> tuple[Sequence[Value], Value]:
    """The indices, and the fill or None."""
    return (inputs[:-1], inputs[-1]) if mode == "fill" else (inputs, None)


def _batched_indices(indices: Sequence[Value], dims: Dims, size: Any) -> list[Value]:
    return [with_batch_dim(index, dim, 0, size) for index, dim in zip(indices, dims, strict=True)]


# gather(x, indices..., fill if mode is 'fill', dimension numbers, slice_sizes, mode, hints)


def _gather_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    out = gather.bind(*primals, **params)
    indices, fill = _split(primals[1:], params["mode"])
    changing = [tangents[0]] if fill is None else [tangents[0], tangents[-1]]
    if all(map(is_zero, changing)):
        return out, rules.zero_tangent(out)
    x_tangent, *fill_tangent = map(instantiate, changing)
    return out, gather.bind(x_tangent, *indices, *fill_tangent, **params)


def _gather_transpose(ct: Value, x: Value, *inputs: Value, **params: Any) -> tuple[Value, ...]:
    indices, fill = _split(inputs, params["mode"])
    ct_x = ct_fill = None
    if is_undefined(x):
        zeros = full(x.aval.shape, 0, x.aval.dtype)
        ct_x = scatter.bind(zeros, ct, *indices, **scatter_params(params, "add"))
    if is_undefined(fill):
        shape = x.aval.shape if is_undefined(x) else get_aval(x).shape
        inside = _read(full(shape, True, rules.BOOL), indices, params)
        outside = select.bind(inside, full_like(ct, 0), ct)
        ct_fill = sum_axes(outside, range(len(get_aval(ct).shape)))
    return (ct_x, *(None for _ in indices), *(() if fill is None else (ct_fill,)))


def _gather_batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Value, int]:
    if params["mode"] == "fill" and dims[-1] is not None:
        return _batch_of_fills(args, dims, params), 0
    size = mapped_size(args, dims)
    (x, *inputs), (x_dim, *input_dims) = args, dims
    indices, fill = _split(inputs, params["mode"])
    rest = () if fill is None else (fill,)
    index_dims = input_dims[: len(indices)]
    moved = {**params, "offset_dims": _shifted(params["offset_dims"])}
    if x_dim is not None:
        x = with_batch_dim(x, x_dim, 0, size)
        moved["collapsed_slice_dims"] = _shifted(params["collapsed_slice_dims"])
        moved["start_index_map"] = _shifted(params["start_index_map"])
        moved["operand_batching_dims"] = _shifted(params["operand_batching_dims"])
    if all(dim is None for dim in index_dims):
        # The batch dimension becomes a further dimension of a window.
        moved["offset_dims"] = (0, *moved["offset_dims"])
        moved["slice_sizes"] = (size, *params["slice_sizes"])
        return gather.bind(x, *indices, *rest, **moved), 0
    indices = _batched_indices(indices, index_dims, size)
    moved["start_indices_batching_dims"] = _shifted(params["start_indices_batching_dims"])
    if x_dim is not None:
        moved["operand_batching_dims"] = (0, *moved["operand_batching_dims"])
        moved["start_indices_batching_dims"] = (0, *moved["start_indices_batching_dims"])
        moved["slice_sizes"] = (1, *params["slice_sizes"])
    return gather.bind(x, *indices, *rest, **moved), 0


def _batch_of_fills(args: Sequence[Value], dims: Dims, params: Params) -> Value:
    """With a fill for each example: it is chosen afterwards, for windows outside of the operand."""
    size = mapped_size(args, dims)

    def read(x: Value, dim: int | None) -> Value:
        inputs = (x, *args[1:-1], np.zeros((), get_aval(x).dtype))
        input_dims = (dim, *dims[1:-1], None)
        if all(d is None for d in input_dims):
            return with_batch_dim(gather.bind(*inputs, **params), None, 0, size)
        return _gather_batch(inputs, input_dims, **params)[0]

    shape = get_aval(args[0]).shape if dims[0] is None else _without(get_aval(args[0]).shape, dims[0])
    out, inside = read(args[0], dims[0]), read(full(shape, True, rules.BOOL), None)
    fill = with_batch_dim(args[-1], dims[-1], 0, size)
    fill = broadcast_in_dim.bind(fill, shape=get_aval(out).shape, broadcast_dimensions=(0,))
    return select.bind(inside, out, fill)


gather = Primitive(
    name="gather",
    shape_rule=windows.gather_shape,
    jvp=_gather_jvp,
    transpose=_gather_transpose,
    batch=_gather_batch,
    reference=windows.gather_reference,
    sampler=windows.gather_samples,
)


# scatter(x, updates, indices..., dimension numbers, kind, mode, hints): updates are applied in the order of the
# indices, so with 'set' the last update of an element stays.


def _scatter_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Value, Value]:
    out = scatter.bind(*primals, **params)
    if is_zero(tangents[0]) and is_zero(tangents[1]):
        return out, rules.zero_tangent(out)
    match params["kind"]:
        case "set" | "add":
            # Among the tangents, the same update must stay.
            return out, scatter.bind(instantiate(tangents[0]), instantiate(tangents[1]), *primals[2:], **params)
        case "mul":
            return out, _mul_tangent(primals, tangents, params)
        case _:
            return out, _extremum_tangent(out, primals, tangents, params)


def _mul_tangent(primals: Sequence[Value], tangents: Sequence[Value], params: Params) -> Value:
    x, updates, *indices = primals
    result: Value = rules.zero_tangent(x)
    if not is_zero(tangents[0]):
        result = mul.bind(tangents[0], scatter.bind(full_like(x, 1), updates, *indices, **params))
    if not is_zero(tangents[1]):
        _check_unique(params)
        old = _read(x, indices, gather_params(params, get_aval(x).shape, get_aval(updates).shape))
        added = {**params, "kind": "add"}
        result = add_tangents(result, scatter.bind(full_like(x, 0), mul.bind(tangents[1], old), *indices, **added))
    return result


def _check_unique(params: Params) -> None:
    if not params["unique_indices"]:
        raise NotImplementedError(
            "scatter_mul: the derivative by the updates requires unique_indices=True: if two updates meet in one "
            "element, each is a factor of the other's derivative. What to do: set it if no two updates meet"
        )


def _extremum_tangent(out: Value, primals: Sequence[Value], tangents: Sequence[Value], params: Params) -> Value:
    """The tangents of the elements that equal the extremum. They share it equally."""
    x, updates, *indices = primals
    dtype = get_aval(x).dtype
    reading = gather_params(params, get_aval(x).shape, get_aval(updates).shape)
    adding = {**params, "kind": "add"}
    x_wins = convert.bind(eq.bind(x, out), new_dtype=dtype)
    updates_win = convert.bind(eq.bind(updates, _read(out, indices, reading)), new_dtype=dtype)
    winners = scatter.bind(x_wins, updates_win, *indices, **adding)
    result: Value = rules.zero_tangent(x)
    if not is_zero(tangents[0]):
        result = mul.bind(tangents[0], div.bind(x_wins, winners))
    if not is_zero(tangents[1]):
        share = div.bind(updates_win, _read(winners, indices, reading, fill=1))
        moved = scatter.bind(full_like(x, 0), mul.bind(tangents[1], share), *indices, **adding)
        result = add_tangents(result, moved)
    return result


def _scatter_transpose(ct: Value, x: Value, updates: Value, *indices: Value, **params: Any) -> tuple[Value, ...]:
    x_linear, updates_linear = rules.is_linear(x, updates)
    x_aval = x.aval if x_linear else get_aval(x)
    aval = updates.aval if updates_linear else get_aval(updates)
    reading = gather_params(params, x_aval.shape, aval.shape)
    ct_x = ct_updates = None
    kind = params["kind"]
    # Read before write, so that the write can be in place.
    if updates_linear:
        assert kind != "mul", "the product is linear in the operand alone: elements without an update stay"
        ct_updates = _read(ct, indices, reading)
        if kind == "set" and not _meet_nowhere(aval.shape, params):
            ct_updates = select.bind(
                _stays(x_aval.shape, aval.shape, indices, params), ct_updates, full_like(ct_updates, 0)
            )
    if x_linear:
        match kind:
            case "add":
                ct_x = ct
            case "set":
                ct_x = scatter.bind(ct, full(aval.shape, 0, aval.dtype), *indices, **params)
            case _:
                ct_x = mul.bind(ct, scatter.bind(full_like(ct, 1), updates, *indices, **params))
    return (ct_x, ct_updates, *(None for _ in indices))


def _meet_nowhere(shape: rules.Shape, params: Params) -> bool:
    """Whether no two updates have a common element: by the hint unique_indices, or with one update in each batch."""
    batch = params["scatter_indices_batching_dims"]
    places = [size for axis, size in enumerate(shape) if axis not in params["update_window_dims"]]
    return (
        params["unique_indices"]
        or dim_product(shape) == 0
        or all(size == 1 for axis, size in enumerate(places) if axis not in batch)
    )


def _stays(x_shape: rules.Shape, shape: rules.Shape, indices: Sequence[Value], params: Params) -> Value:
    """Whether each element of the updates is the last written to its position. Numbers are scattered and read again."""
    count = dim_product(shape)
    numbers = reshaped(iota.bind(dtype=rules.INT32, shape=(count,), dimension=0), shape)
    written = scatter.bind(full(x_shape, -1, rules.INT32), numbers, *indices, **params)
    return eq.bind(_read(written, indices, gather_params(params, x_shape, shape), fill=-1), numbers)


def _scatter_batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Value, int]:
    size = mapped_size(args, dims)
    x, updates = (with_batch_dim(arg, dim, 0, size) for arg, dim in zip(args[:2], dims[:2], strict=True))
    moved = {
        **params,
        "update_window_dims": _shifted(params["update_window_dims"]),
        "inserted_window_dims": _shifted(params["inserted_window_dims"]),
        "scatter_dims_to_operand_dims": _shifted(params["scatter_dims_to_operand_dims"]),
        "operand_batching_dims": _shifted(params["operand_batching_dims"]),
    }
    if all(dim is None for dim in dims[2:]):
        # The batch dimension becomes a further dimension of a window.
        moved["update_window_dims"] = (0, *moved["update_window_dims"])
        return scatter.bind(x, updates, *args[2:], **moved), 0
    indices = _batched_indices(args[2:], dims[2:], size)
    moved["operand_batching_dims"] = (0, *moved["operand_batching_dims"])
    moved["scatter_indices_batching_dims"] = (0, *_shifted(params["scatter_indices_batching_dims"]))
    return scatter.bind(x, updates, *indices, **moved), 0


scatter = Primitive(
    name="scatter",
    shape_rule=windows.scatter_shape,
    jvp=_scatter_jvp,
    transpose=_scatter_transpose,
    batch=_scatter_batch,
    reference=windows.scatter_reference,
    sampler=windows.scatter_samples,
)

TABLE = (gather, scatter)


# Helpers for other rules and folders.

_HINTS = {"indices_are_sorted": False, "unique_indices": False}


def take_along(x: Value, indices: Value, dimension: int, mode: str = "clip", fill: Any = None) -> Value:
    """x at int32 indices in one dimension: result[i, j, k] = x[i, indices[i, j, k], k] for dimension 1.

    With mode 'fill', a scalar `fill` is the result for indices outside of x."""
    aval, shape = get_aval(x), get_aval(indices).shape
    if any(size == 0 for size in shape):
        return full(shape, 0, aval.dtype)
    rank = len(shape)
    others = tuple(windows.without(rank, (dimension,)))
    return gather.bind(
        x,
        indices,
        *(() if mode != "fill" else (fill,)),
        offset_dims=(),
        collapsed_slice_dims=(dimension,),
        start_index_map=(dimension,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
        slice_sizes=(1,) * rank,
        mode=mode,
        **_HINTS,
    )
