"""The traces of a function, which all of its jitted functions share: a program may write `jit(f)(x)` in a loop.

The traces are an attribute of the function, so they live as long as the function. A trace may hold the function itself,
and a table of this module would then keep both forever. Only `jit` imports this module.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config
from pycompiler.jit.options import Options
from pycompiler.jit.stages import Signature

_ATTRIBUTE = "__pycompiler_traces__"


def _new() -> Cache[Signature]:
    return Cache(lambda: config.cache_size)


class _Traces:
    """The caches of one function, by the options that a trace depends on."""

    def __init__(self, fun: Callable[..., Any] | None = None) -> None:
        # `functools.wraps` copies the attributes of a function to another one, which has other traces.
        self.owner = weakref.ref(fun) if fun is not None else lambda: None
        self.caches: dict[Any, Cache[Signature]] = {}

    def __reduce__(self) -> Any:
        """Its contents are not pickled: some picklers write the attributes of a function."""
        return _Traces, ()


# For `forget`.
_all: weakref.WeakSet[_Traces] = weakref.WeakSet()


def traces_of(fun: Callable[..., Any], options: Options) -> tuple[Cache[Signature], bool]:
    """The traces of jitted functions of `fun` with these options, and whether an earlier jitted function shares them. A
    callable object, a function with symbolic sizes and a function of the package have traces of their own."""
    if type(fun) is not types.FunctionType or options.dynamic is not None or options.from_anywhere:
        return _new(), False
    found = fun.__dict__.get(_ATTRIBUTE)
    if type(found) is not _Traces or found.owner() is not fun:
        found = _Traces(fun)
        _all.add(found)
        fun.__dict__[_ATTRIBUTE] = found
    key = (
        *(options.static_argnums, options.static_argnames, options.donate_argnums, options.donate_argnames),
        *(options.keep_unused, options.inline),
    )
    made = _new()
    # If two threads run this, one of them finds the cache of the other.
    cache = found.caches.setdefault(key, made)
    return cache, cache is not made


def update_wrapper(wrapper: Any, fun: Callable[..., Any]) -> None:
    """functools.update_wrapper without the traces, which are those of `fun` alone."""
    functools.update_wrapper(wrapper, fun)
    wrapper.__dict__.pop(_ATTRIBUTE, None)


def forget() -> None:
    """Drop all traces of all functions."""
    for traces in list(_all):
        for cache in list(traces.caches.values()):
            cache.clear()
