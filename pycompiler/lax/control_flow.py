"""Loops: `while_loop` runs while a condition holds, `fori_loop` over numbers. Each is one native loop that updates its
values in place.

Part of lax.
"""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np

from pycompiler._runtime import Array, ShapedArray
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.flat import check_arrays
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.references import hide
from pycompiler.core.tracing.structural import add
from pycompiler.core.tracing.trace import DebugInfo, Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import PyTreeDef, tree_flatten
from pycompiler.lax.operands import cast
from pycompiler.lax.operands import check_arrays as check_values
from pycompiler.lax.stepwise import value_of, while_steps
from pycompiler.lax.tracing import (
    Traced,
    Tree,
    check_callable,
    check_carry,
    check_structure,
    on_device,
    promoted_carry,
    trace_function,
    without_references,
)
from pycompiler.primitives.bits import and_
from pycompiler.primitives.compare import lt
from pycompiler.primitives.control.graphs import opened
from pycompiler.primitives.control.scan import Form, run_scan
from pycompiler.primitives.control.while_loop import run_while

__all__ = [
    "fori_loop",
    "while_loop",
]

# The maximum distance of float bounds for a known number of iterations.
_MOST_FLOATS = 1_000_000


@boundary
def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Tree, *, max_steps: int | None = None
) -> Tree:
    """The final value of a loop: it starts with `init_val` and becomes `body_fun(value)` while `cond_fun(value)` holds.

    A value is a tree of arrays, whose structure, shapes and dtypes stay the same. Under `vmap`, a mapped condition runs
    the loop until it holds for no element.

    Without `max_steps`, the loop has only forward-mode derivatives, because the number of iterations is unknown.
    `max_steps`, which jax does not have, limits the number of iterations and enables reverse mode. The loop then keeps
    the values of about 2 sqrt(max_steps) iterations at a time, and computes each iteration twice (Griewank, 1992).

    Raises TypeError, naming the leaf, if `body_fun` changes the type of the value, or `cond_fun` does not return one
    bool. A `max_steps` that is not an int is a TypeError; one that is not positive is a ValueError.

    >>> from pycompiler import lax
    >>> lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    check_callable("while_loop", cond_fun=cond_fun, body_fun=body_fun)
    if max_steps is not None:
        if isinstance(max_steps, bool) or not isinstance(max_steps, (int, np.integer)):
            raise TypeError(f"while_loop: max_steps must be a positive int, got {max_steps!r}")
        if not 0 < max_steps < 2**31:
            raise ValueError(f"while_loop: max_steps must be a positive int below 2**31, got {max_steps}")
        max_steps = int(max_steps)
    stepped = while_steps(cond_fun, body_fun, init_val, max_steps)
    if stepped is not None:
        return stepped[0]
    leaves, in_tree = without_references("while_loop", body_fun, ((init_val,), {}))
    check_arrays("while_loop", body_fun, leaves, in_tree)

    def trace(avals: Sequence[ShapedArray]) -> Traced:
        return trace_function("while_loop", body_fun, in_tree, avals)

    leaves, body, out_tree = _fixed_carry("while_loop", body_fun, init_val, leaves, trace, first=0)
    cond, cond_tree = trace_function("while_loop", cond_fun, in_tree, list(map(get_aval, leaves)))
    tested = cond.out_avals
    if cond_tree != tree_flatten(0)[1] or tested[0].shape != () or tested[0].dtype != dtypes.bool_:
        shown = ", ".join(map(short, tested))
        raise TypeError(f"while_loop: cond_fun must return one bool[], it returned {cond_tree} of ({shown})")
    if max_steps is None:
        return out_tree.unflatten(run_while(cond, body, [], [], leaves))
    (body, body_consts), (cond, cond_consts) = [(g, []) if g.refers else opened(g) for g in (body, cond)]
    tested, step = body.derive(("bounded", cond, max_steps), lambda: _bounded(cond, body, len(leaves), max_steps))
    outs = run_while(tested, step, cond_consts, body_consts, [dtypes.host_scalar(0, dtypes.int32), *leaves], max_steps)
    return out_tree.unflatten(outs[1:])


def _bounded(cond: ClosedGraph, body: ClosedGraph, count: int, max_steps: int) -> tuple[ClosedGraph, ClosedGraph]:
    """The condition and the body of a loop that counts its iterations before the carry, up to a limit."""
    debug_info = DebugInfo("while_loop", while_loop)
    counter = ShapedArray((), dtypes.int32)

    def counted(graph: ClosedGraph) -> tuple[list[ShapedArray], int]:
        first = len(graph.in_avals) - count
        return [*graph.in_avals[:first], counter, *graph.in_avals[first:]], first

    cond_avals, cond_first = counted(cond)
    body_avals, body_first = counted(body)

    def goes_on(*args: Any) -> list[Any]:
        steps = args[cond_first]
        holds = evaluate(cond, (*args[:cond_first], *args[cond_first + 1 :]))[0]
        return [and_.bind(lt.bind(steps, dtypes.host_scalar(max_steps, dtypes.int32)), holds)]

    def step(*args: Any) -> list[Any]:
        after = evaluate(body, (*args[:body_first], *args[body_first + 1 :]))
        return [add.bind(args[body_first], dtypes.host_scalar(1, dtypes.int32)), *after]

    return record(goes_on, cond_avals, debug_info), record(step, body_avals, debug_info)


def _fixed_carry(
    name: str,
    body_fun: Callable[..., Any],
    init_val: Tree,
    leaves: list[Any],
    trace: Callable[[Sequence[ShapedArray]], Traced],
    first: int,
) -> tuple[list[Any], ClosedGraph, PyTreeDef]:
    """The leaves of the carry, and the body traced for them.

    Weakly typed leaves take the dtype that the body returns. Any other change of type is an error. `first` is the
    number of leaves before the carry.
    """
    carry_tree = hide(*tree_flatten(init_val))[1]
    body, out_tree = trace(list(map(get_aval, leaves)))
    check_structure(name, "the value", body_fun, carry_tree, out_tree)
    promoted = promoted_carry(leaves[first:], body.out_avals)
    if promoted is not None:
        leaves = [*leaves[:first], *promoted]
        body, out_tree = trace(list(map(get_aval, leaves)))
    check_carry(name, "the value", body_fun, carry_tree, leaves[first:], body.out_avals)
    return leaves, body, out_tree


@boundary
def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Tree, *, unroll: int | bool | None = None
) -> Tree:
    """The final value of a loop: it starts with `init_val` and becomes `body_fun(i, value)` for i in lower..upper-1.

    The bounds are numbers of one dtype, integers or floats, known or traced; i is `lower`, `lower + 1`, ... If the
    bounds are known while tracing, i is weakly typed, and reverse mode can differentiate the loop. A value is a tree of
    arrays, whose structure, shapes and dtypes stay the same. `unroll` is accepted if the bounds are known. It has no
    effect: the compiler decides.

    Raises TypeError, naming the leaf, if `body_fun` changes the type of the value; TypeError for bounds that are not
    real numbers of one dtype.

    >>> from pycompiler import lax
    >>> lax.fori_loop(0, 10, lambda i, total: total + i, 0)
    Array(45, dtype=int32, weak_type=True)
    """
    check_callable("fori_loop", body_fun=body_fun)
    check_values("fori_loop", lower, upper)
    bounds = [get_aval(lower), get_aval(upper)]
    for what, aval in zip(("lower", "upper"), bounds, strict=True):
        if aval.shape != () or not (dtypes.is_integer(aval.dtype) or dtypes.is_floating(aval.dtype)):
            raise TypeError(f"fori_loop: {what} must be one integer or float, got {short(aval)}")
    if unroll not in (None, False, 1) and (isinstance(lower, Tracer) or isinstance(upper, Tracer)):
        raise ValueError(f"fori_loop: unroll={unroll} takes bounds that are known; these are traced")
    dtype = _index_dtype(*bounds)
    number = int if dtypes.is_integer(dtype) else float
    i, last = value_of(number, lower), value_of(number, upper)
    if i is not None and last is not None:
        while i < last:
            init_val = body_fun(i, init_val)
            i += 1
        return init_val
    given = (lower, upper)
    dtype, weak = _index_type(given, bounds)
    lower, upper = (cast(x, dtype, weak) for x in (lower, upper))
    leaves, in_tree = without_references("fori_loop", body_fun, ((lower, init_val), {}))
    check_arrays("fori_loop", body_fun, leaves, in_tree)

    def trace(avals: Sequence[ShapedArray]) -> Traced:
        return trace_function("fori_loop", body_fun, in_tree, avals)

    leaves, body, out_tree = _fixed_carry("fori_loop", body_fun, init_val, leaves, trace, first=1)
    # A body that uses references keeps its constants: `run_scan` and `run_while` make all of it pure.
    body, body_consts = (body, []) if body.refers else opened(body)
    cond, step = body.derive(("counted", len(body_consts)), lambda: _counted(body, len(body_consts)))
    length = _length(given, (*leaves, *body_consts))
    if length is not None:
        (_, *outs), _ = run_scan(step, Form(len(body_consts), len(leaves), length, False), body_consts, leaves, [])
        return out_tree.unflatten(on_device(outs))
    (_, *outs) = run_while(cond, step, [upper], body_consts, leaves)
    return out_tree.unflatten(outs)


def _length(bounds: Sequence[Any], operands: Sequence[Any]) -> int | None:
    """The number of iterations, if it is known. Bounds that are arrays require a wait, so they are read only inside a
    trace, where a derivative may need the number."""
    kinds = (int, float, np.generic, np.ndarray)
    if any(isinstance(x, Tracer) for x in operands):
        kinds = (*kinds, Array)
    if any(isinstance(bound, Tracer) or not isinstance(bound, kinds) for bound in bounds):
        return None
    lower, upper = bounds
    dtype = _index_dtype(get_aval(lower), get_aval(upper))
    if dtypes.is_integer(dtype):
        return max(0, int(upper) - int(lower))
    distance = float(upper) - float(lower)
    if not abs(distance) <= _MOST_FLOATS:
        return None
    # The loop adds 1 in the dtype of the bounds. If rounding keeps the index the same, the loop never ends.
    indices = np.full(max(0, ceil(distance)) + 2, 1, dtype)
    indices[0] = lower
    runs = np.add.accumulate(indices) < np.asarray(upper, dtype)
    return None if runs[-1] else int(np.count_nonzero(runs))


def _index_dtype(lower: ShapedArray, upper: ShapedArray) -> Any:
    """The dtype of both bounds. A Python number takes the dtype of the other bound, if it is of the same kind."""
    if lower.dtype == upper.dtype:
        return lower.dtype
    kinds = (dtypes.is_signed, dtypes.is_floating)
    if any(kind(lower.dtype) and kind(upper.dtype) for kind in kinds) and lower.weak_type != upper.weak_type:
        return upper.dtype if lower.weak_type else lower.dtype
    shown = f"{short(lower)} and {short(upper)}"
    raise TypeError(f"fori_loop: lower and upper must have one dtype, got {shown}; convert one to the other")


def _index_type(given: Sequence[Any], bounds: Sequence[ShapedArray]) -> tuple[Any, bool]:
    """The dtype and the weak type of the index. Known bounds of any type count as Python numbers, so the index adapts
    to the value. Otherwise the index has the type of `lower`, in the dtype of both bounds."""
    dtype = _index_dtype(*bounds)
    if any(isinstance(bound, Tracer) for bound in given):
        return dtype, bounds[0].weak_type and bounds[0].dtype == dtype
    default = dtypes.scalar_dtype(int)
    return default if dtypes.is_integer(dtype) and np.can_cast(dtype, default) else dtype, True


def _counted(body: ClosedGraph, nconsts: int) -> tuple[ClosedGraph, ClosedGraph]:
    """The condition on the index, and the body that also increments it."""
    index, *carry = body.in_avals[nconsts:]
    debug_info = DebugInfo("fori_loop", fori_loop)

    def step(*args: Any) -> list[Any]:
        return [add.bind(args[nconsts], dtypes.host_scalar(1, index.dtype)), *evaluate(body, args)]

    cond = record(lambda upper, i, *_: [lt.bind(i, upper)], (index, index, *carry), debug_info)
    return cond, record(step, body.in_avals, debug_info)
