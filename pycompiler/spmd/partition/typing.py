"""The types of results over Explicit mesh axes, by the partitioning rules of `table`.

A rule runs with `_Types` in place of the partitioner: it computes layouts and no values. An operand that a rule would
gather is an error, because in this mode the program states each movement of data (`reshard`, `out_sharding`). The rules
here replace those of operations for which JAX decides otherwise. Fills `core.hooks`; imports `table`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.custom import custom_lin
from pycompiler.core.errors import ShardingTypeError
from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.abstract import AbstractMesh
from pycompiler.core.mesh.contexts import get_abstract_mesh
from pycompiler.core.mesh.spec import Layout
from pycompiler.core.mesh.typed import type_layout, typed_as
from pycompiler.core.source import user_frame_source
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.graph import Equation, Var
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.structural import broadcast_in_dim
from pycompiler.core.types.aval import short
from pycompiler.primitives import movement, reduction, window
from pycompiler.primitives.contraction import dot_general
from pycompiler.primitives.convolution import conv_general_dilated
from pycompiler.primitives.indexing import dynamic_slice, dynamic_update_slice
from pycompiler.primitives.shape import reshape
from pycompiler.spmd.partition.interpreter import FORMS
from pycompiler.spmd.partition.layouts import Part, Sizes, gathered_axes, whole
from pycompiler.spmd.partition.table import RULES

_TO_DO = (
    "What to do: give operands that agree, by pc.reshard(x, spec); or compute it in "
    "pc.sharding.auto_axes(f, out_sharding=spec), where the partitioner decides"
)


class _Types:
    """The context in which a rule gives the layouts of results."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    def moved(self, part: Part, layout: Layout) -> Any:
        """None, if the operand need not be gathered."""
        names = gathered_axes(part.layout, layout)
        if names:
            dim, over = next(iter(names.items()))
            raise _GatheredError(
                f"dimension {dim} of {short(part.value)} would be gathered over {', '.join(map(repr, over))}"
            )
        return None

    def bound(self, equation: Equation, values: Sequence[Any], layouts: Sequence[Layout], **params: Any) -> list[Part]:
        """Results with these layouts."""
        return [Part(None, layout) for layout in layouts]

    def combined(self, over: Primitive, part: Part, names: tuple[str, ...]) -> Part:
        """The same layout."""
        return part

    def stacked(self, part: Part, names: tuple[str, ...]) -> Any:
        """No value."""
        return None


class _GatheredError(Exception):
    """A rule would gather an operand."""


def _fail(primitive: Primitive, avals: Sequence[ShapedArray], why: str, to_do: str = _TO_DO) -> ShardingTypeError:
    source = user_frame_source()
    where = f"{source.describe()}\n" if source else ""
    shown = ", ".join(map(short, avals))
    return ShardingTypeError(f"{where}{primitive.name} of ({shown}): {why}.\n{to_do}.")


def type_results(
    primitive: Primitive, avals: Sequence[ShapedArray], params: dict[str, Any], results: Sequence[ShapedArray]
) -> Sequence[ShapedArray]:
    """The avals of results with the shardings of their types.

    Raises ShardingTypeError for operands that do not agree, and if the sharding of a result is not determined.
    """
    if primitive in _BY_SHAPE_RULE or primitive.is_users:
        return results
    for aval in avals:
        if aval.explicit_sharding is not None:
            break
    else:
        return results
    known = [aval.explicit_sharding for aval in avals if aval.explicit_sharding is not None]
    mesh: AbstractMesh = known[0].mesh
    manual = axes.manual_axes()
    if manual is not None and manual.names >= set(mesh.axis_names):
        # In the program of one device, shapes are those of its parts.
        return results
    for other in known:
        if other.mesh != mesh:
            why = f"the meshes of all operands must be equal, got {mesh} and {other.mesh}"
            raise _fail(primitive, avals, why)
    now = get_abstract_mesh()
    if not now.empty and now.shape_tuple != mesh.shape_tuple:
        raise ValueError(f"{primitive.name}: the current mesh is {now}, the operands are on another one, {mesh}")
    key = (primitive, tuple(avals), tuple(params.items()), tuple(results), axes.mapping() is not None)
    try:
        found = _typed(mesh, *key)
    except TypeError as error:
        if isinstance(error, ShardingTypeError) or "unhashable" not in str(error):
            raise
        found = _typed.__wrapped__(mesh, *key)
    if isinstance(found, str):
        raise _fail(primitive, avals, found)
    return found


@functools.lru_cache(maxsize=1 << 12)
def _typed(
    mesh: AbstractMesh,
    primitive: Primitive,
    avals: tuple[ShapedArray, ...],
    params: tuple[tuple[str, Any], ...],
    results: tuple[ShapedArray, ...],
    mapping: bool,
) -> tuple[ShapedArray, ...] | str:
    """The typed results, or the reason why there are none."""
    equation = Equation(primitive, [Var(aval) for aval in avals], dict(params), [Var(aval) for aval in results], None)
    parts = [Part(aval, type_layout(aval)) for aval in avals]
    if not any(any(part.layout) for part in parts):
        return tuple([typed_as(aval, mesh, whole(len(aval.shape))) for aval in results])
    rule = TYPES.get(primitive) or RULES.get(primitive)
    try:
        found = None if rule is None else rule(_Types(mesh.shape), equation, parts)
        if found is None:
            return "there is no rule for this division of the operands"
        layouts = [part.layout for part in found]
        _check(results, layouts, mesh.shape)
    except _GatheredError as error:
        return str(error)
    return tuple([typed_as(aval, mesh, layout) for aval, layout in zip(results, layouts, strict=True)])


def _check(results: Sequence[ShapedArray], layouts: Sequence[Layout], sizes: Sizes) -> None:
    for aval, layout in zip(results, layouts, strict=True):
        names = [name for some in layout for name in some]
        if len(set(names)) < len(names):
            raise _GatheredError(f"the result would be divided twice along an axis of {names}")
        for dim, (size, some) in enumerate(zip(aval.shape, layout, strict=True)):
            parts = math.prod(sizes[name] for name in some)
            if size % parts:
                raise _GatheredError(
                    f"dimension {dim} of the result, of size {size}, can't be divided into {parts} parts"
                )


# The rules for which JAX decides otherwise. They have the type of partitioning rules.


def _keeps(context: Any, equation: Equation, parts: Sequence[Part]) -> list[Part]:
    """Each result is divided as the first operand of its rank, along every dimension: parts move as needed."""
    return [Part(None, parts[0].layout) for _ in equation.outputs]


def _concatenate(context: Any, equation: Equation, parts: Sequence[Part]) -> list[Part]:
    layouts = {part.layout for part in parts if any(part.layout)}
    if len(layouts) > 1:
        raise _GatheredError("all operands of a concatenation must have one sharding")
    return [Part(None, layouts.pop())]


def _update(context: Any, equation: Equation, parts: Sequence[Part]) -> list[Part]:
    if parts[0].layout != parts[1].layout and any(parts[1].layout):
        raise _GatheredError("the array and the update must have one sharding")
    return [Part(None, parts[0].layout)]


def _position(context: Any, equation: Equation, parts: Sequence[Part]) -> list[Part]:
    axis = equation.params["axis"]
    layout = parts[0].layout
    return [Part(None, (*layout[:axis], *layout[axis + 1 :]))]


def _broadcast(context: Any, equation: Equation, parts: Sequence[Part]) -> list[Part]:
    layout: list[tuple[str, ...]] = [()] * len(equation.params["shape"])
    for names, dim in zip(parts[0].layout, equation.params["broadcast_dimensions"], strict=True):
        layout[dim] = names
    return [Part(None, tuple(layout))]


def _contraction(context: Any, equation: Equation, parts: Sequence[Part]) -> Any:
    params, (left, right) = equation.params, (part.layout for part in parts)
    for i, j in zip(params["lhs_batch"], params["rhs_batch"], strict=True):
        if left[i] != right[j] and ((left[i] and right[j]) or axes.mapping() is None):
            raise _GatheredError(
                f"batch dimensions {i} and {j} are divided differently, along {left[i]} and {right[j]}"
            )
    for i, j in zip(params["lhs_contracting"], params["rhs_contracting"], strict=True):
        if left[i] and right[j]:
            if left[i] != right[j]:
                why = f"contracting dimensions {i} and {j} are divided differently, along {left[i]} and {right[j]}"
                raise _GatheredError(why)
            raise _GatheredError(
                f"contracting dimensions {i} and {j} are both divided along {left[i]}, so it is ambiguous how the "
                "result is divided: give out_sharding"
            )
    layout = [left[i] or right[j] for i, j in zip(params["lhs_batch"], params["rhs_batch"], strict=True)]
    layout += [left[i] for i in range(len(left)) if i not in (*params["lhs_contracting"], *params["lhs_batch"])]
    layout += [right[i] for i in range(len(right)) if i not in (*params["rhs_contracting"], *params["rhs_batch"])]
    return [Part(None, tuple(layout))]


def _convolution(context: Any, equation: Equation, parts: Sequence[Part]) -> Any:
    """With whole kernels and features, the result is divided as the images are, along every dimension."""
    params, (images, kernels) = equation.params, (part.layout for part in parts)
    if any(kernels) or images[params["lhs_spec"][1]]:
        return RULES[conv_general_dilated](context, equation, parts)
    layout: list[tuple[str, ...]] = [()] * len(images)
    for source, target in zip(params["lhs_spec"], params["out_spec"], strict=True):
        layout[target] = images[source]
    return [Part(None, tuple(layout))]


def _reshape(context: Any, equation: Equation, parts: Sequence[Part]) -> list[Part]:
    """Dimensions of one element may be added or removed. One dimension may be split, or several ones merged into
    one."""
    old, new = equation.inputs[0].aval.shape, tuple(equation.params["new_sizes"])
    layout = parts[0].layout
    kept = [(n, names) for n, names in zip(old, layout, strict=True) if n != 1]
    if [n for n, _ in kept] == [n for n in new if n != 1]:
        rest = iter([names for _, names in kept])
        return [Part(None, tuple([next(rest) if n != 1 else () for n in new]))]
    groups = _one_group(old, new) if len(new) > len(old) else _one_group(new, old) if len(new) < len(old) else None
    if groups is None:
        raise _GatheredError("this reshape is not supported: give out_sharding")
    first, count_old, count_new = groups if len(new) > len(old) else (groups[0], groups[2], groups[1])
    names = [name for some in layout[first : first + count_old] for name in some]
    if count_old > 1:
        divided = [bool(some) for some in layout[first : first + count_old]]
        if any(divided[1:]) and not all(divided[: len(divided) - divided[::-1].index(True)]):
            raise _GatheredError("this reshape is not supported: give out_sharding")
    spread = _spread(names, new[first : first + count_new], context.sizes)
    return [Part(None, (*layout[:first], *spread, *layout[first + count_old :]))]


def _one_group(few: Sequence[int], many: Sequence[int]) -> tuple[int, int, int] | None:
    """The first dimension, and the numbers of dimensions, of the one group in which shapes differ: one dimension of
    `few` has the elements of several of `many`."""
    head = 0
    while head < len(few) and few[head] == many[head]:
        head += 1
    tail = 0
    while tail < len(few) - head - 1 and few[-1 - tail] == many[-1 - tail]:
        tail += 1
    if len(few) - tail - head != 1 or math.prod(many[head : len(many) - tail]) != few[head]:
        return None
    return head, 1, len(many) - tail - head


def _spread(names: list[str], sizes: Sequence[int], of_axes: Sizes) -> list[tuple[str, ...]]:
    """The axes over the dimensions of a group, from the slowest one on."""
    found: list[tuple[str, ...]] = []
    for size in sizes:
        here: list[str] = []
        while size > 1 and names:
            size, rest = divmod(size, of_axes[names[0]])
            if rest:
                raise _GatheredError("this reshape is not supported: give out_sharding")
            here.append(names.pop(0))
        found.append(tuple(here))
    if names:
        raise _GatheredError("this reshape is not supported: give out_sharding")
    return found


TYPES: dict[Primitive, Callable[..., Any]] = {
    dot_general: _contraction,
    reshape: _reshape,
    broadcast_in_dim: _broadcast,
    movement.slice_: _keeps,
    dynamic_slice: _keeps,
    movement.pad: _keeps,
    movement.reverse: _keeps,
    movement.concatenate: _concatenate,
    dynamic_update_slice: _update,
    reduction.argmax: _position,
    reduction.argmin: _position,
    conv_general_dilated: _convolution,
    **dict.fromkeys(window.TABLE, _keeps),
}

# Their shape rules give avals with shardings: those of graphs, or of a parameter.
_BY_SHAPE_RULE = frozenset([*FORMS, custom_lin])

hooks.type_results = type_results
