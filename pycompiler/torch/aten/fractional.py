"""Pooling over windows at fractional distances, from a random number for each channel and axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.aten.contraction import several
from pycompiler.torch.aten.pooling import spread
from pycompiler.torch.table import Family, Out, cast

ops = Family()


def _starts(sample: Any, size: int, count: int, kernel: int) -> Any:
    """The first places of `count` windows, for each sample, along a new last axis. The last window ends at the end of
    the axis."""
    last = pnp.full((*sample.shape, 1), size - kernel, np.int64)
    if count == 1:
        return last
    distance = cast((size - kernel) / (count - 1), sample.dtype)
    numbers = cast(lax.iota(np.int64, count - 1), sample.dtype)
    begin = cast(sample * distance, np.dtype(np.int64))[..., None]
    return pnp.concatenate([cast((sample[..., None] + numbers) * distance, begin.dtype) - begin, last], axis=-1)


def _pool(count: int) -> Any:
    def pool(out: Out, x: Any, kernel: Any, sizes: Any, samples: Any) -> Any:
        kernel, sizes = several(kernel, count), several(sizes, count)
        lead, inner = x.shape[:-count], x.shape[-count:]
        samples = samples.reshape(*lead, count)
        # Torch has the samples of two axes in the order of width and height.
        order = [1, 0] if count == 2 else [0, 1, 2]
        starts = [
            _starts(samples[..., order[axis]], inner[axis], sizes[axis], kernel[axis]).reshape(
                *lead, *[sizes[axis] if other == axis else 1 for other in range(count)]
            )
            for axis in range(count)
        ]
        flat = x.reshape(*lead, math.prod(inner))
        best: Any = None
        place_of: Any = None
        for place in np.ndindex(*kernel):
            where: Any = 0
            for axis in range(count):
                where = where * inner[axis] + (starts[axis] + place[axis])
            where = pnp.broadcast_to(where, (*lead, *sizes))
            part = pnp.take_along_axis(flat, where.reshape(*lead, math.prod(sizes)), axis=-1).reshape(where.shape)
            if best is None:
                best, place_of = part, where
                continue
            newer = (part > best) | (part != part)
            best, place_of = pnp.where(newer, part, best), pnp.where(newer, where, place_of)
        return best, place_of

    return pool


def _pool_backward(count: int) -> Any:
    def pool(out: Out, given: Any, x: Any, kernel: Any, sizes: Any, indices: Any) -> Any:
        return spread(out, given, x, indices, count)

    return pool


for _count in (2, 3):
    ops.add(f"fractional_max_pool{_count}d", _pool(_count))
    ops.add(f"fractional_max_pool{_count}d_backward", _pool_backward(_count))
