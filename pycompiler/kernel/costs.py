"""The cost of a function, estimated from its graph: `estimate_cost`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from pycompiler.core.tracing.graph import Equation, Graph
from pycompiler.transforms.inspection import make_jaxpr

__all__ = ["CostEstimate", "estimate_cost"]


@dataclass(frozen=True)
class CostEstimate:
    """The cost of a kernel, for a compiler that schedules by it. This compiler ignores it."""

    flops: int
    transcendentals: int
    bytes_accessed: int
    remote_bytes_transferred: int = 0

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, int):
                raise ValueError(f"CostEstimate: {name} is {value!r}, expected an integer")


# Operations of one flop, or of one transcendental function, for each element of the result.
_FLOPS = {"abs", "add", "and", "ceil", "div", "floor", "max", "min", "mul", "neg", "not", "or", "rem", "round"}
_FLOPS |= {"sign", "sub", "xor"}
_TRANSCENDENTALS = {"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc"}
_TRANSCENDENTALS |= {"erf_inv", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "logistic", "pow", "rsqrt"}
_TRANSCENDENTALS |= {"digamma", "lgamma", "sin", "sinh", "sqrt", "tan", "tanh"}


class _Work(NamedTuple):
    flops: int = 0
    transcendentals: int = 0


def estimate_cost(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> CostEstimate:
    """The operations of `fun` for arguments of these types, and the bytes of arguments and results.

    A fused multiply-add counts as two operations. The body of a `scan` counts once for each iteration, the body of a
    `while_loop` once. Of the branches of a `cond`, the one with the most operations counts.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> from pycompiler.experimental import pallas as pl
    >>> pl.estimate_cost(lambda x, y: pnp.exp(x @ y), pc.ShapeDtypeStruct((2, 3), "float32"), pnp.ones((3, 4)))
    CostEstimate(flops=48, transcendentals=8, bytes_accessed=104, remote_bytes_transferred=0)
    """
    closed = make_jaxpr(lambda *args: fun(*args, **kwargs))(*args)
    work = _graph_work(closed.graph)
    moved = sum(math.prod(aval.shape) * aval.dtype.itemsize for aval in (*closed.in_avals, *closed.out_avals))
    return CostEstimate(work.flops, work.transcendentals, moved)


def _graph_work(graph: Graph) -> _Work:
    works = [_equation_work(equation) for equation in graph.equations]
    return _Work(sum(work.flops for work in works), sum(work.transcendentals for work in works))


def _equation_work(equation: Equation) -> _Work:
    name, params = equation.primitive.name, equation.params
    if equation.graphs:
        works = [_graph_work(part.graph) for part in equation.graphs]
        if name == "cond":
            return max(works, key=sum)
        times = params["length"] if name == "scan" else 1
        return _Work(sum(work.flops for work in works) * times, sum(work.transcendentals for work in works) * times)
    size = math.prod(equation.outputs[0].aval.shape)
    if name == "dot_general":
        shape = equation.inputs[0].aval.shape
        return _Work(2 * size * math.prod([shape[dim] for dim in params["lhs_contracting"]]))
    if name in _TRANSCENDENTALS:
        return _Work(0, size)
    return _Work(size) if name in _FLOPS else _Work()
