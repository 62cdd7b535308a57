"""The traces that run: to compare them, to leave and set them, for interpreters that users write."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Generator
from typing import Any

from pycompiler._runtime import swap_trace
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.trace import DebugInfo, Primitive, Trace, current_trace, innermost_trace, running_traces


class EvaluationTrace(Trace):
    """Stands for no trace: operations are computed at once."""

    __slots__ = ()

    def process(self, primitive: Primitive, args: Any, params: dict[str, Any]) -> Any:
        """The result of the operation."""
        with take_current_trace():
            return primitive.bind(*args, **params)


evaluation_trace = EvaluationTrace(DebugInfo("evaluation", None))


class OpaqueTraceState:
    """A state that can be compared: whether the same function runs under the same trace."""

    __slots__ = ("_trace",)

    def __init__(self, trace: Trace | None) -> None:
        self._trace = None if trace is None else weakref.ref(trace)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpaqueTraceState) and self._trace == other._trace

    def __hash__(self) -> int:
        return hash(self._trace)


def get_opaque_trace_state(convention: str | None = None) -> OpaqueTraceState:
    """The present state: two are equal if the same trace runs innermost."""
    return OpaqueTraceState(innermost_trace())


def find_top_trace(tracers: Any = ()) -> Trace:
    """The trace that runs innermost; outside of all, one that stands for evaluation."""
    return innermost_trace() or evaluation_trace


@contextlib.contextmanager
def set_current_trace(trace: Trace | None) -> Generator[None]:
    """A context in which operations go to this trace, also those on values alone. None: they are computed at once."""
    previous = swap_trace(None if isinstance(trace, EvaluationTrace) else trace)
    try:
        yield
    finally:
        swap_trace(previous)


@contextlib.contextmanager
def take_current_trace() -> Generator[Trace]:
    """A context in which operations on values are computed at once. It gives the trace that would have taken them."""
    previous = swap_trace(None)
    try:
        yield evaluation_trace if previous is None else previous
    finally:
        swap_trace(previous)


def is_recording() -> bool:
    """Whether a graph is being recorded: by jit, a loop, make_jaxpr."""
    return current_trace() is not None


def is_mapping() -> bool:
    """Whether a function that vmap maps runs."""
    return any(trace.maps for trace in running_traces())


def axis_names() -> list[Any]:
    """The names of mapped axes in scope."""
    return list(axes.in_scope())
