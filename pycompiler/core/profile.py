"""What Python does, said to the runtime's recorder: tracing, compiling, and what the user marks (`profiler`).

While nothing records, a scope costs two calls; see runtime/include/runtime/Profile.h for what the runtime says itself.
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
    # Nothing else of the package needs it when it is imported.
    return importlib.import_module("json")


# Names of the threads that said something: a thread may have ended when they are asked for.
_thread_names: dict[int, str] = {}


def thread_names() -> dict[int, str]:
    """By the system's ids, of the threads that run, and of those that said something since this was called last."""
    names = {**_thread_names, **{thread.native_id or 0: thread.name for thread in threading.enumerate()}}
    _thread_names.clear()
    return names


def record(kind: str, name: str, start: int, end: int, **details: Any) -> None:
    """Say what this thread did between two times of `profile_now`. Details that JSON does not know are shown by str."""
    members = _json().dumps(details, default=str)[1:-1] if details else ""
    _thread_names[threading.get_native_id()] = threading.current_thread().name
    record_span(kind, name, start, end, members)


class Scope:
    """A context manager: what this thread does meanwhile is one event. It may be entered again once it was left."""

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
