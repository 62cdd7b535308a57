"""Functions that put elements into an array: place, put, put_along_axis. After `positions`."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import dim_product
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.indexing import GatherScatterMode, Mode, as_positions
from pycompiler.lax.operands import canonical_axis, cast, check_arrays
from pycompiler.numpy import cumulative, ufuncs
from pycompiler.numpy.positions import INT32, flattened, holds
from pycompiler.numpy.promotion import widened
from pycompiler.numpy.taking import check_integers, from_end, take
from pycompiler.numpy.updates import IndexUpdateRef

__all__ = [
    "place",
    "put",
    "put_along_axis",
]


def _not_inplace(name: str, inplace: bool) -> None:
    if inplace:
        raise ValueError(f"{name}: arrays don't change; pass inplace=False and use the result")


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = True) -> Array:
    """arr with the elements where a mask holds replaced by the first elements of vals, which repeat as needed."""
    _not_inplace("place", inplace)
    check_arrays("place", arr, mask, vals)
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
    negative indices count from the end, and all are then clamped.
    """
    _not_inplace("put", inplace)
    check_arrays("put", a, ind, v)
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
        places = ufuncs.remainder(cast(places, widened(get_aval(places).dtype)), size)
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
