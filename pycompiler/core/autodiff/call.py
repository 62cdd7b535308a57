"""The primitive of nested calls: `jit` inside a traced function. Its rules transform the graph in its parameters.

The original graph keeps its transformed graphs, so a function called a hundred times is transformed and compiled once.
`emit` lowers the primitive to `array.call`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.autodiff.linearize import linearize_graph
from pycompiler.core.autodiff.transpose import transpose_graph
from pycompiler.core.batching.batch import batch_graph
from pycompiler.core.errors import JaxprTypeError
from pycompiler.core.tracing.graph import ClosedGraph, close_over
from pycompiler.core.tracing.primitive import Dims, Primitive, UndefinedPrimal, Zero
from pycompiler.core.tracing.structural import mapped_size
from pycompiler.core.types.aval import get_aval, same_type, short


def call_graph(closed: ClosedGraph, name: str, args: Sequence[Any]) -> tuple[Any, ...]:
    """Call a graph: one equation in a trace. The graph's constants become arguments of the call."""
    if closed.refers:
        pure = call_graph(closed.discharged(), name, [*args, *(ref.read() for ref in closed.touched)])
        return tuple(closed.stored(pure))
    opened, consts = closed.derive("opened", lambda: close_over(closed))
    return call.bind(*consts, *args, name=name, jaxpr=opened)


def _shape(*avals: ShapedArray, jaxpr: ClosedGraph, name: str) -> tuple[ShapedArray, ...]:
    wanted = jaxpr.in_avals
    if len(avals) != len(wanted) or not all(map(same_type, avals, wanted)):
        raise JaxprTypeError(
            f"jit of {name}: the graph takes ({', '.join(map(short, wanted))}), "
            f"called with ({', '.join(map(short, avals))})"
        )
    return jaxpr.out_avals


def _varying(tangents: Sequence[Any]) -> tuple[bool, ...]:
    return tuple([type(t) is not Zero for t in tangents])


def _tangents(outs: Sequence[Any], varying: Sequence[bool], given: Sequence[Any]) -> tuple[Any, ...]:
    values = iter(given)
    return tuple([next(values) if v else Zero(get_aval(x)) for x, v in zip(outs, varying, strict=True)])


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedGraph, name: str
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    both, out_varying = jvp_graph(jaxpr, _varying(tangents))
    moving = [t for t in tangents if type(t) is not Zero]
    results = call_graph(both, name, (*primals, *moving))
    outs = results[: len(out_varying)]
    return outs, _tangents(outs, out_varying, results[len(out_varying) :])


def _linearize(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedGraph, name: str
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    parts = linearize_graph(jaxpr, _varying(tangents))
    results = call_graph(parts.known, name, primals)
    outs = results[: len(parts.out_varying)]
    if not any(parts.out_varying):
        return outs, _tangents(outs, parts.out_varying, ())
    residuals = [primals[place] if place >= 0 else results[~place] for place in parts.residuals]
    moving = [t for t in tangents if type(t) is not Zero]
    return outs, _tangents(outs, parts.out_varying, call_graph(parts.linear, name, (*residuals, *moving)))


def _transpose(cotangents: Sequence[Any], *args: Any, jaxpr: ClosedGraph, name: str) -> Sequence[Any]:
    linear = tuple([type(arg) is UndefinedPrimal for arg in args])
    given = _varying(cotangents)
    backward, nonzero = transpose_graph(jaxpr, linear, given)
    known = [arg for arg in args if type(arg) is not UndefinedPrimal]
    moving = [ct for ct in cotangents if type(ct) is not Zero]
    results = iter(call_graph(backward, name, (*known, *moving)) if any(nonzero) or backward.written else ())
    found = iter([next(results) if n else None for n in nonzero])
    return [next(found) if is_linear else None for is_linear in linear]


def _batch(
    args: Sequence[Any], dims: Dims, *, jaxpr: ClosedGraph, name: str
) -> tuple[tuple[Any, ...], tuple[int | None, ...]]:
    batched, out_dims = batch_graph(jaxpr, tuple(dims), mapped_size(args, dims))
    return call_graph(batched, name, args), out_dims


def reference_of(graph: ClosedGraph, args: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a graph on NumPy arrays, by the references of its primitives."""
    values: dict[Any, Any] = dict(
        zip((*graph.graph.constvars, *graph.graph.inputs), (*graph.consts, *args), strict=True)
    )

    def read(atom: Any) -> Any:
        return values[atom] if atom in values else np.asarray(atom.value, atom.aval.dtype)

    for equation in graph.graph.equations:
        reference = equation.primitive.reference
        assert reference is not None, f"{equation.primitive} is no entry of a table"
        out = reference(*[np.asarray(read(atom)) for atom in equation.inputs], **equation.params)
        values.update(zip(equation.outputs, out if equation.primitive.multiple_results else (out,), strict=True))
    return tuple([read(atom) for atom in graph.graph.outputs])


def _reference(*args: Any, jaxpr: ClosedGraph, name: str) -> tuple[Any, ...]:
    return reference_of(jaxpr, args)


call = Primitive("jit", _shape, _jvp, _transpose, _batch, _reference, multiple_results=True, linearize=_linearize)
