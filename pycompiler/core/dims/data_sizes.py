"""Where sizes may depend on data: in the graph of a function that is jitted with `dynamic`, not in graphs inside it.

There an array whose size depends on data (the elements where a mask holds) has a symbol of its own for a dimension,
from 0 to what there can be at most. Stands above `trace`; `jit` opens a scope, `numpy.data_sizes` asks for it.
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
    """The graph that is being recorded, and the sizes that were found in it."""

    __slots__ = ("_names", "known", "trace")

    def __init__(self, trace: object) -> None:
        self.trace = trace
        # By what decides the size: of one mask there is one size.
        self.known: dict[Any, Any] = {}
        self._names: list[str] = []

    def symbol(self, name: str, most: Dimension) -> Dim:
        """A new symbol, for at most so many."""
        high = most if isinstance(most, int) else most.bounds()[1]
        found = Dim(f"{name}_count{len(self._names)}", min=0, max=high)
        self._names.append(str(found))
        return found

    def made(self, dim: Dimension) -> bool:
        """Whether a dimension is made of such a symbol."""
        return isinstance(dim, Dim) and any(symbol.name in self._names for symbol in dim.symbols())

    def explain(self, error: ValueError) -> None:
        """Say in an error about dimensions what its symbols are, which the program did not name."""
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
    """Sizes may depend on data in the graph that is being recorded now."""
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
    """The scope of the graph that is being recorded; None where sizes may not depend on data."""
    scope = _scopes.innermost
    return scope if scope is not None and scope.trace is current_trace() else None


def depends_on_data(dim: Dimension) -> bool:
    """Whether a dimension is known when what it is counted from has been computed: then it may always be 0."""
    scope = _scopes.innermost
    return scope is not None and scope.made(dim)


def is_dynamic() -> bool:
    """Whether sizes may depend on data in the graph that is recorded, or in one that this one is a body of."""
    return _scopes.innermost is not None
