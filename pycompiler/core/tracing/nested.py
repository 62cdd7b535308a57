"""The graphs inside of a graph: parts of loops, branches, called functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from pycompiler.core.tracing.graph import ClosedGraph, Graph

__all__ = ["forget_sources", "graphs_in"]


def graphs_in(graph: Graph) -> Iterator[Graph]:
    """A graph and the graphs inside it, each once. Otherwise a chain of thirty functions that each call the next one
    twice would give a billion graphs."""
    seen, waiting = {id(graph)}, [graph]
    while waiting:
        found = waiting.pop()
        yield found
        for equation in found.equations:
            for value in equation.params.values():
                for inner in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
                    if isinstance(inner, ClosedGraph) and id(inner.graph) not in seen:
                        seen.add(id(inner.graph))
                        waiting.append(inner.graph)


def forget_sources(graph: Graph) -> None:
    """Remove the user's lines from the equations of a graph and of the graphs inside it. Graphs that serve calls from
    anywhere must not name the first caller."""
    for inner in graphs_in(graph):
        for equation in inner.equations:
            equation.source = None
