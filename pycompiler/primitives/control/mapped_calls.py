"""Maps by `vmap` of primitives that call functions of the user: a loop over the mapped elements, or one call for all.

`callbacks` and `foreign_calls` import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.source import user_source
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import broadcast_in_dim, mapped_size, move_dim
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives.control.scan import Form, run_scan
from pycompiler.primitives.movement import concatenate, slice_
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import reshape

VMAP_METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized")


def element(x: Value, dim: int | None, index: int) -> Value:
    """One of the mapped values."""
    if dim is None:
        return x
    shape = get_aval(x).shape
    start = tuple([index if axis == dim else 0 for axis in range(len(shape))])
    limit = tuple([index + 1 if axis == dim else size for axis, size in enumerate(shape)])
    part = slice_.bind(x, start_indices=start, limit_indices=limit, strides=(1,) * len(shape))
    return reshape.bind(part, new_sizes=(*shape[:dim], *shape[dim + 1 :]))


def size_of(name: str, args: Sequence[Value], dims: Dims) -> int:
    size = mapped_size(args, dims)
    if not isinstance(size, int):
        raise TypeError(
            f"{name}: under vmap over an axis of the symbolic size {size}, it can't run once for each element"
        )
    return size


def in_loop(
    primitive: Primitive, args: Sequence[Value], dims: Dims, params: dict[str, Any], unroll: bool = False
) -> tuple[Sequence[Any], Sequence[int | None]]:
    """A loop that calls the function once for each mapped element, and joins the results."""
    size = size_of(primitive.name, args, dims)
    mapped = [move_dim(x, d, 0) for x, d in zip(args, dims, strict=True) if d is not None]
    others = [x for x, d in zip(args, dims, strict=True) if d is None]

    def step(*operands: Any) -> Sequence[Any]:
        fixed, moving = iter(operands[: len(others)]), iter(operands[len(others) :])
        return primitive.bind(*[next(fixed) if d is None else next(moving) for d in dims], **params)

    if unroll:
        each = [step(*others, *(element(x, 0, index) for x in mapped)) for index in range(size)]
        return tuple([_joined(outs) for outs in zip(*each, strict=True)]), (0,) * len(params["result_avals"])
    slices = [ShapedArray(a.shape[1:], a.dtype, a.weak_type) for a in map(get_aval, mapped)]
    body = record(step, [*map(get_aval, others), *slices], DebugInfo("vmap", primitive.bind))
    _, ys = run_scan(body, Form(0, 0, size, False), others, [], mapped)
    return tuple(ys), (0,) * len(ys)


def _joined(parts: Sequence[Value]) -> Value:
    whole = [
        broadcast_in_dim.bind(
            x, shape=(1, *get_aval(x).shape), broadcast_dimensions=tuple(range(1, get_aval(x).ndim + 1))
        )
        for x in parts
    ]
    return concatenate.bind(*whole, dimension=0) if len(whole) > 1 else whole[0]


def by_method(
    primitive: Primitive,
    args: Sequence[Value],
    dims: Dims,
    params: dict[str, Any],
    widened: Callable[[dict[str, Any], Sequence[bool]], dict[str, Any]] = lambda params, mapped: params,
) -> tuple[Any, Any]:
    """The map of a call by its parameter `vmap_method`.

    For one call on all elements, `widened` gives the parameters besides `result_avals`, from flags for the arguments
    that have a leading axis.
    """
    vmap_method: str | None = params["vmap_method"]
    if vmap_method is None:
        source = user_source()
        raise NotImplementedError(
            (f"{source.describe()}\n" if source else "")
            + f"{primitive.name}: vmap needs a method for its calls: give vmap_method, one of "
            + ", ".join(VMAP_METHODS)
        )
    if vmap_method in ("sequential", "sequential_unrolled"):
        return in_loop(primitive, args, dims, params, unroll=vmap_method == "sequential_unrolled")
    size = mapped_size(args, dims)
    given: list[Any] = []
    for x, d in zip(args, dims, strict=True):
        if d is not None:
            given.append(move_dim(x, d, 0))
        elif vmap_method == "legacy_vectorized":
            given.append(x)
        else:
            shape = get_aval(x).shape
            first = size if vmap_method == "broadcast_all" else 1
            kept = tuple(range(1, len(shape) + 1))
            given.append(broadcast_in_dim.bind(x, shape=(first, *shape), broadcast_dimensions=kept))
    has_axis = [d is not None or vmap_method != "legacy_vectorized" for d in dims]
    params = widened(params, has_axis)
    params["result_avals"] = tuple([ShapedArray((size, *a.shape), a.dtype) for a in params["result_avals"]])
    outs = primitive.bind(*given, **params)
    return outs, (0,) * len(outs)
