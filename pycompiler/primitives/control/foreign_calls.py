"""Calls of C functions by compiled code: the primitive `ffi_call`.

Its parameter `target` is the function. When code is loaded, `target` makes the runtime's call of the function
(`host_calls`): the code contains no pointer. The primitive is in no TABLE, because NumPy has no reference of it.

`input_layouts` and `output_layouts` have for each array its dimensions in the order of memory, by their numbers in the
function, or None if both orders are equal. The operands are in the order of memory. `input_output_aliases` are pairs of
an input and the output whose memory holds it when the function begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

from pycompiler._runtime import ShapedArray
from pycompiler.core.errors import NotDifferentiableError
from pycompiler.core.source import user_source
from pycompiler.core.tracing import effects
from pycompiler.core.tracing.graph import Equation
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives.control.mapped_calls import by_method
from pycompiler.primitives.rules import Dims, Value

Order = tuple[int, ...]


class ForeignTarget(Protocol):
    """A C function. Hashable; two are equal if they are the same function."""

    @property
    def name(self) -> str:
        """For messages and profiles."""
        ...

    def call(self, equation: Equation) -> Any:
        """The call of an equation, for an executable's table. Raises ExecutionError if the function is missing."""
        ...


def _declared(*avals: ShapedArray, result_avals: tuple[ShapedArray, ...], **params: Any) -> tuple[ShapedArray, ...]:
    return result_avals


def _effects(*, has_side_effect: bool, **params: Any) -> effects.Effects:
    return effects.of_io(ordered=False) if has_side_effect else effects.NONE


def _no_jvp(*args: Any, target: ForeignTarget, **params: Any) -> NoReturn:
    source = user_source()
    raise NotDifferentiableError(
        (f"{source.describe()}\n" if source else "")
        + f"ffi_call: the C function {target.name} has no derivative. What to do: give the function that calls it a "
        "rule by custom_jvp or custom_vjp, or pass it lax.stop_gradient of its arguments"
    )


def _widened(params: dict[str, Any], has_axis: Sequence[bool]) -> dict[str, Any]:
    """The parameters for arrays with a new leading axis, inputs where `has_axis`."""
    inputs: Sequence[Order | None] = params["input_layouts"]
    outputs: Sequence[Order | None] = params["output_layouts"]
    return {
        **params,
        "input_layouts": tuple([_behind(x) if new else x for x, new in zip(inputs, has_axis, strict=True)]),
        "output_layouts": tuple(map(_behind, outputs)),
    }


def _behind(order: Order | None) -> Order | None:
    return None if order is None else (0, *[dim + 1 for dim in order])


def _batch(args: Sequence[Value], dims: Dims, **params: Any) -> tuple[Any, Any]:
    return by_method(ffi_call, args, dims, params, _widened)


ffi_call = Primitive(
    "ffi_call",
    _declared,
    _no_jvp,
    None,
    _batch,
    multiple_results=True,
    effects=_effects,
)
