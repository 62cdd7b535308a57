"""What becomes of the layouts of an operation's operands: one rule for each family, in one table.

A rule gets the partitioner, the equation and the operands' parts, and gives the parts of the results. Where no rule
is, or a rule gives None, the operands are gathered, and every device computes everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pycompiler.core.mesh.mesh import Layout
from pycompiler.core.tracing.graph import ClosedGraph, Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.structural import broadcast_in_dim, reduce_sum, transpose
from pycompiler.ops import arithmetic, bits, compare, complex, elementwise, math, movement, random, special
from pycompiler.ops.collective.reductions import pmax, pmin, psum
from pycompiler.ops.contraction import dot_general
from pycompiler.ops.control.while_loop import optimization_barrier
from pycompiler.ops.cumulative import cummax, cummin, cumprod, cumsum
from pycompiler.ops.indexing import dynamic_slice, dynamic_update_slice
from pycompiler.ops.reduction import argmax, argmin, reduce_and, reduce_max, reduce_min, reduce_or, reduce_prod
from pycompiler.ops.shape import reshape
from pycompiler.ops.sort import sort
from pycompiler.spmd.partition.layouts import Part, Sizes, joined, moved, parts_of

Results = list[Part] | None


class Context(Protocol):
    """What rules need of the partitioner."""

    @property
    def sizes(self) -> Sizes:
        """Of the mesh's axes."""
        ...

    def interpret(self, closed: ClosedGraph, parts: Sequence[Part]) -> list[Part]:
        """The results of a graph whose inputs are these parts."""
        ...


Rule = Callable[[Context, Equation, Sequence[Part]], Results]


def _shape(atom: Any) -> tuple[int, ...]:
    return atom.aval.shape


def _bound(equation: Equation, values: Sequence[Any], layouts: Sequence[Layout], **params: Any) -> list[Part]:
    """The operation on local values, its results in these layouts."""
    out = equation.primitive.bind(*values, **{**equation.params, **params})
    outs = out if equation.primitive.multiple_results else (out,)
    return [Part(x, layout) for x, layout in zip(outs, layouts, strict=True)]


def _without(layout: Layout, dims: Sequence[int]) -> Layout:
    """The layout with these dimensions undivided."""
    return tuple([() if dim in dims else names for dim, names in enumerate(layout)])


def _local(shape: Sequence[int], layout: Layout, sizes: Sizes) -> tuple[int, ...]:
    return tuple([n // parts_of(names, sizes) for n, names in zip(shape, layout, strict=True)])


def pointwise(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """Operands, but for scalars, are divided alike, and so are the results."""
    shape = _shape(equation.outputs[0])
    full = [_shape(atom) == shape for atom in equation.inputs]
    if not all(same or _shape(atom) == () for same, atom in zip(full, equation.inputs, strict=True)):
        return None
    if any(_shape(out) != shape for out in equation.outputs):
        return None
    layout = joined([part.layout for part, same in zip(parts, full, strict=True) if same])
    values = [
        moved(part, layout, context.sizes) if same else part.value for part, same in zip(parts, full, strict=True)
    ]
    return _bound(equation, values, [layout] * len(equation.outputs))


def _along(dims_of: Callable[[dict[str, Any]], Sequence[int]]) -> Rule:
    """All operands of one shape, which is that of the results; some dimensions must be whole."""

    def rule(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
        shape = _shape(equation.outputs[0])
        if any(_shape(atom) != shape for atom in equation.inputs):
            return None
        layout = _without(joined([part.layout for part in parts]), dims_of(equation.params))
        return _bound(
            equation, [moved(part, layout, context.sizes) for part in parts], [layout] * len(equation.outputs)
        )

    return rule


def _broadcast(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    (part,), params = parts, equation.params
    shape: tuple[int, ...] = params["shape"]
    layout: list[tuple[str, ...]] = [()] * len(shape)
    for names, size, dim in zip(part.layout, _shape(equation.inputs[0]), params["broadcast_dimensions"], strict=True):
        if size == shape[dim]:
            layout[dim] = names
        elif names:
            return None
    return _bound(equation, [part.value], [tuple(layout)], shape=_local(shape, tuple(layout), context.sizes))


def _reshape(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """In a group of dimensions that are merged or split, the first may stay divided."""
    (part,) = parts
    old, new = _shape(equation.inputs[0]), tuple(equation.params["new_sizes"])
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
        # Dimensions of one element are no part of what is divided.
        first_i = next((d for d in range(start_i, i + 1) if old[d] != 1), start_i)
        first_j = next((d for d in range(start_j, j + 1) if new[d] != 1), start_j)
        names = part.layout[first_i]
        if names and new[first_j] % parts_of(names, context.sizes) == 0:
            kept[first_i] = layout[first_j] = names
        i, j = i + 1, j + 1
    value = moved(part, tuple(kept), context.sizes)
    return _bound(equation, [value], [tuple(layout)], new_sizes=_local(new, tuple(layout), context.sizes))


def _transpose(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    (part,) = parts
    layout = tuple([part.layout[dim] for dim in equation.params["permutation"]])
    return _bound(equation, [part.value], [layout])


def _reduction(over: Primitive | None) -> Rule:
    """Locally, then over the axes that divided the dimensions that go; without such a collective they are gathered."""

    def rule(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
        (part,), axes = parts, equation.params["axes"]
        names = tuple([name for dim in axes for name in part.layout[dim]])
        if over is None or equation.inputs[0].aval.dtype.kind not in "iufcV":
            part, names = Part(moved(part, _without(part.layout, axes), context.sizes), part.layout), ()
        layout = tuple([n for dim, n in enumerate(part.layout) if dim not in axes])
        (out,) = _bound(equation, [part.value], [layout])
        return [Part(over.bind(out.value, axes=names, axis_index_groups=None), layout)] if over and names else [out]

    return rule


def _position(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """argmax and argmin, of whole dimensions."""
    (part,) = parts
    axis = equation.params["axis"]
    value = moved(part, _without(part.layout, (axis,)), context.sizes)
    return _bound(equation, [value], [(*part.layout[:axis], *part.layout[axis + 1 :])])


def _contraction(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """Batch and free dimensions stay divided; what is divided along the contracted ones gives parts of a sum."""
    params, sizes = equation.params, context.sizes
    left, right = list(parts[0].layout), list(parts[1].layout)
    used: set[str] = set()

    def agree(i: int, j: int) -> tuple[str, ...]:
        names = next((n for n in (left[i], right[j]) if n and not used.intersection(n)), ())
        left[i] = right[j] = names
        used.update(names)
        return names

    summed = [agree(i, j) for i, j in zip(params["lhs_contracting"], params["rhs_contracting"], strict=True)]
    batch = [agree(i, j) for i, j in zip(params["lhs_batch"], params["rhs_batch"], strict=True)]

    def free(layout: list[tuple[str, ...]], taken: Sequence[int]) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        for dim, names in enumerate(layout):
            if dim not in taken:
                layout[dim] = () if used.intersection(names) else names
                used.update(layout[dim])
                found.append(layout[dim])
        return found

    layout = (
        *batch,
        *free(left, (*params["lhs_contracting"], *params["lhs_batch"])),
        *free(right, (*params["rhs_contracting"], *params["rhs_batch"])),
    )
    values = [moved(part, tuple(to), sizes) for part, to in zip(parts, (left, right), strict=True)]
    (out,) = _bound(equation, values, [tuple(layout)])
    over = tuple([name for names in summed for name in names])
    return [Part(psum.bind(out.value, axes=over, axis_index_groups=None), out.layout)] if over else [out]


def _slice(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    (part,), params, shape = parts, equation.params, _shape(equation.inputs[0])
    every = [
        (start, limit, stride) == (0, n, 1)
        for start, limit, stride, n in zip(
            params["start_indices"], params["limit_indices"], params["strides"], shape, strict=True
        )
    ]
    layout = _without(part.layout, [dim for dim, taken in enumerate(every) if not taken])
    local = _local(shape, layout, context.sizes)
    limits = tuple(
        [n if taken else limit for n, taken, limit in zip(local, every, params["limit_indices"], strict=True)]
    )
    return _bound(equation, [moved(part, layout, context.sizes)], [layout], limit_indices=limits)


def _dynamic_slice(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    taken, shape = equation.params["slice_sizes"], _shape(equation.inputs[0])
    layout = _without(parts[0].layout, [dim for dim, n in enumerate(shape) if taken[dim] != n])
    values = [moved(parts[0], layout, context.sizes), *(part.value for part in parts[1:])]
    return _bound(equation, values, [layout], slice_sizes=_local(taken, layout, context.sizes))


def _dynamic_update(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    shape, update = _shape(equation.inputs[0]), _shape(equation.inputs[1])
    layout = _without(parts[0].layout, [dim for dim, n in enumerate(shape) if update[dim] != n])
    values = [*(moved(part, layout, context.sizes) for part in parts[:2]), *(part.value for part in parts[2:])]
    return _bound(equation, values, [layout])


def _concatenate(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    layout = _without(joined([part.layout for part in parts]), [equation.params["dimension"]])
    return _bound(equation, [moved(part, layout, context.sizes) for part in parts], [layout])


def _pad(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    params = equation.params
    padded = [
        dim for dim, more in enumerate(zip(params["low"], params["high"], params["interior"], strict=True)) if any(more)
    ]
    layout = _without(parts[0].layout, padded)
    return _bound(equation, [moved(parts[0], layout, context.sizes), parts[1].value], [layout])


def _each(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    """Every result is an operand."""
    return _bound(equation, [part.value for part in parts], [part.layout for part in parts])


_POINTWISE = (elementwise, compare, complex, arithmetic, bits, math, special, random)

RULES: dict[Primitive, Rule] = (
    {entry: pointwise for family in _POINTWISE for entry in family.TABLE}
    | {
        broadcast_in_dim: _broadcast,
        reshape: _reshape,
        transpose: _transpose,
        reduce_sum: _reduction(psum),
        reduce_max: _reduction(pmax),
        reduce_min: _reduction(pmin),
        reduce_prod: _reduction(None),
        reduce_and: _reduction(None),
        reduce_or: _reduction(None),
        argmax: _position,
        argmin: _position,
        dot_general: _contraction,
        movement.slice_: _slice,
        movement.pad: _pad,
        movement.concatenate: _concatenate,
        movement.reverse: _along(lambda params: params["dimensions"]),
        dynamic_slice: _dynamic_slice,
        dynamic_update_slice: _dynamic_update,
        sort: _along(lambda params: (params["dimension"],)),
        optimization_barrier: _each,
    }
    | {entry: _along(lambda params: (params["axis"],)) for entry in (cumsum, cumprod, cummax, cummin)}
)
