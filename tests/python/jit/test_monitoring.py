"""`monitoring`: what programs record, and what tracing, compilation and the disk cache record themselves."""

import subprocess
import sys

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import monitoring

KINDS = {
    "register_event_listener": ("record_event", (), "unregister_event_listener"),
    "register_event_duration_secs_listener": (
        "record_event_duration_secs",
        (1.5,),
        "unregister_event_duration_listener",
    ),
    "register_event_time_span_listener": ("record_event_time_span", (1.5, 2.5), "unregister_event_time_span_listener"),
    "register_scalar_listener": ("record_scalar", (3,), "unregister_scalar_listener"),
}


@pytest.fixture(autouse=True)
def _no_listeners_stay():
    yield
    monitoring.clear_event_listeners()


@pytest.mark.parametrize("register", KINDS)
def test_a_listener_gets_the_events_of_its_kind(register):
    record, values, unregister = KINDS[register]
    heard, other = [], []

    def listener(*args, **details):
        heard.append((*args, details))

    for name in KINDS:
        getattr(monitoring, name)(listener if name == register else lambda *args, **details: other.append(args))
    getattr(monitoring, record)("/my/event", *values, step=3)
    assert heard == [("/my/event", *values, {"step": 3})]
    assert other == []
    getattr(monitoring, unregister)(listener)
    getattr(monitoring, record)("/my/event", *values)
    assert len(heard) == 1
    with pytest.raises(ValueError, match=f"{unregister}: .* is not registered"):
        getattr(monitoring, unregister)(listener)
    with pytest.raises(TypeError, match=f"{register}: takes a function, got 3"):
        getattr(monitoring, register)(3)


def test_all_listeners_are_taken_away():
    heard = []
    for name in KINDS:
        getattr(monitoring, name)(lambda *args, **details: heard.append(args))
    monitoring.clear_event_listeners()
    for record, values, _ in KINDS.values():
        getattr(monitoring, record)("/my/event", *values)
    assert heard == []


def test_durations_of_a_compilation():
    durations, spans = [], []
    monitoring.register_event_duration_secs_listener(lambda event, secs, **more: durations.append((event, secs, more)))
    monitoring.register_event_time_span_listener(lambda event, start, end, **more: spans.append((event, end - start)))

    @pc.jit
    def squared(x):
        return x * x + 0.125

    squared(pnp.arange(3.0))
    own = [(event, secs) for event, secs, more in durations if more.get("fun_name") == "squared"]
    names = {event.removeprefix("/jax/core/compile/") for event, _ in own}
    assert {"jaxpr_trace_duration", "backend_compile_duration"} <= names
    assert all(0 < secs < 60 for _, secs in own)
    assert set(own) <= set(spans)
    durations.clear()
    squared(pnp.arange(3.0))
    assert durations == []


_PROGRAM = """
import pycompiler as pc
heard = []
pc.monitoring.register_event_listener(lambda event, **_: heard.append(event.rpartition("/")[2]))
pc.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: heard.append(event.rpartition("/")[2]))
pc.jit(lambda x: x * 3 + 1)(2.0)
print(*heard)
"""


def test_events_of_the_disk_cache(tmp_path):
    def run(**settings):
        env = {"PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path), "PATH": "", **settings}
        return subprocess.run([sys.executable, "-c", _PROGRAM], env=env, capture_output=True, text=True).stdout.split()

    first, second = run(), run()
    assert {"tasks_using_cache", "compile_requests_use_cache", "cache_misses"} <= {*first}
    assert "jaxpr_to_mlir_module_duration" in first
    assert "cache_hits" not in first
    assert {"cache_hits", "cache_retrieval_time_sec", "backend_compile_duration"} <= {*second}
    assert {"cache_misses", "jaxpr_to_mlir_module_duration"}.isdisjoint(second)
    off = run(PYCOMPILER_ENABLE_COMPILATION_CACHE="0")
    assert "task_disabled_cache" in off
    assert {"tasks_using_cache", "cache_misses"}.isdisjoint(off)
