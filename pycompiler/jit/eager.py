"""Eager evaluation: a compiled module for each primitive, cached by its parameters. Fills `core.hooks`.

Imports `compile` and `checks`; `jit` imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import CallKey, JitFunction, PyTreeDef, ShapedArray
from pycompiler.compile.compile import compiled
from pycompiler.compile.targets import expected_target
from pycompiler.core.autodiff.call import call, call_graph
from pycompiler.core.cache import Cache
from pycompiler.core.config.config import config, trace_key
from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.placement import put
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.key_use import key_use
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import as_array, get_aval
from pycompiler.core.types.tree import tree_flatten
from pycompiler.diagnostics import checks, key_reuse
from pycompiler.primitives.control.checks import check, raise_check
from pycompiler.primitives.spmd.placement import device_put
from pycompiler.spmd import execution

# One jitted function for each primitive and set of parameters.
_functions: Cache[JitFunction] = Cache(lambda: config.cache_size)


def served(call: Callable[..., Any], graph: ClosedGraph) -> Callable[..., Any]:
    """The call of a graph's compiled code with arrays. While a check is on, it checks the results."""
    if not checks.are_enabled():
        return call
    return lambda *args: checks.call_checked(graph, call, [as_array(arg) for arg in args])


def _evaluate(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
    if axes.in_scope():
        # An operation that reaches this function is over none of the named axes.
        with axes.unbound():
            return _evaluate(primitive, args, params)
    if primitive is key_use:
        key_reuse.consume(args[0], params["name"])
        return ()
    if primitive is check:
        raise_check(args, **params)
        return ()
    if primitive is device_put:
        return put(args[0], params["device"])
    if primitive is call:
        graph: ClosedGraph = params["jaxpr"]
        return graph.derive("eager", lambda: _of_graph(graph, params["name"]))(*args)
    key = (primitive, *params.items())
    function = _functions.get(key)
    if function is not None:
        return function(*args)
    for param in params.values():
        value: Any = param[0] if isinstance(param, tuple) and param else param
        if isinstance(value, ClosedGraph):
            # The function of a loop, or of branches, lives as long as its graph.
            return value.derive(("eager", key), lambda: _of_primitive(primitive, params))(*args)
    function = _of_primitive(primitive, params)
    _functions.put(key, function)
    return function(*args)


def _of_primitive(primitive: Primitive, params: dict[str, Any]) -> JitFunction:
    def apply(*operands: Any) -> Any:
        return primitive.bind(*operands, **params)

    def flat(*operands: Any) -> Sequence[Any]:
        out = apply(*operands)
        return out if primitive.multiple_results else (out,)

    graphs: Cache[ClosedGraph] = Cache(lambda: config.cache_size)

    def graph_for(args: Sequence[Any], make: Callable[[ClosedGraph], Any]) -> tuple[ClosedGraph, Any]:
        """The graph for such arguments, and the result of `make` on it."""
        avals = tuple(map(get_aval, args))
        known = (avals, trace_key())
        with graphs.making(known):
            graph = graphs.get(known)
            if graph is not None:
                return graph, make(graph)
            graph = record(flat, avals, DebugInfo("jit", apply))
            made = make(graph)
            # The graph serves calls from all lines, not only from the first.
            for equation in graph.graph.equations:
                equation.source = None
            graphs.put(known, graph)
        return graph, made

    def miss(args: tuple[Any, ...], kwargs: dict[str, Any], key: CallKey) -> Callable[..., Any]:
        def serve(graph: ClosedGraph) -> Callable[..., Any]:
            if execution.runs_on_mesh(graph):
                return sharded
            found = compiled(graph, primitive.name, eager=True, target=expected_target(args))
            return served(found.call(_tree(primitive, graph.out_avals)), graph)

        return graph_for(args, serve)[1]

    def sharded(*args: Any) -> Any:
        graph, outs = graph_for(args, lambda graph: _executed(graph, primitive.name, args))
        return _tree(primitive, graph.out_avals).unflatten(outs)

    apply.__name__ = primitive.name
    return JitFunction(apply, miss, apply, sharded=sharded)


def _executed(graph: ClosedGraph, name: str, args: Sequence[Any], donated: tuple[int, ...] = ()) -> Sequence[Any]:
    """The results of a graph on the devices of a mesh. While a check is on, they are checked."""
    if donated and not checks.are_enabled():
        return execution.execute(graph, name, args, donated)
    return served(lambda *xs: execution.execute(graph, name, xs), graph)(*args)


def _tree(primitive: Primitive, avals: Sequence[ShapedArray]) -> PyTreeDef:
    return tree_flatten(tuple(avals) if primitive.multiple_results else avals[0])[1]


def run_graph(graph: ClosedGraph, name: str, args: Sequence[Any], donated: tuple[int, ...] = ()) -> Sequence[Any]:
    """The results of a graph without constants, outside of any trace. The memory of donated arguments is taken."""
    return graph.derive(("eager", donated), lambda: _of_graph(graph, name, donated))(*args)


def _of_graph(graph: ClosedGraph, name: str, donated: tuple[int, ...] = ()) -> JitFunction:
    def apply(*operands: Any) -> tuple[Any, ...]:
        return call_graph(graph, name, operands)

    def miss(args: tuple[Any, ...], kwargs: dict[str, Any], key: CallKey) -> Callable[..., Any]:
        if execution.runs_on_mesh(graph):
            return sharded
        taken = () if checks.are_enabled() else donated
        found = compiled(graph, name, False, taken, target=expected_target(args))
        return served(found.call(tree_flatten(graph.out_avals)[1], taken), graph)

    def sharded(*args: Any) -> tuple[Any, ...]:
        return tuple(_executed(graph, name, args, donated))

    return JitFunction(apply, miss, apply, sharded=sharded)


def forget() -> None:
    """Drop the compiled functions of eager evaluation."""
    _functions.clear()


hooks.evaluate = _evaluate
