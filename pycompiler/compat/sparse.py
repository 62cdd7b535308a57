"""The part of `jax.experimental.sparse` that libraries use: matrices of SciPy in products with arrays.

`internals.py` gives the class under JAX's name. The module as a whole, with sparse operations under transformations,
has no counterpart here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import tree_util

__all__ = ["BCOO"]


class BCOO:
    """A matrix as the numbers `data` at the places `indices`, one row of (row, column) for each. Numbers at one place
    add up. It is a container of the two arrays, so that transformations take it as an argument."""

    def __init__(self, args: tuple[Any, Any], *, shape: tuple[int, ...], **_: Any) -> None:
        self.data, self.indices = args
        self.shape = tuple(shape)
        if len(self.shape) != 2:
            raise NotImplementedError(f"BCOO: it is a matrix here, got the shape {self.shape}; use arrays")

    @classmethod
    def fromdense(cls, mat: Any, *, index_dtype: Any = np.int32) -> BCOO:
        """The matrix of an array that is no tracer."""
        dense = np.asarray(mat)
        places = np.argwhere(dense).astype(index_dtype)
        return cls((pnp.asarray(dense[tuple(places.T)]), pnp.asarray(places)), shape=dense.shape)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0) -> BCOO:
        """The matrix of one of scipy.sparse."""
        if n_dense or n_batch:
            raise NotImplementedError(
                f"BCOO.from_scipy_sparse: n_dense and n_batch must be 0, got {n_dense} and {n_batch}"
            )
        entries = mat.tocoo()
        places = np.stack([entries.row, entries.col], axis=1).astype(index_dtype or np.int32)
        return cls((pnp.asarray(entries.data), pnp.asarray(places)), shape=mat.shape)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def ndim(self) -> int:
        return 2

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def nse(self) -> int:
        """The number of entries."""
        return self.indices.shape[0]

    @property
    def T(self) -> BCOO:  # noqa: N802
        return self.transpose()

    def transpose(self) -> BCOO:
        return BCOO((self.data, self.indices[:, ::-1]), shape=self.shape[::-1])

    def todense(self) -> Any:
        rows, columns = self.indices.T
        return pnp.zeros(self.shape, self.dtype).at[rows, columns].add(self.data)

    def __matmul__(self, other: Any) -> Any:
        """As matmul: a matrix or a stack of them, or a vector. One gather, one scattered sum."""
        x = pnp.asarray(other)
        if not x.ndim or x.shape[-min(x.ndim, 2)] != self.shape[1]:
            raise TypeError(f"matmul: a BCOO of shape {self.shape} does not fit an array of shape {x.shape}")
        rows, columns = self.indices.T
        if x.ndim == 1:
            products = self.data * x[columns]
            return pnp.zeros(self.shape[:1], products.dtype).at[rows].add(products)
        products = self.data[:, None] * x[..., columns, :]
        shape = (*x.shape[:-2], self.shape[0], x.shape[-1])
        return pnp.zeros(shape, products.dtype).at[..., rows, :].add(products)

    def __rmatmul__(self, other: Any) -> Any:
        x = pnp.asarray(other)
        if x.ndim == 1:
            return self.T @ x
        return pnp.swapaxes(self.T @ pnp.swapaxes(x, -1, -2), -1, -2)

    # An array leaves products with it to this class.
    __array_priority__ = 200

    def __mul__(self, other: Any) -> BCOO:
        if np.ndim(other):
            raise NotImplementedError(f"BCOO: only numbers multiply it, got an array of shape {np.shape(other)}")
        return BCOO((self.data * other, self.indices), shape=self.shape)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"BCOO({self.dtype.name}{list(self.shape)}, nse={self.nse})"


def _flatten(matrix: BCOO) -> tuple[tuple[Any, Any], tuple[int, ...]]:
    return (matrix.data, matrix.indices), matrix.shape


def _unflatten(shape: tuple[int, ...], arrays: Any) -> BCOO:
    matrix = object.__new__(BCOO)
    matrix.data, matrix.indices = arrays
    matrix.shape = shape
    return matrix


tree_util.register_pytree_node(BCOO, _flatten, _unflatten)
