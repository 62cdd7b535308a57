"""Solutions of equations with custom derivatives: `custom_linear_solve`, `custom_root`. Part of lax."""

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler._runtime import PyTreeDef, ShapedArray
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.flat import FlatFunction, check_arrays
from pycompiler.core.tracing.graph import ClosedGraph, Graph
from pycompiler.core.tracing.record import make_graph
from pycompiler.core.types.aval import get_aval, same_type, short
from pycompiler.core.types.tree import tree_flatten
from pycompiler.lax.tracing import Tree, check_callable, difference, name_of, on_device
from pycompiler.primitives.control.graphs import full_transpose, on_common_constants, opened
from pycompiler.primitives.control.solvers import custom_linear_solve as _linear_solve
from pycompiler.primitives.control.solvers import custom_root as _root
from pycompiler.transforms.derivative import linearize

__all__ = [
    "custom_linear_solve",
    "custom_root",
]

Function = Callable[..., Any]


class _Traced:
    """A user's function as a graph. Its result has the structure of a given tree, or is a pair of such a tree and an
    aux."""

    def __init__(
        self, name: str, what: str, function: Function, example: Sequence[Tree], like: Tree, has_aux: bool = False
    ) -> None:
        leaves, in_tree = tree_flatten((tuple(example), {}))
        flat = FlatFunction(name, function, in_tree, has_aux=has_aux)
        self.graph: ClosedGraph = make_graph(flat, [get_aval(leaf) for leaf in leaves], flat.debug_info())
        self.split = flat.split
        wanted, tree = tree_flatten(like)
        if flat.out_tree != tree:
            where = difference(tree, flat.out_tree)
            raise TypeError(
                f"{name}: {what} ({name_of(function)}) must return the structure {tree}, it returned {flat.out_tree}"
                f"{f' ({where})' if where else ''}"
            )
        _check_types(name, what, tree, wanted, self.graph.out_avals)


def _check_types(name: str, what: str, tree: PyTreeDef, wanted: Sequence[Any], given: Sequence[ShapedArray]) -> None:
    for path, one, aval in zip(tree.paths(), wanted, given, strict=False):
        if not same_type(get_aval(one), aval):
            raise TypeError(f"{name}: {what} must return {short(one)} at output{path}, it returned {short(aval)}")


@boundary
def custom_linear_solve(
    matvec: Function,
    b: Tree,
    solve: Function,
    transpose_solve: Function | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Tree:
    """The solution x of `matvec(x) = b` from `solve(matvec, b)`, with the derivatives of this equation.

    `matvec` is linear; `b` and x are trees of arrays of the same structure, shapes and dtypes. The derivatives with
    respect to `b`, and to closed-over values of `matvec`, are again solutions by `solve`. In reverse mode they are
    solutions by `transpose_solve(vecmat, b)`, where `vecmat` is the transpose of `matvec`. With `symmetric`, `vecmat`
    is `matvec`, and `solve` serves both modes. With `has_aux`, both solvers return a pair, whose second half is not
    differentiated.

    Raises TypeError if a function returns another structure, shape or dtype, and if the transpose is needed and not
    given.

    >>> import pycompiler as pc
    >>> from pycompiler import lax
    >>> def halve(factor):
    ...     return lax.custom_linear_solve(lambda x: factor * x, 3.0, lambda matvec, b: b / matvec(1.0), symmetric=True)
    >>> halve(2.0).item(), pc.grad(halve)(2.0).item()
    (1.5, -0.75)
    """
    name = "custom_linear_solve"
    check_callable(name, matvec=matvec, solve=solve)
    leaves, tree = tree_flatten(b)
    check_arrays(name, matvec, leaves, tree_flatten(((b,), {}))[1])
    forward = _Traced(name, "matvec", matvec, (b,), b)
    solver = _Traced(name, "solve", lambda x: solve(matvec, x), (b,), b, has_aux)
    graphs = [solver.graph, forward.graph]
    if symmetric:
        graphs += [forward.graph, solver.graph]
    elif transpose_solve is not None:
        check_callable(name, transpose_solve=transpose_solve)
        backward = _transpose_of(forward.graph)
        transposed: Function = transpose_solve

        def vecmat(x: Tree) -> Tree:
            return tree.unflatten(evaluate(backward, tree.flatten_up_to(x)))

        graphs += [
            backward,
            _Traced(name, "transpose_solve", lambda x: transposed(vecmat, x), (b,), b, has_aux).graph,
        ]
    closed, consts = on_common_constants(graphs)
    held = dict(zip(("graph", "matvec", "vecmat", "transpose_solve"), (*closed, None, None), strict=False))
    x, aux = solver.split(on_device(_linear_solve.bind(*consts, *leaves, **held)))
    solution = tree.unflatten(x)
    return (solution, aux) if has_aux else solution


def _transpose_of(graph: ClosedGraph) -> ClosedGraph:
    """The transpose of a linear function of square form. Its closed-over values become constants."""
    body, consts = opened(graph)
    first, count = len(consts), len(graph.in_avals)
    everything = (True,) * count
    transposed = full_transpose(body, (False,) * first + everything, everything, everything)
    inner, more = transposed.graph, transposed.consts
    constvars = (*inner.constvars, *inner.inputs[:first])
    return ClosedGraph(Graph(constvars, inner.inputs[first:], inner.outputs, inner.equations), (*more, *consts))


@boundary
def custom_root(
    f: Function, initial_guess: Tree, solve: Function, tangent_solve: Function, has_aux: bool = False
) -> Tree:
    """The solution x of `f(x) = 0` from `solve(f, initial_guess)`, with the derivatives of this equation.

    x and `f(x)` are trees of arrays like the guess. The derivatives are with respect to closed-over values of `f`, not
    to the guess. `tangent_solve(g, y)` is the solution of `g(x) = y`, where `g` is `f` linearized at the root; for
    scalars `lambda g, y: y / g(1.0)`. With `has_aux`, the solver returns a pair, whose second half is not
    differentiated.

    Raises TypeError if a function returns another structure, shape or dtype.

    >>> import pycompiler as pc
    >>> from pycompiler import lax
    >>> def root(a):
    ...     newton = lambda f, x: lax.fori_loop(0, 9, lambda i, x: x - f(x) / (2 * x), x)
    ...     return lax.custom_root(lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> root(4.0).item(), pc.grad(root)(4.0).item()
    (2.0, 0.25)
    """
    name = "custom_root"
    check_callable(name, f=f, solve=solve, tangent_solve=tangent_solve)
    leaves, tree = tree_flatten(initial_guess)
    check_arrays(name, f, leaves, tree_flatten(((initial_guess,), {}))[1])
    guess = initial_guess
    function = _Traced(name, "f", f, (guess,), guess)
    solver = _Traced(name, "solve", lambda x: solve(f, x), (guess,), guess, has_aux)
    tangents = _Traced(name, "tangent_solve", lambda x, y: tangent_solve(linearize(f, x)[1], y), (guess, guess), guess)
    (graph, function_graph, tangent_graph), consts = on_common_constants([solver.graph, function.graph, tangents.graph])
    outs = _root.bind(*consts, *leaves, graph=graph, function=function_graph, tangent_solve=tangent_graph)
    x, aux = solver.split(on_device(outs))
    solution = tree.unflatten(x)
    return (solution, aux) if has_aux else solution
