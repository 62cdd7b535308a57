"""The format COO: a matrix as its elements with their rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.types.aval import short
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.experimental.sparse.formats import JAXSparse, Shape, added, concrete_count
from pycompiler.jit.jit import jit
from pycompiler.lax.operands import Array


def diagonal(name: str, n: int, m: int, k: int, index_dtype: Any) -> tuple[Array, Array] | None:
    """The rows and columns of the k-th diagonal of an n by m matrix; None if it is outside."""
    size = min(n, m - k) if k > 0 else min(n + k, m)
    if size <= 0:
        return None
    places = pnp.arange(size, dtype=index_dtype)
    return places - min(k, 0), places + max(k, 0)


@register_pytree_node_class
class COO(JAXSparse):
    """A matrix as its elements `data`, their rows `row` and their columns `col`. Elements at one place add up.

    It has products and conversions only; BCOO has more. Elements outside of the shape count if they are not 0.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental.sparse import COO
    >>> m = COO.fromdense(pnp.array([[0, 2], [1, 0]]))
    >>> m, m @ pnp.array([3, 4])
    (COO(int32[2, 2], nse=2), Array([8, 3], dtype=int32))
    """

    data: Array
    row: Array
    col: Array

    def __init__(
        self, args: tuple[Any, Any, Any], *, shape: Sequence[int], rows_sorted: bool = False, cols_sorted: bool = False
    ) -> None:
        self.data, self.row, self.col = map(pnp.asarray, args)
        self.shape = tuple(shape)
        self._rows_sorted, self._cols_sorted = rows_sorted, cols_sorted

    @property
    def nse(self) -> int:
        """The number of stored elements."""
        return self.data.size

    @classmethod
    def fromdense(cls, mat: Array, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
        """The matrix of a dense one; see `coo_fromdense`."""
        return coo_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @classmethod
    def of_zeros(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> COO:
        """A matrix without elements."""
        shape = tuple(shape)
        if len(shape) != 2:
            raise ValueError(f"COO must have 2 axes, got the shape {shape}")
        none = pnp.zeros(0, index_dtype)
        return cls((pnp.zeros(0, dtype), none, none), shape=shape, rows_sorted=True, cols_sorted=True)

    @classmethod
    def of_diagonal(cls, n: int, m: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> COO:
        """The n by m matrix with ones on its k-th diagonal."""
        places = diagonal("eye", n, m, k, index_dtype)
        if places is None:
            return cls.of_zeros((n, m), dtype=dtype, index_dtype=index_dtype)
        return cls((pnp.ones(places[0].size, dtype), *places), shape=(n, m), rows_sorted=True, cols_sorted=True)

    def _sort_indices(self) -> COO:
        """The matrix with its elements ordered by rows, and by columns in each row."""
        if self._rows_sorted:
            return self
        row, col, data = lax.sort((self.row, self.col, self.data), num_keys=2)
        return COO((data, row, col), shape=self.shape, rows_sorted=True)

    def todense(self) -> Array:
        """The matrix as an array."""
        return coo_todense(self)

    def transpose(self, axes: Any = None) -> COO:
        """The matrix with rows and columns exchanged."""
        if axes is not None:
            raise NotImplementedError(f"COO.transpose: takes no axes, got {axes}")
        return COO(
            (self.data, self.col, self.row),
            shape=self.shape[::-1],
            rows_sorted=self._cols_sorted,
            cols_sorted=self._rows_sorted,
        )

    def __matmul__(self, other: Any) -> Array:
        data, other = product_operands(self, other)
        return product(data, self.row, self.col, other, size=self.shape[0])

    def tree_flatten(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arrays; the shape and the flags are static."""
        static = {"shape": self.shape, "rows_sorted": self._rows_sorted, "cols_sorted": self._cols_sorted}
        return (self.data, self.row, self.col), static

    @classmethod
    def tree_unflatten(cls, aux_data: dict[str, Any], children: Sequence[Any]) -> COO:
        """The matrix of the leaves of a tree."""
        matrix = object.__new__(cls)
        matrix.data, matrix.row, matrix.col = children
        matrix.shape = aux_data["shape"]
        matrix._rows_sorted, matrix._cols_sorted = aux_data["rows_sorted"], aux_data["cols_sorted"]
        return matrix


def product_operands(mat: JAXSparse, other: Any) -> tuple[Array, Array]:
    """The data of a matrix and the other operand of a product, as arrays of one dtype. Raises if they don't fit."""
    if isinstance(other, JAXSparse):
        raise NotImplementedError(f"matmul: {type(mat).__name__} has no product with another sparse matrix. Use BCOO")
    other = pnp.asarray(other)
    if other.ndim not in (1, 2):
        raise NotImplementedError(f"matmul: {mat!r} is multiplied with vectors and matrices, got {short(other)}")
    common = pnp.result_type(mat.data, other)
    data, other = mat.data.astype(common), other.astype(common)
    check_sizes("matmul", mat, other, mat.shape[1])
    return data, other


def check_sizes(name: str, mat: JAXSparse, other: Array, size: int) -> None:
    """Raise TypeError unless the first axis of the other operand is of this size."""
    if other.shape[0] != size:
        raise TypeError(f"{name}: {mat!r} does not fit {short(other)}: its first axis must be of size {size}")


@partial(jit, static_argnames="size")
def product(data: Array, row: Array, col: Array, other: Array, *, size: int) -> Array:
    """The product with a vector or a matrix; `size` is the number of rows."""
    terms = data.reshape(-1, *(1,) * (other.ndim - 1)) * other[col]
    return added(pnp.zeros((size, *other.shape[1:]), terms.dtype).at[row], terms)


@partial(jit, static_argnames="shape")
def todense(data: Array, row: Array, col: Array, *, shape: Shape) -> Array:
    """The dense matrix."""
    return added(pnp.zeros(shape, data.dtype).at[row, col], data)


@partial(jit, static_argnames=("nse", "index_dtype"))
def fromdense(mat: Array, *, nse: int, index_dtype: Any) -> tuple[Array, Array, Array]:
    """The first `nse` elements that are not 0 with their rows and columns."""
    row, col = pnp.nonzero(mat, size=nse)
    stored = pnp.arange(nse) < (mat != 0).sum()
    data = pnp.where(stored, mat[row, col], pnp.zeros((), mat.dtype))
    return data, row.astype(index_dtype), col.astype(index_dtype)


def matrix_of(name: str, mat: Any, nse: Any) -> tuple[Array, int]:
    """A dense matrix, and the number of elements of its sparse form. Raises for other numbers of axes."""
    mat = pnp.asarray(mat)
    if mat.ndim != 2:
        raise ValueError(f"{name}: takes a matrix, got {short(mat)}")
    return mat, concrete_count(name, (mat != 0).sum() if nse is None else nse)


def coo_fromdense(mat: Array, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
    """The COO matrix of a dense one. `nse` is the number of elements that it stores, by default those that are not 0.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.coo_fromdense(pnp.array([[0, 2], [1, 0]])).col
    Array([1, 0], dtype=int32)
    """
    mat, count = matrix_of("coo_fromdense", mat, nse)
    return COO(fromdense(mat, nse=count, index_dtype=np.dtype(index_dtype)), shape=mat.shape, rows_sorted=True)


def coo_todense(mat: COO) -> Array:
    """The dense matrix of a COO matrix.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.coo_todense(sparse.COO((pnp.array([5]), pnp.array([0]), pnp.array([1])), shape=(1, 2)))
    Array([[0, 5]], dtype=int32)
    """
    return todense(mat.data, mat.row, mat.col, shape=mat.shape)


def _times(name: str, mat: COO, other: Any, ndim: int, transpose: bool) -> Array:
    other = pnp.asarray(other)
    if other.ndim != ndim:
        raise TypeError(f"{name}: takes an array of {ndim} axes, got {short(other)}")
    row, col, shape = (mat.col, mat.row, mat.shape[::-1]) if transpose else (mat.row, mat.col, mat.shape)
    check_sizes(name, mat, other, shape[1])
    return product(mat.data, row, col, other, size=shape[0])


def coo_matvec(mat: COO, v: Array, transpose: bool = False) -> Array:
    """The product of a COO matrix, or its transpose, and a vector.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.coo_matvec(sparse.COO.fromdense(pnp.array([[0, 2], [1, 0]])), pnp.array([3, 4]), transpose=True)
    Array([4, 6], dtype=int32)
    """
    return _times("coo_matvec", mat, v, 1, transpose)


def coo_matmat(mat: COO, B: Array, *, transpose: bool = False) -> Array:
    """The product of a COO matrix, or its transpose, and a dense matrix.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.coo_matmat(sparse.COO.fromdense(pnp.array([[0, 2], [1, 0]])), pnp.array([[3], [4]]))
    Array([[8],
           [3]], dtype=int32)
    """
    return _times("coo_matmat", mat, B, 2, transpose)
