"""The elements at one step of a reference's view: their type, reads, and checks of written values.

A step is an index, or a form of `ref_forms`. `references` imports this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycompiler.array.ref_forms import Form
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.tracing.references import AbstractRef
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import ShapedArray, get_aval, is_array, shaped, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax.dynamic_slices import with_known_starts
from pycompiler.numpy.index_plan import plan
from pycompiler.numpy.indexing import getitem

__all__ = ["aval_at", "fitting", "has_arrays", "selects_all", "step"]


def selects_all(index: Any) -> bool:
    """Whether an index selects all elements."""
    return index is None or index is Ellipsis or (type(index) is tuple and not index)


def step(name: str, x: Any, at: Any) -> Any:
    """The elements of an array at a step of a view."""
    if isinstance(at, Form):
        return at.read(x)
    _check_inside(name, get_aval(x).shape, at)
    return getitem(x, at)


def has_arrays(index: Any) -> bool:
    """Whether an index selects by arrays or masks. For other indices, a write clips positions to the bounds, as the
    read does."""
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(item, list) or (is_array(item) and get_aval(item).ndim > 0) for item in items)


def aval_at(name: str, of: ShapedArray, at: Any) -> ShapedArray:
    """The type of the elements of an array at a step of a view."""
    if isinstance(at, Form):
        return at.aval(of)
    _check_inside(name, of.shape, at)
    found, _ = plan(name, ShapeDtypeStruct(of.shape, of.dtype), with_known_starts(at))
    return shaped(found.result_shape(), of.dtype)


def fitting(name: str, of: AbstractRef, place: ShapedArray, value: Any) -> Any:
    """A value of the shape and the dtype of these elements."""
    if isinstance(getattr(value, "aval", None), AbstractRef):
        raise ValueError(f"{name}: a reference can't hold another one, {value.aval}; read it, with ref[...]")
    if not is_array(value):
        raise TypeError(f"{name}: takes an array, got {value!r} of type {type(value).__name__}")
    aval = get_aval(value)
    if aval.shape != place.shape:
        raise ArgumentError(
            f"{name}: the elements of {of} there have the shape {place.shape}, and the value is {short(aval)}. What to "
            "do: give a value of that shape (numpy.broadcast_to, numpy.full)"
        )
    # As in JAX: an integer fits every integer dtype, and a Python number every dtype of its kind.
    integers = dtypes.is_integer(aval.dtype) and dtypes.is_integer(place.dtype)
    if aval.dtype != place.dtype and (integers or (aval.weak_type and _same_kind(aval.dtype, place.dtype))):
        return lax.convert_element_type(value, place.dtype)
    if aval.dtype != place.dtype:
        raise ArgumentError(
            f"{name}: {of} holds {place.dtype.name} there, and the value is {short(aval)}. What to do: "
            f"convert it, with .astype({place.dtype.name!r})"
        )
    return lax.convert_element_type(value, place.dtype) if aval.weak_type or not hasattr(value, "aval") else value


def _same_kind(one: Any, other: Any) -> bool:
    return any(kind(one) and kind(other) for kind in (dtypes.is_floating, dtypes.is_integer, dtypes.is_complex))


def _check_inside(name: str, shape: tuple[Any, ...], index: Any) -> None:
    """Raise ValueError for an integer of Python outside of its dimension."""
    entries = index if type(index) is tuple else (index,)
    kinds: tuple[type, ...] = (int, np.integer)
    if Ellipsis in [x for x in entries if x is Ellipsis]:
        place = next(i for i, x in enumerate(entries) if x is Ellipsis)
        known = len([x for x in entries[place + 1 :] if x is not None])
        _check_inside(name, shape, entries[:place])
        _check_inside(name, shape[len(shape) - known :], entries[place + 1 :])
        return
    dim = 0
    for entry in entries:
        if entry is None:
            continue
        if (
            isinstance(entry, kinds)
            and not isinstance(entry, bool)
            and dim < len(shape)
            and isinstance(shape[dim], int)
        ) and not -shape[dim] <= entry < shape[dim]:
            raise ArgumentError(f"{name}: the index {entry} is out of bounds for axis {dim} of {shape}")
        if getattr(entry, "dtype", None) == np.bool_:
            return
        dim += 1
