"""Events of the process: listeners get each recorded event, as in `jax.monitoring`.

Tracing, compilation and the disk cache record events themselves, under JAX's names: the durations
`/jax/core/compile/jaxpr_trace_duration`, `jaxpr_to_mlir_module_duration` and `backend_compile_duration`, with the name
of the function as `fun_name`, and the events `/jax/compilation_cache/cache_hits` and `cache_misses`. Programs record
their own. A listener runs in the thread that records the event.

>>> import pycompiler as pc
>>> compiled = []
>>> def listener(event, duration, **details):
...     if event.endswith("backend_compile_duration"):
...         compiled.append(details["fun_name"])
>>> pc.monitoring.register_event_duration_secs_listener(listener)
>>> @pc.jit
... def halve(x):
...     return x / 2
>>> halve(3.0), halve(4.0)
(Array(1.5, dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
>>> compiled
['halve']
>>> pc.monitoring.unregister_event_duration_listener(listener)
"""

from __future__ import annotations

from collections.abc import Callable

from pycompiler.core import events
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name

__all__ = [
    "clear_event_listeners",
    "record_event",
    "record_event_duration_secs",
    "record_event_time_span",
    "record_scalar",
    "register_event_duration_secs_listener",
    "register_event_listener",
    "register_event_time_span_listener",
    "register_scalar_listener",
    "unregister_event_duration_listener",
    "unregister_event_listener",
    "unregister_event_time_span_listener",
    "unregister_scalar_listener",
]

Listener = Callable[..., None]


def record_event(event: str, **kwargs: str | int) -> None:
    """Record an event: call `listener(event, **kwargs)` of the listeners for events."""
    events.tell(events.of_events, event, **kwargs)


def record_event_duration_secs(event: str, duration: float, **kwargs: str | int) -> None:
    """Record a duration in seconds: call `listener(event, duration, **kwargs)` of the listeners for durations."""
    events.tell(events.of_durations, event, duration, **kwargs)


def record_event_time_span(event: str, start_time: float, end_time: float, **kwargs: str | int) -> None:
    """Record a span between two times, in seconds since the epoch: call `listener(event, start_time, end_time,
    **kwargs)` of the listeners for spans."""
    events.tell(events.of_spans, event, start_time, end_time, **kwargs)


def record_scalar(event: str, value: float | int, **kwargs: str | int) -> None:
    """Record a number: call `listener(event, value, **kwargs)` of the listeners for scalars."""
    events.tell(events.of_scalars, event, value, **kwargs)


def register_event_listener(callback: Listener) -> None:
    """Call a function at each `record_event`. Raises TypeError for an object that is no function."""
    events.add("register_event_listener", events.of_events, callback)


def register_event_duration_secs_listener(callback: Listener) -> None:
    """Call a function at each `record_event_duration_secs`. Raises TypeError for an object that is no function."""
    events.add("register_event_duration_secs_listener", events.of_durations, callback)


def register_event_time_span_listener(callback: Listener) -> None:
    """Call a function at each `record_event_time_span`. Raises TypeError for an object that is no function."""
    events.add("register_event_time_span_listener", events.of_spans, callback)


def register_scalar_listener(callback: Listener) -> None:
    """Call a function at each `record_scalar`. Raises TypeError for an object that is no function."""
    events.add("register_scalar_listener", events.of_scalars, callback)


def unregister_event_listener(callback: Listener) -> None:
    """Remove a listener for events. Raises ValueError for one that is not registered."""
    events.remove("unregister_event_listener", events.of_events, callback)


def unregister_event_duration_listener(callback: Listener) -> None:
    """Remove a listener for durations. Raises ValueError for one that is not registered."""
    events.remove("unregister_event_duration_listener", events.of_durations, callback)


def unregister_event_time_span_listener(callback: Listener) -> None:
    """Remove a listener for spans. Raises ValueError for one that is not registered."""
    events.remove("unregister_event_time_span_listener", events.of_spans, callback)


def unregister_scalar_listener(callback: Listener) -> None:
    """Remove a listener for scalars. Raises ValueError for one that is not registered."""
    events.remove("unregister_scalar_listener", events.of_scalars, callback)


def clear_event_listeners() -> None:
    """Remove all listeners of every kind."""
    events.clear()


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
