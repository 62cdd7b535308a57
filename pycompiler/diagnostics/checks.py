"""`debug_nans` and `debug_infs`: they check the results of each compiled call. If a result has a nan, the graph is run
again step by step until the first nan appears, also inside loops and nested calls.

`eager` and `jit`, which serve calls through it while a check is on, import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycompiler.core.config.config import config
from pycompiler.core.source import Source, swap_source, user_source
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Literal, eliminate_dead_code
from pycompiler.core.tracing.lowering import lowered
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import tree_leaves
from pycompiler.diagnostics import key_reuse
from pycompiler.diagnostics.manual_steps import OnDevices


@dataclass(frozen=True)
class NonFiniteCheck:
    """The values that a check looks for."""

    nans: bool
    infs: bool

    def fault(self, x: Any) -> str | None:
        """The fault of a value, or None: `has a nan at [1]`."""
        if not dtypes.is_inexact(get_aval(x).dtype):
            return None
        value = np.asarray(x)
        for wanted, find, what in ((self.nans, np.isnan, "a nan"), (self.infs, np.isinf, "an infinity")):
            if wanted and (found := find(value)).any():
                index = [int(i) for i in np.argwhere(found)[0]]
                return f"has {what} at {index}" if index else f"is {what}"
        return None


def are_enabled() -> bool:
    """Whether any check is on."""
    return config.debug_nans or config.debug_infs or config.debug_key_reuse


def call_checked(
    graph: ClosedGraph,
    call: Callable[..., Any],
    leaves: Sequence[Any],
    names: Callable[[], Sequence[str]] | None = None,
) -> Any:
    """The results of a compiled graph for these arrays, with the enabled checks."""
    if config.debug_nans or config.debug_infs:
        inner = call
        call = lambda *leaves: run(graph, inner, leaves, names)  # noqa: E731
    return key_reuse.run(graph, call, leaves) if config.debug_key_reuse else call(*leaves)


def run(
    graph: ClosedGraph,
    call: Callable[..., Any],
    leaves: Sequence[Any],
    names: Callable[[], Sequence[str]] | None = None,
) -> Any:
    """The results of a compiled graph for these arrays. Raises FloatingPointError when they have a nan (or infinity).

    The message names the primitive that gave the nan, and the user's line. If the graph has no line for the equation,
    it names the line that is running now. `names` gives the names of the arguments.
    """
    look = NonFiniteCheck(config.debug_nans, config.debug_infs)
    # The replay checks inner calls, so their own checks are off.
    with config.override("debug_nans", False), config.override("debug_infs", False):
        results = call(*leaves)
        faults = [look.fault(leaf) for leaf in tree_leaves(results)]
        if not any(faults):
            return results
        place = user_source()
        replay = _Replay(look, place)
        for index, leaf in enumerate(leaves):
            if look.fault(leaf):
                replay.arguments[id(leaf)] = names()[index] if names else f"number {index}"
        graph = lowered(graph)
        replay.graph(graph, leaves, [fault is not None for fault in faults])
        replay.graph(graph, leaves, [True] * len(faults))
    # The steps do not reproduce the fault: the compiled graph rounds differently, or a result is an argument.
    what = next(fault for fault in faults if fault)
    raise FloatingPointError(f"{place.describe() if place else 'no place is known'}\na result {what}.")


class _Replay:
    """Runs graphs step by step, and raises at the first step with a fault."""

    def __init__(self, look: NonFiniteCheck, place: Source | None) -> None:
        self.look = look
        self.place = place
        # The arguments of the outermost graph that have a fault: id -> name.
        self.arguments: dict[int, str] = {}
        # The enclosing operations of the current step: `iteration 3 of while`.
        self.inside: list[str] = []

    def graph(self, closed: ClosedGraph, args: Sequence[Any], keep: Sequence[bool] | None = None) -> list[Any]:
        """The kept results."""
        graph = eliminate_dead_code(closed.graph, keep)
        values: dict[Atom, Any] = dict(zip(graph.constvars, closed.consts, strict=True))
        values.update(zip(graph.inputs, args, strict=True))

        def read(atom: Atom) -> Any:
            return atom.value if type(atom) is Literal else values[atom]

        for equation in graph.equations:
            outs = self.equation(equation, [read(atom) for atom in equation.inputs])
            values.update(zip(equation.outputs, outs, strict=True))
        return [read(atom) for atom in graph.outputs]

    def equation(self, equation: Equation, operands: list[Any]) -> Sequence[Any]:
        """The results of one equation."""
        primitive = equation.primitive
        previous = swap_source(equation.source)
        try:
            out = primitive.bind(*operands, **equation.params)
        finally:
            swap_source(previous)
        outs = out if primitive.multiple_results else (out,)
        for result in outs:
            fault = self.look.fault(result)
            if fault is not None:
                step = _INSIDE.get(primitive.name, _Replay.parts)
                outer = self.place
                self.place = equation.source or self.place
                step(self, primitive.name, operands, equation.params)
                self.place = outer
                raise FloatingPointError(self.message(equation, operands, result, fault))
        return outs

    def message(self, equation: Equation, operands: Sequence[Any], result: Any, fault: str) -> str:
        source = equation.source or self.place
        lines = [source.describe()] if source else []
        name = equation.primitive.name
        backward = ", in the backward pass of this line" if source and source.backward else ""
        inside = "".join(f", in {what}" for what in reversed(self.inside))
        lines.append(f"{name}: its result {short(result)} {fault}{backward}{inside}.")
        faults = [(i, x, found) for i, x in enumerate(operands) if (found := self.look.fault(x))]
        for i, x, found in faults:
            known = self.arguments.get(id(x))
            which = f", the argument '{known}'," if known else ""
            lines.append(f"Its operand {i}{which} {short(x)} {found} already.")
        if not faults:
            shown = [f"{short(x)}{_value(x)}" for x in operands]
            lines.append(f"Its operands have none: {', '.join(shown)}.")
        if backward and not faults:
            lines.append(
                "What to do: where the derivative does not exist, replace the operand by a `where` before the "
                "operation."
            )
        return "\n".join(lines)

    # The inner graphs of a primitive. Each runs as in its compiled form.

    def parts(self, name: str, operands: list[Any], params: dict[str, Any]) -> None:
        """Run a graph of exactly these operands."""
        for value in params.values():
            if isinstance(value, ClosedGraph) and len(value.in_avals) == len(operands):
                shown = params.get("name")
                self.step(f"{name} of {shown}" if isinstance(shown, str) else name, value, operands)
                return

    def step(self, what: str, graph: ClosedGraph, operands: Sequence[Any]) -> list[Any]:
        self.inside.append(what)
        results = self.graph(graph, operands)
        self.inside.pop()
        return results

    def while_(self, name: str, operands: list[Any], params: dict[str, Any]) -> None:
        cond, body = params["cond_jaxpr"], params["body_jaxpr"]
        first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        carry, number = operands[second:], 0
        while bool(np.asarray(self.step(f"the condition of {name}", cond, [*operands[:first], *carry])[0])):
            carry = self.step(f"iteration {number} of {name}", body, [*operands[first:second], *carry])
            number += 1

    def cond(self, name: str, operands: list[Any], params: dict[str, Any]) -> None:
        branches = params["branches"]
        index = min(max(int(np.asarray(operands[0])), 0), len(branches) - 1)
        self.step(f"branch {index} of {name}", branches[index], operands[1:])

    def members(self, name: str, operands: list[Any], params: dict[str, Any]) -> None:
        self.step(name, params["graph"], operands[1:])

    def scan(self, name: str, operands: list[Any], params: dict[str, Any]) -> None:
        first, second = params["num_consts"], params["num_consts"] + params["num_carry"]
        consts, carry, xs = operands[:first], operands[first:second], operands[second:]
        length = params["length"]
        for number in reversed(range(length)) if params["reverse"] else range(length):
            slices = [np.asarray(x)[number] for x in xs]
            results = self.step(f"iteration {number} of {name}", params["jaxpr"], [*consts, *carry, *slices])
            carry = results[: len(carry)]

    def shard_map(self, name: str, operands: list[Any], params: dict[str, Any]) -> None:
        """Each step is a program for all devices, because collectives need all of them."""
        graph = params["jaxpr"]
        steps = OnDevices(params["mesh"])
        values: dict[Atom, Any] = dict(zip(graph.graph.constvars, graph.consts, strict=True))
        values.update(zip(graph.graph.inputs, steps.parts(operands, params["in_layouts"], graph.in_avals), strict=True))
        for equation in eliminate_dead_code(graph.graph).equations:
            given = [atom.value if type(atom) is Literal else values[atom] for atom in equation.inputs]
            outs = steps.run(equation, given)
            values.update(zip(equation.outputs, outs, strict=True))
            for result in outs:
                fault = self.look.fault(result)
                if fault is not None:
                    number = next(n for n in range(steps.count) if self.look.fault(steps.part(result, n)))
                    part = steps.part(result, number)
                    self.inside.append(f"{name} on {steps.mesh.device_list[number]!r}")
                    seen = [steps.part(x, number) for x in given]
                    raise FloatingPointError(self.message(equation, seen, part, self.look.fault(part) or fault))


_INSIDE: dict[str, Callable[[_Replay, str, list[Any], dict[str, Any]], None]] = {
    "while": _Replay.while_,
    "cond": _Replay.cond,
    "members": _Replay.members,
    "scan": _Replay.scan,
    "shard_map": _Replay.shard_map,
}


def _value(x: Any) -> str:
    """` = 0.0`, for scalars."""
    return f" = {np.asarray(x).item()}" if get_aval(x).shape == () and not dtypes.is_key(get_aval(x).dtype) else ""
