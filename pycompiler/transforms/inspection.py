"""Inspection of functions and values. `make_jaxpr`: the graph of a function; `eval_shape`: the shapes of its results.

`typeof`: the type of a value. `ensure_compile_time_eval`: computation while a function is traced.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from typing import Any, cast

from pycompiler._runtime import swap_trace
from pycompiler.core.mesh.shape_struct import shapes_of, with_described
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.arguments import as_integers
from pycompiler.core.tracing.axes import Name, bound
from pycompiler.core.tracing.boundary import boundary, check_function, wraps
from pycompiler.core.tracing.flat import FlatFunction, check_arrays, flatten_arguments
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import GraphTrace, make_graph
from pycompiler.core.tracing.references import Ref, is_reference
from pycompiler.core.tracing.trace import current_trace
from pycompiler.core.tracing.user_values import is_user_value, type_of
from pycompiler.core.types.aval import Elementless, get_aval, is_array
from pycompiler.core.types.tree import PyTreeDef


def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Sequence[int] = (),
    axis_env: Sequence[tuple[Name, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """A function that returns the graph of `fun` for its arguments, which are arrays or ShapeDtypeStructs.

    With `return_shape`, the result is the graph and the shapes of the results, as `eval_shape` returns them. `axis_env`
    declares named axes with their sizes, for a function that a caller maps over them. The graph is pure: the values of
    references (`new_ref`) that the function uses are its last inputs, those that it writes its last results.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.make_jaxpr(lambda x: pnp.sin(x) * 2)(3.0)
    { lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = mul b 2.0:f32[] in (c,) }
    """

    @wraps(fun, "make_jaxpr")
    def make_jaxpr_fun(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as declared:
            for name, size in axis_env or ():
                declared.enter_context(bound(name, size, None))
            graph, out_tree = _trace("make_jaxpr", fun, static_argnums, args, kwargs)
        pure = graph.discharged()
        return (pure, _shapes(graph, out_tree)) if return_shape else pure

    return make_jaxpr_fun


@boundary
def eval_shape(fun: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """The tree of results of `fun`, with ShapeDtypeStructs instead of arrays; nothing is computed.

    A result of `fun` may be a ShapeDtypeStruct.

    >>> import pycompiler as pc
    >>> pc.eval_shape(lambda x: x @ x.T, pc.ShapeDtypeStruct((3, 4), "float32"))
    ShapeDtypeStruct(shape=(3, 3), dtype=float32)
    """
    check_function("eval_shape", fun)
    return _shapes(*_trace("eval_shape", fun, (), args, kwargs))


@boundary
def typeof(x: Any) -> Any:
    """The shape, dtype and weak type of an array or a scalar; of a `Ref`, its type. Raises TypeError for anything else.

    In a function for one device (`shard_map`), `typeof(x).mat.varying` are the axes along which the devices may have
    different values.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> str(pc.typeof(pnp.ones((2, 3))))
    'f32[2,3]'
    """
    if type(x) is Ref:
        return x.aval
    if is_user_value(x):
        return type_of(x)
    if not is_array(x):
        raise TypeError(f"typeof: takes an array or a scalar, got {x!r} of type {type(x).__name__}")
    tracker = axes.varying_tracker()
    return get_aval(x) if tracker is None else tracker.type_of(x)


@contextlib.contextmanager
def ensure_compile_time_eval() -> Generator[None]:
    """A context that computes values at once, also inside `jit`, if they do not depend on traced arguments.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> @pc.jit
    ... def f(x):
    ...     with pc.ensure_compile_time_eval():
    ...         size = int(pnp.arange(4).sum())  # a value, not a tracer
    ...     return pnp.full(size, x)
    >>> f(1.0).shape
    (6,)
    """
    previous = swap_trace(None)
    try:
        yield
    finally:
        swap_trace(previous)


def _trace(
    transform: str, fun: Callable[..., Any], static_argnums: int | Sequence[int], args: Any, kwargs: Any
) -> tuple[ClosedGraph, PyTreeDef]:
    static_argnums = as_integers(transform, "static_argnums", static_argnums)
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise ValueError(
                f"{transform}: static_argnums={static_argnums} names argument {number} of {len(args)} positional ones"
            )
    static = {number % len(args) for number in numbers}
    places = [place for place in range(len(args)) if place not in static]
    leaves, in_tree = flatten_arguments(with_described((tuple(args[place] for place in places), kwargs)))
    flat = FlatFunction(transform, fun, in_tree, places, args)
    check_arrays(transform, fun, leaves, in_tree, places)

    takes = list(map(is_reference, leaves))

    def described(*tracers: Any) -> list[Any]:
        trace = cast(GraphTrace, current_trace())
        given = [Ref(x) if takes_ref else x for x, takes_ref in zip(tracers, takes, strict=True)]
        outs = [trace.new_constant(out) if isinstance(out, Elementless) else out for out in flat(*given)]
        held = [(x.read(), start) for x, start in zip(given, tracers, strict=True) if type(x) is Ref]
        return [*outs, *(x for x, start in held if x is not start)]

    return make_graph(described, [get_aval(leaf) for leaf in leaves], flat.debug_info()), flat.out_tree


def _shapes(graph: ClosedGraph, out_tree: PyTreeDef) -> Any:
    return out_tree.unflatten(shapes_of(graph.out_avals[: out_tree.num_leaves]))
