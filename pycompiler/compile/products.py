"""The products of a graph that can be measured: matmuls and convolutions, in a form that identifies them across
programs and processes. `measure` imports this module.

A form has everything that code generation depends on: the operation, its parameters, and its operands. An operand may
be transposed before its use, because the compiler reads operands in their own order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.cache.fingerprint import READ
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import transpose
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import short
from pycompiler.primitives.contraction import dot_general
from pycompiler.primitives.convolution import conv_general_dilated

# The minimum of multiply-adds. Smaller products take about as long as a call.
_LEAST_TERMS = 32**3

# The dtypes of measured products. Complex products become several products; other integers use loops.
_DTYPES = frozenset({dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.float16, dtypes.int8, dtypes.uint8})


class Operand(NamedTuple):
    """An array as it lies in memory, and its transposition before use."""

    aval: ShapedArray
    permutation: tuple[int, ...] | None


class Product(NamedTuple):
    """One operation, independent of its program."""

    primitive: Primitive
    params: tuple[tuple[str, Any], ...]
    operands: tuple[Operand, Operand]

    @property
    def form(self) -> str:
        """All of it in one line."""
        operands = [
            short(operand.aval) + (f" transposed {operand.permutation}" if operand.permutation else "")
            for operand in self.operands
        ]
        params = [f"{key}={value.name if isinstance(value, np.dtype) else value}" for key, value in self.params]
        return f"{self.primitive.name}({', '.join(operands)}; {', '.join(params)})"

    @property
    def title(self) -> str:
        """A short description, for messages."""
        return f"{self.primitive.name}({', '.join(short(operand.aval) for operand in self.operands)})"

    def graph(self) -> ClosedGraph:
        """A program that computes only this product."""

        def compute(*operands: Any) -> Sequence[Any]:
            given = [
                operand if permutation is None else transpose.bind(operand, permutation=permutation)
                for operand, (_, permutation) in zip(operands, self.operands, strict=True)
            ]
            return (self.primitive.bind(*given, **dict(self.params)),)

        return record(compute, [operand.aval for operand in self.operands], DebugInfo("jit", compute))


def products_of(graph: Graph) -> dict[int, Product]:
    """The products of a graph and of the graphs inside it, by the ids of their equations."""
    found: dict[int, Product] = {}
    seen: set[int] = set()
    waiting = [graph]
    while waiting:
        body = waiting.pop()
        if id(body) in seen:
            continue
        seen.add(id(body))
        made_by: dict[Atom, Equation] = {}
        for equation in body.equations:
            if equation.primitive is transpose:
                made_by[equation.outputs[0]] = equation
            product = _product(equation, made_by)
            if product is not None:
                found[id(equation)] = product
            waiting += [closed.graph for closed in _inner(equation)]
    return found


def _inner(equation: Equation) -> Iterator[ClosedGraph]:
    """The inner graphs that emission reads."""
    names = READ.get(equation.primitive, equation.params.keys())
    for name in names:
        value = equation.params[name]
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, ClosedGraph):
                yield part


def _product(equation: Equation, made_by: dict[Atom, Equation]) -> Product | None:
    if equation.primitive not in (dot_general, conv_general_dilated):
        return None
    result = equation.outputs[0].aval
    if not result.is_concrete or equation.inputs[0].aval.dtype not in _DTYPES:
        return None
    lhs, rhs = [_operand(atom, made_by) for atom in equation.inputs]
    if not lhs.aval.is_concrete or not rhs.aval.is_concrete or _terms(equation) < _LEAST_TERMS:
        return None
    return Product(equation.primitive, tuple(sorted(equation.params.items())), (lhs, rhs))


def _operand(atom: Atom, made_by: dict[Atom, Equation]) -> Operand:
    transposed = made_by.get(atom)
    if transposed is None:
        return Operand(ShapedArray(atom.aval.shape, atom.aval.dtype), None)
    aval = transposed.inputs[0].aval
    return Operand(ShapedArray(aval.shape, aval.dtype), tuple(transposed.params["permutation"]))


def _terms(equation: Equation) -> int:
    """The number of multiply-adds. For a convolution, without regard to groups."""
    lhs, rhs = (atom.aval for atom in equation.inputs)
    if equation.primitive is dot_general:
        terms = math.prod(lhs.shape[dim] for dim in equation.params["lhs_contracting"])
    else:
        terms = rhs.size // max(rhs.shape[equation.params["rhs_spec"][0]], 1)
    return math.prod(equation.outputs[0].aval.shape) * terms
