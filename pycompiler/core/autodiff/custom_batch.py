"""Batching a function with its own derivative: its rules run on mapped values.

Every result gets a mapped axis, in front. The mapped axis of a residual keeps its position.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray, current_trace
from pycompiler.core.batching.batch import BatchTrace
from pycompiler.core.dims.dims import Dimension
from pycompiler.core.tracing.axes import Axis, bound
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.primitive import Zero
from pycompiler.core.tracing.structural import reduce_sum, with_batch_dim
from pycompiler.core.tracing.trace import DebugInfo, Trace, Tracer
from pycompiler.core.types.aval import shaped

Values = Sequence[Any]
# (primals, tangents) -> (results, their tangents). Tangents, given or returned, may be Zeros.
Rule = Callable[[Values, Values], tuple[Values, Values]]
# (residuals, cotangents of the results) -> cotangents of the arguments. Any of them may be a Zero.
Backward = Callable[[Values, Values], Values]
# (primals, which of them vary) -> (results, residuals, backward).
Forward = Callable[[Values, Sequence[bool]], tuple[Values, Values, Backward]]


class Custom:
    """A flat function with its own derivative: `rule` for both modes, or `forward` for reverse mode."""

    __slots__ = ("flat", "forward", "function", "key", "name", "rule")

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        flat: Callable[..., Values],
        rule: Rule | None = None,
        forward: Forward | None = None,
        key: Hashable = None,
    ) -> None:
        self.name = name
        # Equal for functions with the same rules and the same values in them. None: not known.
        self.key: Hashable = object() if key is None else key
        # The user's function, for messages.
        self.function = function
        self.flat = flat
        self.rule = rule
        self.forward = forward

    @property
    def kind(self) -> str:
        """The public name of the decorator that made it."""
        return "custom_jvp" if self.rule is not None else "custom_vjp"

    def debug_info(self) -> DebugInfo:
        """The debug info for a trace of the function."""
        return DebugInfo(self.kind, self.function)

    def __repr__(self) -> str:
        return self.name


def newest_trace(values: Values) -> Trace | None:
    """The newest trace among those of the values and the current one."""
    newest = current_trace()
    for x in values:
        if isinstance(x, Tracer) and (newest is None or x.owner.level > newest.level):
            newest = x.owner
    return newest


class Axes:
    """The position of the mapped axis in each value, and running a function of the values under a batch trace."""

    __slots__ = ("axis", "dims", "trace")

    def __init__(self, trace: BatchTrace | None, dims: Sequence[int | None], axis: Axis) -> None:
        self.trace = trace
        self.dims = dims
        self.axis = axis

    @property
    def size(self) -> Dimension:
        """The size of the mapped axis."""
        return self.axis.size

    def run(self, values: Values, function: Callable[[BatchTrace], Any]) -> Any:
        """The result of `function(trace)`, which wraps the values by this trace. The trace is that of the original
        call: the user's function may close over tracers of the call, even if the function runs later. If a newer trace
        takes part, `trace` is a new batch trace."""
        trace = self.trace
        running = newest_trace(values)
        if trace is None or (running is not None and running.level > trace.level):
            trace = BatchTrace(DebugInfo("vmap", evaluate), self.axis)
            trace.done = True
        was_done, trace.done = trace.done, False
        try:
            # The name of the axis is in scope, even after the end of the vmap.
            with bound(self.axis.name, self.axis.size, trace):
                return function(trace)
        finally:
            trace.done = was_done

    def wrap(self, trace: BatchTrace, values: Values) -> list[Any]:
        """Tracers for the values, which may be Zeros."""
        return [
            Zero(_without(x.aval, d)) if type(x) is Zero else trace.wrap(x, d)
            for x, d in zip(values, self.dims, strict=True)
        ]

    def place(self, trace: BatchTrace, outs: Values) -> list[Any]:
        """The values of results, each with the mapped axis in front."""
        return [self._move_mapped_axis(trace, out, 0) for out in outs]

    def gather(self, trace: BatchTrace, cotangents: Values) -> list[Any]:
        """The cotangents of the values, with the mapped axis. For a value that is not mapped, the sum over the axis."""
        return [
            self._move_mapped_axis(trace, ct, dim) if dim is not None else self._sum(trace, ct)
            for ct, dim in zip(cotangents, self.dims, strict=True)
        ]

    def _move_mapped_axis(self, trace: BatchTrace, out: Any, dim: int) -> Any:
        if type(out) is Zero:
            shape = out.aval.shape
            return Zero(shaped((*shape[:dim], self.size, *shape[dim:]), out.aval.dtype))
        x, own = trace.split(out)
        return with_batch_dim(x, own, dim, self.size)

    def _sum(self, trace: BatchTrace, cotangent: Any) -> Any:
        if type(cotangent) is Zero:
            return cotangent
        return reduce_sum.bind(self._move_mapped_axis(trace, cotangent, 0), axes=(0,))


def _without(aval: ShapedArray, dim: int | None) -> ShapedArray:
    return aval if dim is None else shaped((*aval.shape[:dim], *aval.shape[dim + 1 :]), aval.dtype, aval.weak_type)


def batched(custom: Custom, axes: Axes) -> Custom:
    """The function over a batch, with its rules over a batch."""

    def flat(*values: Any) -> Values:
        return axes.run(values, lambda trace: axes.place(trace, custom.flat(*axes.wrap(trace, values))))

    rule = None if custom.rule is None else _batched_rule(custom.rule, axes)
    forward = None if custom.forward is None else _batched_forward(custom.forward, axes)
    key = ("batched", custom.key, tuple(axes.dims), axes.axis) if axes.trace is None else None
    return Custom(custom.name, custom.function, flat, rule, forward, key)


def _batched_rule(rule: Rule, axes: Axes) -> Rule:
    def mapped(primals: Values, tangents: Values) -> tuple[Values, Values]:
        def run(trace: BatchTrace) -> tuple[Values, Values]:
            outs, out_tangents = rule(axes.wrap(trace, primals), axes.wrap(trace, tangents))
            return axes.place(trace, outs), axes.place(trace, out_tangents)

        return axes.run((*primals, *tangents), run)

    return mapped


def _batched_forward(forward: Forward, axes: Axes) -> Forward:
    def mapped(primals: Values, varying: Sequence[bool]) -> tuple[Values, Values, Backward]:
        def run(trace: BatchTrace) -> tuple[Values, Values, Backward]:
            outs, residuals, backward = forward(axes.wrap(trace, primals), varying)
            pairs = [trace.split(x) for x in residuals]
            kept = Axes(axes.trace, [d for _, d in pairs], axes.axis)
            results = Axes(axes.trace, [0] * len(outs), axes.axis)
            return axes.place(trace, outs), [x for x, _ in pairs], _batched_backward(backward, kept, results, axes)

        return axes.run(primals, run)

    return mapped


def _batched_backward(backward: Backward, kept: Axes, results: Axes, axes: Axes) -> Backward:
    def mapped(residuals: Values, cotangents: Values) -> Values:
        def run(trace: BatchTrace) -> Values:
            return axes.gather(trace, backward(kept.wrap(trace, residuals), results.wrap(trace, cotangents)))

        return axes.run((*residuals, *cotangents), run)

    return mapped
