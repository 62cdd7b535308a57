"""A trace of another framework, and its bytes in a file, with information for `list` and `explain`.

The bytes are the framework's own form. They run no code of ours before the key has the same versions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pycompiler.cache.entry import DamagedError, opened, seal

_MAGIC = b"PYCTRACE"


@dataclass(frozen=True)
class TraceKey:
    """The key of a trace. `digest` covers all other fields."""

    digest: str
    graph: str
    inputs: str
    settings: str
    versions: str


def pack_trace(key: TraceKey, trace: bytes, about: dict[str, Any]) -> bytes:
    """The bytes of a file. `about` is for people: as that of code."""
    known = {"key": (key.graph, key.inputs, key.settings, key.versions), "trace": trace, "about": about}
    return seal(_MAGIC, key.digest, known, 0)


def unpack_trace(digest: str, data: bytes) -> tuple[TraceKey, bytes, dict[str, Any]]:
    """The arguments of `pack_trace`. Raises DamagedError."""
    known, end, _ = opened(_MAGIC, digest, data)
    if len(data) != end:
        raise DamagedError(f"it has {len(data)} bytes of {end}")
    return TraceKey(digest, *known["key"]), known["trace"], known["about"]
