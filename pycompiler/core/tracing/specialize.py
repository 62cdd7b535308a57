"""A graph with symbolic dimensions, at given sizes: the graph that tracing arrays of these sizes would give.

Nothing is bound: dimensions in types and in parameters are replaced. The result serves questions about one size:
analyses, checks, and callbacks, which get the shapes of their operands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pycompiler._runtime import ShapedArray
from pycompiler.core.dims.dims import Dim
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal, Var
from pycompiler.core.types.aval import shaped

# The size of each symbol, by name. The size of an unknown symbol may be a dimension.
Sizes = Mapping[str, Any]


def aval_at(aval: ShapedArray, sizes: Sizes) -> ShapedArray:
    """The aval for these sizes."""
    if aval.is_concrete:
        return aval
    shape = [dim.evaluate(sizes) if isinstance(dim, Dim) else dim for dim in aval.shape]
    return shaped(shape, aval.dtype, aval.weak_type)


def closed_at(closed: ClosedGraph, sizes: Sizes) -> ClosedGraph:
    """The graph for these sizes, with the same constants."""
    return _Specializer(sizes).closed(closed)


def graph_at(graph: Graph, sizes: Sizes) -> Graph:
    """`closed_at` for a graph without its constants."""
    return _Specializer(sizes).graph(graph)


class _Specializer:
    """Specializes one graph and the graphs inside it, each once, so that shared graphs stay shared."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self._done: dict[int, tuple[ClosedGraph, ClosedGraph]] = {}

    def closed(self, closed: ClosedGraph) -> ClosedGraph:
        known = self._done.get(id(closed))
        if known is None:
            known = self._done[id(closed)] = (closed, ClosedGraph(self.graph(closed.graph), closed.consts))
        return known[1]

    def graph(self, graph: Graph) -> Graph:
        values: dict[Var, Var] = {}

        def define(var: Var) -> Var:
            return values.setdefault(var, Var(aval_at(var.aval, self.sizes)))

        def read(atom: Atom) -> Atom:
            return Literal(atom.value, aval_at(atom.aval, self.sizes)) if isinstance(atom, Literal) else values[atom]

        constants, inputs = ([define(var) for var in given] for given in (graph.constvars, graph.inputs))
        equations = [
            Equation(
                equation.primitive,
                [read(atom) for atom in equation.inputs],
                {name: self.parameter(value) for name, value in equation.params.items()},
                [define(var) for var in equation.outputs],
                equation.source,
            )
            for equation in graph.equations
        ]
        return Graph(constants, inputs, [read(atom) for atom in graph.outputs], equations)

    def parameter(self, value: Any) -> Any:
        """A parameter of an equation. Its dimensions may lie in tuples."""
        if isinstance(value, Dim):
            return value.evaluate(self.sizes)
        if isinstance(value, ShapedArray):
            return aval_at(value, self.sizes)
        if isinstance(value, ClosedGraph):
            return self.closed(value)
        if isinstance(value, tuple):
            parts = [self.parameter(part) for part in cast("tuple[Any, ...]", value)]
            kind = cast("type[Any]", type(value))  # pyright: ignore[reportUnknownArgumentType]
            return tuple(parts) if kind is tuple else kind(*parts)
        return value
