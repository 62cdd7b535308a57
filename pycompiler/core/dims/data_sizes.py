"""The scope of data-dependent sizes: the graph of a function that is jitted with `dynamic`, without its inner graphs.

In this graph, the size of an array that depends on data (the elements selected by a mask) gets its own symbol, from 0
to the maximum size. Imports `dims`. `jit` opens a scope, `numpy.data_sizes` asks for it.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Generator
from typing import Any

from pycompiler._runtime import current_trace
from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.errors import InconclusiveDimensionError

__all__ = ["Scope", "allowed", "current_scope"]


class Scope:
    """The graph that is being recorded, with its data-dependent sizes."""

    __slots__ = ("_names", "known", "trace")

    def __init__(self, trace: object) -> None:
        self.trace = trace
        # By the value that decides the size: one mask gives one size.
        self.known: dict[Any, Any] = {}
        self._names: list[str] = []

    def symbol(self, name: str, most: Dimension) -> Dim:
        """A new symbol, with the given maximum."""
        high = most if isinstance(most, int) else most.bounds()[1]
        found = Dim(f"{name}_count{len(self._names)}", min=0, max=high)
        self._names.append(str(found))
        return found

    def made(self, dim: Dimension) -> bool:
        """Whether a dimension contains such a symbol."""
        return isinstance(dim, Dim) and any(symbol.name in self._names for symbol in dim.symbols())

    def explain(self, error: ValueError) -> None:
        """Add to an error about dimensions the origin of its symbols, which the program did not name."""
        text = error.args[0] if len(error.args) == 1 else None
        if not isinstance(text, str):
            return
        named = [name for name in self._names if re.search(rf"\b{name}\b", text)]
        shown = " and ".join(named)
        fact = text.partition("\nWhat to do:")[0]
        if isinstance(error, InconclusiveDimensionError) and len(named) == 1:
            error.args = (
                f"{fact}\n{shown} depends on data, and may be 0: it can be given no bound.\nWhat to do: pass size= "
                "(and fill_value=) where it is made, or keep all elements, by where(mask, x, y)",
            )
        elif len(named) > 1:
            error.args = (
                f"{fact}\n{shown} are sizes that depend on data, each of a mask (or a call of unique) of its own: they "
                "may differ.\nWhat to do: make the mask once, and use it for both",
            )


class _Scopes(threading.local):
    innermost: Scope | None = None


_scopes = _Scopes()


@contextlib.contextmanager
def allowed() -> Generator[None]:
    """A context in which sizes in the graph that is being recorded may depend on data."""
    before = _scopes.innermost
    _scopes.innermost = scope = Scope(current_trace())
    try:
        yield
    except ValueError as error:
        scope.explain(error)
        raise
    finally:
        _scopes.innermost = before


def current_scope() -> Scope | None:
    """The scope of the graph that is being recorded. None if its sizes may not depend on data."""
    scope = _scopes.innermost
    return scope if scope is not None and scope.trace is current_trace() else None


def depends_on_data(dim: Dimension) -> bool:
    """Whether a dimension is known only after a computation. Then it may always be 0."""
    scope = _scopes.innermost
    return scope is not None and scope.made(dim)


def is_dynamic() -> bool:
    """Whether sizes may depend on data in the graph that is recorded, or in a graph that encloses it."""
    return _scopes.innermost is not None
