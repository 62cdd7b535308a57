"""Loops: `while_loop` and `fori_loop`, each one native loop whose carry is updated in place.

A function is traced once for each kind of carry, also outside of `jit`: the graphs are kept with it. Part of lax.
"""

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pycompiler._runtime import ShapedArray, context_key
from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import get_aval, same_type, short
from pycompiler.core.boundary import boundary
from pycompiler.core.evaluate import evaluate
from pycompiler.core.flat import FlatFunction, check_arrays
from pycompiler.core.graph import ClosedGraph, close_over
from pycompiler.core.record import make_graph, record
from pycompiler.core.structural import add
from pycompiler.core.trace import Origin, Tracer
from pycompiler.core.tree import PyTreeDef, tree_flatten
from pycompiler.lax.operands import cast
from pycompiler.lax.operands import check_arrays as check_values
from pycompiler.ops.compare import lt
from pycompiler.ops.control import while_

Tree = Any
_Traced = tuple[ClosedGraph, PyTreeDef]

# What was traced of a function, as long as the function lives.
_traces: weakref.WeakKeyDictionary[Callable[..., Any], dict[Hashable, _Traced]] = weakref.WeakKeyDictionary()
# Of one function; a program that has more kinds of carries traces again.
_MOST_TRACES = 256


def _trace(name: str, fun: Callable[..., Any], in_tree: PyTreeDef, avals: Sequence[ShapedArray]) -> _Traced:
    """The graph of a function of one carry (or of an index and a carry), and the structure of its result."""
    key = (name, in_tree, tuple(avals), context_key())
    try:
        known = _traces.setdefault(fun, {})
    except TypeError:  # neither hashable nor something that weak references refer to
        known = {}
    traced = known.get(key)
    if traced is None:
        flat = FlatFunction(name, fun, in_tree)
        graph = make_graph(flat, avals, flat.origin())
        traced = (graph, flat.out_tree)
        if len(known) < _MOST_TRACES and not any(isinstance(const, Tracer) for const in graph.consts):
            known[key] = traced
    return traced


@boundary
def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Tree) -> Tree:
    """The last of the values that start with `init_val` and go on with `body_fun(value)` while `cond_fun(value)`.

    A value is a tree of arrays, whose structure, shapes and dtypes stay the same. Under `vmap` a condition that is
    mapped runs the loop until it holds for none. Forward mode only: the number of iterations is not known.

    Raises TypeError, naming the leaf, when `body_fun` changes the type of the value, and when `cond_fun` does not
    return one bool.

    >>> from pycompiler import lax
    >>> lax.while_loop(lambda x: x < 100, lambda x: x * 2, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    for what, fun in (("cond_fun", cond_fun), ("body_fun", body_fun)):
        if not callable(fun):
            raise TypeError(f"while_loop: {what} must be a function, got {fun!r} of type {type(fun).__name__}")
    leaves, in_tree = tree_flatten(((init_val,), {}))
    check_arrays("while_loop", body_fun, leaves, in_tree)

    def trace(avals: Sequence[ShapedArray]) -> _Traced:
        return _trace("while_loop", body_fun, in_tree, avals)

    leaves, body, out_tree = _fixed_carry("while_loop", body_fun, init_val, leaves, trace, first=0)
    cond, cond_tree = _trace("while_loop", cond_fun, in_tree, list(map(get_aval, leaves)))
    tested = cond.out_avals
    if cond_tree != tree_flatten(0)[1] or tested[0].shape != () or tested[0].dtype != dtypes.bool_:
        shown = ", ".join(map(short, tested))
        raise TypeError(f"while_loop: cond_fun must return one bool[], it returned {cond_tree} of ({shown})")
    return out_tree.unflatten(_loop(cond, body, leaves))


def _fixed_carry(
    name: str,
    body_fun: Callable[..., Any],
    init_val: Tree,
    leaves: list[Any],
    trace: Callable[[Sequence[ShapedArray]], _Traced],
    first: int,
) -> tuple[list[Any], ClosedGraph, PyTreeDef]:
    """The leaves of the carry, and the body traced for them. Weakly typed leaves take the dtype that the body gives;
    anything else that the body changes is an error. `first` counts what precedes the carry among the leaves."""
    carry_tree = tree_flatten(init_val)[1]
    body, out_tree = trace(list(map(get_aval, leaves)))
    _check_structure(name, body_fun, carry_tree, out_tree)
    promoted = leaves[:first]
    for leaf, after in zip(leaves[first:], body.out_avals, strict=True):
        aval = get_aval(leaf)
        follows = aval.weak_type and not after.weak_type and dtypes.result_type(aval, after)[0] == after.dtype
        promoted.append(cast(leaf, after.dtype) if follows else leaf)
    if any(a is not b for a, b in zip(leaves, promoted, strict=True)):
        leaves = promoted
        body, out_tree = trace(list(map(get_aval, leaves)))
    carry = list(map(get_aval, leaves[first:]))
    for path, before, after in zip(carry_tree.paths(), carry, body.out_avals, strict=True):
        if not same_type(before, after):
            raise TypeError(
                f"{name}: the value{path} starts as {short(before)}, but {_name(body_fun)} returns {short(after)} for "
                "it; its shape and dtype must stay the same: convert one to the other"
            )
    return leaves, body, out_tree


def _check_structure(name: str, body_fun: Callable[..., Any], before: PyTreeDef, after: PyTreeDef) -> None:
    if before != after:
        raise TypeError(
            f"{name}: the value starts with the structure {before}, but {_name(body_fun)} returns {after}; return the "
            "structure that it is given"
        )


def _name(fun: Callable[..., Any]) -> str:
    return getattr(fun, "__name__", type(fun).__name__)


def _loop(cond: ClosedGraph, body: ClosedGraph, carry: Sequence[Any]) -> Sequence[Any]:
    cond, cond_consts = cond.derive("opened", lambda: close_over(cond))
    body, body_consts = body.derive("opened", lambda: close_over(body))
    return while_.bind(
        *cond_consts,
        *body_consts,
        *carry,
        cond_jaxpr=cond,
        cond_nconsts=len(cond_consts),
        body_jaxpr=body,
        body_nconsts=len(body_consts),
    )


@boundary
def fori_loop(
    lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Tree, *, unroll: int | bool | None = None
) -> Tree:
    """The last of the values that start with `init_val` and go on with `body_fun(i, value)` for i in lower..upper-1.

    The bounds are integers, or traced integers of one dtype. A value is a tree of arrays, whose structure, shapes and
    dtypes stay the same. `unroll` is taken where the bounds are Python integers, and changes nothing: the compiler
    decides.

    Raises TypeError, naming the leaf, when `body_fun` changes the type of the value; TypeError for bounds that are not
    integers of one dtype.

    >>> from pycompiler import lax
    >>> lax.fori_loop(0, 10, lambda i, total: total + i, 0)
    Array(45, dtype=int32, weak_type=True)
    """
    if not callable(body_fun):
        raise TypeError(f"fori_loop: body_fun must be a function, got {body_fun!r} of type {type(body_fun).__name__}")
    check_values("fori_loop", lower, upper)
    bounds = [get_aval(lower), get_aval(upper)]
    for what, aval in zip(("lower", "upper"), bounds, strict=True):
        if aval.shape != () or not dtypes.is_integer(aval.dtype):
            raise TypeError(f"fori_loop: {what} must be one integer, got {short(aval)}")
    if unroll not in (None, False, 1) and (isinstance(lower, Tracer) or isinstance(upper, Tracer)):
        raise ValueError(f"fori_loop: unroll={unroll} takes bounds that are known; these are traced")
    dtype = _index_dtype(*bounds)
    weak = all(aval.weak_type for aval in bounds)
    lower, upper = (cast(x, dtype, weak) for x in (lower, upper))
    leaves, in_tree = tree_flatten(((lower, init_val), {}))
    check_arrays("fori_loop", body_fun, leaves, in_tree)

    def trace(avals: Sequence[ShapedArray]) -> _Traced:
        return _trace("fori_loop", body_fun, in_tree, avals)

    leaves, body, out_tree = _fixed_carry("fori_loop", body_fun, init_val, leaves, trace, first=1)
    cond, step, body_consts = body.derive("counted", lambda: _counted(body))
    (_, *outs) = while_.bind(
        upper, *body_consts, *leaves, cond_jaxpr=cond, cond_nconsts=1, body_jaxpr=step, body_nconsts=len(body_consts)
    )
    return out_tree.unflatten(outs)


def _index_dtype(lower: ShapedArray, upper: ShapedArray) -> Any:
    """The dtype of both bounds; one of a Python integer follows the other."""
    if lower.dtype == upper.dtype:
        return lower.dtype
    if dtypes.is_signed(lower.dtype) and dtypes.is_signed(upper.dtype) and lower.weak_type != upper.weak_type:
        return upper.dtype if lower.weak_type else lower.dtype
    shown = f"{short(lower)} and {short(upper)}"
    raise TypeError(f"fori_loop: lower and upper must have one dtype, got {shown}; convert one to the other")


def _counted(body: ClosedGraph) -> tuple[ClosedGraph, ClosedGraph, list[Any]]:
    """The condition on the index, the body that counts it as well, and what the body closes over."""
    body, consts = close_over(body)
    index, *carry = body.in_avals[len(consts) :]
    origin = Origin("fori_loop", fori_loop)

    def step(*args: Any) -> list[Any]:
        return [add.bind(args[len(consts)], dtypes.host_scalar(1, index.dtype)), *evaluate(body, args)]

    cond = record(lambda upper, i, *_: [lt.bind(i, upper)], (index, index, *carry), origin)
    return cond, record(step, body.in_avals, origin), consts
