"""Recording a graph: the trace that is current while a function is traced, and `make_graph`.

Every operation of the function becomes an equation, with its arguments or without. Arrays that the function closes over
become constants of the graph. So do tracers of older traces, which `graph.close_over` turns into inputs.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array, ShapedArray, array_from_numpy, current_trace, swap_trace
from pycompiler.core.dims.dims import Dim
from pycompiler.core.dims.ranges import check_sizes
from pycompiler.core.hooks import hooks
from pycompiler.core.source import Source, user_source, warn
from pycompiler.core.tracing.dim_value import dim_as_value
from pycompiler.core.tracing.function_info import origin_of
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Literal, Var, depends_on
from pycompiler.core.tracing.leaks import check_leaks
from pycompiler.core.tracing.params import ViewedParams
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.references import Ref
from pycompiler.core.tracing.trace import DebugInfo, Trace, Tracer, leaked
from pycompiler.core.tracing.user_values import Copies, Part
from pycompiler.core.types.aval import get_aval, has_aval

# The maximum number of operations from one line. A larger number means that a Python loop was unrolled.
_MANY = 1000


@has_aval
class GraphTracer(Tracer):
    """A value of the graph under construction."""

    __slots__ = ("source", "variable")

    def __init__(self, trace: GraphTrace, var: Var, source: Source | None) -> None:
        self.owner = trace
        self.aval = var.aval
        self.variable = var
        self.source = source

    def argument_names(self) -> list[str]:
        trace = self.owner
        assert isinstance(trace, GraphTrace)
        graph = Graph((), trace.inputs, (), trace.equations)
        return [trace.debug_info.argument(index) for index in depends_on(graph, self.variable)]

    def is_of_scalars(self) -> bool:
        trace = self.owner
        assert isinstance(trace, GraphTrace)
        graph = Graph((), trace.inputs, (), trace.equations)
        return all(not trace.inputs[index].aval.shape for index in depends_on(graph, self.variable))

    def made_at(self) -> Source | None:
        return self.source


_SCALARS = frozenset((bool, int, float, complex))


@functools.lru_cache(maxsize=1 << 14)
def _infer(primitive: Primitive, avals: tuple[ShapedArray, ...], params: tuple[tuple[str, Any], ...]) -> ShapedArray:
    """The result of the shape rule, cached: most equations repeat an earlier combination."""
    inferred = primitive.shape_rule(*avals, **dict(params))
    if not inferred.is_concrete:
        check_sizes(primitive.name, inferred.shape)
    return inferred


class _Held:
    """The value, in the function that is recorded, of a reference from outside."""

    __slots__ = ("is_written", "start", "value")

    def __init__(self, start: GraphTracer | None, value: Any) -> None:
        # The value at the beginning; None if the reference only holds another value for a while.
        self.start = start
        self.value = value
        self.is_written = False


# Stands for the value of a reference that was not used.
_UNUSED: Any = object()


class GraphTrace(Trace):
    """Records operations as equations."""

    __slots__ = ("_lifted", "_references", "_user_values", "consts", "constvars", "equations", "inputs", "parent")

    def __init__(self, debug_info: DebugInfo) -> None:
        super().__init__(debug_info)
        self.inputs: list[Var] = []
        self.constvars: list[Var] = []
        self.consts: list[Any] = []
        self.equations: list[Equation] = []
        self._lifted: dict[int, Var] = {}
        # The references from outside that the function used, with their values.
        self._references: dict[Ref, _Held] | None = None
        self._user_values: Copies | None = None
        # The trace that was recording when this one began.
        self.parent: Trace | None = None

    def new_input(self, aval: ShapedArray) -> GraphTracer:
        """A tracer for one more input of the graph."""
        var = Var(aval)
        self.inputs.append(var)
        return GraphTracer(self, var, None)

    def new_constant(self, x: Any) -> GraphTracer:
        """A tracer for a constant, which may have a type and no elements."""
        var = Var(get_aval(x))
        self.constvars.append(var)
        self.consts.append(x)
        return GraphTracer(self, var, None)

    def atom(self, x: Any) -> Atom:
        """The atom for `x` in this graph: its variable, a literal for a scalar, or a constant."""
        kind = x.__class__
        if kind is GraphTracer and x.owner is self:
            return x.variable
        if kind is float:
            return Literal(x, get_aval(x))
        if kind in _SCALARS or isinstance(x, np.generic):
            return self._literal(x)
        if isinstance(x, Tracer):
            if x.owner.done:
                raise leaked(x)
            if x.owner is self and isinstance(x, GraphTracer):
                return x.variable
        elif kind is Dim:
            return self.process(dim_as_value, (), {"dim": x, "dtype": get_aval(x).dtype}).variable
        elif kind is not Array:
            aval = get_aval(x)
            if not isinstance(x, np.ndarray):
                return self._literal(x)
            if x.ndim == 0:
                return Literal(x.astype(aval.dtype)[()], aval)
            # A snapshot: later writes of the caller to its array must not change the results of this graph.
            x = array_from_numpy(np.ascontiguousarray(x, aval.dtype), aval)
        var = self._lifted.get(id(x))
        if var is None:
            var = self._lifted[id(x)] = Var(get_aval(x))
            self.constvars.append(var)
            self.consts.append(x)
        return var

    def _literal(self, x: Any) -> Literal:
        aval = get_aval(x)
        if isinstance(x, np.generic):
            return Literal(x.astype(aval.dtype), aval)
        if not isinstance(x, (bool, int, float, complex)):
            raise TypeError(f"{x!r} of type {type(x).__name__} has no elements: it can't be computed with")
        if isinstance(x, int):
            # NumPy checks the range: int32 does not hold 3_000_000_000.
            np.asarray(x, aval.dtype)
        return Literal(x, aval)

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if self.done:
            raise leaked(next(arg for arg in args if isinstance(arg, Tracer) and arg.owner is self))
        inputs = [self.atom(arg) for arg in args]
        avals = tuple([atom.aval for atom in inputs])
        source = user_source()
        views = primitive.views
        if views is not None:
            params = ViewedParams(params, views)
        if primitive.multiple_results:
            inferred = primitive.shape_rule(*avals, **params)
            for aval in inferred:
                if not aval.is_concrete:
                    check_sizes(primitive.name, aval.shape)
            if hooks.typing is not None:
                inferred = hooks.typing(primitive, avals, params, inferred)
            outputs = [Var(aval) for aval in inferred]
            self.equations.append(Equation(primitive, inputs, params, outputs, source))
            return tuple([GraphTracer(self, var, source) for var in outputs])
        # The parameters of users need not be hashable, nor their rules be pure.
        inferred = (
            primitive.shape_rule(*avals, **params)
            if primitive.is_users
            else _infer(primitive, avals, tuple(params.items()))
        )
        if hooks.typing is not None:
            (inferred,) = hooks.typing(primitive, avals, params, (inferred,))
        var = Var(inferred)
        self.equations.append(Equation(primitive, inputs, params, (var,), source))
        return GraphTracer(self, var, source)

    def new_start(self, aval: ShapedArray) -> GraphTracer:
        """A tracer for an array of a value of a user's type."""
        return GraphTracer(self, Var(aval), None)

    @property
    def user_values(self) -> Copies:
        """The values of users' own types."""
        if self._user_values is None:
            self._user_values = Copies()
        return self._user_values

    def _held(self, ref: Ref) -> _Held:
        """The value of a reference from outside. Its value at the beginning is one more constant."""
        if self._references is None:
            self._references = {}
        found = self._references.get(ref)
        if found is None:
            start = GraphTracer(self, Var(ref.aval.inner_aval), None)
            found = self._references[ref] = _Held(start, start)
        return found

    def value_of(self, ref: Ref) -> Any:
        """The present value of a reference from outside."""
        return self._held(ref).value

    def set_value_of(self, ref: Ref, value: Any) -> None:
        """Replace the value of a reference from outside."""
        held = self._held(ref)
        held.value, held.is_written = value, True

    def swap_value_of(self, ref: Ref, value: Any) -> Any:
        """Let a reference hold another value for a while. Returns the previous value, which the caller restores
        later."""
        if self._references is None:
            self._references = {}
        found = self._references.get(ref)
        if value is _UNUSED:
            return self._references.pop(ref).value
        if found is None:
            self._references[ref] = _Held(None, value)
            return _UNUSED
        found.value, before = value, found.value
        return before

    @property
    def touched(self) -> tuple[Ref, ...]:
        """The references from outside that the function has used."""
        return tuple(self._references or ())

    def close(self, outs: Sequence[Any]) -> ClosedGraph:
        """The graph with these results. The trace ends, and its tracers are leaked from here on."""
        info = self.debug_info
        origin = origin_of(info.transform, info.function)
        held = (self._references or {}).items()
        begin: list[tuple[Part, Any]] = []
        end: list[tuple[Part, Any]] = []
        if self._user_values is not None and self._user_values.copies:
            begin, end = self._user_values.parts()
        touched: list[Ref] = [*(ref for ref, x in held if x.start is not None), *(part for part, _ in begin)]
        written: list[Ref] = [*(ref for ref, x in held if x.is_written), *(part for part, _ in end)]
        # The values that references hold at the end may be constants that nothing else has used.
        outputs = [self.atom(x) for x in (*outs, *(x.value for _, x in held if x.is_written), *(x for _, x in end))]
        constvars, consts = self.constvars, self.consts
        if touched:
            starts = (*(x.start for _, x in held if x.start is not None), *(start for _, start in begin))
            constvars = [*constvars, *(start.variable for start in starts)]
            consts = [*consts, *touched]
        self.done = True
        graph = Graph(constvars, self.inputs, outputs, self.equations, debug_info=origin)
        states = () if self._user_values is None else self._user_values.states
        return ClosedGraph(graph, consts).using(tuple(touched), tuple(written), states)


def record(function: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray], debug_info: DebugInfo) -> ClosedGraph:
    """The graph of `function`, from flat arguments of these avals to a flat list of results."""
    return _record(GraphTrace(debug_info), function, avals)


def _record(trace: GraphTrace, function: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray]) -> ClosedGraph:
    tracers = [trace.new_input(aval) for aval in avals]
    previous = trace.parent = swap_trace(trace)
    try:
        outs = function(*tracers)
        return trace.close(outs)
    finally:
        trace.done = True
        swap_trace(previous)


def touched_now() -> tuple[Ref, ...]:
    """The references from outside that the function being recorded has used."""
    trace = current_trace()
    return trace.touched if isinstance(trace, GraphTrace) else ()


def make_graph(
    function: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray], debug_info: DebugInfo
) -> ClosedGraph:
    """`record` for a user's function, with a warning for a line that recorded more than a thousand operations."""
    trace = GraphTrace(debug_info)
    closed = _record(trace, function, avals)
    check_leaks(trace)
    if len(closed.graph.equations) > _MANY:
        _warn_of_unrolled_loops(closed.graph)
    return closed


def _warn_of_unrolled_loops(graph: Graph) -> None:
    places = Counter(
        (equation.source.code, equation.source.lasti) for equation in graph.equations if equation.source is not None
    )
    lines: Counter[tuple[str, int]] = Counter()
    sources: dict[tuple[str, int], Source] = {}
    for (code, lasti), count in places.items():
        source = Source(code, lasti)
        line = (source.file, source.line)
        lines[line] += count
        sources[line] = source
    for line, count in lines.items():
        if count > _MANY:
            warn(
                f"{sources[line].describe()}\n{count} operations were recorded from this line: a Python loop is "
                "unrolled while it is traced, and each pass is compiled again. Write it with lax.fori_loop or lax.scan",
                source=sources[line],
            )
