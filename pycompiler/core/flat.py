"""A user's function over trees as a function over leaves: what every transformation traces.

It also knows the name of each leaf (`params['w']`), worked out from the signature only when a message needs it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.aval import is_array
from pycompiler.core.trace import Origin
from pycompiler.core.tree import PyTreeDef, tree_flatten


class FlatFunction:
    """`fun(*args, **kwargs)` called with the leaves of `(args, kwargs)`. After a call, `out_tree` is its result's."""

    __slots__ = ("fun", "in_tree", "out_tree", "transform")

    def __init__(self, transform: str, fun: Callable[..., Any], in_tree: PyTreeDef) -> None:
        self.transform = transform
        self.fun = fun
        self.in_tree = in_tree
        self.out_tree: PyTreeDef | None = None

    def __call__(self, *leaves: Any) -> list[Any]:
        args, kwargs = self.in_tree.unflatten(leaves)
        outs, self.out_tree = tree_flatten(self.fun(*args, **kwargs))
        for index, out in enumerate(outs):
            if not is_array(out):
                path = self.out_tree.paths()[index]
                raise TypeError(
                    f"{self.transform}: {self.origin().name} returned {_article(out)} at output{path}, which is not an array"
                )
        return outs

    def origin(self) -> Origin:
        """What a trace of this function is told about it."""
        return Origin(self.transform, self.fun, lambda: argument_names(self.fun, self.in_tree))


def argument_names(fun: Callable[..., Any], in_tree: PyTreeDef) -> list[str]:
    """The name of each leaf of `in_tree`, a tree of (args, kwargs): the parameter's, then the key path in it."""
    positional = _parameters(fun, in_tree.children()[0].children())
    names: list[str] = []
    for path in in_tree.paths():
        # "[0][1]['w']" is the second positional argument's; "[1]['scale']" a keyword's.
        kind, rest = path[:3], path[3:]
        key, _, tail = rest[1:].partition("]")
        if kind == "[0]":
            index = int(key)
            names.append((positional[index] if index < len(positional) else f"[{index}]") + tail)
        else:
            names.append(key.strip("'\"") + tail)
    return names


def _parameters(fun: Callable[..., Any], args: Sequence[Any]) -> list[str]:
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return []
    names: list[str] = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(len(args) - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return names


def _article(x: object) -> str:
    text = repr(x)
    return f"{text if len(text) < 40 else text[:37] + '...'} of type {type(x).__name__}"


def check_arrays(transform: str, fun: Callable[..., Any], leaves: Sequence[Any], in_tree: PyTreeDef) -> None:
    """Raise TypeError, naming the argument, unless every leaf is an array or a scalar."""
    for index, leaf in enumerate(leaves):
        if not is_array(leaf):
            raise TypeError(
                f"{transform}: argument '{argument_names(fun, in_tree)[index]}' of {Origin(transform, fun).name} is "
                f"{_article(leaf)}, which is not an array"
            )
