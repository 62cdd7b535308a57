"""Parts of BCOO: slices, gathers and sums; and convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.experimental.sparse.bcoo import BCOO, coordinates
from pycompiler.experimental.sparse.bcoo_places import bcoo_update_layout, sum_duplicates
from pycompiler.experimental.sparse.bcoo_shapes import bcoo_reshape, bcoo_squeeze, bcoo_transpose, of_abstract
from pycompiler.lax.operands import Array
from pycompiler.transforms.inspection import eval_shape
from pycompiler.transforms.mapping import vmap

_Conv = lax.ConvDimensionNumbers


def _kept(mat: BCOO, data: Array, keep: Array) -> Array:
    """The data, with 0 for dropped elements."""
    return pnp.where(keep.reshape(*keep.shape, *(1,) * mat.n_dense), data, pnp.zeros((), data.dtype))


def _fewer(data: Array, indices: Array, shape: Sequence[int], n_sparse: int) -> tuple[Array, Array]:
    """The arrays, with at most as many elements as the sparse axes of the shape have places."""
    n_batch = indices.ndim - 2
    places = math.prod(shape[n_batch : n_batch + n_sparse])
    if n_sparse and indices.shape[-2] > places:
        return sum_duplicates(data, indices, shape=tuple(shape), nse=places)
    return data, indices


def bcoo_slice(
    mat: BCOO, *, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> BCOO:
    """`lax.slice`: the elements from `start_indices` to before `limit_indices`, on each axis.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([0, 1, 2, 3]))
    >>> sparse.bcoo_slice(m, start_indices=(1,), limit_indices=(4,), strides=(2,)).todense()
    Array([1, 3], dtype=int32)
    """
    if not isinstance(mat, BCOO):
        raise TypeError(f"bcoo_slice: takes a BCOO, got {type(mat).__name__}")
    starts, limits, steps = (
        [int(as_index("bcoo_slice", name, i)) for i in given]
        for name, given in (
            ("start_indices", start_indices),
            ("limit_indices", limit_indices),
            ("strides", [1] * mat.ndim if strides is None else strides),
        )
    )
    if not len(starts) == len(limits) == len(steps) == mat.ndim:
        raise ValueError(
            f"bcoo_slice: {mat!r} needs {mat.ndim} start_indices, limit_indices and strides, got {starts}, {limits} "
            f"and {steps}"
        )
    if any(step <= 0 for step in steps):
        raise ValueError(f"bcoo_slice: strides must be positive, got {steps}")
    if not all(0 <= a <= b <= size for a, b, size in zip(starts, limits, mat.shape, strict=True)):
        raise ValueError(f"bcoo_slice: start_indices {starts} and limit_indices {limits} do not fit {mat!r}")
    n_batch, n_sparse, _, _ = mat.layout
    end = n_batch + n_sparse
    slices = [slice(*part) for part in zip(starts, limits, steps, strict=True)]
    # If the members along an axis share an array, the array stays.
    batches = [
        tuple(slice(None) if x.shape[i] != mat.shape[i] else slices[i] for i in range(n_batch))
        for x in (mat.data, mat.indices)
    ]
    data = mat.data[(*batches[0], slice(None), *slices[end:])]
    indices = mat.indices[batches[1]] if n_batch else mat.indices
    shape = tuple(-((a - b) // step) for a, b, step in zip(starts, limits, steps, strict=True))
    if n_sparse:
        first, last, step = (coordinates(x[n_batch:end], indices) for x in (starts, limits, steps))
        keep = ((indices >= first) & (indices < last) & ((indices - first) % step == 0)).all(-1)
        indices = pnp.where(keep[..., None], (indices - first) // step, coordinates(shape[n_batch:end], indices))
        data, indices = _fewer(_kept(mat, data, keep), indices, shape, n_sparse)
    return BCOO((data, indices), shape=shape)


def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
    """`lax.dynamic_slice`: a part of static sizes. The starts may be traced, and are clamped.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([0, 1, 2, 3]))
    >>> sparse.bcoo_dynamic_slice(m, (1,), (2,)).todense()
    Array([1, 2], dtype=int32)
    """
    if not isinstance(mat, BCOO):
        raise TypeError(f"bcoo_dynamic_slice: takes a BCOO, got {type(mat).__name__}")
    sizes = tuple(int(as_index("bcoo_dynamic_slice", "slice_sizes", size)) for size in slice_sizes)
    of_abstract(lambda x: lax.dynamic_slice(x, start_indices, sizes), mat)
    starts = [pnp.asarray(i) for i in start_indices]
    starts = [pnp.where(i < 0, i + size, i) for i, size in zip(starts, mat.shape, strict=True)]
    n_batch, n_sparse, _, nse = mat.layout
    end = n_batch + n_sparse
    zero = pnp.zeros((), np.int32)
    parts: list[Array] = []
    for x, tail_starts, tail_sizes in (
        (mat.data, starts[end:], sizes[end:]),
        (mat.indices, [zero], (n_sparse,)),
    ):
        whole = [x.shape[i] == mat.shape[i] for i in range(n_batch)]
        where = [starts[i] if whole[i] else zero for i in range(n_batch)]
        extent = [sizes[i] if whole[i] else 1 for i in range(n_batch)]
        parts.append(lax.dynamic_slice(x, [*where, zero, *tail_starts], [*extent, nse, *tail_sizes]))
    data, indices = parts
    if n_sparse:
        size = coordinates(sizes[n_batch:end], indices)
        first = pnp.stack([i.astype(indices.dtype) for i in starts[n_batch:end]]).reshape(size.shape)
        first = pnp.clip(first, 0, coordinates(mat.sparse_shape, indices) - size)
        keep = ((indices >= first) & (indices < first + size)).all(-1)
        indices = pnp.where(keep[..., None], indices - first, size)
        data, indices = _fewer(_kept(mat, data, keep), indices, sizes, n_sparse)
    return BCOO((data, indices), shape=sizes)


def bcoo_gather(
    operand: BCOO,
    start_indices: Array,
    dimension_numbers: Any,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> BCOO:
    """`lax.gather` of a sparse array at dense indices, which must be inside: the only mode is 'promise_in_bounds'.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import lax
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([0, 1, 2, 3]))
    >>> numbers = lax.GatherDimensionNumbers((), (0,), (0,))
    >>> sparse.bcoo_gather(m, pnp.array([[3], [1]]), numbers, (1,)).todense()
    Array([3, 1], dtype=int32)
    """
    in_bounds = lax.GatherScatterMode.PROMISE_IN_BOUNDS
    if mode is not None and lax.GatherScatterMode.from_any(mode) != in_bounds:
        raise NotImplementedError(f"bcoo_gather: mode={mode!r} is not supported, only 'promise_in_bounds'")
    del unique_indices, indices_are_sorted, fill_value
    return gather(operand, start_indices, dimension_numbers, slice_sizes)


def gather(operand: BCOO, start_indices: Array, dimension_numbers: Any, slice_sizes: Sequence[int]) -> BCOO:
    """A gather with clamped starts, as in dynamic slices."""
    start_indices = pnp.asarray(start_indices)
    sizes = tuple(int(size) for size in slice_sizes)
    out = eval_shape(
        lambda x, i: lax.gather(x, i, dimension_numbers, sizes, mode="clip"),
        ShapeDtypeStruct(operand.shape, operand.dtype),
        ShapeDtypeStruct(start_indices.shape, start_indices.dtype),
    )
    if dimension_numbers.operand_batching_dims:
        raise NotImplementedError(
            f"bcoo_gather: operand_batching_dims {dimension_numbers.operand_batching_dims} are not supported"
        )
    batch_shape = start_indices.shape[:-1]
    rows = start_indices.reshape(math.prod(batch_shape), start_indices.shape[-1])

    def part(row: Array) -> BCOO:
        starts: list[Any] = [pnp.zeros((), row.dtype)] * operand.ndim
        for i, axis in enumerate(dimension_numbers.start_index_map):
            starts[axis] = row[i]
        taken = bcoo_dynamic_slice(operand, starts, sizes)
        return bcoo_squeeze(taken, dimensions=dimension_numbers.collapsed_slice_dims)

    found: BCOO = vmap(part)(rows)
    found = bcoo_reshape(found, new_sizes=(*batch_shape, *found.shape[1:]))
    # The axes of the parts go to their places in the result.
    offset = list(dimension_numbers.offset_dims)
    places = [axis for axis in range(len(out.shape)) if axis not in offset] + offset
    permutation = [places.index(axis) for axis in range(len(places))]
    if permutation != sorted(permutation):
        if sorted(permutation[: found.n_batch]) != list(range(found.n_batch)):
            found = bcoo_update_layout(found, n_batch=0)
        found = bcoo_transpose(found, permutation=permutation)
    return found


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """The sum along axes, as a sparse array.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> m = sparse.BCOO.fromdense(pnp.array([[0, 1], [2, 3]]))
    >>> sparse.bcoo_reduce_sum(m, axes=(0,)).todense()
    Array([2, 4], dtype=int32)
    """
    summed = sorted({int(as_index("bcoo_reduce_sum", "axes", axis)) for axis in axes})
    if any(not 0 <= axis < mat.ndim for axis in summed):
        raise ValueError(f"bcoo_reduce_sum: {mat!r} has no axes {summed}")
    n_batch, n_sparse, _, nse = mat.layout
    end = n_batch + n_sparse
    data, indices = mat.data, mat.indices
    data = data.sum(tuple(axis - n_sparse + 1 for axis in summed if axis >= end), dtype=data.dtype)
    if n_sparse:
        # Without its coordinates, an element outside of the shape would count.
        inside = (indices < coordinates(mat.sparse_shape, indices)).all(-1)
        data = pnp.where(
            inside.reshape(*inside.shape, *(1,) * (data.ndim - inside.ndim)), data, pnp.zeros((), data.dtype)
        )
    columns = [indices[..., i] for i in range(n_sparse) if i + n_batch not in summed]
    indices = pnp.stack(columns, -1) if columns else indices[..., :0]
    # Members of summed batch axes become further elements.
    batch = [axis for axis in summed if axis < n_batch]
    for axis in batch:
        if data.shape[axis] == indices.shape[axis] == 1:
            data = data * pnp.asarray(mat.shape[axis], data.dtype)
        elif data.shape[axis] == 1:
            data = pnp.broadcast_to(data, (*data.shape[:axis], mat.shape[axis], *data.shape[axis + 1 :]))
        elif indices.shape[axis] == 1:
            data = data.sum(axis, keepdims=True)
    rest = [axis for axis in range(n_batch) if axis not in batch]
    number = nse * math.prod(data.shape[axis] for axis in batch)
    moved = [
        lax.reshape(
            x,
            (*(x.shape[axis] for axis in rest), number, *x.shape[n_batch + 1 :]),
            (*rest, *batch, *range(n_batch, x.ndim)),
        )
        for x in (data, indices)
    ]
    shape = tuple(size for axis, size in enumerate(mat.shape) if axis not in summed)
    return BCOO((moved[0], moved[1]), shape=shape)


def bcoo_conv_general_dilated(
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> BCOO:
    """`lax.conv_general_dilated` along one axis, of one batch and one channel, without strides and dilations.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.experimental import sparse
    >>> x, w = sparse.BCOO.fromdense(pnp.array([[[0.0, 1.0, 0.0]]])), pnp.array([[[1.0, 2.0]]])
    >>> sparse.bcoo_conv_general_dilated(x, w, window_strides=(1,), padding=[(0, 0)]).todense()
    Array([[[2., 1.]]], dtype=float32)
    """
    operands = [ShapeDtypeStruct(x.shape, x.dtype) for x in (lhs, rhs)]
    convolution = partial(
        lax.conv_general_dilated,
        window_strides=window_strides,
        padding=padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        dimension_numbers=dimension_numbers,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
        precision=precision,
        preferred_element_type=preferred_element_type,
        out_sharding=out_sharding,
    )
    out = eval_shape(convolution, *operands)
    for name, given in (
        ("lhs_dilation", lhs_dilation),
        ("rhs_dilation", rhs_dilation),
        ("window_strides", window_strides),
        ("group counts", (feature_group_count, batch_group_count)),
    ):
        if any(number != 1 for number in given or ()):
            raise NotImplementedError(f"bcoo_conv_general_dilated: {name} must be 1, got {tuple(given or ())}")
    numbers = dimension_numbers
    if isinstance(numbers, _Conv):
        plain = all(tuple(spec) == (0, 1, 2) for spec in (numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec))
    else:
        plain = numbers is None or tuple(numbers)[:1] == ("NCH",)
    if len(lhs.shape) != 3 or tuple(lhs.shape[:2]) != (1, 1) or tuple(rhs.shape[:2]) != (1, 1) or not plain:
        raise NotImplementedError(
            f"bcoo_conv_general_dilated: takes one spatial axis, and one batch and one channel in front of it, got "
            f"{lhs!r} and {rhs!r} with dimension_numbers={dimension_numbers}"
        )
    if isinstance(padding, str):
        padding = lax.padtype_to_pads(lhs.shape[2:], rhs.shape[2:], window_strides, padding)
    before = int(padding[0][0])
    sparse = lhs if isinstance(lhs, BCOO) else rhs
    dtype = get_aval(sparse.indices).dtype if isinstance(sparse, BCOO) else np.dtype(np.int32)
    (data, places), (weights, taps) = (_line(x, dtype) for x in (lhs, rhs))
    product = (data[:, None] * weights[None, :]).ravel()
    at = (places[:, None] + (before - taps)[None, :]).ravel()
    size = out.shape[2]
    outside = (at < 0) | (at >= size)
    product = pnp.where(outside, pnp.zeros((), product.dtype), product)
    at = pnp.where(outside, size, at).astype(dtype)
    return BCOO((product[None, None], at[None, None, :, None]), shape=out.shape)


def _line(x: Any, dtype: Any) -> tuple[Array, Array]:
    """The elements and the positions of an array of one batch and one channel."""
    if not isinstance(x, BCOO):
        dense = pnp.asarray(x)[0, 0]
        return dense, pnp.arange(dense.shape[0], dtype=dtype)
    if not dtypes.is_integer(x.indices.dtype):
        raise TypeError("bcoo_conv_general_dilated: indices must be integers")
    x = bcoo_update_layout(x, n_batch=2, n_dense=0)
    data, places = x.data[0, 0], x.indices[0, 0, :, 0]
    return pnp.where(places < x.shape[-1], data, pnp.zeros((), data.dtype)), places
