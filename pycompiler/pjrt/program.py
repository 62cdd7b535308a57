"""The plugin's description of a program, and its bytes. `compiler` makes programs; the runtime reads their attributes.

The bytes are those of an entry of the disk cache, behind its digest: code of one build of the compiler, for one kind of
processor.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jaxlib import xla_client

from pycompiler import cache
from pycompiler._runtime import Executable, ShapedArray, dtype_codes
from pycompiler.cache import Artifact, DamagedError, Key
from pycompiler.core.errors import ExecutionError
from pycompiler.pjrt.layouts import Order, logical

__all__ = ["Description", "Program", "about", "array_types", "described", "digest_of_sources", "packed", "unpacked"]

# An array: the code of its dtype, its sizes, and the order of its dimensions in memory, which is empty for row-major.
ArrayType = tuple[int, tuple[int, ...], Order]

_DIGEST = 40


@functools.cache
def digest_of_sources() -> str:
    """The digest of this room: with other sources, the same bytes of JAX give another module, so other code."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.blake2b(b"".join([one.read_bytes() for one in sources]), digest_size=6).hexdigest()


@dataclass(frozen=True)
class Description:
    """All data of a program except its code. Its values can be marshalled."""

    name: str
    parameters: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    # The memory of each result, by PJRT's name.
    result_kinds: tuple[str, ...]
    # For each parameter: whether it is donated, and the result that gets its memory, or -1.
    donations: tuple[tuple[bool, int], ...]
    replicas: int
    partitions: int
    # Whether it calls LAPACK.
    lapack: bool
    # For several devices, the shardings of arguments and results, as HLO prints them.
    argument_shardings: tuple[str, ...] = ()
    result_shardings: tuple[str, ...] = ()
    # The number of its calls of XLA's FFI. The handlers are those of each process.
    foreign_calls: int = 0


@dataclass
class Program:
    """A loaded program. The runtime reads these names (runtime/python/pjrt/Compiler.cpp)."""

    description: Description
    executable: Executable
    fingerprint: str
    devices: Sequence[int]
    flops: float
    options: bytes
    serialize: Callable[[], bytes]
    text: Callable[[], str]
    name: str = field(init=False)
    parameters: tuple[ArrayType, ...] = field(init=False)
    results: tuple[ArrayType, ...] = field(init=False)
    result_kinds: list[str] = field(init=False)
    donations: list[tuple[bool, int]] = field(init=False)
    # Serialized.
    argument_shardings: list[bytes] = field(init=False)
    result_shardings: list[bytes] = field(init=False)
    replicas: int = field(init=False)
    partitions: int = field(init=False)

    def __post_init__(self) -> None:
        given = self.description
        self.name, self.parameters, self.results = given.name, given.parameters, given.results
        self.result_kinds, self.donations = list(given.result_kinds), list(given.donations)
        self.replicas, self.partitions = given.replicas, given.partitions
        self.argument_shardings = [_serialized(one) for one in given.argument_shardings]
        self.result_shardings = [_serialized(one) for one in given.result_shardings]


def _serialized(sharding: str) -> bytes:
    """A sharding as a message of XLA, which JAX reads from the plugin."""
    client: Any = xla_client
    return client.HloSharding.from_string(sharding).to_proto().SerializeToString()


def array_types(avals: Sequence[ShapedArray], orders: Sequence[Order]) -> tuple[ArrayType, ...]:
    """The types of arrays in the runtime's form, from their sizes in memory."""
    codes = dtype_codes()
    return tuple(
        [
            (codes[aval.dtype.name], logical([int(size) for size in aval.shape], order), order)
            for aval, order in zip(avals, orders, strict=True)
        ]
    )


def about(description: Description, milliseconds: float, text: str) -> dict[str, Any]:
    """A description as the information of an entry of the disk cache, and the text of a short program: JAX reads
    layouts from it, and a process that loads the program need not read its source."""
    return {
        "name": description.name,
        "for": f"a JAX program with {len(description.parameters)} arguments",
        "operations": len(description.results),
        "milliseconds": milliseconds,
        "pjrt": asdict(description),
        "text": text,
    }


def described(information: dict[str, Any]) -> Description:
    """The description in an entry's information."""
    return Description(**information["pjrt"])


def packed(key: Key, artifact: Artifact, description: Description, options: bytes, code: bytes, text: str) -> bytes:
    """The bytes of a program, for `unpacked`."""
    information = about(description, 0.0, text) | {"made": 0.0, "compile_options": options, "code": code}
    return key.digest.encode() + cache.pack(key, artifact, information)


def unpacked(data: bytes) -> tuple[Key, Artifact, Description, bytes, bytes, str]:
    """The parts of a program; the last three are its options, its source and the text of a short one.

    Raises ExecutionError for damaged bytes, and for those of another build or processor.
    """
    try:
        digest, entry = data[:_DIGEST].decode(), data[_DIGEST:]
        key, information = cache.describe(digest, entry)
        if not cache.is_ours(key) or digest_of_sources() not in key.options:
            raise ExecutionError(
                f"the program was compiled by {key.compiler} for {key.target}, which is another build of the compiler, "
                "or another processor.\nWhat to do: compile it again"
            )
        options, code = information["compile_options"], information["code"]
        return key, cache.unpack(key, entry), described(information), options, code, information["text"]
    except (DamagedError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise ExecutionError(f"the bytes are no program of this compiler: {error}") from None
