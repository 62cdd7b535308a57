"""The format BCOO: the stored elements with their coordinates, with batch axes in front and dense axes behind.

Its operations are in the files `bcoo_*.py`; `methods.py` attaches the methods among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pycompiler.numpy as pnp
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.experimental.sparse.formats import JAXSparse, Layout, Shape, fits_batch
from pycompiler.lax.operands import Array
from pycompiler.transforms.containers import containers


def index_layout(name: str, indices: Any, shape: Sequence[int]) -> Layout:
    """The layout of a matrix of this shape with these coordinates. Raises an error if they don't fit."""
    aval = get_aval(indices)
    if not dtypes.is_integer(aval.dtype):
        raise TypeError(f"{name}: indices must be integers, got {short(indices)}")
    if aval.ndim < 2:
        raise ValueError(f"{name}: indices have the shape (*batch, nse, n_sparse), got {short(indices)}")
    *batch, nse, n_sparse = aval.shape
    n_batch = len(batch)
    n_dense = len(shape) - n_batch - n_sparse
    if n_dense < 0:
        raise ValueError(
            f"{name}: indices of {n_batch} batch axes and {n_sparse} coordinates, {short(indices)}, are too many for "
            f"the shape {tuple(shape)}"
        )
    if not fits_batch(batch, shape[:n_batch]):
        raise ValueError(f"{name}: the batch axes of the indices, {short(indices)}, do not fit {tuple(shape)}")
    return Layout(n_batch, n_sparse, n_dense, nse)


def layout_of(name: str, data: Any, indices: Any, shape: Sequence[int]) -> Layout:
    """The layout of a matrix of this shape, with this data at these coordinates. Raises an error if they don't fit."""
    layout = index_layout(name, indices, shape)
    n_batch, n_sparse, _, nse = layout
    given = get_aval(data).shape
    if not fits_batch(given[:n_batch], shape[:n_batch]):
        raise ValueError(f"{name}: the batch axes of the data, {short(data)}, do not fit {tuple(shape)}")
    wanted = (nse, *shape[n_batch + n_sparse :])
    if given[n_batch:] != wanted:
        raise ValueError(
            f"{name}: behind {n_batch} batch axes, the data must be of shape {wanted} for indices {short(indices)} and "
            f"the shape {tuple(shape)}; it is {short(data)}"
        )
    return layout


def coordinates(numbers: Sequence[Any], indices: Array) -> Array:
    """A number for each coordinate, as an array of the axes and the dtype of the indices."""
    return pnp.array(numbers, indices.dtype).reshape((*(1,) * (indices.ndim - 1), len(numbers)))


@register_pytree_node_class
class BCOO(JAXSparse):
    """A sparse array as its stored elements and their coordinates, with batch axes, sparse axes and dense axes.

    `data` has the shape `(*batch, nse, *dense)` and `indices` the shape `(*batch, nse, n_sparse)`; a batch axis may be
    of size 1 if all members share the array. Elements at one place add up. Elements at places outside of the shape do
    not count; they pad the arrays. The flags `indices_sorted` and `unique_indices` are known properties of the indices.

    It is a tree of its two arrays, so functions under `jit`, `grad` and `vmap` take and return it.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental.sparse import BCOO
    >>> m = BCOO.fromdense(pnp.array([[0.0, 2.0, 0.0], [1.0, 0.0, 4.0]]))
    >>> m
    BCOO(float32[2, 3], nse=3)
    >>> m.data, m.indices
    (Array([2., 1., 4.], dtype=float32), Array([[0, 1],
           [1, 0],
           [1, 2]], dtype=int32))
    >>> m @ pnp.array([1.0, 2.0, 3.0])
    Array([ 4., 13.], dtype=float32)
    >>> BCOO((pnp.array([1.0, 3.0]), pnp.array([[0, 0], [1, 1]])), shape=(2, 2)).todense()
    Array([[1., 0.],
           [0., 3.]], dtype=float32)
    """

    data: Array
    indices: Array
    shape: Shape
    indices_sorted: bool
    unique_indices: bool

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices = map(pnp.asarray, args)
        self.shape = tuple(shape)
        self.indices_sorted = indices_sorted
        self.unique_indices = unique_indices
        layout_of("BCOO", self.data, self.indices, self.shape)

    @property
    def nse(self) -> int:
        """The number of stored elements of one member of the batch."""
        return get_aval(self.indices).shape[-2]

    @property
    def n_batch(self) -> int:
        """The number of batch axes: the first ones."""
        return get_aval(self.indices).ndim - 2

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes, behind the batch axes."""
        return get_aval(self.indices).shape[-1]

    @property
    def n_dense(self) -> int:
        """The number of dense axes: the last ones."""
        return get_aval(self.data).ndim - 1 - self.n_batch

    @property
    def layout(self) -> Layout:
        """The numbers of axes and of elements."""
        return Layout(self.n_batch, self.n_sparse, self.n_dense, self.nse)

    def described(self) -> str:
        """The layout, in the form for `repr`."""
        text = f"nse={self.nse}"
        text += f", n_batch={self.n_batch}" if self.n_batch else ""
        return text + (f", n_dense={self.n_dense}" if self.n_dense else "")

    def with_data(self, data: Array, shape: Sequence[int] | None = None) -> BCOO:
        """The matrix with other data at the same places."""
        return BCOO(
            (data, self.indices),
            shape=self.shape if shape is None else shape,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    @property
    def sparse_shape(self) -> Shape:
        """The sizes of the sparse axes."""
        return self.shape[self.n_batch : self.n_batch + self.n_sparse]

    def tree_flatten(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The two arrays; the shape and the flags are static."""
        static = {"shape": self.shape, "indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return (self.data, self.indices), static

    @classmethod
    def tree_unflatten(cls, aux_data: dict[str, Any], children: Sequence[Any]) -> BCOO:
        """The matrix of two leaves of a tree. They are not checked, because transformations put other objects in."""
        matrix = object.__new__(cls)
        matrix.data, matrix.indices = children
        matrix.shape = aux_data["shape"]
        matrix.indices_sorted, matrix.unique_indices = aux_data["indices_sorted"], aux_data["unique_indices"]
        return matrix

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:  # attached by methods.py
        self._lacks("transpose")

    def todense(self) -> Array:  # attached by methods.py
        self._lacks("todense")


def _of_shape(matrix: BCOO, shape: Shape) -> BCOO:
    return BCOO.tree_unflatten({**matrix.tree_flatten()[1], "shape": shape}, (matrix.data, matrix.indices))


containers[BCOO] = _of_shape
