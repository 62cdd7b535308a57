"""Remarks: each silent fallback, with its line in the program, and a counter for each kind.

Results do not depend on fallbacks; speed and memory do. Passes emit their remarks by MLIR's remark engine (`array-opt
--remarks-filter=array`), and `compile` forwards them. The table has every kind, and so has docs/remarks.md. `compile`,
`spmd` and `jit`, which call `tell`, import this module.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from typing import NamedTuple

from pycompiler.core.config.config import config
from pycompiler.core.source import Source, user_source


class Kind(NamedTuple):
    """One row of the table: the name, the meaning, how to avoid it, and whether passes of the compiler emit it."""

    name: str
    meaning: str
    avoid: str
    of_passes: bool = False


TABLE: tuple[Kind, ...] = (
    Kind(
        "gathered-operand",
        "an operand is divided over devices along a dimension that must be whole. The devices gather it",
        "divide the operand along other dimensions, or gather it by with_sharding_constraint",
    ),
    Kind(
        "through-host",
        "an array on several devices is copied to another mesh through host memory",
        "use meshes of the same devices, in the same order, with the same sizes",
    ),
    Kind(
        "donated-on-devices",
        "donated arrays on several devices are deleted after the call. The results have memory of their own",
        "leave memory for the arguments and the results of the call",
    ),
    Kind(
        "donation-not-taken",
        "no result takes the memory of a donated array: no result has its shape and dtype, or the memory is in use",
        "donate arrays that a result replaces, and drop other arrays, slices and NumPy views of them",
    ),
    Kind(
        "donation-dropped",
        "the program reads donated memory after the result overwrites it, in every order of its steps. It is compiled "
        "again with separate results",
        "compute the readers of the donated array before its replacement, or do not donate it",
    ),
    Kind(
        "views-copied",
        "results are parts of arguments whose memory a view must not share. The program is compiled again with copies",
        "pass arrays of pycompiler, not of NumPy, and do not donate arrays whose parts are returned",
    ),
    Kind(
        "compiled-for-another-device",
        "a compiled call gets arrays on another kind of device. It is compiled again for that device",
        "put the arguments on one kind of device",
    ),
    Kind(
        "compiled-for-own-sizes",
        'dynamic="auto" finds no program for all sizes of the arguments. The call is compiled for its own sizes',
        "name the symbols and their bounds by dynamic=, or pad to few sizes",
    ),
    Kind(
        "not-measured",
        "the setting tuning asks for a measurement of a product, which is not possible now. The cost model chooses",
        "make the first call while the process is idle",
    ),
    Kind(
        "gpu-shared",
        "several processes compute on one GPU, which NCCL does not connect. Arrays go between them through host memory",
        "start as many processes on a machine as it has GPUs",
    ),
    Kind(
        "library-not-used",
        "a GPU library cannot be loaded. The compiler uses its own kernels; without NCCL, arrays go between processes "
        "through host memory",
        "install the library, or name its file by its environment variable",
    ),
    Kind(
        "copied-carry",
        "bufferization finds no order of steps that updates a loop or branch in place. Each iteration copies the carry",
        "read a carried value before the body changes it, and carry it once",
        of_passes=True,
    ),
    Kind(
        "fusion-given-up",
        "several operations read an expensive value. It is stored, not recomputed in each of them",
        "no action is needed for speed. To save memory, compute the readers in separate calls",
        of_passes=True,
    ),
    Kind(
        "scalar-loops",
        "the elements of an operand do not lie in rows. The operation runs in scalar loops, without vectors",
        "copy the slice or the transpose before the operation",
        of_passes=True,
    ),
    Kind(
        "matmul-in-loops",
        "a matmul of this size is computed by loops, not in blocks: the dtype, the processor or the layout of an "
        "operand does not allow blocks",
        "use floats, or a product of bytes by preferred_element_type, or copy the operand before the matmul",
        of_passes=True,
    ),
    Kind(
        "copied-operand",
        "an operation changes part of an array whose former value is still needed. The array is copied first",
        "read the former value before the change, and donate an argument that a result replaces",
        of_passes=True,
    ),
    Kind(
        "sequential-kernel",
        "the programs of an own kernel are independent, and one thread, or on a GPU the host, runs them in turn: their "
        "temporaries do not fit on the stack of a thread, or the kernel calls library routines",
        "use smaller blocks, and decompositions, sorts and transforms outside of the kernel",
        of_passes=True,
    ),
    Kind(
        "host-waits",
        "the host needs a value that a GPU computes, to go on with a loop or a branch. Each call waits for the GPU",
        "use lax.fori_loop or lax.scan with a static length, or lax.select in place of lax.cond",
        of_passes=True,
    ),
)

KINDS = {kind.name: kind for kind in TABLE}


class Remark(NamedTuple):
    """One fallback: its kind, its place (`file:line (function)`, or empty), and the text."""

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
    """Keep a remark of a kind in the table, count it, and print it if the setting `debug` is 1 or more.

    The default place is the user's line that is running.
    """
    assert kind in KINDS, kind
    remark = Remark(kind, str(place if place is not None else user_source() or ""), text)
    with _lock:
        _kept.append(remark)
        _counts[kind] += 1
    if config.debug:
        print(f"pycompiler: remark: {remark}", file=sys.stderr)


def remarks() -> list[Remark]:
    """The last thousand remarks on silent fallbacks of this process. A remark has a `kind`, the `place` in the program
    and a `text`. docs/remarks.md explains each kind. The setting `debug` prints remarks, too.

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
    """The number of remarks of each kind since the process started.

    >>> import pycompiler as pc
    >>> sorted(pc.debug.remark_counts())[0]
    'compiled-for-another-device'
    """
    with _lock:
        return dict(_counts)
