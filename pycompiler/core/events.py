"""Named events of the process, and their listeners: `pycompiler.monitoring` is their public face.

Tracing, compilation and the disk cache report under the names that JAX gives these moments. Without a listener a report
costs one test of a list.
"""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from typing import Any

TRACE = "/jax/core/compile/jaxpr_trace_duration"
TO_MODULE = "/jax/core/compile/jaxpr_to_mlir_module_duration"
COMPILE = "/jax/core/compile/backend_compile_duration"
CACHE_USED = "/jax/compilation_cache/tasks_using_cache"
CACHE_OFF = "/jax/compilation_cache/task_disabled_cache"
CACHE_REQUEST = "/jax/compilation_cache/compile_requests_use_cache"
CACHE_HIT = "/jax/compilation_cache/cache_hits"
CACHE_MISS = "/jax/compilation_cache/cache_misses"
CACHE_READ = "/jax/compilation_cache/cache_retrieval_time_sec"

# The listeners of each kind of event.
of_events: list[Callable[..., None]] = []
of_durations: list[Callable[..., None]] = []
of_spans: list[Callable[..., None]] = []
of_scalars: list[Callable[..., None]] = []
_KINDS = (of_events, of_durations, of_spans, of_scalars)


def tell(listeners: list[Callable[..., None]], event: str, *values: Any, **details: Any) -> None:
    """Call the listeners, in the order of their registration."""
    for listener in tuple(listeners):
        listener(event, *values, **details)


def add(what: str, listeners: list[Callable[..., None]], listener: Callable[..., None]) -> None:
    """Register a listener."""
    if not callable(listener):
        raise TypeError(f"{what}: takes a function, got {listener!r} of type {type(listener).__name__}")
    listeners.append(listener)


def remove(what: str, listeners: list[Callable[..., None]], listener: Callable[..., None]) -> None:
    """Take a listener away. Raises ValueError for one that is not registered."""
    if listener not in listeners:
        raise ValueError(f"{what}: {listener!r} is not registered")
    listeners.remove(listener)


def clear() -> None:
    """Take all listeners away."""
    for listeners in _KINDS:
        listeners.clear()


class Measured:
    """A context manager that reports the duration of its block, unless the block raises."""

    __slots__ = ("_event", "_name", "_start")

    def __init__(self, event: str, name: str) -> None:
        self._event = event
        self._name = name
        self._start = 0.0

    def __enter__(self) -> None:
        if of_durations or of_spans or of_scalars:
            self._start = time.time()
            tell(of_scalars, self._event, self._start, fun_name=self._name)

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        if self._start and error is None:
            end = time.time()
            tell(of_durations, self._event, end - self._start, fun_name=self._name)
            tell(of_spans, self._event, self._start, end, fun_name=self._name)
