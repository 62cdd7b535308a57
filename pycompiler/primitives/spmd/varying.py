"""Varying values: the axes of a mesh along which each value may differ, tracked while a function for one device is
traced.

In a function for one device of a mesh (`shard_map`) a value may vary along some of the mesh's axes. `Differing` tracks
this while the user's function is traced. It makes the operands of an operation vary along the same axes, by `pvary`,
whose transpose is the sum over these axes. So the derivative with respect to a value that is equal everywhere is the
sum of the contributions of all devices, and is itself equal everywhere. The results of loops and branches vary along
the axes of the operands that they depend on, and of the values that choose a branch or end a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

from pycompiler._runtime import current_trace
from pycompiler.core.autodiff.call import call
from pycompiler.core.autodiff.jvp import JvpTracer
from pycompiler.core.batching.batch import BatchTracer
from pycompiler.core.mesh.manual import TypeOnDevice
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.axes import Name
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, Equation, Var
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import GraphTracer, record
from pycompiler.core.tracing.source_info import called_name
from pycompiler.core.tracing.trace import DebugInfo, Tracer, names_of
from pycompiler.core.types.aval import get_aval, has_aval_by
from pycompiler.core.types.dtype import is_inexact
from pycompiler.primitives.collective.reductions import axis_index, pmax, pmin, psum, pvary
from pycompiler.primitives.control.cond import cond
from pycompiler.primitives.control.inlined import INLINED
from pycompiler.primitives.control.scan import scan
from pycompiler.primitives.control.while_loop import while_
from pycompiler.primitives.spmd.shard_map import mentioned, own_axes, shard_map

Names = frozenset[Name]
NONE: Names = frozenset()


def _own_type(x: TracerOnDevice) -> Any:
    tracker = axes.varying_tracker()
    return x.variable.aval if tracker is None else tracker.type_of(x)


class TracerOnDevice(GraphTracer):
    """A value of a function for one device. Its type has the axes along which it varies: `x.aval.mat`, `x.mat`."""

    __slots__ = ()

    aval = property(_own_type)  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]

    @property
    def mat(self) -> Any:
        """The axes along which the value varies."""
        return cast(Any, self.aval).mat

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.variable.aval.shape

    @property
    def dtype(self) -> Any:
        return self.variable.aval.dtype

    @property
    def ndim(self) -> int:
        return len(self.variable.aval.shape)


has_aval_by(TracerOnDevice, lambda x: x.variable.aval)

_REDUCTIONS = (psum, pmax, pmin)


class Differing(axes.VaryingTracker):
    """The mesh axes along which the values of one traced function may vary."""

    __slots__ = ("_fixed", "_known", "_outer", "axes", "level")

    def __init__(self, names: Iterable[Name], level: int, outer: Any = None) -> None:
        # The tracker of the function for one device that this one is a part of: its axes are in scope, too.
        self._outer: Differing | None = outer
        self.axes = frozenset(names) if outer is None else outer.axes.union(names)
        # The level of the function's trace.
        self.level = level
        self._known: dict[Var, Names] = {}
        # Values that depend on no input. They have no derivative, so `pvary` is not needed for them.
        self._fixed: set[Var] = set()

    def of(self, x: Any) -> Names:
        """The axes along which a value may vary. While an inner graph is traced, its inputs are unknown: they may vary
        along all axes. `typed` determines this when the graph is bound."""
        while not isinstance(x, GraphTracer):
            if isinstance(x, JvpTracer):
                x = x.primal
            elif isinstance(x, BatchTracer):
                x = x.value
            else:
                return NONE
        level, now = x.owner.level, current_trace()
        if now is not None and now.level > self.level and level < now.level:
            # It becomes an input of the graph that is being recorded.
            return self.axes
        return self.outside(x) if level < self.level else self._known.get(x.variable, self.axes)

    def outside(self, x: Any) -> Names:
        """The axes along which a value of the outer function may vary."""
        return NONE if self._outer is None else self._outer.of(x)

    def put(self, x: Any, names: Names) -> None:
        """Make a tracer of a graph vary along these axes."""
        if isinstance(x, GraphTracer):
            self._known[x.variable] = names
            if type(x) is GraphTracer:
                x.__class__ = TracerOnDevice

    def type_of(self, x: Any) -> TypeOnDevice:
        return TypeOnDevice(get_aval(x), self.of(x))

    def same(self, x: Any, as_: Any) -> None:
        self.put(x, self.of(as_))

    def aligned(self, x: Any, names: Names) -> Any:
        """x, made to vary along at least these axes."""
        missing = names - self.of(x)
        if not missing or self._is_fixed(x) or not is_inexact(get_aval(x).dtype):
            return x
        return pvary.bind(x, axes=tuple(sorted(missing, key=str)))

    def _is_fixed(self, x: Any) -> bool:
        return not isinstance(x, Tracer) or (isinstance(x, GraphTracer) and x.variable in self._fixed)

    def bind(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        rule = HOLDERS.get(primitive)
        if rule is not None:
            typed = rule(self, args, params)
            found = primitive.dispatch(list(map(self.aligned, args, typed.operands)), typed.params)
            for result, names in zip(found, typed.results, strict=True):
                self.put(result, names)
            return found
        own = names_of(primitive, params) & self.axes
        if primitive is pvary:
            wanted = self.of(args[0]) | own
        elif primitive is axis_index:
            wanted = own
        else:
            wanted = own.union(*map(self.of, args))
            args = [self.aligned(arg, wanted) for arg in args]
        out = primitive.dispatch(args, params)
        if primitive in _REDUCTIONS:
            wanted = wanted - own
        is_fixed = all(map(self._is_fixed, args))
        for result in out if primitive.multiple_results else (out,):
            self.put(result, wanted)
            if is_fixed and isinstance(result, GraphTracer):
                self._fixed.add(result.variable)
        return out

    # Inner graphs.

    def typed(
        self, graph: ClosedGraph, given: Sequence[Names], wanted: Sequence[Names] | None = None
    ) -> tuple[ClosedGraph, tuple[Names, ...]]:
        """The graph for inputs that vary along these axes, and the axes along which its results vary, at least the
        wanted ones. The casts of its first trace, made for unknown inputs, are removed."""

        def make() -> tuple[ClosedGraph, tuple[Names, ...]]:
            found: list[Names] = []

            def run(*xs: Any) -> list[Any]:
                for x, names in zip(xs, given, strict=True):
                    self.put(x, names)
                outs = evaluate(graph, xs, _without_casts)
                if wanted is not None:
                    outs = list(map(self.aligned, outs, wanted))
                found.extend(map(self.of, outs))
                return outs

            return record(run, graph.in_avals, DebugInfo("shard_map", evaluate)), tuple(found)

        return graph.derive(("typed", self.axes, tuple(given), None if wanted is None else tuple(wanted)), make)


def _without_casts(equation: Equation, given: Sequence[Any]) -> Any:
    """Apply an equation, unless it only marks a value as varying."""
    return given[0] if equation.primitive is pvary else equation.primitive.bind(*given, **equation.params)


class _Typed(NamedTuple):
    """An operation with graphs: the axes along which its operands must vary, its parameters, its results."""

    operands: Sequence[Names]
    params: dict[str, Any]
    results: Sequence[Names]


def _union(names: Iterable[Names]) -> Names:
    return NONE.union(*names)


def _widest(
    names: Sequence[Names], free: Sequence[bool], results: Callable[[Sequence[Names]], Any]
) -> tuple[Sequence[Names], Any]:
    """Axes of operands. A free operand gets the axes of all operands if that leaves the results unchanged. Then a sum
    in a derivative is computed once, not in each iteration or branch."""
    found = results(names)
    every = _union(names)
    wide = [every if flag else own for own, flag in zip(names, free, strict=True)]
    return (wide, found) if results(wide) == found else (names, found)


def _steady(start: Sequence[Names], step: Callable[[Sequence[Names]], Sequence[Names]]) -> Sequence[Names]:
    """The axes of a carry, extended until an iteration adds none."""
    while True:
        after = [a | b for a, b in zip(start, step(start), strict=True)]
        if after == list(start):
            return after
        start = after


def _scan(tracker: Differing, args: Sequence[Any], params: dict[str, Any]) -> _Typed:
    body: ClosedGraph = params["jaxpr"]
    first, last = params["num_consts"], params["num_consts"] + params["num_carry"]

    def results(names: Sequence[Names]) -> Sequence[Names]:
        def step(carry: Sequence[Names]) -> tuple[Names, ...]:
            return tracker.typed(body, (*names[:first], *carry, *names[last:]))[1]

        carry = _steady(names[first:last], lambda now: step(now)[: last - first])
        return (*carry, *step(carry)[last - first :])

    free = [not first <= place < last for place in range(len(args))]
    names, outs = _widest(list(map(tracker.of, args)), free, results)
    names = (*names[:first], *outs[: last - first], *names[last:])
    return _Typed(names, {**params, "jaxpr": tracker.typed(body, names, outs)[0]}, outs)


def _while(tracker: Differing, args: Sequence[Any], params: dict[str, Any]) -> _Typed:
    """If devices may stop at different times, every carry may vary."""
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]
    first = params["cond_nconsts"]
    last = first + params["body_nconsts"]

    def results(names: Sequence[Names]) -> Sequence[Names]:
        def step(carry: Sequence[Names]) -> Sequence[Names]:
            (ends,) = tracker.typed(cond, (*names[:first], *carry))[1]
            consts = [own | ends for own in names[first:last]]
            return [own | ends for own in tracker.typed(body, (*consts, *carry))[1]]

        return _steady(names[last:], step)

    free = [first <= place < last for place in range(len(args))]
    names, outs = _widest(list(map(tracker.of, args)), free, results)
    tested, (ends,) = tracker.typed(cond, (*names[:first], *outs))
    names = (*names[:first], *(own | ends for own in names[first:last]), *outs)
    stepped, _ = tracker.typed(body, names[first:], outs)
    return _Typed(names, {**params, "cond_jaxpr": tested, "body_jaxpr": stepped}, outs)


def _cond(tracker: Differing, args: Sequence[Any], params: dict[str, Any]) -> _Typed:
    """If devices may choose different branches, all results may vary."""
    branches: tuple[ClosedGraph, ...] = params["branches"]
    index = tracker.of(args[0])

    def results(names: Sequence[Names]) -> Sequence[Names]:
        each = [tracker.typed(branch, names[1:])[1] for branch in branches]
        return [index.union(*column) for column in zip(*each, strict=True)]

    names, outs = _widest([tracker.of(arg) | index for arg in args], [False, *[True] * (len(args) - 1)], results)
    graphs = tuple([tracker.typed(branch, names[1:], outs)[0] for branch in branches])
    return _Typed(names, {**params, "branches": graphs}, outs)


def _called(tracker: Differing, args: Sequence[Any], params: dict[str, Any]) -> _Typed:
    """A function with its own rules. They need operands that vary along the same axes."""
    names = [_union(map(tracker.of, args))] * len(args)
    name = called_name(params)
    graph, outs = tracker.typed(params[name], names)
    return _Typed(names, {**params, name: graph}, outs)


def _mapped(tracker: Differing, args: Sequence[Any], params: dict[str, Any]) -> _Typed:
    """A function that is mapped over more axes of the mesh. A value that varies outside varies inside, too."""
    names = list(map(tracker.of, args))
    if not params["varying"]:
        every = _union(names)
        return _Typed([every] * len(args), params, [every] * len(params["out_layouts"]))
    own = own_axes(params["mesh"])
    inner = Differing(own, tracker.level, tracker)
    given = [known | mentioned(layout) for known, layout in zip(names, params["in_layouts"], strict=True)]
    with axes.manual(own, True, inner, params["mesh"]):
        graph, outs = inner.typed(params["jaxpr"], given, list(map(mentioned, params["out_layouts"])))
    return _Typed(names, {**params, "jaxpr": graph}, [found & tracker.axes for found in outs])


# The graph that these primitives call (`called_name`) computes the results.
_CALLS = (call, *INLINED)

HOLDERS: dict[Primitive, Callable[[Differing, Sequence[Any], dict[str, Any]], _Typed]] = {
    scan: _scan,
    while_: _while,
    cond: _cond,
    shard_map: _mapped,
    **dict.fromkeys(_CALLS, _called),
}
