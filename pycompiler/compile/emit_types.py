"""The types, locations and attributes of an emitted module: from avals, lines of the user and parameters to MLIR's.

`emit` builds operations with them. Each is made once for a module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pycompiler._compiler import ir
from pycompiler.compile.emit_sizes import UNKNOWN, as_numbers
from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.source import Source
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import ShapedArray, shaped


def _small(name: str) -> str:
    """MLIR's name of a small type. Its i1 is the bool, so int1 has a sign."""
    if name.startswith("float"):
        return "f" + name.removeprefix("float").replace("_", "").upper()
    return name.replace("uint", "ui").replace("int", "i") if name != "int1" else "si1"


_ELEMENTS = {
    dtypes.bool_: "i1",
    dtypes.int8: "i8",
    dtypes.int16: "i16",
    dtypes.int32: "i32",
    dtypes.int64: "i64",
    dtypes.uint8: "ui8",
    dtypes.uint16: "ui16",
    dtypes.uint32: "ui32",
    dtypes.uint64: "ui64",
    dtypes.float16: "f16",
    dtypes.bfloat16: "bf16",
    dtypes.float32: "f32",
    dtypes.float64: "f64",
    # Keys are moved as 64-bit words.
    dtypes.KEY: "ui64",
    dtypes.complex64: "complex<f32>",
    dtypes.complex128: "complex<f64>",
} | {dtype: _small(name) for name, dtype in dtypes.SMALL.items()}


# In a module from elsewhere, ui64 is a number and not a key.
_DTYPES = {text: dtype for dtype, text in _ELEMENTS.items() if dtype != dtypes.KEY}


def aval_of(given: ir.Type, dims: Sequence[Dimension] | None = None) -> ShapedArray:
    """The aval of a tensor type, the inverse of `type_of`; `dims` are its dimensions, if some are symbolic. Raises
    TypeError, naming the type, for other types and for tensors with sizes that are not given."""
    if not isinstance(given, ir.RankedTensorType) or str(given.element_type) not in _DTYPES:
        raise TypeError(f"{given} is no tensor of numbers: the arguments and results of a module are arrays")
    if dims is None and None in given.shape:
        raise TypeError(
            f"{given} has sizes that are not fixed: write its sizes, or their expressions of symbols (array.dims, "
            "array.symbols)"
        )
    return shaped(given.shape if dims is None else dims, _DTYPES[str(given.element_type)])


class TypeEmitter:
    """Makes types, locations and attributes in one context, each once."""

    def __init__(self, context: ir.Context) -> None:
        self.context = context
        self.unknown = ir.Location.unknown(context)
        self._elements: dict[Any, ir.Type] = {}
        self._types: dict[tuple[Any, Any], ir.Type] = {}
        self._locations: dict[tuple[int, int], ir.Location] = {}
        self._attributes: dict[tuple[type, Any], ir.Attribute] = {}

    def element(self, dtype: Any) -> ir.Type:
        """The type of an element, cached: parsing all of them takes longer than emitting a small module."""
        known = self._elements.get(dtype)
        if known is None:
            known = self._elements[dtype] = ir.Type.parse(_ELEMENTS[dtype], self.context)
        return known

    def type_of(self, aval: ShapedArray) -> ir.Type:
        """The tensor type of an aval."""
        key = (aval.shape, aval.dtype)
        known = self._types.get(key)
        if known is None:
            shape = aval.shape if aval.is_concrete else as_numbers(aval.shape)
            known = self._types[key] = ir.RankedTensorType.get(shape, self.element(aval.dtype))
        return known

    def location(self, source: Source | None) -> ir.Location:
        """The location of a place in the user's code."""
        if source is None:
            return self.unknown
        # Resolved once for a thousand equations of one line. The graph keeps the code object alive.
        key = (id(source.code), source.lasti)
        known = self._locations.get(key)
        if known is None:
            known = ir.Location.file(source.file, source.line, source.column, self.context)
            self._locations[key] = known
        return known

    def attribute(self, value: Any) -> ir.Attribute:
        """The attribute of a parameter, by the kind of its value, for all primitives."""
        key = (type(value), value)
        known = self._attributes.get(key)
        if known is None:
            known = self._attributes[key] = self._attribute(value)
        return known

    def _attribute(self, value: Any) -> ir.Attribute:
        if isinstance(value, bool):
            return ir.BoolAttr.get(value, self.context)
        if isinstance(value, int):
            return ir.IntegerAttr.get(ir.Type.parse("i64", self.context), value)
        if isinstance(value, Dim):
            return ir.IntegerAttr.get(ir.Type.parse("i64", self.context), UNKNOWN)
        if isinstance(value, tuple):
            value = as_numbers(value)
            if value and isinstance(value[0], tuple):
                rows = np.asarray(value, np.int64)
                return ir.DenseElementsAttr.get(
                    rows, ir.RankedTensorType.get(rows.shape, ir.Type.parse("i64", self.context))
                )
            return ir.DenseI64ArrayAttr.get(value, self.context)
        if isinstance(value, str):
            return ir.StringAttr.get(value, self.context)
        if isinstance(value, np.dtype):
            return ir.TypeAttr.get(self.element(value))
        raise TypeError(f"no attribute stands for a parameter of type {type(value).__name__}: {value!r}")

    def plan_of(self, plan: Mapping[str, int | str]) -> ir.Attribute:
        values = {key: str(value) if isinstance(value, int) else f'"{value}"' for key, value in plan.items()}
        entries = [f"{key} = {value}" for key, value in values.items()]
        return ir.Attribute.parse(f"{{{', '.join(entries)}}}", self.context)
