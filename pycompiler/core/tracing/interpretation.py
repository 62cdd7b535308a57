"""Helpers for interpreters of graphs: evaluation under JAX's names, the graphs inside of one, types with and without a
mapped axis, and equations from their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from pycompiler._runtime import ShapedArray
from pycompiler.core import errors
from pycompiler.core.source import user_source
from pycompiler.core.tracing.effects import Effect
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, Graph, Var
from pycompiler.core.tracing.source_info import EquationContext, SourceInfo
from pycompiler.core.tracing.trace import Primitive, Tracer, no_value
from pycompiler.core.types.aval import get_aval, is_array, same_type, shaped, short


def check_graph(closed: ClosedGraph) -> None:
    """Raise TypeError unless every value is defined before its use and has the type that its shape rule gives."""
    graph = closed.graph
    defined: set[Atom] = {*graph.constvars, *graph.inputs}
    if len(graph.constvars) != len(closed.consts):
        raise TypeError(f"graph: {len(graph.constvars)} constants are declared, {len(closed.consts)} given")
    for var, const in zip(graph.constvars, closed.consts, strict=True):
        if not same_type(var.aval, get_aval(const)):
            raise TypeError(f"graph: a constant declared {short(var.aval)} is {short(const)}")

    def check_defined(atoms: Sequence[Atom], where: str) -> None:
        for atom in atoms:
            if isinstance(atom, Var) and atom not in defined:
                raise TypeError(f"graph: {where} reads a {short(atom.aval)} that is not defined before it")

    for equation in graph.equations:
        check_defined(equation.inputs, equation.primitive.name)
        inferred = equation.primitive.shape_rule(*(atom.aval for atom in equation.inputs), **equation.params)
        avals = inferred if equation.primitive.multiple_results else (inferred,)
        if len(avals) != len(equation.outputs):
            raise TypeError(f"graph: {equation.primitive.name} has {len(equation.outputs)} results, not {len(avals)}")
        for var, aval in zip(equation.outputs, avals, strict=True):
            if not same_type(var.aval, aval):
                raise TypeError(f"graph: {equation.primitive.name} gives {short(aval)}, not {short(var.aval)}")
            if var in defined:
                raise TypeError(f"graph: {equation.primitive.name} defines a value twice")
            defined.add(var)
    check_defined(graph.outputs, "the result")


class JaxprTypeError(TypeError):
    """A graph is not well formed: see `check_jaxpr`."""


def eval_jaxpr(
    jaxpr: Graph | ClosedGraph, consts: Sequence[Any], *args: Any, propagate_source_info: bool = True
) -> list[Any]:
    """The results of a graph for these constants and arguments. With `propagate_source_info`, recorded equations keep
    the places of the graph's equations, otherwise they get that of the call."""
    graph = jaxpr.graph if isinstance(jaxpr, ClosedGraph) else jaxpr
    given = jaxpr.consts if isinstance(jaxpr, ClosedGraph) and not consts else consts
    if len(args) != len(graph.inputs) or len(given) != len(graph.constvars):
        raise TypeError(
            f"eval_jaxpr: the graph takes {len(graph.constvars)} constants and {len(graph.inputs)} arguments, got "
            f"{len(given)} and {len(args)}"
        )
    closed = ClosedGraph(graph, given)
    if propagate_source_info:
        return evaluate(closed, args)
    return evaluate(
        ClosedGraph(
            graph.replace(eqns=[Equation(e.primitive, e.inputs, e.params, e.outputs, None) for e in graph.eqns]), given
        ),
        args,
    )


def jaxpr_as_fun(closed_jaxpr: ClosedGraph) -> Callable[..., list[Any]]:
    """The function of flat arguments that a graph computes."""

    def fun(*args: Any) -> list[Any]:
        return eval_jaxpr(closed_jaxpr.graph, closed_jaxpr.consts, *args)

    return fun


def jaxprs_in_params(params: Mapping[str, Any]) -> Iterator[Graph]:
    """The graphs among the parameters of an equation."""
    for value in params.values():
        for part in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
            if isinstance(part, ClosedGraph):
                yield part.graph
            elif isinstance(part, Graph):
                yield part


def subjaxprs(jaxpr: Graph | ClosedGraph) -> Iterator[Graph]:
    """The graphs directly inside of a graph."""
    for equation in jaxpr.eqns:
        yield from jaxprs_in_params(equation.params)


def new_jaxpr_eqn(
    invars: Sequence[Atom],
    outvars: Sequence[Var],
    primitive: Primitive,
    params: dict[str, Any],
    effects: Iterable[Effect] = (),
    source_info: SourceInfo | None = None,
    ctx: EquationContext | None = None,
) -> Equation:
    """An equation. Its effects are always those of the primitive with these parameters; without a `source_info`, it has
    the running line of the user."""
    source = user_source() if source_info is None else source_info.traceback
    return Equation(primitive, tuple(invars), params, tuple(outvars), source)


def check_jaxpr(jaxpr: Graph | ClosedGraph) -> None:
    """Raise JaxprTypeError for a graph that reads values before they are defined, or whose values have other types than
    their primitives give."""
    graph = jaxpr.graph if isinstance(jaxpr, ClosedGraph) else jaxpr
    try:
        # The values of constants don't matter here, so they count as inputs.
        check_graph(ClosedGraph(convert_constvars_jaxpr(graph), ()))
    except TypeError as error:
        raise JaxprTypeError(str(error)) from error


def convert_constvars_jaxpr(jaxpr: Graph) -> Graph:
    """The graph with its constants as first inputs."""
    return jaxpr.replace(constvars=(), invars=(*jaxpr.constvars, *jaxpr.inputs))


def mapped_aval(size: Any, axis: int | None, aval: ShapedArray) -> ShapedArray:
    """The type of one member of arrays that are mapped over an axis of this size."""
    if axis is None:
        return aval
    if not -aval.ndim <= axis < aval.ndim or aval.shape[axis] != size:
        raise TypeError(f"mapped_aval: {aval} has no axis {axis} of size {size}")
    axis %= aval.ndim
    return shaped((*aval.shape[:axis], *aval.shape[axis + 1 :]), aval.dtype, aval.weak_type)


def unmapped_aval(size: Any, axis: int | None, aval: ShapedArray, explicit_mesh_axis: Any = None) -> ShapedArray:
    """The type of the arrays whose members have the type `aval`."""
    if axis is None:
        return aval
    if not 0 <= axis <= aval.ndim:
        raise TypeError(f"unmapped_aval: {aval} can't get an axis {axis}")
    return shaped((*aval.shape[:axis], size, *aval.shape[axis:]), aval.dtype, aval.weak_type)


def is_concrete(x: Any) -> bool:
    """Whether the elements are known."""
    return not isinstance(x, Tracer) or x.concrete_value() is not None


def concrete_or_error(force: Callable[[Any], Any] | None, val: Any, context: str = "") -> Any:
    """`force(val)`, or `val` itself. Raises ConcretizationTypeError, with the context, for a traced value."""
    if isinstance(val, Tracer):
        known = val.concrete_value()
        if known is None:
            no_value(errors.ConcretizationTypeError, val, "the value", f"keep it an array. {context}".rstrip())
        val = known
    return val if force is None else force(val)


def valid_jaxtype(x: Any) -> bool:
    """Whether operations take the value."""
    if not is_array(x):
        return False
    try:
        get_aval(x)
    except TypeError:
        return False
    return True
