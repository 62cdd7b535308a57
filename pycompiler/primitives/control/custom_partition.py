"""`custom_partitioning`: a function with the user's division over the devices of a mesh.

`graph` computes the results on whole arrays. The partitioner calls the user's functions in its place; on one device,
and in `shard_map`, its equations are inlined. `spmd.partition.custom` divides it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.tracing.evaluate import evaluate
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.core.tracing.structural import mapped_size
from pycompiler.core.types.aval import ShapedArray
from pycompiler.core.types.tree import PyTreeDef
from pycompiler.primitives.control.graphs import check_takes, mapped_graph
from pycompiler.primitives.rules import Dims, Value


class Division(NamedTuple):
    """The functions of the user. The trees are those of the arguments, and of the result."""

    name: str
    partition: Callable[..., Any]
    infer: Callable[..., Any] | None
    # A rule of factors, or a function that makes one.
    rule: Any
    static: tuple[Any, ...]
    in_tree: PyTreeDef
    out_tree: PyTreeDef

    def __repr__(self) -> str:
        return self.name


def _shape(*avals: ShapedArray, graph: ClosedGraph, division: Division) -> tuple[ShapedArray, ...]:
    check_takes("custom_partitioning", f"the function {division.name}", graph, avals)
    return graph.out_avals


def _no_derivative(*args: Any, division: Division, **params: Any) -> NoReturn:
    raise NotDifferentiableError(
        f"custom_partitioning: {division.name} has no derivative, because its parts on devices have none. What to do: "
        "give it a rule, by custom_vjp or custom_jvp over the function that calls it"
    )


def _batch(
    args: Sequence[Value], dims: Dims, *, graph: ClosedGraph, division: Division
) -> tuple[tuple[Value, ...], tuple[int | None, ...]]:
    mapped, which = mapped_graph(graph, tuple(dims), mapped_size(args, dims), None)
    return tuple(evaluate(mapped, args)), tuple([0 if flag else None for flag in which])


custom_partitioned_call = Primitive(
    name="custom_partitioning",
    shape_rule=_shape,
    jvp=_no_derivative,
    transpose=_no_derivative,
    batch=_batch,
    multiple_results=True,
    linearize=_no_derivative,
)
