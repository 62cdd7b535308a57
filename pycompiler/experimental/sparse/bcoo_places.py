"""Places of stored elements: conversion between BCOO and dense arrays, sorting, duplicates, and other layouts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.types.aval import short
from pycompiler.experimental.sparse.bcoo import BCOO, coordinates, index_layout, layout_of
from pycompiler.experimental.sparse.formats import (
    Shape,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
    added,
    concrete_count,
    count_stored,
    over_batches,
)
from pycompiler.jit.jit import jit
from pycompiler.lax.operands import Array


def _places(indices: Array, shape: Shape) -> tuple[Array, ...]:
    """The coordinates of all elements on the batch and sparse axes of a dense array: an array for each axis."""
    n_batch, n_sparse, _, nse = index_layout("BCOO", indices, shape)
    whole = pnp.broadcast_to(indices, (*shape[:n_batch], nse, n_sparse))
    grids = [
        np.arange(size, dtype=np.int32).reshape([-1 if axis == other else 1 for other in range(n_batch + 1)])
        for axis, size in enumerate(shape[:n_batch])
    ]
    return (*map(pnp.asarray, grids), *(whole[..., i] for i in range(n_sparse)))


@partial(jit, static_argnames="shape")
def todense(data: Array, indices: Array, *, shape: Shape) -> Array:
    """The dense array of this data at these coordinates."""
    n_batch, n_sparse, _, nse = layout_of("bcoo_todense", data, indices, shape)
    if not n_sparse:
        return pnp.broadcast_to(data.sum(n_batch, dtype=data.dtype), shape)
    zeros = pnp.zeros(shape, data.dtype)
    return added(zeros.at[_places(indices, shape)], data) if nse else zeros


def bcoo_todense(mat: BCOO) -> Array:
    """The dense array of a sparse one. Elements at one place are added.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.bcoo_todense(sparse.BCOO.fromdense(pnp.array([0, 3, 0])))
    Array([0, 3, 0], dtype=int32)
    """
    return todense(mat.data, mat.indices, shape=mat.shape)


@partial(jit, static_argnames="assume_unique")
def extract(indices: Array, arr: Array, *, assume_unique: bool = True) -> Array:
    """The elements of a dense array at these coordinates; 0 outside of it. Without `assume_unique`, if coordinates
    occur twice, only their first occurrence gets the element."""
    n_batch, n_sparse, n_dense, nse = index_layout("bcoo_extract", indices, arr.shape)
    batch, dense = arr.shape[:n_batch], arr.shape[arr.ndim - n_dense :]
    if not n_sparse:
        found = pnp.broadcast_to(pnp.expand_dims(arr, n_batch), (*batch, nse, *dense))
    elif nse == 0:
        found = pnp.zeros((*batch, 0, *dense), arr.dtype)
    else:
        found = arr.at[_places(indices, arr.shape)].get(mode="fill", fill_value=0)
    if assume_unique:
        return found
    first = over_batches(partial(_is_first, size=arr.shape[n_batch : n_batch + n_sparse]), n_batch)(indices)
    return pnp.where(first.reshape(*first.shape, *(1,) * n_dense), found, pnp.zeros((), found.dtype))


def _is_first(indices: Array, size: Shape) -> Array:
    """For each element of one member, whether no earlier element has the same coordinates."""
    nse = indices.shape[0]
    _, mapping, _ = unique_places(indices, shape=size)
    place = pnp.arange(nse)
    first = pnp.full(max(nse, 1), nse).at[mapping].min(place)
    return first[mapping] == place


def bcoo_extract(sparr: BCOO, arr: Array, *, assume_unique: bool | None = None) -> BCOO:
    """The elements of a dense array at the places of a sparse one, as a sparse array.

    With `assume_unique`, an element is extracted for each index. Without it, if a place occurs twice, its element is
    stored once. The default is `sparr.unique_indices`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> places = sparse.BCOO.fromdense(pnp.array([[0, 1], [1, 0]]))
    >>> sparse.bcoo_extract(places, pnp.array([[5, 6], [7, 8]])).data
    Array([6, 7], dtype=int32)
    """
    if not isinstance(sparr, BCOO):
        raise TypeError(f"bcoo_extract: the first argument must be a BCOO, got {type(sparr).__name__}")
    arr = pnp.asarray(arr)
    if arr.shape != sparr.shape:
        raise ValueError(f"bcoo_extract: the array must be of shape {sparr.shape}, got {short(arr)}")
    unique = sparr.unique_indices if assume_unique is None else assume_unique
    return sparr.with_data(extract(sparr.indices, arr, assume_unique=unique))


def bcoo_fromdense(
    mat: Array, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = np.int32
) -> BCOO:
    """The sparse array of a dense one.

    `nse` is the number of elements that each member of the batch stores. By default it is the largest number of
    elements that are not 0; inside `jit` it must be given. Excess elements are dropped.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.bcoo_fromdense(pnp.array([[0, 1], [1, 0]]), nse=3).indices
    Array([[0, 1],
           [1, 0],
           [2, 2]], dtype=int32)
    """
    mat = pnp.asarray(mat)
    count = concrete_count("bcoo_fromdense", count_stored(mat, n_batch, n_dense) if nse is None else nse)
    if min(n_batch, n_dense, mat.ndim - n_batch - n_dense) < 0:
        raise ValueError(f"bcoo_fromdense: n_batch={n_batch} and n_dense={n_dense} do not fit {short(mat)}")
    buffers = fromdense(mat, nse=count, n_batch=n_batch, n_dense=n_dense, index_dtype=np.dtype(index_dtype))
    return BCOO(buffers, shape=mat.shape, indices_sorted=True, unique_indices=True)


@partial(jit, static_argnames=("nse", "n_batch", "n_dense", "index_dtype"))
def fromdense(mat: Array, *, nse: int, n_batch: int, n_dense: int, index_dtype: Any) -> tuple[Array, Array]:
    """The data and the coordinates of the first `nse` elements that are not 0."""
    mask = mat != 0
    if n_dense:
        mask = mask.any(tuple(range(mat.ndim - n_dense, mat.ndim)))

    def places(member: Array) -> Array:
        if not member.ndim:
            return pnp.zeros((nse, 0), index_dtype)
        found = pnp.nonzero(member, size=nse, fill_value=member.shape)
        return pnp.stack(found, -1).astype(index_dtype)

    indices = over_batches(places, n_batch)(mask)
    data = extract(indices, mat)
    counts = mask.sum(tuple(range(n_batch, mask.ndim)))
    stored = lax.broadcasted_iota(counts.dtype, (*(1,) * n_batch, nse), n_batch) < counts[..., None]
    return pnp.where(stored.reshape(*stored.shape, *(1,) * n_dense), data, pnp.zeros((), data.dtype)), indices


@jit
def sort_indices(data: Array, indices: Array) -> tuple[Array, Array]:
    """The data and the coordinates, in lexicographic order of these."""
    n_batch = indices.ndim - 2
    if not indices.shape[-1]:
        return data, indices

    def order(member: Array) -> tuple[Array, Array]:
        columns = [member[:, i] for i in range(member.shape[1])]
        *columns, places = lax.sort((*columns, pnp.arange(member.shape[0])), num_keys=len(columns))
        return pnp.stack(columns, -1), places

    ordered, places = over_batches(order, n_batch)(indices)
    return over_batches(lambda d, p: d[p], n_batch)(data, places), ordered


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """The array with its elements in lexicographic order of their coordinates.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO((pnp.array([1, 2]), pnp.array([[3], [0]])), shape=(4,))
    >>> sparse.bcoo_sort_indices(m).data
    Array([2, 1], dtype=int32)
    """
    data, indices = sort_indices(mat.data, mat.indices)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=True, unique_indices=mat.unique_indices)


def unique_places(indices: Array, shape: Shape) -> tuple[Array, Array, Array]:
    """For one member: its distinct coordinates in order, for each element the number of its coordinates, and the number
    of coordinates inside of `shape`. All coordinates outside count as `shape` itself, and fill the rest."""
    nse, n_sparse = indices.shape
    if not n_sparse:
        return pnp.zeros((1, 0), indices.dtype), pnp.zeros(nse, np.int32), pnp.asarray(1)
    fill = coordinates(shape, indices)
    outside = (indices >= fill).any(-1, keepdims=True)
    indices = pnp.where(outside, fill, indices)
    if not nse:
        return indices, pnp.zeros(0, np.int32), pnp.asarray(0)
    *columns, order = lax.sort((*(indices[:, i] for i in range(n_sparse)), pnp.arange(nse)), num_keys=n_sparse)
    ordered = pnp.stack(columns, -1)
    new = pnp.concatenate([pnp.ones(1, bool), (ordered[1:] != ordered[:-1]).any(-1)])
    number = pnp.cumsum(new) - 1
    places = pnp.broadcast_to(fill, indices.shape).at[number].set(ordered)
    mapping = pnp.zeros_like(number).at[order].set(number)
    inside = (new & (ordered < fill).all(-1)).sum()
    return places, mapping, inside


@partial(jit, static_argnames=("shape", "nse"))
def sum_duplicates(data: Array, indices: Array, *, shape: Shape, nse: int) -> tuple[Array, Array]:
    """The data and the coordinates without duplicates, `nse` of them, in order."""
    n_batch, n_sparse, n_dense, _ = layout_of("bcoo_sum_duplicates", data, indices, shape)
    sparse_shape = shape[n_batch : n_batch + n_sparse]

    places, mapping, _ = over_batches(partial(unique_places, shape=sparse_shape), n_batch)(indices)
    found = places.shape[-2]
    if nse <= found:
        places = places[..., :nse, :]
    else:
        rest = pnp.broadcast_to(pnp.array(sparse_shape, indices.dtype), (*places.shape[:-2], nse - found, n_sparse))
        places = pnp.concatenate([places, rest], -2)

    def sums(d: Array, m: Array) -> Array:
        zeros = pnp.zeros((nse, *d.shape[1:]), d.dtype)
        return added(zeros.at[m], d, mode="drop") if zeros.size and d.size else zeros

    del n_dense
    return over_batches(sums, n_batch)(data, mapping), places


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """The array with at most one element at a place, in lexicographic order.

    `nse` is the number of elements that it stores, by default as many as needed; inside `jit` and other
    transformations it must be given. Missing elements are 0 at places outside of the shape, excess elements are
    dropped.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO((pnp.array([1, 2, 4]), pnp.array([[3], [0], [3]])), shape=(4,))
    >>> sparse.bcoo_sum_duplicates(m).data
    Array([2, 5], dtype=int32)
    """
    if nse is None:
        sparse_shape = mat.sparse_shape
        counts = over_batches(lambda i: unique_places(i, sparse_shape)[2], mat.n_batch)(mat.indices)
        try:
            count = concrete_count("bcoo_sum_duplicates", counts.max(initial=0) if mat.n_sparse else 1)
        except TypeError as error:
            raise ValueError(f"bcoo_sum_duplicates: nse must be given inside of transformations. {error}") from None
    else:
        count = concrete_count("bcoo_sum_duplicates", nse)
    buffers = sum_duplicates(mat.data, mat.indices, shape=mat.shape, nse=count)
    return BCOO(buffers, shape=mat.shape, indices_sorted=True, unique_indices=True)


def eliminate_zeros(mat: BCOO, nse: int | None = None) -> BCOO:
    """The array without duplicates, and without stored zeros."""
    n_batch, n_sparse, _, _ = mat.layout
    zero = (mat.data == 0).all(tuple(range(n_batch + 1, mat.data.ndim)))
    shared = tuple(i for i, size in enumerate(mat.indices.shape[:n_batch]) if size == 1)
    zero = zero.all(shared, keepdims=True)
    outside = coordinates(mat.sparse_shape, mat.indices)
    if n_sparse:
        indices = pnp.where(zero[..., None], outside, mat.indices)
        mat = BCOO((mat.data, indices), shape=mat.shape)
    return bcoo_sum_duplicates(mat, nse)


def with_nse(mat: BCOO, nse: int) -> BCOO:
    """The array with another number of stored elements; a smaller number drops the last ones."""
    missing = nse - mat.nse
    axis = mat.n_batch
    if missing <= 0:
        data, indices = lax.slice_in_dim(mat.data, 0, nse, axis=axis), mat.indices[..., :nse, :]
    else:
        data = pnp.concatenate([mat.data, pnp.zeros_like(mat.data, shape=_resized(mat.data, axis, missing))], axis)
        rest = pnp.broadcast_to(pnp.array(mat.sparse_shape, mat.indices.dtype), _resized(mat.indices, axis, missing))
        indices = pnp.concatenate([mat.indices, rest], axis)
    return BCOO((data, indices), shape=mat.shape, indices_sorted=mat.indices_sorted, unique_indices=mat.unique_indices)


def _resized(x: Array, axis: int, size: int) -> Shape:
    return (*x.shape[:axis], size, *x.shape[axis + 1 :])


def bcoo_update_layout(
    mat: BCOO, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
) -> BCOO:
    """The array with other numbers of batch and dense axes.

    More batch or dense axes store many zeros, unless these axes are of size 0 or 1: `on_inefficient` is 'error' (a
    SparseEfficiencyError, the default), 'warn' or None.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.eye(3), n_batch=1)
    >>> sparse.bcoo_update_layout(m, n_batch=0)
    BCOO(float32[3, 3], nse=3)
    """
    if on_inefficient not in ("error", "warn", None):
        raise ValueError(f"bcoo_update_layout: on_inefficient is 'error', 'warn' or None, got {on_inefficient!r}")
    batch = mat.n_batch if n_batch is None else int(n_batch)
    dense = mat.n_dense if n_dense is None else int(n_dense)
    if batch < 0 or dense < 0 or batch + dense > mat.ndim:
        raise ValueError(f"bcoo_update_layout: n_batch={batch} and n_dense={dense} do not fit {mat!r}")
    if (batch, dense) == (mat.n_batch, mat.n_dense):
        return mat
    for kind, new, old, axes in (
        ("n_dense", dense, mat.n_dense, mat.shape[mat.ndim - dense : mat.ndim - mat.n_dense]),
        ("n_batch", batch, mat.n_batch, mat.shape[mat.n_batch : batch]),
    ):
        if new > old and any(size > 1 for size in axes):
            _inefficient(
                f"bcoo_update_layout: {kind}={new} instead of {old} stores all elements of axes of sizes {axes} of "
                f"{mat!r}. What to do: set on_inefficient to {'None' if on_inefficient == 'warn' else 'warn or None'}",
                on_inefficient,
            )
    data, indices = mat.data, mat.indices
    if dense < mat.n_dense:
        data, indices = _dense_to_sparse(data, indices, mat.n_batch, mat.n_dense - dense)
    now = mat.n_batch
    if batch < now:
        shape = mat.shape
        data, indices = _batch_to_sparse(data, indices, shape[:now], batch)
        now = batch
    if dense > mat.n_dense:
        sizes = mat.shape[mat.ndim - dense :]
        data, indices = over_batches(partial(_sparse_to_dense, sizes=sizes, count=dense - mat.n_dense), now + 1)(
            data, indices
        )
    if batch > now:
        sizes = mat.shape[now:batch]
        data, indices = over_batches(partial(_sparse_to_batch, sizes=sizes), now)(data, indices)
    return BCOO((data, indices), shape=mat.shape)


def _inefficient(text: str, how: str | None) -> None:
    if how == "error":
        raise SparseEfficiencyError(text)
    if how == "warn":
        warnings.warn(text, SparseEfficiencyWarning, stacklevel=3)


def _grid(sizes: Sequence[int], dtype: Any) -> Array:
    """All coordinates of an array of these sizes, one row for each."""
    return pnp.asarray(np.indices(tuple(sizes)).reshape(len(sizes), -1).T.astype(dtype))


def _dense_to_sparse(data: Array, indices: Array, n_batch: int, count: int) -> tuple[Array, Array]:
    """The first `count` dense axes as sparse axes, the last ones of these."""
    sizes = data.shape[n_batch + 1 : n_batch + 1 + count]
    number, nse = math.prod(sizes), indices.shape[-2]
    data = data.reshape(*data.shape[:n_batch], nse * number, *data.shape[n_batch + 1 + count :])
    batch = indices.shape[:-2]
    old = pnp.broadcast_to(indices[..., :, None, :], (*batch, nse, number, indices.shape[-1]))
    new = pnp.broadcast_to(_grid(sizes, indices.dtype), (*batch, nse, number, count))
    return data, pnp.concatenate([old, new], -1).reshape(*batch, nse * number, -1)


def _batch_to_sparse(data: Array, indices: Array, batch: Shape, kept: int) -> tuple[Array, Array]:
    """The batch axes behind the first `kept` ones as sparse axes, the first ones of these."""
    sizes, n_batch = batch[kept:], len(batch)
    nse, number = indices.shape[-2], math.prod(sizes)
    data = pnp.broadcast_to(data, (*data.shape[:kept], *sizes, *data.shape[n_batch:]))
    indices = pnp.broadcast_to(indices, (*indices.shape[:kept], *sizes, *indices.shape[n_batch:]))
    new = pnp.repeat(_grid(sizes, indices.dtype), nse, 0)
    old = indices.reshape(*indices.shape[:kept], number * nse, indices.shape[-1])
    data = data.reshape(*data.shape[:kept], number * nse, *data.shape[n_batch + 1 :])
    return data, pnp.concatenate([pnp.broadcast_to(new, (*old.shape[:-1], len(sizes))), old], -1)


def _sparse_to_dense(data: Array, place: Array, *, sizes: Shape, count: int) -> tuple[Array, Array]:
    """One element with its last `count` coordinates as dense axes."""
    whole = pnp.zeros_like(data, shape=sizes)
    where = tuple(place[i] for i in range(place.shape[0] - count, place.shape[0]))
    return whole.at[where].set(data), place[: place.shape[0] - count]


def _sparse_to_batch(data: Array, indices: Array, *, sizes: Shape) -> tuple[Array, Array]:
    """One member with its first coordinates as batch axes. Each new member has a place for all elements."""
    nse, count = indices.shape[0], len(sizes)
    where = (*(indices[:, i] for i in range(count)), pnp.arange(nse))
    whole = pnp.zeros_like(data, shape=(*sizes, *data.shape)).at[where].set(data)
    return whole, pnp.broadcast_to(indices[:, count:], (*sizes, nse, indices.shape[1] - count))
