"""Kernels that the build compiled, and the graphs that they compute without compilation.

`compile` looks here first for graphs of eager evaluation: one elementwise operation on arrays of one shape and scalars,
as the operators of arrays make them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pycompiler._runtime import Executable
from pycompiler.core.tracing.graph import Atom, Equation, Graph, Var
from pycompiler.core.types import dtype as dtypes

OPS = frozenset({"add", "sub", "mul", "div", "min", "max", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs"})
_DTYPES = (dtypes.float32, dtypes.int32)


class _Operand(NamedTuple):
    """An input of the graph, by number, with its type before conversion."""

    number: int
    scalar: bool
    given: Any


def prebuilt_executable(graph: Graph, name: str) -> Executable | None:
    """The prebuilt executable for a graph, or None. A prebuilt kernel computes one operation on its inputs, with
    scalars converted and broadcast, and arrays converted."""
    if graph.constvars or len(graph.outputs) != 1 or len(graph.equations) > 5 or not graph.equations:
        return None
    *leading, last = graph.equations
    if last.primitive.name not in OPS or last.outputs[0] is not graph.outputs[0]:
        return None
    shape, dtype = last.outputs[0].aval.shape, last.inputs[0].aval.dtype
    if dtype not in _DTYPES or not last.outputs[0].aval.is_concrete:
        return None
    operands = _operands(graph, leading, last, shape)
    if operands is None or any(operand.given not in (dtype, dtypes.int32, dtypes.bool_) for operand in operands):
        return None
    return Executable.built(last.primitive.name, dtype, operands, last.outputs[0].aval.size, name)


def _operands(graph: Graph, leading: list[Equation], last: Equation, shape: tuple[Any, ...]) -> list[_Operand] | None:
    """The operands of the last equation. None unless the other equations convert and broadcast inputs for it."""
    made: dict[Atom, _Operand] = {
        var: _Operand(number, var.aval.shape == (), var.aval.dtype) for number, var in enumerate(graph.inputs)
    }
    for equation in leading:
        source = made.get(equation.inputs[0]) if len(equation.inputs) == 1 else None
        if source is None or not _keeps(equation, source):
            return None
        made[equation.outputs[0]] = source
    found = [made.get(atom) if isinstance(atom, Var) else None for atom in last.inputs]
    fits = all(
        operand is not None
        and atom.aval.shape == shape
        and (operand.scalar or graph.inputs[operand.number].aval.shape == shape)
        for operand, atom in zip(found, last.inputs, strict=True)
    )
    return [operand for operand in found if operand is not None] if fits else None


def _keeps(equation: Equation, source: _Operand) -> bool:
    """Whether a kernel can apply an equation to its operand: one conversion of an input, or a broadcast of a scalar."""
    given, made = equation.inputs[0].aval, equation.outputs[0].aval
    if equation.primitive.name == "convert":
        return given.dtype == source.given
    return (
        equation.primitive.name == "broadcast_in_dim"
        and source.scalar
        and given.shape == ()
        and made.dtype == given.dtype
    )
