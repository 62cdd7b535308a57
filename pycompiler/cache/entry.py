"""The entry of a compilation, and its bytes in a file: a head, information about the code, the code.

The key has the build of the compiler, so only the build that wrote the bytes reads them, and their form may change.
Checksums detect damage; the checksum of the head covers the key, too. The folder, not the checksums, protects against
attacks.
"""

from __future__ import annotations

import hashlib
import marshal
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Aliases = tuple[tuple[int, int], ...]

# Magic, form, bytes of information, bytes of code. The checksum follows.
_HEAD = struct.Struct("<8sIIQ")
_MAGIC = b"PYCCODE\0"
_FORM = 6
_CHECKSUM = 16
_START = _HEAD.size + _CHECKSUM


class DamagedError(Exception):
    """The bytes differ from the written ones. The message describes the difference."""


@dataclass(frozen=True)
class Artifact:
    """Compiled code with the information that the runtime needs: the compiler's result, and the cache's entry."""

    object: bytes
    entry: str
    arena_bytes: int
    flops: float
    is_unbounded: bool
    # For code with loops of unknown length: whether a speculative run ends when the loop budget of its frame is used
    # up.
    has_loop_budget: bool
    # The operations that can fail: the primitive, and the place in the user's code.
    sites: Sequence[tuple[str, str]]
    # The results that are computed in the memory of inputs.
    aliases: Aliases
    # For a GPU: the kernels in the driver's format, and their names; whether a call waits for their results.
    image: bytes = b""
    kernels: tuple[str, ...] = ()
    waits: bool = False
    # The remarks of passes: the kind, the place in the user's code, the text.
    remarks: tuple[tuple[str, str, str], ...] = ()
    # The kernels, assembled, and the assembler. Another assembler can't use them.
    assembled: bytes = b""
    assembler: str = ""


@dataclass(frozen=True)
class Key:
    """The key of an entry. `digest` covers all other fields except the places; code names their lines by number."""

    digest: str
    ir: str
    options: str
    compiler: str
    target: str
    places: tuple[str, ...] = ()


def pack(key: Key, artifact: Artifact, about: dict[str, Any]) -> bytes:
    """The bytes of an entry. `about` is for people: the function's name, the date of the compilation."""
    # The compiler names only places of the graph, and of modules that it calls. The latter are the same everywhere.
    numbers = {place: number for number, place in enumerate(key.places)}
    known = {
        "key": (key.ir, key.options, key.compiler, key.target),
        "about": about,
        "entry": artifact.entry,
        "arena_bytes": artifact.arena_bytes,
        "flops": artifact.flops,
        "is_unbounded": artifact.is_unbounded,
        "has_loop_budget": artifact.has_loop_budget,
        "sites": tuple([(primitive, numbers.get(place, place)) for primitive, place in artifact.sites]),
        "aliases": artifact.aliases,
        "image": len(artifact.image),
        "assembled": len(artifact.assembled),
        "assembler": artifact.assembler,
        "kernels": artifact.kernels,
        "waits": artifact.waits,
        "remarks": tuple([(kind, numbers.get(place, place), text) for kind, place, text in artifact.remarks]),
        "checksum": _checksum(artifact.object, artifact.image, artifact.assembled),
    }
    code = (artifact.object, artifact.image, artifact.assembled)
    return b"".join((seal(_MAGIC, key.digest, known, sum(map(len, code))), *code))


def seal(magic: bytes, digest: str, known: dict[str, Any], following: int) -> bytes:
    """The head and information of an entry, before `following` more bytes, for `opened`."""
    body = marshal.dumps(known, 2)
    head = _HEAD.pack(magic, _FORM, len(body), following)
    return b"".join((head, _checksum(digest.encode(), head, body), body))


def unpack(key: Key, data: bytes) -> Artifact:
    """The artifact that `pack` wrote. Raises DamagedError."""
    known, start, size = opened(_MAGIC, key.digest, data)
    code = data[start:]
    if len(code) != size:
        raise DamagedError(f"it has {len(data)} bytes of {start + size}")
    if not isinstance(known, dict) or _checksum(code) != known.get("checksum"):
        raise DamagedError("the checksum of its code is wrong")
    try:
        return _artifact(key, known, code)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError(f"the information about its code is wrong ({type(error).__name__}: {error})") from None


def _artifact(key: Key, known: dict[str, Any], code: bytes) -> Artifact:
    end = len(code) - known["assembled"]
    begin = end - known["image"]
    return Artifact(
        code[:begin],
        known["entry"],
        known["arena_bytes"],
        known["flops"],
        known["is_unbounded"],
        known["has_loop_budget"],
        [(name, _place(key, place)) for name, place in known["sites"]],
        known["aliases"],
        code[begin:end],
        known["kernels"],
        known["waits"],
        tuple([(kind, _place(key, place), text) for kind, place, text in known["remarks"]]),
        code[end:],
        known["assembler"],
    )


def _place(key: Key, place: int | str) -> str:
    """A place, from its number among the key's places or as itself."""
    return key.places[place] if isinstance(place, int) else place


def describe(digest: str, data: bytes) -> tuple[Key, dict[str, Any]]:
    """The key of an entry without the places, and its information for people. Raises DamagedError."""
    known = opened(_MAGIC, digest, data)[0]
    return Key(digest, *known["key"]), known["about"]


def length(head: bytes) -> int | None:
    """The length of a file of the cache, from its first bytes; None if it is none."""
    if len(head) < _HEAD.size:
        return None
    _, form, known, code = _HEAD.unpack_from(head)
    return _START + known + code if form == _FORM else None


def opened(magic: bytes, digest: str, data: bytes) -> tuple[dict[str, Any], int, int]:
    """The information, and the start and the length of the bytes after it. Raises DamagedError."""
    if len(data) < _START:
        raise DamagedError(f"it has {len(data)} bytes, fewer than its head")
    found, form, known, code = _HEAD.unpack_from(data)
    if found != magic:
        raise DamagedError("it does not begin as an entry does")
    if form != _FORM:
        raise DamagedError(f"it is of form {form}, and this version reads form {_FORM}")
    body = data[_START : _START + known]
    if data[_HEAD.size : _START] != _checksum(digest.encode(), data[: _HEAD.size], body):
        raise DamagedError("the checksum of its head is wrong")
    try:
        return marshal.loads(body), _START + known, code
    except (ValueError, EOFError, TypeError) as error:
        raise DamagedError(f"the information about its code can't be read ({error})") from None


def _checksum(*parts: bytes) -> bytes:
    found = hashlib.blake2b(digest_size=_CHECKSUM)
    for part in parts:
        found.update(part)
    return found.digest()
