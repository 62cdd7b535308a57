"""Places where conditions hold: nonzero and related functions; elements at places and their update. Imports `updates`.

The number of places depends on data. Outside `jit` it is read; otherwise `size` gives it.
"""

from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim, dim_product
from pycompiler.core.errors import ConcretizationTypeError
from pycompiler.core.mesh.placement import single_device
from pycompiler.core.tracing.trace import Tracer, no_value
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.indexing import GatherScatterMode, Mode, as_positions
from pycompiler.lax.operands import Array, canonical_axis, cast, check_arrays
from pycompiler.lax.placement import beside, created
from pycompiler.numpy import arithmetic, cumulative, ufuncs
from pycompiler.numpy.data_sizes import hint, not_empty, places_of, unravel
from pycompiler.numpy.promotion import check_promotion, widened
from pycompiler.numpy.taking import check_integers, from_end, take
from pycompiler.numpy.updates import IndexUpdateRef

__all__ = [
    "argwhere",
    "compress",
    "extract",
    "flatnonzero",
    "nonzero",
    "place",
    "put",
    "put_along_axis",
    "where",
]

INT32 = np.dtype(np.int32)


def index_dtype() -> Any:
    """The dtype of indices: int32, or int64 with enable_x64."""
    return dtypes.scalar_dtype(int)


def known_size(name: str, count: Array, size: Any) -> Any:
    """`size`, or, without one, the value of `count`. Raises ConcretizationTypeError for a traced count."""
    if size is not None:
        if isinstance(size, Dim):
            return max(size, 0)
        if not hasattr(size, "__index__") or isinstance(size, Tracer):
            raise TypeError(f"{name}: size must be an integer, got {size!r}")
        return max(size.__index__(), 0)
    if isinstance(count, Tracer):
        no_value(
            ConcretizationTypeError,
            count,
            f"{name}: the number of elements, for the size of the result,",
            f"pass size= for the maximum number, and fill_value= for the rest, {hint()}",
        )
    return int(np.asarray(count))


def flattened(x: Array) -> Array:
    """The elements as a vector."""
    return movement.reshape(x, (dim_product(get_aval(x).shape),))


def counting(mask: Array) -> Array:
    """A flat mask as integers, which can be summed."""
    return cast(mask, dtypes.position_dtype("counting", get_aval(mask).shape[0]))


def holds(x: Array) -> Array:
    """The mask of the elements of x that are not zero."""
    return x if get_aval(x).dtype == dtypes.bool_ else ufuncs.not_equal(x, 0)


def _flat_places(mask: Array, *, size: int, dtype: Any) -> tuple[Array, Array]:
    """The first `size` places at which a flat mask holds, then zeros; and a mask of the valid places."""
    count = get_aval(mask).shape[0]
    ranks = cumulative.cumsum(cast(mask, dtype))
    # The n-th place is written to the n-th element. Where the mask does not hold, the target is out of range.
    targets = lax.select(mask, lax.sub(ranks, 1), movement.full((count,), cast(size, dtype)))
    zeros, numbers = movement.full((size,), dtype.type(0)), movement.iota(dtype, count)
    places = IndexUpdateRef(zeros, targets).set(numbers, mode="drop", unique_indices=True)
    total = movement.index_in_dim(ranks, count - 1, 0, keepdims=False)
    return places, lax.lt(movement.iota(dtype, size), movement.broadcast_in_dim(total, (size,), ()))


def flat_places(name: str, mask: Array, size: int | None) -> tuple[Array, Array]:
    """The places at which a flat mask holds, and a mask of the valid ones if there are fewer than `size`."""
    dtype = dtypes.position_dtype(name, get_aval(mask).shape[0])
    if size is None and not isinstance(mask, Tracer):
        (places,) = np.nonzero(np.asarray(mask))
        values, place = places.astype(dtype), beside(mask, None)
        # The sharding of a divided array may not divide its places.
        device = None if place is None else single_device(place)
        found = as_array(values) if device is None else created(name, device, lambda: as_array(values))
        return found, np.True_
    size = known_size(name, mask, size)
    dtypes.position_dtype(name, size)
    if size == 0 or get_aval(mask).shape[0] == 0:
        return movement.full((size,), 0, INT32), movement.full((size,), False)
    return eager_jit(_flat_places, mask, size=size, dtype=dtype)


def _nonzero(name: str, a: Array, size: int | None, fill_value: Any) -> tuple[Array, ...]:
    check_arrays(name, a)
    shape = get_aval(a).shape
    found = places_of(name, a) if size is None else None
    if found is not None:
        return tuple([found.first(cast(index, index_dtype())) for index in unravel(found.padded, shape)])
    flat = holds(flattened(a))
    places, there = flat_places(name, flat, size)
    fills = fill_value if isinstance(fill_value, tuple) else (fill_value,) * len(shape)
    if len(fills) != len(shape):
        raise ValueError(f"{name}: fill_value has {len(fills)} values for the {len(shape)} dimensions of {short(a)}")
    return tuple(
        cast(index, index_dtype())
        if size is None or fill is None
        else ufuncs.where(there, cast(index, index_dtype()), fill)
        for index, fill in zip(unravel(places, shape), fills, strict=True)
    )


def nonzero(a: Array, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """The indices of the elements that are not zero, one array for each dimension.

    Their number is read from the values. Inside `jit`, `size` is the number of results: excess positions are dropped,
    and missing ones are fill_value (0, or a value for each dimension in a tuple).

    >>> import pycompiler.numpy as pnp
    >>> pnp.nonzero(pnp.array([0, 7, 8]))
    (Array([1, 2], dtype=int32),)
    """
    check_arrays("nonzero", a)
    if get_aval(a).shape == ():
        raise ValueError("nonzero: takes an array with dimensions; use atleast_1d for a scalar")
    return _nonzero("nonzero", a, size, fill_value)


def flatnonzero(a: Array, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements of the flat array that are not zero. See `nonzero` for size and fill_value."""
    check_arrays("flatnonzero", a)
    return _nonzero("flatnonzero", flattened(a), size, fill_value)[0]


def argwhere(a: Array, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The indices of the elements that are not zero, one row for each. See `nonzero` for size and fill_value.

    >>> import pycompiler.numpy as pnp
    >>> pnp.argwhere(pnp.array([0, 7, 8]))
    Array([[1],
           [2]], dtype=int32)
    """
    check_arrays("argwhere", a)
    shape = get_aval(a).shape
    found = places_of("argwhere", a) if size is None and shape else None
    if found is not None:
        indices = [movement.expand_dims(cast(index, index_dtype()), (1,)) for index in unravel(found.padded, shape)]
        return found.first(movement.concatenate(indices, 1))
    if shape == ():
        flat, _ = flat_places("argwhere", movement.reshape(holds(a), (1,)), size)
        return movement.full((get_aval(flat).shape[0], 0), 0, index_dtype())
    columns = _nonzero("argwhere", a, size, fill_value)
    return movement.concatenate([movement.expand_dims(column, (1,)) for column in columns], 1)


def where(
    condition: Array, x: Array = None, y: Array = None, /, *, size: int | None = None, fill_value: Any = None
) -> Any:
    """x where the condition holds, else y. With only the condition, the indices where it holds: see `nonzero`.

    >>> import pycompiler.numpy as pnp
    >>> pnp.where(pnp.array([True, False]), 1, 0)
    Array([1, 0], dtype=int32, weak_type=True)
    """
    if x is None and y is None:
        check_arrays("where", condition)
        if get_aval(condition).shape == ():
            raise ValueError("where: takes an array with dimensions for its indices; use atleast_1d for a scalar")
        return _nonzero("where", condition, size, fill_value)
    if size is not None or fill_value is not None:
        raise ValueError("where: size and fill_value need a call without x and y, which are given")
    return ufuncs.where(condition, x, y)


def extract(condition: Array, arr: Array, *, size: int | None = None, fill_value: Array = 0) -> Array:
    """The elements of the flat array where a condition holds. See `nonzero` for size and fill_value."""
    check_arrays("extract", condition, arr)
    found = places_of("extract", condition) if size is None else None
    if found is not None and get_aval(condition).shape == get_aval(arr).shape:
        return found.first(take(not_empty(flattened(arr)), found.padded, axis=0, mode="clip"))
    return compress(flattened(condition), arr, size=size, fill_value=fill_value)


def compress(
    condition: Array,
    a: Array,
    axis: int | None = None,
    *,
    size: int | None = None,
    fill_value: Array = 0,
    out: None = None,
) -> Array:
    """The parts of a along an axis (None: of the flat array) where a condition holds. See `nonzero` for size.

    >>> import pycompiler.numpy as pnp
    >>> pnp.compress(pnp.array([True, False, True]), pnp.array([1, 2, 3]))
    Array([1, 3], dtype=int32)
    """
    ufuncs.no_out("compress", out)
    check_arrays("compress", condition, a, fill_value)
    if len(get_aval(condition).shape) != 1:
        raise ValueError(f"compress: the condition must have one dimension, got {short(get_aval(condition))}")
    if axis is None:
        a, axis = flattened(a), 0
    axis = canonical_axis("compress", axis, len(get_aval(a).shape))
    shape, given = get_aval(a).shape, get_aval(condition).shape[0]
    whole, condition = condition, holds(condition)
    if given > shape[axis]:
        if not isinstance(condition, Tracer) and np.any(np.asarray(condition)[shape[axis] :]):
            raise ValueError(f"compress: the condition holds beyond the {shape[axis]} elements of axis {axis}")
        condition = movement.slice_in_dim(condition, 0, shape[axis])
    found = places_of("compress", whole) if size is None else None
    if found is not None and given <= shape[axis]:
        # The axis to cut comes first.
        moved = movement.transpose(a, [axis, *[i for i in range(len(shape)) if i != axis]])
        rows = found.first(take(not_empty(moved), found.padded, axis=0, mode="clip"))
        return movement.transpose(rows, [*range(1, axis + 1), 0, *range(axis + 1, len(shape))])
    places, there = flat_places("compress", condition, size)
    taken = take(a, places, axis=axis, mode="clip")
    if size is None:
        return taken
    if 0 in get_aval(taken).shape:
        return taken
    wide = movement.broadcast_in_dim(there, get_aval(taken).shape, (axis,))
    return ufuncs.where(wide, taken, cast(fill_value, get_aval(taken).dtype))


def _not_inplace(name: str, inplace: bool) -> None:
    if inplace:
        raise ValueError(f"{name}: arrays don't change; pass inplace=False and use the result")


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Array:
    """arr with the elements where a mask holds replaced by the first elements of vals, which repeat as needed."""
    _not_inplace("place", inplace)
    check_arrays("place", arr, mask, vals)
    check_promotion("place", arr, vals)
    if dim_product(get_aval(mask).shape) != dim_product(get_aval(arr).shape):
        raise ValueError(f"place: {short(get_aval(arr))} and {short(get_aval(mask))} differ in size")
    values = cast(flattened(vals), get_aval(arr).dtype)
    count = get_aval(values).shape[0]
    if count == 0:
        raise ValueError("place: needs at least one value")
    flat, chosen = flattened(arr), holds(flattened(mask))
    if get_aval(flat).shape == (0,):
        return arr
    ranks = lax.sub(cumulative.cumsum(cast(chosen, INT32)), 1)
    new = take(values, lax.rem(lax.max(ranks, 0), count), mode="clip")
    return movement.reshape(lax.select(chosen, new, flat), get_aval(arr).shape)


def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Array:
    """a with the elements at flat indices replaced by those of v, which repeat as needed.

    mode 'clip' clamps indices to the range (negative ones to 0), 'wrap' takes them modulo the size. Without a mode,
    negative indices count from the end, and then all indices are clamped.
    """
    _not_inplace("put", inplace)
    check_arrays("put", a, ind, v)
    check_promotion("put", a, v)
    check_integers("put", "ind", ind)
    flat, places, values = flattened(a), flattened(ind), flattened(v)
    size, count, given = (get_aval(x).shape[0] for x in (flat, places, values))
    if mode == "raise":
        raise NotImplementedError(
            "put: mode 'raise' is not supported, since compiled code can't raise; use 'clip' or 'wrap'"
        )
    if mode not in (None, "clip", "wrap"):
        raise ValueError(f"put: mode is 'clip' or 'wrap', got {mode!r}")
    if 0 in (size, count, given):
        return a
    if given != count:
        values = take(values, np.arange(count, dtype=np.int32) % given)
    if mode == "wrap":
        # A narrow dtype may not hold the size.
        places = arithmetic.remainder(cast(places, widened(get_aval(places).dtype)), size)
    else:
        places = lax.clamp(0, as_positions(places) if mode == "clip" else from_end(places, size), size - 1)
    return movement.reshape(IndexUpdateRef(flat, places).set(values), get_aval(a).shape)


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, inplace: bool = True, *, mode: Mode = None
) -> Array:
    """arr with out[i, indices[i, j, k], k] = values[i, j, k] for axis 1.

    Writes out of range are dropped, unless mode is 'clip'.

    >>> import pycompiler.numpy as pnp
    >>> pnp.put_along_axis(pnp.zeros((2, 2)), pnp.array([[1], [0]]), 5, axis=1, inplace=False)
    Array([[0., 5.],
           [5., 0.]], dtype=float32)
    """
    _not_inplace("put_along_axis", inplace)
    check_arrays("put_along_axis", arr, indices, values)
    check_promotion("put_along_axis", arr, values)
    check_integers("put_along_axis", "indices", indices)
    GatherScatterMode.from_any(mode)
    if axis is None:
        flat = put_along_axis(flattened(arr), flattened(indices), values, 0, False, mode=mode)
        return movement.reshape(flat, get_aval(arr).shape)
    shape, taken = get_aval(arr).shape, get_aval(indices).shape
    if len(shape) != len(taken):
        raise ValueError(f"put_along_axis: {short(get_aval(indices))} and {short(get_aval(arr))} differ in dimensions")
    axis = canonical_axis("put_along_axis", axis, len(shape))
    index = [
        indices
        if dim == axis
        else movement.reshape(
            np.arange(size, dtype=np.int32) if isinstance(size, int) else movement.iota(np.int32, size),
            [size if d == dim else 1 for d in range(len(shape))],
        )
        for dim, size in enumerate(shape)
    ]
    return IndexUpdateRef(arr, tuple(index)).set(values, mode=mode)
