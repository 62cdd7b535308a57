"""Batching: a trace whose values have one axis that the function does not see. Each primitive's rule places the axis.

While a rule runs, `axes.mapping` holds its axis. If the rule maps graphs by `map_axes` or `batch_graph`, it maps this
axis, with the same name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.mesh.typed import with_dim, without_dim
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.axes import Axis
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.leaks import check_leaks
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import mapped_size, zeros
from pycompiler.core.tracing.trace import DebugInfo, Trace, Tracer, enter, leaked, leave, names_of
from pycompiler.core.types.aval import get_aval, shaped
from pycompiler.core.types.dtype import canonicalize, is_key


class BatchTracer(Tracer):
    """A value with a mapped axis. A value without one is no tracer of this trace."""

    __slots__ = ("dim", "value")

    def __init__(self, trace: BatchTrace, value: Any, dim: int) -> None:
        self.owner = trace
        self.value = value
        self.dim = dim
        whole = get_aval(value)
        if whole.explicit_sharding is not None:
            self.aval = without_dim(whole, dim)
            return
        shape = whole.shape
        self.aval = ShapedArray(shape[:dim] + shape[dim + 1 :], whole.dtype, whole.weak_type)

    def argument_names(self) -> list[str]:
        trace = self.owner
        assert isinstance(trace, BatchTrace)
        if id(self) in trace.argument_of:
            return [trace.debug_info.argument(trace.argument_of[id(self)])]
        return self.value.argument_names() if isinstance(self.value, Tracer) else []


class BatchTrace(Trace):
    """Applies batching rules to mapped values. Other values are bound unchanged."""

    __slots__ = ("argument_of", "axis")

    maps = True

    def __init__(self, debug_info: DebugInfo, axis: Axis) -> None:
        super().__init__(debug_info)
        self.axis = axis
        self.argument_of: dict[int, int] = {}

    def process(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        values: list[Any] = []
        dims: list[int | None] = []
        for arg in args:
            if isinstance(arg, BatchTracer) and arg.owner is self:
                if self.done:
                    raise leaked(arg)
                values.append(arg.value)
                dims.append(arg.dim)
            else:
                values.append(arg)
                dims.append(None)
        if type(self.axis.size) is int and self.axis.size == 0 and not names_of(primitive, params):
            empty = self._of_nothing(primitive, args, params)
            if empty is not None:
                return empty
        before = axes.swap_mapping(self.axis)
        try:
            out, out_dims = primitive.batch(values, dims, **params)
        finally:
            axes.swap_mapping(before)
        if primitive.multiple_results:
            return tuple([self.wrap(x, d) for x, d in zip(out, out_dims, strict=True)])
        return self.wrap(out, out_dims)

    def _of_nothing(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The results for an axis without members: empty arrays, so that few rules handle this case. None for keys, and
        for the 64-bit words of keys, which have no literals."""
        found = primitive.shape_rule(*map(get_aval, args), **params)
        avals = found if primitive.multiple_results else (found,)
        if any(is_key(aval.dtype) or canonicalize(aval.dtype) != aval.dtype for aval in avals):
            return None
        outs = [self.wrap(zeros(shaped((0, *a.shape), a.dtype, a.weak_type)), 0) for a in avals]
        return tuple(outs) if primitive.multiple_results else outs[0]

    def wrap(self, x: Any, dim: int | None) -> Any:
        """A tracer for a value with a mapped axis; for one without, the value itself."""
        return x if dim is None else BatchTracer(self, x, dim)

    def split(self, x: Any) -> tuple[Any, int | None]:
        """The value of a result with the mapped axis in its shape, and the position of this axis."""
        if isinstance(x, BatchTracer) and x.owner is self:
            return x.value, x.dim
        return x, None


def map_axes(
    function: Callable[..., Sequence[Any]],
    args: Sequence[Any],
    dims: Sequence[int | None],
    debug_info: DebugInfo,
    axis: Axis | None = None,
) -> tuple[list[Any], list[int | None]]:
    """The results of a flat function mapped over the given axes, with the axis of each (None: not mapped).

    `axis` is the mapped axis. In a batching rule, it is by default the axis of the rule.
    """
    axis = axis or axes.mapping()
    if axis is None:
        axis = Axis(None, mapped_size(args, dims))
    trace = BatchTrace(debug_info, axis)
    tracers = [trace.wrap(x, d) for x, d in zip(args, dims, strict=True)]
    trace.argument_of = {id(tracer): i for i, tracer in enumerate(tracers) if isinstance(tracer, BatchTracer)}
    enter(trace)
    try:
        with axes.bound(axis.name, axis.size, trace):
            pairs = [trace.split(out) for out in function(*tracers)]
    finally:
        leave()
        trace.finish()
    del tracers
    check_leaks(trace)
    return [x for x, _ in pairs], [d for _, d in pairs]


def batch_graph(
    closed: ClosedGraph, dims: tuple[int | None, ...], size: Dimension
) -> tuple[ClosedGraph, tuple[int | None, ...]]:
    """The graph mapped over these axes of its inputs, and the mapped axis of each result."""

    def make() -> tuple[ClosedGraph, tuple[int | None, ...]]:
        out_dims: list[int | None] = []

        def run(*args: Any) -> list[Any]:
            outs, found = map_axes(lambda *xs: evaluate(closed, xs), args, dims, DebugInfo("vmap", evaluate))
            out_dims.extend(found)
            return outs

        avals = [
            a if d is None else with_dim(a, d, size, names, mesh) for a, d in zip(closed.in_avals, dims, strict=True)
        ]
        return record(run, avals, DebugInfo("vmap", evaluate)), tuple(out_dims)

    mapping = axes.mapping()
    names, mesh = ((), None) if mapping is None else mapping.explicit
    return closed.derive(("batch", dims, size, axes.mapping_spmd(), names), make)
