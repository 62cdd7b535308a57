"""`cond`: one of several graphs with the same arguments, chosen by an index. Only this graph is computed.

The operands are the index, an int32, and the arguments of every branch. The results of all branches have the same
types. With a mapped index, all branches are computed and `select` chooses. `members` defines the operands that a branch
sees for members that do not take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.autodiff.linearize import linearize_graph
from pycompiler.core.autodiff.transpose import transpose_graph
from pycompiler.core.tracing.effects import does_io
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Graph, eliminate_dead_code
from pycompiler.core.tracing.primitive import Primitive, Sample, is_undefined
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import add, broadcast_in_dim, mapped_size, move_dim, with_batch_dim, zeros
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import ShapedArray, get_aval, same_type, short
from pycompiler.core.types.dtype import is_key
from pycompiler.primitives import rules
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.bits import and_, not_
from pycompiler.primitives.compare import lt, select
from pycompiler.primitives.control.graphs import (
    Flags,
    axes_of,
    check_takes,
    full_jvp,
    full_transpose,
    io_is_chosen,
    listed,
    made_real,
    mapped_graph,
    on_common_constants,
    strong_avals,
    union,
    varies,
    with_zeros,
)
from pycompiler.primitives.control.members import along, mixes_members, need_of, of_members
from pycompiler.primitives.control.with_references import Uses, pure
from pycompiler.primitives.elementwise import mul
from pycompiler.primitives.reduction import reduce_or
from pycompiler.primitives.rules import Dims, Value

Branches = tuple[ClosedGraph, ...]


def run_cond(index: Any, branches: Sequence[ClosedGraph], operands: Sequence[Any]) -> list[Any]:
    """Bind a cond of these branches, whose constants become operands.

    A result that all branches only pass on, or repeat, is not a result of the cond. A cond without results runs for its
    effects.
    """
    uses = Uses.of(branches)
    if uses.read or uses.written:
        results = len(branches[0].out_avals)
        read, written = uses.values()
        given = [*read, *operands, *written]
        outs = run_cond(index, [pure(branch, uses, len(operands), results) for branch in branches], given)
        uses.store(outs[results:])
        return outs[:results]
    closed, consts = on_common_constants(branches)
    operands = [*consts, *operands]
    plan: _Plan = closed[0].derive(("handed on", closed), lambda: _plan(closed))
    outs: Sequence[Any] = ()
    if plan.branches[0].graph.outputs or any(branch.effects for branch in plan.branches):
        outs = cond.bind(index, *operands, branches=plan.branches)
    return [outs[place] if place >= 0 else operands[~place] for place in plan.outs]


class _Plan(NamedTuple):
    branches: Branches
    # Each result as a result of the branches or, counted from ~0 downwards, an operand.
    outs: list[int]


def _plan(branches: Branches) -> _Plan:
    places: list[int] = []
    kept: dict[tuple[Atom, ...], int] = {}
    for atoms in zip(*(branch.graph.outputs for branch in branches), strict=True):
        sources = {
            branch.graph.inputs.index(atom) if atom in branch.graph.inputs else -1
            for branch, atom in zip(branches, atoms, strict=True)
        }
        source = sources.pop()
        if source >= 0 and not sources:
            places.append(~source)
        else:
            places.append(kept.setdefault(atoms, len(kept)))
    if len(kept) == len(places):
        return _Plan(branches, places)

    def without(number: int, branch: ClosedGraph) -> ClosedGraph:
        graph = branch.graph
        outputs = [atoms[number] for atoms in kept]
        return ClosedGraph(eliminate_dead_code(Graph((), graph.inputs, outputs, graph.equations)), ())

    return _Plan(tuple([without(number, branch) for number, branch in enumerate(branches)]), places)


def _shape(index: ShapedArray, *operands: ShapedArray, branches: Branches) -> tuple[ShapedArray, ...]:
    if index.shape != () or index.dtype != rules.INT32:
        raise TypeError(f"cond: the index must be an i32[], got {short(index)}")
    outs = branches[0].out_avals
    for number, branch in enumerate(branches):
        check_takes("cond", f"branch {number}", branch, operands)
        given = branch.out_avals
        if len(given) != len(outs) or not all(map(same_type, given, outs)):
            raise TypeError(f"cond: branch 0 gives ({listed(outs)}), branch {number} gives ({listed(given)})")
    return outs


# Derivatives


def _jvp(
    primals: Sequence[Value], tangents: Sequence[Value], *, branches: Branches
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    index, *operands = primals
    varying = varies(tangents[1:])
    out_varying = union(jvp_graph(branch, varying)[1] for branch in branches)
    moved = [full_jvp(branch, varying, out_varying) for branch in branches]
    results = run_cond(index, moved, [*operands, *made_real(tangents[1:], varying)])
    outs = results[: len(out_varying)]
    return tuple(outs), tuple(with_zeros(results[len(out_varying) :], out_varying, outs))


class _Parts(NamedTuple):
    known: list[ClosedGraph]
    linear: list[ClosedGraph]
    # Operands, or results of `known` counted from ~0 downwards. The linear branches take them before the tangents.
    residuals: list[int]
    out_varying: Flags


def _linearize(
    primals: Sequence[Value], tangents: Sequence[Value], *, branches: Branches
) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    index, *operands = primals
    varying = varies(tangents[1:])
    parts = branches[0].derive(("linearized cond", branches, varying), lambda: _linearized(branches, varying))
    results = run_cond(index, parts.known, operands)
    outs = results[: len(parts.out_varying)]
    if not any(parts.out_varying):
        return tuple(outs), tuple(with_zeros((), parts.out_varying, outs))
    residuals = [operands[place] if place >= 0 else results[~place] for place in parts.residuals]
    found = run_cond(index, parts.linear, [*residuals, *made_real(tangents[1:], varying)])
    return tuple(outs), tuple(with_zeros(found, parts.out_varying, outs))


def _linearized(branches: Branches, varying: Flags) -> _Parts:
    """The known and the linear branches. Residuals of branches share slots, because only one branch is computed."""
    each = [linearize_graph(branch, varying) for branch in branches]
    out_varying = union(parts.out_varying for parts in each)
    outs = len(out_varying)
    slots: list[ShapedArray] = []
    # For each branch: the slots of the results of its known graph that are only residuals.
    taken: list[dict[int, int]] = []
    places: dict[int, None] = {}
    for parts in each:
        mine: dict[int, int] = {}
        for place in parts.residuals:
            if place >= 0 or ~place < outs:
                places[place] = None
                continue
            aval = parts.known.out_avals[~place]
            free = (i for i, slot in enumerate(slots) if same_type(slot, aval) and i not in mine.values())
            slot = next(free, len(slots))
            if slot == len(slots):
                slots.append(aval)
            mine[place] = slot
            places[~(outs + slot)] = None
        taken.append(mine)
    residuals = list(places)
    order = {place: i for i, place in enumerate(residuals)}
    avals = [
        branches[0].in_avals[place]
        if place >= 0
        else slots[~place - outs]
        if ~place >= outs
        else branches[0].out_avals[~place]
        for place in residuals
    ]
    moving = strong_avals(branches[0].in_avals, varying)

    def with_slots(known: ClosedGraph, mine: dict[int, int]) -> ClosedGraph:
        kept = {slot: place for place, slot in mine.items()}
        if len(kept) == len(slots) and all(~kept[i] == outs + i for i in kept):
            return known

        def run(*args: Any) -> list[Any]:
            found = evaluate(known, args)
            return [*found[:outs], *(found[~kept[i]] if i in kept else zeros(a) for i, a in enumerate(slots))]

        return record(run, known.in_avals, DebugInfo("linearize", evaluate))

    def on_all(linear: ClosedGraph, own: Sequence[int], varies_here: Flags) -> ClosedGraph:
        def run(*args: Any) -> list[Any]:
            found = evaluate(linear, (*(args[i] for i in own), *args[len(residuals) :]))
            return made_real(with_zeros(found, varies_here, branches[0].out_avals), out_varying)

        return record(run, (*avals, *moving), DebugInfo("linearize", evaluate))

    known = [with_slots(parts.known, mine) for parts, mine in zip(each, taken, strict=True)]
    linear = [
        on_all(parts.linear, [order[~(outs + mine[p]) if p in mine else p] for p in parts.residuals], parts.out_varying)
        for parts, mine in zip(each, taken, strict=True)
    ]
    return _Parts(known, linear, residuals, out_varying)


def _transpose(cotangents: Sequence[Value], index: Value, *operands: Value, branches: Branches) -> Sequence[Value]:
    linear, given = rules.is_linear(*operands), varies(cotangents)
    wanted = union(transpose_graph(branch, linear, given)[1] for branch in branches)
    undefined = [x for x in operands if is_undefined(x)]
    if not any(wanted):
        found = with_zeros((), wanted, [x.aval for x in undefined])
    else:
        backward = [full_transpose(branch, linear, given, wanted) for branch in branches]
        known = [x for x in operands if not is_undefined(x)]
        results = run_cond(index, backward, [*known, *made_real(cotangents, given)])
        found = with_zeros(results, wanted, [x.aval for x in undefined])
    each = iter(found)
    return [None, *(next(each) if flag else None for flag in linear)]


# Batching


def _batch(
    args: Sequence[Value], dims: Dims, *, branches: Branches
) -> tuple[tuple[Value, ...], tuple[int | None, ...]]:
    size = mapped_size(args, dims)
    (index, *operands), (index_dim, *operand_dims) = args, dims
    in_dims = tuple(operand_dims)
    if index_dim is None:
        mapped = union(mapped_graph(branch, in_dims, size, None)[1] for branch in branches)
        batched = [mapped_graph(branch, in_dims, size, mapped)[0] for branch in branches]
        return tuple(run_cond(index, batched, operands)), tuple(0 if m else None for m in mapped)
    if any(does_io(branch.effects) for branch in branches):
        raise io_is_chosen("cond", "computes all branches, and selects")
    mapped = tuple([d is not None for d in in_dims])
    operands = [x if d is None else move_dim(x, d, 0) for x, d in zip(operands, in_dims, strict=True)]
    chosen: list[Any] = []
    for branch, takes in zip(branches, _taking(index, len(branches), size), strict=True):
        if chosen and _has_loops(branch):
            chosen = _if_taken(branch, takes, operands, mapped, size, chosen)
        else:
            chosen = _selected(branch, takes, operands, mapped, size, chosen)
    return tuple(chosen), (0,) * len(chosen)


def _selected(
    branch: ClosedGraph, takes: Value, operands: Sequence[Value], mapped: Flags, size: Any, others: Sequence[Value]
) -> list[Value]:
    """A branch's results for the members that take it, and those of the branches before for the others."""
    outs = _of_members(branch, takes, operands, mapped, size)
    if not others:
        return outs
    return [select.bind(along(takes, get_aval(new).shape), new, old) for new, old in zip(outs, others, strict=True)]


def _has_loops(branch: ClosedGraph) -> bool:
    """Whether a branch is worth a test of whether a member takes it. All devices must compute one with collectives."""
    return not branch.axis_names and any(equation.graphs for equation in branch.graph.equations)


def _if_taken(
    branch: ClosedGraph, takes: Value, operands: Sequence[Value], mapped: Flags, size: Any, others: Sequence[Value]
) -> list[Value]:
    """`_selected`, computed only if some member takes the branch."""
    count = len(operands)

    def taken(takes: Value, *values: Value) -> list[Value]:
        return _selected(branch, takes, values[:count], mapped, size, values[count:])

    def kept(takes: Value, *values: Value) -> list[Value]:
        return list(values[count:])

    given = [takes, *operands, *others]
    avals = [get_aval(x) for x in given]
    is_taken = convert.bind(reduce_or.bind(takes, axes=(0,)), new_dtype=rules.INT32)
    return run_cond(is_taken, [record(run, avals, DebugInfo("cond", run_cond)) for run in (kept, taken)], given)


def _taking(index: Value, count: int, size: Any) -> list[Value]:
    """For each branch, a mask of the members that take it. An index out of range stands for the nearest branch."""

    def below(number: int) -> Value:
        return lt.bind(index, broadcast_in_dim.bind(np.int32(number), shape=(size,), broadcast_dimensions=()))

    ends = [below(number) for number in range(1, count)]
    starts = [not_.bind(end) for end in ends]
    inner = [and_.bind(start, end) for start, end in zip(starts, ends[1:], strict=False)]
    return [*ends[:1], *inner, *starts[-1:]]


def _of_members(branch: ClosedGraph, takes: Value, operands: Sequence[Value], mapped: Flags, size: Any) -> list[Value]:
    """A branch's results for all members. Only those of members that take the branch count."""
    if not branch.axis_names and not any(mapped):
        # It is computed once.
        graph = branch
    else:
        graph, _ = mapped_graph(branch, tuple(axes_of(mapped)), size, (True,) * len(branch.out_avals))
    if mixes_members(branch):
        outs = evaluate(graph, operands)
    else:
        outs = list(of_members(takes, graph, operands, mapped, need_of(branch, mapped), _where_any))
    return outs if graph is not branch else [with_batch_dim(out, None, 0, size) for out in outs]


def _where_any(takes: Value, graph: ClosedGraph, operands: Sequence[Value]) -> list[Value]:
    """The results of a graph if any member takes part, else zeros. Keys have no zeros: with keys it is computed."""
    if any(is_key(aval.dtype) for aval in graph.out_avals):
        return evaluate(graph, operands)

    def skipped() -> ClosedGraph:
        return record(lambda *_: list(map(zeros, graph.out_avals)), graph.in_avals, DebugInfo("vmap", evaluate))

    index = convert.bind(reduce_or.bind(takes, axes=(0,)), new_dtype=rules.INT32)
    return run_cond(index, (graph.derive("skipped", skipped), graph), operands)


# Reference and samples


def _reference(index: Any, *operands: Any, branches: Branches) -> tuple[Any, ...]:
    return tuple(np.asarray(out) for out in reference_of(branches[int(np.clip(index, 0, len(branches) - 1))], operands))


def _samples(rng: np.random.Generator) -> Iterable[Sample]:
    vector = ShapedArray((5,), rules.FLOAT32)
    debug_info = DebugInfo("jit", evaluate)

    def product(x: Any, y: Any) -> list[Any]:
        return [mul.bind(x, y), lt.bind(x, y)]

    def total(x: Any, y: Any) -> list[Any]:
        return [add.bind(x, y), lt.bind(y, x)]

    def swapped(x: Any, y: Any) -> list[Any]:
        return [y, lt.bind(x, x)]

    branches = tuple([record(f, (vector, vector), debug_info) for f in (product, total, swapped)])
    x, y = (rng.standard_normal(5).astype(np.float32) for _ in range(2))
    for index in range(3):
        yield Sample((np.asarray(np.int32(index)), x, y), {"branches": branches})
    yield Sample((np.asarray(np.int32(1)), x, y), {"branches": branches[:2]})


cond = Primitive(
    name="cond",
    shape_rule=_shape,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    reference=_reference,
    sampler=_samples,
    multiple_results=True,
    linearize=_linearize,
)

TABLE = (cond,)
