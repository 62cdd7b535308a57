"""A user's function over trees as a function over leaves. Every transformation traces such a function.

A `FlatFunction` also has the name of each leaf (`params['w']`), computed from the signature only when a message needs
it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from pycompiler._runtime import set_nothing
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.references import Ref, hide, returned
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.core.types.tree_keys import register_pytree_node


class FlatFunction:
    """`fun(*args, **kwargs)` called with the leaves of `(args, kwargs)`. After a call, `out_tree` is its result's.

    With `places`, the tree holds the arguments at these positions only; the others, and keyword arguments, are fixed.
    With `has_aux`, the function returns a pair. The leaves of the aux follow those of the output. `active` counts the
    leaves of the output, and `split` separates the two.
    """

    __slots__ = ("_aux_tree", "_out_tree", "fixed", "fixed_kwargs", "fun", "has_aux", "in_tree", "places", "transform")

    def __init__(
        self,
        transform: str,
        fun: Callable[..., Any],
        in_tree: PyTreeDef,
        places: Sequence[int] | None = None,
        fixed: Sequence[Any] = (),
        fixed_kwargs: Mapping[str, Any] | None = None,
        has_aux: bool = False,
    ) -> None:
        self.transform = transform
        self.fun = fun
        self.in_tree = in_tree
        self.places = places
        self.fixed = fixed
        self.fixed_kwargs = fixed_kwargs or {}
        self.has_aux = has_aux
        self._aux_tree: PyTreeDef | None = None
        self._out_tree: PyTreeDef | None = None

    @property
    def out_tree(self) -> PyTreeDef:
        """The structure of the result. Available after a call."""
        assert self._out_tree is not None
        return self._out_tree

    def __call__(self, *leaves: Any) -> list[Any]:
        args, kwargs = self.in_tree.unflatten(leaves)
        if self.places is not None:
            moving, args = args, list(self.fixed)
            for place, arg in zip(self.places, moving, strict=True):
                args[place] = arg
        result = self.fun(*args, **kwargs, **self.fixed_kwargs)
        aux_leaves: list[Any] = []
        if self.has_aux:
            result, aux = self._pair(result)
            aux_leaves, self._aux_tree = tree_flatten(aux)
        outs, self._out_tree = tree_flatten(result)
        if self.transform != "vmap":
            outs, self._out_tree = _without_nothing(outs, self._out_tree)
        for index, out in enumerate(outs):
            if not is_array(out):
                path = self._out_tree.paths()[index]
                if type(out) is Ref:
                    raise returned(self.debug_info(), out, path)
                raise TypeError(
                    f"{self.transform}: {self.debug_info().name} returned {_article(out)} at output{path}, not an array"
                )
        return [*outs, *aux_leaves]

    def _pair(self, result: Any) -> tuple[Any, Any]:
        if not isinstance(result, (tuple, list)) or len(cast(Sequence[Any], result)) != 2:
            raise TypeError(
                f"{self.transform}: with has_aux=True {self.debug_info().name} must return a pair (output, aux), "
                f"it returned {_article(cast(object, result))}"
            )
        output, aux = cast(Sequence[Any], result)
        return output, aux

    def active(self) -> int:
        """The number of leaves of the output without the aux. Available after a call."""
        return self.out_tree.num_leaves

    def split(self, outs: Sequence[Any]) -> tuple[list[Any], Any]:
        """The leaves of the output, and the aux: None without `has_aux`."""
        count = self.active()
        aux = None if self._aux_tree is None else self._aux_tree.unflatten(outs[count:])
        return list(outs[:count]), aux

    def debug_info(self) -> DebugInfo:
        """The debug info for a trace of this function."""
        return DebugInfo(self.transform, self.fun, self.names)

    def names(self) -> list[str]:
        """The names of the leaves that are its arguments."""
        return argument_names(self.fun, self.in_tree, self.places)


class _Nothing:
    """Stands for an array of dtype float0, the derivative of an integer: part of the structure, not a leaf."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


def nothing_of(shape: Iterable[Any]) -> np.ndarray[Any, Any]:
    """The derivative of an integer array of this shape. A symbolic size in the shape becomes 0."""
    return np.zeros([size if isinstance(size, int) else 0 for size in shape], dtypes.float0)


def _make_nothing(shape: tuple[int, ...], _: Any) -> Any:
    return np.zeros(shape, dtypes.float0)


register_pytree_node(_Nothing, lambda node: ((), node.shape), _make_nothing)
set_nothing(dtypes.float0, _Nothing)


def _without_nothing(leaves: list[Any], tree: PyTreeDef) -> tuple[list[Any], PyTreeDef]:
    if not any(map(_holds_nothing, leaves)):
        return leaves, tree
    return tree_flatten(tree.unflatten([_Nothing(x.shape) if _holds_nothing(x) else x for x in leaves]))


def flatten_arguments(tree: Any) -> tuple[list[Any], PyTreeDef]:
    """The leaves of arguments for a trace, and their structure. Arrays of dtype float0 and references are part of the
    structure."""
    return _without_nothing(*hide(*tree_flatten(tree)))


def _holds_nothing(x: Any) -> bool:
    return type(x) is np.ndarray and x.dtype == dtypes.float0  # pyright: ignore[reportUnknownMemberType]


def argument_names(fun: Callable[..., Any], in_tree: PyTreeDef, positions: Sequence[int] | None = None) -> list[str]:
    """The name of each leaf of `in_tree`: the parameter's, then the key path in it.

    `in_tree` is a tree of (args, kwargs). If `positions` is given, args are the arguments at these positions.
    """
    count = len(in_tree.children()[0].children())
    places = range(count) if positions is None else positions
    parameters = _parameters(fun, max(places, default=-1) + 1)
    names: list[str] = []
    for path in in_tree.paths():
        # "[0][1]['w']" is in the second positional argument; "[1]['scale']" is a keyword argument.
        kind, (key, _, tail) = path[:3], path[4:].partition("]")
        names.append((parameters[places[int(key)]] if kind == "[0]" else key.strip("'\"")) + tail)
    return names


def _parameters(fun: Callable[..., Any], count: int) -> list[str]:
    names: list[str] = []
    try:
        parameters = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(count - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return names + [f"argument {i}" for i in range(len(names), count)]


def _article(x: object) -> str:
    text = repr(x)
    return f"{text if len(text) < 40 else text[:37] + '...'} of type {type(x).__name__}"


def check_arrays(
    transform: str,
    fun: Callable[..., Any],
    leaves: Sequence[Any],
    in_tree: PyTreeDef,
    places: Sequence[int] | None = None,
) -> None:
    """Raise TypeError, naming the argument, unless every leaf is an array or a scalar."""
    for index, leaf in enumerate(leaves):
        if is_array(leaf):
            try:
                get_aval(leaf)
            except TypeError as error:
                name = argument_names(fun, in_tree, places)[index]
                kind = ArgumentError if isinstance(error, ArgumentError) else TypeError
                raise kind(f"{transform}: argument '{name}' of {DebugInfo(transform, fun).name}: {error}") from None
        else:
            name = argument_names(fun, in_tree, places)[index]
            # As in JAX, a ValueError for objects that functions take as arrays.
            stands = hasattr(cast(type[Any], type(leaf)), "__jax_array__")
            kind = ArgumentError if stands else TypeError
            advice = "; convert it by numpy.asarray, or register its class as a container" if stands else ""
            raise kind(
                f"{transform}: argument '{name}' of {DebugInfo(transform, fun).name} is {_article(leaf)}, not an array"
                f"{advice}"
            )
