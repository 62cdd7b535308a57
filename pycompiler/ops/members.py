"""Members of a mapped axis that take no part: in a branch that they do not take, in an iteration after their last.

All members compute together, and what the others compute is dropped by `select`. But their derivatives come by the same
ways: a cotangent of zero times an infinite slope is nan. So what goes into such a computation goes through `guard`: it
is the value, and its cotangent is zero for members that take no part. What all members share has no cotangent of each,
and loops and callbacks may be meant for certain values only: there the others see the operands of one that takes part.
After `graphs`; `cond` and `while` come after it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.aval import ShapedArray, get_aval, short
from pycompiler.core.dtype import is_inexact
from pycompiler.core.graph import ClosedGraph, Equation
from pycompiler.core.primitive import Primitive, Sample, is_zero
from pycompiler.core.structural import broadcast_in_dim, mapped_size, with_batch_dim, zeros
from pycompiler.core.trace import Tracer
from pycompiler.ops import rules
from pycompiler.ops.callbacks import pure_callback
from pycompiler.ops.collective import axis_index, pvary
from pycompiler.ops.compare import select
from pycompiler.ops.indexing import dynamic_slice
from pycompiler.ops.reduction import argmax
from pycompiler.ops.rules import Dims, Value
from pycompiler.ops.shape import reshaped

# The mask that holds for no member.
_NOBODY = np.False_
# A primitive that comes later.
_LOOP = "while"


def along(mask: Value, shape: rules.Shape) -> Value:
    """A value for each place of the first axes, over the others."""
    given = get_aval(mask).shape
    if len(given) == len(shape):
        return mask
    return broadcast_in_dim.bind(mask, shape=shape, broadcast_dimensions=tuple(range(len(given))))


# guard(mask, x): x, whose cotangent is zero where the mask, over the first axes, does not hold.


def _guard_shape(mask: ShapedArray, x: ShapedArray) -> ShapedArray:
    if mask.dtype != rules.BOOL or mask.shape != x.shape[: len(mask.shape)]:
        raise TypeError(f"guard: the mask must be bools over the first axes of {short(x)}, got {short(mask)}")
    return x


def _guard_jvp(primals: Sequence[Value], tangents: Sequence[Value]) -> tuple[Value, Value]:
    mask, x = primals
    tangent = tangents[1]
    # That of members that take no part is dropped with their values.
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


def _no_samples(rng: np.random.Generator) -> Iterable[Sample]:
    return ()


guard = Primitive("guard", _guard_shape, _guard_jvp, _guard_transpose, _guard_batch, _guard_reference, _no_samples)


def guarded(mask: Value, x: Value) -> Value:
    """x, with no cotangent where the mask does not hold. Only what is traced has one."""
    return guard.bind(mask, x) if isinstance(x, Tracer) and is_inexact(get_aval(x).dtype) else x


# What members see.


def seen(mask: Value, operands: Sequence[Value], mapped: Sequence[bool], needs_one: bool) -> list[Value]:
    """The operands of a computation in which those members take part for which the mask holds; what is mapped is so
    over its first axis. With `needs_one` the others see the operands of the first that takes part: there must be one.
    """
    if needs_one:
        first = argmax.bind(mask, axis=0, index_dtype=rules.INT32)
        operands = [_of_first(mask, first, x) if m else x for x, m in zip(operands, mapped, strict=True)]
    return [guarded(mask, x) if m else x for x, m in zip(operands, mapped, strict=True)]


def _of_first(mask: Value, first: Value, x: Value) -> Value:
    shape = get_aval(x).shape
    starts = [first, *[np.int32(0)] * (len(shape) - 1)]
    one = reshaped(dynamic_slice.bind(x, *starts, slice_sizes=(1, *shape[1:])), shape[1:])
    # No cotangent comes to that one by way of the others.
    one = guarded(_NOBODY, one)
    kept = tuple(range(1, len(shape)))
    return select.bind(along(mask, shape), x, broadcast_in_dim.bind(one, shape=shape, broadcast_dimensions=kept))


def needs_one(graph: ClosedGraph, mapped: Sequence[bool]) -> bool:
    """Whether members that take no part in a graph, so many of whose inputs are mapped, need operands of one that does:
    where something may be meant for these alone, or has one cotangent for all members."""
    if mixes_members(graph) or graph.effects:
        # What they see is seen elsewhere.
        return False
    shared = {var for var, m in zip(graph.graph.inputs, mapped, strict=True) if not m and is_inexact(var.aval.dtype)}
    reads = any(not shared.isdisjoint(equation.inputs) for equation in graph.graph.equations)
    return reads or _holds(graph, _is_particular)


def mixes_members(graph: ClosedGraph) -> bool:
    """Whether members may see each other's values: then each computes for all."""
    return bool(graph.axis_names) and _holds(graph, _is_collective)


def _is_particular(equation: Equation) -> bool:
    return equation.primitive.name == _LOOP or equation.primitive is pure_callback


def _is_collective(equation: Equation) -> bool:
    return equation.primitive.axis_names is not None and equation.primitive not in (axis_index, pvary)


def _holds(graph: ClosedGraph, is_one: Callable[[Equation], bool]) -> bool:
    def holds() -> bool:
        equations = graph.graph.equations
        return any(is_one(e) or any(_holds(inner, is_one) for inner in e.graphs) for e in equations)

    return graph.derive(("holds", is_one), holds)
