"""Checks that all processes of a program run the same program at a launch, and put the same values on all devices.

The runtime compares fingerprints of programs when their messages meet. Hashes of values are compared in a meeting of
the processes. A program of one process calls nothing here.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pycompiler._runtime import Array, gather_values
from pycompiler.cache.fingerprint import UnkeepableError, fingerprint_of
from pycompiler.core.mesh.processes import owners_of, processes
from pycompiler.core.mesh.sharding import Sharding
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.primitives.arithmetic import bitcast

# The maximum wait for the values of the other processes.
_PATIENCE_MS = 300_000
_DIGEST = 16  # bytes


def fingerprint_of_program(closed: ClosedGraph, name: str, owners: tuple[int, ...]) -> int:
    """A number of 64 bits that is the same in all processes that run the same program on the same mesh."""
    try:
        text = fingerprint_of(closed.graph).digest.hex()
    except UnkeepableError:
        # Functions of the host have no text: the names of the operations replace the fingerprint.
        text = " ".join([equation.primitive.name for equation in closed.graph.equations])
    types = " ".join([short(aval) for aval in (*closed.in_avals, *closed.out_avals)])
    digest = hashlib.blake2b(f"{name} {text} {types} {owners}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


# The number of the next meeting, by purpose and members: every process counts the same numbers.
_meetings: defaultdict[tuple[str, tuple[int, ...]], Iterator[int]] = defaultdict(itertools.count)


def meet(what: str, members: tuple[int, ...], own: bytes, timeout_ms: int) -> list[bytes]:
    """The bytes of all members, in their order. Each member calls this function. If `timeout_ms` is 0, the wait lasts
    as long as the members live.

    Raises RuntimeError, with the missing processes, if the time is over, and DistributedError if one of them has
    failed.
    """
    number = next(_meetings[what, members])
    return gather_values(f"{what} (call {number + 1})", members, own, timeout_ms)


def _digest(x: Any) -> bytes:
    aval = get_aval(x)
    values = np.asarray(bitcast.bind(x, new_dtype=dtypes.uint64) if dtypes.is_key(aval.dtype) else x)
    if type(x) is not Array and not dtypes.is_key(aval.dtype):
        values = values.astype(aval.dtype, copy=False)
    head = f"{aval.shape} {aval.dtype} {aval.weak_type}".encode()
    return hashlib.blake2b(head + np.ascontiguousarray(values).tobytes(), digest_size=_DIGEST).digest()


def check_same(function: str, x: Any, sharding: Sharding, digest: Callable[[Any], bytes] = _digest) -> None:
    """Raise ValueError unless all processes of a sharding put the same value on its devices. They all come here; others
    put nothing."""
    members = owners_of(sharding.device_list)
    if processes.index not in members:
        return
    kind = short(get_aval(x))
    given = meet(function, members, kind.encode() + b" " + digest(x), _PATIENCE_MS)
    kinds = [each[: -_DIGEST - 1].decode() for each in given]
    for member, other in zip(members, kinds, strict=True):
        if other != kinds[0]:
            raise ValueError(
                f"{function}: all processes must put the same value on {sharding}, but process {members[0]} puts "
                f"{kinds[0]}, process {member} {other}. What to do: make the same calls in all processes"
            )
    groups: dict[bytes, list[str]] = {}
    for member, each in zip(members, given, strict=True):
        groups.setdefault(each, []).append(str(member))
    if len(groups) > 1:
        parted = ", another one in ".join(
            [f"process{'es' * (len(some) > 1)} {', '.join(some)}" for some in groups.values()]
        )
        raise ValueError(
            f"{function}: all processes must put the same value on {sharding}, but {kind} is one value "
            f"in {parted}. What to do: make it in the same way everywhere (the same random key), or give each "
            "process's part, by make_array_from_process_local_data(sharding, data)"
        )
