"""`linear_call`: a linear function whose transpose the user writes. The primitive is in `primitives.control`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycompiler.core.tracing.boundary import boundary, check_function
from pycompiler.core.tracing.flat import FlatFunction, check_arrays
from pycompiler.core.tracing.record import record
from pycompiler.core.types.aval import get_aval, same_type, short
from pycompiler.core.types.tree import tree_flatten, tree_structure
from pycompiler.primitives.control.graphs import on_common_constants
from pycompiler.primitives.control.linear_call import linear_call as _linear_call
from pycompiler.transforms.custom_arguments import name_of
from pycompiler.transforms.tangents import on_device


@boundary
def linear_call(
    fun: Callable[[Any, Any], Any], fun_transpose: Callable[[Any, Any], Any], residual_args: Any, linear_args: Any
) -> Any:
    """`fun(residual_args, linear_args)`, with `fun_transpose` as its transpose.

    Args:
      fun: a function of residuals and of a tree of arrays in which it is linear.
      fun_transpose: its transpose: from the residuals and a tree like the result of `fun` to a tree like `linear_args`.
      residual_args: a tree of arrays in which both functions need not be linear. They have no derivative.
      linear_args: a tree of arrays.

    The transpose of the call is the call of `fun_transpose`, whose transpose is `fun`. Raises TypeError if
    `fun_transpose` returns another structure, or other shapes or dtypes, than those of `linear_args`.

    >>> import pycompiler as pc
    >>> from pycompiler.custom_derivatives import linear_call
    >>> f = lambda x: linear_call(lambda r, x: x / r, lambda r, ct: ct / r, 4.0, x)
    >>> f(2.0).item(), pc.linear_transpose(f, 1.0)(8.0)[0].item()
    (0.5, 2.0)
    """
    check_function("linear_call", fun)
    check_function("linear_call", fun_transpose)
    residuals, res_tree = tree_flatten(residual_args)
    linear, lin_tree = tree_flatten(linear_args)
    values, in_tree = tree_flatten(((residual_args, linear_args), {}))
    check_arrays("linear_call", fun, values, in_tree)
    avals = [get_aval(x) for x in values]
    flat = FlatFunction("linear_call", fun, in_tree)
    graph = record(flat, avals, flat.debug_info())
    out_tree = flat.out_tree
    back_tree = tree_structure(((res_tree.unflatten(residuals), out_tree.unflatten(graph.out_avals)), {}))
    back = FlatFunction("linear_call", fun_transpose, back_tree)
    transpose = record(back, [*avals[: len(residuals)], *graph.out_avals], back.debug_info())
    if back.out_tree != lin_tree:
        raise TypeError(
            f"linear_call: {name_of(fun_transpose)} must return the structure of the linear arguments, {lin_tree}, it "
            f"returned {back.out_tree}"
        )
    for path, x, aval in zip(lin_tree.paths(), linear, transpose.out_avals, strict=True):
        if not same_type(get_aval(x), aval):
            raise TypeError(
                f"linear_call: {name_of(fun_transpose)} must return {short(get_aval(x))} at output{path}, the type of "
                f"the linear argument, it returned {short(aval)}"
            )
    (graph, transpose), consts = on_common_constants([graph, transpose])
    count = len(consts) + len(residuals)
    outs = _linear_call.bind(*consts, *residuals, *linear, graph=graph, transpose=transpose, residuals=count)
    return out_tree.unflatten(on_device(outs))
