"""Output views: the outputs of a graph that are an input, or a part of one. Nothing is computed for them.

`compile` plans with this module. The runtime decides whether a view may be made (`_runtime.worth_viewing`, and at each
call by the kind of memory). A small part would keep a large array alive, and copying the part is cheaper than proving
that the memory is free.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pycompiler._runtime import worth_viewing
from pycompiler.core.autodiff.call import call
from pycompiler.core.tracing.graph import Atom, Equation, Graph, Literal, Var

# An input of a graph, by number, and the byte offset of a part in it.
Part = tuple[int, int]


def _whole(equation: Equation) -> int | None:
    """All bytes of the operand, in their order."""
    given, made = equation.inputs[0].aval, equation.outputs[0].aval
    return 0 if given.nbytes == made.nbytes else None


def _converted(equation: Equation) -> int | None:
    """A conversion to the operand's own dtype, which changes only the weak type."""
    return 0 if equation.inputs[0].aval.dtype == equation.outputs[0].aval.dtype else None


def _transposed(equation: Equation) -> int | None:
    """A transposition that keeps the order of all dimensions except those of one element."""
    shape = equation.inputs[0].aval.shape
    kept = [axis for axis in equation.params["permutation"] if shape[axis] != 1]
    return 0 if kept == sorted(kept) else None


def _sliced(equation: Equation) -> int | None:
    """A slice of contiguous elements: single indices in the first dimensions, a range in one, all of the others."""
    aval = equation.inputs[0].aval
    starts, limits, strides = (equation.params[name] for name in ("start_indices", "limit_indices", "strides"))
    sizes = equation.outputs[0].aval.shape
    ranged = next((axis for axis, size in enumerate(sizes) if size > 1), len(sizes))
    if 0 in sizes or sizes[ranged + 1 :] != aval.shape[ranged + 1 :]:
        return None
    if ranged < len(sizes) and (strides[ranged] != 1 or limits[ranged] - starts[ranged] != sizes[ranged]):
        return None
    return sum(start * math.prod(aval.shape[axis + 1 :]) for axis, start in enumerate(starts)) * aval.dtype.itemsize


# By primitive: the byte offset of the result in its operand. None if the result is no part of it.
_STEPS: dict[str, Callable[[Equation], int | None]] = {
    "bitcast": _whole,
    "convert": _converted,
    "reshape": _whole,
    "slice": _sliced,
    "stop_gradient": _whole,
    "transpose": _transposed,
}


class _Ways:
    """The paths from the values of a graph to its inputs. The equation that makes each value is found once."""

    def __init__(self, graph: Graph) -> None:
        self.inputs = {var: number for number, var in enumerate(graph.inputs)}
        self._producers = {out: equation for equation in graph.equations for out in equation.outputs}
        self._called: dict[int, _Ways] = {}

    def part(self, atom: Atom) -> Part | None:
        """The part of a graph input that is equal to a value, or None."""
        offset = 0
        while not isinstance(atom, Literal) and atom not in self.inputs:
            equation = self._producers.get(atom)
            if equation is None or not equation.inputs:
                return None
            if equation.primitive is call:
                found = self._part_of_call(equation, atom)
                if found is None:
                    return None
                place, begin = found
            else:
                step = _STEPS.get(equation.primitive.name)
                place, begin = 0, step(equation) if step is not None else None
            if begin is None:
                return None
            atom, offset = equation.inputs[place], offset + begin
        return None if isinstance(atom, Literal) else (self.inputs[atom], offset)

    def _part_of_call(self, equation: Equation, atom: Var) -> Part | None:
        inner: Graph = equation.params["jaxpr"].graph
        ways = self._called.get(id(inner)) or self._called.setdefault(id(inner), _Ways(inner))
        return ways.part(inner.outputs[equation.outputs.index(atom)])


def find_output_views(graph: Graph) -> dict[Var, Part]:
    """The outputs that become views of inputs: the input by number, and the byte offset.

    A graph with symbols has none: whether a part is contiguous, and its offset, depend on the sizes.
    """
    found: dict[Var, Part] = {}
    if not all(var.aval.is_concrete for var in graph.inputs):
        return found
    ways = _Ways(graph)
    for atom in graph.outputs:
        if isinstance(atom, Literal) or atom in ways.inputs or not atom.aval.is_concrete:
            continue
        part = ways.part(atom)
        if part is not None and worth_viewing(atom.aval.nbytes, graph.inputs[part[0]].aval.nbytes):
            found[atom] = part
    return found
