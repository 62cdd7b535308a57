"""What the processes of a program must agree on: the program of a launch, and values that each puts on all devices.

The runtime compares fingerprints of programs where their messages meet. Values are compared by their hash, in a meeting
of the processes. In a program of one process nothing here is called.
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
from pycompiler.core.mesh.processes import owners_of
from pycompiler.core.mesh.sharding import Sharding
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.primitives.arithmetic import bitcast

# How long a process waits for the others to put the same value.
_PATIENCE_MS = 300_000


def fingerprint_of_program(closed: ClosedGraph, name: str, owners: tuple[int, ...]) -> int:
    """A number of 64 bits that is the same in all processes that run the same program on the same mesh."""
    try:
        text = fingerprint_of(closed.graph).digest.hex()
    except UnkeepableError:
        # Functions of the host have no text: the operations stand for them.
        text = " ".join([equation.primitive.name for equation in closed.graph.equations])
    types = " ".join([short(aval) for aval in (*closed.in_avals, *closed.out_avals)])
    digest = hashlib.blake2b(f"{name} {text} {types} {owners}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


# The numbers of meetings, by what they are for and who comes: every process counts the same ones.
_meetings: defaultdict[tuple[str, tuple[int, ...]], Iterator[int]] = defaultdict(itertools.count)


def meet(what: str, members: tuple[int, ...], own: bytes, timeout_ms: int) -> list[bytes]:
    """What each of some processes gives, in their order. All of them call this. `timeout_ms` 0: as long as they live.

    Raises RuntimeError when the time is over, with the processes that did not come, and DistributedError when one of
    them has failed.
    """
    number = next(_meetings[what, members])
    return gather_values(f"{what} (call {number + 1})", members, own, timeout_ms)


def _digest(x: Any) -> bytes:
    aval = get_aval(x)
    values = np.asarray(bitcast.bind(x, new_dtype=dtypes.uint64) if dtypes.is_key(aval.dtype) else x)
    if type(x) is not Array and not dtypes.is_key(aval.dtype):
        values = values.astype(aval.dtype, copy=False)
    head = f"{aval.shape} {aval.dtype} {aval.weak_type}".encode()
    return hashlib.blake2b(head + np.ascontiguousarray(values).tobytes(), digest_size=16).digest()


def check_same(function: str, x: Any, sharding: Sharding, digest: Callable[[Any], bytes] = _digest) -> None:
    """Raise ValueError unless all processes of a sharding put the same value on its devices. They all come here."""
    members = owners_of(sharding.device_list)
    given = meet(f"{function} of {short(get_aval(x))}", members, digest(x), _PATIENCE_MS)
    groups: dict[bytes, list[str]] = {}
    for member, each in zip(members, given, strict=True):
        groups.setdefault(each, []).append(str(member))
    if len(groups) > 1:
        parted = " and in ".join([f"processes {', '.join(some)}" for some in groups.values()])
        raise ValueError(
            f"{function}: all processes must put the same value on {sharding}, but {short(get_aval(x))} is one value "
            f"in {parted}. What to do: make it in the same way everywhere (the same random key), or give each "
            "process's part, by make_array_from_process_local_data(sharding, data)"
        )
