"""Deletion, insertion and repetition of parts of arrays. Imports `positions`."""

from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim, dim_product
from pycompiler.core.dims.ranges import fixed
from pycompiler.core.errors import ConcretizationTypeError
from pycompiler.core.tracing.trace import Tracer, no_value
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import (
    Array,
    broadcast_to,
    canonical_axis,
    canonical_shape,
    cast,
    check_arrays,
    weakly,
)
from pycompiler.lax.shardings import divided
from pycompiler.numpy import ufuncs
from pycompiler.numpy.cumulative import cumsum
from pycompiler.numpy.positions import flattened, index_dtype
from pycompiler.numpy.sorting import argsort, searchsorted
from pycompiler.numpy.taking import check_integers, take
from pycompiler.numpy.updates import IndexUpdateRef

__all__ = [
    "delete",
    "insert",
    "repeat",
]


def _concrete(name: str, what: str, x: Any) -> np.ndarray[Any, Any]:
    """The concrete value of an argument that determines the size of the result."""
    if isinstance(x, Tracer):
        no_value(
            ConcretizationTypeError, x, f"{name}: the value of {what}, for the size of the result,", "make it static"
        )
    return np.asarray(x)


def delete(arr: Array, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False) -> Array:
    """arr without the parts at an integer, a slice, a mask or integers of an axis (None: of the flat array).

    Integers may be traced if assume_unique_indices states that they are unique.

    >>> import pycompiler.numpy as pnp
    >>> pnp.delete(pnp.array([1, 2, 3]), 1)
    Array([1, 3], dtype=int32)
    """
    check_arrays("delete", arr)
    if axis is None:
        arr, axis = flattened(arr), 0
    axis = canonical_axis("delete", axis, len(get_aval(arr).shape))
    size = fixed("delete", get_aval(arr).shape[axis])
    if isinstance(obj, slice):
        obj = np.arange(size)[obj]
    if isinstance(obj, Tracer) and assume_unique_indices and get_aval(obj).dtype != dtypes.bool_:
        mask = IndexUpdateRef(movement.full((size,), True), flattened(obj)).set(False)
        left = size - dim_product(get_aval(obj).shape)
        ranks = np.arange(size, dtype=np.int32)
        # A stable sort moves the remaining places to the front.
        _, kept = reduction.sort_key_val(cast(ufuncs.logical_not(mask), np.dtype(np.int32)), ranks)
        return take(arr, movement.slice_in_dim(kept, 0, max(left, 0)), axis=axis, mode="clip")
    places = _concrete("delete", "obj", obj)
    keep = np.ones(size, bool)
    if places.dtype == bool:
        if places.shape != (size,):
            raise ValueError(f"delete: a mask of shape {places.shape} for axis {axis} of {short(get_aval(arr))}")
        keep = ~places
    else:
        if places.size and places.dtype.kind not in "iu":
            raise TypeError(f"delete: obj must be integers, a slice or a mask, got {places.dtype.name}")
        if np.any((places < -size) | (places >= size)):
            raise IndexError(f"delete: an index is out of bounds for axis {axis} of {short(get_aval(arr))}")
        keep[places.astype(np.int64)] = False
    return take(arr, np.nonzero(keep)[0].astype(np.int32), axis=axis, mode="clip")


def insert(arr: Array, obj: Any, values: Array, axis: int | None = None) -> Array:
    """arr with values inserted before an integer, a slice or integers of an axis (None: of the flat array).

    >>> import pycompiler.numpy as pnp
    >>> pnp.insert(pnp.array([1, 2]), 1, 9)
    Array([1, 9, 2], dtype=int32)
    """
    check_arrays("insert", arr, values)
    if axis is None:
        arr, axis = flattened(arr), 0
    shape = get_aval(arr).shape
    axis = canonical_axis("insert", axis, len(shape))
    size = fixed("insert", shape[axis])
    values = cast(values, get_aval(arr).dtype)
    if isinstance(obj, slice):
        obj = np.arange(size)[obj]
    traced = isinstance(obj, Tracer) and get_aval(obj).dtype != dtypes.bool_
    places: Any = obj if traced else _concrete("insert", "obj", obj)
    if not traced and places.dtype == bool:
        places = np.nonzero(places)[0]
    if dim_product(get_aval(places).shape) and not dtypes.is_integer(get_aval(places).dtype):
        raise TypeError(f"insert: obj must be integers, a slice or a mask, got {short(get_aval(places))}")
    if not traced:
        if np.any((places < -size) | (places > size)):
            raise IndexError(f"insert: an index is out of bounds for axis {axis} of {short(get_aval(arr))}")
        places = np.where(places < 0, places + size, places).astype(np.int64)
    given = get_aval(values).shape
    wide = (1,) * (len(shape) - len(given)) + given
    values = movement.reshape(values, wide)
    if len(get_aval(places).shape) == 0 and len(given) and len(given) <= len(shape):
        # For one place, the first dimension of the values counts along the axis.
        values = movement.transpose(values, _moved(0, axis, len(shape)))
    number = dim_product(get_aval(places).shape)
    count: Any = get_aval(values).shape[axis] if number in (0, 1) and len(get_aval(places).shape) < 2 else number
    if number == 0:
        count = 0
    new, old = (_shifted_when_run if traced else _shifted)(places, count, size)
    result = movement.full((*shape[:axis], size + count, *shape[axis + 1 :]), 0, get_aval(arr).dtype)
    front = (slice(None),) * axis
    result = IndexUpdateRef(result, (*front, old)).set(arr, unique_indices=True)
    result = IndexUpdateRef(result, (*front, new)).set(values, unique_indices=True)
    return weakly(result, get_aval(arr).weak_type)


def _shifted(places: np.ndarray[Any, Any], count: Any, size: int) -> tuple[Any, Any]:
    """The final places of inserted values, and those of the elements of an array of a size."""
    places = np.broadcast_to(places.ravel(), (count,))
    order = np.argsort(places, kind="stable")
    new = np.empty(count, np.int64)
    new[order] = places[order] + np.arange(count)
    old = np.setdiff1d(np.arange(size + count), new)
    return new.astype(np.int32), old.astype(np.int32)


def _shifted_when_run(places: Array, count: Any, size: int) -> tuple[Array, Array]:
    """Like `_shifted`, for traced places: places out of bounds are clamped."""
    whole = dtypes.position_dtype("insert", size + count)
    places = cast(flattened(places), whole)
    places = ufuncs.clip(ufuncs.where(ufuncs.less(places, 0), ufuncs.add(places, size), places), 0, size)
    places = broadcast_to(places, (count,))
    order = argsort(places)
    ordered = take(places, order)
    new = IndexUpdateRef(places, order).add(movement.iota(whole, count))
    old = movement.iota(whole, size)
    return new, ufuncs.add(old, cast(searchsorted(ordered, old, side="right"), whole))


def _moved(source: int, target: int, rank: int) -> list[int]:
    order = [i for i in range(rank) if i != source]
    order.insert(target, source)
    return order


@decided
def repeat(
    a: Array,
    repeats: Array,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Each element of a repeated, one element after the other. repeats: a number, or one number for each element.

    With total_repeat_length, the repeats may be traced: excess elements are dropped, and the last element fills the
    rest.

    >>> import pycompiler.numpy as pnp
    >>> pnp.repeat(pnp.array([1, 2]), 2)
    Array([1, 1, 2, 2], dtype=int32)
    """
    check_arrays("repeat", a)
    # A scalar counts as a vector of one element, as in NumPy.
    axis = axis if axis is None else canonical_axis("repeat", axis, len(get_aval(a).shape) or 1)
    if axis is None or get_aval(a).shape == ():
        a, axis = flattened(a), 0
    sizes = get_aval(a).shape
    count = sizes[axis]
    if isinstance(repeats, Dim):
        wide = broadcast_to(movement.expand_dims(a, (axis + 1,)), (*sizes[: axis + 1], repeats, *sizes[axis + 1 :]))
        return divided(
            "repeat", movement.reshape(wide, (*sizes[:axis], count * repeats, *sizes[axis + 1 :])), out_sharding
        )
    if not isinstance(repeats, Tracer):
        repeats = np.asarray(repeats)
    if get_aval(repeats).dtype == dtypes.bool_:
        repeats = cast(repeats, index_dtype())
    check_integers("repeat", "repeats", repeats)
    given = get_aval(repeats).shape
    if given not in ((), (1,), (count,)):
        raise ValueError(f"repeat: {short(get_aval(repeats))} repeats for the {count} elements of axis {axis}")
    if total_repeat_length is not None:
        total: Any = total_repeat_length
        total = total if isinstance(total, Dim) else total.__index__()
        if count == 0 and total:
            raise ValueError(f"repeat: there is nothing to repeat in {short(get_aval(a))}")
        ends = cumsum(broadcast_to(cast(repeats, index_dtype()), (count,)))
        places = searchsorted(ends, movement.iota(index_dtype(), total), side="right")
        return divided("repeat", take(a, lax.min(places, max(count - 1, 0)), axis=axis, mode="clip"), out_sharding)
    if isinstance(repeats, Tracer):
        raise ConcretizationTypeError(
            f"repeat: the size of the result depends on {repeats!r}; pass total_repeat_length=, or mark it static"
        )
    if dim_product(given) == 1:
        (times,) = canonical_shape("repeat", repeats.item())
        wide = broadcast_to(movement.expand_dims(a, (axis + 1,)), (*sizes[: axis + 1], times, *sizes[axis + 1 :]))
        return divided(
            "repeat", movement.reshape(wide, (*sizes[:axis], count * times, *sizes[axis + 1 :])), out_sharding
        )
    if np.any(repeats < 0):
        raise ValueError(f"repeat: repeats must not be negative, got {repeats.min()}")
    return divided(
        "repeat",
        take(a, np.repeat(np.arange(fixed("repeat", count), dtype=np.int32), repeats), axis=axis, mode="clip"),
        out_sharding,
    )
