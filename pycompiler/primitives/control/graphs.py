"""Shared parts of the rules of primitives with graphs: `while`, `scan`, `cond`.

A transformed body of a loop must give the kinds of values that it takes, and transformed branches must give equal
kinds. This module makes the transformed graphs with the zeros, or the mapped axes, that this requires. Every result is
kept with its original graph. Imports core's interpreters; the files of the primitives import this module.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.autodiff.linearize import linearize
from pycompiler.core.autodiff.transpose import pull_back, transpose_graph
from pycompiler.core.batching.batch import map_axes
from pycompiler.core.source import user_source
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Var, close_over
from pycompiler.core.tracing.primitive import UndefinedPrimal, Zero, is_undefined, is_zero
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import instantiate, with_batch_dim, zeros
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import ShapedArray, get_aval, same_type, shaped, short, strong

Flags = tuple[bool, ...]


def listed(avals: Iterable[ShapedArray]) -> str:
    """`f32[3], i32[]`: for messages."""
    return ", ".join(map(short, avals))


def check_takes(name: str, what: str, graph: ClosedGraph, given: Sequence[ShapedArray]) -> None:
    """Raise TypeError unless the graph takes arguments of these avals."""
    wanted = graph.in_avals
    if len(given) != len(wanted) or not all(map(same_type, given, wanted)):
        raise TypeError(f"{name}: {what} takes ({listed(wanted)}), it is given ({listed(given)})")


def opened(graph: ClosedGraph) -> tuple[ClosedGraph, list[Any]]:
    """The graph with its constants as first inputs, and the constants."""
    return graph.derive("opened", lambda: close_over(graph))


def chosen(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The values whose flag is set."""
    return [value for value, flag in zip(values, flags, strict=True) if flag]


def strong_avals(avals: Sequence[ShapedArray], flags: Sequence[bool]) -> list[ShapedArray]:
    """The avals of the tangents of varying values."""
    return [strong(aval) for aval in chosen(avals, flags)]


# Tangents


def varies(tangents: Sequence[Any]) -> Flags:
    """For each tangent, or cotangent, whether it is not a symbolic zero."""
    return tuple([not is_zero(t) for t in tangents])


def made_real(tangents: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The tangents whose flag is set, as arrays."""
    return [instantiate(t) for t in chosen(tangents, flags)]


def with_zeros(values: Iterable[Any], flags: Sequence[bool], like: Sequence[Any]) -> list[Any]:
    """A tangent for each of `like` (values or avals): the next of `values` where the flag is set, else a Zero."""
    found = iter(values)
    avals = [x if isinstance(x, ShapedArray) else get_aval(x) for x in like]
    return [next(found) if flag else Zero(strong(aval)) for flag, aval in zip(flags, avals, strict=True)]


def fixed_point(start: Sequence[bool], step: Callable[[Flags], Sequence[bool]]) -> Flags:
    """The carries with a property that iterations pass on: initially, or after some iterations."""
    now = tuple(start)
    while True:
        after = tuple([a or b for a, b in zip(now, step(now), strict=True)])
        if after == now:
            return now
        now = after


def union(flags: Iterable[Sequence[bool]]) -> Flags:
    """The flags that are set in at least one of several tuples."""
    return tuple([any(column) for column in zip(*flags, strict=True)])


def full_jvp(graph: ClosedGraph, varying: Flags, wanted: Flags) -> ClosedGraph:
    """(inputs, tangents of the varying ones) -> (results, tangents of the wanted ones, with arrays for zeros)."""
    both, out_varying = jvp_graph(graph, varying)
    if out_varying == wanted:
        return both
    count = len(wanted)

    def make() -> ClosedGraph:
        def run(*args: Any) -> list[Any]:
            outs = evaluate(both, args)
            return [*outs[:count], *made_real(with_zeros(outs[count:], out_varying, graph.out_avals), wanted)]

        return record(run, both.in_avals, DebugInfo("jvp", evaluate))

    return graph.derive(("full jvp", varying, wanted), make)


def full_transpose(graph: ClosedGraph, linear: Flags, given: Flags, wanted: Flags) -> ClosedGraph:
    """(known inputs, given cotangents) -> the cotangents of the wanted linear inputs, with arrays for zeros."""
    backward, nonzero = transpose_graph(graph, linear, given)
    if nonzero == wanted:
        return backward

    def make() -> ClosedGraph:
        avals = chosen(graph.in_avals, linear)

        def run(*args: Any) -> list[Any]:
            return made_real(with_zeros(evaluate(backward, args), nonzero, avals), wanted)

        return record(run, backward.in_avals, DebugInfo("transpose", evaluate))

    return graph.derive(("full transpose", linear, given, wanted), make)


def reached(graph: Graph, inputs: Sequence[bool]) -> Flags:
    """The results that depend on the chosen inputs."""
    found: set[Atom] = set(chosen(graph.inputs, inputs))
    for equation in graph.equations:
        if not found.isdisjoint(equation.inputs):
            found.update(equation.outputs)
    return tuple([out in found for out in graph.outputs])


def transposed_at_zero(bind: Callable[..., Sequence[Any]], cotangents: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """The cotangents of the undefined arguments of a linear function, by its linearization."""
    linear = [is_undefined(arg) for arg in args]
    starts = [zeros(arg.aval) for arg in chosen(args, linear)]

    def run(*xs: Any) -> Sequence[Any]:
        given = iter(xs)
        return bind(*(next(given) if flag else arg for arg, flag in zip(args, linear, strict=True)))

    _, closed, varying = linearize(run, starts, [True] * len(starts), DebugInfo("transpose", evaluate))
    undefined = [UndefinedPrimal(aval) for aval in closed.in_avals]
    found = iter(pull_back(closed, undefined, chosen(cotangents, varying)))
    return [next(found) if flag else None for flag in linear]


# Batching


def axes_of(mapped: Sequence[bool]) -> list[int | None]:
    """The first axis for each mapped value."""
    return [0 if m else None for m in mapped]


def mapped_graph(
    graph: ClosedGraph, dims: tuple[int | None, ...], size: Any, forced: Flags | None
) -> tuple[ClosedGraph, Flags]:
    """The graph mapped over these axes, with the mapped axis of each result in front, and which results are mapped.
    `forced` results are always mapped."""

    def make() -> tuple[ClosedGraph, Flags]:
        mapped: list[bool] = []

        def run(*args: Any) -> list[Any]:
            outs, found = map_axes(lambda *xs: evaluate(graph, xs), args, dims, DebugInfo("vmap", evaluate))
            wanted = [d is not None for d in found]
            if forced is not None:
                wanted = [a or b for a, b in zip(wanted, forced, strict=True)]
            mapped.extend(wanted)
            return [
                with_batch_dim(out, d, 0, size) if w else out for out, d, w in zip(outs, found, wanted, strict=True)
            ]

        avals = [
            a if d is None else shaped((*a.shape[:d], size, *a.shape[d:]), a.dtype, a.weak_type)
            for a, d in zip(graph.in_avals, dims, strict=True)
        ]
        return record(run, avals, DebugInfo("vmap", evaluate)), tuple(mapped)

    return graph.derive(("mapped", dims, size, forced), make)


def io_is_chosen(name: str, how: str) -> NotImplementedError:
    """The error for io callbacks that should run for some of the mapped elements only."""
    source = user_source()
    return NotImplementedError(
        (f"{source.describe()}\n" if source else "")
        + f"{name}: io_callback under vmap with a mapped condition: the mapped operation {how}, so the callback "
        "would also run for other elements. What to do: map over a condition that is the same for all, or loop "
        "with lax.map"
    )


# Graphs rebuilt without tracing them again


def without_effects(closed: ClosedGraph) -> ClosedGraph:
    """A graph for recomputation: it gives the same results, without effects except those whose results are read."""

    def make() -> ClosedGraph:
        graph = closed.graph
        needed: set[Atom] = set(graph.outputs)
        equations: list[Equation] = []
        for equation in reversed(graph.equations):
            if not needed.isdisjoint(equation.outputs):
                needed.update(equation.inputs)
                equations.append(_without_effects(equation) if equation.effects else equation)
        equations.reverse()
        return ClosedGraph(Graph(graph.constvars, graph.inputs, graph.outputs, equations), closed.consts)

    return closed.derive("without effects", make) if closed.effects else closed


def _without_effects(equation: Equation) -> Equation:
    def quiet(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple([quiet(part) for part in value])  # pyright: ignore[reportUnknownVariableType]
        return without_effects(value) if isinstance(value, ClosedGraph) else value

    params = {name: quiet(value) for name, value in equation.params.items()}
    return Equation(equation.primitive, equation.inputs, params, equation.outputs, equation.source)


def with_unread(graph: ClosedGraph, more: Sequence[ShapedArray]) -> ClosedGraph:
    """The graph with further inputs, which it does not read."""
    more = tuple(more)
    if not more:
        return graph

    def make() -> ClosedGraph:
        inner = graph.graph
        inputs = (*inner.inputs, *map(Var, more))
        return ClosedGraph(Graph(inner.constvars, inputs, inner.outputs, inner.equations), graph.consts)

    return graph.derive(("unread", more), make)


def on_common_constants(graphs: Sequence[ClosedGraph]) -> tuple[tuple[ClosedGraph, ...], list[Any]]:
    """Graphs with the same inputs, each preceded by the constants of all graphs, and these constants."""
    places: dict[tuple[int, int], int] = {}
    consts: list[Any] = []

    def place(const: Any, taken: set[int]) -> int:
        # A graph may hold one constant twice.
        for again in itertools.count():
            found = places.setdefault((id(const), again), len(consts))
            if found == len(consts):
                consts.append(const)
            if found not in taken:
                taken.add(found)
                return found
        raise AssertionError

    def places_of(own: Sequence[Any]) -> tuple[int, ...]:
        taken: set[int] = set()
        return tuple([place(const, taken) for const in own])

    bodies = [opened(graph) for graph in graphs]
    where = [places_of(own) for _, own in bodies]
    avals = tuple([get_aval(const) for const in consts])

    def on_all(body: ClosedGraph, own: tuple[int, ...]) -> ClosedGraph:
        def make() -> ClosedGraph:
            inner = body.graph
            given = list(map(Var, avals))
            for var, index in zip(inner.inputs, own, strict=False):
                given[index] = var
            inputs = (*given, *inner.inputs[len(own) :])
            return ClosedGraph(Graph((), inputs, inner.outputs, inner.equations), ())

        return body.derive(("among", own, avals), make) if avals else body

    return tuple([on_all(body, own) for (body, _), own in zip(bodies, where, strict=True)]), consts
