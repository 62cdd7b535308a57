"""Partitioning rules of gather and scatter.

Imports `rule`; `table` joins all rules. Dimensions of the array that a window takes whole stay divided. So do the
common dimensions of array and indices and, in a gather, all dimensions of the indices. If positions in a dimension are
data, the dimension is whole: the positions may be anywhere in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycompiler.core.mesh.spec import Layout
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives import windows
from pycompiler.primitives.gather import gather, scatter
from pycompiler.spmd.partition.layouts import Part, joined, parts_of
from pycompiler.spmd.partition.rule import Axes, Context, Names, Results, Rule, shape_of


def _gather(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    params, shape = equation.params, shape_of(equation.inputs[0])
    x, *indices = parts
    rest = [indices.pop()] if params["mode"] == "fill" and indices else []
    of_indices = joined([part.layout for part in indices])
    axes = Axes()
    layout: list[Names] = [()] * len(shape)
    places: list[Names] = [()] * len(of_indices)
    for dim, other in zip(params["operand_batching_dims"], params["start_indices_batching_dims"], strict=True):
        layout[dim] = places[other] = axes.free(x.layout[dim], of_indices[other])
    for dim in windows.without(len(of_indices), params["start_indices_batching_dims"]):
        places[dim] = axes.free(of_indices[dim])
    dropped = (*params["collapsed_slice_dims"], *params["operand_batching_dims"])
    kept = windows.without(len(shape), dropped)
    for dim in kept:
        if params["slice_sizes"][dim] == shape[dim] and dim not in params["start_index_map"]:
            layout[dim] = axes.free(x.layout[dim])
    sizes = [
        n // parts_of(layout[dim], context.sizes) if dim in kept else n for dim, n in enumerate(params["slice_sizes"])
    ]
    out = _windows_among(params["offset_dims"], [layout[dim] for dim in kept], places)
    values = [context.moved(x, tuple(layout)), *(context.moved(part, tuple(places)) for part in indices)]
    values += [part.value for part in rest]
    return context.bound(equation, values, [out], slice_sizes=tuple(sizes))


def _scatter(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """Every device with a part of the array must know the updates. Only the dimensions of the updates that windows and
    batches share with the array stay divided."""
    params, shape, update = equation.params, *map(shape_of, equation.inputs[:2])
    x, updates, *indices = parts
    of_indices = joined([part.layout for part in indices])
    of_updates = windows.without(len(update), params["update_window_dims"])
    axes = Axes()
    layout: list[Names] = [()] * len(shape)
    places: list[Names] = [()] * len(of_indices)
    for dim, other in zip(params["operand_batching_dims"], params["scatter_indices_batching_dims"], strict=True):
        names = axes.free(x.layout[dim], updates.layout[of_updates[other]], of_indices[other])
        layout[dim] = places[other] = names
    dropped = (*params["inserted_window_dims"], *params["operand_batching_dims"])
    kept = windows.without(len(shape), dropped)
    for dim, source in zip(kept, params["update_window_dims"], strict=True):
        if update[source] == shape[dim] and dim not in params["scatter_dims_to_operand_dims"]:
            layout[dim] = axes.free(x.layout[dim], updates.layout[source])
    written = _windows_among(params["update_window_dims"], [layout[dim] for dim in kept], places)
    values = [context.moved(x, tuple(layout)), context.moved(updates, written)]
    values += [context.moved(part, tuple(places)) for part in indices]
    return context.bound(equation, values, [tuple(layout)])


def _windows_among(dims: Sequence[int], of_windows: Sequence[Names], places: Sequence[Names]) -> Layout:
    """The layout of windows at positions. `dims` are the dimensions of the windows, the others are positions."""
    found = dict(zip(dims, of_windows, strict=True))
    others = iter(places)
    return tuple([found[dim] if dim in found else next(others) for dim in range(len(of_windows) + len(places))])


TABLE: dict[Primitive, Rule] = {gather: _gather, scatter: _scatter}
