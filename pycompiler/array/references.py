"""Reading and writing mutable arrays: indices and methods of `Ref`, and the functions of `pycompiler.ref`.

An index selects elements as for arrays. A value that is written has exactly the shape and the dtype of the elements
that it replaces: writes neither broadcast nor convert, except Python's numbers of the same kind. Imports `numpy/`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycompiler.array import ref_forms
from pycompiler.array.ref_forms import Form
from pycompiler.array.ref_places import aval_at, fitting, has_arrays, selects_all, step
from pycompiler.core.mesh.shape_struct import described
from pycompiler.core.tracing.boundary import boundary, with_boundary
from pycompiler.core.tracing.references import AbstractRef, Ref
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import Typed, get_aval, is_array
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
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
    """`ref.at[index]`: elements of a reference, to be read and written like a reference. `indices` has the steps: each
    is an index, or a form such as that of `reshape`."""

    __slots__ = ("indices", "ref")

    def __init__(self, ref: Ref, indices: tuple[Any, ...]) -> None:
        self.ref = ref
        self.indices = indices

    @property
    def aval(self) -> AbstractRef:
        """The type of these elements."""
        inner = self.ref.aval.inner_aval
        for index in self.indices:
            inner = aval_at("ref", inner, index)
        return AbstractRef(inner)

    @property
    def at(self) -> _Views:
        """Elements of these elements."""
        return _Views(self.ref, self.indices)

    @property
    def T(self) -> RefView:  # noqa: N802 JAX's name
        """These elements with reversed dimensions."""
        return self.transpose()

    def reshape(self, *shape: Any) -> RefView:
        """These elements in another shape."""
        return RefView(self.ref, (*self.indices, ref_forms.reshaped(self.aval.inner_aval, shape)))

    def transpose(self, *permutation: Any) -> RefView:
        """These elements with permuted dimensions."""
        return RefView(self.ref, (*self.indices, ref_forms.transposed(self.aval.inner_aval, permutation)))

    def bitcast(self, dtype: Any) -> RefView:
        """The bits of these elements as another dtype. If its elements have another size, the last dimension but one
        has more or fewer of them."""
        return RefView(self.ref, (*self.indices, ref_forms.bitcast(self.aval.inner_aval, dtype)))

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
    return found, [index for index in indices if not selects_all(index)]


def _read(name: str, ref: Any, idx: Any) -> Any:
    ref, indices = _place(name, ref, idx)
    value = ref.read()
    for index in indices:
        value = step(name, value, index)
    return value


def _write(name: str, ref: Any, idx: Any, value: Any, kind: str = "set") -> None:
    ref, indices = _place(name, ref, idx)
    wholes = [ref.read()]
    for index in indices[:-1]:
        wholes.append(step(name, wholes[-1], index))
    aval = get_aval(wholes[-1])
    if indices:
        aval = aval_at(name, aval, indices[-1])
    value = fitting(name, ref.aval, aval, value)
    if kind == "add" and (not indices or isinstance(indices[-1], Form)):
        combine = lax.bitwise_or if aval.dtype == dtypes.bool_ else lax.add
        value, kind = combine(step(name, wholes[-1], indices[-1]) if indices else wholes[-1], value), "set"
    for whole, index in zip(reversed(wholes), reversed(indices), strict=False):
        if isinstance(index, Form):
            value = index.put(value, get_aval(whole))
            continue
        place = IndexUpdateRef(whole, index)
        add = place.max if aval.dtype == dtypes.bool_ else place.add
        how: Any = None if has_arrays(index) else "clip"
        value, kind = add(value, mode=how) if kind == "add" else place.set(value, mode=how), "set"
    ref.write(value)


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


def _bitcast(self: Ref, dtype: Any) -> RefView:
    """The bits of the elements as another dtype. See `RefView.bitcast`."""
    return RefView(self, ()).bitcast(dtype)


def _reshape(self: Ref, *shape: Any) -> RefView:
    """The elements in another shape."""
    return RefView(self, ()).reshape(*shape)


def _transpose(self: Ref, *permutation: Any) -> RefView:
    """The elements with permuted dimensions."""
    return RefView(self, ()).transpose(*permutation)


_attach("__getitem__", _getitem)
_attach("__setitem__", _setitem)
_attach("addupdate", _addupdate)
_attach("get", _get)
_attach("set", _set)
_attach("swap", _swap)
_attach("bitcast", _bitcast)
_attach("reshape", _reshape)
_attach("transpose", _transpose)
_attach("T", property(lambda self: RefView(self, ()).T))
_attach("at", property(lambda self: _Views(self, ())))
