"""Products of BCOO arrays with dense and with sparse arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.experimental.sparse.bcoo import BCOO, layout_of
from pycompiler.experimental.sparse.bcoo_places import bcoo_update_layout, extract, sum_duplicates
from pycompiler.experimental.sparse.formats import Layout, Shape, added, over_batches
from pycompiler.jit.jit import jit
from pycompiler.lax.operands import Array
from pycompiler.transforms.inspection import eval_shape

Dims = tuple[int, ...]
Numbers = tuple[tuple[Dims, Dims], tuple[Dims, Dims]]


def _several(dims: Any) -> Dims:
    return tuple(int(d) for d in dims) if np.ndim(dims) else (int(dims),)


def canonical_numbers(dimension_numbers: Any) -> Numbers:
    """The dimension numbers as tuples of tuples of ints."""
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = dimension_numbers
    return (_several(lhs_contract), _several(rhs_contract)), (_several(lhs_batch), _several(rhs_batch))


def product_type(lhs: Any, rhs: Any, numbers: Numbers, preferred: Any = None) -> Any:
    """The shape and the dtype of the product of two dense arrays, given by (shape, dtype). Raises if they don't fit."""
    given = (ShapeDtypeStruct(*lhs), ShapeDtypeStruct(*rhs))
    return eval_shape(partial(lax.dot_general, dimension_numbers=numbers, preferred_element_type=preferred), *given)


def remaining(count: int, *used: Sequence[int]) -> list[int]:
    """The axes below `count` that are in none of the sequences."""
    taken = {axis for axes in used for axis in axes}
    return [axis for axis in range(count) if axis not in taken]


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """`lax.dot_general` of arrays that are BCOO or dense. The product of two BCOO is BCOO, any other one is dense.

    `dimension_numbers` is `((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))`. Batch dimensions must be
    batch axes of a sparse operand, and dense axes can't be summed over. `precision` and `out_sharding` have no effect.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([[0, 2], [1, 0]]))
    >>> sparse.bcoo_dot_general(m, pnp.array([3, 4]), dimension_numbers=(((1,), (0,)), ((), ())))
    Array([8, 3], dtype=int32)
    """
    del precision, out_sharding
    numbers = canonical_numbers(dimension_numbers)
    preferred = None if preferred_element_type is None else np.dtype(preferred_element_type)
    if isinstance(lhs, BCOO) and isinstance(rhs, BCOO):
        return _of_sparse(lhs, rhs, numbers, preferred)
    if isinstance(lhs, BCOO):
        return dot_general(
            lhs.data, lhs.indices, pnp.asarray(rhs), shape=lhs.shape, numbers=numbers, preferred=preferred
        )
    if not isinstance(rhs, BCOO):
        return lax.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred)
    lhs = pnp.asarray(lhs)
    (lhs_contract, rhs_contract), (lhs_batch, rhs_batch) = numbers
    turned = ((rhs_contract, lhs_contract), (rhs_batch, lhs_batch))
    out = dot_general(rhs.data, rhs.indices, lhs, shape=rhs.shape, numbers=turned, preferred=preferred)
    batch, free = len(lhs_batch), rhs.ndim - len(rhs_contract)
    return lax.transpose(out, (*range(batch), *range(free, out.ndim), *range(batch, free)))


@partial(jit, static_argnames=("shape", "numbers", "preferred"))
def dot_general(
    data: Array, indices: Array, rhs: Array, *, shape: Shape, numbers: Numbers, preferred: Any = None
) -> Array:
    """The dense product of a sparse and a dense array. Each stored element is multiplied with the elements of `rhs` at
    its contracted coordinates. The products are added at its place in the result."""
    out = product_type((shape, data.dtype), (rhs.shape, rhs.dtype), numbers, preferred)
    n_batch, n_sparse, _, _ = layout_of("bcoo_dot_general", data, indices, shape)
    (contract, rhs_contract), (batch, rhs_batch) = numbers
    if any(axis >= n_batch for axis in batch):
        raise NotImplementedError(
            f"bcoo_dot_general: batch dimensions of the sparse operand must be among its {n_batch} batch axes, got "
            f"{batch}. What to do: bcoo_update_layout"
        )
    if any(axis >= n_batch + n_sparse for axis in contract):
        raise NotImplementedError(
            f"bcoo_dot_general: contracting dimensions {contract} include dense axes, which are those from "
            f"{n_batch + n_sparse} on. What to do: bcoo_update_layout"
        )
    # Sums over batch axes and sums over sparse axes.
    of_batch = [(a, b) for a, b in zip(contract, rhs_contract, strict=True) if a < n_batch]
    of_places = [(a - n_batch, b) for a, b in zip(contract, rhs_contract, strict=True) if a >= n_batch]
    summed = [a for a, _ in of_batch]
    order = [*batch, *remaining(n_batch, batch, summed), *summed]
    data = data.transpose([*order, *range(n_batch, data.ndim)])
    indices = indices.transpose([*order, n_batch, n_batch + 1])
    met, kept = [a for a, _ in of_places], remaining(n_sparse, [a for a, _ in of_places])
    free = remaining(rhs.ndim, rhs_batch, rhs_contract)
    rhs = rhs.transpose([*rhs_batch, *(b for _, b in of_batch), *(b for _, b in of_places), *free])
    mapped = n_batch - len(of_batch)
    rhs = pnp.expand_dims(rhs, tuple(range(len(batch), mapped)))
    member = partial(
        _dot_of_member,
        met=met,
        kept=kept,
        summed=len(summed),
        free=len(free),
        shape=out.shape[mapped:],
        dtype=out.dtype,
    )
    # The result has a batch axis also if its members share all arrays.
    product = over_batches(member, mapped)(data, indices, rhs)
    return pnp.broadcast_to(product, out.shape)


def _dot_of_member(
    data: Array, indices: Array, rhs: Array, *, met: Any, kept: Any, summed: int, free: int, shape: Shape, dtype: Any
) -> Array:
    """The product of one member: the sum includes the `summed` axes in front of its elements."""
    nse = indices.shape[-2]
    if not nse:
        return pnp.zeros(shape, dtype)
    lead = tuple(max(a, b) for a, b in zip(data.shape[:summed], indices.shape[:summed], strict=True))
    lead = tuple(max(a, b) for a, b in zip(lead, rhs.shape[:summed], strict=True))
    indices = pnp.broadcast_to(indices, (*lead, *indices.shape[summed:]))
    if met:
        grids = [
            np.arange(size, dtype=np.int32).reshape([-1 if i == j else 1 for j in range(summed + 1)])
            for i, size in enumerate(lead)
        ]
        where = (*map(pnp.asarray, grids), *(indices[..., i] for i in met))
        found = rhs.at[where].get(mode="fill", fill_value=0)
    else:
        found = pnp.expand_dims(rhs, summed)
    dense = data.ndim - summed - 1
    data = data.astype(dtype).reshape(*data.shape, *(1,) * free)
    found = found.astype(dtype).reshape(*found.shape[: summed + 1], *(1,) * dense, *found.shape[summed + 1 :])
    product = data * found
    if kept:
        places = tuple(pnp.broadcast_to(indices[..., i], (*lead, nse)) for i in kept)
        product = pnp.broadcast_to(product, (*lead, nse, *product.shape[summed + 1 :]))
        return added(pnp.zeros(shape, dtype).at[places], product)
    product = pnp.broadcast_to(product, (*lead, *product.shape[summed:]))
    return product.sum(tuple(range(summed + 1)), dtype=dtype)


def bcoo_dot_general_sampled(A: Array, B: Array, indices: Array, *, dimension_numbers: Any) -> Array:
    """Elements of the product of two dense arrays: those at `indices`, the coordinates of a BCOO.

    The whole product is not computed for vectors and matrices.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> x, y = pnp.arange(3), pnp.arange(4)
    >>> sparse.bcoo_dot_general_sampled(x, y, pnp.array([[2, 3], [1, 1]]), dimension_numbers=(((), ()), ((), ())))
    Array([6, 1], dtype=int32)
    """
    A, B, indices = map(pnp.asarray, (A, B, indices))
    return _sampled(A, B, indices, numbers=canonical_numbers(dimension_numbers))


@partial(jit, static_argnames="numbers")
def _sampled(a: Array, b: Array, indices: Array, *, numbers: Numbers) -> Array:
    (lhs_contract, rhs_contract), (lhs_batch, _) = numbers
    out = product_type((a.shape, a.dtype), (b.shape, b.dtype), numbers)
    few = len(lhs_contract) <= 1 and not lhs_batch and a.ndim == b.ndim == 1 + len(lhs_contract)
    if not few or indices.ndim != 2 or indices.shape[-1] != 2:
        whole = lax.dot_general(a, b, numbers, precision=lax.Precision.HIGHEST)
        return extract(indices, whole)
    rows, columns = indices[:, 0], indices[:, 1]
    if not lhs_contract:
        a, b = a[:, None], b[:, None]
    else:
        a, b = (x.T if axes[0] == 0 else x for x, axes in ((a, lhs_contract), (b, rhs_contract)))
    left = a.at[rows].get(mode="fill", fill_value=0).astype(out.dtype)
    right = b.at[columns].get(mode="fill", fill_value=0).astype(out.dtype)
    return (left * right).sum(-1)


def _of_sparse(lhs: BCOO, rhs: BCOO, numbers: Numbers, preferred: Any) -> BCOO:
    """The sparse product of two sparse arrays."""
    (contract, rhs_contract), (batch, rhs_batch) = numbers
    out = product_type((lhs.shape, lhs.dtype), (rhs.shape, rhs.dtype), numbers, preferred)
    if lhs.n_dense or rhs.n_dense:
        raise NotImplementedError(
            f"bcoo_dot_general: two sparse arrays must have no dense axes, got {lhs!r} and {rhs!r}"
        )
    for name, mat, axes, batches in (("lhs", lhs, contract, batch), ("rhs", rhs, rhs_contract, rhs_batch)):
        if any(axis >= mat.n_batch for axis in batches) or any(axis < mat.n_batch for axis in axes):
            raise NotImplementedError(
                f"bcoo_dot_general: batch dimensions of two sparse arrays must be batch axes, and contracting "
                f"dimensions sparse axes; {name} is {mat!r} with batch dimensions {batches}, contracting ones {axes}"
            )
    if rhs.n_batch > len(rhs_batch) and lhs.n_sparse > len(contract):
        raise ValueError(
            f"bcoo_dot_general: batch axes of {rhs!r} would come behind sparse axes of {lhs!r} in the result"
        )
    out_batch = lhs.n_batch + rhs.n_batch - len(batch)
    nse = (lhs.nse if lhs.n_sparse > len(contract) else 1) * (rhs.nse if rhs.n_sparse > len(rhs_contract) else 1)
    nse = min(nse, math.prod(out.shape[out_batch:]))
    moved: list[Array] = []
    for mat, batches in ((lhs, batch), (rhs, rhs_batch)):
        order = [*batches, *remaining(mat.n_batch, batches)]
        moved += [x.transpose([*order, *range(mat.n_batch, x.ndim)]) for x in (mat.data, mat.indices)]
    fun = partial(
        _of_sparse_members,
        shapes=(lhs.sparse_shape, rhs.sparse_shape),
        contract=[d - lhs.n_batch for d in contract],
        rhs_contract=[d - rhs.n_batch for d in rhs_contract],
        nse=nse,
        dtype=out.dtype,
    )
    fun = over_batches(fun, rhs.n_batch - len(rhs_batch), (None, None, 0, 0))
    fun = over_batches(fun, lhs.n_batch - len(batch), (0, 0, None, None))
    buffers = over_batches(fun, len(batch))(*moved)
    return BCOO(buffers, shape=out.shape)


def _of_sparse_members(
    data: Array,
    indices: Array,
    rhs_data: Array,
    rhs_indices: Array,
    *,
    shapes: tuple[Shape, Shape],
    contract: Sequence[int],
    rhs_contract: Sequence[int],
    nse: int,
    dtype: Any,
) -> tuple[Array, Array]:
    """The product of two members, from all pairs of elements with equal contracted coordinates."""
    shape, rhs_shape = shapes
    kept, rhs_kept = remaining(len(shape), contract), remaining(len(rhs_shape), rhs_contract)
    meets = pnp.ones((indices.shape[0], rhs_indices.shape[0]), bool)
    for a, b in zip(contract, rhs_contract, strict=True):
        left, right = indices[:, a], rhs_indices[:, b]
        meets &= (left[:, None] == right[None, :]) & (left < shape[a])[:, None]
    pairs = data.astype(dtype)[:, None] * rhs_data.astype(dtype)[None, :]
    product = pnp.where(meets, pairs, pnp.zeros((), dtype)).ravel()
    columns = [pnp.broadcast_to(indices[:, a][:, None], meets.shape).ravel() for a in kept]
    columns += [pnp.broadcast_to(rhs_indices[:, b][None, :], meets.shape).ravel() for b in rhs_kept]
    if columns:
        common = pnp.result_type(indices, rhs_indices)
        places = pnp.stack([c.astype(common) for c in columns], -1)
    else:
        places = pnp.zeros((product.shape[0], 0), indices.dtype)
    # Zeros stay: for derivatives, the places of stored elements must not depend on values.
    out_shape = (*(shape[a] for a in kept), *(rhs_shape[b] for b in rhs_kept))
    return sum_duplicates(product, places, shape=out_shape, nse=nse)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The elementwise product of two sparse arrays, whose axes of size 1 are repeated.

    All pairs of elements are compared.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> x, y = (sparse.BCOO.fromdense(pnp.array(v)) for v in ([0, 2, 3], [4, 5, 0]))
    >>> sparse.bcoo_multiply_sparse(x, y).todense()
    Array([ 0, 10,  0], dtype=int32)
    """
    if lhs.ndim != rhs.ndim:
        raise TypeError(f"bcoo_multiply_sparse: the numbers of axes differ: {lhs!r} and {rhs!r}")
    if lhs.n_dense != rhs.n_dense:
        raise NotImplementedError(f"bcoo_multiply_sparse: the numbers of dense axes differ: {lhs!r} and {rhs!r}")
    shape = np.broadcast_shapes(lhs.shape, rhs.shape)
    count = min(lhs.n_batch, rhs.n_batch)
    lhs, rhs = (bcoo_update_layout(mat, n_batch=count) for mat in (lhs, rhs))
    member = partial(_multiply_members, shapes=(lhs.shape[count:], rhs.shape[count:]))
    buffers = over_batches(member, count)(lhs.data, lhs.indices, rhs.data, rhs.indices)
    return BCOO(buffers, shape=shape)


def _multiply_members(
    data: Array, indices: Array, rhs_data: Array, rhs_indices: Array, *, shapes: tuple[Shape, Shape]
) -> tuple[Array, Array]:
    shape, rhs_shape = shapes
    nse = indices.shape[0] * rhs_indices.shape[0]
    common = [i for i in range(indices.shape[1]) if shape[i] != 1 and rhs_shape[i] != 1]
    meets = pnp.ones((indices.shape[0], rhs_indices.shape[0]), bool)
    for i in common:
        meets &= indices[:, i][:, None] == rhs_indices[:, i][None, :]
    # An element outside of an axis of size 1 does not count.
    for mask, places, sizes in ((0, indices, shape), (1, rhs_indices, rhs_shape)):
        inside = pnp.ones(places.shape[0], bool)
        for i, size in enumerate(sizes[: places.shape[1]]):
            inside &= places[:, i] < size
        meets &= pnp.expand_dims(inside, 1 - mask)
    left, right = pnp.nonzero(meets, size=nse, fill_value=(indices.shape[0], rhs_indices.shape[0]))
    get = {"mode": "fill", "fill_value": 0}
    product = data.at[left].get(**get) * rhs_data.at[right].get(**get)
    outside = max((*shape, *rhs_shape), default=0)
    get = {"mode": "fill", "fill_value": outside}
    return product, pnp.maximum(indices.at[left].get(**get), rhs_indices.at[right].get(**get))


def bcoo_multiply_dense(sp_mat: BCOO, v: Array) -> Array:
    """The data of the elementwise product of a sparse and a dense array, which has the same shape or is repeated.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([[0, 2], [3, 0]]))
    >>> sparse.bcoo_multiply_dense(m, pnp.array([10, 20]))
    Array([40, 30], dtype=int32)
    """
    v = pnp.asarray(v)
    data, indices, shape = sp_mat.data, sp_mat.indices, sp_mat.shape
    if v.ndim == 0:
        return data * v
    if v.shape == shape:
        return data * extract(indices, v)
    if np.broadcast_shapes(v.shape, shape) != shape:
        raise NotImplementedError(
            f"bcoo_multiply_dense: an array of shape {v.shape} is not repeated to the shape of {sp_mat!r}"
        )
    v = pnp.expand_dims(v, tuple(range(len(shape) - v.ndim)))
    return over_batches(partial(_multiply_member, layout=sp_mat.layout), sp_mat.n_batch)(data, indices, v)


def _multiply_member(data: Array, indices: Array, v: Array, *, layout: Layout) -> Array:
    where = tuple(indices[:, i] if v.shape[i] != 1 else 0 for i in range(layout.n_sparse))
    if not where:
        return data * v[None]
    found = v[where]
    return data * (found if any(not isinstance(i, int) for i in where) else found[None])
