"""Members of a mapped axis that take no part: in a branch that they do not take, in an iteration after their last.

All members compute together, and `select` drops the values of members that take no part. But their cotangents, which
are zero, go back through the same operations, and zero times an infinite slope is nan. So the inputs of such a
computation go through `guard`. This is the identity, with a cotangent of zero for members that take no part. An input
that all members share has no separate cotangent for each. Loops and callbacks may work for certain values only. In
these cases, members that take no part get the operands of a member that takes part. If only derivatives need this,
`members` has two graphs: one for values, and one that is differentiated instead. Imports `graphs`; `cond` and
`while_loop` import this module.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.autodiff.linearize import linearize_graph
from pycompiler.core.autodiff.transpose import transpose_graph
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Equation
from pycompiler.core.tracing.primitive import Primitive, is_undefined, is_zero
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import broadcast_in_dim, mapped_size, with_batch_dim, zeros
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.core.types.dtype import is_inexact
from pycompiler.primitives import rules
from pycompiler.primitives.collective.reductions import axis_index, pvary
from pycompiler.primitives.compare import select
from pycompiler.primitives.control.failures import ErrorEffect
from pycompiler.primitives.control.graphs import check_takes, made_real, mapped_graph, varies, with_zeros
from pycompiler.primitives.control.host_calls import VALUE_CALLS
from pycompiler.primitives.indexing import dynamic_slice
from pycompiler.primitives.reduction import argmax
from pycompiler.primitives.rules import Dims, Value
from pycompiler.primitives.shape import reshaped

# A mask that excludes every member.
_NOBODY = np.False_
# The name of a primitive that is defined in a later module.
_LOOP = "while"


def along(mask: Value, shape: rules.Shape) -> Value:
    """One value for each index of the first axes, repeated over the others."""
    given = get_aval(mask).shape
    if len(given) == len(shape):
        return mask
    return broadcast_in_dim.bind(mask, shape=shape, broadcast_dimensions=tuple(range(len(given))))


# guard(mask, x): x, whose cotangent is zero where the mask (over the first axes) is false.


def _guard_shape(mask: ShapedArray, x: ShapedArray) -> ShapedArray:
    if mask.dtype != rules.BOOL or mask.shape != x.shape[: len(mask.shape)]:
        raise TypeError(f"guard: the mask must be bools over the first axes of {short(x)}, got {short(mask)}")
    return x


def _guard_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    mask, x = primals
    tangent = tangents[1]
    # The tangent of members that take no part is dropped with their values.
    return guarded(mask, x), tangent if is_zero(tangent) else guarded(mask, tangent)


def _guard_transpose(ct: Value, mask: Value, x: Value) -> tuple[None, Value | None]:
    if mask is _NOBODY:
        return None, None
    aval = get_aval(ct)
    return None, select.bind(along(mask, aval.shape), ct, zeros(aval))


def _guard_batch(args: Sequence[Value], dims: Dims) -> tuple[Value, int | None]:
    if args[0] is _NOBODY:
        return guarded(_NOBODY, args[1]), dims[1]
    size = mapped_size(args, dims)
    mask, x = (with_batch_dim(arg, dim, 0, size) for arg, dim in zip(args, dims, strict=True))
    return guarded(mask, x), 0


def _guard_reference(mask: Any, x: Any) -> Any:
    return x


guard = Primitive("guard", _guard_shape, _guard_jvp, _guard_transpose, _guard_batch, _guard_reference)


def guarded(mask: Value, x: Value) -> Value:
    """x, with a zero cotangent where the mask is false. Only traced values have cotangents."""
    return guard.bind(mask, x) if isinstance(x, Tracer) and is_inexact(get_aval(x).dtype) else x


# The operands of members.


def seen(mask: Value, operands: Sequence[Value], mapped: Sequence[bool], like_one: bool) -> list[Value]:
    """The operands of a computation for the members where the mask is true. A mapped operand is mapped over its first
    axis. With `like_one`, the other members get the operands of the first that takes part, which must exist.
    """
    if like_one:
        first = argmax.bind(mask, axis=0, index_dtype=rules.INT32)
        operands = [_of_first(mask, first, x) if m else x for x, m in zip(operands, mapped, strict=True)]
    return [guarded(mask, x) if m else x for x, m in zip(operands, mapped, strict=True)]


def _of_first(mask: Value, first: Value, x: Value) -> Value:
    shape = get_aval(x).shape
    starts = [first, *[np.int32(0)] * (len(shape) - 1)]
    one = reshaped(dynamic_slice.bind(x, *starts, slice_sizes=(1, *shape[1:])), shape[1:])
    # Cotangents do not reach this member by way of the others.
    one = guarded(_NOBODY, one)
    kept = tuple(range(1, len(shape)))
    return select.bind(along(mask, shape), x, broadcast_in_dim.bind(one, shape=shape, broadcast_dimensions=kept))


class Need(enum.Enum):
    """Whether members that take no part need the operands of one that does: never, for values, or for derivatives."""

    NONE = enum.auto()
    DERIVATIVES = enum.auto()
    VALUES = enum.auto()


# members(mask, operands): the results of `graph`, which count only for members where the mask is true. The graph
# `apart` takes the mask and the operands. It gives the same results for these members, and is differentiated in place
# of `graph`.


def _members_shape(mask: ShapedArray, *operands: ShapedArray, graph: ClosedGraph, apart: ClosedGraph) -> Any:
    check_takes("members", "the graph", graph, operands)
    return graph.out_avals


def _members_jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, graph: ClosedGraph, apart: ClosedGraph
) -> tuple[Any, Any]:
    varying = varies(tangents)
    both, out_varying = jvp_graph(apart, varying)
    results = evaluate(both, (*primals, *made_real(tangents, varying)))
    outs = results[: len(out_varying)]
    return tuple(outs), tuple(with_zeros(results[len(out_varying) :], out_varying, outs))


def _members_linearize(
    primals: Sequence[Value], tangents: Sequence[Value], *, graph: ClosedGraph, apart: ClosedGraph
) -> tuple[Any, Any]:
    varying = varies(tangents)
    parts = linearize_graph(apart, varying)
    results = evaluate(parts.known, primals)
    outs = results[: len(parts.out_varying)]
    residuals = [primals[place] if place >= 0 else results[~place] for place in parts.residuals]
    found = evaluate(parts.linear, (*residuals, *made_real(tangents, varying)))
    return tuple(outs), tuple(with_zeros(found, parts.out_varying, outs))


def _members_transpose(
    cotangents: Sequence[Value], *args: Value, graph: ClosedGraph, apart: ClosedGraph
) -> Sequence[Value]:
    linear, given = rules.is_linear(*args), varies(cotangents)
    backward, nonzero = transpose_graph(apart, linear, given)
    known = [x for x in args if not is_undefined(x)]
    found = iter(evaluate(backward, (*known, *made_real(cotangents, given))))
    pulled = iter([next(found) if flag else None for flag in nonzero])
    return [next(pulled) if flag else None for flag in linear]


def _members_batch(
    args: Sequence[Value], dims: Dims, *, graph: ClosedGraph, apart: ClosedGraph
) -> tuple[Sequence[Value], Sequence[int]]:
    size, every = mapped_size(args, dims), (True,) * len(graph.out_avals)
    mapped, _ = mapped_graph(graph, tuple(dims[1:]), size, every)
    return _bind(args, mapped, mapped_graph(apart, tuple(dims), size, every)[0]), [0] * len(every)


def _members_reference(mask: Any, *operands: Any, graph: ClosedGraph, apart: ClosedGraph) -> tuple[Any, ...]:
    return reference_of(graph, operands)


members = Primitive(
    "members",
    _members_shape,
    _members_jvp,
    _members_transpose,
    _members_batch,
    _members_reference,
    multiple_results=True,
    linearize=_members_linearize,
)


def _bind(args: Sequence[Value], graph: ClosedGraph, apart: ClosedGraph) -> Sequence[Value]:
    if graph.consts or apart.consts or graph.axis_names or axes.varying_tracker() is not None:
        return evaluate(apart, args)
    if not any(isinstance(x, Tracer) for x in args):
        # Nothing here is differentiated.
        return evaluate(graph, args[1:])
    return members.bind(*args, graph=graph, apart=apart)


def of_members(
    mask: Value,
    graph: ClosedGraph,
    operands: Sequence[Value],
    mapped: tuple[bool, ...],
    need: Need,
    run: Callable[[Value, ClosedGraph, Sequence[Value]], Sequence[Value]],
) -> Sequence[Value]:
    """The results of a mapped graph, which count only for members where the mask is true. `run(mask, graph, operands)`
    computes the graph for the operands of members that take part."""
    if need is Need.NONE:
        return evaluate(graph, seen(mask, operands, mapped, False))
    if need is Need.VALUES:
        return run(mask, graph, seen(mask, operands, mapped, True))

    def make() -> ClosedGraph:
        def apart(mask: Any, *xs: Any) -> Sequence[Any]:
            return run(mask, graph, seen(mask, xs, mapped, True))

        return record(apart, (get_aval(mask), *graph.in_avals), DebugInfo("vmap", evaluate))

    return _bind((mask, *operands), graph, graph.derive(("apart", mapped, run), make))


def need_of(graph: ClosedGraph, mapped: Sequence[bool]) -> Need:
    """The need of a graph with these mapped inputs. Loops, callbacks and checks may work only for members that take
    part. Inputs that are not mapped have one cotangent for all members."""
    if mixes_members(graph) or not all(isinstance(effect, ErrorEffect) for effect in graph.effects):
        # Other code selects the operands of such a graph.
        return Need.NONE
    if graph.effects or _holds(graph, _is_particular):
        return Need.VALUES
    shared = {var for var, m in zip(graph.graph.inputs, mapped, strict=True) if not m and is_inexact(var.aval.dtype)}
    reads = any(not shared.isdisjoint(equation.inputs) for equation in graph.graph.equations)
    return Need.DERIVATIVES if reads else Need.NONE


def mixes_members(graph: ClosedGraph) -> bool:
    """Whether members may see each other's values. If so, all members must compute."""
    return bool(graph.axis_names) and _holds(graph, _is_collective)


def _is_particular(equation: Equation) -> bool:
    return equation.primitive.name == _LOOP or equation.primitive in VALUE_CALLS


def _is_collective(equation: Equation) -> bool:
    return equation.primitive.axis_names is not None and equation.primitive not in (axis_index, pvary)


def _holds(graph: ClosedGraph, is_one: Callable[[Equation], bool]) -> bool:
    def holds() -> bool:
        equations = graph.graph.equations
        return any(is_one(e) or any(_holds(inner, is_one) for inner in e.graphs) for e in equations)

    return graph.derive(("holds", is_one), holds)
