"""`custom_linear_solve` and `custom_root`: solutions by functions of the user, with derivatives of the solution.

Each has the graphs of the user's functions, all of which take the same constants first. `graph` computes the solution.
The derivatives are those of the solved equation, not of the solver's steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Graph
from pycompiler.core.tracing.primitive import Primitive, Zero, is_undefined, is_zero
from pycompiler.core.tracing.structural import add_tangents, instantiate, mapped_size, with_batch_dim
from pycompiler.core.types.aval import ShapedArray, strong
from pycompiler.primitives.control.graphs import (
    check_takes,
    made_real,
    mapped_graph,
    on_common_constants,
    varies,
    with_zeros,
)
from pycompiler.primitives.elementwise import neg
from pycompiler.primitives.rules import Dims, Value

Outs = tuple[Value, ...]


def _shape(*avals: ShapedArray, graph: ClosedGraph, **_: Any) -> tuple[ShapedArray, ...]:
    check_takes("solve", "the solver", graph, avals)
    return graph.out_avals


def _moved_by_constants(
    function: ClosedGraph, consts: Sequence[Value], tangents: Sequence[Value], xs: Sequence[Value]
) -> list[Value]:
    """The tangents of `function(constants, xs)` if only the constants vary."""
    varying = (*varies(tangents), *(False for _ in xs))
    both, out_varying = jvp_graph(function, varying)
    if not any(out_varying):
        return with_zeros((), out_varying, function.out_avals)
    outs = evaluate(both, (*consts, *xs, *made_real(tangents, varying[: len(tangents)])))
    return with_zeros(outs[len(out_varying) :], out_varying, function.out_avals)


def _negative(x: Value) -> Value:
    return x if is_zero(x) else neg.bind(x)


def _with_aux(tangents: Sequence[Value], graph: ClosedGraph) -> Outs:
    """The tangents of the solution, followed by zeros for the aux, which has no tangents."""
    return (*tangents, *(Zero(strong(aval)) for aval in graph.out_avals[len(tangents) :]))


def _mapped(
    args: Sequence[Value], dims: Dims, count: int, graphs: dict[str, ClosedGraph | None], vectors: dict[str, int]
) -> tuple[list[Value], dict[str, ClosedGraph | None]]:
    """The operands with the mapped axis of the last `count` in front, and the graphs for such operands. `vectors` gives
    the number of mapped inputs of a graph, after the constants."""
    size = mapped_size(args, dims)
    first = len(args) - count
    moved = [*args[:first], *(with_batch_dim(x, d, 0, size) for x, d in zip(args[first:], dims[first:], strict=True))]

    def mapped(name: str, graph: ClosedGraph) -> ClosedGraph:
        in_dims = (*dims[:first], *(0 for _ in range(vectors[name])))
        return mapped_graph(graph, in_dims, size, (True,) * len(graph.out_avals))[0]

    made = {name: mapped(name, graph) for name, graph in graphs.items() if graph is not None}
    # A batching rule of a user's primitive may make constants.
    closed, consts = on_common_constants(list(made.values()))
    return [*consts, *moved], {**graphs, **dict(zip(made, closed, strict=True))}


def _reference(*args: Any, graph: ClosedGraph, **_: Any) -> tuple[Any, ...]:
    return reference_of(graph, args)


# custom_linear_solve: (constants, b) -> x with matvec(constants, x) = b, and the further results of the solver.


def _solve_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Outs, Outs]:
    matvec: ClosedGraph = params["matvec"]
    count = len(matvec.out_avals)
    first = len(primals) - count
    outs = custom_linear_solve.bind(*primals, **params)
    # A x = b: A dx = db - dA x.
    moved = _moved_by_constants(matvec, primals[:first], tangents[:first], outs[:count])
    sides = [add_tangents(db, _negative(change)) for db, change in zip(tangents[first:], moved, strict=True)]
    if all(map(is_zero, sides)):
        return outs, _with_aux(sides, params["graph"])
    steps = custom_linear_solve.bind(*primals[:first], *map(instantiate, sides), **params)
    return outs, _with_aux(steps[:count], params["graph"])


def _solve_transpose(
    cotangents: Sequence[Value],
    *args: Value,
    graph: ClosedGraph,
    matvec: ClosedGraph,
    vecmat: ClosedGraph | None,
    transpose_solve: ClosedGraph | None,
) -> Sequence[Value]:
    count = len(matvec.out_avals)
    first = len(args) - count
    assert not any(map(is_undefined, args[:first])), "a solution is linear in its right side alone"
    if vecmat is None or transpose_solve is None:
        raise TypeError(
            "custom_linear_solve: reverse-mode differentiation needs `transpose_solve`, or symmetric=True where the "
            "matrix is its own transpose"
        )
    found = custom_linear_solve.bind(
        *args[:first],
        *map(instantiate, cotangents[:count]),
        graph=_without_aux(transpose_solve, count),
        matvec=vecmat,
        vecmat=matvec,
        transpose_solve=_without_aux(graph, count),
    )
    return [
        *(None for _ in args[:first]),
        *(ct if is_undefined(b) else None for ct, b in zip(found, args[first:], strict=True)),
    ]


def _without_aux(graph: ClosedGraph, count: int) -> ClosedGraph:
    if len(graph.out_avals) == count:
        return graph
    inner = graph.graph
    return graph.derive(
        "without aux",
        lambda: ClosedGraph(Graph(inner.constvars, inner.inputs, inner.outputs[:count], inner.equations), graph.consts),
    )


def _solve_batch(args: Sequence[Value], dims: Dims, **graphs: Any) -> tuple[Outs, tuple[int | None, ...]]:
    count = len(graphs["matvec"].out_avals)
    moved, mapped = _mapped(args, dims, count, graphs, dict.fromkeys(graphs, count))
    outs = custom_linear_solve.bind(*moved, **mapped)
    return outs, (0,) * len(outs)


custom_linear_solve = Primitive(
    name="custom_linear_solve",
    shape_rule=_shape,
    jvp=_solve_jvp,
    transpose=_solve_transpose,
    batch=_solve_batch,
    reference=_reference,
    multiple_results=True,
)


# custom_root: (constants, guess) -> x with function(constants, x) = 0, and the further results of the solver.
# `tangent_solve` takes (constants, x, y) and returns t: the derivative of the function at x along t is y.


def _root_jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Outs, Outs]:
    function: ClosedGraph = params["function"]
    count = len(function.out_avals)
    first = len(primals) - count
    outs = custom_root.bind(*primals, **params)
    x = outs[:count]
    # f(c, x) = 0: the derivative by x along dx is the derivative by c along -dc.
    moved = _moved_by_constants(function, primals[:first], tangents[:first], x)
    if all(map(is_zero, moved)):
        return outs, _with_aux(moved, params["graph"])
    steps = evaluate(params["tangent_solve"], (*primals[:first], *x, *map(instantiate, moved)))
    return outs, _with_aux([neg.bind(step) for step in steps], params["graph"])


def _root_batch(args: Sequence[Value], dims: Dims, **graphs: Any) -> tuple[Outs, tuple[int | None, ...]]:
    count = len(graphs["function"].out_avals)
    vectors = {"graph": count, "function": count, "tangent_solve": 2 * count}
    moved, mapped = _mapped(args, dims, count, graphs, vectors)
    outs = custom_root.bind(*moved, **mapped)
    return outs, (0,) * len(outs)


custom_root = Primitive(
    name="custom_root",
    shape_rule=_shape,
    jvp=_root_jvp,
    transpose=None,
    batch=_root_batch,
    reference=_reference,
    multiple_results=True,
)
