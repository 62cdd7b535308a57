"""Matmuls with a constant of a loop, moved out of the loop's backward pass.

The cotangent of a matrix W that a loop multiplies by is a sum over the iterations. Each term is a product of a few
rows, and adding it in the loop would read and write all of W's cotangent in every iteration. Instead, the loop stacks
the cotangents of its products, and one matmul over all iterations gives the sum. Imports core; `scan` imports it.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal, Var, eliminate_dead_code
from pycompiler.primitives.contraction import dot_general
from pycompiler.primitives.control.graphs import Flags, chosen


class Apart(NamedTuple):
    """A body in two parts: `outer` maps (constants, slices) to the products, `body` takes these as its last slices."""

    outer: ClosedGraph
    body: ClosedGraph
    products: list[Var]


def products_apart(graph: ClosedGraph, consts_linear: Flags, num_carry: int, xs_linear: Flags) -> Apart | None:
    """The body of a linear loop, whose whole carry is linear, without its products with linear constants. None if it
    has none. It must have no constants of its own."""
    return graph.derive(
        ("products apart", consts_linear, xs_linear), lambda: _apart(graph.graph, consts_linear, num_carry, xs_linear)
    )


def _apart(graph: Graph, consts_linear: Flags, num_carry: int, xs_linear: Flags) -> Apart | None:
    if graph.effects:
        return None  # effects stay in the iterations
    first, last = len(consts_linear), len(consts_linear) + num_carry
    consts, carry, xs = graph.inputs[:first], graph.inputs[first:last], graph.inputs[last:]
    # Three sets of atoms: those that depend on a linear input, those that depend on the constants alone, and the linear
    # ones among the latter that are no larger than their operands.
    linear: set[Atom] = {*chosen(consts, consts_linear), *carry, *chosen(xs, xs_linear)}
    fixed: set[Atom] = set(consts)
    kept: set[Atom] = set(chosen(consts, consts_linear))
    taken: list[Equation] = []
    for equation in graph.equations:
        inputs = [atom for atom in equation.inputs if type(atom) is not Literal]
        moving = [atom for atom in inputs if atom in linear]
        is_fixed = fixed.issuperset(inputs)
        if is_fixed:
            fixed.update(equation.outputs)
        if not moving:
            continue
        linear.update(equation.outputs)
        if not kept.issuperset(moving):
            continue
        size = _size(equation.outputs)
        if size is None or size > (_size(moving) or 0):
            continue
        if is_fixed:
            kept.update(equation.outputs)
        elif equation.primitive is dot_general:
            taken.append(equation)
    if not taken:
        return None
    products = [equation.outputs[0] for equation in taken]
    rest = [equation for equation in graph.equations if equation not in taken]
    outer = eliminate_dead_code(Graph((), (*consts, *xs), products, graph.equations))
    body = eliminate_dead_code(Graph((), (*graph.inputs, *products), graph.outputs, rest))
    return Apart(ClosedGraph(outer, ()), ClosedGraph(body, ()), products)


def _size(atoms: Sequence[Atom]) -> int | None:
    """The number of elements, or None if it is not an int."""
    sizes: list[Any] = [size for atom in atoms for size in atom.aval.shape]
    if not all(isinstance(size, int) for size in sizes):
        return None
    return sum(math.prod(atom.aval.shape) for atom in atoms)
