"""Calls of jitted functions that use references (`core.tracing.references`): as arguments, or closed over.

Outside of traces, an argument that is a reference is an input of the program, and its last value is one more result if
the function wrote it. The call donates the memory of each reference that is written, so writes are in place. Imports
`stages`; `jit` imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol

from pycompiler.core.config.config import trace_key
from pycompiler.core.mesh.shape_struct import with_described
from pycompiler.core.tracing.flat import FlatFunction, check_arrays
from pycompiler.core.tracing.graph import close_over
from pycompiler.core.tracing.references import Ref, check_aliases, check_closure, hide, is_reference
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import PyTreeDef, tree_flatten, tree_leaves
from pycompiler.jit.eager import run_graph
from pycompiler.jit.stages import Signature
from pycompiler.numpy.creation import copied


class ReferringFunction:
    """A flat function with references among its arguments. It takes their values. After its results, it returns the
    last values of the references that it wrote."""

    __slots__ = ("flat", "stored", "takes")

    def __init__(self, flat: FlatFunction, takes: Sequence[bool]) -> None:
        self.flat = flat
        self.takes = tuple(takes)
        # Available after a call.
        self.stored: tuple[int, ...] = ()

    @property
    def out_tree(self) -> PyTreeDef:
        """The structure of the result."""
        return self.flat.out_tree

    @property
    def names(self) -> Callable[[], list[str]]:
        """The names of the leaves of the arguments."""
        return self.flat.names

    def debug_info(self) -> DebugInfo:
        """The debug info for a trace."""
        return self.flat.debug_info()

    def __call__(self, *values: Any) -> list[Any]:
        named = zip(values, self.takes, self.flat.names(), strict=True)
        given = [Ref(x, of=name) if is_ref else x for x, is_ref, name in named]
        outs = self.flat(*given)
        finals = {place: x.read() for place, (x, is_ref) in enumerate(zip(given, self.takes, strict=True)) if is_ref}
        self.stored = tuple([place for place, x in finals.items() if x is not values[place]])
        return [*outs, *(finals[place] for place in self.stored)]


class Program(Protocol):
    """The members of a jitted function that `referring` uses."""

    fun: Callable[..., Any]

    def signature(
        self, args: Sequence[Any], kwargs: dict[str, Any], symbolic: bool = False, described: bool = False
    ) -> tuple[Signature, list[Any]]: ...
    def split(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[FlatFunction, Any, Hashable]: ...
    def signature_of(
        self, flat: ReferringFunction, fixed: Hashable, kwargs: dict[str, Any], avals: Any
    ) -> Signature: ...


def referring(program: Program, args: Sequence[Any], kwargs: dict[str, Any], described: bool = False) -> Referring:
    """The traced signature for arguments with references among them, and their leaves."""
    flat, given, fixed = program.split(args, kwargs)
    leaves, flat.in_tree = hide(*tree_flatten(with_described(given) if described else given), but_references=True)
    check_aliases("jit", program.fun, leaves, flat.names)
    takes = tuple(map(is_reference, leaves))
    values = [leaf.take() if type(leaf) is Ref else leaf for leaf in leaves]
    check_arrays("jit", program.fun, values, flat.in_tree, flat.places)
    key = (flat.in_tree.snapshot(), fixed, trace_key(), takes)
    signature = program.signature_of(ReferringFunction(flat, takes), key, kwargs, tuple(map(get_aval, values)))
    check_closure("jit", program.fun, signature.graph.touched, leaves, flat.names)
    return Referring(signature, leaves)


def described(
    program: Program, args: Sequence[Any], kwargs: dict[str, Any], *, symbolic: bool = True
) -> tuple[Signature, Sequence[Any]]:
    """The traced signature for arguments whose types alone matter, and their leaves. `symbolic`: dynamic dimensions are
    symbols, also those of arrays."""
    if any(map(is_reference, tree_leaves((args, kwargs)))):
        return referring(program, args, kwargs, described=True)
    return program.signature(args, kwargs, symbolic=symbolic, described=True)


class Referring(NamedTuple):
    """A traced function, and the leaves of arguments outside of traces: arrays and references."""

    signature: Signature
    leaves: Sequence[Any]

    def run(self) -> Any:
        """Run the compiled function, and store the new values in the references."""
        signature, graph = self.signature, self.signature.graph
        pure, consts = graph.derive("run", lambda: close_over(graph.discharged()))
        written = signature.written_by(self.leaves)
        given = [*self.leaves, *graph.touched]
        changed = set(written)
        taken = [place for place, x in enumerate(given) if type(x) is Ref and x in changed]
        values = [_value(x, x in changed) if isinstance(x, Ref) else x for x in given]
        donated = sorted({len(consts) + place for place in (*taken, *signature.donated)})
        outs = run_graph(pure, signature.fun_name, [*consts, *values], tuple(donated))
        count = len(outs) - len(written)
        for ref, value in zip(written, outs[count:], strict=True):
            ref.write(value, owned=True)
        return signature.out_tree.unflatten(outs[:count])


def _value(ref: Ref, is_written: bool) -> Any:
    """The value of a reference. If the program takes the memory of the value, nothing else owns it."""
    owned, value = ref.owned, ref.take()
    return value if owned or not is_written or type(ref) is not Ref else copied(value)
