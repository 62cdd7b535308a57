"""Diagonals and triangles of matrices, and matrices of ones on or below a diagonal."""

from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.ranges import bounded_diagonal, larger, range_length, smaller
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import canonical_axes, canonical_shape, cast, check_arrays, weakly
from pycompiler.lax.placement import created, filled
from pycompiler.numpy.indexing import getitem
from pycompiler.numpy.movement import moveaxis, ndim, ravel
from pycompiler.numpy.promotion import requested

__all__ = [
    "diag",
    "diagflat",
    "diagonal",
    "eye",
    "identity",
    "tri",
    "tril",
    "triu",
]


def _triangle(name: str, m: Any, k: int, lower: bool) -> Array:
    check_arrays(name, m)
    aval = get_aval(m)
    if len(aval.shape) < 2:
        raise ValueError(f"{name}: takes matrices, got {short(aval)}")
    k = bounded_diagonal(k, *aval.shape[-2:])
    rows, columns = (movement.broadcasted_iota(np.int32, aval.shape, axis) for axis in (-2, -1))
    kept = (lax.ge if lower else lax.le)(lax.add(rows, k), columns)
    return lax.select(kept, m, cast(0, aval.dtype, aval.weak_type))


def tril(m: Any, k: int = 0) -> Array:
    """m with zeros above the k-th diagonal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.tril(pnp.ones((2, 2)))
    Array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    return _triangle("tril", m, k, True)


def triu(m: Any, k: int = 0) -> Array:
    """m with zeros below the k-th diagonal."""
    return _triangle("triu", m, k, False)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """A diagonal of two axes, as the last axis of the result."""
    check_arrays("diagonal", a)
    rank = ndim(a)
    first, second = canonical_axes("diagonal", (axis1, axis2), rank)
    moved = moveaxis(a, (first, second), (0, 1))
    rows, columns = get_aval(moved).shape[:2]
    offset = bounded_diagonal(offset, rows, columns)
    start, stop = larger(0, -offset), smaller(rows, columns - offset)
    count = range_length(start, stop, 1)
    if isinstance(count, int) and isinstance(start, int):
        places: Any = np.arange(start, start + count, dtype=np.int32)
        return moveaxis(getitem(moved, (places, places + np.int32(offset))), 0, -1)
    places = lax.add(movement.iota(np.int32, count), start)
    return moveaxis(getitem(moved, (places, lax.add(places, offset))), 0, -1)


def diag(v: Any, k: int = 0) -> Array:
    """The k-th diagonal of a matrix, or the matrix with a vector on it.

    >>> import pycompiler.numpy as pnp
    >>> pnp.diag(pnp.array([1, 2]))
    Array([[1, 0],
           [0, 2]], dtype=int32)
    """
    check_arrays("diag", v)
    if ndim(v) == 2:
        return diagonal(v, k)
    if ndim(v) != 1:
        raise ValueError(f"diag: takes a vector or a matrix, got {short(get_aval(v))}")
    return eager_jit(_diag, v, k=k)


def _diag(v: Array, *, k: int) -> Array:
    total = get_aval(v).shape[0] + abs(k)
    placed = movement.pad(v, cast(0, get_aval(v).dtype), [(max(k, 0), max(-k, 0), 0)])
    rows, columns = (movement.broadcasted_iota(np.int32, (total, total), axis) for axis in (0, 1))
    wide = movement.broadcast_in_dim(placed, (total, total), (1,))
    placed = lax.select(lax.eq(lax.add(rows, k), columns), wide, cast(0, get_aval(v).dtype))
    return weakly(placed, get_aval(v).weak_type)


def diagflat(v: Any, k: int = 0) -> Array:
    """The matrix with the elements of v on its k-th diagonal."""
    return diag(ravel(v), k)


def diagonal_offset(name: str, k: Any) -> Array:
    """The number of a diagonal, as an int32 that may be traced. TypeError for an object that is not an integer."""
    check_arrays(name, k)
    aval = get_aval(k)
    if aval.shape or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"{name}: a diagonal is named by an integer, got {short(aval)}")
    return cast(k, dtypes.int32)


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, device: Any = None) -> Array:
    """A matrix of N by M (or N) with ones on the k-th diagonal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.eye(2, 3, k=1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    shape = canonical_shape("eye", (N, N if M is None else M))
    k = bounded_diagonal(k, *shape)
    kind = dtypes.scalar_dtype(float) if dtype is None else requested("eye", dtype)

    offset = diagonal_offset("eye", k)

    def make() -> Array:
        rows = movement.broadcasted_iota(np.int32, shape, 0)
        columns = movement.broadcasted_iota(np.int32, shape, 1)
        return cast(lax.eq(lax.add(rows, offset), columns), kind)

    return filled("eye", device, shape, kind, False, make) if isinstance(k, int) else created("eye", device, make)


def identity(n: int, dtype: Any = None) -> Array:
    """The identity matrix.

    >>> import pycompiler.numpy as pnp
    >>> pnp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """A matrix with ones on and below the k-th diagonal.

    >>> import pycompiler.numpy as pnp
    >>> pnp.tri(2, 3)
    Array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    shape = (N, N if M is None else M)
    k = bounded_diagonal(k, *shape)
    rows = movement.broadcasted_iota(np.int32, shape, 0)
    columns = movement.broadcasted_iota(np.int32, shape, 1)
    below = lax.ge(lax.add(rows, diagonal_offset("tri", k)), columns)
    return cast(below, dtypes.scalar_dtype(float) if dtype is None else requested("tri", dtype))
