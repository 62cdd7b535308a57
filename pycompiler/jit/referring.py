"""Calls of jitted functions that use references (`core.tracing.references`): as arguments, or closed over.

Outside of traces, an argument that is a reference is an input of the program, and its last value is one more result if
the function wrote it. The call donates the memory of each reference that is written, so writes are in place. Imports
`stages`; `jit` imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pycompiler.core.tracing.flat import FlatFunction
from pycompiler.core.tracing.graph import close_over
from pycompiler.core.tracing.references import Ref
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.tree import PyTreeDef
from pycompiler.jit.eager import run_graph
from pycompiler.jit.stages import Signature
from pycompiler.numpy.creation import copied


class ReferringFunction:
    """A flat function some of whose arguments are references. It takes their values, and returns the last values of
    those that it wrote after its results."""

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


class Referring(NamedTuple):
    """A traced function, and the leaves of arguments outside of traces: arrays and references."""

    signature: Signature
    leaves: Sequence[Any]

    def run(self) -> Any:
        """Run the compiled function, and store what it wrote."""
        signature, graph = self.signature, self.signature.graph
        pure, consts = graph.derive("run", lambda: close_over(graph.discharged()))
        written = signature.written_by(self.leaves)
        given = [*self.leaves, *graph.touched]
        taken = [place for place, x in enumerate(given) if type(x) is Ref and x in written]
        values = [_value(x, x in written) if isinstance(x, Ref) else x for x in given]
        donated = sorted({len(consts) + place for place in (*taken, *signature.donated)})
        outs = run_graph(pure, signature.fun_name, [*consts, *values], tuple(donated))
        count = len(outs) - len(written)
        for ref, value in zip(written, outs[count:], strict=True):
            ref.write(value, owned=True)
        return signature.out_tree.unflatten(outs[:count])


def _value(ref: Ref, is_written: bool) -> Any:
    """What a reference holds; for a program that takes its memory, without another owner."""
    owned, value = ref.owned, ref.take()
    return value if owned or not is_written or type(ref) is not Ref else copied(value)
