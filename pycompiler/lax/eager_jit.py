"""Eager calls of compositions as one compiled call.

Outside any trace, a function of many small steps is traced once for each kind of arguments, and compiled as a whole.
"""

import functools
from collections.abc import Callable, Hashable
from typing import Any

from pycompiler._runtime import ShapedArray, current_trace
from pycompiler.core.autodiff.call import call_graph
from pycompiler.core.config.config import trace_key
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types.aval import get_aval


def eager_jit(function: Callable[..., Any], *args: Any, **static: Hashable) -> Any:
    """function(*args, **static), which returns an array or a tuple of arrays, as one compiled call.

    `function` must be defined in a module (not a new closure), because it is part of the key; `static` must be
    hashable.
    """
    if current_trace() is not None:
        return function(*args, **static)
    avals = tuple(map(get_aval, args))
    if axes.in_scope():
        # A module's function uses no named axis, so one trace serves every scope.
        with axes.unbound():
            graph = _graph(function, avals, tuple(static.items()), trace_key())
    else:
        graph = _graph(function, avals, tuple(static.items()), trace_key())
    results = call_graph(graph, function.__name__.strip("_"), args)
    return results[0] if len(results) == 1 else results


@functools.lru_cache(maxsize=4096)
def _graph(
    function: Callable[..., Any], avals: tuple[ShapedArray, ...], static: tuple[tuple[str, Any], ...], context: Hashable
) -> ClosedGraph:
    def flat(*args: Any) -> Any:
        out = function(*args, **dict(static))
        return out if isinstance(out, tuple) else (out,)

    graph = record(flat, avals, DebugInfo("jit", function))
    # The graph serves calls from other lines, so it keeps no line of the first call.
    for equation in graph.graph.equations:
        equation.source = None
    return graph
