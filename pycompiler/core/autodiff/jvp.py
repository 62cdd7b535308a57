"""Forward mode: a trace whose values carry a tangent, pushed forward by each primitive's jvp rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.leaks import check_leaks
from pycompiler.core.tracing.primitive import Primitive, Zero
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo, Trace, Tracer, current_trace, enter, leaked, leave
from pycompiler.core.types.aval import as_array, get_aval, has_aval, strong

_NUMBERS = (bool, int, float, complex)


@has_aval
class JvpTracer(Tracer):
    """A value with its tangent, which is never a Zero: a value without variation is no tracer of this trace."""

    __slots__ = ("primal", "tangent")

    def __init__(self, trace: JvpTrace, primal: Any, tangent: Any) -> None:
        self.owner = trace
        self.primal = primal
        self.tangent = tangent
        self.aval = get_aval(primal)

    def concrete_value(self) -> Any:
        primal = self.primal
        return primal.concrete_value() if isinstance(primal, Tracer) else np.asarray(primal)

    def is_number(self) -> bool:
        primal = self.primal
        return primal.is_number() if isinstance(primal, Tracer) else type(primal) in _NUMBERS

    def argument_names(self) -> list[str]:
        return self.primal.argument_names() if isinstance(self.primal, Tracer) else []


class JvpTrace(Trace):
    """Applies jvp rules. The operations of a rule go to the older traces that its primals and tangents belong to."""

    __slots__ = ()

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        primals: list[Any] = []
        tangents: list[Any] = []
        for arg in args:
            if isinstance(arg, JvpTracer) and arg.owner is self:
                if self.done:
                    raise leaked(arg)
                primals.append(arg.primal)
                tangents.append(arg.tangent)
            else:
                primals.append(arg)
                tangents.append(Zero(get_aval(arg)))
        if primitive.jvp is None:
            return primitive.bind(*primals, **params)
        out, tangent = self.rule(primitive)(primals, tangents, **params)
        if primitive.multiple_results:
            return tuple([self.wrap(x, t) for x, t in zip(out, tangent, strict=True)])
        # The tangent of a sum is that of its operand, which may be a Python number. As in JAX, the tangents of
        # operators are arrays, and the tangents of users' own primitives are the results of their rules.
        if type(tangent) in _NUMBERS and type(primitive) is Primitive and current_trace() is None:
            tangent = as_array(tangent)
        return self.wrap(out, tangent)

    def rule(self, primitive: Primitive) -> Callable[..., tuple[Any, Any]]:
        """The rule that this trace applies to the primitive."""
        assert primitive.jvp is not None
        return primitive.jvp

    def wrap(self, primal: Any, tangent: Any) -> Any:
        """A tracer for a varying value; for any other, the value itself."""
        return primal if type(tangent) is Zero else JvpTracer(self, primal, tangent)

    def primal_of(self, x: Any) -> Any:
        """A result, or any other value, without its tangent."""
        return x.primal if isinstance(x, JvpTracer) and x.owner is self else x

    def tangent_of(self, x: Any) -> Any:
        """The tangent of a result."""
        return x.tangent if isinstance(x, JvpTracer) and x.owner is self else Zero(get_aval(x))


def push_forward(
    function: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    trace: JvpTrace,
    active: Callable[[], int] | None = None,
) -> tuple[list[Any], list[Any]]:
    """The results of a flat function and their tangents, which may be Zeros. The trace ends.

    `active`, read after the call, is the number of results with tangents. The results after them are aux.
    """
    enter(trace)
    try:
        outs = function(*[trace.wrap(x, t) for x, t in zip(primals, tangents, strict=True)])
        count = len(outs) if active is None else active()
        results = [trace.primal_of(out) for out in outs], [trace.tangent_of(out) for out in outs[:count]]
    finally:
        leave()
        trace.finish()
    del outs
    check_leaks(trace)
    return results


def jvp_graph(closed: ClosedGraph, varying: tuple[bool, ...]) -> tuple[ClosedGraph, tuple[bool, ...]]:
    """(inputs, tangents of the varying ones) -> (results, tangents of the varying ones), and which results vary."""

    def make() -> tuple[ClosedGraph, tuple[bool, ...]]:
        count = len(varying)
        out_varying: list[bool] = []

        def run(*args: Any) -> list[Any]:
            given = iter(args[count:])
            tangents = [next(given) if v else Zero(get_aval(x)) for v, x in zip(varying, args[:count], strict=True)]
            trace = JvpTrace(DebugInfo("jvp", evaluate))
            outs, out_tangents = push_forward(lambda *xs: evaluate(closed, xs), args[:count], tangents, trace)
            out_varying.extend(type(t) is not Zero for t in out_tangents)
            return [*outs, *(t for t in out_tangents if type(t) is not Zero)]

        avals = [*closed.in_avals, *(strong(a) for a, v in zip(closed.in_avals, varying, strict=True) if v)]
        return record(run, avals, DebugInfo("jvp", evaluate)), tuple(out_varying)

    return closed.derive(("jvp", varying), make)
