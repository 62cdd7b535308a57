"""Graphs of `WrappedFun`s, over all their arguments or over the unknown ones, and graphs without dead code. Operations
on known arguments are computed at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.call import call
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import Atom, Equation, Graph
from pycompiler.core.tracing.interpretation import convert_constvars_jaxpr
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import GraphTrace, GraphTracer, record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.tracing.wrapped import WrappedFun
from pycompiler.core.types.aval import get_aval


class PartialVal(tuple[Any, Any]):
    """A value whose elements are known, `(None, value)`, or only its type, `(aval, None)`."""

    __slots__ = ()

    @classmethod
    def known(cls, const: Any) -> PartialVal:
        """A known value."""
        return cls((None, const))

    @classmethod
    def unknown(cls, aval: ShapedArray) -> PartialVal:
        """A value of this type."""
        return cls((aval, None))

    def is_known(self) -> bool:
        """Whether the elements are known."""
        return self[0] is None

    def get_known(self) -> Any:
        """The known value, else None."""
        return self[1] if self.is_known() else None

    def get_aval(self) -> ShapedArray:
        """The type."""
        return get_aval(self[1]) if self.is_known() else self[0]


def trace_to_jaxpr_dynamic(
    fun: WrappedFun,
    in_avals: Sequence[ShapedArray],
    *,
    keep_inputs: Sequence[bool] | None = None,
    lower: bool = False,
    auto_dce: bool = False,
) -> tuple[Graph, list[ShapedArray], list[Any]]:
    """The graph of a flat function, the types of its results, and the values of its constants. `keep_inputs` selects
    the inputs that the function gets. With `auto_dce`, the graph has no dead code."""

    def run(*args: Any) -> Sequence[Any]:
        kept = args if keep_inputs is None else [x for x, keep in zip(args, keep_inputs, strict=True) if keep]
        return fun.call_wrapped(*kept)

    closed = record(run, in_avals, DebugInfo(fun.debug_info.traced_for, fun.f))
    graph = dce_jaxpr(closed.graph, True, True)[0] if auto_dce else closed.graph
    return graph, list(closed.out_avals), list(closed.consts)


class _PartialTrace(GraphTrace):
    """Records the operations that depend on unknown arguments. Calls are inlined, so that their known parts are
    computed."""

    __slots__ = ()

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        if primitive is call:
            return tuple(evaluate(params["jaxpr"], args))
        return super().process(primitive, args, params)


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Graph, list[PartialVal], list[Any]]:
    """The graph from the unknown arguments to the unknown results, the results, and the values of its constants.

    Operations that do not depend on unknown arguments are computed at once; `instantiate` makes such results unknown
    too.
    """
    trace = _PartialTrace(DebugInfo(fun.debug_info.traced_for, fun.f))
    try:
        args = [trace.new_input(pval.get_aval()) if not pval.is_known() else pval.get_known() for pval in pvals]
        outs = fun.call_wrapped(*args)
        wanted = [instantiate] * len(outs) if isinstance(instantiate, bool) else instantiate
        unknown = [
            want or (isinstance(out, GraphTracer) and out.owner is trace)
            for out, want in zip(outs, wanted, strict=True)
        ]
        closed = trace.close([out for out, is_unknown in zip(outs, unknown, strict=True) if is_unknown])
    finally:
        trace.finish()
    found = [
        PartialVal.unknown(get_aval(out)) if is_unknown else PartialVal.known(out)
        for out, is_unknown in zip(outs, unknown, strict=True)
    ]
    return closed.graph, found, list(closed.consts)


# (which results are used, equation) -> (which operands the new equation needs, the equation or None).
DceRule = Callable[[list[bool], Equation], tuple[list[bool], Equation | None]]
dce_rules: dict[Primitive, DceRule] = {}


def dce_jaxpr(
    jaxpr: Graph, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Graph, list[bool]]:
    """The graph of these outputs, without the equations and inputs that they do not need, and the inputs that stay.

    Equations with effects stay, and inputs that `instantiate` selects. `dce_rules` has rules of primitives.
    """
    outputs = jaxpr.outputs
    if not isinstance(used_outputs, bool):
        outputs = [out for out, used in zip(jaxpr.outputs, used_outputs, strict=True) if used]
    elif not used_outputs:
        outputs = ()
    needed: set[Atom] = set(outputs)
    equations: list[Equation] = []
    for equation in reversed(jaxpr.equations):
        used = [var in needed for var in equation.outputs]
        rule = dce_rules.get(equation.primitive)
        kept: Equation | None = equation if any(used) or not equation.outputs or equation.effects else None
        if rule is not None and kept is not None:
            kept = rule(used, equation)[1]
        if kept is not None:
            needed.update(kept.inputs)
            equations.append(kept)
    always = [instantiate] * len(jaxpr.inputs) if isinstance(instantiate, bool) else instantiate
    stays = [keep or var in needed for var, keep in zip(jaxpr.inputs, always, strict=True)]
    inputs = [var for var, stay in zip(jaxpr.inputs, stays, strict=True) if stay]
    return jaxpr.replace(invars=inputs, outvars=outputs, eqns=equations[::-1]), stays


def dce_jaxpr_consts(
    jaxpr: Graph, used_outputs: bool | Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Graph, list[bool], list[bool]]:
    """As `dce_jaxpr`, also for constants. `instantiate` has flags for the constants, then for the inputs. Returns the
    graph, and flags for the constants and inputs that stay."""
    count = len(jaxpr.constvars)
    graph, stays = dce_jaxpr(convert_constvars_jaxpr(jaxpr), used_outputs, instantiate)
    first = sum(stays[:count])
    kept = graph.replace(constvars=graph.inputs[:first], invars=graph.inputs[first:])
    return kept, stays[:count], stays[count:]
