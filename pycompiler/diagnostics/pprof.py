"""The arrays in memory as a profile of pprof (https://github.com/google/pprof): `pprof -top memory.prof`.

The format is profile.proto of that project, written field by field, and compressed by gzip.
"""

from __future__ import annotations

import gzip
import os
import time
from collections import Counter

from pycompiler.core.types.aval import get_aval, short
from pycompiler.diagnostics.memory import live_arrays


def device_memory_profile(backend: str | None = None) -> bytes:
    """A profile of the arrays in memory, for the tool pprof: the number and the bytes of the arrays of each type.

    `backend` is a platform, by default the default one. Each type is a function of the profile, "f32[1000]", with the
    labels "kind" and "device". An array that shares the memory of another one counts, too. Raises ValueError for a
    platform that has no devices here.

    >>> import gzip
    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> x = pnp.ones(12345)
    >>> b"f32[12345]" in gzip.decompress(pc.profiler.device_memory_profile())
    True
    """
    counts: Counter[tuple[str, str]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    for array in live_arrays(backend):
        for device in sorted(map(str, array.devices())):
            key = short(get_aval(array)), device
            counts[key] += 1
            sizes[key] += array.nbytes // len(array.devices())
    return gzip.compress(_profile(counts, sizes), mtime=0)


def save_device_memory_profile(filename: os.PathLike[str] | str, backend: str | None = None) -> None:
    """Write `device_memory_profile` to a file."""
    with open(filename, "wb") as file:
        file.write(device_memory_profile(backend))


def _profile(counts: Counter[tuple[str, str]], sizes: Counter[tuple[str, str]]) -> bytes:
    strings: dict[str, int] = {"": 0}

    def text(value: str) -> int:
        return strings.setdefault(value, len(strings))

    def value_type(kind: str, unit: str) -> bytes:
        return _number(1, text(kind)) + _number(2, text(unit))

    def label(key: str, value: str) -> bytes:
        return _part(3, _number(1, text(key)) + _number(2, text(value)))

    parts = [_part(1, value_type("allocations", "count")), _part(1, value_type("space", "bytes"))]
    ids: dict[str, int] = {}
    for (name, device), count in counts.most_common():
        place = ids.setdefault(name, len(ids) + 1)
        values = _packed(count, sizes[name, device])
        parts.append(
            _part(2, _part(1, _packed(place)) + _part(2, values) + label("kind", "buffer") + label("device", device))
        )
    for name, place in ids.items():
        parts.append(_part(4, _number(1, place) + _part(4, _number(1, place))))
        parts.append(_part(5, _number(1, place) + _number(2, text(name)) + _number(3, text(name))))
    space = text("space")
    parts += [_part(6, value.encode()) for value in strings]
    return b"".join([*parts, _number(9, time.time_ns()), _number(14, space)])


# The wire format of protocol buffers.


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _packed(*values: int) -> bytes:
    return b"".join(map(_varint, values))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _part(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
