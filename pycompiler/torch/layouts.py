"""Orders of axes in memory. A tensor that is dense in another order than row-major, such as channels_last, passes
without a copy: the program transposes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy
import torch
from torch.utils._sympy.functions import Max

__all__ = ["are_same", "inverse", "order_of", "restrided", "strides_of"]


def order_of(value: Any) -> tuple[int, ...] | None:
    """The axes from the outermost to the innermost in memory of a tensor whose elements lie densely. None if this is
    row-major order, and for tensors with gaps or repetitions: inputs are copied, results get them by `restrided`.
    Symbolic strides are products of sizes; those of torch's trace decide between orders."""
    if value.layout != torch.strided:
        return None
    shape, strides = [list(map(_expression, numbers)) for numbers in (value.shape, value.stride())]
    lengths = [_example(stride) for stride in value.stride()]
    if not all(isinstance(length, int) for length in lengths):
        return None
    order = sorted(range(len(shape)), key=lambda axis: (-lengths[axis], axis))
    expected: Any = 1
    for axis in reversed(order):
        if shape[axis] != 1 and sympy.expand(strides[axis] - expected) != 0:
            return None
        expected = expected * shape[axis]
    moved = [axis for axis in order if shape[axis] != 1]
    return None if moved == sorted(moved) else tuple(order)


def _expression(size: Any) -> Any:
    """A size without `Max(1, size)`, which strides have for tensors without elements."""
    if not isinstance(size, torch.SymInt):
        return size
    return size.node.expr.replace(
        lambda part: isinstance(part, (Max, sympy.Max)) and 1 in part.args,
        lambda part: part.func(*[one for one in part.args if one != 1]),
    )


def _example(size: Any) -> int | None:
    """The number in torch's trace; None if it depends on data."""
    if not isinstance(size, torch.SymInt):
        return size
    return size.node.hint if size.node.has_hint() else None


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


def are_same(shape: Sequence[int], strides: Sequence[int], others: Sequence[int]) -> bool:
    """Whether two strides place the elements equally: the stride of an axis with one element does not matter."""
    return 0 in shape or all(size == 1 or a == b for size, a, b in zip(shape, strides, others, strict=True))


def restrided(x: torch.Tensor, strides: Sequence[int]) -> torch.Tensor:
    """A tensor with these strides. It is `x` if `x` has them, or if elements would share memory other than along whole
    axes; else a copy."""
    if are_same(x.shape, x.stride(), strides):
        return x
    base = x
    reach = 1
    for axis in sorted([axis for axis, size in enumerate(x.shape) if size > 1], key=lambda axis: strides[axis]):
        if strides[axis] == 0:
            base = base.narrow(axis, 0, 1)
            continue
        if strides[axis] < reach:
            return x
        reach += strides[axis] * (x.shape[axis] - 1)
    return torch.empty_strided(base.shape, strides, dtype=x.dtype).copy_(base).expand(x.shape)
