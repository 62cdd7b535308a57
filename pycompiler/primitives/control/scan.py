"""`scan`: a loop with a known number of iterations. Each takes a slice of each input, and gives one of each result.

The operands are the constants, the carry, and the arrays to slice along their first axis. The body takes
(constants, carry, slices) and gives (carry, slices of the results). The derivative has two loops: the first computes
the values and keeps the residuals, the second computes the tangents. The second one, transposed, is reverse mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.autodiff.transpose import pull_back, transpose_graph
from pycompiler.core.dims.dims import same_shape
from pycompiler.core.dims.ranges import check_sizes
from pycompiler.core.mesh.typed import with_dim
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Graph, Literal, eliminate_dead_code
from pycompiler.core.tracing.primitive import Primitive, Sample, UndefinedPrimal, is_undefined
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import add, add_tangents, mapped_size, move_dim, with_batch_dim, zeros
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import ShapedArray, get_aval, same_type, shaped
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.control.accumulate import summed_in_place
from pycompiler.primitives.control.graphs import (
    Flags,
    axes_of,
    check_takes,
    chosen,
    fixed_point,
    full_jvp,
    full_transpose,
    listed,
    made_real,
    mapped_graph,
    opened,
    reached,
    strong_avals,
    transposed_at_zero,
    varies,
    with_zeros,
)
from pycompiler.primitives.control.products import Apart, products_apart
from pycompiler.primitives.control.residuals import ScanParts, linearized_scan
from pycompiler.primitives.control.with_references import Uses, pure
from pycompiler.primitives.elementwise import mul
from pycompiler.primitives.rules import Dims, Value


class Form(NamedTuple):
    """The number of operands of each kind, the number of slices, and the order."""

    num_consts: int
    num_carry: int
    length: Any
    reverse: bool

    def split(self, operands: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The constants, the carry, the arrays to slice."""
        first, last = self.num_consts, self.num_consts + self.num_carry
        return list(operands[:first]), list(operands[first:last]), list(operands[last:])


def run_scan(
    graph: ClosedGraph, form: Form, consts: Sequence[Any], carry: Sequence[Any], xs: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Bind a scan with the length and order of `form`. Returns the last carry and the stacked results.

    Values that the body only passes on leave the loop: a constant carry, a result that is a slice, a repeated result.
    Without iterations there is no loop.
    """
    if graph.refers:
        return _run_with_references(graph, form, consts, carry, xs)
    if isinstance(form.length, int) and form.length == 0:
        ys = graph.out_avals[len(carry) :]
        return list(carry), [zeros(shaped((0, *y.shape), y.dtype)) for y in ys]
    body, hoisted = opened(graph)
    consts = [*hoisted, *consts]
    plan: _Plan = body.derive(("handed on", len(consts), len(carry)), lambda: _plan(body, len(consts), len(carry)))
    moving = chosen(carry, plan.moves)
    staying = chosen(carry, [not flag for flag in plan.moves])
    outs = scan.bind(
        *consts,
        *staying,
        *moving,
        *xs,
        jaxpr=plan.body,
        num_consts=len(consts) + len(staying),
        num_carry=len(moving),
        length=form.length,
        reverse=form.reverse,
    )
    after, ys = iter(outs[: len(moving)]), outs[len(moving) :]
    return (
        [next(after) if moves else x for x, moves in zip(carry, plan.moves, strict=True)],
        [ys[place] if place >= 0 else xs[~place] for place in plan.ys],
    )


def _run_with_references(
    graph: ClosedGraph, form: Form, consts: Sequence[Any], carry: Sequence[Any], xs: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """`run_scan` of a body that uses references: those that it writes are part of the carry."""
    uses, count = Uses.of([graph]), len(carry)
    body = pure(graph, uses, len(consts) + count, count)
    read, written = uses.values()
    whole = form._replace(num_consts=len(read) + len(consts), num_carry=count + len(written))
    after, ys = run_scan(body, whole, [*read, *consts], [*carry, *written], xs)
    uses.store(after[count:])
    return after[:count], ys


class _Plan(NamedTuple):
    body: ClosedGraph
    # The carries that change.
    moves: Flags
    # Each result as a result of the body or, counted from ~0 downwards, an operand that it is a slice of.
    ys: list[int]


def _plan(closed: ClosedGraph, num_consts: int, num_carry: int) -> _Plan:
    graph = closed.graph
    consts, carry, xs = Form(num_consts, num_carry, None, False).split(graph.inputs)
    moves = tuple([out is not var for out, var in zip(graph.outputs, carry, strict=False)])
    ys: list[Any] = []
    places: list[int] = []
    for out in graph.outputs[num_carry:]:
        if out in xs:
            places.append(~xs.index(out))
            continue
        if out not in ys or type(out) is Literal:
            ys.append(out)
        places.append(ys.index(out))
    if all(moves) and len(ys) == len(places):
        return _Plan(closed, moves, places)
    staying = chosen(carry, [not flag for flag in moves])
    inputs = (*consts, *staying, *chosen(carry, moves), *xs)
    outputs = (*chosen(graph.outputs[:num_carry], moves), *ys)
    return _Plan(ClosedGraph(eliminate_dead_code(Graph((), inputs, outputs, graph.equations)), ()), moves, places)


def _shape(*avals: ShapedArray, jaxpr: ClosedGraph, **params: Any) -> tuple[ShapedArray, ...]:
    form = Form(**params)
    consts, carry, xs = form.split(avals)
    check_sizes("scan", (form.length,))
    for x in xs:
        if not x.shape or not same_shape(x.shape[:1], (form.length,)):
            raise ValueError(f"scan: takes {form.length} slices along the first axis, got ({listed(xs)})")
    slices = [ShapedArray(x.shape[1:], x.dtype, x.weak_type) for x in xs]
    check_takes("scan", "the body", jaxpr, (*consts, *carry, *slices))
    after, ys = jaxpr.out_avals[: form.num_carry], jaxpr.out_avals[form.num_carry :]
    if len(after) != len(carry) or not all(map(same_type, after, carry)):
        raise TypeError(f"scan: the carry is ({listed(carry)}), the body gives ({listed(after)})")
    return (*after, *(with_dim(y, 0, form.length) for y in ys))


# Derivatives


def _varying_carry(graph: ClosedGraph, consts: Flags, carry: Flags, xs: Flags) -> Flags:
    return fixed_point(carry, lambda now: jvp_graph(graph, (*consts, *now, *xs))[1][: len(carry)])


def _jvp_body(graph: ClosedGraph, consts: Flags, carry: Flags, xs: Flags) -> tuple[ClosedGraph, Flags]:
    """(constants, their tangents, carry, its tangents, slices, their tangents) -> (carry, its tangents, results, their
    tangents), and which of the results vary."""
    varying = (*consts, *carry, *xs)
    ys_vary = jvp_graph(graph, varying)[1][len(carry) :]
    both = full_jvp(graph, varying, (*carry, *ys_vary))

    def make() -> ClosedGraph:
        counts = (len(consts), sum(consts), len(carry), sum(carry), len(xs), sum(xs))
        ends = np.cumsum(counts).tolist()
        given_consts, given_carry, given_xs = Form(len(consts), len(carry), None, False).split(graph.in_avals)

        def run(*args: Any) -> list[Any]:
            parts = [args[end - count : end] for end, count in zip(ends, counts, strict=True)]
            outs = evaluate(both, [x for part in (*parts[::2], *parts[1::2]) for x in part])
            values, tangents = outs[: len(graph.out_avals)], outs[len(graph.out_avals) :]
            first, moving = len(carry), sum(carry)
            return [*values[:first], *tangents[:moving], *values[first:], *tangents[moving:]]

        groups = ((given_consts, consts), (given_carry, carry), (given_xs, xs))
        avals = [aval for group, flags in groups for aval in (*group, *strong_avals(group, flags))]
        return record(run, avals, DebugInfo("jvp", evaluate))

    return graph.derive(("jvp of scan", consts, carry, xs), make), ys_vary


def _jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, jaxpr: ClosedGraph, **params: Any
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    form = Form(**params)
    consts, carry, xs = form.split(primals)
    const_tangents, carry_tangents, x_tangents = form.split(tangents)
    consts_vary, xs_vary = varies(const_tangents), varies(x_tangents)
    varying = _varying_carry(jaxpr, consts_vary, varies(carry_tangents), xs_vary)
    body, ys_vary = _jvp_body(jaxpr, consts_vary, varying, xs_vary)
    after, ys = run_scan(
        body,
        form,
        [*consts, *made_real(const_tangents, consts_vary)],
        [*carry, *made_real(carry_tangents, varying)],
        [*xs, *made_real(x_tangents, xs_vary)],
    )
    values = (*after[: len(carry)], *ys[: len(ys_vary)])
    found = (*after[len(carry) :], *ys[len(ys_vary) :])
    return values, tuple(with_zeros(found, (*varying, *ys_vary), values))


def _linearize(
    primals: Sequence[Value], tangents: Sequence[Value], *, jaxpr: ClosedGraph, **params: Any
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    form = Form(**params)
    consts, carry, xs = form.split(primals)
    const_tangents, carry_tangents, x_tangents = form.split(tangents)
    consts_vary, xs_vary = varies(const_tangents), varies(x_tangents)
    varying = _varying_carry(jaxpr, consts_vary, varies(carry_tangents), xs_vary)
    parts: ScanParts = linearized_scan(jaxpr, consts_vary, varying, xs_vary)
    consts = [*parts.hoisted, *consts]
    invariant = evaluate(parts.invariant, (*consts, *carry))
    after, ys = run_scan(parts.known, form, [*consts, *invariant], carry, xs)
    values = (*after, *ys[: len(parts.ys_vary)])
    sources = {"const": consts, "carry": carry, "invariant": invariant, "x": xs, "y": ys}
    tangents_after, y_tangents = run_scan(
        parts.linear,
        form,
        [*(sources[kind][index] for kind, index in parts.const_residuals), *made_real(const_tangents, consts_vary)],
        made_real(carry_tangents, varying),
        [*(sources[kind][index] for kind, index in parts.x_residuals), *made_real(x_tangents, xs_vary)],
    )
    return values, tuple(with_zeros((*tangents_after, *y_tangents), (*varying, *parts.ys_vary), values))


def _transpose(cotangents: Sequence[Value], *args: Value, jaxpr: ClosedGraph, **params: Any) -> Sequence[Value]:
    form = Form(**params)
    consts, carry, xs = form.split(args)
    consts_linear, xs_linear = rules.is_linear(*consts), rules.is_linear(*xs)
    # A carry with a known initial value, such as zeros, is linear as soon as a linear value enters it.
    carry_linear = fixed_point(
        rules.is_linear(*carry),
        lambda now: reached(jaxpr.graph, (*consts_linear, *now, *xs_linear))[: len(carry)],
    )
    if not all(carry_linear):
        # Its linearization at zero is a loop over the known values, and another over the linear ones.
        return transposed_at_zero(lambda *xs: scan.bind(*xs, jaxpr=jaxpr, **params), cotangents, args)
    apart = products_apart(jaxpr, consts_linear, len(carry), xs_linear)
    if apart is not None:
        return _transpose_apart(apart, cotangents, args, form)
    linear = (*consts_linear, *carry_linear, *xs_linear)
    ct_carry, ct_ys = list(cotangents[: len(carry)]), list(cotangents[len(carry) :])
    ys_given = varies(ct_ys)
    first, last = sum(consts_linear), sum(consts_linear) + len(carry)
    given = fixed_point(varies(ct_carry), lambda now: transpose_graph(jaxpr, linear, (*now, *ys_given))[1][first:last])
    nonzero = transpose_graph(jaxpr, linear, (*given, *ys_given))[1]
    some_consts, some_xs = nonzero[:first], nonzero[last:]
    body = _backward_body(jaxpr, linear, form, given, ys_given, (*some_consts, *given, *some_xs))
    summed = [zeros(aval) for aval in strong_avals([c.aval for c in consts if is_undefined(c)], some_consts)]
    after, ct_xs = run_scan(
        body,
        form._replace(reverse=not form.reverse),
        [c for c in consts if not is_undefined(c)],
        [*summed, *made_real(ct_carry, given)],
        [*(x for x in xs if not is_undefined(x)), *made_real(ct_ys, ys_given)],
    )
    found_consts = iter(with_zeros(after[: len(summed)], some_consts, [c.aval for c in consts if is_undefined(c)]))
    found_carry = with_zeros(
        after[len(summed) :], given, [get_aval(c) if not is_undefined(c) else c.aval for c in carry]
    )
    found_xs = iter(with_zeros(ct_xs, some_xs, [x.aval for x in xs if is_undefined(x)]))
    return [
        *(next(found_consts) if is_undefined(c) else None for c in consts),
        *(ct if is_undefined(c) else None for ct, c in zip(found_carry, carry, strict=True)),
        *(next(found_xs) if is_undefined(x) else None for x in xs),
    ]


def _transpose_apart(apart: Apart, cotangents: Sequence[Value], args: Sequence[Value], form: Form) -> Sequence[Value]:
    """The cotangents through the products, summed over all iterations at once, and those through the rest."""
    consts, _, xs = form.split(args)
    stacked = [UndefinedPrimal(shaped((form.length, *var.aval.shape), var.aval.dtype)) for var in apart.products]
    found = _transpose(cotangents, *args, *stacked, jaxpr=apart.body, **form._asdict())
    rest, ct_products = found[: len(args)], found[len(args) :]
    dims = (*(None for _ in consts), *(0 for _ in xs))
    outer, _ = mapped_graph(apart.outer, dims, form.length, (True,) * len(stacked))
    more = pull_back(outer, (*consts, *xs), ct_products)
    sums = [
        ct if other is None else add_tangents(ct, other) for ct, other in zip(rest, more[: len(consts)], strict=False)
    ]
    return [*sums, *rest[len(consts) :]]


def _backward_body(
    graph: ClosedGraph, linear: Flags, form: Form, given: Flags, ys_given: Flags, wanted: Flags
) -> ClosedGraph:
    """(known constants; sums of the cotangents of the others, cotangents of the carry; known slices, cotangents of the
    results) -> (the sums, the cotangents of the carry, those of the slices). `wanted` selects them."""
    backward = full_transpose(graph, linear, (*given, *ys_given), wanted)

    def make() -> ClosedGraph:
        consts, carry, xs = form.split(graph.in_avals)
        consts_linear, _, xs_linear = form.split(linear)
        sums = strong_avals(chosen(consts, consts_linear), wanted[: sum(consts_linear)])
        known_consts = chosen(consts, [not flag for flag in consts_linear])
        known_xs = chosen(xs, [not flag for flag in xs_linear])
        cts, ct_ys = strong_avals(carry, given), strong_avals(graph.out_avals[len(carry) :], ys_given)
        ends = np.cumsum([len(part) for part in (known_consts, sums, cts, known_xs)]).tolist()

        def run(*args: Any) -> list[Any]:
            a, b, c, d = ends
            found = evaluate(backward, (*args[:a], *args[c:d], *args[b:c], *args[d:]))
            added = [add.bind(total, ct) for total, ct in zip(args[a:b], found, strict=False)]
            return [*added, *found[len(sums) :]]

        body = record(run, (*known_consts, *sums, *cts, *known_xs, *ct_ys), DebugInfo("transpose", evaluate))
        return summed_in_place(body)

    return graph.derive(("backward", linear, form, given, ys_given, wanted), make)


# Batching: the mapped axis is the first axis of a slice, and the second axis of a sliced array.


def _batch(
    args: Sequence[Value], dims: Dims, *, jaxpr: ClosedGraph, **params: Any
) -> tuple[tuple[Value, ...], tuple[int | None, ...]]:
    form = Form(**params)
    size = mapped_size(args, dims)
    consts, carry, xs = form.split(args)
    const_dims, carry_dims, x_dims = form.split(dims)
    x_axes = axes_of([d is not None for d in x_dims])
    mapped = fixed_point(
        [d is not None for d in carry_dims],
        lambda now: mapped_graph(jaxpr, (*const_dims, *axes_of(now), *x_axes), size, None)[1][: len(carry)],
    )
    in_dims = (*const_dims, *axes_of(mapped), *x_axes)
    ys_mapped = mapped_graph(jaxpr, in_dims, size, None)[1][len(carry) :]
    body, _ = mapped_graph(jaxpr, in_dims, size, (*mapped, *ys_mapped))
    after, ys = run_scan(
        body,
        form,
        consts,
        [with_batch_dim(x, d, 0, size) if m else x for x, d, m in zip(carry, carry_dims, mapped, strict=True)],
        [x if d is None else move_dim(x, d, 1) for x, d in zip(xs, x_dims, strict=True)],
    )
    return (*after, *ys), (*axes_of(mapped), *(1 if m else None for m in ys_mapped))


# Reference and samples


def _reference(*args: Any, jaxpr: ClosedGraph, **params: Any) -> tuple[Any, ...]:
    form = Form(**params)
    consts, carry, xs = form.split(args)
    avals = jaxpr.out_avals[form.num_carry :]
    ys = [np.zeros((form.length, *aval.shape), aval.dtype) for aval in avals]
    steps = range(form.length)
    for i in reversed(steps) if form.reverse else steps:
        outs = reference_of(jaxpr, (*consts, *carry, *(x[i] for x in xs)))
        carry = list(outs[: form.num_carry])
        for y, out in zip(ys, outs[form.num_carry :], strict=True):
            y[i] = out
    return (*(np.asarray(c) for c in carry), *ys)


def _samples(rng: np.random.Generator) -> Iterable[Sample]:
    scalar, vector, integer = (
        ShapedArray((), rules.FLOAT32),
        ShapedArray((5,), rules.FLOAT32),
        ShapedArray((), rules.INT32),
    )
    debug_info = DebugInfo("jit", evaluate)

    # v -> v * scale + x, whose products are results too.
    def scaled(scale: Any, v: Any, x: Any) -> list[Any]:
        product = mul.bind(scale, v)
        return [add.bind(product, x), product]

    body = record(scaled, (vector, vector, vector), debug_info)
    scale, start, xs = (rng.standard_normal(s).astype(np.float32) for s in ((5,), (5,), (4, 5)))
    for reverse in (False, True):
        params = {"jaxpr": body, "num_consts": 1, "num_carry": 1, "length": 4, "reverse": reverse}
        yield Sample((scale, start, xs), params)

    # Carries exchange their positions, beside a counter. Nothing is sliced.
    def rotate(i: Any, a: Any, b: Any) -> list[Any]:
        return [add.bind(i, np.int32(1)), b, add.bind(a, b), i, mul.bind(a, a)]

    rotated = record(rotate, (integer, vector, vector), debug_info)
    for length in (3, 0):
        params = {"jaxpr": rotated, "num_consts": 0, "num_carry": 3, "length": length, "reverse": False}
        yield Sample((np.asarray(np.int32(2)), start, scale), params)

    # Slices that are scalars, and nothing carried.
    def halved(x: Any, n: Any) -> list[Any]:
        return [mul.bind(x, convert.bind(n, new_dtype=rules.FLOAT32))]

    body = record(halved, (scalar, integer), debug_info)
    params = {"jaxpr": body, "num_consts": 0, "num_carry": 0, "length": 4, "reverse": False}
    yield Sample((xs[:, 0].copy(), np.arange(4, dtype=np.int32)), params)


scan = Primitive(
    name="scan",
    shape_rule=_shape,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    reference=_reference,
    sampler=_samples,
    multiple_results=True,
    linearize=_linearize,
    views={
        "linear": lambda own: (False,) * len(own["jaxpr"].in_avals),
        "unroll": lambda own: 1,
        "_split_transpose": lambda own: False,
    },
)

TABLE = (scan,)
