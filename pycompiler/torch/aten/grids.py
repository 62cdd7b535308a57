"""Images sampled at the places of a grid, and the gradients by both."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.table import Family, Out, cast
from pycompiler.transforms import vjp

ops = Family()

_NEAREST, _BICUBIC = 1, 2
_BORDER, _REFLECTION = 1, 2


def _clipped(place: Any, size: Any) -> Any:
    """A place within the image. Outside and at the edges, torch's slope is 0, unlike that of a minimum and maximum."""
    return pnp.where(place <= 0, 0, pnp.where(place >= size - 1, size - 1, place))


def _reflected(place: Any, low: Any, span: Any) -> Any:
    """The place in a row of mirrored images, which begins at `low`."""
    if isinstance(span, int) and span == 0:
        return pnp.zeros_like(place)
    away = abs(place - low)
    flips = pnp.floor(away / span)
    rest = away - flips * span
    return pnp.where(flips % 2 == 0, rest, span - rest) + low


def _within(place: Any, size: Any, padding: int, align: bool) -> Any:
    if padding == _REFLECTION:
        place = _reflected(place, 0 if align else -0.5, size - 1 if align else size)
    return place if padding not in (_BORDER, _REFLECTION) else _clipped(place, size)


def _cubic(t: Any) -> list[Any]:
    """The weights of the four elements around a place at the distance t from the second (Keys' kernel, a = -0.75)."""
    a = -0.75

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _taps(place: Any, size: Any, interpolation: int, padding: int, align: bool) -> list[tuple[Any, Any]]:
    """The places of the elements that a result reads along one axis, whole numbers as floats, and their weights."""
    if interpolation == _BICUBIC:
        low = pnp.floor(place)
        weights = _cubic(place - low)
        return [(_within(low + (k - 1), size, padding, align), weight) for k, weight in enumerate(weights)]
    place = _within(place, size, padding, align)
    if interpolation == _NEAREST:
        return [(pnp.rint(place), 1)]
    low = pnp.floor(place)
    return [(low, low + 1 - place), (low + 1, place - low)]


def _sampled(x: Any, grid: Any, interpolation: int, padding: int, align: bool) -> Any:
    """x of [n, channels, *sizes] at the places of a grid [n, *made, axes], the last axis first; -1 and 1 are ends."""
    sizes: Sequence[Any] = x.shape[2:]
    axes: list[list[tuple[Any, Any]]] = []
    for axis, size in enumerate(sizes):
        place = grid[..., len(sizes) - 1 - axis]
        place = (place + 1) / 2 * (size - 1) if align else ((place + 1) * size - 1) / 2
        axes.append(_taps(place, size, interpolation, padding, align))
    images = pnp.moveaxis(x, 1, -1)
    numbers = lax.broadcasted_iota(np.int64, tuple(grid.shape[:-1]), 0)
    total: Any = None
    for taps in itertools.product(*axes):
        valid, weight, places = pnp.full((), True), pnp.ones((), x.dtype), []
        for (place, factor), size in zip(taps, sizes, strict=True):
            inside = (place >= 0) & (place <= size - 1)
            places.append(pnp.where(inside, place, 0).astype(np.int64))
            valid, weight = valid & inside, weight * factor
        values = images.at[(numbers, *places)].get(mode="promise_in_bounds")
        part = pnp.where(valid[..., None], values * pnp.broadcast_to(weight, valid.shape)[..., None], 0)
        total = part if total is None else total + part
    return pnp.moveaxis(total, -1, 1)


@ops("grid_sampler_2d", "grid_sampler_3d")
def _grid_sampler(out: Out, x: Any, grid: Any, interpolation: int, padding: int, align_corners: bool) -> Any:
    made = _sampled(cast(x, out.compute), cast(grid, out.compute), interpolation, padding, align_corners)
    return cast(made, out.dtype)


@ops("grid_sampler_2d_backward", "grid_sampler_3d_backward")
def _grid_sampler_backward(
    out: Out, given: Any, x: Any, grid: Any, interpolation: int, padding: int, align_corners: bool, wanted: Any
) -> Any:
    dtypes, compute = (x.dtype, grid.dtype), out.compute
    x, grid, given = (cast(part, compute) for part in (x, grid, given))
    slopes = vjp(lambda x, grid: _sampled(x, grid, interpolation, padding, align_corners), x, grid)[1](given)
    return (cast(slopes[0], dtypes[0]) if wanted[0] else None), cast(slopes[1], dtypes[1])
