"""New sparse matrices: empty ones, diagonals and random ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.types import dtype as dtypes
from pycompiler.experimental.sparse.bcoo import BCOO
from pycompiler.experimental.sparse.bcoo_places import bcoo_fromdense, bcoo_sort_indices
from pycompiler.experimental.sparse.bcsr import BCSR
from pycompiler.experimental.sparse.coo import COO, diagonal
from pycompiler.experimental.sparse.csr import CSC, CSR
from pycompiler.experimental.sparse.formats import JAXSparse
from pycompiler.lax.operands import Array
from pycompiler.random import choice, split, uniform
from pycompiler.transforms.mapping import vmap

_FORMATS: dict[str, Any] = {"bcsr": BCSR, "bcoo": BCOO, "coo": COO, "csr": CSR, "csc": CSC}


def _format(name: str, sparse_format: str) -> Any:
    if sparse_format not in _FORMATS:
        raise ValueError(f"{name}: sparse_format is one of {list(_FORMATS)}, got {sparse_format!r}")
    return _FORMATS[sparse_format]


def empty(
    shape: Sequence[int],
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """A matrix of zeros that stores no elements. For BCOO and BCSR, `n_batch`, `n_dense` and `nse` are accepted, too.

    >>> from pycompiler.experimental import sparse
    >>> sparse.empty((3, 4), sparse_format="csr")
    CSR(float32[3, 4], nse=0)
    """
    sizes = tuple(as_index("empty", "shape", size) for size in shape)
    if sparse_format == "bcoo":
        return empty_bcoo(sizes, dtype=dtype, index_dtype=index_dtype, **kwds)
    return _format("empty", sparse_format).of_zeros(sizes, dtype=dtype, index_dtype=index_dtype, **kwds)


def empty_bcoo(
    shape: Sequence[int],
    *,
    dtype: Any = None,
    index_dtype: Any = "int32",
    n_dense: int = 0,
    n_batch: int = 0,
    nse: int = 0,
) -> BCOO:
    """A BCOO of zeros, which stores `nse` elements at places outside of the shape."""
    shape = tuple(shape)
    n_sparse = len(shape) - n_dense - n_batch
    if min(n_sparse, n_dense, n_batch, nse) < 0:
        raise ValueError(f"empty: {n_dense=}, {n_batch=} and {nse=} do not fit the shape {shape}")
    batch, sparse, dense = shape[:n_batch], shape[n_batch : n_batch + n_sparse], shape[n_batch + n_sparse :]
    outside = pnp.broadcast_to(pnp.array(sparse, index_dtype), (*batch, nse, n_sparse))
    data = pnp.zeros((*batch, nse, *dense), dtype)
    return BCOO((data, outside), shape=shape, indices_sorted=True, unique_indices=True)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """The N by M matrix (N by N without M) with ones on its k-th diagonal; k is positive above the main one.

    >>> from pycompiler.experimental import sparse
    >>> sparse.eye(2, 3, k=1).todense()
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    n, m, k = (int(as_index("eye", name, x)) for name, x in (("N", N), ("M", N if M is None else M), ("k", k)))
    if sparse_format == "bcoo":
        return _eye_bcoo(n, m, k, dtype, index_dtype, **kwds)
    made = _format("eye", sparse_format)
    if sparse_format == "bcsr":
        return BCSR.from_bcoo(_eye_bcoo(n, m, k, dtype, index_dtype, **kwds))
    return made.of_diagonal(n, m, k, dtype=dtype, index_dtype=index_dtype, **kwds)


def _eye_bcoo(n: int, m: int, k: int, dtype: Any, index_dtype: Any, n_batch: int = 0, n_dense: int = 0) -> BCOO:
    if min(n_batch, n_dense, 2 - n_batch - n_dense) < 0:
        raise ValueError(f"eye: {n_batch=} and {n_dense=} do not fit a matrix")
    places = diagonal("eye", n, m, k, index_dtype)
    if places is None:
        return empty_bcoo((n, m), dtype=dtype, index_dtype=index_dtype, n_batch=n_batch, n_dense=n_dense)
    if n_batch or n_dense:
        # Each member has one element. Along dense axes, all elements are stored.
        whole = pnp.eye(n, m, k, dtype=dtype)
        return bcoo_fromdense(whole, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    data = pnp.ones(places[0].size, dtype)
    return BCOO((data, pnp.stack(places, -1)), shape=(n, m), indices_sorted=True, unique_indices=True)


def random_bcoo(
    key: Array,
    shape: Sequence[int],
    *,
    dtype: Any = float,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable[..., Array] = uniform,
    **kwds: Any,
) -> BCOO:
    """A random BCOO array.

    Args:
      nse: the number of stored elements, or, between 0 and 1, the fraction of the sparse axes' places that are stored.
      unique_indices: whether places occur once.
      sorted_indices: whether they are in order.
      generator: the distribution of the elements: a function of a key, `shape`, `dtype` and `kwds`.

    >>> import pycompiler as pc
    >>> from pycompiler.experimental import sparse
    >>> sparse.random_bcoo(pc.random.key(0), (4, 5), nse=3)
    BCOO(float32[4, 5], nse=3)
    """
    sizes = tuple(int(as_index("random_bcoo", "shape", size)) for size in shape)
    n_batch, n_dense = (int(as_index("random_bcoo", "n_batch", n)) for n in (n_batch, n_dense))
    n_sparse = len(sizes) - n_batch - n_dense
    if min(n_batch, n_dense, n_sparse) < 0:
        raise ValueError(f"random_bcoo: {n_batch=} and {n_dense=} do not fit the shape {sizes}")
    batch, sparse, dense = sizes[:n_batch], sizes[n_batch : n_batch + n_sparse], sizes[n_batch + n_sparse :]
    places = math.prod(sparse)
    if not 0 <= nse < places:
        raise ValueError(f"random_bcoo: nse must be between 0 and {places}, the number of places, got {nse}")
    count = math.ceil(nse * places) if 0 < nse < 1 else int(as_index("random_bcoo", "nse", nse))
    kind = dtypes.canonicalize(np.dtype(np.int64 if indices_dtype is None else indices_dtype))
    if places > np.iinfo(kind).max:
        raise ValueError(f"random_bcoo: {kind} can't count the {places} places of the shape {sizes}")
    data_key, *_ = keys = split(key, math.prod(batch) + 1)

    def member(key: Array) -> Array:
        if not sparse:
            return pnp.zeros((count, 0), kind)
        flat = choice(key, places, shape=(count,), replace=not unique_indices).astype(kind)
        return pnp.stack(pnp.unravel_index(flat, sparse), -1).astype(kind)

    data = generator(data_key, shape=(*batch, count, *dense), dtype=dtype, **kwds)
    indices = vmap(member)(keys[1:]).reshape(*batch, count, n_sparse)
    mat = BCOO((data, indices), shape=sizes)
    return bcoo_sort_indices(mat) if sorted_indices else mat
