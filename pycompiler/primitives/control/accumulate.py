"""Sums of cotangents in place: if a summand is zero except for a part, only this part of the array is updated.

The cotangent of a slice is the slice's cotangent in an array of zeros. If the backward pass of a loop adds this array
to a carry, the time depends on the size of the array. The time of an update of the part depends on the size of the
slice alone, and the array stays in place. Imports core; `scan` imports this module.
"""

from collections import Counter
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import same_shape
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal, Var, eliminate_dead_code
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.structural import add, broadcast_in_dim
from pycompiler.core.types.aval import ShapedArray
from pycompiler.primitives import rules
from pycompiler.primitives.gather import scatter
from pycompiler.primitives.indexing import dynamic_slice, dynamic_update_slice
from pycompiler.primitives.movement import pad


def summed_in_place(closed: ClosedGraph) -> ClosedGraph:
    """The graph with such sums replaced by updates of the parts."""
    rewriter = _Rewriter(closed.graph)
    equations = [new for equation in closed.graph.equations for new in rewriter.rewritten(equation)]
    if not rewriter.changed:
        return closed
    graph = closed.graph
    summed = eliminate_dead_code(Graph(graph.constvars, graph.inputs, graph.outputs, equations))
    return ClosedGraph(summed, closed.consts).using(closed.touched, closed.written)


class _Rewriter:
    def __init__(self, graph: Graph) -> None:
        self.changed = False
        self._maker: dict[Atom, Equation] = {out: e for e in graph.equations for out in e.outputs}
        self._uses = Counter(graph.outputs)
        for equation in graph.equations:
            self._uses.update(equation.inputs)

    def rewritten(self, equation: Equation) -> list[Equation]:
        """The replacement of an equation: itself, or the update of a part."""
        if equation.primitive is add:
            one, other = equation.inputs
            for whole, part in ((one, other), (other, one)):
                maker = self._maker.get(part)
                if maker is not None and self._uses[part] == 1:
                    found = self._on_part(whole, maker, equation)
                    if found:
                        self.changed = True
                        return found
        return [equation]

    def _on_part(self, whole: Atom, maker: Equation, equation: Equation) -> list[Equation]:
        inputs, params, primitive = maker.inputs, maker.params, maker.primitive
        if primitive is scatter and params["kind"] == "add" and self._is_zero(inputs[0]):
            return [Equation(scatter, (whole, *inputs[1:]), params, equation.outputs, equation.source)]
        if primitive is dynamic_update_slice and self._is_zero(inputs[0]):
            update, indices = inputs[1], inputs[2:]
        elif primitive is pad and self._is_zero(inputs[1]) and _is_plain(params):
            update = inputs[0]
            indices = [Literal(np.int32(start), _INDEX) for start in params["low"]]
        else:
            return []
        if same_shape(update.aval.shape, whole.aval.shape):
            return []
        read = _equation(dynamic_slice, (whole, *indices), {"slice_sizes": update.aval.shape}, equation)
        total = _equation(add, (read.outputs[0], update), {}, equation)
        written = (whole, total.outputs[0], *indices)
        return [
            read,
            total,
            Equation(dynamic_update_slice, written, {}, equation.outputs, equation.source),
        ]

    def _is_zero(self, atom: Atom) -> bool:
        if isinstance(atom, Literal):
            return not atom.value
        maker = self._maker.get(atom)
        return maker is not None and maker.primitive is broadcast_in_dim and self._is_zero(maker.inputs[0])


_INDEX = ShapedArray((), rules.INT32)


def _is_plain(params: dict[str, Any]) -> bool:
    """Whether padding only adds elements around an array."""
    sizes = (*params["low"], *params["high"])
    return all(isinstance(size, int) and size >= 0 for size in sizes) and not any(params["interior"])


def _equation(primitive: Primitive, inputs: tuple[Atom, ...], params: dict[str, Any], like: Equation) -> Equation:
    out = Var(primitive.shape_rule(*(atom.aval for atom in inputs), **params))
    return Equation(primitive, inputs, params, (out,), like.source)
