"""Products by groups of rows, as mixtures of experts have them: each group is multiplied by its own matrix.

The bounds of the groups are data. A loop takes a block of rows of one group at a time, so that the cost follows the
number of rows, and not the number of groups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.table import Family, Out, cast

ops = Family()

# The least and the largest number of rows of a block.
_LEAST, _LARGEST = 8, 64
_INT32 = np.dtype(np.int32)


def _over_blocks(block: int, rows: Any, ends: Any, step: Callable[[Any, Any, Any, Any], Any], made: Any) -> Any:
    """The result of `step(made, group, row, count)` over all blocks: `count` rows from `row` on belong to the group."""
    ends = pnp.clip(cast(ends, _INT32), 0, cast(rows, _INT32))
    groups = cast(ends.shape[0], _INT32)

    def body(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        group, row, made = state
        end = ends[group]
        count = pnp.clip(end - row, 0, block)
        made = step(made, group, row, count)
        return group + cast(row + count >= end, _INT32), row + count, made

    zero = pnp.zeros((), _INT32)
    return lax.while_loop(lambda state: state[0] < groups, body, (zero, zero, made))


def _block_of(rows: Any, groups: Any) -> int:
    """The number of rows of a block: about those of a group."""
    if not isinstance(rows, int) or not isinstance(groups, int):
        return _LARGEST
    return max(_LEAST, min(_LARGEST, -(-rows // max(groups, 1))))


def _padded(x: Any, block: int) -> Any:
    """x with rows behind it, of which a last block takes some."""
    return pnp.concatenate([x, pnp.zeros((block, *x.shape[1:]), x.dtype)])


def _by_rows(x: Any, matrices: Any, ends: Any, compute: Any) -> Any:
    """Rows of [rows, k], each by the matrix of its group among [groups, k, n]. Rows behind the last group are 0."""
    rows, width = x.shape[0], matrices.shape[2]
    block = _block_of(rows, ends.shape[0])
    padded = _padded(x, block)

    def step(made: Any, group: Any, row: Any, count: Any) -> Any:
        # Rows of later groups are written again by their own blocks.
        part = cast(lax.dynamic_slice_in_dim(padded, row, block, 0), compute)
        part = pnp.matmul(part, cast(matrices[group], compute))
        return lax.dynamic_update_slice_in_dim(made, part, row, 0)

    made = pnp.zeros((padded.shape[0], width), compute)
    _, end, made = _over_blocks(block, rows, ends, step, made)
    return pnp.where(lax.broadcasted_iota(np.int32, (rows, width), 0) < end, made[:rows], 0)


def _over_rows(x: Any, y: Any, ends: Any, compute: Any) -> Any:
    """For each group of the rows of [rows, m] and [rows, n], the product of its transposed rows with the others."""
    rows = x.shape[0]
    block = _block_of(rows, ends.shape[0])
    x, y = _padded(x, block), _padded(y, block)

    def step(made: Any, group: Any, row: Any, count: Any) -> Any:
        inside = lax.iota(np.int32, block)[:, None] < count
        left, right = (
            pnp.where(inside, cast(lax.dynamic_slice_in_dim(part, row, block, 0), compute), 0) for part in (x, y)
        )
        return made.at[group].add(pnp.matmul(left.T, right))

    made = pnp.zeros((ends.shape[0], x.shape[1], y.shape[1]), compute)
    return _over_blocks(block, rows, ends, step, made)[2]


@ops("_grouped_mm")
def _grouped_mm(out: Out, x: Any, y: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None) -> Any:
    if bias is not None:
        raise NotImplementedError("a bias, which eager torch does not have either")
    if x.ndim == 3 and y.ndim == 3:
        made = pnp.matmul(cast(x, out.compute), cast(y, out.compute))
    elif x.ndim == 2 and y.ndim == 3:
        made = _by_rows(x, y, offs, out.compute)
    elif x.ndim == 3:
        made = _by_rows(y.T, pnp.swapaxes(x, 1, 2), offs, out.compute).T
    else:
        made = _over_rows(x.T, y, offs, out.compute)
    return cast(made, out.dtype)


@ops.of_package("transformers::grouped_mm_fallback")
def _grouped_mm_of_transformers(out: Out, x: Any, matrices: Any, offs: Any) -> Any:
    """The products of mixtures of experts in `transformers`, in programs that torch compiles."""
    return cast(_by_rows(x, matrices, offs, out.compute), out.dtype)


@ops.of_package("transformers::grouped_mm_fallback_backward")
def _grouped_mm_of_transformers_backward(out: Out, x: Any, matrices: Any, offs: Any, slope: Any) -> Any:
    slope_of_x = _by_rows(slope, pnp.swapaxes(matrices, 1, 2), offs, out.compute)
    return cast(slope_of_x, out.dtype), cast(_over_rows(x, slope, offs, out.compute), out.dtype)
