"""What was given up without an error: remarks, each with the line that it is about, and how often there were some.

A program is right without reading them; they say why it is slower, or takes more memory, than it could be. The compiler
has the same remarks of what its passes give up (`array-opt --remarks-filter=array`); `compile` hands these over. Every
kind stands in the table, and in docs/remarks.md. Before `compile`, `spmd` and `jit`, which tell.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import NamedTuple

from pycompiler.core.config.config import config
from pycompiler.core.source import Source, user_source


class Kind(NamedTuple):
    """One row of the table: the name, what has happened, how it is avoided, and whether passes of the compiler tell."""

    name: str
    meaning: str
    avoid: str
    of_passes: bool = False


TABLE: tuple[Kind, ...] = (
    Kind(
        "gathered-operand",
        "an operand that is divided over devices is gathered, and each device computes with all of it",
        "divide it along other dimensions, or say with_sharding_constraint where it is to be gathered",
    ),
    Kind(
        "through-host",
        "an array on several devices is copied to others by way of the host's memory",
        "put it on a mesh of the same devices in the same order, of the same shape",
    ),
    Kind(
        "donated-on-devices",
        "donated arrays on several devices are deleted after the call, whose results have memory of their own",
        "donate for the memory that is free afterwards; leave room for both during the call",
    ),
    Kind(
        "donation-not-taken",
        "no result is computed in the memory of a donated array: none has its shape and dtype, or others use it",
        "donate what is replaced, and keep no other array, slice or NumPy view of it",
    ),
    Kind(
        "donation-dropped",
        "no order of the program's steps leaves donated memory unread once it is overwritten: the program was compiled "
        "again, with results in memory of their own",
        "compute what reads the donated array before what replaces it, or do not donate it",
    ),
    Kind(
        "views-copied",
        "results that are parts of arguments are copied, and the program was compiled again for it: the memory of this "
        "call's arguments is not to be looked at",
        "pass arrays of the package, not NumPy's, and do not donate what is returned",
    ),
    Kind(
        "compiled-for-another-device",
        "a compiled call is given arrays on another kind of device, and was compiled again for it",
        "put the arguments on one kind of device",
    ),
    Kind(
        "compiled-for-own-sizes",
        'with dynamic="auto", a call can\'t be served by a program for all sizes, and is compiled for its own',
        "say which dimensions are symbols and what is known of them (dynamic=), or pad to few sizes",
    ),
    Kind(
        "not-measured",
        "with the setting tuning, a product was not measured, and is cut as the cost model says",
        "call it once while nothing else runs",
    ),
    Kind(
        "library-not-used",
        "a library of the GPU can't be loaded, and the compiler's own kernels are used",
        "install the library, or name its file by its environment variable",
    ),
    Kind(
        "copied-carry",
        "what a loop or branch changes is copied in each iteration: bufferization found no order in which it can be "
        "changed in place",
        "read what is carried before it is changed in the body; carry it once",
        of_passes=True,
    ),
)

KINDS = {kind.name: kind for kind in TABLE}


class Remark(NamedTuple):
    """What was given up, where (`file:line`, or empty), and the words."""

    kind: str
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}: {self.text}" if self.place else f"{self.kind}: {self.text}"


_MOST_KEPT = 1000

_lock = threading.Lock()
_kept: deque[Remark] = deque(maxlen=_MOST_KEPT)
_counts: dict[str, int] = dict.fromkeys(KINDS, 0)


def tell(kind: str, text: str, place: Source | str | None = None) -> None:
    """Keep a remark of a kind of the table, count it, and print it where the setting `debug` is 1 or more.

    Without a place it is the user's line that is running.
    """
    assert kind in KINDS, kind
    remark = Remark(kind, str(place if place is not None else user_source() or ""), text)
    with _lock:
        _kept.append(remark)
        _counts[kind] += 1
    if config.debug:
        print(f"pycompiler: remark: {remark}", file=sys.stderr)


def remarks() -> list[Remark]:
    """The fallbacks since the process started: the last thousand remarks, each with its `kind`, the `place` in the
    program and the `text`. docs/remarks.md explains each kind and how to avoid it; with the setting `debug` remarks are
    also printed.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> f = pc.jit(lambda x: x.sum(), donate_argnums=0)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     f(pnp.ones((3, 5)))
    Array(15., dtype=float32)
    >>> pc.debug.remarks()[-1].kind
    'donation-not-taken'
    """
    with _lock:
        return list(_kept)


def remark_counts() -> dict[str, int]:
    """How many remarks of each kind there were since the process started, those of which there were none too.

    >>> import pycompiler as pc
    >>> sorted(pc.debug.remark_counts())[0]
    'compiled-for-another-device'
    """
    with _lock:
        return dict(_counts)
