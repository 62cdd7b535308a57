"""`print_saved_residuals`: the values that the derivative of a function keeps for the backward pass.

These values are the leaves of the pullback that `vjp` returns, found in the graph of `vjp`. `checkpoint` reduces their
number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycompiler._runtime import ShapedArray
from pycompiler.core.tracing.boundary import boundary, check_function
from pycompiler.core.tracing.flat import argument_names
from pycompiler.core.tracing.graph import Equation, Literal
from pycompiler.core.types.aval import short
from pycompiler.core.types.tree import tree_flatten
from pycompiler.transforms.derivative import vjp
from pycompiler.transforms.inspection import make_jaxpr


@boundary
def saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> list[tuple[ShapedArray, str]]:
    """The kept values as pairs of a type and the origin: constants, then arguments, then results of operations."""
    check_function("saved_residuals", f)
    leaves, in_tree = tree_flatten((args, kwargs))

    def pullback(*primals: Any) -> Any:
        def at(*values: Any) -> Any:
            given, named = in_tree.unflatten(values)
            return f(*given, **named)

        return vjp(at, *primals)[1]

    graph = make_jaxpr(pullback)(*leaves).graph
    kept = {atom for atom in graph.outputs if not isinstance(atom, Literal)}
    found = [(atom.aval, "from a literal") for atom in graph.outputs if isinstance(atom, Literal)]
    found += [(var.aval, "from a constant") for var in graph.constvars if var in kept]
    names = argument_names(f, in_tree)
    found += [
        (var.aval, f"from the argument {name}") for var, name in zip(graph.inputs, names, strict=True) if var in kept
    ]
    for equation in graph.equations:
        found += [(var.aval, _origin(equation, index)) for index, var in enumerate(equation.outputs) if var in kept]
    return found


def _origin(equation: Equation, index: int) -> str:
    """The origin of one result of an equation. A result of `checkpoint` comes from an operation in its graph."""
    name, where = equation.primitive.name, equation.source
    if name == "checkpoint":
        inner = equation.graphs[0].graph
        for made_by in inner.equations:
            if inner.outputs[index] in made_by.outputs:
                return _origin(made_by, made_by.outputs.index(inner.outputs[index]))  # pyright: ignore[reportArgumentType]
    made = {
        "name": f"named '{equation.params.get('name')}'",
        "jit": f"output of jitted function '{equation.params.get('name')}'",
    }.get(name, f"output of {name}")
    return made if where is None else f"{made} from {where}"


@boundary
def print_saved_residuals(f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Print the values that the derivative of `f` keeps for its backward pass: the type and the origin of each.

    Takes arrays, scalars and ShapeDtypeStructs as arguments. Raises TypeError as `vjp` does, for integers too.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.ad_checkpoint.print_saved_residuals(lambda x: pnp.sin(x) ** 2, 1.0) # doctest: +ELLIPSIS
    f32[] output of ...
    """
    check_function("print_saved_residuals", f)
    for aval, origin in saved_residuals(f, *args, **kwargs):
        print(short(aval), origin)
