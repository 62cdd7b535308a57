"""Reading and writing mutable arrays: indices and methods of `Ref`, and the functions of `pycompiler.ref`.

An index selects elements as for arrays. A value that is written has exactly the shape and the dtype of the elements
that it replaces: writes neither broadcast nor convert, except Python's numbers of the same kind. Imports `numpy/`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct, described
from pycompiler.core.tracing.boundary import boundary, with_boundary
from pycompiler.core.tracing.references import AbstractRef, Ref
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import Typed, get_aval, is_array, shaped, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.dynamic_slices import has_slices
from pycompiler.numpy.index_plan import plan
from pycompiler.numpy.indexing import getitem
from pycompiler.numpy.updates import IndexUpdateRef

__all__ = [
    "AbstractRef",
    "Ref",
    "RefView",
    "addupdate",
    "empty_ref",
    "free_ref",
    "freeze",
    "get",
    "new_ref",
    "set",
    "swap",
]


@boundary
def new_ref(init_val: Any, *, memory_space: None = None, kind: str | None = None) -> Ref:
    """A mutable array that holds `init_val`, an array or a number.

    `ref[...]` reads it, `ref[index] = value` writes elements of it. Shape and dtype stay. In functions under `jit`,
    loops, branches and transformations, reads and writes happen in the order of the program; `jit` takes references as
    arguments. A function can't return one. With `kind="no_grad_no_remat"`, values of differentiated functions can be
    written: their derivatives are dropped.

    Raises TypeError for a value that is not an array, ValueError for another `kind`. `memory_space` must be None.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> total = pc.new_ref(pnp.zeros(3))
    >>> @pc.jit
    ... def count(i):
    ...     total[i] += 1
    >>> count(0), count(2), count(2)
    (None, None, None)
    >>> total
    Ref([1., 0., 2.], dtype=float32)
    """
    if memory_space is not None:
        raise ValueError(f"new_ref: memory_space must be None: the device's memory, got {memory_space!r}")
    if isinstance(init_val, (Ref, RefView)):
        raise TypeError(f"new_ref: takes an array, got a reference of type {init_val.aval}; read it, with ref[...]")
    if not is_array(init_val):
        raise TypeError(f"new_ref: takes an array, got {init_val!r} of type {type(init_val).__name__}")
    aval = get_aval(init_val)
    return Ref(lax.convert_element_type(init_val, aval.dtype) if aval.weak_type else init_val, kind)


@boundary
def empty_ref(ty: Any, memory_space: None = None) -> Ref:
    """A mutable array of the shape and dtype of `ty`, an array or a ShapeDtypeStruct. Its elements are zero.

    >>> import pycompiler as pc
    >>> pc.empty_ref(pc.ShapeDtypeStruct((2,), "float32"))
    Ref([0., 0.], dtype=float32)
    """
    found = ty if is_array(ty) else described(ty)
    if found is None:
        raise TypeError(f"empty_ref: takes an array or a ShapeDtypeStruct, got {ty!r} of type {type(ty).__name__}")
    aval = get_aval(found)
    return new_ref(movement.full(aval.shape, np.zeros((), aval.dtype)[()]), memory_space=memory_space)


@boundary
def freeze(ref: Ref) -> Any:
    """The array that a reference holds. The reference should not be used any more. Unlike after `free_ref`, this is not
    checked.

    >>> import pycompiler as pc
    >>> pc.freeze(pc.new_ref(3.0))
    Array(3., dtype=float32)
    """
    return get(ref, ())


@boundary
def free_ref(ref: Ref) -> tuple[()]:
    """End the use of a reference: any later use is a ValueError."""
    _checked("free_ref", ref)
    ref.free()
    return ()


@boundary
def get(ref: Any, idx: Any = None) -> Any:
    """`ref[idx]`: the elements at an index, all of them for None, `...` and `()`.

    Raises ValueError for an integer outside of the reference, and if `ref` is not a reference.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.ref.get(pc.new_ref(pnp.arange(5)), slice(1, 3))
    Array([1, 2], dtype=int32)
    """
    return _read("get", ref, idx)


@boundary
def set(ref: Any, idx: Any, value: Any) -> None:
    """`ref[idx] = value`. Raises ValueError unless the value has the shape and the dtype of the elements there.

    Integers are converted to another integer dtype, Python numbers to another dtype of their kind.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> r = pc.new_ref(pnp.zeros(3))
    >>> pc.ref.set(r, 1, 10.0)
    >>> r
    Ref([ 0., 10.,  0.], dtype=float32)
    """
    _write("set", ref, idx, value)


@boundary
def swap(ref: Any, idx: Any, value: Any) -> Any:
    """Write elements, as `set`, and return the earlier ones.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> r = pc.new_ref(pnp.arange(3))
    >>> pc.ref.swap(r, 2, 10), r
    (Array(2, dtype=int32), Ref([ 0,  1, 10], dtype=int32))
    """
    before = _read("swap", ref, idx)
    _write("swap", ref, idx, value)
    return before


@boundary
def addupdate(ref: Any, idx: Any, x: Any) -> None:
    """Add to elements. If an index occurs twice, both values are added. Bools are added by "or".

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> r = pc.new_ref(pnp.arange(3))
    >>> pc.ref.addupdate(r, 2, 10)
    >>> r
    Ref([ 0,  1, 12], dtype=int32)
    """
    _write("addupdate", ref, idx, x, "add")


@with_boundary
class RefView(Typed):
    """`ref.at[index]`: elements of a reference, to be read and written like a reference."""

    __slots__ = ("indices", "ref")

    def __init__(self, ref: Ref, indices: tuple[Any, ...]) -> None:
        self.ref = ref
        self.indices = indices

    @property
    def aval(self) -> AbstractRef:
        """The type of these elements."""
        inner = self.ref.aval.inner_aval
        for index in self.indices:
            inner = shaped(
                plan("ref", ShapeDtypeStruct(inner.shape, inner.dtype), index)[0].result_shape(), inner.dtype
            )
        return AbstractRef(inner)

    @property
    def at(self) -> _Views:
        """Elements of these elements."""
        return _Views(self.ref, self.indices)

    def __getitem__(self, idx: Any) -> Any:
        return get(self, idx)

    def __setitem__(self, idx: Any, value: Any) -> None:
        set(self, idx, value)

    def get(self, idx: Any = ()) -> Any:
        """The elements."""
        return get(self, idx)

    def set(self, value: Any, idx: Any = ()) -> None:
        """Replace the elements."""
        set(self, idx, value)

    def swap(self, value: Any, idx: Any = ()) -> Any:
        """Replace the elements, and return the earlier ones."""
        return swap(self, idx, value)

    def addupdate(self, value: Any, idx: Any = ()) -> None:
        """Add to the elements."""
        addupdate(self, idx, value)

    def __repr__(self) -> str:
        return f"RefView({self.aval})"


class _Views:
    """`ref.at`."""

    __slots__ = ("_indices", "_ref")

    def __init__(self, ref: Ref, indices: tuple[Any, ...]) -> None:
        self._ref = ref
        self._indices = indices

    def __getitem__(self, index: Any) -> RefView:
        return RefView(self._ref, (*self._indices, index))


def _checked(name: str, ref: Any) -> Ref:
    if type(ref) is not Ref:
        raise ValueError(f"{name}: takes a reference (new_ref), got {ref!r} of type {type(ref).__name__}")
    return ref


def _place(name: str, ref: Any, idx: Any) -> tuple[Ref, list[Any]]:
    """The reference, and the indices one after the other, without indices that select all elements."""
    indices = [*ref.indices, idx] if isinstance(ref, RefView) else [idx]
    found = _checked(name, ref.ref if isinstance(ref, RefView) else ref)
    return found, [index for index in indices if not (index is None or index is Ellipsis or _is_empty(index))]


def _is_empty(index: Any) -> bool:
    return type(index) is tuple and not index


def _read(name: str, ref: Any, idx: Any) -> Any:
    ref, indices = _place(name, ref, idx)
    value = ref.read()
    for index in indices:
        _check_inside(name, get_aval(value).shape, index)
        value = getitem(value, index)
    return value


def _write(name: str, ref: Any, idx: Any, value: Any, kind: str = "set") -> None:
    ref, indices = _place(name, ref, idx)
    wholes = [ref.read()]
    for index in indices[:-1]:
        _check_inside(name, get_aval(wholes[-1]).shape, index)
        wholes.append(getitem(wholes[-1], index))
    last = wholes[-1]
    aval = get_aval(last)
    shape = aval.shape
    if indices:
        _check_inside(name, shape, indices[-1])
        shape = _shape_at(name, last, indices[-1])
    value = _fitting(name, ref, shape, value)
    if not indices:
        combine = lax.bitwise_or if aval.dtype == dtypes.bool_ else lax.add
        ref.write(combine(last, value) if kind == "add" else value)
        return
    for whole, index in zip(reversed(wholes), reversed(indices), strict=True):
        place = IndexUpdateRef(whole, index)
        add = place.max if aval.dtype == dtypes.bool_ else place.add
        how: Any = None if _has_arrays(index) else "clip"
        value, kind = add(value, mode=how) if kind == "add" else place.set(value, mode=how), "set"
    ref.write(value)


def _has_arrays(index: Any) -> bool:
    """Whether an index selects by arrays or masks. For other indices, a write clips positions to the bounds, as the
    read does."""
    items = index if isinstance(index, tuple) else (index,)
    return any(isinstance(item, list) or (is_array(item) and get_aval(item).ndim > 0) for item in items)


def _shape_at(name: str, x: Any, index: Any) -> tuple[Any, ...]:
    return get_aval(getitem(x, index)).shape if has_slices(index) else plan(name, x, index)[0].result_shape()


def _fitting(name: str, ref: Ref, shape: tuple[Any, ...], value: Any) -> Any:
    """A value of this shape and of the dtype of the reference."""
    if isinstance(value, (Ref, RefView)):
        raise ValueError(f"{name}: a reference can't hold another one, {value.aval}; read it, with ref[...]")
    if not is_array(value):
        raise TypeError(f"{name}: takes an array, got {value!r} of type {type(value).__name__}")
    aval = get_aval(value)
    if aval.shape != shape:
        raise ArgumentError(
            f"{name}: the elements of {ref.aval} there have the shape {shape}, and the value is {short(aval)}. What to "
            "do: give a value of that shape (numpy.broadcast_to, numpy.full)"
        )
    # As in JAX: an integer fits every integer dtype, and a Python number every dtype of its kind.
    integers = dtypes.is_integer(aval.dtype) and dtypes.is_integer(ref.dtype)
    if aval.dtype != ref.dtype and (integers or (aval.weak_type and _same_kind(aval.dtype, ref.dtype))):
        return lax.convert_element_type(value, ref.dtype)
    if aval.dtype != ref.dtype:
        raise ArgumentError(
            f"{name}: {ref.aval} holds {ref.dtype.name}, and the value is {short(aval)}. What to do: convert it, with "
            f".astype({ref.dtype.name!r})"
        )
    return lax.convert_element_type(value, ref.dtype) if aval.weak_type or not hasattr(value, "aval") else value


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


def _attach(name: str, function: Any) -> None:
    setattr(Ref, name, function)


def _getitem(self: Ref, index: Any) -> Any:
    return get(self, index)


def _setitem(self: Ref, index: Any, value: Any) -> None:
    set(self, index, value)


def _addupdate(self: Ref, x: Any, idx: Any = ()) -> None:
    """Add to the elements at an index. See `pycompiler.ref.addupdate`."""
    addupdate(self, idx, x)


def _get(self: Ref, idx: Any = ()) -> Any:
    """The elements at an index. See `pycompiler.ref.get`."""
    return get(self, idx)


def _set(self: Ref, value: Any, idx: Any = ()) -> None:
    """Write the elements at an index. See `pycompiler.ref.set`."""
    set(self, idx, value)


def _swap(self: Ref, value: Any, idx: Any = ()) -> Any:
    """Write the elements at an index, and return the earlier ones. See `pycompiler.ref.swap`."""
    return swap(self, idx, value)


_attach("__getitem__", _getitem)
_attach("__setitem__", _setitem)
_attach("addupdate", _addupdate)
_attach("get", _get)
_attach("set", _set)
_attach("swap", _swap)
_attach("at", property(lambda self: _Views(self, ())))
