"""Reverse mode: runs a linear graph backwards, from the cotangents of its results to those of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.reshard import freed, typed_like
from pycompiler.core.source import swap_source
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Literal
from pycompiler.core.tracing.primitive import UndefinedPrimal, Zero
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import add_tangents
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import strong


def pull_back(closed: ClosedGraph, args: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
    """The cotangents of the `args` that are UndefinedPrimal; the graph is linear in these. None for the others.

    A cotangent, given or returned, may be a Zero. Equations that depend on no linear argument are evaluated first.
    """
    graph = closed.graph
    known: dict[Atom, Any] = dict(zip(graph.constvars, closed.consts, strict=True))
    sums: dict[Atom, Any] = {}
    linear: set[Atom] = set()
    for var, arg in zip(graph.inputs, args, strict=True):
        if type(arg) is UndefinedPrimal:
            linear.add(var)
        else:
            known[var] = arg

    def add_to(atom: Atom, cotangent: Any) -> None:
        if atom in linear and cotangent is not None and type(cotangent) is not Zero:
            sums[atom] = add_tangents(sums[atom], cotangent) if atom in sums else cotangent

    previous = swap_source(None)
    try:
        backwards: list[Equation] = []
        for equation in graph.equations:
            if linear.isdisjoint(equation.inputs):
                swap_source(equation.source or previous)
                _evaluate(equation, known)
            else:
                linear.update(equation.outputs)
                backwards.append(equation)
        for out, cotangent in zip(graph.outputs, cotangents, strict=True):
            add_to(out, cotangent)
        for equation in reversed(backwards):
            outs = [sums.pop(var, None) for var in equation.outputs]
            if all(out is None for out in outs) and not equation.primitive.at_zero:
                continue
            swap_source(equation.source.reverse() if equation.source else previous)
            for atom, cotangent in zip(equation.inputs, _transpose(equation, outs, known, linear), strict=True):
                add_to(atom, cotangent)
    finally:
        swap_source(previous)
    return [
        sums.get(var, Zero(var.aval)) if type(arg) is UndefinedPrimal else None
        for var, arg in zip(graph.inputs, args, strict=True)
    ]


def _evaluate(equation: Equation, known: dict[Atom, Any]) -> None:
    args = [atom.value if type(atom) is Literal else known[atom] for atom in equation.inputs]
    out = equation.primitive.bind(*args, **equation.params)
    outs = out if equation.primitive.multiple_results else (out,)
    known.update(zip(equation.outputs, outs, strict=True))


def _transpose(equation: Equation, outs: list[Any], known: dict[Atom, Any], linear: set[Atom]) -> Sequence[Any]:
    primitive = equation.primitive
    if primitive.transpose is None:
        where = f"{equation.source.describe()}\n" if equation.source else ""
        raise NotDifferentiableError(f"{where}{primitive.name}: reverse-mode differentiation is not defined for it")
    args = [
        atom.value if type(atom) is Literal else UndefinedPrimal(atom.aval) if atom in linear else known[atom]
        for atom in equation.inputs
    ]
    if hooks.typing is not None and _is_divided(equation):
        return _transpose_divided(equation, outs, args)
    primitive = equation.primitive
    if not primitive.multiple_results and primitive.transpose is not None:
        return primitive.transpose(outs[0], *args, **equation.params)
    return _transposed(equation, outs, args)


def _is_divided(equation: Equation) -> bool:
    # Loops, not generators: this code runs for each operation.
    for atoms in (equation.inputs, equation.outputs):
        for atom in atoms:
            if atom.aval.explicit_sharding is not None:
                return True
    return False


def _transpose_divided(equation: Equation, outs: list[Any], args: list[Any]) -> Sequence[Any]:
    """The cotangents of operands over Explicit mesh axes. Each has the sharding of its operand, so in the rule of an
    operation the partitioner decides, unless all values are divided equally."""
    avals = [atom.aval for atom in (*equation.inputs, *equation.outputs)]
    # Operands of equal types may be divided along contracted dimensions.
    equal = len({(aval.shape, aval.explicit_sharding) for aval in avals}) == 1 and len(args) == 1
    if not equal and not equation.primitive.multiple_results:
        args = [arg if type(arg) is UndefinedPrimal else freed(arg) for arg in args]
        outs = [None if out is None else freed(out) for out in outs]
    found = _transposed(equation, outs, args)
    return [
        ct if ct is None or type(ct) is Zero else typed_like(ct, atom.aval)
        for atom, ct in zip(equation.inputs, found, strict=True)
    ]


def _transposed(equation: Equation, outs: list[Any], args: list[Any]) -> Sequence[Any]:
    primitive = equation.primitive
    assert primitive.transpose is not None
    if not primitive.multiple_results:
        return primitive.transpose(outs[0], *args, **equation.params)
    zeros = [Zero(v.aval) if out is None else out for v, out in zip(equation.outputs, outs, strict=True)]
    return primitive.transpose(tuple(zeros), *args, **equation.params)


def transpose_graph(
    closed: ClosedGraph, linear: tuple[bool, ...], given: tuple[bool, ...]
) -> tuple[ClosedGraph, tuple[bool, ...]]:
    """The graph from (the known inputs, the `given` cotangents) to the nonzero cotangents of the linear inputs, and a
    flag for each linear input: whether it has one."""

    def make() -> tuple[ClosedGraph, tuple[bool, ...]]:
        nonzero: list[bool] = []

        def run(*args: Any) -> list[Any]:
            values = iter(args)
            inputs = [
                UndefinedPrimal(a) if lin else next(values) for a, lin in zip(closed.in_avals, linear, strict=True)
            ]
            cts = [next(values) if g else Zero(a) for a, g in zip(closed.out_avals, given, strict=True)]
            pulled = [ct for ct, lin in zip(pull_back(closed, inputs, cts), linear, strict=True) if lin]
            nonzero.extend(type(ct) is not Zero for ct in pulled)
            return [ct for ct in pulled if type(ct) is not Zero]

        avals = [a for a, lin in zip(closed.in_avals, linear, strict=True) if not lin]
        avals += [strong(a) for a, g in zip(closed.out_avals, given, strict=True) if g]
        return record(run, avals, DebugInfo("transpose", evaluate)), tuple(nonzero)

    return closed.derive(("transpose", linear, given), make)
