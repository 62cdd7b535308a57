"""The call of an external module of the `array` dialect: exported by another process, or imported.

The primitive is not one op of its name: `emit` links the module's functions into the module under construction, and
calls them there. Until then, a module is opaque bytes. The primitive has no rules: a compiled module can't be
differentiated or batched. An export may include a derivative (`pycompiler.export`).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.dims.sizes import solve
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.tracing.primitive import Dims, Primitive
from pycompiler.core.tracing.specialize import aval_at
from pycompiler.core.types.aval import same_type, short


class ModuleCode:
    """A module in MLIR's bytecode (or as text), whose function `entry` is called.

    `operations` are the names of its ops, without their dialect. Two modules are equal if they compute the same. The
    source of a file is converted (`compile.foreign.reread`) before it is read. `reading` makes a context for this,
    which turns errors into errors about the file.
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
        # The source that this process may read: its own, or the converted source of a file.
        self.readable = source if reading is None else None

    @functools.cached_property
    def digest(self) -> str:
        """The digest of the source and the entry."""
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
        if not all(aval.is_concrete for aval in avals):
            raise NotImplementedError(
                f"{name}: is a module for symbolic sizes, ({', '.join(map(short, wanted))}), and is called with "
                f"symbolic sizes of a traced function, ({', '.join(map(short, avals))}).\nWhat to do: call it with "
                "arrays of fixed sizes, or outside of the function"
            )
        sizes = solve(wanted, [aval.shape for aval in avals])
        return tuple([aval_at(aval, sizes) for aval in module.out_avals])
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


module_call = Primitive("module_call", _shape, _jvp, None, _batch, multiple_results=True)
