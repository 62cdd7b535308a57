"""Other forms of a reference's elements, as steps of a view: `reshape`, `transpose` and `bitcast` of references.

Each form reads an array in the form, and puts such an array back. `references` imports this module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import ShapedArray, shaped
from pycompiler.lax import bits, movement
from pycompiler.lax.operands import canonical_axis

__all__ = ["Bitcast", "Form", "Reshaped", "Transposed", "bitcast", "reshaped", "transposed"]


class Form(ABC):
    """A form of all elements of an array."""

    @abstractmethod
    def aval(self, of: ShapedArray) -> ShapedArray:
        """The type in this form."""

    @abstractmethod
    def read(self, x: Any) -> Any:
        """An array in this form."""

    @abstractmethod
    def put(self, value: Any, of: ShapedArray) -> Any:
        """The array of a type whose form `value` is."""


@dataclass(frozen=True)
class Reshaped(Form):
    """The elements in another shape."""

    shape: tuple[Any, ...]

    def aval(self, of: ShapedArray) -> ShapedArray:
        return shaped(self.shape, of.dtype)

    def read(self, x: Any) -> Any:
        return movement.reshape(x, self.shape)

    def put(self, value: Any, of: ShapedArray) -> Any:
        return movement.reshape(value, of.shape)


@dataclass(frozen=True)
class Transposed(Form):
    """The elements with permuted dimensions."""

    permutation: tuple[int, ...]

    def aval(self, of: ShapedArray) -> ShapedArray:
        return shaped(tuple([of.shape[axis] for axis in self.permutation]), of.dtype)

    def read(self, x: Any) -> Any:
        return movement.transpose(x, self.permutation)

    def put(self, value: Any, of: ShapedArray) -> Any:
        return movement.transpose(value, [self.permutation.index(axis) for axis in range(len(self.permutation))])


@dataclass(frozen=True)
class Bitcast(Form):
    """The bits of the elements as another dtype. The last dimension but one holds more or fewer elements, if the sizes
    of the dtypes differ: the parts of an element are neighbours along it."""

    dtype: Any

    def aval(self, of: ShapedArray) -> ShapedArray:
        one, other = dtypes.bit_width(of.dtype), dtypes.bit_width(self.dtype)
        if one == other:
            return shaped(of.shape, self.dtype)
        if of.ndim < 2 or of.shape[-2] * one % other:
            raise ArgumentError(
                f"bitcast: {of.dtype.name}{list(of.shape)} as {self.dtype.name}: the last dimension but one counts "
                f"{other // one if other > one else one // other} elements as one, or one as so many, and does not "
                "fit. What to do: reshape the reference first"
            )
        return shaped((*of.shape[:-2], of.shape[-2] * one // other, of.shape[-1]), self.dtype)

    def read(self, x: Any) -> Any:
        return _bits_as(x, self.dtype, self.aval(shaped(x.shape, x.dtype)).shape)

    def put(self, value: Any, of: ShapedArray) -> Any:
        return _bits_as(value, of.dtype, of.shape)


def _bits_as(x: Any, dtype: Any, shape: tuple[Any, ...]) -> Any:
    one, other = dtypes.bit_width(x.dtype), dtypes.bit_width(dtype)
    if one < other:
        ratio = other // one
        parts = movement.reshape(x, (*x.shape[:-2], x.shape[-2] // ratio, ratio, x.shape[-1]))
        x = movement.transpose(parts, [*range(parts.ndim - 2), parts.ndim - 1, parts.ndim - 2])
    found = bits.bitcast_convert_type(x, dtype)
    if one > other:
        found = movement.transpose(found, [*range(found.ndim - 2), found.ndim - 1, found.ndim - 2])
    return movement.reshape(found, shape)


def reshaped(of: ShapedArray, shape: Sequence[Any]) -> Reshaped:
    """The form of `reshape(*shape)`: sizes, or one sequence of sizes. One size may be -1."""
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)
    try:
        return Reshaped(np.broadcast_to(np.int8(0), of.shape).reshape(sizes).shape)
    except ValueError:
        raise ArgumentError(
            f"reshape: a reference with the shape {of.shape} can't have the shape {sizes}: the numbers of elements "
            "differ"
        ) from None


def transposed(of: ShapedArray, permutation: Sequence[Any]) -> Transposed:
    """The form of `transpose(*permutation)`: axes, or one sequence of axes. Without axes, their order is reversed."""
    axes = permutation[0] if len(permutation) == 1 and isinstance(permutation[0], (tuple, list)) else permutation
    if not axes:
        return Transposed(tuple(reversed(range(of.ndim))))
    found = tuple([canonical_axis("transpose", axis, of.ndim) for axis in axes])
    if sorted(found) != list(range(of.ndim)):
        raise ArgumentError(f"transpose: the axes are {tuple(axes)}, expected each of the {of.ndim} axes once")
    return Transposed(found)


def bitcast(of: ShapedArray, dtype: Any) -> Bitcast:
    """The form of `bitcast(dtype)`."""
    form = Bitcast(dtypes.as_dtype(dtype))
    form.aval(of)
    return form
