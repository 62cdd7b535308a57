"""Functions that change the shape of arrays, join and split them."""

import operator
from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, decidedly_equal, dim_product, is_multiple
from pycompiler.core.dims.dims import broadcast_shapes as _broadcast_shapes
from pycompiler.core.dims.ranges import fixed, larger, smaller
from pycompiler.core.errors import ArgumentError
from pycompiler.core.source import warn
from pycompiler.core.tracing.trace import Tracer, current_trace
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, is_array, short
from pycompiler.core.types.tree import tree_leaves
from pycompiler.lax import movement
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import broadcast_to as _broadcast_to
from pycompiler.lax.operands import (
    broadcasts,
    canonical_axes,
    canonical_axis,
    canonical_shape,
    cast,
    check_arrays,
)
from pycompiler.lax.placement import place_leaf
from pycompiler.lax.shardings import divided
from pycompiler.numpy.creation import asarray
from pycompiler.numpy.promotion import broadcast, check_promotion, converted, requested

__all__ = [
    "append", "array_split", "astype", "atleast_1d", "atleast_2d", "atleast_3d", "block", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "column_stack", "concat", "concatenate", "dsplit", "dstack", "expand_dims",
    "hsplit", "hstack", "isscalar", "iterable", "matrix_transpose", "meshgrid", "moveaxis", "ndim", "permute_dims",
    "ravel", "reshape", "resize", "result_type", "rollaxis", "shape", "size", "split", "squeeze", "stack",
    "swapaxes", "tile", "transpose", "trim_zeros", "unstack", "vsplit", "vstack",
]  # fmt: skip


def shape(a: Any) -> tuple[Any, ...]:
    """The sizes of the dimensions, also of nested lists, and of any object that has a shape: a ShapeDtypeStruct, a
    sparse matrix of SciPy, NumPy's texts."""
    if hasattr(a, "shape"):
        return a.shape
    if isinstance(a, list | tuple):
        a = asarray(a)
    if not is_array(a):
        # A warning until this becomes an error, as in JAX: numpyro asks for the shape of None.
        warn(f"shape: takes arrays and scalars; {a!r} of type {type(a).__name__} counts as one", DeprecationWarning)
        return np.shape(a)
    return get_aval(a).shape


def ndim(a: Any) -> int:
    """The number of dimensions."""
    return len(shape(a))


def size(a: Any, axis: int | Sequence[int] | None = None) -> Any:
    """The number of elements, or the number of elements along one or more axes."""
    sizes = shape(a)
    return prod(sizes[one] for one in canonical_axes("size", axis, len(sizes)))


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Array:
    """x in another dtype. If x has that dtype, the result is x itself, or a copy. Conversions of floats to integers
    truncate and saturate; nan becomes 0.

    >>> import pycompiler.numpy as pnp
    >>> pnp.astype(pnp.array([1.7, -1.7]), int)
    Array([ 1, -1], dtype=int32)
    """
    check_arrays("astype", x)
    if device is not None:
        return place_leaf("astype", astype(x, dtype, copy=copy), device)
    wanted = requested("astype", float if dtype is None else dtype)
    same = get_aval(x).dtype == wanted and not get_aval(x).weak_type
    return asarray(x, copy=copy) if same else asarray(cast(x, wanted))


@decided
def reshape(a: Any, shape: Any, order: str = "C", *, copy: bool | None = None, out_sharding: Any = None) -> Array:
    """The same elements in another shape. One size may be -1: it follows from the others. In the order "C" the last
    index varies fastest, in "F" the first, in both shapes. ValueError for another order. While a function is traced,
    the result for an array of NumPy is one of NumPy: as in JAX, its values can be read.

    >>> import pycompiler.numpy as pnp
    >>> pnp.reshape(pnp.arange(6), (2, -1))
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    check_arrays("reshape", a)
    if order not in ("C", "F"):
        raise ValueError(f"reshape: order is 'C' or 'F', since arrays have no other layout, got {order!r}")
    aval = get_aval(a)
    sizes = list(shape) if isinstance(shape, Sequence) or hasattr(shape, "__iter__") else [shape]
    sizes = [size.__index__() if isinstance(size, Tracer) else size for size in sizes]
    unknown = [i for i, size in enumerate(sizes) if type(size) is int and size == -1]
    if len(unknown) > 1:
        raise ArgumentError(f"reshape: only one size may be -1, got {tuple(sizes)}")
    if unknown:
        known = prod(size for i, size in enumerate(sizes) if i not in unknown)
        total = prod(aval.shape)
        if known == 0 or not is_multiple(total, known):
            raise ArgumentError(f"reshape: cannot reshape array {short(aval)} ({total} elements) to {tuple(sizes)}")
        sizes[unknown[0]] = total // known
    is_numpy = isinstance(a, (np.ndarray, np.generic)) and all(type(size) is int for size in sizes)
    if is_numpy and current_trace() is not None and out_sharding is None:
        constant: Any = a
        return constant.reshape(sizes, order=order)
    return _reshaped(a, sizes, order, out_sharding)


def _reshaped(a: Any, sizes: Sequence[Any], order: str, out_sharding: Any) -> Array:
    if order == "F":
        return divided("reshape", transpose(movement.reshape(transpose(a), sizes[::-1])), out_sharding)
    return divided("reshape", as_array(movement.reshape(a, sizes)), out_sharding)


@decided
def ravel(a: Any, order: str = "C", *, out_sharding: Any = None) -> Array:
    """The elements as a vector."""
    if order not in ("C", "F"):
        raise ValueError(f"ravel: order is 'C' or 'F', since arrays have no other layout, got {order!r}")
    return divided("ravel", _reshaped(a, [size(a)], order, None), out_sharding)


def transpose(a: Any, axes: Sequence[int] | None = None) -> Array:
    """a with its axes permuted, or in reverse order.

    >>> import pycompiler.numpy as pnp
    >>> pnp.transpose(pnp.ones((2, 3, 4))).shape
    (4, 3, 2)
    """
    rank = ndim(a)
    order = tuple(reversed(range(rank))) if axes is None else canonical_axes("transpose", tuple(axes), rank)
    if len(order) != rank:
        raise ArgumentError(f"transpose: axes must name each of the {rank} axes of {short(get_aval(a))}, got {axes}")
    return as_array(a) if order == tuple(range(rank)) else movement.transpose(a, order)


def permute_dims(a: Any, /, axes: Sequence[int]) -> Array:
    """a with its axes permuted."""
    return transpose(a, axes)


def matrix_transpose(x: Any, /) -> Array:
    """x with its last two axes swapped."""
    if ndim(x) < 2:
        raise ValueError(f"matrix_transpose: takes matrices, got {short(get_aval(x))}")
    return swapaxes(x, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """a with two axes swapped."""
    order = list(range(ndim(a)))
    first, second = (canonical_axis("swapaxes", axis, len(order)) for axis in (axis1, axis2))
    order[first], order[second] = order[second], order[first]
    return transpose(a, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """a with axes moved to other places; the other axes keep their order.

    >>> import pycompiler.numpy as pnp
    >>> pnp.moveaxis(pnp.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    rank = ndim(a)
    sources, places = canonical_axes("moveaxis", source, rank), canonical_axes("moveaxis", destination, rank)
    if len(sources) != len(places):
        raise ValueError(f"moveaxis: {len(sources)} axes cannot move to {len(places)} places")
    order = [axis for axis in range(rank) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return transpose(a, order)


def squeeze(a: Any, axis: Any = None) -> Array:
    """a without its dimensions of size 1, or without the given ones."""
    sizes = shape(a)
    axes = (
        tuple(i for i, n in enumerate(sizes) if decidedly_equal(n, 1))
        if axis is None
        else canonical_axes("squeeze", axis, len(sizes))
    )
    return as_array(movement.squeeze(a, axes))


def expand_dims(a: Any, axis: Any) -> Array:
    """a with new dimensions of size 1; their places count in the result.

    >>> import pycompiler.numpy as pnp
    >>> pnp.expand_dims(pnp.ones(3), 0).shape
    (1, 3)
    """
    return movement.expand_dims(a, tuple(axis) if isinstance(axis, Sequence) else (axis,))


def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]:
    """The shape to which all shapes broadcast. ValueError if there is none."""
    return tuple(_broadcast_shapes(*(canonical_shape("broadcast_shapes", one) for one in shapes)))


@decided
def broadcast_to(array: Any, shape: Any, *, out_sharding: Any = None) -> Array:
    """array repeated to a shape. ValueError if it does not fit.

    >>> import pycompiler.numpy as pnp
    >>> pnp.broadcast_to(pnp.arange(3), (2, 3))
    Array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """
    check_arrays("broadcast_to", array)
    sizes, given = canonical_shape("broadcast_to", shape), get_aval(array).shape
    if not broadcasts(given, sizes):
        raise ValueError(f"broadcast_to: {short(get_aval(array))} does not broadcast to {sizes}")
    return divided("broadcast_to", as_array(_broadcast_to(array, sizes)), out_sharding)


def broadcast_arrays(*args: Any) -> list[Array]:
    """The arrays repeated to their common shape."""
    check_arrays("broadcast_arrays", *args)
    return [as_array(x) for x in broadcast("broadcast_arrays", *args)]


def _at_least(x: Any, axes_of: dict[int, tuple[int, ...]]) -> Array:
    x = asarray(x)
    return movement.expand_dims(x, axes_of.get(ndim(x), ()))


def atleast_1d(*arys: Any) -> Any:
    """Arrays of at least one dimension."""
    results = [_at_least(x, {0: (0,)}) for x in arys]
    return results[0] if len(results) == 1 else results


def atleast_2d(*arys: Any) -> Any:
    """Arrays of at least two dimensions; a vector becomes a row."""
    results = [_at_least(x, {0: (0, 1), 1: (0,)}) for x in arys]
    return results[0] if len(results) == 1 else results


def atleast_3d(*arys: Any) -> Any:
    """Arrays of at least three dimensions; a vector gets one on each side."""
    results = [_at_least(x, {0: (0, 1, 2), 1: (0, 2), 2: (2,)}) for x in arys]
    return results[0] if len(results) == 1 else results


def _sequence(name: str, arrays: Any) -> list[Any]:
    """The arrays to join: a sequence of arrays, or the rows of one array."""
    if hasattr(arrays, "aval") or isinstance(arrays, np.ndarray):
        if ndim(arrays) == 0:
            raise TypeError(f"{name}: takes a sequence of arrays, got {short(get_aval(arrays))}; use [x]")
        rows = fixed(name, get_aval(arrays).shape[0])
        return [movement.index_in_dim(arrays, i, keepdims=False) for i in range(rows)]
    if not hasattr(arrays, "__iter__"):
        raise TypeError(f"{name}: takes a sequence of arrays, got {arrays!r} of type {type(arrays).__name__}")
    parts = list(arrays)
    if not parts:
        raise ValueError(f"{name}: needs at least one array")
    check_promotion(name, *parts)
    return parts


def concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Array:
    """The arrays one after the other along an axis (None: all of them flat).

    >>> import pycompiler.numpy as pnp
    >>> pnp.concatenate([pnp.zeros(1), pnp.ones(2)])
    Array([0., 1., 1.], dtype=float32)
    """
    parts = converted("concatenate", *_sequence("concatenate", arrays))
    if axis is None:
        parts, axis = [ravel(part) for part in parts], 0
    if ndim(parts[0]) == 0:
        raise ValueError("concatenate: scalars have no axis; use stack")
    wanted = requested("concatenate", dtype)
    if wanted is not None:
        parts = [cast(part, wanted) for part in parts]
    return movement.concatenate(parts, axis)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Array:
    """The arrays one after the other along an axis (None: all of them flat)."""
    return concatenate(arrays, axis)


def stack(arrays: Any, axis: int = 0, out: None = None, dtype: Any = None) -> Array:
    """Arrays of one shape along a new axis.

    >>> import pycompiler.numpy as pnp
    >>> pnp.stack([pnp.zeros(2), pnp.ones(2)])
    Array([[0., 0.],
           [1., 1.]], dtype=float32)
    """
    if out is not None:
        raise TypeError("stack: arrays never change, so there is no out=")
    parts = _sequence("stack", arrays)
    check_arrays("stack", *parts)
    shapes = {get_aval(part).shape for part in parts}
    if len(shapes) > 1:
        shown = " and ".join(short(get_aval(part)) for part in parts)
        raise ArgumentError(f"stack: shapes differ: {shown}")
    place = canonical_axis("stack", axis, len(get_aval(parts[0]).shape) + 1)
    return concatenate([movement.expand_dims(part, (place,)) for part in parts], place, dtype)


def vstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays one below the other; vectors are rows."""
    return concatenate([atleast_2d(x) for x in _sequence("vstack", tup)], 0, dtype)


def hstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays side by side."""
    parts = [atleast_1d(x) for x in _sequence("hstack", tup)]
    return concatenate(parts, 0 if ndim(parts[0]) == 1 else 1, dtype)


def dstack(tup: Any, dtype: Any = None) -> Array:
    """Arrays one behind the other, along a third axis."""
    return concatenate([atleast_3d(x) for x in _sequence("dstack", tup)], 2, dtype)


def column_stack(tup: Any) -> Array:
    """Vectors as the columns of a matrix, and matrices beside them."""
    parts = [asarray(x) for x in _sequence("column_stack", tup)]
    return concatenate([x if ndim(x) > 1 else transpose(atleast_2d(x)) for x in parts], 1)


_MOST_PARTS = 2**24


def _split(name: str, ary: Any, indices_or_sections: Any, axis: int, uneven: bool) -> list[Array]:
    check_arrays(name, ary)
    sizes = get_aval(ary).shape
    axis = canonical_axis(name, axis, len(sizes))
    total = sizes[axis]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count < 1 or (total % count and not uneven):
            raise ValueError(f"{name}: axis {axis} of {short(get_aval(ary))} does not divide into {count} equal parts")
        if count > _MOST_PARTS:
            raise OverflowError(f"{name}: {count} parts are more than {_MOST_PARTS}: each is a separate array")
        each, more = divmod(total, count)
        cuts = [i * each + min(i, more) for i in range(count + 1)]
    else:
        given = list(indices_or_sections)
        inner = [i if isinstance(i, Dim) else operator.index(i) for i in given]
        cuts = [0, *(smaller(larger(i + total if i < 0 else i, 0), total) for i in inner), total]
    return [movement.slice_in_dim(ary, start, larger(start, stop), axis=axis) for start, stop in pairwise(cuts)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """The array cut into equal parts, or at indices. ValueError if it does not divide evenly.

    >>> import pycompiler.numpy as pnp
    >>> pnp.split(pnp.arange(4), 2)
    [Array([0, 1], dtype=int32), Array([2, 3], dtype=int32)]
    """
    return _split("split", ary, indices_or_sections, axis, False)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """The array cut into parts whose sizes differ by at most 1, or at indices."""
    return _split("array_split", ary, indices_or_sections, axis, True)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """The array cut along its first axis."""
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """The array cut along its second axis, a vector along its only one."""
    return split(ary, indices_or_sections, 0 if ndim(ary) == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """The array cut along its third axis."""
    return split(ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The elements along an axis."""
    count = fixed("unstack", size(x, axis))
    return tuple(movement.index_in_dim(x, i, axis, keepdims=False) for i in range(count))


def tile(A: Any, reps: Any) -> Array:
    """A repeated as a whole along each axis.

    >>> import pycompiler.numpy as pnp
    >>> pnp.tile(pnp.array([1, 2]), 2)
    Array([1, 2, 1, 2], dtype=int32)
    """
    times = canonical_shape("tile", reps)
    sizes = (1,) * (len(times) - ndim(A)) + shape(A)
    times = (1,) * (len(sizes) - len(times)) + times
    if get_aval(A).explicit_sharding is not None:
        # One dimension after the other, because types with a sharding have a rule for joining two dimensions.
        result = movement.reshape(A, sizes)
        for dim, (count, size_) in enumerate(zip(times, sizes, strict=True)):
            now = shape(result)
            apart = (*now[:dim], count, *now[dim:])
            kept = [place for place in range(len(apart)) if place != dim]
            result = movement.broadcast_in_dim(result, apart, kept) if count != 1 else result
            result = movement.reshape(result, (*now[:dim], count * size_, *now[dim + 1 :]))
        return result
    # Each dimension as (repetitions, size). The first is broadcast, and a reshape joins both.
    split_shape = tuple(n for size_ in sizes for n in (1, size_))
    repeated = tuple(n for count, size_ in zip(times, sizes, strict=True) for n in (count, size_))
    result = _broadcast_to(movement.reshape(A, split_shape), repeated)
    return movement.reshape(result, tuple(count * size_ for count, size_ in zip(times, sizes, strict=True)))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Array]:
    """Vectors as the coordinates of a grid: one array for each vector, constant along the axes of the others.

    >>> import pycompiler.numpy as pnp
    >>> pnp.meshgrid(pnp.arange(2), pnp.arange(3))[0]
    Array([[0, 1],
           [0, 1],
           [0, 1]], dtype=int32)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', got {indexing!r}")
    vectors = [ravel(x) for x in xi]
    rank = len(vectors)
    places = list(range(rank))
    if indexing == "xy" and rank >= 2:
        places[:2] = [1, 0]
    grids = [
        movement.expand_dims(x, [axis for axis in range(rank) if axis != place])
        for x, place in zip(vectors, places, strict=True)
    ]
    if sparse:
        return grids
    common = _broadcast_shapes(*(get_aval(x).shape for x in grids)) if grids else ()
    return [_broadcast_to(x, common) for x in grids]


def result_type(*args: Any) -> Any:
    """The dtype to which the arguments promote. None means the default dtype of floats.

    >>> import pycompiler.numpy as pnp
    >>> pnp.result_type("int32", "float16")
    dtype('float16')
    """
    return dtypes.result_type(*(dtypes.scalar_dtype(float) if arg is None else arg for arg in args))[0]


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """a with an axis moved before the one at `start`; the others keep their order. `moveaxis` is simpler."""
    rank = ndim(a)
    axis = canonical_axis("rollaxis", axis, rank)
    if not -rank <= start <= rank:
        raise ValueError(f"rollaxis: start {start} is not in {-rank}..{rank}, the axes of {short(get_aval(a))}")
    start = start + rank if start < 0 else start
    return moveaxis(a, axis, start - (start > axis))


def block(arrays: Any) -> Array:
    """Arrays joined by nested lists: the innermost lists along the last axis, outer lists along earlier axes."""
    check_promotion("block", *tree_leaves(arrays))
    parts, _ = _blocks(arrays)
    return parts


def _blocks(arrays: Any) -> tuple[Array, int]:
    """The joined array, and the depth of the nested lists."""
    if isinstance(arrays, tuple):
        raise TypeError(f"block: takes nested lists, got the tuple {arrays!r}")
    if not isinstance(arrays, list):
        return asarray(arrays), 0
    if not arrays:
        raise ValueError("block: a list must not be empty")
    parts, depths = zip(*map(_blocks, arrays), strict=True)
    if len(set(depths)) > 1:
        raise ValueError(f"block: the lists must have one depth, got the depths {min(depths)} and {max(depths)}")
    depth = depths[0] + 1
    rank = max(depth, *map(ndim, parts))
    parts = [movement.expand_dims(part, range(rank - ndim(part))) for part in parts]
    return concatenate(parts, -depth), depth


def iterable(y: Any) -> bool:
    """Whether y can be iterated over."""
    try:
        iter(y)
    except TypeError:
        return False
    return True


def isscalar(element: Any) -> bool:
    """Whether element is a number, or an array without dimensions."""
    return np.isscalar(element) or (hasattr(element, "shape") and hasattr(element, "dtype") and element.shape == ())


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """The values after the elements of arr along an axis (None: both flat).

    >>> import pycompiler.numpy as pnp
    >>> pnp.append(pnp.array([1, 2]), 3)
    Array([1, 2, 3], dtype=int32)
    """
    check_promotion("append", arr, values)
    return concatenate([arr, values], axis)


def resize(a: Any, new_shape: Any) -> Array:
    """The elements of a in another shape. They repeat if there are too few; zeros if a is empty."""
    check_arrays("resize", a)
    sizes = canonical_shape("resize", new_shape)
    given, wanted = dim_product(get_aval(a).shape), prod(sizes)
    if given == 0:
        return movement.full(sizes, 0, get_aval(a).dtype)
    flat = tile(ravel(a), -(-wanted // given))
    return movement.reshape(movement.slice_in_dim(flat, 0, wanted), sizes)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """filt without the zeros at its front ('f' in trim), its back ('b') or both, along axes (None: all).

    It works only outside jit: the size of the result depends on the elements.
    """
    check_arrays("trim_zeros", filt)
    if not isinstance(trim, str) or set(trim.lower()) - {"f", "b"}:
        raise ValueError(f"trim_zeros: trim is made of 'f' and 'b', got {trim!r}")
    rank = ndim(filt)
    kept = np.asarray(filt) != 0
    result = filt
    for along in canonical_axes("trim_zeros", axis, rank):
        places = np.flatnonzero(kept.any(axis=tuple(i for i in range(rank) if i != along)))
        size = get_aval(filt).shape[along]
        first, last = (int(places[0]), int(places[-1]) + 1) if places.size else (size, size)
        start = first if "f" in trim.lower() else 0
        stop = last if "b" in trim.lower() else size
        if not places.size:
            start, stop = 0, 0
        result = movement.slice_in_dim(result, start, max(start, stop), axis=along)
    return as_array(result)
