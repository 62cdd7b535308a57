"""Compressed rows: `indptr` has, for each row of a matrix, where its elements begin, and at its end their number."""

from __future__ import annotations

from functools import partial
from typing import Any

import pycompiler.numpy as pnp
from pycompiler.jit.jit import jit
from pycompiler.lax.operands import Array


def rows_of(indices: Array, indptr: Array) -> Array:
    """The row of each element; behind the last element of the last row, the number of rows."""
    starts = pnp.zeros(indices.shape, indices.dtype).at[indptr].add(1, mode="drop")
    return pnp.cumsum(starts, dtype=indices.dtype) - 1


def starts_of(rows: Array, size: int, dtype: Any) -> Array:
    """Where the elements of each of `size` rows begin, from the row of each element, in order."""
    counts = pnp.zeros(size + 1, dtype).at[rows + 1].add(1, mode="drop")
    return pnp.cumsum(counts, dtype=dtype)


@partial(jit, static_argnames=("size", "transpose"))
def product(data: Array, indices: Array, indptr: Array, other: Array, *, size: int, transpose: bool = False) -> Array:
    """The product of a matrix in compressed rows, or its transpose, with a vector or a matrix; `size` is the number of
    rows of the result."""
    rows = rows_of(indices, indptr)
    column = data.reshape(-1, *(1,) * (other.ndim - 1))
    zeros = pnp.zeros((size, *other.shape[1:]), data.dtype)
    if not data.size:
        return zeros
    if transpose:
        return zeros.at[indices].add(column * other.at[rows].get(mode="fill", fill_value=0))
    terms = column * other.at[indices].get(mode="fill", fill_value=0)
    return zeros.at[rows].add(terms, indices_are_sorted=True)
