"""Partitioning rules of operations on each matrix, or vector, of a stack: decompositions, Fourier transforms, the
largest elements.

Imports `rule`; `table` joins all rules. The dimensions of the stack stay divided, the others are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives.fft import fft
from pycompiler.primitives.linalg import eigenvalues, factorizations, orthogonal, spectral
from pycompiler.primitives.sort import top_k
from pycompiler.spmd.partition.layouts import Part, joined, whole
from pycompiler.spmd.partition.rule import Context, Results, Rule, shape_of, without


def _of_each(own: Callable[[dict[str, Any]], int]) -> Rule:
    """The leading dimensions of all operands and results are those of the stack. The last `own` dimensions of the first
    operand belong to each element."""

    def rule(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
        lead = len(shape_of(equation.inputs[0])) - own(equation.params)
        stack = joined([part.layout[:lead] for part in parts])
        values = [context.moved(part, (*stack, *whole(len(part.layout) - lead))) for part in parts]
        layouts = [(*stack, *whole(len(shape_of(out)) - lead)) for out in equation.outputs]
        return context.bound(equation, values, layouts)

    return rule


def _top_k(context: Context, equation: Equation, parts: Sequence[Part]) -> Results:
    (part,) = parts
    layout = without(part.layout, (equation.params["axis"],))
    return context.bound(equation, [context.moved(part, layout)], [layout, layout])


# Operations on vectors.
_ONE = (factorizations.lu_pivots_to_permutation, factorizations.tridiagonal_solve)
_FAMILIES = (factorizations, orthogonal, spectral, eigenvalues)

TABLE: dict[Primitive, Rule] = (
    {entry: _of_each(lambda params: 2) for family in _FAMILIES for entry in family.TABLE}
    | {entry: _of_each(lambda params: 1) for entry in _ONE}
    | {fft: _of_each(lambda params: len(params["fft_lengths"])), top_k: _top_k}
)
