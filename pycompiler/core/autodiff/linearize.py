"""Linearization: forward mode that records the tangents, so that they can be run again, or backwards.

The tangents are tracers of a graph that is not the current trace. The newest trace among the operands takes an
operation. So a jvp rule evaluates operations on primals alone at once, outside of the graph. Operations on tangents
become equations of the linear graph. The primals that such an equation reads become constants of the linear graph: the
residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.autodiff.jvp import JvpTrace, push_forward
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, close_over, pruned
from pycompiler.core.tracing.primitive import Primitive, Zero
from pycompiler.core.tracing.record import GraphTrace, record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval, strong


class LinearizeTrace(JvpTrace):
    """A jvp trace that records its tangents. Primitives with graphs must keep the two parts apart."""

    __slots__ = ()

    def rule(self, primitive: Primitive) -> Callable[..., tuple[Any, Any]]:
        return primitive.linearize or super().rule(primitive)


def linearize(
    function: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    varying: Sequence[bool],
    debug_info: DebugInfo,
    active: Callable[[], int] | None = None,
) -> tuple[list[Any], ClosedGraph, list[bool]]:
    """The results of a flat function, the linear graph from the tangents of the varying arguments to those of the
    varying results, and a flag for each result: whether it varies. `active` as for `push_forward`."""
    linear = GraphTrace(debug_info)
    tangents = [
        linear.new_input(strong(get_aval(x))) if v else Zero(get_aval(x)) for x, v in zip(primals, varying, strict=True)
    ]
    tracker = axes.varying_tracker()
    if tracker is not None:
        for x, tangent in zip(primals, tangents, strict=True):
            if type(tangent) is not Zero:
                tracker.same(tangent, x)
    try:
        outs, out_tangents = push_forward(function, primals, tangents, LinearizeTrace(debug_info), active)
        # Residuals read by dead equations alone need not be kept.
        closed = pruned(linear.close([t for t in out_tangents if type(t) is not Zero]))
    finally:
        linear.finish()
    return outs, closed, [type(t) is not Zero for t in out_tangents]


class LinearizedGraph:
    """A graph in two parts. `known` maps the inputs to the results and the residuals. `linear` maps the residuals and
    the tangents of the varying inputs to the tangents of the varying results."""

    __slots__ = ("known", "linear", "out_varying", "residuals")

    def __init__(
        self, known: ClosedGraph, linear: ClosedGraph, residuals: tuple[int, ...], out_varying: tuple[bool, ...]
    ) -> None:
        self.known = known
        self.linear = linear
        # The place of each residual: an input of `known` by number, or a result of it (counted from ~0 downwards).
        self.residuals = residuals
        self.out_varying = out_varying


def linearize_graph(closed: ClosedGraph, varying: tuple[bool, ...]) -> LinearizedGraph:
    """The two parts of a graph, for tangents of the varying inputs."""
    return closed.derive(("linearize", varying), lambda: _linearize_graph(closed, varying))


def _linearize_graph(closed: ClosedGraph, varying: tuple[bool, ...]) -> LinearizedGraph:
    debug_info = DebugInfo("linearize", evaluate)
    parts: list[tuple[ClosedGraph, list[int], list[bool]]] = []

    def run(*args: Any) -> list[Any]:
        outs, linear, out_varying = linearize(lambda *xs: evaluate(closed, xs), args, varying, debug_info)
        results = list(outs)
        at_input = {id(x): index for index, x in enumerate(args)}
        at_result = {id(x): ~index for index, x in enumerate(results)}
        residuals: list[int] = []
        linear, inner = close_over(linear, only_tracers=True)
        for const in inner:
            place = at_input.get(id(const), at_result.get(id(const)))
            if place is None:
                place = at_result[id(const)] = ~len(results)
                results.append(const)
            residuals.append(place)
        parts.append((linear, residuals, out_varying))
        return results

    known = record(run, closed.in_avals, debug_info)
    linear, residuals, out_varying = parts[0]
    return LinearizedGraph(known, linear, tuple(residuals), tuple(out_varying))
