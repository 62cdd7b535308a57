"""The reason of a cache miss: the difference between its key and the nearest known one. Only `jit` imports this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from pycompiler._runtime import CallKey
from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import show_shape
from pycompiler.core.source import function_location
from pycompiler.core.tracing.flat import argument_names
from pycompiler.core.types.aval import short

# The number of jitted functions for each code object.
_jitted: Cache[list[int]] = Cache(lambda: 4096)


def counter(fun: Callable[..., Any]) -> list[int]:
    """The number of jitted functions with the code of this one, in a list. The caller increments it."""
    code = getattr(fun, "__code__", None)
    if code is None:
        return [0]
    found = _jitted.get(code)
    if found is None:
        found = [0]
        _jitted.put(code, found)
    return found


def explain(
    fun: Callable[..., Any],
    name: str,
    key: CallKey | None,
    known: Sequence[CallKey],
    earlier: int,
    static: Sequence[int],
) -> str:
    """One line. `earlier` is the number of earlier jitted functions with the same code."""
    if key is None:
        return f"{name}: no call has been compiled"
    others = [other for other in known if other != key]
    if others:
        differences = min((_differences(fun, other, key, static) for other in others), key=len)
        return f"{name}: compiled again, because {'; '.join(differences)}"
    arguments = f"({', '.join(map(short, key.avals))})"
    if earlier:
        return (
            f"{name}: compiled for the first time, for {arguments}; {earlier} other function{'s' * (earlier > 1)} made "
            f"at the same place, {function_location(fun)}, had been jitted before: each has its own closure and its "
            "own cache, so make the function, and jit it, once"
        )
    return f"{name}: compiled for the first time, for {arguments}"


def _differences(fun: Callable[..., Any], before: CallKey, now: CallKey, static: Sequence[int]) -> list[str]:
    found = _static(before, now)
    if before.in_tree != now.in_tree:
        old, new = (set(leaf_names(fun, key, static)) for key in (before, now))
        more, less = sorted(new - old), sorted(old - new)
        found.append(
            f"the structure of the arguments was {before.in_tree} and is {now.in_tree}"
            + (f" (with {', '.join(more)})" if more else "")
            + (f" (without {', '.join(less)})" if less else "")
        )
    else:
        names = leaf_names(fun, now, static)
        for which, old, new in zip(names, before.avals, now.avals, strict=True):
            if old is not new:
                if old.shape != new.shape:
                    found.append(f"the shape of '{which}' was {show_shape(old.shape)} and is {show_shape(new.shape)}")
                if old.dtype != new.dtype:
                    found.append(f"the dtype of '{which}' was {old.dtype.name} and is {new.dtype.name}")
                if old.weak_type != new.weak_type:
                    found.append(f"the weak type of '{which}' was {old.weak_type} and is {new.weak_type}")
    contexts = cast(tuple[Any, ...], before.context), cast(tuple[Any, ...], now.context)
    for setting, old, new in zip(config.key_settings(), *contexts, strict=False):
        if old != new:
            found.append(f"the setting {setting.name} was {old} and is {new}")
    # The key's entries after the settings: the named axes in scope.
    old, new = (_axes(context[len(config.key_settings()) :]) for context in contexts)
    if old != new:
        found.append(f"the named axes in scope were {old} and are {new}")
    if not found:
        found.append(f"the context was {before.context} and is {now.context}")
    return found


def _axes(scopes: tuple[tuple[tuple[Any, Any], ...], ...]) -> str:
    shown = [f"{name!r} of size {size}" for scope in scopes for name, size in scope]
    return ", ".join(shown) or "none"


def _static(before: CallKey, now: CallKey) -> list[str]:
    old = dict((*before.static_args, *before.static_kwargs))
    new = dict((*now.static_args, *now.static_kwargs))
    found: list[str] = []
    for which in dict.fromkeys((*old, *new)):
        if which not in old or which not in new:
            found.append(f"the static argument {which!r} was {'' if which in old else 'not '}given")
        elif type(old[which]) is not type(new[which]) or old[which] != new[which]:
            found.append(f"the static argument {which!r} was {old[which]!r} and is {new[which]!r}")
    return found


def leaf_names(fun: Callable[..., Any], key: CallKey, static: Sequence[int]) -> list[str]:
    """The names of the dynamic leaves of a call, in order: the parameter, then the path in it."""
    count = len(key.in_tree.children()[0].children()) + len(key.static_args)
    return argument_names(fun, key.in_tree, [place for place in range(count) if place not in static])
