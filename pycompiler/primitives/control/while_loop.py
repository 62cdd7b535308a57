"""The family of control flow: `while`, whose parameters are graphs.

The rules of `while` transform its graphs, as the rules of nested calls do (`core.autodiff.call`); `emit` makes a region
of each graph. The operands are the constants of the condition, those of the body, then the carry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.autodiff.checkpoint import optimization_barrier
from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.source import user_source
from pycompiler.core.tracing.effects import does_io
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import add, mapped_size, move_dim, with_batch_dim
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import ShapedArray, get_aval, same_type
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.bits import and_
from pycompiler.primitives.compare import lt, select
from pycompiler.primitives.control.graphs import (
    Flags,
    axes_of,
    check_takes,
    fixed_point,
    full_jvp,
    io_is_chosen,
    listed,
    made_real,
    mapped_graph,
    opened,
    strong_avals,
    transposed_at_zero,
    varies,
    with_unread,
    with_zeros,
    without_effects,
)
from pycompiler.primitives.control.members import Need, along, mixes_members, need_of, of_members
from pycompiler.primitives.control.scan import Form, run_scan
from pycompiler.primitives.control.segments import Segments, in_segments
from pycompiler.primitives.control.with_references import Uses, pure
from pycompiler.primitives.reduction import reduce_or
from pycompiler.primitives.rules import Dims, Value

Split = tuple[list[Any], list[Any], list[Any]]


def split_operands(operands: Sequence[Any], cond_nconsts: int, body_nconsts: int) -> Split:
    """The constants of the condition, those of the body, the carry."""
    carry = cond_nconsts + body_nconsts
    return list(operands[:cond_nconsts]), list(operands[cond_nconsts:carry]), list(operands[carry:])


def _shape(
    *avals: ShapedArray,
    cond_jaxpr: ClosedGraph,
    cond_nconsts: int,
    body_jaxpr: ClosedGraph,
    body_nconsts: int,
    max_steps: int | None = None,
) -> tuple[ShapedArray, ...]:
    cond_consts, body_consts, carry = split_operands(avals, cond_nconsts, body_nconsts)
    for name, graph, given in (("cond", cond_jaxpr, cond_consts), ("body", body_jaxpr, body_consts)):
        check_takes("while", name, graph, (*given, *carry))
    tested, after = cond_jaxpr.out_avals, body_jaxpr.out_avals
    if len(tested) != 1 or tested[0].shape != () or tested[0].dtype != rules.BOOL:
        raise TypeError(f"while: cond gives ({listed(tested)}), it must give one bool[]")
    if len(after) != len(carry) or not all(map(same_type, after, carry)):
        raise TypeError(f"while: the carry is ({listed(carry)}), body gives ({listed(after)})")
    return after


# Derivatives: the tangents become carries.


def _jvp_body(body: ClosedGraph, consts_vary: Flags, carry_varies: Flags) -> ClosedGraph:
    """(constants, their tangents, carry, its tangents) -> (carry, its tangents)."""
    both = full_jvp(body, (*consts_vary, *carry_varies), carry_varies)

    def make() -> ClosedGraph:
        nconsts, ncarry, moving = len(consts_vary), len(carry_varies), sum(consts_vary)

        def run(*args: Any) -> list[Any]:
            consts, args = args[:nconsts], args[nconsts:]
            const_tangents, args = args[:moving], args[moving:]
            return evaluate(both, (*consts, *args[:ncarry], *const_tangents, *args[ncarry:]))

        consts, carry = body.in_avals[:nconsts], body.in_avals[nconsts:]
        avals = [*consts, *strong_avals(consts, consts_vary), *carry, *strong_avals(carry, carry_varies)]
        return record(run, avals, DebugInfo("jvp", evaluate))

    return body.derive(("jvp of while", consts_vary, carry_varies), make)


def run_while(
    cond: ClosedGraph,
    body: ClosedGraph,
    cond_consts: Sequence[Any],
    body_consts: Sequence[Any],
    carry: Sequence[Any],
    max_steps: int | None = None,
) -> tuple[Any, ...]:
    """Bind a while. Its graphs' constants become operands. With `max_steps`, the condition ends it at that number."""
    if cond.refers or body.refers:
        return _run_with_references(cond, body, cond_consts, body_consts, carry, max_steps)
    bound = {} if max_steps is None else {"max_steps": max_steps}
    cond, more_cond = opened(cond)
    body, more_body = opened(body)
    return while_.bind(
        *more_cond,
        *cond_consts,
        *more_body,
        *body_consts,
        *carry,
        cond_jaxpr=cond,
        cond_nconsts=len(more_cond) + len(cond_consts),
        body_jaxpr=body,
        body_nconsts=len(more_body) + len(body_consts),
        **bound,
    )


def _run_with_references(
    cond: ClosedGraph,
    body: ClosedGraph,
    cond_consts: Sequence[Any],
    body_consts: Sequence[Any],
    carry: Sequence[Any],
    max_steps: int | None,
) -> tuple[Any, ...]:
    """`run_while` of graphs that use references: those that the body writes are part of the carry."""
    uses, count = Uses.of([cond, body]), len(carry)
    tested = pure(cond, uses, len(cond_consts) + count, None)
    step = pure(body, uses, len(body_consts) + count, count)
    read, written = uses.values()
    after = run_while(tested, step, [*read, *cond_consts], [*read, *body_consts], [*carry, *written], max_steps)
    uses.store(after[count:])
    return after[:count]


def _jvp(
    primals: Sequence[Value],
    tangents: Sequence[Value],
    *,
    cond_jaxpr: ClosedGraph,
    cond_nconsts: int,
    body_jaxpr: ClosedGraph,
    body_nconsts: int,
    max_steps: int | None = None,
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    cond_consts, body_consts, carry = split_operands(primals, cond_nconsts, body_nconsts)
    _, const_tangents, carry_tangents = split_operands(tangents, cond_nconsts, body_nconsts)
    consts_vary = varies(const_tangents)
    varying = fixed_point(varies(carry_tangents), lambda now: jvp_graph(body_jaxpr, (*consts_vary, *now))[1])
    moving = made_real(carry_tangents, varying)
    outs = run_while(
        with_unread(cond_jaxpr, strong_avals([get_aval(x) for x in carry], varying)),
        _jvp_body(body_jaxpr, consts_vary, varying),
        cond_consts,
        [*body_consts, *made_real(const_tangents, consts_vary)],
        [*carry, *moving],
        max_steps,
    )
    values = outs[: len(carry)]
    return values, tuple(with_zeros(outs[len(carry) :], varying, values))


def _linearize(
    primals: Sequence[Value], tangents: Sequence[Value], **params: Any
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    if params.get("max_steps") is None:
        # The values are computed apart from the tangents. The loop of the tangents carries the values a second time.
        again: dict[str, Any] = {name: without_effects(params[name]) for name in ("cond_jaxpr", "body_jaxpr")}
        return while_.bind(*primals, **params), _jvp(primals, tangents, **(params | again))[1]
    return _linearize_in_segments(primals, tangents, **params)


def _transpose(cotangents: Sequence[Value], *args: Value, **params: Any) -> Sequence[Value]:
    if params.get("max_steps") is None:
        source = user_source()
        raise NotDifferentiableError(
            (f"{source.describe()}\n" if source else "")
            + "while_loop: reverse-mode differentiation is not defined for a loop whose number of iterations is not "
            "known; use forward mode (jvp, jacfwd), bound the iterations by max_steps=, or count them by fori_loop or "
            "scan"
        )
    return transposed_at_zero(lambda *xs: while_.bind(*xs, **params), cotangents, args)


def _linearize_in_segments(
    primals: Sequence[Value],
    tangents: Sequence[Value],
    *,
    cond_jaxpr: ClosedGraph,
    cond_nconsts: int,
    body_jaxpr: ClosedGraph,
    body_nconsts: int,
    max_steps: int,
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    cond_consts, body_consts, carry = split_operands(primals, cond_nconsts, body_nconsts)
    _, const_tangents, carry_tangents = split_operands(tangents, cond_nconsts, body_nconsts)
    vary = (varies(const_tangents), varies(carry_tangents))
    if does_io(without_effects(cond_jaxpr).effects | without_effects(body_jaxpr).effects):
        source = user_source()
        raise NotDifferentiableError(
            (f"{source.describe()}\n" if source else "")
            + "while_loop: reverse-mode differentiation with max_steps= computes iterations again, and would repeat "
            "their calls of io_callback. What to do: call it outside of the loop, or use forward mode (jvp)"
        )
    parts: Segments = body_jaxpr.derive(
        ("segments", cond_jaxpr, max_steps, vary),
        lambda: in_segments(run_while, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts, max_steps, *vary),
    )
    consts = [*cond_consts, *body_consts]
    form = Form(0, 0, parts.number, False)
    values, starts = run_scan(parts.known, form, consts, carry, [])
    found, _ = run_scan(
        parts.linear,
        form,
        [*consts, *made_real(const_tangents, vary[0])],
        made_real(carry_tangents, parts.varying),
        starts,
    )
    return tuple(values), tuple(with_zeros(found, parts.varying, values))


# Batching: with a mapped condition, the loop runs until the condition is false for all.


def _batch(
    args: Sequence[Value],
    dims: Dims,
    *,
    cond_jaxpr: ClosedGraph,
    cond_nconsts: int,
    body_jaxpr: ClosedGraph,
    body_nconsts: int,
    max_steps: int | None = None,
) -> tuple[tuple[Value, ...], tuple[int | None, ...]]:
    size = mapped_size(args, dims)
    cond_consts, body_consts, carry = split_operands(args, cond_nconsts, body_nconsts)
    cond_dims, body_dims, carry_dims = split_operands(dims, cond_nconsts, body_nconsts)

    mapped = fixed_point(
        [d is not None for d in carry_dims],
        lambda now: mapped_graph(body_jaxpr, (*body_dims, *axes_of(now)), size, None)[1],
    )
    _, (condition_is_mapped,) = mapped_graph(cond_jaxpr, (*cond_dims, *axes_of(mapped)), size, None)
    # With a mapped condition, each loop ends by itself. A carry that the body passes on unchanged is mapped only if its
    # initial value is.
    kept = handed_on(body_jaxpr, body_nconsts) if condition_is_mapped else ()
    if condition_is_mapped:
        mapped = tuple(m or not k for m, k in zip(mapped, kept, strict=True))
        body_consts = [x if d is None else move_dim(x, d, 0) for x, d in zip(body_consts, body_dims, strict=True)]
        body_dims = axes_of([d is not None for d in body_dims])
    cond, _ = mapped_graph(cond_jaxpr, (*cond_dims, *axes_of(mapped)), size, None)
    body, _ = mapped_graph(body_jaxpr, (*body_dims, *axes_of(mapped)), size, mapped)
    carry = [with_batch_dim(x, d, 0, size) if m else x for x, d, m in zip(carry, carry_dims, mapped, strict=True)]
    if not condition_is_mapped:
        return run_while(cond, body, cond_consts, body_consts, carry, max_steps), tuple(axes_of(mapped))
    if does_io(cond.effects | body.effects):
        raise io_is_chosen("while_loop", "runs until the condition holds for no element, and selects")
    body_mapped = (*(d is not None for d in body_dims), *mapped)
    apart = None if mixes_members(body_jaxpr) else (body_mapped, need_of(body_jaxpr, body_mapped))
    any_cond, select_body = _until_none(cond, cond_nconsts, body, body_nconsts, apart, kept)
    running = evaluate(cond, (*cond_consts, *carry))[0]
    _, *outs = run_while(any_cond, select_body, [], [*cond_consts, *body_consts], [running, *carry], max_steps)
    return tuple(outs), tuple(axes_of(mapped))


def handed_on(body: ClosedGraph, consts: int) -> Flags:
    """For each part of a loop's carry, whether the body returns it unchanged."""
    inputs, outputs = body.graph.inputs[consts:], body.graph.outputs
    return tuple(x is y for x, y in zip(inputs, outputs, strict=True))


def _of_running(run: Value, body: ClosedGraph, operands: Sequence[Value]) -> Sequence[Value]:
    """The results of an iteration, in which some members take part."""
    return evaluate(body, operands)


def _until_none(
    cond: ClosedGraph,
    cond_nconsts: int,
    body: ClosedGraph,
    body_nconsts: int,
    apart: tuple[Flags, Need] | None,
    kept: Flags,
) -> tuple[ClosedGraph, ClosedGraph]:
    """Condition and body of a loop that carries, for each mapped loop, whether it still runs, and then their carries.

    `apart`, if the loops do not see each other: which inputs of the body are mapped, and whether ended loops need the
    operands of a running one. `kept`: the carries that the body passes on.
    """

    def make() -> tuple[ClosedGraph, ClosedGraph]:
        running = ShapedArray(cond.out_avals[0].shape, rules.BOOL)
        carry = body.in_avals[body_nconsts:]

        def step(*args: Any) -> list[Any]:
            cond_consts, body_consts, (run, *before) = split_operands(args, cond_nconsts, body_nconsts)
            operands = [*body_consts, *before]
            if apart is None:
                found = evaluate(body, operands)
            else:
                found = of_members(run, body, operands, *apart, _of_running)
            after = [
                old if same else select.bind(along(run, get_aval(new).shape), new, old)
                for new, old, same in zip(found, before, kept, strict=True)
            ]
            return [and_.bind(run, evaluate(cond, (*cond_consts, *after))[0]), *after]

        def is_running(run: Any, *_: Any) -> list[Any]:
            return [reduce_or.bind(run, axes=(0,))]

        tested = record(is_running, (running, *carry), DebugInfo("vmap", evaluate))
        avals = (*cond.in_avals[:cond_nconsts], *body.in_avals[:body_nconsts], running, *carry)
        return tested, record(step, avals, DebugInfo("vmap", evaluate))

    return body.derive(("until none", cond, apart, kept), make)


# Reference and samples.


def _reference(
    *args: Any,
    cond_jaxpr: ClosedGraph,
    cond_nconsts: int,
    body_jaxpr: ClosedGraph,
    body_nconsts: int,
    max_steps: int | None = None,
) -> tuple[Any, ...]:
    cond_consts, body_consts, carry = split_operands(args, cond_nconsts, body_nconsts)
    while reference_of(cond_jaxpr, (*cond_consts, *carry))[0]:
        carry = list(reference_of(body_jaxpr, (*body_consts, *carry)))
    return tuple(carry)


def _samples(rng: np.random.Generator) -> Iterable[Sample]:
    scalar, vector = ShapedArray((), rules.FLOAT32), ShapedArray((5,), rules.FLOAT32)
    debug_info = DebugInfo("jit", evaluate)

    # Step down x, and double y, until x is at the limit.
    def is_above(limit: Any, x: Any, y: Any) -> list[Any]:
        return [lt.bind(limit, x)]

    def step_down(step: Any, x: Any, y: Any) -> list[Any]:
        return [add.bind(x, step), add.bind(y, y)]

    above = record(is_above, (scalar, scalar, vector), debug_info)
    body = record(step_down, (scalar, scalar, vector), debug_info)
    params = {"cond_jaxpr": above, "cond_nconsts": 1, "body_jaxpr": body, "body_nconsts": 1}
    x, y = np.float32(3), rng.standard_normal(5).astype(np.float32)
    limit, step = np.float32(0.5), np.float32(-0.75)
    yield Sample((np.asarray(limit), np.asarray(step), np.asarray(x), y), params)
    yield Sample((np.asarray(limit), np.asarray(step), np.asarray(limit), y), params)

    # Each element moves to another position, so no part of the carry may be overwritten before it is read.
    integer, bools = ShapedArray((), rules.INT32), ShapedArray((5,), rules.BOOL)

    def rotate(i: Any, a: Any, b: Any, c: Any) -> list[Any]:
        return [add.bind(i, np.int32(1)), b, add.bind(a, b), lt.bind(a, convert.bind(c, new_dtype=rules.FLOAT32))]

    def is_counting(i: Any, *_: Any) -> list[Any]:
        return [lt.bind(i, np.int32(4))]

    counting = record(is_counting, (integer, vector, vector, bools), debug_info)
    rotated = record(rotate, (integer, vector, vector, bools), debug_info)
    params = {"cond_jaxpr": counting, "cond_nconsts": 0, "body_jaxpr": rotated, "body_nconsts": 0}
    yield Sample((np.asarray(np.int32(0)), y, y[::-1].copy(), y > 0), params)


while_ = Primitive(
    name="while",
    shape_rule=_shape,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    reference=_reference,
    sampler=_samples,
    multiple_results=True,
    linearize=_linearize,
)

TABLE = (while_, optimization_barrier)
