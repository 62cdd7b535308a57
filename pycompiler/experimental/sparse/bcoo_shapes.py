"""Other shapes and orders of BCOO: transposition, broadcasting, concatenation, reshaping, reversal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.tracing.arguments import as_index
from pycompiler.experimental.sparse.bcoo import BCOO, coordinates
from pycompiler.experimental.sparse.bcoo_places import bcoo_update_layout, with_nse
from pycompiler.experimental.sparse.formats import Shape
from pycompiler.lax.operands import Array
from pycompiler.transforms.inspection import eval_shape


def of_abstract(fun: Any, mat: Any, **params: Any) -> Any:
    """The type of a function of dense arrays, for a matrix of this shape. Raises the function's errors."""
    return eval_shape(partial(fun, **params), ShapeDtypeStruct(mat.shape, mat.dtype))


def _permutations(name: str, mat: BCOO, permutation: Any) -> tuple[list[int], list[int], list[int]]:
    """The permutations of batch, sparse and dense axes. Raises an error if axes of several kinds are mixed."""
    if not isinstance(permutation, (tuple, list, np.ndarray)):
        raise TypeError(f"{name}: the permutation must be a tuple, a list or an ndarray, got {permutation!r}")
    axes = [int(p) for p in permutation]
    if sorted(axes) != list(range(mat.ndim)):
        raise TypeError(f"{name}: {tuple(axes)} is no permutation of the axes of {mat!r}")
    n_batch, n_sparse, _, _ = mat.layout
    end = n_batch + n_sparse
    batch, sparse, dense = axes[:n_batch], axes[n_batch:end], axes[end:]
    for kind, group, first in (("batch", batch, 0), ("dense", dense, end)):
        if sorted(group) != list(range(first, first + len(group))):
            raise NotImplementedError(
                f"{name}: {tuple(axes)} mixes {kind} axes of {mat!r} with others. What to do: update_layout first"
            )
    return batch, [p - n_batch for p in sparse], [p - end for p in dense]


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """The array with its axes permuted. Batch axes stay among batch axes, and dense ones among dense ones.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([[0, 1], [0, 0]]))
    >>> sparse.bcoo_transpose(m, permutation=(1, 0)).indices
    Array([[1, 0]], dtype=int32)
    """
    batch, sparse, dense = _permutations("bcoo_transpose", mat, permutation)
    n = mat.n_batch
    indices, data = mat.indices, mat.data
    moved = sparse != sorted(sparse)
    if moved:
        indices = pnp.stack([indices[..., p] for p in sparse], -1)
    if batch != sorted(batch):
        indices = indices.transpose([*batch, n, n + 1])
    if batch != sorted(batch) or dense != sorted(dense):
        data = data.transpose([*batch, n, *(n + 1 + p for p in dense)])
    return BCOO(
        (data, indices),
        shape=tuple(mat.shape[int(p)] for p in permutation),
        indices_sorted=mat.indices_sorted and not moved,
        unique_indices=mat.unique_indices,
    )


def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCOO:
    """`lax.broadcast_in_dim`: axis i becomes axis `broadcast_dimensions[i]` of the result.

    New axes in front of the sparse axes are batch axes. Sparse axes can't be repeated.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([0, 1]))
    >>> sparse.bcoo_broadcast_in_dim(m, shape=(3, 2), broadcast_dimensions=(1,))
    BCOO(int32[3, 2], nse=1, n_batch=1)
    """
    del sharding
    shape, axes = tuple(shape), tuple(int(d) for d in broadcast_dimensions)
    if len(axes) != mat.ndim:
        raise ValueError(f"bcoo_broadcast_in_dim: {mat!r} needs {mat.ndim} broadcast_dimensions, got {axes}")
    n_batch, n_sparse, n_dense, nse = mat.layout
    end = n_batch + n_sparse
    batch, sparse, dense = axes[:n_batch], axes[n_batch:end], axes[end:]
    for kind, before, behind in (("batch and sparse", batch, sparse), ("sparse and dense", sparse, dense)):
        if max(before, default=0) > min(behind, default=len(shape)):
            raise ValueError(f"bcoo_broadcast_in_dim: {axes} mixes {kind} axes of {mat!r}")
    new_batch = min(axes[n_batch:], default=len(shape))
    new_dense = len(shape) - min(dense) if n_dense else 0
    new_sparse = len(shape) - new_batch - new_dense
    if math.prod(mat.sparse_shape) != math.prod(shape[new_batch : new_batch + new_sparse]):
        raise NotImplementedError(f"bcoo_broadcast_in_dim: sparse axes of {mat!r} can't be repeated to {shape}")
    data, indices = mat.data, mat.indices
    if (new_batch, new_dense) != (n_batch, n_dense):
        data = lax.broadcast_in_dim(
            data,
            (*shape[:new_batch], nse, *shape[new_batch + new_sparse :]),
            (*batch, new_batch, *(d + 1 - new_sparse for d in dense)),
        )
        indices = lax.broadcast_in_dim(
            indices,
            (*shape[:new_batch], nse, n_sparse),
            (*batch, new_batch, new_batch + 1),
        )
    if new_sparse != n_sparse:
        columns = {axis - new_batch: indices[..., i] for i, axis in enumerate(sparse)}
        zeros = pnp.zeros(indices.shape[:-1], indices.dtype)
        listed = [columns.get(i, zeros) for i in range(new_sparse)]
        indices = pnp.stack(listed, -1) if listed else zeros[..., None][..., :0]
    return BCOO((data, indices), shape=shape)


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """`lax.concatenate` along a batch axis or a sparse axis. All arrays have the same numbers of batch and dense axes.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([0, 1]))
    >>> sparse.bcoo_concatenate([m, m], dimension=0).todense()
    Array([0, 1, 0, 1], dtype=int32)
    """
    dimension = as_index("bcoo_concatenate", "dimension", dimension)
    operands = list(operands)
    if not operands or not all(isinstance(op, BCOO) for op in operands):
        raise ValueError(f"bcoo_concatenate: takes a sequence of BCOO, got {operands}")
    structs = [ShapeDtypeStruct(op.shape, op.dtype) for op in operands]
    out = eval_shape(lambda *xs: lax.concatenate(xs, dimension), *structs)
    if len({op.n_dense for op in operands}) > 1:
        raise ValueError(f"bcoo_concatenate: the numbers of dense axes differ: {operands}")
    if {op.n_batch for op in operands} == {0, 1}:
        # `op[None]` has a batch axis of size 1.
        for count in (1, 0):
            if all(op.shape[0] == 1 for op in operands if op.n_batch != count):
                operands = [bcoo_update_layout(op, n_batch=count) for op in operands]
                break
    if len({op.n_batch for op in operands}) > 1:
        raise ValueError(f"bcoo_concatenate: the numbers of batch axes differ: {operands}")
    n_batch, n_sparse, _, _ = operands[0].layout
    for arrays in ([op.indices for op in operands], [op.data for op in operands]):
        batches = {x.shape[: min(dimension, n_batch)] + x.shape[dimension + 1 : n_batch] for x in arrays}
        if len(batches) > 1:
            raise NotImplementedError(f"bcoo_concatenate: arrays share members along different batch axes: {operands}")
    if dimension < n_batch:
        nse = max(op.nse for op in operands)
        operands = [with_nse(op, nse) for op in operands]
        parts = [(_whole(op.data, op, dimension), _whole(op.indices, op, dimension)) for op in operands]
        data, indices = (lax.concatenate(part, dimension) for part in zip(*parts, strict=True))
    elif dimension < n_batch + n_sparse:
        data = lax.concatenate([op.data for op in operands], n_batch)
        offsets = accumulate((op.shape[dimension] for op in operands[:-1]), initial=0)
        column = dimension - n_batch
        moved = [
            _moved(op.indices, column, op.shape[dimension], offset, out.shape[dimension])
            for op, offset in zip(operands, offsets, strict=True)
        ]
        indices = lax.concatenate(moved, n_batch)
    else:
        raise NotImplementedError(f"bcoo_concatenate: axis {dimension} of {operands[0]!r} is dense")
    return BCOO((data, indices), shape=out.shape)


def _moved(indices: Array, column: int, size: int, offset: int, total: int) -> Array:
    """Coordinates with an offset in one column. Those outside of its size stay outside of the total."""
    old = indices[..., column]
    new = pnp.where(old < size, old + offset, total).astype(indices.dtype)
    return pnp.stack([new if i == column else indices[..., i] for i in range(indices.shape[-1])], -1)


def _whole(x: Array, mat: BCOO, axis: int) -> Array:
    """An array with all members along a batch axis."""
    return pnp.broadcast_to(x, (*x.shape[:axis], mat.shape[axis], *x.shape[axis + 1 :]))


def bcoo_reshape(
    mat: BCOO, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None, sharding: Any = None
) -> BCOO:
    """`lax.reshape`. Axes of the three kinds must not be mixed, neither by `dimensions`, a permutation of the axes.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([[0, 1, 0], [0, 0, 2]]))
    >>> sparse.bcoo_reshape(m, new_sizes=(3, 2)).todense()
    Array([[0, 1],
           [0, 0],
           [0, 2]], dtype=int32)
    """
    del sharding
    sizes = tuple(int(size) for size in new_sizes)
    n_batch, n_sparse, _, nse = mat.layout
    if math.prod(sizes) != mat.size:
        raise ValueError(f"bcoo_reshape: the numbers of elements of {mat!r} and of the shape {sizes} differ")
    data, indices = mat.data, mat.indices
    whole = mat.shape[:n_batch]
    data = pnp.broadcast_to(data, (*whole, *data.shape[n_batch:]))
    indices = pnp.broadcast_to(indices, (*whole, *indices.shape[n_batch:]))
    batch, sparse, dense = _permutations("bcoo_reshape", mat, dimensions or tuple(range(mat.ndim)))
    batch_size, sparse_size = math.prod(whole), math.prod(mat.sparse_shape)
    ends = list(accumulate(sizes, mul))
    for kind, size, needed in (
        ("batch", batch_size, batch_size != 1),
        ("sparse", batch_size * sparse_size, sparse_size != 1),
    ):
        if needed and size not in ends:
            raise ValueError(f"bcoo_reshape: the shape {sizes} mixes {kind} axes of {mat!r} with others")
    first = int(np.searchsorted(ends, batch_size, side="right"))
    second = max(first, int(np.searchsorted(ends, batch_size * sparse_size, side="right")))
    new_batch, new_sparse, new_dense = sizes[:first], sizes[first:second], sizes[second:]
    data = lax.reshape(data, (*new_batch, nse, *new_dense), (*batch, n_batch, *(n_batch + 1 + p for p in dense)))
    indices = lax.reshape(indices, (*new_batch, nse, n_sparse), (*batch, n_batch, n_batch + 1))
    if not new_sparse:
        indices = pnp.zeros((*new_batch, nse, 0), indices.dtype)
    elif n_sparse:
        indices = _renumbered(indices, sparse, [mat.sparse_shape[p] for p in sparse], new_sparse)
    else:
        indices = pnp.zeros((*new_batch, nse, len(new_sparse)), indices.dtype)
    return BCOO((data, indices), shape=sizes)


def _renumbered(indices: Array, order: Sequence[int], sizes: Sequence[int], new: Shape) -> Array:
    """The coordinates of the same elements, counted in C order, in another shape. Those outside stay outside."""
    columns = [indices[..., p] for p in order]
    outside = pnp.zeros(indices.shape[:-1], bool)
    flat = pnp.zeros_like(columns[0])
    for column, size in zip(columns, sizes, strict=True):
        outside |= column >= size
        flat = flat * size + column
    found: list[Array] = []
    for size in reversed(new):
        flat, rest = pnp.divmod(flat, max(size, 1))
        found.append(rest)
    placed = pnp.stack(found[::-1], -1).astype(indices.dtype)
    return pnp.where(outside[..., None], coordinates(new, placed), placed)


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """`lax.rev`: the array with its elements along these axes in reverse order.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.bcoo_rev(sparse.BCOO.fromdense(pnp.array([0, 1, 2])), (0,)).todense()
    Array([2, 1, 0], dtype=int32)
    """
    of_abstract(lambda x: lax.rev(x, dimensions), operand)
    axes = [int(d) for d in dimensions]
    n_batch, n_sparse, _, _ = operand.layout
    end = n_batch + n_sparse
    batch = [d for d in axes if d < n_batch]
    dense = [d + 1 - n_sparse for d in axes if d >= end]
    indices = lax.rev(operand.indices, batch) if batch else operand.indices
    data = lax.rev(operand.data, batch + dense) if batch or dense else operand.data
    turned = [d - n_batch in range(n_sparse) and d in axes for d in range(n_batch, end)]
    if any(turned):
        last = coordinates(operand.sparse_shape, indices)
        placed = pnp.where(coordinates(turned, indices) != 0, last - 1 - indices, indices)
        indices = pnp.where(placed < 0, last, placed)
    return BCOO((data, indices), shape=operand.shape)


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """`lax.squeeze`: the array without these axes, which are of size 1.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> sparse.bcoo_squeeze(sparse.BCOO.fromdense(pnp.array([[0, 1]])), dimensions=(0,))
    BCOO(int32[2], nse=1)
    """
    out = of_abstract(lambda x: lax.squeeze(x, tuple(dimensions)), arr)
    dropped = {int(d) % arr.ndim for d in dimensions}
    n_batch, n_sparse, _, _ = arr.layout
    batch = [d for d in sorted(dropped) if d < n_batch]
    dense = [d + 1 - n_sparse for d in sorted(dropped) if d >= n_batch + n_sparse]
    data, indices = arr.data, arr.indices
    kept = [i for i in range(n_sparse) if i + n_batch not in dropped]
    # In an axis of size 1, coordinates are 0 except those of elements outside, which are also outside in the other
    # axes.
    gone = [i for i in range(n_sparse) if i not in kept]
    if gone:
        outside = pnp.zeros(indices.shape[:-1], bool)
        for i in gone:
            outside |= indices[..., i] > 0
        columns = [pnp.where(outside, arr.sparse_shape[i], indices[..., i]).astype(indices.dtype) for i in kept]
        indices = pnp.stack(columns, -1) if columns else indices[..., :0]
        if not columns:
            data = pnp.where(outside.reshape(*outside.shape, *(1,) * arr.n_dense), pnp.zeros((), data.dtype), data)
    return BCOO(
        (lax.squeeze(data, (*batch, *dense)), lax.squeeze(indices, tuple(batch))),
        shape=out.shape,
        indices_sorted=arr.indices_sorted and not gone,
        unique_indices=arr.unique_indices and not gone,
    )
