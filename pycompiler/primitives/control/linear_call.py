"""`linear_call`: a linear function and its transpose, both written by the user.

Both graphs take the constants and the residuals first. `graph` maps (residuals, linear arguments) to the results,
`transpose` maps (residuals, cotangents of the results) to the cotangents of the linear arguments. The transpose of the
operation swaps both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycompiler.core.autodiff.call import reference_of
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import Primitive, Zero, is_undefined, is_zero
from pycompiler.core.tracing.structural import instantiate, mapped_size, with_batch_dim
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import ShapedArray, strong
from pycompiler.primitives.control.graphs import check_takes, mapped_graph
from pycompiler.primitives.rules import Dims, Value

Outs = tuple[Value, ...]


def _shape(*avals: ShapedArray, graph: ClosedGraph, transpose: ClosedGraph, residuals: int) -> tuple[ShapedArray, ...]:
    check_takes("linear_call", "the function", graph, avals)
    return graph.out_avals


def _jvp(primals: Sequence[Value], tangents: Sequence[Value], **params: Any) -> tuple[Outs, Outs]:
    count = params["residuals"]
    if not all(map(is_zero, tangents[:count])):
        raise NotDifferentiableError(
            "linear_call: a residual is differentiated, but the function is linear in its second argument only. What "
            "to do: wrap the residual in lax.stop_gradient, or call the function itself"
        )
    outs = linear_call.bind(*primals, **params)
    avals = [strong(aval) for aval in params["graph"].out_avals]
    if all(map(is_zero, tangents[count:])):
        return outs, tuple([Zero(aval) for aval in avals])
    moved = linear_call.bind(*primals[:count], *map(instantiate, tangents[count:]), **params)
    return outs, tuple(
        [t if dtypes.is_inexact(aval.dtype) else Zero(aval) for t, aval in zip(moved, avals, strict=True)]
    )


def _transpose(
    cotangents: Sequence[Value], *args: Value, graph: ClosedGraph, transpose: ClosedGraph, residuals: int
) -> Sequence[Value]:
    assert not any(map(is_undefined, args[:residuals])), "a linear_call is linear in its second argument alone"
    found = linear_call.bind(
        *args[:residuals], *map(instantiate, cotangents), graph=transpose, transpose=graph, residuals=residuals
    )
    given = zip(found, args[residuals:], strict=True)
    return [*(None for _ in args[:residuals]), *(ct if is_undefined(x) else None for ct, x in given)]


def _batch(
    args: Sequence[Value], dims: Dims, *, graph: ClosedGraph, transpose: ClosedGraph, residuals: int
) -> tuple[Outs, tuple[int | None, ...]]:
    size = mapped_size(args, dims)
    first = tuple(dims[:residuals])
    linear = [with_batch_dim(x, d, 0, size) for x, d in zip(args[residuals:], dims[residuals:], strict=True)]

    def mapped(graph: ClosedGraph) -> ClosedGraph:
        in_dims = (*first, *(0 for _ in graph.in_avals[residuals:]))
        return mapped_graph(graph, in_dims, size, (True,) * len(graph.out_avals))[0]

    outs = linear_call.bind(
        *args[:residuals], *linear, graph=mapped(graph), transpose=mapped(transpose), residuals=residuals
    )
    return outs, (0,) * len(outs)


def _reference(*args: Any, graph: ClosedGraph, **_: Any) -> tuple[Any, ...]:
    return reference_of(graph, args)


linear_call = Primitive(
    name="linear_call",
    shape_rule=_shape,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    reference=_reference,
    multiple_results=True,
)
