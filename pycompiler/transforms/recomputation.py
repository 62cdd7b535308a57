"""`checkpoint`: a derivative recomputes values of a function instead of keeping them. The public face of the core.

A function is traced once for each kind of arguments, also outside of `jit`. Its graphs are kept with it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, cast

from pycompiler._runtime import context_key
from pycompiler.core.autodiff.checkpoint import Policy, PreventCse, recompute
from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.boundary import boundary, wraps
from pycompiler.core.tracing.flat import FlatFunction, check_arrays, flatten_arguments
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.references import is_of_caller
from pycompiler.core.tracing.user_values import up_to_date
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.tree import PyTreeDef, tree_broadcast, tree_leaves, tree_structure
from pycompiler.core.types.tree_keys import register_pytree_node

# The traces of each function, as long as the function lives; at most this many graphs each.
_traces: weakref.WeakKeyDictionary[Callable[..., Any], dict[Hashable, tuple[ClosedGraph, PyTreeDef]]]
_traces = weakref.WeakKeyDictionary()
_MOST_TRACES = 256


class _Absent:
    """The default of an option that was removed."""

    def __repr__(self) -> str:
        return "Deprecated"


_ABSENT: Any = _Absent()


@boundary
def checkpoint(
    fun: Callable[..., Any],
    *,
    prevent_cse: bool | Sequence[Any] = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
    concrete: Any = _ABSENT,
) -> Callable[..., Any]:
    """A function whose derivative keeps only the arguments and recomputes the rest: less memory, more time.

    Args:
      prevent_cse: keep the compiler from reusing the earlier values in the recomputation. Not needed in the body
        of `scan`. A sequence has an entry for each argument, a tree of bools that is a prefix.
      policy: chooses values to keep: `policy(primitive, *avals, **params)`, one of `checkpoint_policies`.
      static_argnums, static_argnames: arguments that are Python values, not arrays, including lists and dicts.
      concrete: removed, as in jax: any value is a NotImplementedError. Use static arguments.

    The function is traced: Python does not see values. Raises TypeError for an argument that is not an array.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> layer = pc.checkpoint(lambda x: pnp.sin(pnp.sin(x)))
    >>> pc.grad(lambda x: layer(layer(x)))(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _checkpoint("checkpoint", fun, prevent_cse, policy, static_argnums, static_argnames, concrete)


@boundary
def remat(
    fun: Callable[..., Any],
    *,
    prevent_cse: bool = True,
    policy: Policy | None = None,
    static_argnums: int | Sequence[int] = (),
    concrete: Any = _ABSENT,
) -> Callable[..., Any]:
    """Another name of `checkpoint`."""
    return _checkpoint("remat", fun, prevent_cse, policy, static_argnums, (), concrete)


def _several(name: str, option: str, given: Any, kind: type) -> tuple[Any, ...]:
    given = as_integers(name, option, given) if kind is int else given
    several: tuple[Any, ...] = tuple(given) if isinstance(given, (tuple, list, set, frozenset)) else (given,)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not all(isinstance(one, kind) for one in several):
        raise TypeError(f"{name}: {option} holds entries of type {kind.__name__}, got {given!r}")
    return several


def _checkpoint(
    name: str,
    fun: Callable[..., Any],
    prevent_cse: Any,
    policy: Policy | None,
    static_argnums: int | Sequence[int],
    static_argnames: str | Iterable[str],
    concrete: Any,
) -> Callable[..., Any]:
    if concrete is not _ABSENT:
        raise NotImplementedError(
            f"{name}: concrete was removed; name arguments whose values Python must see in static_argnums"
        )
    if not isinstance(prevent_cse, (bool, Sequence)):
        raise TypeError(f"{name}: prevent_cse must be a bool or a sequence of bools, got {prevent_cse!r}")
    if policy is not None and not callable(policy):
        raise TypeError(f"{name}: policy must be a function, got {policy!r} of type {type(policy).__name__}")
    numbers = _several(name, "static_argnums", static_argnums, int)
    names = _several(name, "static_argnames", static_argnames, str)

    @wraps(fun, name)
    def checkpoint_fun(*args: Any, **kwargs: Any) -> Any:
        static = _static_places(name, numbers, args)
        places = [place for place in range(len(args)) if place not in static]
        fixed = {key: value for key, value in kwargs.items() if key in names}
        dynamic = {key: value for key, value in kwargs.items() if key not in fixed}
        given = tuple(args[place] for place in places)
        leaves, in_tree = flatten_arguments((given, dynamic))
        flat = FlatFunction(name, fun, in_tree, places, args, fixed)
        check_arrays(name, fun, leaves, in_tree, places)
        values = (*((place, args[place]) for place in static), *sorted(fixed.items()))
        graph, out_tree = _traced(flat, leaves, (name, in_tree.snapshot(), tuple(map(_static_key, values))))
        flags: PreventCse = _flags(prevent_cse, given, dynamic)
        params = {"name": flat.debug_info().name, "policy": policy, "differentiated": False}
        return out_tree.unflatten(recompute(graph, leaves, flags, **params))

    return checkpoint_fun


def _static_key(entry: tuple[Any, Any]) -> Hashable:
    """A static argument as part of a key: a snapshot of the tree structure that holds it."""
    place, value = entry
    return place, cast(object, type(value)), tree_structure(_Fixed(value)).snapshot()


class _Fixed:
    """A value as part of a tree structure."""

    def __init__(self, value: Any) -> None:
        self.value = value


register_pytree_node(_Fixed, lambda fixed: ((), fixed.value), lambda value, _: _Fixed(value))


def _static_places(name: str, numbers: Sequence[int], args: Sequence[Any]) -> list[int]:
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise ValueError(f"{name}: static_argnums names argument {number} of {len(args)} positional ones")
    return sorted({number % len(args) for number in numbers})


def _flags(prevent_cse: Any, given: tuple[Any, ...], dynamic: dict[str, Any]) -> PreventCse:
    if isinstance(prevent_cse, bool):
        return prevent_cse
    whole = (given, dynamic) if dynamic else given
    return tuple([bool(flag) for flag in tree_leaves(tree_broadcast(tuple(prevent_cse), whole))])


def _traced(flat: FlatFunction, leaves: Sequence[Any], static: Hashable) -> tuple[ClosedGraph, PyTreeDef]:
    """The graph of the function, and the structure of its result."""
    avals = tuple([get_aval(leaf) for leaf in leaves])
    try:
        known = _traces.setdefault(flat.fun, {})
    except TypeError:  # it has no hash, or takes no weak references
        known = {}
    key = (static, avals, context_key())
    traced = known.get(key)
    if traced is None or not up_to_date(traced[0].states):
        graph = make_graph(flat, avals, flat.debug_info())
        traced = (graph, flat.out_tree)
        if len(known) < _MOST_TRACES and not any(map(is_of_caller, graph.consts)):
            known[key] = traced
    return traced
