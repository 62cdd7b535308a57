"""Attention with a function that changes scores and one that hides them (`flex_attention`). Both are graphs of a score
and the numbers of its batch, head, query and key. Torch has no gradient of it on CPUs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch._higher_order_ops.flex_attention  # noqa: F401 - makes the operation known

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.attention import attend_by
from pycompiler.torch.aten.control import Inner
from pycompiler.torch.dtypes import opmath
from pycompiler.torch.table import Family, Out, cast
from pycompiler.transforms import vmap

ops = Family()


def _of_each(inner: Inner, first: tuple[Any, ...], numbers: Sequence[Any], more: Sequence[Any]) -> Any:
    """A graph's result for each of the scores, if there are `first`, and for all numbers of the four axes."""

    def function(*given: Any) -> Any:
        return inner(*given, *more)[0]

    for axis in reversed(range(4)):
        axes = [0 if other == axis else None for other in range(4)]
        function = vmap(function, in_axes=(*(0,) * len(first), *axes))
    return function(*first, *numbers)


@ops("higher_order::flex_attention")
def _flex_attention(
    out: Out,
    query: Any,
    key: Any,
    value: Any,
    score: Inner,
    mask: Sequence[Any],
    scale: float,
    options: Any,
    score_more: Sequence[Any] = (),
    mask_more: Sequence[Any] = (),
) -> Any:
    compute, hides = opmath(query.dtype), mask[-1]
    batch, heads = query.shape[:2]
    query = cast(query, compute)
    # Several heads of queries share one of keys, and several batches one.
    key, value = (
        pnp.broadcast_to(pnp.repeat(cast(x, compute), heads // x.shape[1], axis=1), (batch, heads, *x.shape[2:]))
        for x in (key, value)
    )

    def scores(start: Any, end: Any) -> Any:
        part = lax.slice_in_dim(key, start, end, 1, 2)
        made = pnp.matmul(query, pnp.swapaxes(part, -1, -2)) * scale
        numbers = [lax.iota("int32", size) for size in made.shape]
        numbers[3] = numbers[3] + start
        changed = cast(_of_each(score, (made,), numbers, score_more), compute)
        return pnp.where(_of_each(hides, (), numbers, mask_more), changed, -math.inf)

    result, spread, largest = attend_by(scores, value)
    # Torch's logarithms have the base 2.
    return result, spread / math.log(2), largest / math.log(2)
