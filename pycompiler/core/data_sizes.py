"""Where sizes may depend on data: in the graph of a function that is jitted with `dynamic`, not in graphs inside it.

There an array whose size depends on data (the elements where a mask holds) has a symbol of its own for a dimension,
from 0 to what there can be at most. Stands above `trace`; `jit` opens a scope, `numpy.data_sizes` asks for it.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from typing import Any

from pycompiler._runtime import current_trace
from pycompiler.core.dims import Dim, Dimension

__all__ = ["Scope", "allowed", "in_force"]


class Scope:
    """The graph that is being recorded, and the sizes that were found in it."""

    __slots__ = ("_count", "known", "trace")

    def __init__(self, trace: object) -> None:
        self.trace = trace
        # By what decides the size: of one mask there is one size.
        self.known: dict[Any, Any] = {}
        self._count = 0

    def symbol(self, name: str, most: Dimension) -> Dim:
        """A new symbol, for at most so many."""
        self._count += 1
        high = most if isinstance(most, int) else most.bounds()[1]
        return Dim(f"{name}_count{self._count - 1}", min=0, max=high)


class _Scopes(threading.local):
    innermost: Scope | None = None


_scopes = _Scopes()


@contextlib.contextmanager
def allowed() -> Generator[None]:
    """Sizes may depend on data in the graph that is being recorded now."""
    before = _scopes.innermost
    _scopes.innermost = Scope(current_trace())
    try:
        yield
    finally:
        _scopes.innermost = before


def in_force() -> Scope | None:
    """The scope of the graph that is being recorded; None where sizes may not depend on data."""
    scope = _scopes.innermost
    return scope if scope is not None and scope.trace is current_trace() else None
