"""Copies and pickles of jitted functions. `jit` imports this module.

A copy is the function itself. A pickle holds the name for its import, as that of a plain function. A function without
such a name, such as one in a function, is pickled as its Python function with the options of `jit`: a pickler that
writes Python functions by value (cloudpickle) then writes all of it.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Callable
from typing import Any

from pycompiler._runtime import JitFunction

# jit's function, and the Python function with the options of each result.
_Given = tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]


def register(given: Callable[[JitFunction], _Given | None]) -> None:
    """Set how jitted functions are copied and pickled. `given` tells how one was made, if by `jit`."""

    def reduced(function: JitFunction) -> Any:
        name = getattr(function, "__qualname__", repr(function))
        made = given(function)
        if made is None or _imported(getattr(function, "__module__", None), name) is function:
            return name
        make, fun, options = made
        return _made, (make, fun, options)

    copyreg.pickle(JitFunction, reduced)  # pyright: ignore[reportArgumentType]
    kind: Any = JitFunction
    kind.__copy__ = lambda self: self
    kind.__deepcopy__ = lambda self, memo: self


def _imported(module: str | None, name: str) -> Any:
    """The object that the import of a name gives, or None."""
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _made(make: Callable[..., Any], fun: Callable[..., Any], options: dict[str, Any]) -> Any:
    return make(fun, **options)
