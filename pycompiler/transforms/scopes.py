"""Names for parts of a program: `named_scope` and `named_call`. Messages that name a line of a program have them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from pycompiler.core.source import named
from pycompiler.core.tracing.boundary import boundary


@boundary
def named_scope(name: str) -> AbstractContextManager[None]:
    """A context manager, or a decorator: errors of the computations inside mention `name`.

    Raises TypeError for a name that is not a string.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> with pc.named_scope("attention"):
    ...     scores = pnp.ones(3) @ pnp.ones(3)
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"named_scope: the name must be a string, got {name!r} of type {type(name).__name__}")
    return named(name)


@boundary
def named_call(fun: Callable[..., Any], *, name: str | None = None) -> Callable[..., Any]:
    """`fun` in a `named_scope` of this name; the default is the name of the function.

    >>> import pycompiler as pc
    >>> float(pc.named_call(lambda x: x + 1, name="next")(1.0))
    2.0
    """
    if not callable(fun):
        raise TypeError(f"named_call: takes a function, got {fun!r} of type {type(fun).__name__}")
    scope = getattr(fun, "__name__", type(fun).__name__) if name is None else name

    @boundary
    @functools.wraps(fun)
    def call(*args: Any, **kwargs: Any) -> Any:
        with named_scope(scope):
            return fun(*args, **kwargs)

    return call
