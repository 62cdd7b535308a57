"""Arrays as sets: unique and the functions based on it. Imports `positions`.

The size of a result depends on data. Outside `jit` it is read; otherwise `size` gives the maximum.
"""

from typing import Any, NamedTuple

from pycompiler.core.dims.dims import Dim, dim_product, surely_below, typical
from pycompiler.core.dims.ranges import fixed
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import Array, broadcast_to, canonical_axis, cast, check_arrays
from pycompiler.numpy import cumulative, reductions, sorting, ufuncs
from pycompiler.numpy.data_sizes import counted, not_empty
from pycompiler.numpy.positions import counting, flattened, index_dtype, known_size, nonzero
from pycompiler.numpy.promotion import check_promotion, converted
from pycompiler.numpy.taking import take
from pycompiler.numpy.updates import IndexUpdateRef

__all__ = [
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


def _differs(x: Array, y: Array, equal_nan: bool) -> Array:
    differs = ufuncs.not_equal(x, y)
    if not equal_nan or not dtypes.is_inexact(get_aval(x).dtype):
        return differs
    return ufuncs.logical_and(differs, ufuncs.logical_not(ufuncs.logical_and(ufuncs.isnan(x), ufuncs.isnan(y))))


def _keys_of(column: Array) -> list[Array]:
    """The sort keys of a column, the column last. Complex numbers with a nan in a part come after the others."""
    return [ufuncs.isnan(column), column] if dtypes.is_complex(get_aval(column).dtype) else [column]


def _sorted_rows(x: Array, *, equal_nan: bool, with_end: bool = False) -> tuple[Array, Array, Array]:
    """The sorted rows of a matrix, a mask of the rows that differ from the one before, and the old places of all rows.

    With `with_end`, the last row is an end mark: it stays last, and counts as different.
    """
    count, width = get_aval(x).shape
    columns = [movement.index_in_dim(x, i, 1, keepdims=False) for i in range(width)]
    dtype = dtypes.position_dtype("unique", count)
    numbers = movement.iota(dtype, count)
    is_end = ufuncs.equal(numbers, cast(count - 1, dtype))
    end = [cast(is_end, dtype)] if with_end else []
    keys = [key for column in columns for key in _keys_of(column)]
    *ordered, order = reduction.sort((*end, *keys, numbers), 0, num_keys=len(end) + len(keys))
    # The last of each column's keys is the column.
    step = len(keys) // max(width, 1)
    ordered = ordered[len(end) + step - 1 :: step] if width else []
    first = movement.full((1,), True)
    new = movement.full((count - 1,), False)
    for column in ordered:
        before, after = movement.slice_in_dim(column, 0, count - 1), movement.slice_in_dim(column, 1, count)
        new = ufuncs.logical_or(new, _differs(before, after, equal_nan))
    rows = movement.concatenate([movement.expand_dims(column, (1,)) for column in ordered], 1)
    new = movement.concatenate([first, new], 0)
    return rows, ufuncs.logical_or(new, is_end) if with_end else new, order


class _Unique(NamedTuple):
    rows: Array
    index: Array
    inverse: Array
    counts: Array


def _unique_rows(name: str, x: Array, equal_nan: bool, size: int | None, fill_value: Any) -> _Unique:
    """The different rows of a matrix, sorted."""
    count, width = get_aval(x).shape
    width = fixed(name, width)
    if count == 0 or width == 0:
        kept = min(count, 1)
        if size is not None and size > kept and width and fill_value is None:
            raise ValueError(
                f"{name}: there is no first element to fill {size} results with, in an array without elements; give "
                "fill_value"
            )
        size = kept if size is None else size
        rows = movement.full((size, width), cast(0 if fill_value is None else fill_value, get_aval(x).dtype))
        zeros = movement.full((size,), 0, index_dtype())
        counts = IndexUpdateRef(zeros, 0).set(count) if kept and size else zeros
        return _Unique(rows, zeros, movement.full((count,), 0, index_dtype()), counts)
    if size is None and isinstance(count, Dim) and not surely_below(0, count):
        cut = _unique_of_perhaps_none(name, x, equal_nan)
        if cut is not None:
            return cut
    rows, new, order = eager_jit(_sorted_rows, x, equal_nan=equal_nan)
    found = reductions.sum(counting(new))
    cut = counted(name, found, count) if size is None else None
    if cut is not None:
        gathered = eager_jit(_gathered_rows, rows, new, order, size=count)
        parts = _Unique(*gathered)
        return _Unique(cut.first(parts.rows), cut.first(parts.index), parts.inverse, cut.first(parts.counts))
    size = known_size(name, found, size)
    if size == 0:
        none = movement.full((0,), 0, index_dtype())
        return _Unique(movement.full((0, width), 0, get_aval(x).dtype), none, none, none)
    fill = () if fill_value is None else (cast(fill_value, get_aval(x).dtype),)
    return _Unique(*eager_jit(_gathered_rows, rows, new, order, *fill, size=size))


def _unique_of_perhaps_none(name: str, x: Array, equal_nan: bool) -> _Unique | None:
    """Like `_unique_rows`, for a size that may depend on data (else None). There may be no rows, so an end mark is
    added."""
    more = not_empty(x)
    count = get_aval(more).shape[0]
    rows, new, order = _sorted_rows(more, equal_nan=equal_nan, with_end=True)
    found = lax.sub(reductions.sum(counting(new)), 1)
    cut = counted(name, found, count - 1)
    if cut is None:
        return None
    parts = _Unique(*_gathered_rows(rows, new, order, size=count))
    inverse = movement.slice_in_dim(parts.inverse, 0, count - 1)
    return _Unique(cut.first(parts.rows), cut.first(parts.index), inverse, cut.first(parts.counts))


def _gathered_rows(rows: Array, new: Array, order: Array, *fill: Array, size: int) -> tuple[Array, ...]:
    count = get_aval(new).shape[0]
    (starts,) = nonzero(new, size=size + 1, fill_value=count)
    places, until = movement.slice_in_dim(starts, 0, size), movement.slice_in_dim(starts, 1, size + 1)
    there = lax.lt(places, cast(count, index_dtype()))
    taken = take(rows, places, axis=0, mode="clip")
    first = movement.slice_in_dim(rows, 0, 1)
    missing = broadcast_to(fill[0] if fill else first, get_aval(taken).shape)
    taken = lax.select(movement.broadcast_in_dim(there, get_aval(taken).shape, (0,)), taken, missing)
    zero = cast(0, index_dtype())
    index = lax.select(
        there, cast(take(order, places, mode="clip"), index_dtype()), cast(take(order, 0), index_dtype())
    )
    number = lax.sub(cumulative.cumsum(cast(new, index_dtype())), 1)
    inverse = IndexUpdateRef(movement.full((count,), zero), order).set(number, unique_indices=True)
    counts = lax.select(there, lax.sub(until, places), movement.full((size,), zero))
    return taken, index, inverse, counts


def unique(
    ar: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """The different elements (along an axis: the different parts), sorted.

    On request, further results are the place of the first occurrence of each value, the value's number for each
    element, and the count of each value.

    The number of results is read from the values. Inside `jit`, `size` is the number of results: excess elements are
    dropped, and missing elements are fill_value (by default the first element). With equal_nan, all nans are one value.

    >>> import pycompiler.numpy as pnp
    >>> pnp.unique(pnp.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    check_arrays("unique", ar)
    shape = get_aval(ar).shape
    order: list[int] = []
    rest: list[Any] = []
    if axis is None:
        rows = movement.reshape(ar, (dim_product(shape), 1))
    else:
        axis = canonical_axis("unique", axis, len(shape))
        order = [axis, *(i for i in range(len(shape)) if i != axis)]
        rest = [shape[i] for i in order[1:]]
        rows = movement.reshape(movement.transpose(ar, order), (shape[axis], dim_product(rest)))
    found = _unique_rows("unique", rows, equal_nan, size, fill_value)
    if axis is None:
        values = flattened(found.rows)
        inverse = movement.reshape(found.inverse, shape)
    else:
        wide = movement.reshape(found.rows, (get_aval(found.rows).shape[0], *rest))
        values = movement.transpose(wide, [order.index(i) for i in range(len(shape))])
        inverse = found.inverse
    asked = [(return_index, found.index), (return_inverse, inverse), (return_counts, found.counts)]
    extra = tuple(part for wanted, part in asked if wanted)
    return (values, *extra) if extra else values


class UniqueAll(NamedTuple):
    """The result of unique_all."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """The result of unique_counts."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """The result of unique_inverse."""

    values: Array
    inverse_indices: Array


def unique_all(x: Array, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAll:
    """The different elements, the place of the first occurrence of each, the value number of each element, and counts.

    nans differ from each other. See `unique` for size and fill_value.
    """
    check_arrays("unique_all", x)
    return UniqueAll(*unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value))


def unique_counts(x: Array, /, *, size: int | None = None, fill_value: Any = None) -> UniqueCounts:
    """The different elements, and the count of each. See `unique_all`."""
    check_arrays("unique_counts", x)
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_inverse(x: Array, /, *, size: int | None = None, fill_value: Any = None) -> UniqueInverse:
    """The different elements, and the value number of each element. See `unique_all`."""
    check_arrays("unique_inverse", x)
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value))


def unique_values(x: Array, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The different elements. See `unique_all`."""
    check_arrays("unique_values", x)
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


def union1d(ar1: Array, ar2: Array, *, size: int | None = None, fill_value: Any = None) -> Array:
    """The elements that are in either array, sorted. See `unique` for size and fill_value.

    >>> import pycompiler.numpy as pnp
    >>> pnp.union1d(pnp.array([1, 2]), pnp.array([2, 5]))
    Array([1, 2, 5], dtype=int32)
    """
    check_arrays("union1d", ar1, ar2)
    return unique(
        movement.concatenate(converted("union1d", flattened(ar1), flattened(ar2)), 0), size=size, fill_value=fill_value
    )


def isin(
    element: Array, test_elements: Array, assume_unique: bool = False, invert: bool = False, *, method: str = "auto"
) -> Array:
    """Whether each element is among the test elements; with invert, whether it is not.

    method 'compare_all' compares all pairs; 'sort' and 'binary_search' use a sorted order. The results are equal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.isin(pnp.array([1, 2, 3]), pnp.array([2, 5]))
    Array([False,  True, False], dtype=bool)
    """
    check_arrays("isin", element, test_elements)
    if method not in ("auto", "compare_all", "binary_search", "sort"):
        raise ValueError(f"isin: method is 'auto', 'compare_all', 'binary_search' or 'sort', got {method!r}")
    x, tests = converted("isin", element, flattened(test_elements))
    return eager_jit(_isin, x, tests, invert=invert, search=method in ("binary_search", "sort"))


def _isin(x: Array, tests: Array, *, invert: bool, search: bool) -> Array:
    count = get_aval(tests).shape[0]
    if count == 0:
        return movement.full(get_aval(x).shape, invert)
    if search or typical(count) > 32:
        tests = sorting.sort(tests)
        found = ufuncs.equal(take(tests, sorting.searchsorted(tests, x), mode="clip"), x)
    else:
        rank = len(get_aval(x).shape)
        found = reductions.any(ufuncs.equal(movement.expand_dims(x, (rank,)), tests), axis=rank)
    return ufuncs.logical_not(found) if invert else found


def _set_of(name: str, x: Array, size: int | None, mask: Array, fill_value: Any) -> Array:
    """The different elements of a vector at which a mask holds, sorted; fill values follow."""
    count = get_aval(x).shape[0]
    if count == 0:
        return movement.full(
            (0 if size is None else size,), cast(0 if fill_value is None else fill_value, get_aval(x).dtype)
        )
    values, kept = eager_jit(_kept_first, x, mask)
    return _of_kept(name, values, kept, size, fill_value)


def _of_kept(name: str, values: Array, kept: Array, size: int | None, fill_value: Any) -> Array:
    """The elements of a vector at which a mask holds, padded to size."""
    count = get_aval(values).shape[0]
    total = known_size(name, reductions.sum(counting(kept)), size)
    fill = 0 if fill_value is None else fill_value
    (places,) = nonzero(kept, size=total, fill_value=count)
    return ufuncs.where(
        lax.lt(places, cast(count, index_dtype())),
        take(values, places, mode="clip"),
        cast(fill, get_aval(values).dtype),
    )


def _kept_first(x: Array, mask: Array) -> tuple[Array, Array]:
    rows, new, order = _sorted_rows(movement.expand_dims(x, (1,)), equal_nan=True)
    return flattened(rows), ufuncs.logical_and(new, take(mask, order, mode="clip"))


def _kept_alone(x: Array) -> tuple[Array, Array]:
    """A sorted vector, and the mask of its elements that occur once."""
    rows, new, _ = _sorted_rows(movement.expand_dims(x, (1,)), equal_nan=False)
    count = get_aval(new).shape[0]
    last = movement.concatenate([movement.slice_in_dim(new, 1, count), movement.full((1,), True)], 0)
    return flattened(rows), ufuncs.logical_and(new, last)


def setdiff1d(
    ar1: Array, ar2: Array, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Array:
    """The elements of ar1 that are not in ar2, sorted (or in order of ar1 with assume_unique). Padded to size with 0.

    >>> import pycompiler.numpy as pnp
    >>> pnp.setdiff1d(pnp.array([1, 2, 3]), pnp.array([2]))
    Array([1, 3], dtype=int32)
    """
    check_arrays("setdiff1d", ar1, ar2)
    check_promotion("setdiff1d", ar1, ar2)
    x = flattened(ar1)
    mask = isin(x, ar2, invert=True)
    if not assume_unique:
        return _set_of("setdiff1d", x, size, mask, fill_value)
    count = get_aval(x).shape[0]
    total = known_size("setdiff1d", reductions.sum(counting(mask)), size)
    (places,) = nonzero(mask, size=total, fill_value=count)
    fill = cast(0 if fill_value is None else fill_value, get_aval(x).dtype)
    return ufuncs.where(lax.lt(places, cast(count, index_dtype())), take(x, places, mode="clip"), fill)


def setxor1d(
    ar1: Array, ar2: Array, assume_unique: bool = False, *, size: int | None = None, fill_value: Any = None
) -> Array:
    """The elements that are in exactly one of the arrays, sorted. Padded to size with 0."""
    check_arrays("setxor1d", ar1, ar2)
    x, y = converted("setxor1d", flattened(ar1), flattened(ar2))
    both = movement.concatenate([x, y], 0)
    if assume_unique and get_aval(both).shape[0] != 0:
        values, kept = eager_jit(_kept_alone, both)
        return _of_kept("setxor1d", values, kept, size, fill_value)
    mask = movement.concatenate([isin(x, y, invert=True), isin(y, x, invert=True)], 0)
    return _set_of("setxor1d", both, size, mask, fill_value)


def intersect1d(
    ar1: Array,
    ar2: Array,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The elements that are in both arrays, sorted; on request, also their first places in both arrays.

    The result is padded to size with fill_value (by default the first element); the index of padding is the length.

    >>> import pycompiler.numpy as pnp
    >>> pnp.intersect1d(pnp.array([1, 2, 3]), pnp.array([2, 3, 4]))
    Array([2, 3], dtype=int32)
    """
    check_arrays("intersect1d", ar1, ar2)
    x, y = converted("intersect1d", flattened(ar1), flattened(ar2))
    count = get_aval(x).shape[0]
    if count == 0 or get_aval(y).shape[0] == 0:
        values = movement.full((size or 0,), cast(0 if fill_value is None else fill_value, get_aval(x).dtype))
        none = movement.full((size or 0,), 0, index_dtype())
        return (values, none, none) if return_indices else values
    ordered, new, order = eager_jit(_sorted_rows, movement.expand_dims(x, (1,)), equal_nan=True)
    ordered = flattened(ordered)
    kept = ufuncs.logical_and(new, isin(ordered, y))
    total = known_size("intersect1d", reductions.sum(counting(kept)), size)
    (places,) = nonzero(kept, size=total, fill_value=count)
    there = lax.lt(places, cast(count, index_dtype()))
    values = take(ordered, places, mode="clip")
    if total:
        fill = values[0] if fill_value is None else cast(fill_value, get_aval(x).dtype)
        values = ufuncs.where(there, values, fill)
    if not return_indices:
        return values
    first = take(order, places, mode="clip")
    y_order = sorting.argsort(y)
    second = take(y_order, sorting.searchsorted(take(y, y_order), values), mode="clip")
    sizes = (count, get_aval(y).shape[0])
    indices = [
        ufuncs.where(there, cast(index, index_dtype()), cast(length, index_dtype()))
        for index, length in zip((first, second), sizes, strict=True)
    ]
    return values, *indices
