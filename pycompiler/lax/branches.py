"""Branches: `cond` and `switch` compute one of several functions, chosen by an index. Part of lax."""

from collections.abc import Callable, Sequence
from typing import Any

from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.flat import check_arrays
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, same_type, short
from pycompiler.core.types.tree import PyTreeDef
from pycompiler.lax.elementwise import clamp, convert_element_type, ne
from pycompiler.lax.operands import check_arrays as check_values
from pycompiler.lax.stepwise import value_of
from pycompiler.lax.tracing import (
    Tree,
    check_callable,
    difference,
    name_of,
    on_device,
    trace_function,
    without_references,
)
from pycompiler.primitives.control.cond import run_cond

__all__ = [
    "cond",
    "switch",
]

# The default of `operand`. None is an operand.
_NOT_GIVEN = object()


@boundary
def cond(pred: Any, true_fun: Any, false_fun: Any, *operands: Any, operand: Any = _NOT_GIVEN) -> Tree:
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`; only that one is computed.

    `pred` is a scalar: a bool, or a number that is compared with zero. Both functions are traced. They return trees of
    one structure, whose leaves have the same shapes and dtypes. Under `vmap`, a mapped `pred` computes both functions
    and selects. `cond(pred, x, true_fun, y, false_fun)` calls each function with its own operand.

    Raises TypeError, naming the leaf, if the two results differ, and for a `pred` that is not a scalar.

    >>> from pycompiler import lax
    >>> lax.cond(3 > 2, lambda x: x + 1, lambda x: x - 1, 10.0)
    Array(11., dtype=float32, weak_type=True)
    """
    if not callable(true_fun) and callable(false_fun) and len(operands) == 2 and callable(operands[1]):
        if_true, if_false = false_fun, operands[1]
        return cond(pred, lambda x, _: if_true(x), lambda _, y: if_false(y), true_fun, operands[0])
    check_callable("cond", true_fun=true_fun, false_fun=false_fun)
    operands = _given("cond", operands, operand)
    aval = _scalar("cond", "pred", pred)
    if aval.dtype != dtypes.bool_:
        if not (dtypes.is_integer(aval.dtype) or dtypes.is_floating(aval.dtype)):
            raise TypeError(f"cond: pred must be a bool or a real number, got {short(aval)}")
        pred = ne(pred, 0)
    holds = value_of(bool, pred)
    if holds is not None:
        return (true_fun if holds else false_fun)(*operands)
    index = convert_element_type(pred, dtypes.int32)
    return _choose("cond", index, (false_fun, true_fun), ("false_fun", "true_fun"), operands)


@boundary
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any, operand: Any = _NOT_GIVEN) -> Tree:
    """`branches[index](*operands)`, with the index clamped to the branches; only that one is computed.

    All functions are traced. They return trees of one structure, whose leaves have the same shapes and dtypes. Under
    `vmap`, a mapped index computes all functions and selects.

    Raises TypeError, naming the branch and the leaf, if results differ, and for an index that is not a scalar integer;
    ValueError for no branches.

    >>> from pycompiler import lax
    >>> lax.switch(2, [lambda x: x, lambda x: x * 2, lambda x: x * 3], 10)
    Array(30, dtype=int32, weak_type=True)
    """
    branches = tuple(branches)
    check_callable("switch", **{f"branches[{i}]": branch for i, branch in enumerate(branches)})
    operands = _given("switch", operands, operand)
    aval = _scalar("switch", "index", index)
    if not dtypes.is_integer(aval.dtype):
        raise TypeError(f"switch: index must be an integer, got {short(aval)}")
    if not branches:
        raise ValueError("switch: needs at least one branch")
    if len(branches) == 1:
        return branches[0](*operands)
    number = value_of(int, index)
    if number is not None:
        return branches[min(max(number, 0), len(branches) - 1)](*operands)
    last = dtypes.host_scalar(len(branches) - 1, dtypes.int32)
    index = clamp(dtypes.host_scalar(0, dtypes.int32), convert_element_type(index, dtypes.int32), last)
    return _choose("switch", index, branches, [f"branch {i}" for i in range(len(branches))], operands)


def _given(name: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    if operand is _NOT_GIVEN:
        return operands
    if operands:
        raise TypeError(f"{name}: takes operands by position or one by `operand`, not both; got {len(operands)} and it")
    return (operand,)


def _scalar(name: str, what: str, x: Any) -> Any:
    check_values(name, x)
    aval = get_aval(x)
    if aval.shape != ():
        raise TypeError(f"{name}: {what} must be a scalar, got {short(aval)}; use `where` to choose for each element")
    return aval


def _choose(
    name: str, index: Any, branches: Sequence[Callable[..., Any]], names: Sequence[str], operands: tuple[Any, ...]
) -> Tree:
    leaves, in_tree = without_references(name, branches[0], (operands, {}))
    check_arrays(name, branches[0], leaves, in_tree)
    avals = [get_aval(leaf) for leaf in leaves]
    traced = [trace_function(name, branch, in_tree, avals) for branch in branches]
    named = [f"{what} ({name_of(branch)})" for what, branch in zip(names, branches, strict=True)]
    graphs = [graph for graph, _ in traced]
    out_tree = traced[0][1]
    for what, (graph, tree) in zip(named[1:], traced[1:], strict=True):
        _check_same(name, (named[0], graphs[0], out_tree), (what, graph, tree))
    return out_tree.unflatten(on_device(run_cond(index, graphs, leaves)))


_Branch = tuple[str, ClosedGraph, PyTreeDef]


def _check_same(name: str, one: _Branch, other: _Branch) -> None:
    """Raise TypeError unless two branches return results of one structure, and of the same types."""
    (first, graph, tree), (second, other_graph, other_tree) = one, other
    if tree != other_tree:
        where = difference(tree, other_tree)
        raise TypeError(
            f"{name}: {first} returns the structure {tree}, but {second} returns {other_tree}"
            f"{f' ({where})' if where else ''}; all branches must return the same structure"
        )
    for path, a, b in zip(tree.paths(), graph.out_avals, other_graph.out_avals, strict=True):
        if not same_type(a, b):
            raise TypeError(
                f"{name}: {first} returns {short(a)} at output{path}, but {second} returns {short(b)} there; the "
                "shapes and dtypes of all branches must be the same: convert one to the other"
            )
