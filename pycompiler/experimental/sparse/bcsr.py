"""The format BCSR: compressed rows with batch axes in front and dense axes behind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array, short
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.experimental.sparse import bcoo_places, rows
from pycompiler.experimental.sparse.bcoo import BCOO
from pycompiler.experimental.sparse.bcoo_products import bcoo_dot_general, canonical_numbers, product_type
from pycompiler.experimental.sparse.bcoo_shapes import bcoo_broadcast_in_dim, bcoo_concatenate
from pycompiler.experimental.sparse.formats import JAXSparse, Shape, fits_batch, over_batches
from pycompiler.lax.operands import Array
from pycompiler.transforms.containers import containers


def _check_places(name: str, indices: Any, indptr: Any, shape: Sequence[int]) -> tuple[int, int]:
    """The number of batch axes and of dense axes. Raises an error if the arrays don't fit the shape."""
    n_batch = get_aval(indices).ndim - 1
    n_dense = len(shape) - n_batch - 2
    for part in (indices, indptr):
        if not dtypes.is_integer(get_aval(part).dtype):
            raise TypeError(f"{name}: indices and indptr must be integers, got {short(part)}")
        if n_batch < 0 or n_dense < 0 or not fits_batch(get_aval(part).shape[:-1], shape[:n_batch]):
            raise ValueError(f"{name}: the batch axes of {short(part)} do not fit the shape {tuple(shape)}")
    if get_aval(indptr).shape[-1] != shape[n_batch] + 1:
        raise ValueError(
            f"{name}: for {shape[n_batch]} rows, indptr must have {shape[n_batch] + 1} entries, got {short(indptr)}"
        )
    return n_batch, n_dense


def places_of(indices: Array, indptr: Array, shape: Sequence[int]) -> Array:
    """The coordinates of a BCOO of compressed rows."""
    n_batch, _ = _check_places("BCSR", indices, indptr, shape)

    def member(i: Array, p: Array) -> Array:
        return pnp.stack([rows.rows_of(i, p), i], -1)

    return over_batches(member, n_batch)(indices, indptr)


def compressed(indices: Array, shape: Sequence[int], index_dtype: Any) -> tuple[Array, Array]:
    """The columns and the compressed rows of the coordinates of a BCOO, which are in order."""
    n_batch = indices.ndim - 2
    if indices.shape[-1] != 2:
        raise ValueError(f"BCSR: compressed rows have 2 sparse axes, the coordinates are {short(indices)}")
    starts = partial(rows.starts_of, size=shape[n_batch], dtype=index_dtype)
    return indices[..., 1], over_batches(starts, n_batch)(indices[..., 0])


@register_pytree_node_class
class BCSR(JAXSparse):
    """A sparse array in compressed rows, with batch axes in front and dense axes behind.

    `data` has the shape `(*batch, nse, *dense)`, `indices`, the columns, the shape `(*batch, nse)`, and `indptr`, the
    starts of the rows, `(*batch, rows + 1)`. A batch axis may be of size 1 if all members share the array. It is a tree
    of these arrays.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental.sparse import BCSR
    >>> m = BCSR.fromdense(pnp.array([[0, 2], [1, 5]]))
    >>> m, m.indptr, m @ pnp.array([3, 4])
    (BCSR(int32[2, 2], nse=3), Array([0, 1, 3], dtype=int32), Array([ 8, 23], dtype=int32))
    """

    data: Array
    indices: Array
    indptr: Array
    indices_sorted: bool
    unique_indices: bool

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices, self.indptr = map(pnp.asarray, args)
        self.shape = tuple(shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        n_batch, _ = _check_places("BCSR", self.indices, self.indptr, self.shape)
        given = self.data.shape
        wanted = (self.nse, *self.shape[n_batch + 2 :])
        if not fits_batch(given[:n_batch], self.shape[:n_batch]) or given[n_batch:] != wanted:
            raise ValueError(
                f"BCSR: behind {n_batch} batch axes, the data must be of shape {wanted} for the shape {self.shape}; it "
                f"is {short(self.data)}"
            )

    @property
    def nse(self) -> int:
        """The number of stored elements of one member of the batch."""
        return get_aval(self.indices).shape[-1]

    @property
    def n_batch(self) -> int:
        """The number of batch axes: the first ones."""
        return get_aval(self.indices).ndim - 1

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes: 2."""
        return 2

    @property
    def n_dense(self) -> int:
        """The number of dense axes: the last ones."""
        return get_aval(self.data).ndim - get_aval(self.indices).ndim

    described = BCOO.described  # of the same properties

    def tree_flatten(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The three arrays; the shape and the flags are static."""
        static = {"shape": self.shape, "indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return (self.data, self.indices, self.indptr), static

    @classmethod
    def tree_unflatten(cls, aux_data: dict[str, Any], children: Sequence[Any]) -> BCSR:
        """The matrix of the leaves of a tree, which are not checked."""
        matrix = object.__new__(cls)
        matrix.data, matrix.indices, matrix.indptr = children
        matrix.shape = aux_data["shape"]
        matrix.indices_sorted, matrix.unique_indices = aux_data["indices_sorted"], aux_data["unique_indices"]
        return matrix

    def with_data(self, data: Array) -> BCSR:
        """The matrix with other data at the same places."""
        return BCSR.tree_unflatten(self.tree_flatten()[1], (data, self.indices, self.indptr))

    def transpose(self, axes: Any = None) -> Any:
        """The array with its axes permuted, by default reversed; its elements are sorted anew."""
        self._lacks("transpose")

    def todense(self) -> Array:
        """The matrix as an array."""
        return bcsr_todense(self)

    def to_bcoo(self) -> BCOO:
        """The array as BCOO with the same data."""
        return BCOO((self.data, places_of(self.indices, self.indptr, self.shape)), shape=self.shape)

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """The array of a BCOO with two sparse axes, whose elements are sorted if they are not."""
        if arr.n_sparse != 2:
            raise NotImplementedError(f"BCSR.from_bcoo: takes an array with 2 sparse axes, got {arr!r}")
        arr = arr if arr.indices_sorted else bcoo_places.bcoo_sort_indices(arr)
        return cls((arr.data, *compressed(arr.indices, arr.shape, arr.indices.dtype)), shape=arr.shape)

    @classmethod
    def fromdense(
        cls, mat: Array, *, nse: int | None = None, index_dtype: Any = np.int32, n_dense: int = 0, n_batch: int = 0
    ) -> BCSR:
        """The array of a dense one; see `bcsr_fromdense`."""
        return bcsr_fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)

    @classmethod
    def from_scipy_sparse(cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0) -> BCSR:
        """The array of a matrix of scipy.sparse."""
        if n_dense or n_batch:
            raise NotImplementedError(
                f"BCSR.from_scipy_sparse: n_dense and n_batch must be 0, got {n_dense} and {n_batch}"
            )
        if mat.ndim != 2:
            raise ValueError(f"BCSR.from_scipy_sparse: takes a matrix, got an array of {mat.ndim} axes")
        mat = mat.tocsr()
        kind = np.dtype(index_dtype or np.int32)
        return cls(
            (pnp.asarray(mat.data), pnp.asarray(mat.indices.astype(kind)), pnp.asarray(mat.indptr.astype(kind))),
            shape=mat.shape,
        )

    @classmethod
    def of_zeros(
        cls,
        shape: Sequence[int],
        *,
        dtype: Any = None,
        index_dtype: Any = "int32",
        n_dense: int = 0,
        n_batch: int = 0,
        nse: int = 0,
    ) -> BCSR:
        """An array without elements, or with `nse` zeros."""
        shape = tuple(shape)
        if min(n_dense, n_batch, nse) < 0:
            raise ValueError(
                f"empty: n_dense, n_batch and nse must not be negative, got {n_dense}, {n_batch} and {nse}"
            )
        if len(shape) - n_dense - n_batch != 2:
            raise ValueError(f"empty: BCSR has 2 sparse axes; got the shape {shape}, {n_batch=} and {n_dense=}")
        batch, (count, columns), dense = shape[:n_batch], shape[n_batch : n_batch + 2], shape[n_batch + 2 :]
        indices = pnp.full((*batch, nse), columns, index_dtype)
        return cls(
            (pnp.zeros((*batch, nse, *dense), dtype), indices, pnp.zeros((*batch, count + 1), index_dtype)), shape=shape
        )

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """The array with at most one element at a place, in order, by default without zeros; see `BCOO`."""
        fun = bcoo_places.eliminate_zeros if remove_zeros else bcoo_places.bcoo_sum_duplicates
        return BCSR.from_bcoo(fun(self.to_bcoo(), nse))


def _of_shape(matrix: BCSR, shape: Shape) -> BCSR:
    arrays, static = matrix.tree_flatten()
    return BCSR.tree_unflatten({**static, "shape": shape}, arrays)


containers[BCSR] = _of_shape


def bcsr_fromdense(
    mat: Array, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = np.int32
) -> BCSR:
    """The BCSR array of a dense one; `nse` as of `bcoo_fromdense`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.bcsr_fromdense(pnp.array([[0, 2], [1, 5]])).indices
    Array([1, 0, 1], dtype=int32)
    """
    mat = pnp.asarray(mat)
    if mat.ndim - n_batch - n_dense != 2:
        raise ValueError(f"bcsr_fromdense: there must be 2 sparse axes; got {short(mat)}, {n_batch=} and {n_dense=}")
    places = bcoo_places.bcoo_fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)
    return BCSR((places.data, *compressed(places.indices, mat.shape, np.dtype(index_dtype))), shape=mat.shape)


def bcsr_todense(mat: BCSR) -> Array:
    """The dense array of a BCSR array.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.bcsr_todense(sparse.BCSR.fromdense(pnp.array([[0, 2], [1, 5]])))
    Array([[0, 2],
           [1, 5]], dtype=int32)
    """
    return bcoo_places.bcoo_todense(mat.to_bcoo())


def bcsr_extract(indices: Array, indptr: Array, mat: Array) -> Array:
    """The elements of a dense array at the places of compressed rows, as the data of a BCSR.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.bcsr_extract(pnp.array([1, 0]), pnp.array([0, 1, 2]), pnp.array([[1, 2], [3, 4]]))
    Array([2, 3], dtype=int32)
    """
    indices, indptr, mat = map(pnp.asarray, (indices, indptr, mat))
    return bcoo_places.extract(places_of(indices, indptr, mat.shape), mat)


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """The array with at most one element at a place, in order; `nse` as of `bcoo_sum_duplicates`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCSR((pnp.array([1, 2]), pnp.array([1, 1]), pnp.array([0, 2])), shape=(1, 2))
    >>> sparse.bcsr_sum_duplicates(m).data
    Array([3], dtype=int32)
    """
    return mat.sum_duplicates(nse, remove_zeros=False)


def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """`lax.dot_general` of two BCSR or dense arrays. A product of two sparse ones is sparse.

    `dimension_numbers` is `((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`. Batch dimensions must be
    batch axes of the sparse operand, and dense axes can't be summed over. `precision` and `out_sharding` have no
    effect.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCSR.fromdense(pnp.array([[0, 2], [1, 0]]))
    >>> sparse.bcsr_dot_general(m, pnp.array([3, 4]), dimension_numbers=(((1,), (0,)), ((), ())))
    Array([8, 3], dtype=int32)
    """
    del precision, out_sharding
    if is_array(lhs) and is_array(rhs):
        return lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)
    if isinstance(rhs, BCSR):
        left = lhs.to_bcoo() if isinstance(lhs, BCSR) else lhs
        out = bcoo_dot_general(
            left,
            rhs.to_bcoo(),
            dimension_numbers=dimension_numbers,
            preferred_element_type=preferred_element_type,
        )
        return BCSR.from_bcoo(out) if isinstance(out, BCOO) and out.n_sparse == 2 else out
    if not isinstance(lhs, BCSR) or not is_array(rhs):
        raise NotImplementedError(
            f"bcsr_dot_general: takes BCSRs and arrays, got {type(lhs).__name__} and {type(rhs).__name__}"
        )
    rhs = pnp.asarray(rhs)
    numbers = canonical_numbers(dimension_numbers)
    if numbers == (((1,), (0,)), ((), ())) and lhs.ndim == 2 and rhs.ndim in (1, 2) and not lhs.n_batch:
        out = product_type((lhs.shape, lhs.dtype), (rhs.shape, rhs.dtype), numbers, preferred_element_type)
        return rows.product(
            lhs.data.astype(out.dtype), lhs.indices, lhs.indptr, rhs.astype(out.dtype), size=lhs.shape[0]
        )
    return bcoo_dot_general(
        lhs.to_bcoo(), rhs, dimension_numbers=numbers, preferred_element_type=preferred_element_type
    )


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCSR:
    """`lax.broadcast_in_dim` of a BCSR array; see `bcoo_broadcast_in_dim`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCSR.fromdense(pnp.array([[0, 2], [1, 0]]))
    >>> sparse.bcsr_broadcast_in_dim(m, shape=(3, 2, 2), broadcast_dimensions=(1, 2))
    BCSR(int32[3, 2, 2], nse=2, n_batch=1)
    """
    out = bcoo_broadcast_in_dim(
        mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions, sharding=sharding
    )
    return BCSR.from_bcoo(out)


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """`lax.concatenate` of BCSR arrays; see `bcoo_concatenate`.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCSR.fromdense(pnp.array([[0, 2]]))
    >>> sparse.bcsr_concatenate([m, m], dimension=0).indptr
    Array([0, 1, 2], dtype=int32)
    """
    return BCSR.from_bcoo(bcoo_concatenate([mat.to_bcoo() for mat in operands], dimension=dimension))
