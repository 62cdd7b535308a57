"""Batching rules of users' primitives from their form, and moving of mapped axes."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from typing import Any

from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.structural import broadcast_in_dim, move_dim, with_batch_dim
from pycompiler.core.tracing.user_primitive import AxisData, Rule, UserPrimitive, axis_batchers, batchers
from pycompiler.core.types.aval import get_aval


def moveaxis(x: Any, src: int, dst: int) -> Any:
    """The array with one axis moved. Negative axes count from the end."""
    ndim = get_aval(x).ndim
    return move_dim(x, src % ndim, dst % ndim)


def broadcast(x: Any, sz: Any, axis: int, mesh_axis: Any = None) -> Any:
    """The array, repeated along a new axis of this size. `mesh_axis` must be None."""
    if mesh_axis is not None:
        raise NotImplementedError(f"broadcast: the new axis can't be divided over the axis {mesh_axis!r} of a mesh")
    return with_batch_dim(x, None, axis % (get_aval(x).ndim + 1), sz)


def bdim_at_front(x: Any, bdim: int | None, size: Any, mesh_axis: Any = None) -> Any:
    """The array with its mapped axis in front; one without a mapped axis is repeated."""
    return broadcast(x, size, 0, mesh_axis) if bdim is None else moveaxis(x, bdim, 0)


class AxisBatchers(MutableMapping[Primitive, Rule]):
    """The rules that take the mapped axis: `rule(axis_size, axis_name, None, args, dims, **params)`."""

    def __setitem__(self, prim: Primitive, rule: Rule) -> None:
        def with_axis(axis: Any, args: Any, dims: Any, **params: Any) -> Any:
            return rule(axis.size, axis.name, None, args, dims, **params)

        axis_batchers[prim] = with_axis

    def __getitem__(self, prim: Primitive) -> Rule:
        rule = axis_batchers[prim]

        def without_axis(size: Any, name: Any, main: Any, args: Any, dims: Any, **params: Any) -> Any:
            return rule(AxisData(name, size), args, dims, **params)

        return without_axis

    def __delitem__(self, prim: Primitive) -> None:
        del axis_batchers[prim]

    def __iter__(self) -> Iterator[Primitive]:
        return iter(axis_batchers)

    def __len__(self) -> int:
        return len(axis_batchers)


def _check(function: str, prim: Primitive) -> None:
    if not isinstance(prim, UserPrimitive):
        raise TypeError(f"{function}: takes a primitive of your own (pycompiler.extend.core.Primitive), got {prim!r}")


def _dims(prim: Primitive, out: Any, dim: int) -> Any:
    return (dim,) * len(out) if prim.multiple_results else dim


def defvectorized(prim: Primitive) -> None:
    """The primitive works on arrays with an additional axis as they are: elementwise, in one argument, or in several
    that are all mapped over the same axis."""
    _check("defvectorized", prim)

    def rule(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        if any(dim != dims[0] for dim in dims):
            raise ValueError(
                f"{prim.name}: a rule of defvectorized takes arguments that are mapped over one axis, got "
                f"{tuple(dims)}; use defbroadcasting"
            )
        out = prim.bind(*args, **params)
        return out, _dims(prim, out, dims[0])

    batchers[prim] = rule


def defbroadcasting(prim: Primitive) -> None:
    """The primitive is elementwise in several arguments and broadcasts: scalars, and axes of size 1."""
    _check("defbroadcasting", prim)

    def rule(args: Sequence[Any], dims: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        shapes = [get_aval(x).shape for x in args]
        shape, dim = next((shape, d) for shape, d in zip(shapes, dims, strict=True) if d is not None)
        if all(other == shape and d == dim for other, d in zip(shapes, dims, strict=True) if other):
            out = prim.bind(*args, **params)
            return out, _dims(prim, out, dim)
        moved = [bdim_at_front(x, d, 1) if own else x for x, own, d in zip(args, shapes, dims, strict=True)]
        ndim = max(get_aval(x).ndim for x in moved)
        out = prim.bind(
            *[_of_rank(x, ndim) if d is not None else x for x, d in zip(moved, dims, strict=True)], **params
        )
        return out, _dims(prim, out, 0)

    batchers[prim] = rule


def _of_rank(x: Any, ndim: int) -> Any:
    """A mapped scalar: its axis stays in front, axes of size 1 follow."""
    shape = get_aval(x).shape
    if len(shape) == ndim:
        return x
    return broadcast_in_dim.bind(
        x, shape=(*shape, *[1] * (ndim - len(shape))), broadcast_dimensions=tuple(range(len(shape)))
    )


def defreducer(prim: Primitive) -> None:
    """The primitive reduces its argument along its parameter `axes`."""
    _check("defreducer", prim)

    def rule(args: Sequence[Any], dims: Sequence[Any], *, axes: Sequence[int], **params: Any) -> tuple[Any, Any]:
        (operand,), (dim,) = args, dims
        moved = tuple([axis + (axis >= dim) for axis in axes])
        if "input_shape" in params:
            params["input_shape"] = get_aval(operand).shape
        return prim.bind(operand, axes=moved, **params), dim - sum(axis < dim for axis in moved)

    batchers[prim] = rule
