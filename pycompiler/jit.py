"""`jit`: joins tracing, compilation and the runtime; and eager evaluation, which is a compiled module of one primitive.

`_runtime.JitFunction` owns the call: it flattens the arguments, looks for a compiled entry, and asks `_Program` here on
a miss, or when something is being traced.
"""

from __future__ import annotations

import copyreg
import functools
import inspect
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pycompiler._runtime import (
    Array,
    CallKey,
    CompiledCall,
    JitFunction,
    PyTreeDef,
    context_key,
    set_error_type,
    set_leaf_converter,
)
from pycompiler.compile import compile_graph
from pycompiler.core import axes, errors
from pycompiler.core import primitive as core_primitive
from pycompiler.core.aval import as_array, get_aval, short
from pycompiler.core.boundary import boundary
from pycompiler.core.call import call, call_graph
from pycompiler.core.flat import FlatFunction, check_arrays
from pycompiler.core.graph import ClosedGraph
from pycompiler.core.primitive import Primitive
from pycompiler.core.record import make_graph
from pycompiler.core.trace import Tracer
from pycompiler.core.tree import tree_flatten
from pycompiler.lowered import Lowered

__all__ = ["block_until_ready", "clear_caches", "jit"]

Traced = tuple[ClosedGraph, PyTreeDef]

# Every jitted function that is alive, for `clear_caches`.
_programs: weakref.WeakSet[_Program] = weakref.WeakSet()


class _Program:
    """The Python half of one jitted function: traces it, and compiles what was traced."""

    def __init__(
        self, fun: Callable[..., Any], static_argnums: tuple[int, ...], static_argnames: tuple[str, ...]
    ) -> None:
        self.fun = fun
        self.name = getattr(fun, "__name__", type(fun).__name__)
        self.static_argnums = static_argnums
        self.static_argnames = static_argnames
        self.traces: dict[Hashable, Traced] = {}
        self.function: Callable[[], JitFunction | None] = lambda: None
        _programs.add(self)

    def flatten(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[FlatFunction, list[Any], Hashable]:
        """The function of the leaves of the dynamic arguments, these leaves, and what else it is traced by."""
        places = [index for index in range(len(args)) if index not in self.static_argnums]
        static = {name: value for name, value in kwargs.items() if name in self.static_argnames}
        dynamic = {name: value for name, value in kwargs.items() if name not in static}
        leaves, in_tree = tree_flatten((tuple(args[place] for place in places), dynamic))
        flat = FlatFunction("jit", self.fun, in_tree, places, args, static)
        check_arrays("jit", self.fun, leaves, in_tree, places)
        fixed = [*((str(i), args[i]) for i in self.static_argnums if i < len(args)), *static.items()]
        for name, value in fixed:
            try:
                hash(value)
            except TypeError:
                raise ValueError(
                    f"jit of {self.name}: the static argument {name} is {value!r} of type {type(value).__name__}, "
                    "which is not hashable; pass a tuple instead of a list, or let the argument be traced"
                ) from None
        return flat, leaves, (in_tree, tuple(fixed), context_key())

    def trace(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[ClosedGraph, PyTreeDef, list[Any], PyTreeDef]:
        """The graph for these arguments, from the cache if they were met before, the tree of its results; the leaves of
        the dynamic arguments and their tree."""
        flat, leaves, key = self.flatten(args, kwargs)
        avals = tuple([get_aval(leaf) for leaf in leaves])
        traced = self.traces.get((key, avals))
        if traced is None:
            graph = make_graph(flat, avals, flat.origin())
            traced = (graph, flat.out_tree)
            # A graph that closes over a tracer of an outer transformation is good for this call alone.
            if not any(isinstance(const, Tracer) for const in graph.consts):
                self.traces[key, avals] = traced
        return *traced, leaves, flat.in_tree

    @boundary
    def miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], key: CallKey) -> Callable[..., Any]:
        """Called by the runtime for a signature that it does not know."""
        graph, out_tree, _, _ = self.trace(args, kwargs)
        if graph.axis_names:
            # The traces of these axes take the call.
            return self.traced
        return compile_graph(graph, self.name).call(out_tree)

    @boundary
    def traced(self, *args: Any, **kwargs: Any) -> Any:
        """Called by the runtime when an argument is a tracer, or when a graph is being recorded."""
        graph, out_tree, leaves, _ = self.trace(args, kwargs)
        return out_tree.unflatten(call_graph(graph, self.name, leaves))

    @boundary
    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Trace for these arguments (arrays, or anything with a shape and dtype) without running anything."""
        graph, out_tree, _, in_tree = self.trace(args, kwargs)
        return Lowered(graph, self.name, in_tree, out_tree)

    def clear(self) -> None:
        self.traces.clear()
        function = self.function()
        if function is not None:
            function.clear_cache()

    def explain_last_miss(self) -> str:
        """In one line: in what the last call that was compiled differed from those before it."""
        function = self.function()
        key = function.last_miss if function is not None else None
        if function is None or key is None:
            return f"{self.name}: no call has been compiled"
        others = [other for other in function.cached_keys() if other != key]
        if not others:
            return f"{self.name}: compiled for the first time, for ({', '.join(map(short, key.avals))})"
        return f"{self.name}: compiled again, because {_difference(others[-1], key)}"


def _difference(before: CallKey, now: CallKey) -> str:
    if before.in_tree != now.in_tree:
        return f"the structure of the arguments was {before.in_tree} and is {now.in_tree}"
    for index, (old, new) in enumerate(zip(before.avals, now.avals, strict=True)):
        if old is not new:
            kind = "shape" if old.shape != new.shape else "dtype" if old.dtype != new.dtype else "weak type"
            return f"the {kind} of array {index} was {old!r} and is {new!r}"
    if (before.static_args, before.static_kwargs) != (now.static_args, now.static_kwargs):
        return (
            f"the static arguments were {before.static_args + before.static_kwargs} and are "
            f"{now.static_args + now.static_kwargs}"
        )
    return f"the settings were {before.context} and are {now.context}"


def _several(given: Any) -> tuple[Any, ...]:
    """What an option that takes one entry or several was given; a string is one."""
    if given is None:
        return ()
    return tuple(given) if hasattr(given, "__iter__") and not isinstance(given, str) else (given,)


def _resolve_static(
    fun: Callable[..., Any], argnums: int | Sequence[int] | None, argnames: str | Sequence[str] | None
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Static arguments by number and by name: a parameter named one way is static the other way too."""
    numbers: tuple[Any, ...] = _several(argnums)
    names: tuple[Any, ...] = _several(argnames)
    for option, given, kind in (("static_argnums", numbers, int), ("static_argnames", names, str)):
        if not all(isinstance(entry, kind) for entry in given):
            raise TypeError(f"jit: {option} holds entries of type {kind.__name__}, got {given!r}")
    if not numbers and not names:
        return (), ()
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return numbers, names
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    known = {p.name for p in parameters}
    for name in names:
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in parameters):
            raise ValueError(f"jit: static_argnames has '{name}', but the parameters of {fun} are {sorted(known)}")
    resolved: list[int] = []
    for number in numbers:
        index = number + len(positional) if number < 0 else number
        if not 0 <= index < len(positional) and not (variadic and number >= 0):
            raise ValueError(f"jit: static_argnums has {number}, but {fun} has {len(positional)} positional parameters")
        resolved.append(index)
    resolved += [positional.index(name) for name in names if name in positional]
    names += tuple(positional[i] for i in resolved if i < len(positional))
    return tuple(sorted(set(resolved))), tuple(dict.fromkeys(names))


@boundary
def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
) -> Any:
    """Compile `fun` the first time that it is called with arguments of a kind, and run compiled code from then on.

    Args:
      fun: a function of trees of arrays that returns a tree of arrays. Without it, a decorator is returned.
      static_argnums, static_argnames: arguments that are hashable Python values and not arrays; another value compiles
        again.

    Returns a function with the methods `lower(*args)`, `clear_cache()`, `explain_last_miss()`. Its results are futures.

    Raises TypeError, naming the argument, for an argument that is not an array; ValueError for a static one that is not
    hashable.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.jit(lambda x: pnp.sin(x) ** 2 + pnp.cos(x) ** 2)(pnp.float32(3))
    Array(1., dtype=float32)
    """
    if fun is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames)
    if not callable(fun):
        raise TypeError(f"jit: takes a function, got {fun!r} of type {type(fun).__name__}")
    numbers, names = _resolve_static(fun, static_argnums, static_argnames)
    program = _Program(fun, numbers, names)
    function = JitFunction(fun, program.miss, program.traced, numbers, names)
    functools.update_wrapper(function, fun)
    program.function = weakref.ref(function)
    function.lower = program.lower
    function.explain_last_miss = program.explain_last_miss
    return function


# Eager evaluation: one jitted function for each primitive and set of parameters.
_eager: dict[Hashable, JitFunction] = {}


def _evaluate(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
    if axes.in_scope():
        # What has come here is over none of them.
        with axes.unbound():
            return _evaluate(primitive, args, params)
    if primitive is call:
        # The compiled code of a graph lives as long as the graph.
        graph: ClosedGraph = params["graph"]
        return graph.derive("compiled", lambda: _compiled_graph(graph, params["name"]))(*args)
    key = (primitive, *params.items())
    for value in params.values():
        if isinstance(value, ClosedGraph):
            # So does that of a loop, which is kept with its graph.
            return value.derive(("eager", key), lambda: _compiled_primitive(primitive, params))(*args)
    function = _eager.get(key)
    if function is None:
        function = _eager[key] = _compiled_primitive(primitive, params)
    return function(*args)


def _compiled_primitive(primitive: Primitive, params: dict[str, Any]) -> JitFunction:
    def apply(*operands: Any) -> Any:
        return primitive.bind(*operands, **params)

    apply.__name__ = primitive.name
    program = _Program(apply, (), ())
    return JitFunction(apply, program.miss, program.traced)


def _compiled_graph(graph: ClosedGraph, name: str) -> JitFunction:
    def apply(*operands: Any) -> tuple[Any, ...]:
        return call_graph(graph, name, operands)

    @functools.cache
    def compiled() -> CompiledCall:
        out_tree = tree_flatten(graph.out_avals)[1]
        return compile_graph(graph, name).call(out_tree)

    return JitFunction(apply, lambda args, kwargs, key: compiled(), apply)


def block_until_ready(tree: Any) -> Any:
    """Wait until every array of the tree is computed, raise what went wrong in one of them; returns the tree."""
    for leaf in tree_flatten(tree)[0]:
        if isinstance(leaf, Array):
            leaf.block_until_ready()
    return tree


def clear_caches() -> None:
    """Forget everything that was traced and compiled."""
    for program in list(_programs):
        program.clear()
    _eager.clear()


# As plain functions are: copies are the function itself, and a pickle holds the name by which it is imported.
copyreg.pickle(JitFunction, lambda function: getattr(function, "__qualname__", repr(function)))  # pyright: ignore[reportArgumentType]
set_leaf_converter(as_array)
set_error_type(errors.ExecutionError)
core_primitive.eager_slot = _evaluate
