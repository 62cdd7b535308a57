"""Functions with rules of their own that compute each element of a sparse matrix by itself, and keep zeros.

Their operations alone need not keep zeros: the complex square compares, and selects. `transform` imports this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.tracing.evaluate import bound, evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Equation
from pycompiler.experimental.sparse.formats import is_sparse
from pycompiler.experimental.sparse.rules import DENSIFYING, KEEPING, Unique, deduplicated
from pycompiler.transforms import ensure_compile_time_eval

_ELEMENTWISE = (
    DENSIFYING | KEEPING | {"add", "and", "complex", "div", "max", "min", "mul", "or", "rem", "select", "sub"}
)


def of_elements(graph: ClosedGraph, given: Sequence[Any], unique: Unique) -> list[Any] | None:
    """The results of a graph of elementwise operations on one sparse matrix. None for other graphs and operands, and
    if a result of 0 is not 0."""
    if len(given) != 1 or not is_sparse(given[0]) or not _is_elementwise(graph):
        return None
    mat = given[0]
    with ensure_compile_time_eval():
        if any(np.any(np.asarray(out)) for out in _on(graph, pnp.zeros(1, mat.dtype))):
            return None
    mat = deduplicated(mat, unique)
    return [mat.with_data(out) for out in _on(graph, mat.data)]


def _is_elementwise(graph: ClosedGraph) -> bool:
    """Whether all values have the shape of the only operand, or are numbers."""
    shape = graph.in_avals[0].shape
    for equation in graph.eqns:
        name = equation.primitive.name
        if name == "broadcast_in_dim" and equation.inputs[0].aval.shape:
            return False
        if name != "broadcast_in_dim" and name not in _ELEMENTWISE:
            return False
        if any(out.aval.shape not in ((), shape) for out in equation.outputs):
            return False
    return all(aval.shape == shape for aval in graph.out_avals) and not graph.consts


def _on(graph: ClosedGraph, x: Any) -> list[Any]:
    """The results for an operand of another shape."""

    def apply(equation: Equation, args: list[Any]) -> Any:
        if equation.primitive.name == "broadcast_in_dim" and equation.outputs[0].aval.shape == graph.in_avals[0].shape:
            return pnp.broadcast_to(args[0], x.shape)
        return bound(equation, args)

    return evaluate(graph, [x], apply)
