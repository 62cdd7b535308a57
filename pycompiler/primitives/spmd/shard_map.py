"""`shard_map`: a graph that every device of a mesh runs on its part of the arguments. And `sharding_constraint`.

The graph is written for one device; its collectives are over the mesh's axes. A layout states the axes that divide each
dimension of an argument or result. The rules transform the graph with the axes in scope. Residuals of a derivative stay
on the devices that computed them: one part for each device. The partitioner replaces emission; the dialect has no op.

In a function for one device there may be another one, over axes of the mesh that are not Manual yet. The mesh of the
inner function is the abstract mesh of that place, with Manual axes; `own_axes` are the axes that are not Manual there.
The axes of the inner function are free names: the participants are those of the outer function.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.autodiff.linearize import LinearizedGraph, linearize_graph
from pycompiler.core.autodiff.transpose import transpose_graph
from pycompiler.core.batching.batch import batch_graph
from pycompiler.core.mesh.abstract import BaseMesh
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import Layout, PartitionSpec, local_shape, spec_of
from pycompiler.core.mesh.typed import type_layout, with_type
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.axes import Name
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import Dims, Primitive, is_undefined, is_zero
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import mapped_size
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import ShapedArray, get_aval, same_type, shaped, short
from pycompiler.core.types.dtype import is_inexact
from pycompiler.primitives.collective.reductions import psum
from pycompiler.primitives.control.graphs import chosen, varies, with_zeros
from pycompiler.primitives.elementwise import mul
from pycompiler.primitives.rules import Value
from pycompiler.primitives.shape import full_like, reshaped

Layouts = tuple[Layout, ...]


def own_axes(mesh: BaseMesh) -> dict[Any, int]:
    """The sizes of the axes over which the function is mapped: those that are not Manual around it."""
    outer = frozenset(mesh.manual_axes)
    return {name: size for name, size in mesh.shape_tuple if name not in outer}


def within(mesh: BaseMesh, varying: bool) -> contextlib.AbstractContextManager[None]:
    """A context with the axes of the mesh in scope, for the transformation of a function for one device."""
    return axes.manual(own_axes(mesh), varying, None, mesh.abstract_mesh)


def local_aval(aval: ShapedArray, layout: Layout, mesh: BaseMesh) -> ShapedArray:
    """The part of one device."""
    return shaped(local_shape(aval.shape, layout, mesh.shape), aval.dtype, aval.weak_type)


def _global_aval(aval: ShapedArray, layout: Layout, mesh: BaseMesh) -> ShapedArray:
    sizes = mesh.shape
    shape = [n * math.prod(sizes[a] for a in names) for n, names in zip(aval.shape, layout, strict=True)]
    # Along the axes that the function is not written for, a result has the division of its type inside the function.
    both = [(*names, *more) for names, more in zip(layout, type_layout(aval), strict=True)]
    return with_type(shaped(shape, aval.dtype, aval.weak_type), NamedSharding(mesh.abstract_mesh, PartitionSpec(*both)))


def mentioned(layout: Layout) -> frozenset[str]:
    """The axes that divide an array."""
    return frozenset([name for names in layout for name in names])


def _shape(
    *avals: ShapedArray, jaxpr: ClosedGraph, mesh: BaseMesh, in_layouts: Layouts, out_layouts: Layouts, varying: bool
) -> tuple[ShapedArray, ...]:
    given = [local_aval(aval, layout, mesh) for aval, layout in zip(avals, in_layouts, strict=True)]
    if not all(map(same_type, given, jaxpr.in_avals)):
        raise TypeError(
            f"shard_map: the function for one device takes ({', '.join(map(short, jaxpr.in_avals))}), it is given "
            f"({', '.join(map(short, given))})"
        )
    return tuple([_global_aval(aval, layout, mesh) for aval, layout in zip(jaxpr.out_avals, out_layouts, strict=True)])


def _over(*, jaxpr: ClosedGraph, mesh: BaseMesh, **params: Any) -> frozenset[Name]:
    if mesh.manual_axes:
        return jaxpr.axis_names.union(own_axes(mesh))
    return jaxpr.axis_names - frozenset(mesh.axis_names)


def _jvp(
    primals: Sequence[Value],
    tangents: Sequence[Value],
    *,
    jaxpr: ClosedGraph,
    mesh: BaseMesh,
    in_layouts: Layouts,
    out_layouts: Layouts,
    varying: bool,
) -> tuple[Any, Any]:
    moving = varies(tangents)
    with within(mesh, varying):
        both, out_moving = jvp_graph(jaxpr, moving)
    outs = shard_map.bind(
        *primals,
        *chosen(tangents, moving),
        jaxpr=both,
        mesh=mesh,
        in_layouts=(*in_layouts, *chosen(in_layouts, moving)),
        out_layouts=(*out_layouts, *chosen(out_layouts, out_moving)),
        varying=varying,
    )
    count = len(out_layouts)
    return outs[:count], tuple(with_zeros(outs[count:], out_moving, outs[:count]))


# Linearization: residuals have a leading dimension of one element, divided over all axes of the mesh.


def _everywhere(aval: ShapedArray, mesh: BaseMesh) -> Layout:
    return (tuple(own_axes(mesh)), *[()] * len(aval.shape))


def _on_locals(
    graph: ClosedGraph, key: Any, run: Callable[..., list[Any]], avals: Iterable[ShapedArray]
) -> ClosedGraph:
    return graph.derive(key, lambda: record(run, tuple(avals), DebugInfo("shard_map", evaluate)))


def _with_residuals(parts: LinearizedGraph, count: int) -> ClosedGraph:
    known = parts.known

    def run(*args: Any) -> list[Any]:
        outs = evaluate(known, args)
        return [*outs[:count], *(reshaped(x, (1, *get_aval(x).shape)) for x in outs[count:])]

    return _on_locals(known, "stacked", run, known.in_avals)


def _from_residuals(parts: LinearizedGraph, stacked: Sequence[bool]) -> ClosedGraph:
    linear = parts.linear
    avals = list(linear.in_avals)
    for index, flag in enumerate(stacked):
        if flag:
            avals[index] = shaped((1, *avals[index].shape), avals[index].dtype, avals[index].weak_type)

    def run(*args: Any) -> list[Any]:
        flags = [*stacked, *[False] * (len(args) - len(stacked))]
        return evaluate(
            linear, [reshaped(x, get_aval(x).shape[1:]) if f else x for x, f in zip(args, flags, strict=True)]
        )

    return _on_locals(linear, ("stacked", tuple(stacked)), run, avals)


def _linearize(
    primals: Sequence[Value],
    tangents: Sequence[Value],
    *,
    jaxpr: ClosedGraph,
    mesh: BaseMesh,
    in_layouts: Layouts,
    out_layouts: Layouts,
    varying: bool,
) -> tuple[Any, Any]:
    moving = varies(tangents)
    count = len(out_layouts)
    with within(mesh, varying):
        parts = linearize_graph(jaxpr, moving)
        stacked = [place < 0 and ~place >= count for place in parts.residuals]
        known, linear = _with_residuals(parts, count), _from_residuals(parts, stacked)
    more = [_everywhere(aval, mesh) for aval in parts.known.out_avals[count:]]
    params: dict[str, Any] = {"mesh": mesh, "varying": varying}
    outs = shard_map.bind(*primals, jaxpr=known, in_layouts=in_layouts, out_layouts=(*out_layouts, *more), **params)
    if not any(parts.out_varying):
        return outs[:count], tuple(with_zeros((), parts.out_varying, outs[:count]))
    residuals = [primals[place] if place >= 0 else outs[~place] for place in parts.residuals]
    layouts = [in_layouts[place] if place >= 0 else (*out_layouts, *more)[~place] for place in parts.residuals]
    found = shard_map.bind(
        *residuals,
        *chosen(tangents, moving),
        jaxpr=linear,
        in_layouts=(*layouts, *chosen(in_layouts, moving)),
        out_layouts=tuple(chosen(out_layouts, parts.out_varying)),
        **params,
    )
    return outs[:count], tuple(with_zeros(found, parts.out_varying, outs[:count]))


def _transpose(
    cotangents: Sequence[Value],
    *args: Value,
    jaxpr: ClosedGraph,
    mesh: BaseMesh,
    in_layouts: Layouts,
    out_layouts: Layouts,
    varying: bool,
) -> list[Any]:
    linear = tuple([is_undefined(arg) for arg in args])
    given = varies(cotangents)
    with within(mesh, varying):
        backward, nonzero = transpose_graph(jaxpr, linear, given)
        layouts = chosen(chosen(in_layouts, linear), nonzero)
        if not varying:
            backward = _summed(backward, layouts, mesh)
    cts = [
        ct if varying else _shared(ct, layout, mesh)
        for ct, layout in zip(chosen(cotangents, given), chosen(out_layouts, given), strict=True)
    ]
    known = [not flag for flag in linear]
    found: Any = ()
    if any(nonzero):
        found = shard_map.bind(
            *chosen(args, known),
            *cts,
            jaxpr=backward,
            mesh=mesh,
            in_layouts=(*chosen(in_layouts, known), *chosen(out_layouts, given)),
            out_layouts=tuple(layouts),
            varying=varying,
        )
    results = iter(found)
    pulled = iter([next(results) if flag else None for flag in nonzero])
    return [next(pulled) if flag else None for flag in linear]


def _absent(layout: Layout, mesh: BaseMesh) -> tuple[str, ...]:
    named = mentioned(layout)
    return tuple([name for name in own_axes(mesh) if name not in named])


def _shared(ct: Value, layout: Layout, mesh: BaseMesh) -> Value:
    """The cotangent of a result with a copy on every device along some axes: each device gets its share."""
    copies = math.prod(mesh.shape[name] for name in _absent(layout, mesh))
    if copies == 1 or is_zero(ct) or not is_inexact(get_aval(ct).dtype):
        return ct
    return mul.bind(ct, full_like(ct, 1 / copies))


def _summed(graph: ClosedGraph, layouts: Sequence[Layout], mesh: BaseMesh) -> ClosedGraph:
    """The sum of the contributions of all devices along the axes, for an argument with a copy on each."""
    over = tuple([_absent(layout, mesh) for layout in layouts])

    def run(*args: Any) -> list[Any]:
        outs = evaluate(graph, args)
        return [
            psum.bind(x, axes=names, axis_index_groups=None) if names else x
            for x, names in zip(outs, over, strict=True)
        ]

    return _on_locals(graph, ("summed", over), run, graph.in_avals) if any(over) else graph


def _inserted(layout: Layout, dim: int | None, names: tuple[Any, ...] = ()) -> Layout:
    return layout if dim is None else (*layout[:dim], names, *layout[dim:])


def _spmd(mesh: BaseMesh, used: Iterable[Any]) -> tuple[Any, ...] | None:
    """The mesh axes that divide the mapped axis, by `vmap(spmd_axis_name=)`. None if some of them already divide
    another dimension."""
    names = axes.mapping_spmd()
    if not set(names).isdisjoint(used):
        return None
    return names if own_axes(mesh).keys() >= set(names) else ()


def _batch(
    args: Sequence[Value],
    dims: Dims,
    *,
    jaxpr: ClosedGraph,
    mesh: BaseMesh,
    in_layouts: Layouts,
    out_layouts: Layouts,
    varying: bool,
) -> tuple[Any, Any]:
    size = mapped_size(args, dims)
    mapping = axes.mapping()
    names = _spmd(mesh, [name for layout in (*in_layouts, *out_layouts) for part in layout for name in part])
    if names is None or (mapping is not None and mapping.name in jaxpr.axis_names):
        # Residuals are already divided over all axes; cooperating members are on all devices.
        names = ()
    parts = math.prod(mesh.shape[name] for name in names)
    if size % parts:
        raise ValueError(f"vmap: spmd_axis_name {names} divides the mapped axis, of size {size}, into {parts} parts")
    try:
        if names:
            axes.swap_mapping(axes.Axis(None, size // parts))
        with within(mesh, varying):
            batched, out_dims = batch_graph(jaxpr, tuple(dims), size // parts)
    finally:
        axes.swap_mapping(mapping)
    outs = shard_map.bind(
        *args,
        jaxpr=batched,
        mesh=mesh,
        in_layouts=tuple([_inserted(layout, dim, names) for layout, dim in zip(in_layouts, dims, strict=True)]),
        out_layouts=tuple([_inserted(layout, dim, names) for layout, dim in zip(out_layouts, out_dims, strict=True)]),
        varying=varying,
    )
    return outs, out_dims


shard_map = Primitive(
    "shard_map",
    _shape,
    _jvp,
    _transpose,
    _batch,
    multiple_results=True,
    linearize=_linearize,
    axis_names=_over,
)


# sharding_constraint(x): x, divided over devices by `sharding`.


def _constraint_shape(x: ShapedArray, *, sharding: Any) -> ShapedArray:
    sharding.check_compatible_aval(x.shape)
    return x


def _constraint_jvp(primals: Sequence[Value], tangents: Sequence[Value], *, sharding: Any) -> tuple[Any, Any]:
    (tangent,) = tangents
    moved = tangent if is_zero(tangent) else sharding_constraint.bind(tangent, sharding=sharding)
    return sharding_constraint.bind(*primals, sharding=sharding), moved


def _constraint_transpose(ct: Value, x: Value, *, sharding: Any) -> tuple[Any]:
    return (sharding_constraint.bind(ct, sharding=sharding),)


def _constraint_batch(args: Sequence[Value], dims: Dims, *, sharding: Any) -> tuple[Any, int | None]:
    (x,), (dim,) = args, dims
    if dim is not None and isinstance(sharding, NamedSharding):
        parts = list(sharding.spec)
        names = _spmd(sharding.mesh, itertools.chain(*sharding.axes_of_dimensions))
        if names is None:
            raise ValueError(
                f"vmap: spmd_axis_name {axes.mapping_spmd()} names an axis that divides another dimension already, "
                f"in the constraint {sharding.spec} of the mapped function: leave it out there"
            )
        parts += [None] * (dim - len(parts))
        sharding = sharding.update(spec=sharding.spec.update(partitions=[*parts[:dim], names, *parts[dim:]]))
    return sharding_constraint.bind(x, sharding=sharding), dim


sharding_constraint = Primitive(
    "sharding_constraint",
    _constraint_shape,
    _constraint_jvp,
    _constraint_transpose,
    _constraint_batch,
)

__all__ = ["Layouts", "local_aval", "mentioned", "own_axes", "shard_map", "sharding_constraint", "spec_of", "within"]
