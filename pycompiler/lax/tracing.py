"""Shared functions of control flow: they trace the user's functions and check carries.

A function is traced once for each kind of arguments, also outside of `jit`. Its graphs live as long as the function.
Part of lax.
"""

import dis
import functools
import types
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.custom_batch import Custom
from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config, trace_key
from pycompiler.core.tracing.flat import FlatFunction, argument_names
from pycompiler.core.tracing.graph import ClosedGraph, Graph
from pycompiler.core.tracing.nested import graphs_in
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.references import check_aliases, hide, is_of_caller
from pycompiler.core.tracing.trace import current_trace
from pycompiler.core.tracing.user_values import up_to_date
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, same_type, short
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.lax.operands import cast
from pycompiler.primitives.control.custom_vmap import CustomMap
from pycompiler.primitives.control.graphs import opened

Tree = Any
Traced = tuple[ClosedGraph, PyTreeDef]

# The traces of each function, as long as the function lives.
_traces: weakref.WeakKeyDictionary[Callable[..., Any], dict[Hashable, Traced]] = weakref.WeakKeyDictionary()
# The maximum number of traces of one function. A program with more kinds of carries traces again.
_MOST_TRACES = 256

# The last graphs without constants, by their contents. Equal graphs share results, such as compiled code.
_known_graphs: Cache[ClosedGraph] = Cache(lambda: config.cache_size)


def forget() -> None:
    """Drop all traces."""
    _traces.clear()
    _known_graphs.clear()


def trace_function(
    name: str, fun: Callable[..., Any], in_tree: PyTreeDef, avals: Sequence[ShapedArray], keep: bool = True
) -> Traced:
    """The graph of a function of trees, from leaves to leaves, and the structure of its result. Unless `keep`, the
    function is traced anew, as what it closes over may have changed."""
    key = (name, in_tree.snapshot(), tuple(avals), trace_key())
    try:
        known = _traces.setdefault(fun, {}) if keep else {}
    except TypeError:  # the function has no hash, or no weak references
        known = {}
    traced = known.get(key)
    if traced is None or not up_to_date(traced[0].states):
        flat = FlatFunction(name, fun, in_tree)
        graph = make_graph(flat, avals, flat.debug_info())
        if current_trace() is None:
            pure = graph.discharged()
            pure.derived["opened"] = _like_known(*opened(pure))
        traced = (graph, flat.out_tree)
        if len(known) < _MOST_TRACES and not any(map(is_of_caller, graph.consts)):
            known[key] = traced
    return traced


def without_references(name: str, fun: Callable[..., Any], tree: Any) -> tuple[list[Any], PyTreeDef]:
    """The leaves of a tree of (args, kwargs), and its structure, which has the references. Raises ValueError for a
    reference that occurs twice."""
    leaves, structure = tree_flatten(tree)
    check_aliases(name, fun, leaves, lambda: argument_names(fun, structure))
    return hide(leaves, structure)


@functools.lru_cache(1024)
def _instruction(code: types.CodeType, lasti: int) -> int:
    """The place of the instruction that owns a place in its code. After some calls CPython specializes code. Then the
    place of a calling frame is in the inline cache behind its instruction."""
    while lasti > 0 and code.co_code[lasti] == _CACHE:
        lasti -= 2
    return lasti


_CACHE = dis.opmap["CACHE"]


def _like_known(graph: ClosedGraph, consts: list[Any]) -> tuple[ClosedGraph, list[Any]]:
    """The graph, or a known graph of the same equations from the same lines.

    A new lambda for each call of a loop is traced each time, but compiled once.
    """
    inner = graph.graph
    sources = [e.source and (e.source.code, _instruction(e.source.code, e.source.lasti)) for e in inner.equations]
    weak = [aval.weak_type for aval in (*graph.in_avals, *graph.out_avals)]
    key = (repr(inner), tuple(sources), tuple(weak), tuple(_unprinted(inner)))
    known = _known_graphs.get(key)
    if known is None:
        _known_graphs.put(key, graph)
    return known or graph, consts


def _unprinted(graph: Graph) -> Iterator[Hashable]:
    """The parts of a graph whose text is not all of them: primitives of users, and objects among the parameters, such
    as rules and meshes. An object without a hash is known by its address: a known graph keeps it alive."""
    for part in graphs_in(graph):
        for equation in part.equations:
            if equation.primitive.is_users:
                yield equation.primitive
            for value in equation.params.values():
                items: tuple[Any, ...] = value if type(value) is tuple else (value,)  # pyright: ignore[reportUnknownVariableType]
                yield from [_identity(item) for item in items if type(item) not in _PRINTED]


_PRINTED = frozenset({int, float, bool, str, type(None), ClosedGraph})


def _identity(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value.key if isinstance(value, (Custom, CustomMap)) else value


def check_callable(name: str, **functions: Any) -> None:
    """Raise TypeError, naming the parameter, for an object that is not a function."""
    for what, fun in functions.items():
        if not callable(fun):
            raise TypeError(f"{name}: {what} must be a function, got {fun!r} of type {type(fun).__name__}")


def promoted_carry(leaves: Sequence[Any], after: Sequence[ShapedArray]) -> list[Any] | None:
    """The leaves of a carry: weakly typed ones take the dtype that the body returns. None if nothing changes."""
    promoted: list[Any] = []
    for leaf, given in zip(leaves, after, strict=True):
        aval = get_aval(leaf)
        differs = aval.weak_type and given.dtype != aval.dtype
        follows = differs and dtypes.wider(aval, given) == given.dtype
        promoted.append(cast(leaf, given.dtype) if follows else leaf)
    return None if all(a is b for a, b in zip(leaves, promoted, strict=True)) else promoted


def check_carry(
    name: str, what: str, body: Callable[..., Any], tree: PyTreeDef, carry: Sequence[Any], after: Sequence[ShapedArray]
) -> None:
    """Raise TypeError, naming the leaf, if the body changes the type of the carry."""
    changed = [
        f"{what}{path} starts as {short(before)}, but {name_of(body)} returns {short(given)} for it"
        for path, before, given in zip(tree.paths(), carry, after, strict=True)
        if not same_type(get_aval(before), given) or _moves(get_aval(before), given)
    ]
    if changed:
        more = f" (and {len(changed) - 3} more)" if len(changed) > 3 else ""
        moves = any(_moves(get_aval(before), given) for before, given in zip(carry, after, strict=True))
        kept = "its shape, its dtype and the sharding of its type" if moves else "its shape and dtype"
        raise TypeError(f"{name}: {'; '.join(changed[:3])}{more}; {kept} must stay the same: convert one to the other")


def _moves(before: ShapedArray, after: ShapedArray) -> bool:
    """Whether the sharding of the type changes in a loop."""
    return before.explicit_sharding is not after.explicit_sharding


def check_structure(name: str, what: str, body: Callable[..., Any], before: PyTreeDef, after: PyTreeDef) -> None:
    """Raise TypeError, naming the first place, if the body changes the structure of the carry."""
    if before != after:
        where = difference(before, after)
        raise TypeError(
            f"{name}: {what} starts with the structure {before}, but {name_of(body)} returns {after}"
            f"{f' ({where})' if where else ''}; return the structure of its argument"
        )


def difference(one: PyTreeDef, other: PyTreeDef) -> str:
    """The leaves that are in only one of two structures, if they have names; else an empty text."""
    first, second = one.paths(), other.paths()
    gone = [path for path in first if path and path not in second]
    new = [path for path in second if path and path not in first]
    shown = [f"only the first has {', '.join(gone[:3])}"] if gone else []
    shown += [f"only the second has {', '.join(new[:3])}"] if new else []
    return "; ".join(shown)


def on_device(results: Sequence[Any]) -> list[Any]:
    """Results as arrays. A loop or branch may pass on a scalar or NumPy array of the caller unchanged."""
    return [as_array(x) for x in results]


def name_of(fun: Callable[..., Any]) -> str:
    """The name of a user's function in messages."""
    return getattr(fun, "__name__", type(fun).__name__)
