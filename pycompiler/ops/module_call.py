"""The call of a module of the `array` dialect that came from elsewhere: exported by another process, or imported.

Beside the other primitives that are not one op of their name: `emit` links the module's functions into the one that it
builds, and calls them there. A module is bytes to everything before. It has no rules: nobody can differentiate or batch
what is compiled already, but who exports may say what the derivative is (`pycompiler.export`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.tracing.primitive import Dims, Primitive, Sample
from pycompiler.core.types.aval import same_type, short


class ModuleCode:
    """A module in MLIR's bytecode (or as text), whose function `entry` is called.

    `operations` are the names of the ops that it holds, without their dialect. Two are equal if they compute the same.
    The source of a file is `reread` before it is read. `reading` makes the context for that, in which errors become
    those of the file.
    """

    def __init__(
        self,
        source: bytes | str,
        entry: str,
        in_avals: Sequence[ShapedArray],
        out_avals: Sequence[ShapedArray],
        operations: frozenset[str],
        reading: Callable[[], contextlib.AbstractContextManager[None]] | None = None,
    ) -> None:
        self.source = source
        self.entry = entry
        self.in_avals = tuple(in_avals)
        self.out_avals = tuple(out_avals)
        self.operations = operations
        self.reading = reading or contextlib.nullcontext
        # What this process may read: the source that it has made, or, once there, what became of a file's.
        self.readable = source if reading is None else None

    @functools.cached_property
    def digest(self) -> str:
        """Of the source and the entry."""
        data = self.source.encode() if isinstance(self.source, str) else self.source
        return hashlib.blake2b(self.entry.encode() + b"\0" + data, digest_size=20).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, ModuleCode) and self.digest == other.digest and self.out_avals == other.out_avals
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<module {self.digest[:8]}>"


def _shape(*avals: ShapedArray, module: ModuleCode, name: str) -> tuple[ShapedArray, ...]:
    wanted = module.in_avals
    fits = len(avals) == len(wanted) and all(
        given.dtype == aval.dtype and given.ndim == aval.ndim for given, aval in zip(avals, wanted, strict=True)
    )
    if fits and not all(map(same_type, avals, wanted)) and not all(aval.is_concrete for aval in wanted):
        raise NotImplementedError(
            f"{name}: was exported for symbolic sizes, ({', '.join(map(short, wanted))}), and is called in a function "
            f"that is traced, with ({', '.join(map(short, avals))}).\nWhat to do: call it outside of jit, grad and "
            "vmap, or export it for these sizes"
        )
    if len(avals) != len(wanted) or not all(map(same_type, avals, wanted)):
        raise TypeError(
            f"{name}: the module takes ({', '.join(map(short, wanted))}), called with ({', '.join(map(short, avals))})"
        )
    return module.out_avals


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, module: ModuleCode, name: str) -> Any:
    raise NotDifferentiableError(
        f"{name}: a module that was exported or imported has no derivative of its own.\nWhat to do: differentiate "
        "before exporting, or serialize with vjp_order=1 and take a gradient in reverse mode (grad, vjp)"
    )


def _batch(args: Sequence[Any], dims: Dims, *, module: ModuleCode, name: str) -> Any:
    raise NotImplementedError(
        f"{name}: vmap can't map a module that was exported or imported: it is for arrays of fixed shapes.\nWhat to "
        "do: apply vmap before exporting, or call it in a loop (lax.map)"
    )


def _reference(*args: Any, module: ModuleCode, name: str) -> Any:
    raise NotImplementedError(f"{name}: NumPy can't run a module of the array dialect")


def _samples(rng: np.random.Generator) -> Iterator[Sample]:
    return iter(())


module_call = Primitive("module_call", _shape, _jvp, None, _batch, _reference, _samples, multiple_results=True)
