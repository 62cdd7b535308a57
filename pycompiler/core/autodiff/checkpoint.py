"""The primitive of recomputation: a call whose tangents keep only its inputs, and recompute all other residuals.

The linear part of a checkpoint is again a checkpoint, over (inputs, values saved by the policy, tangents). The graph of
this part begins with the recomputation. After transposition, the recomputation runs when the cotangents are known. An
`optimization_barrier` before it hides from the compiler that the values were computed before. In compiled code, the
equations of a checkpoint are inlined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.answers import keeps_it
from pycompiler.core.autodiff.call import call, reference_of
from pycompiler.core.autodiff.jvp import jvp_graph
from pycompiler.core.autodiff.linearize import linearize_graph
from pycompiler.core.autodiff.transpose import transpose_graph
from pycompiler.core.batching.batch import batch_graph
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.tracing.effects import does_io
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import (
    Atom,
    ClosedGraph,
    Equation,
    Graph,
    Literal,
    Var,
    close_over,
    eliminate_dead_code,
)
from pycompiler.core.tracing.primitive import Dims, Primitive, Sample, UndefinedPrimal, Zero
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.structural import mapped_size
from pycompiler.core.tracing.trace import DebugInfo, Tracer, current_trace
from pycompiler.core.types.aval import get_aval, same_type, short, strong

# (primitive, *avals of its arguments, **its parameters) -> whether its results may be saved.
Policy = Callable[..., Any]
# Whether the compiler must not merge the recomputation with the first computation: for all arguments, or for each.
PreventCse = bool | tuple[bool, ...]


# optimization_barrier: the identity, about whose results the compiler may assume nothing.


def _barrier_shape(*avals: ShapedArray) -> tuple[ShapedArray, ...]:
    return avals


def _barrier_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    moving = iter(optimization_barrier.bind(*(t for t in tangents if type(t) is not Zero)))
    return optimization_barrier.bind(*primals), [t if type(t) is Zero else next(moving) for t in tangents]


def _barrier_transpose(cotangents: Sequence[Any], *args: Any) -> Sequence[Any]:
    moving = iter(optimization_barrier.bind(*(ct for ct in cotangents if type(ct) is not Zero)))
    return [ct if type(ct) is Zero else next(moving) for ct in cotangents]


def _barrier_batch(args: Sequence[Any], dims: Dims) -> tuple[Any, Any]:
    return optimization_barrier.bind(*args), tuple(dims)


def _barrier_reference(*args: Any) -> tuple[Any, ...]:
    return args


def _barrier_samples(rng: np.random.Generator) -> Iterator[Sample]:
    yield Sample((rng.standard_normal((3, 4)).astype(np.float32),))
    yield Sample((rng.standard_normal(5).astype(np.float32), np.arange(4, dtype=np.int32), np.asarray(True)))


optimization_barrier = Primitive(
    "optimization_barrier",
    _barrier_shape,
    _barrier_jvp,
    _barrier_transpose,
    _barrier_batch,
    _barrier_reference,
    _barrier_samples,
    multiple_results=True,
)


# name: the identity, with a name that a policy can select. It generates no code.


def _name_shape(x: ShapedArray, *, name: str) -> ShapedArray:
    return x


def _name_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, name: str) -> tuple[Any, Any]:
    return named(primals[0], name), tangents[0]


def _name_batch(args: Sequence[Any], dims: Dims, *, name: str) -> tuple[Any, Any]:
    return named(args[0], name), dims[0]


def _name_reference(x: Any, *, name: str) -> Any:
    return x


name_value = Primitive("name", _name_shape, _name_jvp, None, _name_batch, _name_reference)


def named(x: Any, name: str) -> Any:
    """`x` with a name. Only a graph keeps the name."""
    return name_value.bind(x, name=name) if isinstance(x, Tracer) or current_trace() is not None else x


# checkpoint


def _shape(*avals: ShapedArray, jaxpr: ClosedGraph, name: str, **params: Any) -> tuple[ShapedArray, ...]:
    wanted = jaxpr.in_avals
    if len(avals) != len(wanted) or not all(map(same_type, avals, wanted)):
        raise TypeError(
            f"checkpoint of {name}: the graph takes ({', '.join(map(short, wanted))}), "
            f"called with ({', '.join(map(short, avals))})"
        )
    return jaxpr.out_avals


def recompute(graph: ClosedGraph, args: Sequence[Any], prevent_cse: PreventCse, **params: Any) -> tuple[Any, ...]:
    """Bind a checkpoint; the constants of the graph become arguments."""
    if graph.refers:
        values = [ref.read() for ref in graph.touched]
        if isinstance(prevent_cse, tuple):
            prevent_cse = (*prevent_cse, *(False for _ in values))
        return tuple(graph.stored(recompute(graph.discharged(), [*args, *values], prevent_cse, **params)))
    opened, consts = graph.derive("opened", lambda: close_over(graph))
    if isinstance(prevent_cse, tuple):
        prevent_cse = (*(False for _ in consts), *prevent_cse)
    return checkpoint.bind(*consts, *args, jaxpr=opened, prevent_cse=prevent_cse, **params)


def _also(prevent_cse: PreventCse, chosen: Iterable[int], count: int) -> PreventCse:
    """The flags of the chosen arguments, followed by flags for `count` more."""
    if not isinstance(prevent_cse, tuple):
        return prevent_cse
    given = len(prevent_cse)
    return (*(place >= given or prevent_cse[place] for place in chosen), *(True for _ in range(count)))


def _flags(tangents: Sequence[Any]) -> tuple[bool, ...]:
    return tuple([type(t) is not Zero for t in tangents])


def _tangents(outs: Sequence[Any], varying: Sequence[bool], given: Sequence[Any]) -> tuple[Any, ...]:
    values = iter(given)
    return tuple([next(values) if v else Zero(strong(get_aval(x))) for x, v in zip(outs, varying, strict=True)])


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedGraph, prevent_cse: PreventCse, **params: Any
) -> tuple[Sequence[Any], Sequence[Any]]:
    both, out_varying = jvp_graph(jaxpr, _flags(tangents))
    moving = [t for t in tangents if type(t) is not Zero]
    flags = _also(prevent_cse, range(len(primals)), len(moving))
    results = recompute(both, (*primals, *moving), flags, **params)
    outs = results[: len(out_varying)]
    return outs, _tangents(outs, out_varying, results[len(out_varying) :])


def _linearize(
    primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedGraph, policy: Policy | None, **params: Any
) -> tuple[Sequence[Any], Sequence[Any]]:
    prevent_cse: PreventCse = params.pop("prevent_cse")
    varying = _flags(tangents)
    parts = jaxpr.derive(("recompute", varying, policy), lambda: _Parts(jaxpr, varying, policy))
    results = recompute(parts.known, primals, prevent_cse, policy=policy, **params)
    outs, saved = results[: len(parts.out_varying)], results[len(parts.out_varying) :]
    if not any(parts.out_varying):
        return outs, _tangents(outs, parts.out_varying, ())
    given = [*primals, *saved]
    moving = [t for t in tangents if type(t) is not Zero]
    args = [*(given[place] for place in parts.reads), *moving]
    flags = _also(prevent_cse, parts.reads, len(moving))
    found = recompute(parts.linear, args, flags, policy=policy, **{**params, "differentiated": True})
    return outs, _tangents(outs, parts.out_varying, found)


class _Parts:
    """Two graphs: `known` maps the inputs to the results and the values that the policy saves. `linear` maps the inputs
    and saved values that it `reads`, and the tangents, to the tangents of the varying results."""

    def __init__(self, graph: ClosedGraph, varying: tuple[bool, ...], policy: Policy | None) -> None:
        linearized = linearize_graph(graph if policy is None else inlined(graph), varying)
        # The graphs that own the constants keep them.
        known = linearized.known
        count = len(graph.in_avals)
        atoms = [
            known.graph.inputs[place] if place >= 0 else known.graph.outputs[~place] for place in linearized.residuals
        ]
        saved, remade = _split(known.graph, atoms, policy)
        outputs = known.graph.outputs[: len(linearized.out_varying)]
        whole = Graph(known.graph.constvars, known.graph.inputs, (*outputs, *saved), known.graph.equations)
        inputs = (*known.graph.inputs, *saved)
        again = ClosedGraph(Graph(known.graph.constvars, inputs, atoms, remade), known.consts)
        self.out_varying = linearized.out_varying
        self.known = ClosedGraph(eliminate_dead_code(whole), known.consts)

        def run(*args: Any) -> list[Any]:
            return evaluate(
                linearized.linear, (*evaluate(again, args[: count + len(saved)]), *args[count + len(saved) :])
            )

        tangents = [strong(aval) for aval, v in zip(graph.in_avals, varying, strict=True) if v]
        recorded = record(run, (*again.in_avals, *tangents), DebugInfo("checkpoint", evaluate))
        linear = eliminate_dead_code(recorded.graph)
        read: set[Atom] = {atom for equation in linear.equations for atom in equation.inputs} | set(linear.outputs)
        self.reads = [place for place in range(len(again.in_avals)) if linear.inputs[place] in read]
        kept = [*(linear.inputs[place] for place in self.reads), *linear.inputs[len(again.in_avals) :]]
        self.linear = ClosedGraph(Graph(linear.constvars, kept, linear.outputs, linear.equations), recorded.consts)


def _split(graph: Graph, residuals: Sequence[Atom], policy: Policy | None) -> tuple[list[Var], list[Equation]]:
    """The saved values among the residuals and their operands, and the equations that recompute the other residuals."""
    needed = {atom for atom in residuals if type(atom) is not Literal}
    refused = _refused(graph, policy)
    saved: list[Var] = []
    remade: list[Equation] = []
    for equation in reversed(graph.equations):
        wanted = [var for var in equation.outputs if var in needed]
        effects = equation.effects
        if not wanted and not effects:
            continue
        if does_io(effects):
            raise _not_again(equation)
        avals = [atom.aval for atom in equation.inputs]
        keeps = policy is not None and keeps_it(policy(equation.primitive, *avals, **equation.params))
        if keeps and refused.isdisjoint(equation.outputs):
            saved += wanted
        else:
            remade.append(equation)
            needed.update(equation.inputs)
    saved.reverse()
    remade.reverse()
    return saved, remade


class _EffectError(NotDifferentiableError, NotImplementedError):
    """An effect in a function that is recomputed. The class is a NotImplementedError too, as JAX raises."""


def _not_again(equation: Equation) -> NotDifferentiableError:
    where = f"{equation.source.describe()}\n" if equation.source else ""
    return _EffectError(
        f"{where}checkpoint: {equation.primitive.name} has effects, and the recomputation would repeat them. What to "
        "do: call it outside of the recomputed function"
    )


def _refused(graph: Graph, policy: Policy | None) -> set[Atom]:
    """The values whose names forbid saving, from any primitive."""
    names = getattr(policy, "names_not_saved", frozenset[str]())
    return {
        atom
        for equation in graph.equations
        if equation.primitive is name_value and equation.params["name"] in names
        for atom in equation.inputs
    }


def inlined(graph: ClosedGraph) -> ClosedGraph:
    """The graph with nested calls inlined, so that a policy sees their equations."""

    def make() -> ClosedGraph:
        if not any(equation.primitive is call for equation in graph.graph.equations):
            return graph
        return record(lambda *args: _evaluate_inlined(graph, args), graph.in_avals, DebugInfo("checkpoint", evaluate))

    return graph.derive("inlined", make)


def _evaluate_inlined(graph: ClosedGraph, args: Sequence[Any]) -> list[Any]:
    values: dict[Atom, Any] = dict(zip(graph.graph.constvars, graph.consts, strict=True))
    values.update(zip(graph.graph.inputs, args, strict=True))

    def read(atom: Atom) -> Any:
        return atom.value if isinstance(atom, Literal) else values[atom]

    for equation in graph.graph.equations:
        given = [read(atom) for atom in equation.inputs]
        if equation.primitive is call:
            outs: Any = _evaluate_inlined(equation.params["jaxpr"], given)
        else:
            out = equation.primitive.bind(*given, **equation.params)
            outs = out if equation.primitive.multiple_results else (out,)
        values.update(zip(equation.outputs, outs, strict=True))
    return [read(atom) for atom in graph.graph.outputs]


def _transpose(
    cotangents: Sequence[Any], *args: Any, jaxpr: ClosedGraph, prevent_cse: PreventCse, **params: Any
) -> Sequence[Any]:
    linear = tuple([type(arg) is UndefinedPrimal for arg in args])
    backward, nonzero = transpose_graph(jaxpr, linear, _flags(cotangents))
    known = [place for place, is_linear in enumerate(linear) if not is_linear]
    moving = [ct for ct in cotangents if type(ct) is not Zero]
    flags = _also(prevent_cse, known, len(moving))
    if flags is not False:
        backward = backward.derive(("behind a barrier", flags), lambda: _behind_barrier(backward, flags))
    given = [*(args[place] for place in known), *moving]
    results = iter(recompute(backward, given, flags, **params) if any(nonzero) or backward.written else ())
    found = iter([next(results) if n else None for n in nonzero])
    return [next(found) if is_linear else None for is_linear in linear]


def _behind_barrier(graph: ClosedGraph, flags: PreventCse) -> ClosedGraph:
    def run(*args: Any) -> list[Any]:
        chosen = flags if isinstance(flags, tuple) else [True] * len(args)
        hidden = iter(optimization_barrier.bind(*(x for x, c in zip(args, chosen, strict=True) if c)))
        return evaluate(graph, [next(hidden) if c else x for x, c in zip(args, chosen, strict=True)])

    return record(run, graph.in_avals, DebugInfo("checkpoint", evaluate))


def _batch(
    args: Sequence[Any], dims: Dims, *, jaxpr: ClosedGraph, prevent_cse: PreventCse, **params: Any
) -> tuple[Sequence[Any], Sequence[int | None]]:
    batched, out_dims = batch_graph(jaxpr, tuple(dims), mapped_size(args, dims))
    return recompute(batched, args, prevent_cse, **params), out_dims


def _reference(*args: Any, jaxpr: ClosedGraph, **params: Any) -> tuple[Any, ...]:
    return reference_of(jaxpr, args)


checkpoint = Primitive(
    "checkpoint", _shape, _jvp, _transpose, _batch, _reference, multiple_results=True, linearize=_linearize
)
