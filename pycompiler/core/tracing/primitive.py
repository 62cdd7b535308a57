"""A primitive: one operation with all its rules side by side, and `bind`, through which every operation goes.

The entries themselves are in `ops`, one file a family (the four that the interpreters are built on in `structural`,
nested calls in `call`). The name is the contract with the compiler: a graph's equation becomes `array.<name>`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pycompiler._runtime import ShapedArray, current_trace
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.effects import Effects
from pycompiler.core.tracing.trace import Tracer


class Zero:
    """A tangent or cotangent that is zero for certain, of the given aval: nothing is computed for it."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"


class UndefinedPrimal:
    """In a transpose rule: an argument in which the operation is linear, and whose cotangent is wanted."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.aval.shape

    @property
    def dtype(self) -> Any:
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        return len(self.aval.shape)

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval})"


def is_zero(x: object) -> bool:
    """Whether `x` is a symbolic zero."""
    return type(x) is Zero


def is_undefined(x: object) -> bool:
    """Whether `x` is an argument whose cotangent is wanted."""
    return type(x) is UndefinedPrimal


class Sample(NamedTuple):
    """One set of arguments for the tests: arrays, and the parameters of `bind`."""

    args: tuple[np.ndarray[Any, Any], ...]
    params: dict[str, Any] = {}  # noqa: RUF012


Dims = Sequence[int | None]


# (*avals, **params) -> aval, or a tuple of them. Raises TypeError or ValueError for what does not fit.
ShapeRule = Callable[..., Any]
# (primals, tangents, **params) -> (out, tangent_out). A tangent, given or returned, may be a Zero.
JvpRule = Callable[..., tuple[Any, Any]]
# As a jvp rule, for primitives that hold graphs: what depends on a tangent must be an operation of its own.
LinearizeRule = Callable[..., tuple[Any, Any]]
# (cotangent, *args, **params) -> a cotangent or None for each argument. Linear ones are UndefinedPrimal.
TransposeRule = Callable[..., Sequence[Any]]
# (args, dims, **params) -> (out, out_dim), for arguments mapped over axis `dims[i]`, or not at all (None).
BatchRule = Callable[..., tuple[Any, Any]]


def _no_evaluator(primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
    raise RuntimeError(f"{primitive.name}: eager evaluation is not there until pycompiler.jit has been imported")


# Eager evaluation, (primitive, args, params) -> result: filled once, by `pycompiler.jit`.
eager_slot: Callable[[Primitive, Sequence[Any], dict[str, Any]], Any] = _no_evaluator


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Primitive:
    """One operation. `jvp` is None where it has no derivative (its results are integers or its derivative is zero
    everywhere), `transpose` where it is linear in no argument; `linearize` is given by primitives that hold graphs,
    `axis_names` by those over named axes: the names among the parameters, `effects` by those that do something beside
    computing their results: what, by the parameters."""

    name: str
    shape_rule: ShapeRule
    jvp: JvpRule | None
    transpose: TransposeRule | None
    batch: BatchRule
    reference: Callable[..., Any]
    sampler: Callable[[np.random.Generator], Iterable[Sample]]
    multiple_results: bool = False
    linearize: LinearizeRule | None = None
    axis_names: Callable[..., Iterable[axes.Name]] | None = None
    effects: Callable[..., Effects] | None = None

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the operation: recorded, transformed or evaluated, as the newest of these traces says: the arguments',
        the current one, and those of the named axes that it is over."""
        tracker = axes.varying_tracker()
        return self.dispatch(args, params) if tracker is None else tracker.bind(self, args, params)

    def dispatch(self, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """`bind`, past what follows the values over a mesh."""
        trace = current_trace()
        for arg in args:
            if isinstance(arg, Tracer):
                other = arg.owner
                if trace is None or other.level > trace.level:
                    trace = other
        # What holds graphs has several results.
        if self.multiple_results or self.axis_names is not None:
            trace = axes.newest(self, params, trace)
        if trace is None:
            return eager_slot(self, args, params)
        return trace.process(self, args, params)

    def __repr__(self) -> str:
        return self.name
