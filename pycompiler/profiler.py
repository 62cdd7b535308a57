"""A timeline of each thread for https://ui.perfetto.dev, with the program's own marks.

    with pycompiler.profiler.trace("/tmp/trace"):
        train_step(params, batch)

writes `plugins/profile/<time>/perfetto_trace.json.gz` below the directory: open https://ui.perfetto.dev and load the
file there, or unpack it and open it in chrome://tracing. One row for each thread shows tracing, compilation and its
stages, enqueued calls, runs (with the name of the jitted function, the line of the call among their arguments, and an
arrow from the enqueued call), copies, callbacks and waits. It keeps a million events and counts later ones as
`droppedEvents`. The format is Chrome's Trace Event Format. A profile covers this process, and those of
`register_subprocess`. `ProfileData.from_file` reads it. `start_server` makes profiles of a running program:

    curl 'localhost:9999/trace?seconds=2' > trace.json
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pycompiler._runtime import start_profile, stop_profile
from pycompiler.core.profile import Scope, thread_names
from pycompiler.core.tracing.boundary import protect
from pycompiler.diagnostics.pprof import device_memory_profile, save_device_memory_profile
from pycompiler.diagnostics.profile_data import ProfileData, ProfileEvent, ProfilePlane
from pycompiler.lax.names import nearest_name

if TYPE_CHECKING:
    from pycompiler.diagnostics.profile_server import ProfilerServer

__all__ = [
    "ProfileData",
    "ProfileEvent",
    "ProfilePlane",
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "register_subprocess",
    "save_device_memory_profile",
    "start_server",
    "start_trace",
    "stop_server",
    "stop_trace",
    "trace",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")

# The directory of the current profile.
_directory: Path | None = None
# The clock at its start, and the other processes that record, by the ports of their servers.
_begin = 0
_started: dict[int, int] = {}
_server: ProfilerServer | None = None
_lock = threading.Lock()


def start_trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: None = None,
) -> None:
    """Record from now on, until `stop_trace`, which writes the trace below `log_dir`.

    The trace is always Perfetto's, so `create_perfetto_trace` changes nothing. Raises RuntimeError while something is
    being recorded, ValueError for `create_perfetto_link` (no server provides a link) and for `profiler_options` (none
    exist).
    """
    global _directory, _begin, _started
    if create_perfetto_link:
        raise ValueError(
            "start_trace: create_perfetto_link would need a server: load the file at https://ui.perfetto.dev"
        )
    if profiler_options is not None:
        raise ValueError(f"start_trace: profiler_options must be None, there are no options, got {profiler_options!r}")
    with _lock:
        if _directory is not None:
            raise RuntimeError(f"start_trace: a profile is being recorded for {_directory}: call stop_trace first")
        directory = Path(log_dir)
        directory.mkdir(parents=True, exist_ok=True)
        thread_names()
        _begin = time.monotonic_ns()
        if not start_profile():
            raise RuntimeError("start_trace: a profile is being recorded")
        try:
            _started = _servers().start_others() if _have_others else {}
        except BaseException:
            stop_profile(thread_names())
            raise
        _directory = directory


def stop_trace() -> None:
    """End the recording and write the trace. Raises RuntimeError when nothing is being recorded.

    `stop_trace` does not wait for running calls: to include them, wait for their results first.
    """
    global _directory
    with _lock:
        if _directory is None:
            raise RuntimeError("stop_trace: nothing is being recorded: call start_trace first")
        directory, _directory = _directory, None
        content = stop_profile(thread_names())
        if _started:
            content = _servers().joined(content, _begin, _started)
        folder = directory / "plugins" / "profile" / time.strftime("%Y_%m_%d_%H_%M_%S")
        folder.mkdir(parents=True, exist_ok=True)
        with importlib.import_module("gzip").open(folder / "perfetto_trace.json.gz", "wb", 6) as file:
            file.write(content)


# Whether processes have been registered: the server's module is loaded at its first use.
_have_others = False


def _servers() -> Any:
    return importlib.import_module("pycompiler.diagnostics.profile_server")


def start_server(port: int, requires_backend: bool = True) -> ProfilerServer:
    """Serve profiles of this process at `http://localhost:<port>` until `stop_server`; port 0 is any free one.

    `/trace?seconds=2` records the next two seconds and answers with the timeline, `/memory` with the arrays in memory
    in pprof's format. `requires_backend` changes nothing. Raises ValueError while a server runs.

    >>> import json, urllib.request
    >>> import pycompiler as pc
    >>> server = pc.profiler.start_server(0)
    >>> with urllib.request.urlopen(f"http://localhost:{server.port}/trace?seconds=0.01") as answer:
    ...     print(sorted(json.load(answer)))
    ['displayTimeUnit', 'droppedEvents', 'traceEvents']
    >>> pc.profiler.stop_server()
    """
    global _server
    with _lock:
        if _server is not None:
            raise ValueError(f"start_server: a server runs at port {_server.port}: call stop_server first")
        server = _server = _servers().ProfilerServer(port)
    return server


def stop_server() -> None:
    """End the server. Raises ValueError when none runs."""
    global _server
    with _lock:
        if _server is None:
            raise ValueError("stop_server: no server runs: call start_server first")
        server, _server = _server, None
    server.stop()


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Record another process, which has called `start_server(port)`, in each profile of this one from now on.

    Returns a function that ends the registration. Raises ValueError for a process that is registered already,
    RuntimeError if no server answers at the port.
    """
    global _have_others
    remove = _servers().register_subprocess(pid, port)
    _have_others = True
    return remove


@contextlib.contextmanager
def trace(
    log_dir: os.PathLike[str] | str,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    profiler_options: None = None,
) -> Generator[None]:
    """Record a block, and write the trace below `log_dir`, also if the block raises. The errors are `start_trace`'s.

    >>> import glob, tempfile
    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     with pc.profiler.trace(directory):
    ...         _ = pnp.ones(3).sum().block_until_ready()
    ...     print(len(glob.glob(f"{directory}/plugins/profile/*/perfetto_trace.json.gz")))
    1
    """
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


class TraceAnnotation(Scope):
    """A context manager that shows a block of the program in the trace, with its keywords.

    >>> import pycompiler as pc
    >>> with pc.profiler.TraceAnnotation("load", batch=3):
    ...     pass
    """

    __slots__ = ()

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__("user", name, **kwargs)


class StepTraceAnnotation(TraceAnnotation):
    """A TraceAnnotation around one step of a loop, whose number is `step_num=`.

    >>> import pycompiler as pc
    >>> for step in range(2):
    ...     with pc.profiler.StepTraceAnnotation("train", step_num=step):
    ...         pass
    """

    __slots__ = ()

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        if "step_num" in kwargs:
            self.name = f"{name} {kwargs['step_num']}"


def annotate_function(func: Callable[_P, _R], name: str | None = None, **decorator_kwargs: Any) -> Callable[_P, _R]:
    """A decorator that shows every call of `func` in the trace, under `name` or its own name, with the keywords.

    >>> import pycompiler as pc
    >>> @pc.profiler.annotate_function
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    if name is not None and not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"annotate_function: name is a string, got {name!r}")
    shown = name or getattr(func, "__qualname__", None) or type(func).__qualname__

    @functools.wraps(func)
    def annotated(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with TraceAnnotation(shown, **decorator_kwargs):
            return func(*args, **kwargs)

    return annotated


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
