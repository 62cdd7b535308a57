"""Partitioning rules of elementwise operations, reductions, matmuls and movement.

Imports `rule`, which defines the type of a rule; `table` joins all rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.structural import broadcast_in_dim, reduce_sum, transpose
from pycompiler.primitives import (
    arithmetic,
    bits,
    compare,
    complex,
    elementwise,
    math,
    movement,
    random,
    reduction,
    special,
)
from pycompiler.primitives.collective.reductions import pmax, pmin, psum
from pycompiler.primitives.contraction import dot_general
from pycompiler.primitives.control.while_loop import optimization_barrier
from pycompiler.primitives.cumulative import TABLE as CUMULATIVE
from pycompiler.primitives.indexing import dynamic_slice, dynamic_update_slice
from pycompiler.primitives.shape import reshape
from pycompiler.primitives.sort import sort
from pycompiler.spmd.partition.layouts import Part, joined, parts_of
from pycompiler.spmd.partition.rule import Axes, Context, Names, Results, Rule, local, shape_of, without


def pointwise(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """Operands, except scalars, and results have one layout."""
    shape = shape_of(equation.outputs[0])
    full = [shape_of(atom) == shape for atom in equation.inputs]
    if not all(same or shape_of(atom) == () for same, atom in zip(full, equation.inputs, strict=True)):
        return None
    if any(shape_of(out) != shape for out in equation.outputs):
        return None
    layout = joined([part.layout for part, same in zip(parts, full, strict=True) if same])
    values = [context.moved(part, layout) if same else part.value for part, same in zip(parts, full, strict=True)]
    return context.bound(equation, values, [layout] * len(equation.outputs))


def along(dims_of: Callable[[dict[str, Any]], Sequence[int]]) -> Rule:
    """Operands and results have one shape. The given dimensions must be whole."""

    def rule(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
        shape = shape_of(equation.outputs[0])
        if any(shape_of(atom) != shape for atom in equation.inputs):
            return None
        layout = without(joined([part.layout for part in parts]), dims_of(equation.params))
        return context.bound(
            equation, [context.moved(part, layout) for part in parts], [layout] * len(equation.outputs)
        )

    return rule


def _broadcast(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    (part,), params = parts, equation.params
    shape: tuple[int, ...] = params["shape"]
    layout: list[tuple[str, ...]] = [()] * len(shape)
    for names, size, dim in zip(part.layout, shape_of(equation.inputs[0]), params["broadcast_dimensions"], strict=True):
        if size == shape[dim]:
            layout[dim] = names
        elif names:
            return None
    return context.bound(equation, [part.value], [tuple(layout)], shape=local(shape, tuple(layout), context.sizes))


def _reshape(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """In a group of merged or split dimensions, the first one may stay divided."""
    (part,) = parts
    old, new = shape_of(equation.inputs[0]), tuple(equation.params["new_sizes"])
    kept: list[tuple[str, ...]] = [()] * len(old)
    layout: list[tuple[str, ...]] = [()] * len(new)
    if 0 in old:
        return None
    i = j = 0
    while i < len(old) and j < len(new):
        start_i, start_j, size_i, size_j = i, j, old[i], new[j]
        while size_i != size_j:
            if size_i < size_j:
                i += 1
                size_i *= old[i]
            else:
                j += 1
                size_j *= new[j]
        # Dimensions of one element do not count for the division.
        first_i = next((d for d in range(start_i, i + 1) if old[d] != 1), start_i)
        first_j = next((d for d in range(start_j, j + 1) if new[d] != 1), start_j)
        names = part.layout[first_i]
        if names and new[first_j] % parts_of(names, context.sizes) == 0:
            kept[first_i] = layout[first_j] = names
        i, j = i + 1, j + 1
    value = context.moved(part, tuple(kept))
    return context.bound(equation, [value], [tuple(layout)], new_sizes=local(new, tuple(layout), context.sizes))


def _transpose(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    (part,) = parts
    layout = tuple([part.layout[dim] for dim in equation.params["permutation"]])
    return context.bound(equation, [part.value], [layout])


def _reduction(over: Primitive | None) -> Rule:
    """Reduces locally, then over the axes that divided the reduced dimensions: by a collective, or, if the operation or
    the dtype has none, by gathering the local results."""

    def rule(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
        (part,), axes = parts, equation.params["axes"]
        names = tuple([name for dim in axes for name in part.layout[dim]])
        layout = tuple([n for dim, n in enumerate(part.layout) if dim not in axes])
        (out,) = context.bound(equation, [part.value], [layout])
        if not names:
            return [out]
        if over is not None and equation.inputs[0].aval.dtype.kind in "iufcV":
            return [context.combined(over, out, names)]
        return context.bound(equation, [context.stacked(out, names)], [layout], axes=(0,))

    return rule


def _position(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """argmax and argmin, along whole dimensions."""
    (part,) = parts
    axis = equation.params["axis"]
    value = context.moved(part, without(part.layout, (axis,)))
    return context.bound(equation, [value], [(*part.layout[:axis], *part.layout[axis + 1 :])])


def _contraction(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """Batch and free dimensions stay divided. Divided contracted dimensions give parts of a sum."""
    params, axes = equation.params, Axes()
    left, right = list(parts[0].layout), list(parts[1].layout)

    def agree(i: int, j: int) -> Names:
        left[i] = right[j] = axes.free(left[i], right[j])
        return left[i]

    summed = [agree(i, j) for i, j in zip(params["lhs_contracting"], params["rhs_contracting"], strict=True)]
    batch = [agree(i, j) for i, j in zip(params["lhs_batch"], params["rhs_batch"], strict=True)]

    def free(layout: list[Names], taken: Sequence[int]) -> list[Names]:
        for dim, names in enumerate(layout):
            if dim not in taken:
                layout[dim] = axes.free(names)
        return [names for dim, names in enumerate(layout) if dim not in taken]

    layout = (
        *batch,
        *free(left, (*params["lhs_contracting"], *params["lhs_batch"])),
        *free(right, (*params["rhs_contracting"], *params["rhs_batch"])),
    )
    values = [context.moved(part, tuple(to)) for part, to in zip(parts, (left, right), strict=True)]
    (out,) = context.bound(equation, values, [tuple(layout)])
    over = tuple([name for names in summed for name in names])
    return [context.combined(psum, out, over)] if over else [out]


def _slice(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    (part,), params, shape = parts, equation.params, shape_of(equation.inputs[0])
    every = [
        (start, limit, stride) == (0, n, 1)
        for start, limit, stride, n in zip(
            params["start_indices"], params["limit_indices"], params["strides"], shape, strict=True
        )
    ]
    layout = without(part.layout, [dim for dim, taken in enumerate(every) if not taken])
    sizes = local(shape, layout, context.sizes)
    limits = tuple(
        [n if taken else limit for n, taken, limit in zip(sizes, every, params["limit_indices"], strict=True)]
    )
    return context.bound(equation, [context.moved(part, layout)], [layout], limit_indices=limits)


def _dynamic_slice(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    taken, shape = equation.params["slice_sizes"], shape_of(equation.inputs[0])
    layout = without(parts[0].layout, [dim for dim, n in enumerate(shape) if taken[dim] != n])
    values = [context.moved(parts[0], layout), *(part.value for part in parts[1:])]
    return context.bound(equation, values, [layout], slice_sizes=local(taken, layout, context.sizes))


def _dynamic_update(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    shape, update = shape_of(equation.inputs[0]), shape_of(equation.inputs[1])
    layout = without(parts[0].layout, [dim for dim, n in enumerate(shape) if update[dim] != n])
    values = [*(context.moved(part, layout) for part in parts[:2]), *(part.value for part in parts[2:])]
    return context.bound(equation, values, [layout])


def _concatenate(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    layout = without(joined([part.layout for part in parts]), [equation.params["dimension"]])
    return context.bound(equation, [context.moved(part, layout) for part in parts], [layout])


def _pad(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    params = equation.params
    padded = [
        dim for dim, more in enumerate(zip(params["low"], params["high"], params["interior"], strict=True)) if any(more)
    ]
    layout = without(parts[0].layout, padded)
    return context.bound(equation, [context.moved(parts[0], layout), parts[1].value], [layout])


def _each(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """Every result is like an operand."""
    return context.bound(equation, [part.value for part in parts], [part.layout for part in parts])


_POINTWISE = (elementwise, compare, complex, arithmetic, bits, math, special, random)

TABLE: dict[Primitive, Rule] = (
    {entry: pointwise for family in _POINTWISE for entry in family.TABLE}
    | {
        broadcast_in_dim: _broadcast,
        reshape: _reshape,
        transpose: _transpose,
        reduce_sum: _reduction(psum),
        reduction.reduce_max: _reduction(pmax),
        reduction.reduce_min: _reduction(pmin),
        reduction.reduce_prod: _reduction(None),
        reduction.reduce_and: _reduction(None),
        reduction.reduce_or: _reduction(None),
        reduction.reduce_xor: _reduction(None),
        reduction.argmax: _position,
        reduction.argmin: _position,
        dot_general: _contraction,
        movement.slice_: _slice,
        movement.pad: _pad,
        movement.concatenate: _concatenate,
        movement.reverse: along(lambda params: params["dimensions"]),
        dynamic_slice: _dynamic_slice,
        dynamic_update_slice: _dynamic_update,
        sort: along(lambda params: (params["dimension"],)),
        optimization_barrier: _each,
    }
    | {entry: along(lambda params: (params["axis"],)) for entry in CUMULATIVE}
)
