"""Files of tensors in the safetensors format: eight bytes with the length of a header, the header in JSON, the data.

The format is written here, and the package of its name is not used. That package reads and writes whole tensors, as
NumPy arrays without bfloat16 and small floats. This module reads parts of tensors, and writes without a copy of the
file in memory. The package can read these files.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Host = np.ndarray[Any, Any]

# The dtypes that every reader of the format knows. Others are stored as these, with one more dimension.
_NAMES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "uint16": "U16",
    "int16": "I16",
    "float16": "F16",
    "bfloat16": "BF16",
    "uint32": "U32",
    "int32": "I32",
    "float32": "F32",
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "complex64": "F32",
    "complex128": "F64",
}
_HEADER_LIMIT = 100_000_000  # of the format


class DamagedError(ValueError):
    """A file that differs from its description in the index."""


@dataclass(frozen=True)
class Tensor:
    """A tensor to write. The writer calls `values` just before it writes the tensor, so that one tensor at a time is in
    memory."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    values: Callable[[], Host]

    @property
    def size(self) -> int:
        """In bytes."""
        return math.prod(self.shape) * self.dtype.itemsize

    def entry(self, begin: int) -> dict[str, Any]:
        """The line of the header."""
        name, shape = _NAMES.get(self.dtype.name, "U8"), list(self.shape)
        if self.dtype.kind == "c":
            shape.append(2)
        elif self.dtype.name not in _NAMES:
            shape.append(self.dtype.itemsize)
        return {"dtype": name, "shape": shape, "data_offsets": [begin, begin + self.size]}


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems have no such call for folders.
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, pieces: Iterable[bytes | memoryview]) -> int:
    """Write a file so that it exists either complete or not at all. Returns its size."""
    part = path.with_name(f"{path.name}.part")
    size = 0
    with part.open("wb") as file:
        for piece in pieces:
            size += len(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)
    return size


def write(path: Path, tensors: Iterable[Tensor], about: dict[str, str]) -> int:
    """Write a file. Returns its size. The format has no gaps, so the widest elements come first: then all are
    aligned."""
    ordered = sorted(tensors, key=lambda tensor: (-tensor.dtype.itemsize, tensor.name))
    header: dict[str, Any] = {"__metadata__": about}
    begin = 0
    for tensor in ordered:
        header[tensor.name] = tensor.entry(begin)
        begin += tensor.size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)

    def pieces() -> Iterable[bytes | memoryview]:
        yield len(text).to_bytes(8, "little") + text
        for tensor in ordered:
            values = np.ascontiguousarray(tensor.values())
            if values.nbytes != tensor.size:
                raise ValueError(f"{tensor.name}: {values.nbytes} bytes, expected {tensor.size}")
            if values.nbytes:
                yield values.reshape(-1).view(np.uint8).data

    return write_whole(path, pieces())


class File:
    """A file that is read. Only the pages of requested parts are read."""

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                there = os.fstat(file.fileno()).st_size
                if there != size:
                    raise DamagedError(f"{path} has {there} bytes, and the index says {size}")
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise DamagedError(f"{path} is not there, and the index names it") from None
        length = int.from_bytes(self._map[:8], "little")
        if not 0 < length <= min(size - 8, _HEADER_LIMIT):
            raise DamagedError(f"{path} has no header of the safetensors format")
        self._begin = 8 + length
        try:
            self._header: dict[str, Any] = json.loads(self._map[8 : self._begin])
        except ValueError as error:
            raise DamagedError(f"{path} has a header that is no JSON: {error}") from None

    def tensor(self, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Host:
        """A tensor, as a view of the file."""
        size = math.prod(shape) * dtype.itemsize
        begin, end = self._header.get(name, {}).get("data_offsets", (0, -1))
        if end - begin != size or self._begin + end > len(self._map):
            raise DamagedError(f"{self._path} has no tensor {name!r} of {size} bytes")
        raw = np.frombuffer(self._map, np.uint8, size, self._begin + begin) if size else np.empty(0, np.uint8)
        return raw.view(dtype).reshape(shape)
