"""Reading a profile: its processes, threads and events, under the names of `jax.profiler.ProfileData`."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pycompiler.core.errors import ArgumentError


class ProfileEvent(NamedTuple):
    """An activity of a thread for some time. Times are from the start of the profile."""

    name: str
    start_ns: float
    duration_ns: float
    # Names and values: the category, and the details of the event.
    stats: list[tuple[str, Any]]

    @property
    def end_ns(self) -> float:
        """The time at which it ended."""
        return self.start_ns + self.duration_ns


class ProfileLine(NamedTuple):
    """A thread with its events, in the order of their starts."""

    name: str
    events: list[ProfileEvent]


class ProfilePlane(NamedTuple):
    """A process with its threads."""

    name: str
    lines: list[ProfileLine]
    stats: list[tuple[str, Any]]


class ProfileData:
    """A profile that `trace` or `stop_trace` has written: a plane for each process, a line for each thread.

    >>> import glob, tempfile
    >>> import pycompiler as pc
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     with pc.profiler.trace(directory), pc.profiler.TraceAnnotation("load", batch=3):
    ...         pass
    ...     (file,) = glob.glob(f"{directory}/plugins/profile/*/*")
    ...     data = pc.profiler.ProfileData.from_file(file)
    >>> [(event.name, event.stats) for plane in data.planes for line in plane.lines for event in line.events]
    [('load', [('category', 'user'), ('batch', 3)])]
    """

    def __init__(self, planes: list[ProfilePlane]) -> None:
        self._planes = planes

    @staticmethod
    def from_file(proto_file_path: os.PathLike[str] | str) -> ProfileData:
        """The profile in a file, `perfetto_trace.json.gz` or unpacked. Raises ArgumentError for another one."""
        content = Path(proto_file_path).read_bytes()
        try:
            if content[:2] == b"\x1f\x8b":
                content = importlib.import_module("gzip").decompress(content)
            events = json.loads(content)["traceEvents"]
        except (OSError, ValueError, KeyError, TypeError):
            raise ArgumentError(
                f"ProfileData.from_file: {os.fspath(proto_file_path)} is no profile of this package, which is "
                "perfetto_trace.json.gz below the directory of the trace"
            ) from None
        return ProfileData(_planes(events))

    @property
    def planes(self) -> Iterator[ProfilePlane]:
        """The processes."""
        return iter(self._planes)

    def find_plane_with_name(self, name: str) -> ProfilePlane | None:
        """The process of this name, "/host:CPU/<its number>"; None without one."""
        return next((plane for plane in self._planes if plane.name == name), None)


def _planes(events: list[Mapping[str, Any]]) -> list[ProfilePlane]:
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    found: dict[int, dict[int, list[ProfileEvent]]] = {}
    for e in events:
        if e["ph"] == "X":
            stats = [("category", e.get("cat", "")), *e.get("args", {}).items()]
            event = ProfileEvent(e["name"], e["ts"] * 1000, e["dur"] * 1000, stats)
            found.setdefault(e["pid"], {}).setdefault(e["tid"], []).append(event)
    return [
        ProfilePlane(
            f"/host:CPU/{pid}",
            [
                ProfileLine(names.get((pid, tid), str(tid)), sorted(some, key=lambda event: event.start_ns))
                for tid, some in threads.items()
            ],
            [("process", pid)],
        )
        for pid, threads in found.items()
    ]
