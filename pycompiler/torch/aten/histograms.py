"""Histograms: counts, or sums of weights, of elements between edges."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.torch.table import Family, Out, cast

ops = Family()


@ops("histc")
def _histc(out: Out, x: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    x = cast(x.reshape(-1), out.compute)
    low, high = _bounds(out, x, min, max)
    inside = (x >= low) & (x <= high)
    place = pnp.clip(lax.floor((x - low) * (bins / (high - low))).astype(np.int64), 0, bins - 1)
    counts = pnp.zeros((bins,), out.compute).at[pnp.where(inside, place, bins)].add(1, mode="drop")
    return cast(counts, out.dtype)


def _bounds(out: Out, x: Any, low: Any, high: Any) -> tuple[Any, Any]:
    """The given bounds; if they are equal, the least and the greatest element."""
    is_open, low, high = low == high, cast(low, x.dtype), cast(high, x.dtype)
    if is_open:
        if x.shape[0] != 0:
            low, high = pnp.min(x), pnp.max(x)
            _require_finite(out, low, high)
        low, high = (pnp.where(low == high, bound + more, bound) for bound, more in ((low, -1), (high, 1)))
    return low, high


def _require_finite(out: Out, low: Any, high: Any) -> None:
    out.require(pnp.isfinite(low) & pnp.isfinite(high), "the range of the elements is not finite")


def _edges(out: Out, x: Any, counts: Sequence[int], bounds: Sequence[float] | None) -> list[Any]:
    """Edges of equal bins for each column of x."""
    made = []
    for number, count in enumerate(counts):
        if bounds is not None:
            low, high = (cast(bound, x.dtype) for bound in bounds[2 * number : 2 * number + 2])
        elif x.shape[0] == 0:
            low, high = cast(0, x.dtype), cast(1, x.dtype)
        else:
            low, high = pnp.min(x[:, number]), pnp.max(x[:, number])
            _require_finite(out, low, high)
        low, high = (pnp.where(low == high, bound + more, bound) for bound, more in ((low, -0.5), (high, 0.5)))
        made.append(pnp.linspace(low, high, count + 1, dtype=x.dtype))
    return made


def _counted(out: Out, x: Any, edges: Sequence[Any], weight: Any, density: bool) -> Any:
    """The histogram of the rows of x. The last bin of each axis has its right edge."""
    shape = tuple([one.shape[0] - 1 for one in edges])
    inside, place = pnp.ones(x.shape[:1], bool), pnp.zeros(x.shape[:1], np.int64)
    for number, edge in enumerate(edges):
        column = x[:, number]
        found = pnp.searchsorted(edge, column, side="right").astype(np.int64) - 1
        inside = inside & (column >= edge[0]) & (column <= edge[-1])
        place = place * shape[number] + pnp.clip(found, 0, shape[number] - 1)
    weight = pnp.ones(x.shape[:1], out.compute) if weight is None else cast(weight.reshape(-1), out.compute)
    counts = pnp.zeros((math.prod(shape),), out.compute)
    counts = counts.at[pnp.where(inside, place, counts.shape[0])].add(weight, mode="drop").reshape(shape)
    if density:
        volumes = [
            pnp.diff(edge).reshape([-1 if axis == number else 1 for axis in range(len(edges))])
            for number, edge in enumerate(edges)
        ]
        counts = counts / (pnp.sum(counts) * functools.reduce(operator.mul, volumes))
    return cast(counts, out.dtype)


def _rows(x: Any) -> Any:
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@ops("histogram.bin_ct")
def _histogram(
    out: Out, x: Any, bins: int = 100, *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    x = x.reshape(-1, 1)
    edges = _edges(out, x, [bins], range)
    return _counted(out, x, edges, weight, density), edges[0]


@ops("histogram.bins_tensor")
def _histogram_of_edges(out: Out, x: Any, bins: Any, *, weight: Any = None, density: bool = False) -> Any:
    return _counted(out, x.reshape(-1, 1), [bins], weight, density), bins


@ops("_histogramdd_bin_edges")
def _bin_edges(
    out: Out, x: Any, bins: Sequence[int], *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    return tuple(_edges(out, _rows(x), bins, range))


@ops("_histogramdd_from_bin_cts")
def _from_bin_counts(
    out: Out, x: Any, bins: Sequence[int], *, range: Any = None, weight: Any = None, density: bool = False
) -> Any:
    x = _rows(x)
    return _counted(out, x, _edges(out, x, bins, range), weight, density)


@ops("_histogramdd_from_bin_tensors")
def _from_bin_tensors(out: Out, x: Any, bins: Sequence[Any], *, weight: Any = None, density: bool = False) -> Any:
    return _counted(out, _rows(x), bins, weight, density)
