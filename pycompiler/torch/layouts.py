"""Orders of axes in memory. A tensor that is dense in another order than row-major, such as channels_last, passes
without a copy: the program transposes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

__all__ = ["inverse", "order_of", "strides_of"]


def order_of(value: Any) -> tuple[int, ...] | None:
    """The axes from the outermost to the innermost in memory of a tensor whose elements lie densely. None if this is
    row-major order, and for others: symbolic strides, and tensors with gaps or repetitions, which are copied."""
    if value.layout != torch.strided:
        return None
    shape, strides = value.shape, value.stride()
    if not all(type(size) is int for size in (*shape, *strides)):
        return None
    order = sorted(range(len(shape)), key=lambda axis: (-strides[axis], axis))
    expected = 1
    for axis in reversed(order):
        if shape[axis] != 1 and strides[axis] != expected:
            return None
        expected *= shape[axis]
    moved = [axis for axis in order if shape[axis] != 1]
    return None if moved == sorted(moved) else tuple(order)


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes a permutation."""
    return tuple(sorted(range(len(order)), key=lambda axis: order[axis]))


def strides_of(shape: Sequence[int], order: Sequence[int] | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape and the strides of a tensor whose memory has `shape`, which are its axes in `order`."""
    sizes, strides = [0] * len(shape), [0] * len(shape)
    step = 1
    for place in reversed(range(len(shape))):
        axis = place if order is None else order[place]
        sizes[axis], strides[axis] = shape[place], step
        step *= max(shape[place], 1)
    return tuple(sizes), tuple(strides)
