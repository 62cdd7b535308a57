"""Handlers of XLA's FFI that JAX programs call: those of `jax.ffi.register_ffi_target`, for `pycompiler` or for `cpu`.

JAX keeps handlers for XLA. `jax_plugins/pycompiler` sees their registrations from the first use of a backend on. Here a
custom call of a handler becomes a call of the runtime's, by a number in the table of the loaded code. `pycompiler.ffi`
makes the same calls. `source` imports this.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jaxlib import xla_client
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from pycompiler import _runtime
from pycompiler.core.errors import ExecutionError
from pycompiler.ffi.attributes import Attributes
from pycompiler.ffi.targets import handlers_of, register_ffi_type
from pycompiler.pjrt.callbacks import TARGET
from pycompiler.pjrt.layouts import transposed
from pycompiler.primitives.control.host_calls import HostCall

__all__ = ["ForeignFunction", "foreign_function", "has_effect", "is_foreign"]

_PLATFORM = "pycompiler"
# JAX registers these for the CPU; the importer translates them.
_TRANSLATED = "lapack_"


@dataclass(frozen=True)
class ForeignFunction:
    """A custom call of a registered handler: all that the runtime's call of it needs."""

    name: str
    handlers: tuple[int, ...]
    attributes: tuple[tuple[Any, ...], ...]
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    aliases: tuple[tuple[int, int], ...]
    effectful: bool

    def call(self) -> HostCall:
        """The entry of the table. Raises ExecutionError if the stage `instantiate` fails."""
        try:
            made = _runtime.foreign_call(
                self.name, self.handlers, self.attributes, self.inputs, self.outputs, self.aliases
            )
        except RuntimeError as error:
            raise ExecutionError(f"the call of the handler {self.name}: {error}") from None
        return HostCall(made, (), (), False, False, self.name)


def is_foreign(op: Any) -> bool:
    """Whether an operation calls a handler that is registered."""
    if op.name != "stablehlo.custom_call":
        return False
    name = op.attributes["call_target_name"].value
    return not name.startswith(_TRANSLATED) and _registered(name) is not None


def has_effect(op: Any) -> bool:
    """Whether a custom call must be made even if its results have no readers."""
    return "has_side_effect" in op.attributes and ir.BoolAttr(op.attributes["has_side_effect"]).value


def _registered(name: str) -> tuple[Any, int] | None:
    """The handlers of a target, and the version of their interface."""
    found: dict[str | None, tuple[Any, int]] = {}
    for known, given, platform, version in importlib.import_module("jax_plugins.pycompiler").TARGETS:
        if known == name:
            found[xla_client.xla_platform_names.get(platform, platform)] = (given, version)
    return found.get(_PLATFORM) or found.get(xla_client.xla_platform_names["cpu"])


def foreign_function(op: Any, slot: int) -> ForeignFunction:
    """The function of a custom call. In place, it becomes a call of the slot, with arrays in the handler's order.

    Raises RuntimeError, with the user's line, for handlers of another interface.
    """
    name = op.attributes["call_target_name"].value
    found = _registered(name)
    assert found is not None
    given, version = found
    if version != 1 or "mhlo.backend_config" not in op.attributes:
        raise RuntimeError(
            f"{op.location}: the target {name} has the older interface of custom calls (api_version 0), which is not "
            "supported.\nWhat to do: register a handler of XLA's FFI with api_version=1, and call jax.ffi.ffi_call"
        )
    _register_types()
    try:
        handlers = handlers_of(name, given)
        attributes = Attributes(_values(op.attributes["mhlo.backend_config"])).encoded
    except (TypeError, ValueError) as error:
        raise RuntimeError(f"{op.location}: {error}") from None
    made = ForeignFunction(
        name,
        handlers,
        attributes,
        _orders(op, "operand_layouts", len(op.operands)),
        _orders(op, "result_layouts", len(op.results)),
        tuple(map(_alias, op.attributes["output_operand_aliases"]))
        if "output_operand_aliases" in op.attributes
        else (),
        has_effect(op),
    )
    _reorder(op, made)
    for key in ("operand_layouts", "result_layouts", "output_operand_aliases", "api_version", "backend_config"):
        if key in op.attributes:
            del op.attributes[key]
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, op.context), slot)
    op.attributes["call_target_name"] = ir.StringAttr.get(TARGET, op.context)
    op.attributes["mhlo.backend_config"] = ir.DictAttr.get(
        {"slot": number, "foreign": ir.UnitAttr.get(op.context)}, op.context
    )
    return made


def _register_types() -> None:
    """Give the runtime the types of state that were registered since the last call."""
    types: list[tuple[str, Mapping[str, Any], str]] = importlib.import_module("jax_plugins.pycompiler").TYPES
    while types:
        name, registration, platform = types.pop(0)
        if platform in (_PLATFORM, "cpu", xla_client.xla_platform_names["cpu"]):
            register_ffi_type(name, registration)


def _values(given: Any) -> dict[str, Any]:
    return {one.name: _value(one.name, one.attr) for one in ir.DictAttr(given)}


def _value(name: str, attribute: Any) -> Any:
    """An attribute in the form that `pycompiler.ffi` accepts."""
    given: Any = attribute
    if isinstance(given, ir.DictAttr):
        return _values(given)
    if isinstance(given, ir.StringAttr):
        return given.value_bytes
    if isinstance(given, (ir.BoolAttr, ir.IntegerAttr, ir.FloatAttr)):
        kind = _dtype(given.type) if not isinstance(given, ir.BoolAttr) else np.dtype(np.bool_)
        if kind is not None:
            return kind.type(given.value)
    if isinstance(given, ir.DenseElementsAttr):
        tensor = ir.RankedTensorType(given.type)
        if (kind := _dtype(tensor.element_type)) is not None:
            return np.array(given).astype(kind).reshape(tensor.shape)
    for form, dtype in _ARRAYS.items():
        if isinstance(given, form):
            return np.array(list(attribute), dtype)
    raise TypeError(f"the attribute {name} = {given} has a type that handlers can't read")


def _dtype(element: Any) -> np.dtype[Any] | None:
    """The dtype of an element type, as JAX has it."""
    with element.context:
        return next((dtype for dtype, make in jax_mlir._dtype_to_ir_type.items() if make() == element), None)


_ARRAYS: dict[Any, type[np.generic]] = {
    ir.DenseBoolArrayAttr: np.bool_,
    ir.DenseI8ArrayAttr: np.int8,
    ir.DenseI16ArrayAttr: np.int16,
    ir.DenseI32ArrayAttr: np.int32,
    ir.DenseI64ArrayAttr: np.int64,
    ir.DenseF32ArrayAttr: np.float32,
    ir.DenseF64ArrayAttr: np.float64,
}


def _orders(op: Any, key: str, count: int) -> tuple[tuple[int, ...], ...]:
    """For each array, its dimensions in the order of memory, slowest first; empty for row-major."""
    if key not in op.attributes:
        return ((),) * count
    found: list[tuple[int, ...]] = []
    for layout in op.attributes[key]:
        numbers: Any = ir.DenseIntElementsAttr(layout)
        order = tuple([int(numbers[place]) for place in reversed(range(len(numbers)))])
        found.append(order if order != tuple(range(len(order))) else ())
    return tuple(found)


def _alias(given: Any) -> tuple[int, int]:
    """An operand, and the result whose memory holds it."""
    alias = stablehlo.OutputOperandAlias(given)
    return alias.operand_index, (list(alias.output_tuple_indices) or [0])[0]


def _reorder(op: Any, made: ForeignFunction) -> None:
    """Give the call its arrays in the order of memory that the handler has."""
    for place, order in enumerate(made.inputs):
        if order:
            with ir.InsertionPoint(op), op.location:
                op.operands[place] = transposed(op.operands[place], order)
    for value, order in zip(op.results, made.outputs, strict=True):
        if order:
            users = [(use.owner, use.operand_number) for use in value.uses]
            kind = ir.RankedTensorType(value.type)
            with ir.InsertionPoint.after(op), op.location:
                value.set_type(ir.RankedTensorType.get([kind.shape[one] for one in order], kind.element_type))
                seen = transposed(value, [order.index(one) for one in range(len(order))])
            for owner, number in users:
                owner.operands[number] = seen
