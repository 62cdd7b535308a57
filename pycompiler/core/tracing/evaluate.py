"""Interpreting a graph by `bind`: inside a trace the graph is inlined, outside it is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.config.config import config, enable_x64
from pycompiler.core.source import swap_source
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Literal
from pycompiler.core.types import dtype as dtypes


def _has_wide_literal(equation: Equation) -> bool:
    return any(type(atom) is Literal and atom.aval.dtype in dtypes.WIDE for atom in equation.inputs)


def bound(equation: Equation, given: Sequence[Any]) -> Any:
    """The result (or results) of an equation for its operands."""
    if not config.enable_x64 and _has_wide_literal(equation):
        with enable_x64(True):  # else the literal would be narrowed, unlike the other operands
            return equation.primitive.bind(*given, **equation.params)
    return equation.primitive.bind(*given, **equation.params)


def evaluate(
    closed: ClosedGraph, args: Sequence[Any], apply: Callable[[Equation, list[Any]], Any] | None = None
) -> list[Any]:
    """The results of the graph for these arguments. Recorded equations keep the call sites of the graph's equations.

    `apply` replaces `bind`: it gives the result (or results) of an equation for its operands.
    """
    graph = closed.graph
    values: dict[Atom, Any] = dict(zip(graph.constvars, closed.consts, strict=True))
    for var, ref in zip(reversed(graph.constvars), reversed(closed.touched), strict=False):
        values[var] = ref.read()
    values.update(zip(graph.inputs, args, strict=True))

    def read(atom: Atom) -> Any:
        return atom.value if type(atom) is Literal else values[atom]

    previous = swap_source(None)
    try:
        for equation in graph.equations:
            swap_source(equation.source or previous)
            given = [read(atom) for atom in equation.inputs]
            if apply is not None:
                out = apply(equation, given)
            else:
                out = bound(equation, given)
            if equation.primitive.multiple_results:
                values.update(zip(equation.outputs, out, strict=True))
            else:
                values[equation.outputs[0]] = out
    finally:
        swap_source(previous)
    outs = [read(atom) for atom in graph.outputs]
    return closed.stored(outs) if closed.written else outs
