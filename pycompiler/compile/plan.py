"""The plan of a graph: the part to compute, and the source of each output. `compile` imports this module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pycompiler._runtime import Array, ShapedArray, array_from_numpy, share
from pycompiler.cache import Aliases
from pycompiler.compile.output_views import find_output_views
from pycompiler.core.dims.sizes import symbols_of
from pycompiler.core.tracing import graph as graphs
from pycompiler.core.tracing.effects import is_waited_for
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Graph, eliminate_dead_code
from pycompiler.core.tracing.lowering import lowered
from pycompiler.core.tracing.specialize import Sizes, aval_at
from pycompiler.core.types.aval import same_type
from pycompiler.primitives.control.host_calls import VALUE_CALLS, host_calls

# The source of an output, in the form of `CompiledCall`.
Output = (
    tuple[Literal["result", "arg"], int]
    | tuple[Literal["const"], Array]
    | tuple[Literal["view"], tuple[int, ShapedArray, int]]
)


@dataclass(frozen=True)
class Plan:
    """The part of a graph to compute, and the source of each output.

    `graph` has only the used inputs (`used`, by number) and the used constants. Its outputs are each present once, and
    are neither inputs, nor parts of inputs, nor constants. `graph` is None if nothing has to be computed.
    """

    graph: Graph | None
    used: tuple[int, ...]
    consts: tuple[Array, ...]
    outputs: tuple[Output, ...]
    # The sizes of the graph's symbols, if the plan is for one call.
    sizes: Sizes | None = None

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols whose sizes the computation takes, in the order of their numbers."""
        return (
            tuple([symbol.name for symbol in symbols_of([var.aval for var in self.graph.inputs])]) if self.graph else ()
        )

    def at(self, sizes: Sizes) -> Plan:
        """The plan for these sizes of the symbols."""
        return replace(self, sizes=sizes)

    @property
    def result_avals(self) -> tuple[ShapedArray, ...]:
        """The avals of the computed results."""
        if not self.graph:
            return ()
        avals = [atom.aval for atom in self.graph.outputs]
        return tuple(avals if self.sizes is None else [aval_at(aval, self.sizes) for aval in avals])

    @property
    def returned(self) -> set[int]:
        """The inputs whose memory outputs share."""
        passed = {output[1] for output in self.outputs if output[0] == "arg"}
        return passed | {output[1][0] for output in self.outputs if output[0] == "view"}

    @property
    def has_views(self) -> bool:
        return any(output[0] == "view" for output in self.outputs)


def _asks_the_host(graph: Graph) -> bool:
    """Whether the graph needs values from functions of the host, which may fail."""
    if all(equation.primitive not in VALUE_CALLS for equation in host_calls(graph)):
        return False
    return any(equation.primitive in VALUE_CALLS for equation in host_calls(eliminate_dead_code(graph)))


def plan_outputs(closed: ClosedGraph, keep_unused: bool = False, viewing: bool = False) -> Plan:
    """Split off the outputs that need no computation: inputs passed through, constants, repeated outputs, and parts of
    inputs if `viewing`.

    Nothing is split off if the function waits for effects or calls the host for values: their failure must fail every
    result. With `keep_unused`, unused inputs remain inputs of the compiled code.
    """
    closed = lowered(closed)
    graph = closed.graph
    inputs = {var: index for index, var in enumerate(graph.inputs)}
    constants = dict(zip(graph.constvars, closed.consts, strict=True))
    computed: dict[Atom, int] = {}
    outputs: list[Output] = []
    waits = is_waited_for(graph.effects) or _asks_the_host(graph)
    parts = find_output_views(graph) if viewing and not waits else {}
    for atom in graph.outputs:
        if waits:
            outputs.append(("result", computed.setdefault(atom, len(computed))))
        elif isinstance(atom, graphs.Literal):
            outputs.append(("const", _constant(atom.value, atom.aval)))
        elif atom in inputs:
            outputs.append(("arg", inputs[atom]))
        elif atom in constants:
            outputs.append(("const", _constant(constants[atom], atom.aval)))
        elif atom in parts:
            number, offset = parts[atom]
            outputs.append(("view", (number, atom.aval, offset)))
        else:
            outputs.append(("result", computed.setdefault(atom, len(computed))))
    if not computed and not graph.effects:
        return Plan(None, (), (), tuple(outputs))
    live = eliminate_dead_code(Graph(graph.constvars, graph.inputs, list(computed), graph.equations))
    read = {atom for equation in live.equations for atom in equation.inputs} | set(live.outputs)
    used = tuple(index for var, index in inputs.items() if keep_unused or var in read)
    used = _with_symbols(graph, used)
    kept = [(var, value) for var, value in constants.items() if var in read]
    body = Graph([var for var, _ in kept], [graph.inputs[i] for i in used], live.outputs, live.equations)
    return Plan(body, used, tuple(_constant(value, var.aval) for var, value in kept), tuple(outputs))


def _with_symbols(graph: Graph, used: tuple[int, ...]) -> tuple[int, ...]:
    """The used inputs, and the inputs that alone determine the size of a symbol."""
    avals = [var.aval for var in graph.inputs]
    if all(aval.is_concrete for aval in avals):
        return used
    kept = set(used)
    known = set(symbols_of([avals[index] for index in used]))
    for index, aval in enumerate(avals):
        if not known.issuperset(symbols_of([aval])):
            known.update(symbols_of([aval]))
            kept.add(index)
    return tuple(sorted(kept))


def _constant(value: Any, aval: ShapedArray) -> Array:
    """A constant of a graph on the device. If the program deletes or donates its own array, this one stays."""
    array = to_array(value, aval)
    return share(array) if array is value else array


def to_array(value: Any, aval: ShapedArray) -> Array:
    """`value` on the device."""
    if type(value) is Array:
        return value
    return array_from_numpy(np.ascontiguousarray(value, aval.dtype).reshape(aval.shape), aval)


def _matches(plan: Plan, donated: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of a result and the donated input whose memory it may take: the first input with its shape and dtype that
    is not returned."""
    returned = plan.returned
    inputs = plan.graph.inputs if plan.graph else ()
    free = [
        (number, inputs[number].aval)
        for number, leaf in enumerate(plan.used)
        if leaf in donated and leaf not in returned
    ]
    found: list[tuple[int, int]] = []
    for result, atom in enumerate(plan.graph.outputs if plan.graph else ()):
        match = next((entry for entry in free if same_type(entry[1], atom.aval)), None)
        if match is not None:
            free.remove(match)
            found.append((result, match[0]))
    return found


def in_place(plan: Plan, donated: Sequence[int]) -> Aliases:
    """Pairs of results and donated inputs whose memory they take."""
    return tuple(_matches(plan, donated))


def taken(plan: Plan, donated: Sequence[int]) -> tuple[int, ...]:
    """The numbers of the donated inputs that a call takes: an output shares their memory, or a result may take it.
    Other donated inputs stay alive."""
    kept = plan.returned | {plan.used[number] for _, number in _matches(plan, donated)}
    return tuple([number for number in donated if number in kept])
