"""The bytes of an exported function: a head, a description in JSON, the modules in MLIR's bytecode, the constants.

`exported` imports this module and interprets the description. All numbers are little-endian.

    0    8  MAGIC
    8    4  the version of this format (FORMAT)
    12   4  bytes of the description
    16   8  bytes of the sections, which follow it
    24  32  the version of the package that wrote it, padded with zeros: readable in every version of the format
    56  32  blake2b of all bytes before it, and of all bytes after it
    88      the description, then the sections, each at a multiple of ALIGNMENT from the first

A change that earlier readers would misread raises FORMAT. Data that they may ignore becomes a new entry of the JSON.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from pycompiler.export.damage import DeserializationError, damaged, entry, part
from pycompiler.version import __version__

MAGIC = b"\x89PCX\r\n\x1a\n"
FORMAT = 1
# The latest readable version of the array dialect. It is the compiler's version, stated here so that nothing loads it.
DIALECT = 1
ALIGNMENT = 64

_HEAD = struct.Struct("<8sIIQ32s")
_CHECKSUM = 32
_START = _HEAD.size + _CHECKSUM


class Section(NamedTuple):
    """A place among the sections."""

    offset: int
    size: int


class Writer:
    """Collects sections. Equal sections are stored once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._known: dict[bytes, Section] = {}

    def add(self, data: bytes) -> Section:
        """The place of the bytes among the sections."""
        key = hashlib.blake2b(data, digest_size=32).digest()
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = Section(self._size, len(data))
            padding = -len(data) % ALIGNMENT
            self._parts += (data, bytes(padding))
            self._size += len(data) + padding
        return known

    def seal(self, description: dict[str, Any]) -> bytearray:
        """The bytes of the file. Entries of the description that JSON cannot write are left out."""
        body = json.dumps({"dialect": DIALECT, **description}, sort_keys=True).encode()
        head = _HEAD.pack(MAGIC, FORMAT, len(body), self._size, __version__.encode())
        return bytearray(b"".join((head, _checksum(head, body, self._parts), body, *self._parts)))


def _checksum(head: bytes, body: bytes | memoryview, parts: Sequence[bytes | memoryview]) -> bytes:
    found = hashlib.blake2b(head, digest_size=_CHECKSUM)
    found.update(body)
    for each in parts:
        found.update(each)
    return found.digest()


class Opened(NamedTuple):
    """The contents of a file: the description, which has functions, the sections, and the writer, for messages."""

    description: dict[str, Any]
    sections: memoryview
    about: str

    def section(self, place: Any) -> memoryview:
        """The bytes at a place of the description. Raises TypeError, ValueError."""
        offset, size = place
        if type(offset) is not int or type(size) is not int or not 0 <= offset <= offset + size <= len(self.sections):
            raise ValueError(f"{place!r} is not a place among the {len(self.sections)} bytes of the sections")
        return self.sections[offset : offset + size]


def opened(blob: bytes | bytearray | memoryview) -> Opened:
    """The contents of a file. Raises DeserializationError, with the versions, for bytes that are not an exported
    function, are truncated or damaged, or have a later version."""
    data = memoryview(bytes(blob))
    if bytes(data[: len(MAGIC)]) != MAGIC[: len(data)] or len(data) < len(MAGIC):
        raise DeserializationError(
            f"deserialize: these {len(data)} bytes are not an exported function: they begin with "
            f"{bytes(data[: len(MAGIC)])!r}, not with {MAGIC!r}"
        )
    if len(data) < _START:
        raise DeserializationError(
            f"deserialize: the exported function is cut off: it has {len(data)} bytes, fewer than its head"
        )
    _, form, body_size, size, version = _HEAD.unpack_from(data)
    writer = version.rstrip(b"\0").decode(errors="replace")
    about = f"written by pycompiler {writer} in version {form} of the format"
    if form > FORMAT:
        raise DeserializationError(
            f"deserialize: the exported function was {about}, and this is pycompiler {__version__}, which reads "
            f"versions up to {FORMAT}.\nWhat to do: load it with a later pycompiler, or export it with this one"
        )
    if len(data) != _START + body_size + size:
        raise DeserializationError(
            f"deserialize: the exported function ({about}) has {len(data)} bytes of {_START + body_size + size}: it "
            "was cut off, or something was added"
        )
    body, sections = data[_START : _START + body_size], data[_START + body_size :]
    if _checksum(bytes(data[: _HEAD.size]), body, [sections]) != data[_HEAD.size : _START]:
        raise damaged(about, "the whole file", "its checksum is wrong")
    with part(about, "the description"):
        description = json.loads(bytes(body))
        dialect, functions = entry(description, "dialect", int), entry(description, "functions", list)
        if not functions:
            raise ValueError("it has no functions")
    if dialect > DIALECT:
        raise DeserializationError(
            f"deserialize: the module of the exported function ({about}) is of version {dialect} of the "
            f"array dialect, and this is pycompiler {__version__}, which reads versions up to {DIALECT}.\nWhat to do: "
            "load it with a later pycompiler, or export it with this one"
        )
    return Opened(description, sections, about)
