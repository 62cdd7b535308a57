"""Functions with their own derivative rules: their calls under each trace, and the primitives that graphs record.

A rule is a Python function. With concrete values it is called directly, and a batch trace wraps it. A graph trace
records the function as a graph beside the rule, and the values that the function closes over become operands. The rule
is called when the graph is differentiated. A jvp rule pushes tangents forward. A vjp rule is a forward function, which
returns residuals, and a backward function. `custom_lin`, a linear operation that can only be transposed, stands between
the two. The public face of both is in `transforms`; `custom_batch` batches rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.call import call, reference_of
from pycompiler.core.autodiff.custom_batch import Axes, Backward, Custom, batched, newest_trace
from pycompiler.core.autodiff.jvp import JvpTrace, JvpTracer
from pycompiler.core.batching.batch import BatchTrace, BatchTracer, batch_graph
from pycompiler.core.errors import JaxprTypeError, NotDifferentiableError
from pycompiler.core.source import Source
from pycompiler.core.tracing.axes import Axis, mapping
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph, close_over
from pycompiler.core.tracing.interpretation import jaxpr_as_fun
from pycompiler.core.tracing.primitive import Dims, Primitive, Zero
from pycompiler.core.tracing.record import GraphTrace, record
from pycompiler.core.tracing.references import holding
from pycompiler.core.tracing.structural import mapped_size, with_batch_dim
from pycompiler.core.tracing.trace import DebugInfo, Tracer, leaked
from pycompiler.core.tracing.wrapped import wrap_init
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, same_type, short, strong


def custom_call(custom: Custom, args: Sequence[Any]) -> Sequence[Any]:
    """The results of a function with its own derivative, under the newest trace among those of its arguments."""
    trace = newest_trace(args)
    if trace is None:
        outs = custom.flat(*args)
        _check_closed(custom, outs, None)
        return outs
    if trace.done:
        raise leaked(next(arg for arg in args if isinstance(arg, Tracer) and arg.owner is trace))
    if isinstance(trace, JvpTrace):
        return _differentiated_call(trace, custom, args)
    if isinstance(trace, BatchTrace):
        return _mapped_call(trace, custom, args)
    return _recorded_call(custom, args)


def _recorded_call(custom: Custom, args: Sequence[Any]) -> Sequence[Any]:
    """The function as a graph. Values that it closes over, including tracers, become operands."""
    recorded = record(custom.flat, [get_aval(arg) for arg in args], custom.debug_info())
    if recorded.refers:
        custom = reading(custom, recorded)
        recorded, args = recorded.discharged(), [*args, *(ref.read() for ref in recorded.touched)]
    graph, consts = close_over(recorded)
    primitive = custom_jvp_call if custom.rule is not None else custom_vjp_call
    return primitive.bind(*consts, *args, call_jaxpr=graph, num_consts=len(consts), custom=custom)


def reading(custom: Custom, recorded: ClosedGraph) -> Custom:
    """The function, with the values of the references that it reads as its last arguments. Its rules run later, and the
    references may then hold other values."""
    if recorded.written:
        raise TypeError(
            f"{custom.kind}: {custom.name} writes a reference of type {recorded.written[0].aval}, which its rule can't "
            "differentiate. What to do: return the value and write it outside, or in the backward function"
        )
    refs, count = recorded.touched, len(recorded.touched)

    def check(varying: Sequence[bool]) -> None:
        if any(varying[-count:]):
            raise closed_over(custom)

    def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        assert custom.rule is not None
        check([type(t) is not Zero for t in tangents])
        with holding(refs, primals[-count:]):
            return custom.rule(primals[:-count], tangents[:-count])

    def forward(primals: Sequence[Any], varying: Sequence[bool]) -> tuple[Sequence[Any], Sequence[Any], Backward]:
        assert custom.forward is not None
        check(varying)
        values = primals[-count:]
        with holding(refs, values):
            outs, residuals, backward = custom.forward(primals[:-count], varying[:-count])
        zeros = [Zero(strong(get_aval(x))) for x in values]
        return outs, residuals, lambda kept, cotangents: [*backward(kept, cotangents), *zeros]

    def flat(*args: Any) -> Sequence[Any]:
        with holding(refs, args[-count:]):
            return custom.flat(*args[:-count])

    jvp, vjp = (rule, None) if custom.rule is not None else (None, forward)
    return Custom(custom.name, custom.function, flat, jvp, vjp)


def _differentiated_call(trace: JvpTrace, custom: Custom, args: Sequence[Any]) -> Sequence[Any]:
    pushed = _Pushed(custom, [trace.primal_of(arg) for arg in args], [trace.tangent_of(arg) for arg in args])
    newer = [x for x in pushed.seen if isinstance(x, BatchTracer) and x.owner.level > trace.level]
    if newer:
        # The function closes over a value that a later vmap maps. So the call is mapped too, for any arguments.
        newest = max(newer, key=lambda x: x.owner.level)
        assert isinstance(newest.owner, BatchTrace)
        return _mapped_call(newest.owner, custom, args)
    _check_closed(custom, pushed.seen, trace)
    return [trace.wrap(x, t) for x, t in zip(pushed.outs, pushed.tangents(), strict=True)]


def _mapped_call(trace: BatchTrace, custom: Custom, args: Sequence[Any]) -> Sequence[Any]:
    pairs = [trace.split(arg) for arg in args]
    values, dims = [x for x, _ in pairs], [d for _, d in pairs]
    if isinstance(newest_trace(values), GraphTrace):
        # Batched as a graph, so that the values that it closes over are batched too.
        return _recorded_call(custom, args)
    axes = Axes(trace, dims, trace.axis)
    return [trace.wrap(out, 0) for out in custom_call(batched(custom, axes), values)]


def _check_closed(custom: Custom, values: Iterable[Any], trace: JvpTrace | None) -> None:
    """Raise if a result of the function depends on a varying value that is not among its arguments."""
    for x in values:
        if isinstance(x, JvpTracer) and (trace is None or x.owner is trace):
            raise closed_over(custom)


def closed_over(custom: Custom) -> NotDifferentiableError:
    """The error for a derivative with respect to a value that is no argument of the function."""
    return NotDifferentiableError(
        f"{custom.kind}: {custom.name} closes over a value that is differentiated, but its rule differentiates by "
        f"arguments only. What to do: make the value an argument of {custom.name}, or wrap it in lax.stop_gradient"
    )


# Derivatives.


class _Pushed:
    """The results of a function by its own rule, and their tangents. `seen` are the results of the user's functions."""

    def __init__(self, custom: Custom, primals: Sequence[Any], tangents: Sequence[Any]) -> None:
        self._custom = custom
        self._given = tangents
        if custom.rule is not None:
            self.outs, self._tangents = custom.rule(primals, tangents)
            self.seen = (*self.outs, *self._tangents)
        else:
            assert custom.forward is not None
            varying = [type(t) is not Zero for t in tangents]
            self.outs, self._residuals, self._backward = custom.forward(primals, varying)
            self.seen = (*self.outs, *self._residuals)

    def tangents(self) -> Sequence[Any]:
        """The tangents of the results. Raises TypeError in forward mode if only a backward function exists."""
        custom = self._custom
        if custom.rule is not None:
            return self._tangents
        varying = tuple([type(t) is not Zero for t in self._given])
        avals = tuple([strong(get_aval(out)) for out in self.outs])
        moving = tuple([dtypes.is_inexact(aval.dtype) for aval in avals])
        if not any(moving) or not any(varying):
            return [Zero(aval) for aval in avals]
        args = (*self._residuals, *(t for t in self._given if type(t) is not Zero))
        if not isinstance(newest_trace(args), GraphTrace):
            forward_mode(custom)
        params = {"backward": self._backward, "varying": varying, "moving": moving, "out_avals": avals}
        found = iter(custom_lin.bind(*args, custom=custom, **params))
        return [next(found) if m else Zero(aval) for m, aval in zip(moving, avals, strict=True)]


def forward_mode(custom: Custom, source: Source | None = None) -> NoReturn:
    """Raise the error for forward mode of a function whose rule is for reverse mode only."""
    place = f"{source.describe()}\n" if source else ""
    raise NotDifferentiableError(
        f"{place}custom_vjp: forward-mode differentiation (jvp, jacfwd) of {custom.name}, whose rule is for "
        "reverse mode only. What to do: use grad, vjp or jacrev, or give it a rule for both modes with custom_jvp"
    )


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, call_jaxpr: ClosedGraph, num_consts: int, custom: Custom
) -> tuple[Sequence[Any], Sequence[Any]]:
    for tangent in tangents[:num_consts]:
        if type(tangent) is not Zero:
            raise closed_over(custom)
    pushed = _Pushed(custom, primals[num_consts:], tangents[num_consts:])
    return pushed.outs, pushed.tangents()


# The recorded call: a nested call with its own derivative. In compiled code, the equations of the graph are inlined.


def _shape(*avals: ShapedArray, call_jaxpr: ClosedGraph, num_consts: int, custom: Custom) -> tuple[ShapedArray, ...]:
    wanted = call_jaxpr.in_avals
    if len(avals) != len(wanted) or not all(map(same_type, avals, wanted)):
        raise JaxprTypeError(
            f"{custom.kind} of {custom.name}: the graph takes ({', '.join(map(short, wanted))}), "
            f"called with ({', '.join(map(short, avals))})"
        )
    return call_jaxpr.out_avals


def _transpose(
    cotangents: Sequence[Any], *args: Any, call_jaxpr: ClosedGraph, num_consts: int, custom: Custom
) -> Sequence[Any]:
    assert call.transpose is not None
    return call.transpose(cotangents, *args, jaxpr=call_jaxpr, name=custom.name)


def _batch(
    args: Sequence[Any], dims: Dims, *, call_jaxpr: ClosedGraph, num_consts: int, custom: Custom
) -> tuple[Sequence[Any], Sequence[int | None]]:
    size = mapped_size(args, dims)
    mapped, out_dims = batch_graph(call_jaxpr, tuple(dims), size)

    def make() -> ClosedGraph:
        def run(*xs: Any) -> list[Any]:
            outs = evaluate(mapped, xs)
            return [with_batch_dim(out, d, 0, size) for out, d in zip(outs, out_dims, strict=True)]

        return record(run, mapped.in_avals, DebugInfo("vmap", evaluate))

    in_front = mapped if set(out_dims) <= {0} else mapped.derive("in front", make)
    # A batching rule of a user's primitive may make constants.
    opened, consts = in_front.derive("opened", lambda: close_over(in_front))
    rules = batched(custom, Axes(None, tuple(dims[num_consts:]), mapping() or Axis(None, size)))
    primitive = custom_jvp_call if custom.rule is not None else custom_vjp_call
    count = num_consts + len(consts)
    return primitive.bind(*consts, *args, call_jaxpr=opened, num_consts=count, custom=rules), [0] * len(out_dims)


def _reference(*args: Any, call_jaxpr: ClosedGraph, num_consts: int, custom: Custom) -> tuple[Any, ...]:
    return reference_of(call_jaxpr, args)


class _CustomJvpCall(Primitive):
    """Interpreters of JAX's users take the function from the parameters of `bind`, as `subfuns`, and give it back."""

    __slots__ = ()

    def get_bind_params(self, params: dict[str, Any]) -> Any:
        graph: ClosedGraph = params["call_jaxpr"]
        return {**params, "subfuns": (wrap_init(jaxpr_as_fun(graph)),)}

    def bind(self, *args: Any, subfuns: Sequence[Any] = (), **params: Any) -> Any:
        return Primitive.bind(self, *args, **params)


custom_jvp_call = _CustomJvpCall("custom_jvp_call", _shape, _jvp, _transpose, _batch, _reference, multiple_results=True)
custom_vjp_call = Primitive("custom_vjp_call", _shape, _jvp, None, _batch, _reference, multiple_results=True)


# custom_lin: the linear part of a function with a backward function. It can only be recorded and transposed.


def _lin_shape(
    *avals: ShapedArray, moving: tuple[bool, ...], out_avals: tuple[ShapedArray, ...], **params: Any
) -> tuple[ShapedArray, ...]:
    return tuple([aval for aval, m in zip(out_avals, moving, strict=True) if m])


def _lin_transpose(
    cotangents: Sequence[Any],
    *args: Any,
    custom: Custom,
    backward: Backward,
    varying: tuple[bool, ...],
    moving: tuple[bool, ...],
    out_avals: tuple[ShapedArray, ...],
) -> Sequence[Any]:
    given = iter(cotangents)
    residuals = args[: len(args) - sum(varying)]
    every = [next(given) if m else Zero(aval) for m, aval in zip(moving, out_avals, strict=True)]
    found = backward(residuals, every)
    return [*(None for _ in residuals), *(ct for ct, v in zip(found, varying, strict=True) if v)]


def _lin_refuse(*_: Any, custom: Custom, **__: Any) -> NoReturn:
    forward_mode(custom)


custom_lin = Primitive(
    "custom_lin",
    _lin_shape,
    _lin_refuse,
    _lin_transpose,
    _lin_refuse,
    multiple_results=True,
    at_zero=True,
)
