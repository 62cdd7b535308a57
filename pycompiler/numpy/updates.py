"""x.at[index]: new arrays with some elements of x changed. Writes out of range are dropped unless a mode is given.

Writes by the plan of an index from `index_plan`, in one scatter. A mask with one written value uses `where`, so that
the mask may be traced.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import Dim, dim_product
from pycompiler.core.errors import ArgumentError
from pycompiler.core.source import is_users_call_of
from pycompiler.core.tracing.arguments import array_of
from pycompiler.core.tracing.boundary import with_boundary
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.dynamic_slices import cut, filled, has_slices, put_back
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.explicit import decided_by, decides
from pycompiler.lax.indexing import GatherScatterMode, Mode, alike, apply_counted, fill_of
from pycompiler.lax.operands import Array, broadcast_to, broadcasts, cast, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.numpy import ufuncs
from pycompiler.numpy.arithmetic import power
from pycompiler.numpy.creation import array
from pycompiler.numpy.index_plan import Plan, Slice, arrays_of, lone_mask, plan, positions
from pycompiler.numpy.indexing import INT32, read
from pycompiler.numpy.promotion import check_promotion
from pycompiler.primitives.gather import scatter


@with_boundary
class IndexUpdate:
    """`x.at`: methods such as `x.at[index].set(values)` return a new array with some elements changed."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> "IndexUpdateRef":
        return IndexUpdateRef(self.array, index)

    def __repr__(self) -> str:
        return f"IndexUpdate({self.array!r})"


@with_boundary
class IndexUpdateRef:
    """`x.at[index]`: the updates of these elements. Each method returns a new array.

    `mode` is the handling of indices out of range: 'drop' (a write is dropped, the default) or 'fill' (a read gives
    fill_value), 'clip' (the index is clamped), 'promise_in_bounds'. Without `wrap_negative_indices`, a negative index
    is out of range instead of counting from the end. `indices_are_sorted` and `unique_indices` are promises that make a
    derivative cheaper or possible.
    """

    __slots__ = ("array", "index")

    def __init__(self, array: Array, index: Any) -> None:
        self.array = array
        self.index = index

    def __repr__(self) -> str:
        return f"IndexUpdateRef({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        fill_value: Array | None = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """The elements: x[index]; indices out of range are clamped unless a mode is given."""
        how = "clip" if mode is None else canonical_mode("at[].get", mode)
        hints = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}

        def get(x: Array, index: Any) -> Array:
            if has_slices(index):
                window = cut("at[].get", x, index)
                inner = IndexUpdateRef(window.part, window.index)
                found = inner.get(mode=mode, fill_value=fill_value, wrap_negative_indices=wrap_negative_indices)
                is_filled = mode is not None and how == "fill"
                return filled(window, found, fill_of(x, fill_value)) if is_filled else found
            planned, entries = plan("at[].get", x, index, wrap_negative_indices, checks=mode is None)
            return read("at[].get", x, planned, entries, how, fill_value, **hints)

        return _divided("at[].get", get, (as_array(self.array), self.index), out_sharding)

    def set(
        self,
        values: Array,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x with the elements replaced. If an index occurs twice, the last value stays."""
        how = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._updated("set", values, how, out_sharding)

    def add(
        self,
        values: Array,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x with values added. If an index occurs twice, both values are added."""
        how = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._updated("add", values, how, out_sharding)

    def subtract(
        self,
        values: Array,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x with values subtracted. If an index occurs twice, both values are subtracted."""
        how = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._updated("subtract", values, how, out_sharding)

    def multiply(
        self,
        values: Array,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x with elements multiplied. If an index occurs twice, both values multiply."""
        how = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._updated("multiply", values, how, out_sharding)

    mul = multiply

    def divide(
        self,
        values: Array,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x divided by an array that is 1 except at the index. The dtype is that of a division of x by values."""
        how = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._updated("divide", values, how, out_sharding)

    def power(
        self,
        values: Array,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x raised to an array that is 1 except at the index. The dtype is that of a power of x and values."""
        how = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._updated("power", values, how, out_sharding)

    def min(
        self,
        values: Array,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x with the minimum of the elements and values."""
        how = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._updated("min", values, how, out_sharding)

    def max(
        self,
        values: Array,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        out_sharding: Any = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x with the maximum of the elements and values."""
        how = (indices_are_sorted, unique_indices, mode, wrap_negative_indices)
        return self._updated("max", values, how, out_sharding)

    def apply(
        self,
        func: Callable[[Array], Array],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Mode = None,
        wrap_negative_indices: bool = True,
    ) -> Array:
        """x with an elementwise function applied to the elements, once for each occurrence of an index."""
        hints = (indices_are_sorted, unique_indices)
        if has_slices(self.index):
            return self._in_window("at[].apply", mode, lambda ref: ref.apply(func, mode=mode))
        return applied(as_array(self.array), self.index, func, hints, mode, wrap_negative_indices)

    def _updated(self, method: str, values: Any, how: tuple[Any, ...], out_sharding: Any) -> Array:
        # Functions of the package that write values check their own operands.
        if config.numpy_dtype_promotion == "strict" and is_users_call_of(__file__):
            check_promotion(f"at[].{method}", self.array, values)

        def update(x: Array, index: Any, values: Any) -> Array:
            at = IndexUpdateRef(x, index)
            return (at._by_ones if method in _BY_ONES else at._changed)(method, values, *how)

        return _divided(f"at[].{method}", update, (self.array, self.index, values), out_sharding)

    def _changed(self, method: str, values: Any, is_sorted: bool, unique: bool, mode: Mode, wrap: bool) -> Array:
        name = f"at[].{method}"
        if has_slices(self.index):
            change = lambda ref: ref._changed(method, values, is_sorted, unique, mode, wrap)  # noqa: E731
            return self._in_window(name, mode, change)
        values = array_of(values)
        if isinstance(values, list | tuple):
            values = array(values)
        check_arrays(name, values)
        x = as_array(self.array)
        how = "fill" if mode is None else canonical_mode(name, mode)
        if method not in ("set", "min", "max") and get_aval(x).dtype == dtypes.bool_:
            raise TypeError(f"{name}: takes numbers, got {short(get_aval(x))}; min and max are the operations on bools")
        mask = lone_mask(self.index)
        if mask is not None and chooses(x, mask, values):
            return eager_jit(_chosen, x, mask, _held(x, values), method=method)
        return changed(name, x, self.index, values, method, how, wrap, (is_sorted, unique))

    def _in_window(self, name: str, mode: Mode, change: Callable[["IndexUpdateRef"], Array]) -> Array:
        """x with its window by `ds` changed. A window that does not fit is dropped, unless the mode moves it."""
        x = as_array(self.array)
        window = cut(name, x, self.index)
        moves = mode is not None and canonical_mode(name, mode) != "fill"
        return put_back(x, window, change(IndexUpdateRef(window.part, window.index)), moves)

    def _by_ones(self, method: str, values: Any, is_sorted: bool, unique: bool, mode: Mode, wrap: bool) -> Array:
        x = as_array(self.array)
        factors = IndexUpdateRef(movement.full_like(x, 1), self.index)._changed(
            "multiply", values, is_sorted, unique, mode, wrap
        )
        return _BY_ONES[method](x, factors)


def _divided(name: str, function: Callable[..., Array], operands: tuple[Any, ...], out_sharding: Any) -> Array:
    """The result, divided over devices by the caller's sharding."""
    if out_sharding is not None and decides(operands):
        return decided_by(out_sharding, name, function, operands)
    return divided(name, function(*operands), out_sharding)


_BY_ONES: dict[str, Callable[[Array, Array], Array]] = {"divide": ufuncs.true_divide, "power": power}
_WHERE: dict[str, Callable[[Array, Array], Array]] = {
    "add": ufuncs.add,
    "subtract": ufuncs.subtract,
    "multiply": ufuncs.multiply,
    "min": ufuncs.minimum,
    "max": ufuncs.maximum,
}
_KINDS = {"set": "set", "add": "add", "subtract": "add", "multiply": "mul", "min": "min", "max": "max"}


def canonical_mode(name: str, mode: Mode) -> str:
    """The mode of a gather or scatter by that name."""
    try:
        return GatherScatterMode.from_any(mode).attribute
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _held(x: Array, values: Any) -> Any:
    """A Python int in the integer dtype of x. Its own dtype as an argument may not hold it."""
    dtype = get_aval(x).dtype
    return cast(values, dtype) if type(values) is int and dtypes.is_integer(dtype) else values


def chooses(x: Array, mask: Any, values: Any) -> bool:
    """Whether the values written at a mask do not depend on the places where it holds."""
    shape, ndim = get_aval(x).shape, len(get_aval(mask).shape)
    return get_aval(mask).shape == shape[:ndim] and broadcasts(get_aval(values).shape, shape[ndim:])


def _chosen(x: Array, mask: Array, values: Array, *, method: str) -> Array:
    aval = get_aval(x)
    mask = movement.broadcast_in_dim(mask, aval.shape, range(len(get_aval(mask).shape)))
    new = values if method == "set" else _WHERE[method](x, values)
    return cast(lax.select(mask, broadcast_to(cast(new, aval.dtype), aval.shape), x), aval.dtype, aval.weak_type)


def changed(
    name: str, x: Array, index: Any, values: Any, method: str, mode: str, wrap: bool, hints: tuple[bool, bool]
) -> Array:
    """x with the elements at an index changed by one scatter."""
    planned, entries = plan(name, x, index, wrap, checks=False)
    aval, shape = get_aval(x), planned.result_shape()
    given = get_aval(values).shape
    more = max(0, len(given) - len(shape))
    if more and given[:more] == (1,) * more:  # as in an assignment to a part of a NumPy array
        given = given[more:]
        values = movement.reshape(values, given)
    if not broadcasts(given, shape):
        raise ArgumentError(f"{name}: values {short(get_aval(values))} do not broadcast to the indexed shape {shape}")
    if 0 in shape or 0 in aval.shape:
        return x
    if not planned.indexed and not planned.batch and hints == (False, False):
        hints = (True, True)
    arrays = arrays_of(name, entries)
    return eager_jit(_scattered, x, _held(x, values), *arrays, planned=planned, method=method, mode=mode, hints=hints)


def _scattered(
    x: Array, values: Array, *arrays: Array, planned: Plan, method: str, mode: str, hints: tuple[bool, bool]
) -> Array:
    aval = get_aval(x)
    # The operation runs in its dtype for whole arrays. The result is converted to the dtype of x.
    dtype = aval.dtype if method == "set" else dtypes.result_type(x, values)[0]
    x, values = cast(x, dtype), cast(values, dtype)
    if method == "subtract":
        values = lax.neg(values)
    updates, indices, params = aimed(planned, broadcast_to(values, planned.result_shape()), positions(planned, arrays))
    if not planned.axes:  # a scalar, with an index of an ellipsis or a mask without dimensions
        x = movement.reshape(x, (1,))
    out = scatter.bind(
        x,
        updates,
        *indices,
        **params,
        kind=_KINDS[method],
        mode=mode,
        indices_are_sorted=hints[0],
        unique_indices=hints[1],
    )
    return cast(movement.reshape(out, aval.shape), aval.dtype, aval.weak_type)


def aimed(planned: Plan, values: Array, arrays: Sequence[Array]) -> tuple[Array, list[Array], dict[str, Any]]:
    """The operands of a scatter by a plan that writes `values`, which have the shape of the result: updates, indices,
    dimension numbers. A slice is a window. A slice with a step becomes positions, an index like an array."""
    layout = planned.layout()
    sizes: list[Any] = [planned.batch[label[1]] if isinstance(label, tuple) else None for label in layout]
    windows: list[int] = []
    stepped: dict[int, Slice] = {}
    for place, label in enumerate(layout):
        axis = planned.axes[label] if isinstance(label, int) else None
        if isinstance(axis, Slice):
            sizes[place] = axis.count
            if abs(axis.step) == 1 or axis.count == 1:
                windows.append(place)
            else:
                stepped[label] = axis
    values = movement.reshape(values, sizes)
    backwards = [place for place in windows if _steps(planned.axes[layout[place]]) < 0]
    values = movement.rev(values, backwards) if backwards else values
    # The shape of the positions: the other dimensions of the updates, in order.
    batch = [place for place in range(len(layout)) if place not in windows]
    shape = [sizes[place] for place in batch]
    labels = [layout[place] for place in batch]
    indexed: list[int] = []
    inserted: list[int] = []
    indices: list[Array] = []
    own = [place for place, label in enumerate(labels) if isinstance(label, tuple)]
    for dim, axis in enumerate(planned.axes):
        if isinstance(axis, int):
            array = broadcast_to(arrays[axis], planned.batch)
            indices.append(movement.broadcast_in_dim(array, shape, own))
            inserted.append(dim)
        elif dim in stepped:
            count = lax.mul(movement.broadcasted_iota(INT32, shape, labels.index(dim)), axis.step)
            indices.append(lax.add(count, axis.start))
            inserted.append(dim)
        elif axis.count != planned.shape[dim]:
            first = axis.start + (axis.count - 1) * axis.step if axis.step < 0 else axis.start
            indices.append(movement.full(shape, first if isinstance(first, Dim) else np.int32(first), INT32))
        elif shape and not indices and dim == len(planned.axes) - 1 and not inserted:
            indices.append(movement.full(shape, np.int32(0)))  # masks without dimensions: a scatter needs one index
        else:
            continue
        indexed.append(dim)
    if not planned.axes:
        indices, indexed, inserted = [movement.full(shape, np.int32(0))], [0], [0]
    params = {
        "update_window_dims": tuple(windows),
        "inserted_window_dims": tuple(inserted),
        "scatter_dims_to_operand_dims": tuple(indexed),
        "operand_batching_dims": (),
        "scatter_indices_batching_dims": (),
    }
    return values, alike(indices), params


def _steps(axis: Slice | int) -> int:
    return axis.step if isinstance(axis, Slice) else 1


def applied(
    x: Array, index: Any, func: Callable[[Array], Array], hints: tuple[bool, bool], mode: Mode, wrap: bool
) -> Array:
    """x with a function applied to the elements at an index, once for each occurrence of an element in it."""
    name = "at[].apply"
    aval = get_aval(x)
    mask = lone_mask(index)
    if mask is not None:
        return cast(_apply_at_mask(name, x, mask, func), aval.dtype, aval.weak_type)
    planned, entries = plan(name, x, index, wrap, checks=False)
    how = "fill" if mode is None else canonical_mode(name, mode)
    if not planned.batch or hints[1]:
        old = read(name, x, planned, entries, "clip")
        return changed(name, x, index, cast(func(old), aval.dtype), "set", how, wrap, hints)
    # The count of each element. A traced index may name an element at all of its places.
    ones = movement.full(planned.result_shape(), np.int32(1))
    zeros = movement.full(get_aval(x).shape, np.int32(0))
    counts = changed(name, zeros, index, ones, "add", how, wrap, hints)
    applied_to = apply_counted(x, counts, func, int(dim_product(planned.batch)))
    return cast(applied_to, aval.dtype, aval.weak_type)


def _apply_at_mask(name: str, x: Array, mask: Any, func: Callable[[Array], Array]) -> Array:
    aval, ndim = get_aval(x), len(get_aval(mask).shape)
    if get_aval(mask).shape != aval.shape[:ndim]:
        raise IndexError(f"{name}: a boolean index of shape {get_aval(mask).shape} does not fit {short(aval)}")
    chosen = movement.broadcast_in_dim(mask, aval.shape, range(ndim))
    return lax.select(chosen, broadcast_to(cast(func(x), aval.dtype), aval.shape), x)
