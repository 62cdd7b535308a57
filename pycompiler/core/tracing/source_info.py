"""The place and the origin of graphs and equations, in the form that interpreters of graphs pass on.

`graph` imports this module.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

from pycompiler.core.source import Source, swap_source, user_source
from pycompiler.core.tracing.function_info import FunctionInfo


class NameStack:
    """The names that the user gave to running code, the outermost first."""

    __slots__ = ("stack",)

    def __init__(self, stack: tuple[str, ...] = ()) -> None:
        self.stack = stack

    def extend(self, name: str) -> NameStack:
        """The stack with one more name."""
        return NameStack((*self.stack, name))

    def transform(self, name: str) -> NameStack:
        """The stack within a transformation: `jvp(...)`."""
        return NameStack(tuple([f"{name}({part})" for part in self.stack]) or (f"{name}()",))

    def __add__(self, other: NameStack) -> NameStack:
        return NameStack(self.stack + other.stack)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NameStack) and self.stack == other.stack

    def __hash__(self) -> int:
        return hash(self.stack)

    def __len__(self) -> int:
        return len(self.stack)

    def __str__(self) -> str:
        return "/".join(self.stack)

    def __repr__(self) -> str:
        return f"NameStack({self.stack!r})"


class SourceInfo(NamedTuple):
    """The user's line of an equation (`traceback`), and the names around it."""

    traceback: Source | None
    name_stack: NameStack

    def replace(self, *, traceback: Source | None = None, name_stack: NameStack | None = None) -> SourceInfo:
        """A copy with other fields."""
        return SourceInfo(traceback or self.traceback, self.name_stack if name_stack is None else name_stack)


def source_info_of(source: Source | None) -> SourceInfo:
    """The info of a place."""
    return SourceInfo(source, NameStack(() if source is None else source.scope))


def current() -> SourceInfo:
    """The info of the running line of the user."""
    return source_info_of(user_source())


@contextlib.contextmanager
def user_context(traceback: Source | None, *, name_stack: NameStack | None = None) -> Generator[None]:
    """A context in which everything that is recorded has this place. Without a place it has the running line."""
    if traceback is not None and name_stack is not None and name_stack.stack != traceback.scope:
        traceback = Source(traceback.code, traceback.lasti, traceback.backward, name_stack.stack)
    previous = swap_source(traceback)
    try:
        yield
    finally:
        swap_source(previous)


class EquationContext:
    """The settings under which an equation is run again: the ones that matter are among its parameters."""

    __slots__ = ()

    @property
    def manager(self) -> contextlib.AbstractContextManager[None]:
        """A context that sets them."""
        return contextlib.nullcontext()


CONTEXT = EquationContext()


UNKNOWN = FunctionInfo("unknown", "<unknown>")

# Makes the origin of a graph when it is read.
Origin = Callable[[], FunctionInfo]


def called_name(params: Mapping[str, Any]) -> str:
    """The parameter with the graph that a call computes."""
    return next(name for name in ("jaxpr", "call_jaxpr", "graph") if name in params)
