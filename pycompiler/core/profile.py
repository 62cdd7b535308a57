"""Events of Python for the runtime's recorder: tracing, compiling, and scopes that the user marks (`profiler`).

While nothing records, a scope costs two calls. runtime/include/runtime/Profile.h lists the runtime's own events.
"""

from __future__ import annotations

import functools
import importlib
import threading
import types
from typing import Any

from pycompiler._runtime import is_profiling, profile_now, record_span


@functools.cache
def _json() -> Any:
    # Imported late: nothing else of the package needs json at import.
    return importlib.import_module("json")


# Names of the threads that recorded events. A thread may end before the names are read.
_thread_names: dict[int, str] = {}


def thread_names() -> dict[int, str]:
    """By system id, the names of running threads, and of threads that recorded events since the last call."""
    names = {**_thread_names, **{thread.native_id or 0: thread.name for thread in threading.enumerate()}}
    _thread_names.clear()
    return names


def record(kind: str, name: str, start: int, end: int, **details: Any) -> None:
    """Record an action of this thread between two times of `profile_now`. Details unknown to JSON become text."""
    members = _json().dumps(details, default=str)[1:-1] if details else ""
    _thread_names[threading.get_native_id()] = threading.current_thread().name
    record_span(kind, name, start, end, members)


class Scope:
    """A context manager that records its block as one event. It can be entered again after it was left."""

    __slots__ = ("_start", "details", "kind", "name")

    def __init__(self, kind: str, name: str, **details: Any) -> None:
        self.kind = kind
        self.name = name
        self.details = details
        self._start = 0

    def __enter__(self) -> None:
        self._start = profile_now() if is_profiling() else 0

    def __exit__(
        self, cls: type[BaseException] | None, error: BaseException | None, traceback: types.TracebackType | None
    ) -> None:
        if self._start:
            record(self.kind, self.name, self._start, profile_now(), **self.details)
