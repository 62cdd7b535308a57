"""The formats CSR and CSC: a matrix as its elements in the order of rows, or of columns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.types.aval import short
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.experimental.sparse import coo, rows
from pycompiler.experimental.sparse.formats import JAXSparse, Shape
from pycompiler.jit.jit import jit
from pycompiler.lax.operands import Array


class _Compressed(JAXSparse):
    """A matrix as its elements `data`, their other coordinates `indices`, and the starts of lines, `indptr`."""

    data: Array
    indices: Array
    indptr: Array

    def __init__(self, args: tuple[Any, Any, Any], *, shape: Sequence[int]) -> None:
        self.data, self.indices, self.indptr = map(pnp.asarray, args)
        self.shape = tuple(shape)

    @property
    def nse(self) -> int:
        """The number of stored elements."""
        return self.data.size

    @property
    def _bufs(self) -> tuple[Array, Array, Array]:
        return self.data, self.indices, self.indptr

    def tree_flatten(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arrays; the shape is static."""
        return self._bufs, {"shape": self.shape}

    @classmethod
    def tree_unflatten(cls, aux_data: dict[str, Any], children: Sequence[Any]) -> Any:
        """The matrix of the leaves of a tree."""
        matrix = object.__new__(cls)
        matrix.data, matrix.indices, matrix.indptr = children
        matrix.shape = aux_data["shape"]
        return matrix

    def _check_axes(self, axes: Any) -> None:
        if axes is not None:
            raise NotImplementedError(f"{type(self).__name__}.transpose: takes no axes, got {axes}")

    @classmethod
    def _none(cls, shape: Sequence[int], lines: int, dtype: Any, index_dtype: Any) -> Any:
        """A matrix without elements; `lines` is the axis that is compressed."""
        shape = tuple(shape)
        if len(shape) != 2:
            raise ValueError(f"{cls.__name__} must have 2 axes, got the shape {shape}")
        starts = pnp.zeros(shape[lines] + 1, index_dtype)
        return cls((pnp.zeros(0, dtype), pnp.zeros(0, index_dtype), starts), shape=shape)


@register_pytree_node_class
class CSR(_Compressed):
    """A matrix as its elements `data` in the order of rows, their columns `indices`, and the start of each row,
    `indptr`, with the number of elements at its end.

    It has products and conversions only; BCSR has more.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental.sparse import CSR
    >>> m = CSR.fromdense(pnp.array([[0, 2], [1, 5]]))
    >>> m.indptr, m @ pnp.array([3, 4])
    (Array([0, 1, 3], dtype=int32), Array([ 8, 23], dtype=int32))
    """

    @classmethod
    def fromdense(cls, mat: Array, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
        """The matrix of a dense one; see `csr_fromdense`."""
        return csr_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @classmethod
    def of_zeros(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> CSR:
        """A matrix without elements."""
        return cls._none(shape, 0, dtype, index_dtype)

    @classmethod
    def of_diagonal(cls, n: int, m: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> CSR:
        """The n by m matrix with ones on its k-th diagonal."""
        places = coo.diagonal("eye", n, m, k, index_dtype)
        if places is None:
            return cls.of_zeros((n, m), dtype=dtype, index_dtype=index_dtype)
        row, col = places
        starts = rows.starts_of(row, n, np.dtype(index_dtype))
        return cls((pnp.ones(row.size, dtype), col, starts), shape=(n, m))

    def todense(self) -> Array:
        """The matrix as an array."""
        return csr_todense(self)

    def transpose(self, axes: Any = None) -> CSC:
        """The matrix with rows and columns exchanged, as CSC with the same arrays."""
        self._check_axes(axes)
        return CSC(self._bufs, shape=self.shape[::-1])

    def __matmul__(self, other: Any) -> Array:
        data, other = coo.product_operands(self, other)
        return rows.product(data, self.indices, self.indptr, other, size=self.shape[0])


@register_pytree_node_class
class CSC(_Compressed):
    """A matrix as its elements `data` in the order of columns, their rows `indices`, and the start of each column,
    `indptr`, with the number of elements at its end.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental.sparse import CSC
    >>> m = CSC.fromdense(pnp.array([[0, 2], [1, 5]]))
    >>> m.indptr, m @ pnp.array([3, 4])
    (Array([0, 1, 3], dtype=int32), Array([ 8, 23], dtype=int32))
    """

    @classmethod
    def fromdense(cls, mat: Array, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSC:
        """The matrix of a dense one. `nse` is the number of elements that it stores, by default those that are not
        0."""
        return csr_fromdense(pnp.asarray(mat).T, nse=nse, index_dtype=index_dtype).transpose()

    @classmethod
    def of_zeros(cls, shape: Sequence[int], *, dtype: Any = None, index_dtype: Any = "int32") -> CSC:
        """A matrix without elements."""
        return cls._none(shape, 1, dtype, index_dtype)

    @classmethod
    def of_diagonal(cls, n: int, m: int, k: int, *, dtype: Any = None, index_dtype: Any = "int32") -> CSC:
        """The n by m matrix with ones on its k-th diagonal."""
        return CSR.of_diagonal(m, n, -k, dtype=dtype, index_dtype=index_dtype).transpose()

    def todense(self) -> Array:
        """The matrix as an array."""
        return csr_todense(self.transpose()).T

    def transpose(self, axes: Any = None) -> CSR:
        """The matrix with rows and columns exchanged, as CSR with the same arrays."""
        self._check_axes(axes)
        return CSR(self._bufs, shape=self.shape[::-1])

    def __matmul__(self, other: Any) -> Array:
        data, other = coo.product_operands(self, other)
        return rows.product(data, self.indices, self.indptr, other, size=self.shape[0], transpose=True)


@partial(jit, static_argnames="shape")
def todense(data: Array, indices: Array, indptr: Array, *, shape: Shape) -> Array:
    """The dense matrix of compressed rows."""
    return coo.todense(data, rows.rows_of(indices, indptr), indices, shape=shape)


@partial(jit, static_argnames=("nse", "index_dtype"))
def fromdense(mat: Array, *, nse: int, index_dtype: Any) -> tuple[Array, Array, Array]:
    """The first `nse` elements that are not 0, in compressed rows."""
    data, row, col = coo.fromdense(mat, nse=nse, index_dtype=index_dtype)
    stored = pnp.arange(nse) < (mat != 0).sum()
    row = pnp.where(stored, row, mat.shape[0])
    return data, col, rows.starts_of(row, mat.shape[0], index_dtype)


def csr_fromdense(mat: Array, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
    """The CSR matrix of a dense one. `nse` is the number of elements that it stores, by default those that are not 0.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.csr_fromdense(pnp.array([[0, 2], [1, 5]])).indptr
    Array([0, 1, 3], dtype=int32)
    """
    mat, count = coo.matrix_of("csr_fromdense", mat, nse)
    return CSR(fromdense(mat, nse=count, index_dtype=np.dtype(index_dtype)), shape=mat.shape)


def csr_todense(mat: CSR) -> Array:
    """The dense matrix of a CSR matrix.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.csr_todense(sparse.CSR((pnp.array([5]), pnp.array([1]), pnp.array([0, 1])), shape=(1, 2)))
    Array([[0, 5]], dtype=int32)
    """
    return todense(mat.data, mat.indices, mat.indptr, shape=mat.shape)


def _times(name: str, mat: CSR, other: Any, ndim: int, transpose: bool) -> Array:
    other = pnp.asarray(other)
    if other.ndim != ndim:
        raise TypeError(f"{name}: takes an array of {ndim} axes, got {short(other)}")
    shape = mat.shape[::-1] if transpose else mat.shape
    coo.check_sizes(name, mat, other, shape[1])
    return rows.product(mat.data, mat.indices, mat.indptr, other, size=shape[0], transpose=transpose)


def csr_matvec(mat: CSR, v: Array, transpose: bool = False) -> Array:
    """The product of a CSR matrix, or its transpose, and a vector.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.csr_matvec(sparse.CSR.fromdense(pnp.array([[0, 2], [1, 0]])), pnp.array([3, 4]), transpose=True)
    Array([4, 6], dtype=int32)
    """
    return _times("csr_matvec", mat, v, 1, transpose)


def csr_matmat(mat: CSR, B: Array, *, transpose: bool = False) -> Array:
    """The product of a CSR matrix, or its transpose, and a dense matrix.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.csr_matmat(sparse.CSR.fromdense(pnp.array([[0, 2], [1, 0]])), pnp.array([[3], [4]]))
    Array([[8],
           [3]], dtype=int32)
    """
    return _times("csr_matmat", mat, B, 2, transpose)
