"""The interpreter of `checkify`: it runs a graph, and adds the failures of each equation to an Error.

A rule binds its equation and adds its checks. A primitive with graphs gets graphs that take and return the Error, too;
such a graph is kept with its original. `check_operations` and `check_graphs`, which import this module, have the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pycompiler._runtime import ShapedArray
from pycompiler.core.tracing.evaluate import bound, evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.primitives.control.checks import Error
from pycompiler.primitives.control.failures import DivisionByZeroError, ErrorEffect, JaxException, NaNError
from pycompiler.primitives.rules import Value
from pycompiler.transforms.check_detection import Detection, Elsewhere
from pycompiler.transforms.check_regions import PLAIN, PROPAGATING, Region

Enabled = frozenset[type[JaxException]]
# (checker, equation, operands) -> its result, or results.
Rule = Callable[["Checker", Equation, list[Value]], Any]


class Checker:
    """Runs graphs by a table of rules, and collects the failures of the enabled kinds.

    It collects an Error, or detects whether there was a failure. `loops_detect` holds if loops detect failures, and are
    run again for the Error only after a failure.
    """

    def __init__(
        self, enabled: Enabled, error: Error | Detection, rules: Mapping[Primitive, Rule], loops_detect: bool = True
    ) -> None:
        self.enabled = enabled
        self.rules = rules
        self.loops_detect = loops_detect and isinstance(error, Error)
        self._error = error
        self._region = Region()
        self._elsewhere = Elsewhere()

    @property
    def error(self) -> Error | Detection:
        """The failures of the equations so far."""
        region, self._region = self._region, Region()
        if isinstance(self._error, Error):
            self._error = region.into(self._error)
        elif (failed := region.failed()) is not None:
            self._error = self._error.failed_if(failed)
        return self._error

    @error.setter
    def error(self, error: Error | Detection) -> None:
        self._error = error

    @property
    def detects(self) -> bool:
        """Whether it only detects failures: their messages are not needed."""
        return isinstance(self._error, Detection)

    def add(
        self,
        equation: Equation,
        args: list[Value],
        out: Value,
        nan: NaNError | None,
        zero: DivisionByZeroError | None = None,
    ) -> None:
        """Add an elementwise operation to the run of those before it, with the checks of its result and its divisor."""
        self._region.add(equation, args, out, nan, zero)

    def run(self, closed: ClosedGraph, args: Sequence[Value], elsewhere: Elsewhere | None = None) -> list[Value]:
        """The results of a graph. Some failures of its equations are found elsewhere."""
        before, self._elsewhere = self._elsewhere, elsewhere or Elsewhere()
        outs = evaluate(closed, args, self._apply)
        self._elsewhere = before
        return outs

    def tests_for_nan(self, equation: Equation) -> bool:
        """Whether the first result of an equation is tested for nan."""
        return self.checks_for(NaNError) and equation.outputs[0] not in self._elsewhere.nans

    def tests_for_zero(self, equation: Equation) -> bool:
        """Whether the divisor of a division is tested."""
        return self.checks_for(DivisionByZeroError) and equation.outputs[0] not in self._elsewhere.divisions

    def _apply(self, equation: Equation, args: list[Value]) -> Any:
        rule, name = self.rules.get(equation.primitive), equation.primitive.name
        if name not in PROPAGATING and name not in PLAIN and not self.detects:
            # A run of elementwise operations ends, because a failure would compute all of it again.
            self.error = self.error
        if rule is not None:
            return rule(self, equation, args)
        out = bound(equation, args)
        if name in PLAIN and isinstance(out, Tracer):
            self.add(equation, args, out, None)
        return out

    def fail_if(self, pred: Value, failure: JaxException) -> None:
        """Add a check that fails if `pred` holds."""
        # Different kinds of failures are independent: only a check for nan comes after the checks of the run.
        before = self.error if isinstance(failure, NaNError) else self._error
        self._error = before.failed_if(pred, failure)

    def detect(self, pred: Value) -> None:
        """`fail_if` without a failure, of a checker that detects."""
        assert isinstance(self._error, Detection)
        self._error = self._error.failed_if(pred)

    def checks_for(self, kind: type[JaxException]) -> bool:
        """Whether failures of the kind are checked."""
        return kind in self.enabled

    # Graphs with the Error.

    def checked(self, key: Any, function: Function, avals: Sequence[ShapedArray], owner: ClosedGraph) -> CheckedGraph:
        """The graph (leaves of the Error, values of these avals) -> (leaves of the new Error, results) of a function of
        a Checker and these values. The graph `owner` keeps it."""
        leaves, tree = tree_flatten(self.error)
        given = tuple(map(get_aval, leaves))
        key = ("checked", key, self.enabled, self.loops_detect, tree, given)
        return owner.derive(key, lambda: self.recorded(function, avals))

    def recorded(self, function: Function, avals: Sequence[ShapedArray]) -> CheckedGraph:
        """`checked`, recorded anew."""
        leaves, tree = tree_flatten(self.error)
        given, trees = tuple(map(get_aval, leaves)), list[PyTreeDef]()

        def run(*values: Any) -> list[Any]:
            inner = Checker(self.enabled, tree.unflatten(values[: len(given)]), self.rules, self.loops_detect)
            outs = function(inner, values[len(given) :])
            found, out_tree = tree_flatten(inner.error)
            trees.append(out_tree)
            return [*found, *outs]

        return CheckedGraph(record(run, (*given, *avals), DebugInfo("checkify", evaluate)), trees[-1])

    def checked_graph(self, closed: ClosedGraph) -> CheckedGraph:
        """`checked` for a graph of the program."""
        return self.checked("itself", lambda inner, args: inner.run(closed, args), closed.in_avals, closed)

    def prepare(self, kinds: Iterable[ErrorEffect]) -> list[Value]:
        """Prepare the Error for these kinds of failures. Returns its leaves."""
        self.error = self.error.prepared(kinds)
        return self.leaves()

    def leaves(self) -> list[Value]:
        """The leaves of the Error."""
        return tree_flatten(self.error)[0]

    def take(self, tree: PyTreeDef, outs: Sequence[Value]) -> list[Value]:
        """Take the new Error from the first results of a checked graph. Returns the other results."""
        count = tree.num_leaves
        self.error = tree.unflatten(outs[:count])
        return list(outs[count:])


# A function of a Checker and the values of a graph.
Function = Callable[[Checker, Sequence[Value]], Sequence[Value]]


class CheckedGraph(NamedTuple):
    """A graph that takes and returns the leaves of an Error before its other values."""

    graph: ClosedGraph
    # The structure of the Error among its results.
    tree: PyTreeDef

    @property
    def error(self) -> Error | Detection:
        """The Error among its results, with numbers in place of arrays: for its kinds and its static data."""
        return self.tree.unflatten(range(self.tree.num_leaves))
