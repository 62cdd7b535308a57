"""Loops whose steps detect failures only: one flag, without the code and the numbers of a message.

A failure is rare, and the values of a program do not depend on the Error. So `check_graphs` runs a checked loop with a
`Detection`, and runs it again with the Error only if that failed. `can_run_again` says for which loops this is right
and costs little. `Kept` finds the nans that are still there after the loop, so that no step needs to test them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Var
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.primitives.bits import or_
from pycompiler.primitives.control.checks import Error
from pycompiler.primitives.control.failures import ErrorEffect, JaxException
from pycompiler.primitives.control.members import members
from pycompiler.primitives.control.scan import scan
from pycompiler.primitives.gather import scatter
from pycompiler.primitives.indexing import dynamic_update_slice
from pycompiler.primitives.rules import Value
from pycompiler.primitives.spmd.shard_map import shard_map
from pycompiler.transforms.check_regions import NOT_FINITE, PROPAGATING, any_of

# A loop that updates parts of its carry in place keeps a copy of the carry if it may run again. The copy of so many
# bytes takes some 10 us.
_LARGEST_COPY = 256 << 10
# A stacked result with more elements in each step is tested in the step, while it is in the first cache.
_FEW_ELEMENTS = 64


@register_pytree_node_class
@dataclass(frozen=True, slots=True)
class Detection:
    """Whether a check failed. It takes the place of an `Error` in a checker, and has its methods."""

    failed: Value

    def failed_if(self, pred: Value, failure: JaxException | None = None) -> Detection:
        """The Detection after a check that fails if `pred` holds."""
        return Detection(or_.bind(self.failed, pred))

    def joined(self, later: Error, enabled: Container[type[JaxException]]) -> Detection:
        """The Detection after the checks of an Error, of the enabled kinds."""
        result = self
        for pred in later.flags(enabled):
            result = result.failed_if(pred)
        return result

    def of_first(self) -> Detection:
        """The Detection without its mapped axes."""
        return Detection(any_of(self.failed)) if get_aval(self.failed).shape else self

    def prepared(self, kinds: Iterable[ErrorEffect]) -> Detection:
        """Itself: all kinds of failures have one flag."""
        return self

    @property
    def effects(self) -> frozenset[ErrorEffect]:
        """Nothing has to be prepared."""
        return frozenset()

    @property
    def metadata(self) -> dict[int, Any]:
        """It keeps no exceptions."""
        return {}

    def with_metadata(self, metadata: Mapping[int, Any]) -> Detection:
        """Itself."""
        return self

    def knowing(self, metadata: Mapping[int, Any]) -> Detection:
        """Itself."""
        return self

    def tree_flatten(self) -> tuple[Any, Any]:
        return (self.failed,), None

    @classmethod
    def tree_unflatten(cls, metadata: Any, data: Any) -> Detection:
        return cls(*data)


def can_run_again(equation: Equation) -> bool:
    """Whether a loop may run a second time from the same operands.

    Not if it does more than compute values, nor if only some members of a mesh would run it again, nor if the operands
    would have to be copied for it at a cost that the steps do not pay for.
    """
    return _only_computes(equation) and _copied_bytes(equation) <= _LARGEST_COPY


def _only_computes(equation: Equation) -> bool:
    if equation.primitive.is_users or equation.primitive in (shard_map, members):
        return False
    if not all(isinstance(effect, ErrorEffect) for effect in equation.effects):
        return False
    return all(not closed.axis_names and _graph_only_computes(closed) for closed in equation.graphs)


def _graph_only_computes(closed: ClosedGraph) -> bool:
    def make() -> bool:
        return all(
            _only_computes(equation)
            for equation in closed.graph.equations
            if equation.primitive.multiple_results or equation.primitive.is_users
        )

    return closed.derive("only computes", make)


def _copied_bytes(loop: Equation) -> int:
    """The bytes of the carries that are copied for a few updates: those of which the steps update a small part.

    A carry that a step computes whole, or of which the steps update much, needs no copy, or the steps take longer.
    """
    params = loop.params
    if loop.primitive is scan:
        graph: Graph = params["jaxpr"].graph
        carries = graph.outputs[: params["num_carry"]]
        steps = params["length"] if isinstance(params["length"], int) else 1
    else:
        graph = params["body_jaxpr"].graph
        carries, steps = graph.outputs, 1
    makers = {out: equation for equation in graph.equations for out in equation.outputs}
    total = 0
    for out in carries:
        maker = makers.get(out) if isinstance(out, Var) else None
        if maker is None:
            continue
        updated = 0
        if maker.primitive in (scatter, dynamic_update_slice):
            updated = _count(maker.inputs[1].aval.shape, 0)
        elif not maker.graphs:
            continue
        size = _count(out.aval.shape, _LARGEST_COPY)
        if size > 4 * steps * updated:
            total += size * out.aval.dtype.itemsize
    return total


def _count(shape: tuple[Any, ...], unknown: int) -> int:
    """The number of elements of an array."""
    return prod(shape) if all(isinstance(size, int) for size in shape) else unknown


class Elsewhere(NamedTuple):
    """Failures in a graph that its results show, so that they need no test."""

    # Results of equations that may be nan.
    nans: Container[Var] = ()
    # Results of divisions, whose divisors may be zero.
    divisions: Container[Var] = ()


class Kept(NamedTuple):
    """The failures of a body of a loop that the results of the loop show."""

    # Results of equations of the body: those that may be nan, and those of divisions.
    elsewhere: Elsewhere
    # The results of the loop that are nan, or not finite, if one of these is.
    nans: tuple[int, ...]
    infinite: tuple[int, ...]

    @classmethod
    def of(cls, graph: Graph, num_consts: int, num_carry: int) -> Kept:
        """For a body (constants, carry, slices) -> (carry, slices of the results)."""
        makers = {out: equation for equation in graph.equations for out in equation.outputs}
        nans = _shown_by(graph, num_consts, num_carry, makers, _of_nans)
        infinite = _shown_by(graph, num_consts, num_carry, makers, _of_infinities)
        infinite = {
            place: {x for x in shown if x in makers and makers[x].primitive.name == "div"}
            for place, shown in infinite.items()
        }
        infinite = {place: shown for place, shown in infinite.items() if shown}
        return cls(
            Elsewhere(frozenset[Var]().union(*nans.values()), frozenset[Var]().union(*infinite.values())),
            tuple(nans),
            tuple(infinite),
        )


Makers = Mapping[Var, Equation]
# The operands of an equation that its result passes on, if they have its shape.
PassesOn = Callable[[Equation], Sequence[Atom]]


def _of_nans(equation: Equation) -> Sequence[Atom]:
    if equation.primitive is scatter and equation.params["kind"] in ("add", "mul"):
        return equation.inputs[:1]
    return equation.inputs if equation.primitive.name in PROPAGATING else ()


def _of_infinities(equation: Equation) -> Sequence[Atom]:
    if equation.primitive is scatter and equation.params["kind"] in ("add", "mul"):
        return equation.inputs[:1]
    return equation.inputs[: NOT_FINITE.get(equation.primitive.name, 0)]


def _shown_by(graph: Graph, num_consts: int, num_carry: int, makers: Makers, passes: PassesOn) -> dict[int, set[Var]]:
    """For each result that shows values of the body: these values.

    A carry shows them if the next iteration passes them on to a carry that does: then they reach the last one.
    """
    before = [_passed_on(out, makers, passes) for out in graph.outputs]
    carries = graph.inputs[num_consts : num_consts + num_carry]
    kept = set(range(num_carry))
    while lost := {k for k in kept if not any(carries[k] in before[after] for after in kept)}:
        kept -= lost
    stacked = [
        k
        for k in range(num_carry, len(graph.outputs))
        if _count(graph.outputs[k].aval.shape, _FEW_ELEMENTS + 1) <= _FEW_ELEMENTS
    ]
    return {k: before[k] for k in (*sorted(kept), *stacked) if any(var in makers for var in before[k])}


def _passed_on(out: Atom, makers: Makers, passes: PassesOn) -> set[Var]:
    """The values that a result of the body shows at the same places: itself, operands of its operation, and so on."""
    found: set[Var] = set()
    pending: list[Atom] = [out]
    while pending:
        value = pending.pop()
        if not isinstance(value, Var) or value in found or not dtypes.is_floating(value.aval.dtype):
            continue
        found.add(value)
        if value in makers:
            pending += [x for x in passes(makers[value]) if x.aval.shape == value.aval.shape]
    return found
