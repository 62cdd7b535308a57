"""A server of profiles in a running program, and profiles that include those of other processes' servers.

The server answers at `http://localhost:<port>`: `/trace?seconds=2` with a timeline of the next two seconds, `/memory`
with the arrays in memory in pprof's format, `/start` and `/stop` for another program whose profile includes this one.
"""

from __future__ import annotations

import http.server
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from pycompiler._runtime import start_profile, stop_profile
from pycompiler.core.errors import ArgumentError
from pycompiler.core.profile import thread_names
from pycompiler.core.source import warn
from pycompiler.diagnostics.pprof import device_memory_profile

_BUSY = "a profile is being recorded"
# The maximum wait for the answer of another process.
_PATIENCE_S = 60
_MOST_SECONDS = 3600
# The processes are on this machine: requests use no proxy.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class _Handler(http.server.BaseHTTPRequestHandler):
    # Whether `/start` has begun a profile.
    is_recording = False

    def do_GET(self) -> None:
        """Answer a request."""
        address = urllib.parse.urlparse(self.path)
        if address.path == "/memory":
            self._answer(200, device_memory_profile())
        elif address.path == "/stop":
            if not _Handler.is_recording:
                return self._answer(409, b"/start comes first")
            _Handler.is_recording = False
            self._answer(200, stop_profile(thread_names()))
        elif address.path in ("/start", "/trace"):
            try:
                seconds = float(urllib.parse.parse_qs(address.query).get("seconds", ["1"])[0])
            except ValueError:
                seconds = -1
            if not 0 <= seconds <= _MOST_SECONDS:
                return self._answer(400, f"seconds is a number from 0 to {_MOST_SECONDS}".encode())
            thread_names()
            now = time.monotonic_ns()
            if not start_profile():
                return self._answer(409, _BUSY.encode())
            if address.path == "/start":
                _Handler.is_recording = True
                return self._answer(200, str(now).encode())
            time.sleep(seconds)
            self._answer(200, stop_profile(thread_names()))
        else:
            self._answer(404, b"/trace?seconds=1, /memory, /start and /stop are here")
        return None

    def _answer(self, code: int, content: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not printed."""


class ProfilerServer:
    """A server that runs in a thread of its own, until `stop`."""

    def __init__(self, port: int) -> None:
        self._server = http.server.ThreadingHTTPServer(("localhost", port), _Handler)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="profiler server", daemon=True).start()

    def stop(self) -> None:
        """Answer no more, and free the port."""
        self._server.shutdown()
        self._server.server_close()


# The ports of the servers of other processes, by process.
_others: dict[int, int] = {}


def register_subprocess(pid: int, port: int) -> Callable[[], None]:
    """Record a process, whose `start_server` has this port, in each profile of this one. Returns a function that ends
    the registration. Raises ArgumentError for a process that is registered, RuntimeError if no server answers."""
    for name, value in (("pid", pid), ("port", port)):
        if not isinstance(value, int) or isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"register_subprocess: {name} is a number, got {value!r} of type {type(value).__name__}")
    if not 0 < port < 65536:
        raise ValueError(f"register_subprocess: port is a number from 1 to 65535, got {port}")
    if pid in _others:
        raise ArgumentError(f"register_subprocess: process {pid} is registered, with port {_others[pid]}")
    try:
        _ask(port, "/")
    except urllib.error.HTTPError:
        pass
    except OSError as error:
        raise RuntimeError(
            f"register_subprocess: no profiler server answers at port {port} for process {pid}: {error}. What to do: "
            "call profiler.start_server(port) there first"
        ) from None
    _others[pid] = port

    def end() -> None:
        _others.pop(pid, None)

    return end


def start_others() -> dict[int, int]:
    """Start the profiles of the registered processes. Returns their ports, with the clock at the start."""
    started: dict[int, int] = {}
    for port in list(_others.values()):
        try:
            started[port] = int(_ask(port, "/start"))
        except OSError as error:
            for each in started:
                _ask(each, "/stop")
            raise RuntimeError(f"start_trace: the process with the profiler server at port {port}: {error}") from None
    return started


def joined(content: bytes, begin: int, started: dict[int, int]) -> bytes:
    """A profile that began at this clock, joined with the profiles of the others, whose times are moved to this
    clock."""
    if not started:
        return content
    whole = json.loads(content)
    for port, other in started.items():
        try:
            theirs = json.loads(_ask(port, "/stop"))
        except OSError as error:
            warn(f"stop_trace: the profile of the process with the server at port {port} is lost: {error}")
            continue
        for event in theirs["traceEvents"]:
            if "ts" in event:
                event["ts"] += (other - begin) / 1000
        whole["traceEvents"] += theirs["traceEvents"]
        whole["droppedEvents"] += theirs["droppedEvents"]
    return json.dumps(whole).encode()


def _ask(port: int, path: str) -> bytes:
    with _OPENER.open(f"http://localhost:{port}{path}", timeout=_PATIENCE_S) as answer:
        return answer.read()
