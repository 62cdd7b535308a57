"""`linear_transpose`: the transpose of a linear function, without its derivative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.autodiff.checkpoint import inlined
from pycompiler.core.autodiff.linearize import linearize_graph
from pycompiler.core.autodiff.transpose import pull_back
from pycompiler.core.mesh.shape_struct import with_described
from pycompiler.core.tracing.boundary import boundary, check_function
from pycompiler.core.tracing.flat import FlatFunction, check_arrays
from pycompiler.core.tracing.graph import Atom, ClosedGraph, Equation, depends_on
from pycompiler.core.tracing.primitive import UndefinedPrimal
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.tracing.structural import instantiate
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, same_type, short
from pycompiler.core.types.tree import tree_flatten
from pycompiler.core.types.tree_keys import Partial
from pycompiler.transforms.tangents import all_on_device, on_device


@boundary
def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Callable[[Any], Any]:
    """The transpose of a linear function, from a cotangent of its result to a tuple of those of its arguments.

    `fun` is traced for the types of `primals`, which need only a shape and a dtype: their values do not matter. It is
    linear in all of them together, from floating-point numbers to floating-point numbers, or from integers to integers.
    Constants that are added to the linear part have no effect. The returned function is a container of its arrays.
    Raises TypeError, at the line, if the function is not linear, or if the cotangent does not have the structure, shape
    and dtype of the result.

    >>> import pycompiler as pc
    >>> pc.linear_transpose(lambda x, y: 2 * x + y, 1.0, 1.0)(3.0)
    (Array(6., dtype=float32, weak_type=True), Array(3., dtype=float32, weak_type=True))
    """
    check_function("linear_transpose", fun)
    leaves, in_tree = tree_flatten(with_described((tuple(primals), {})))
    flat = FlatFunction("linear_transpose", fun, in_tree)
    check_arrays("linear_transpose", fun, leaves, in_tree)
    avals = [get_aval(leaf) for leaf in leaves]
    graph = make_graph(flat, avals, flat.debug_info())
    name, out_tree = flat.debug_info().name, flat.out_tree
    if _kinds(avals) | _kinds(graph.out_avals) not in ({"inexact"}, {"integer"}, set[str]()):
        raise TypeError(
            "linear_transpose: takes functions from floating-point or complex numbers to such, or from integers to "
            f"integers; {name} is from ({_listed(avals)}) to ({_listed(graph.out_avals)})"
        )

    @boundary
    def transposed(consts: Sequence[Any], cotangent: Any) -> Any:
        given, found = tree_flatten(cotangent)
        if found != out_tree:
            raise TypeError(
                f"linear_transpose of {name}: the cotangent must have the structure of the result, {out_tree}, "
                f"got {found}"
            )
        for path, ct, aval in zip(out_tree.paths(), given, graph.out_avals, strict=True):
            if not is_array(ct) or not (same_type(get_aval(ct), aval) or _follows(get_aval(ct), aval)):
                got = short(get_aval(ct)) if is_array(ct) else f"{ct!r} of type {type(ct).__name__}"
                raise TypeError(
                    f"linear_transpose of {name}: the cotangent for output{path} must be {short(aval)}, got {got}"
                )
        undefined = [UndefinedPrimal(aval) for aval in avals]
        try:
            cotangents = pull_back(ClosedGraph(graph.graph, consts), undefined, all_on_device(given))
        except (TypeError, ValueError):
            # A rule of an operation that is linear in one operand at a time has computed with an undefined operand.
            if _kinds(avals) == {"inexact"}:
                _check_linear(graph, name)
            raise
        return in_tree.unflatten(on_device([instantiate(ct) for ct in cotangents]))[0]

    return Partial(transposed, list(graph.consts))


def _check_linear(graph: ClosedGraph, name: str) -> None:
    """Raise TypeError, at the line, if the derivative depends on an argument, or an operation has no derivative."""
    reached: set[Atom] = set(graph.graph.inputs)
    for equation in graph.graph.equations:
        if not reached.isdisjoint(equation.inputs):
            reached.update(equation.outputs)
            if equation.primitive.jvp is None and any(dtypes.is_inexact(var.aval.dtype) for var in equation.outputs):
                raise _not_linear(name, equation, f"{equation.primitive.name} of them")
    parts = linearize_graph(inlined(graph), (True,) * len(graph.in_avals))
    known = parts.known.graph
    residuals = [known.inputs[place] if place >= 0 else known.outputs[~place] for place in parts.residuals]
    for var, atom in zip(parts.linear.graph.inputs, residuals, strict=False):
        if depends_on(known, atom):
            reader = next((eq for eq in parts.linear.graph.equations if var in eq.inputs), None)
            raise _not_linear(name, reader, "a product of values that depend on them, or the like")


def _not_linear(name: str, equation: Equation | None, what: str) -> TypeError:
    place = f"{equation.source.describe()}\n" if equation is not None and equation.source else ""
    return TypeError(
        f"{place}linear_transpose: {name} is not linear in its arguments: it has {what}. What to do: use vjp for the "
        "transpose of its derivative"
    )


def _kinds(avals: Sequence[ShapedArray]) -> set[str]:
    return {
        "inexact" if dtypes.is_inexact(a.dtype) else "integer" if dtypes.is_integer(a.dtype) else a.dtype.name
        for a in avals
    }


def _follows(given: ShapedArray, wanted: ShapedArray) -> bool:
    """Whether a Python scalar can stand for a value of the wanted type."""
    return given.weak_type and given.shape == wanted.shape and dtypes.wider(given, wanted) == wanted.dtype


def _listed(avals: Sequence[ShapedArray]) -> str:
    return ", ".join(map(short, avals))
