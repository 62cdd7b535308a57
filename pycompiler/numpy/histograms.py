"""Histograms: the edges of bins, and the number of values in each bin."""

import builtins
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import dim_product
from pycompiler.core.dims.ranges import fixed
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import movement
from pycompiler.lax.operands import Array, cast, check_arrays
from pycompiler.numpy import reductions, ufuncs
from pycompiler.numpy.creation import asarray, zeros
from pycompiler.numpy.movement import reshape
from pycompiler.numpy.promotion import inexact, promoted_inexact
from pycompiler.numpy.ranges import linspace
from pycompiler.numpy.sorting import searchsorted
from pycompiler.numpy.updates import IndexUpdate

__all__ = [
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
]


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """The edges of bins: `bins` itself if it is a vector of edges, else the edges of `bins` equal bins over range.

    range: (low, high), by default the minimum and the maximum of a. Equal limits are moved apart by 1/2 each.
    """
    return _edges("histogram_bin_edges", a, bins, range)


def _edges(name: str, a: Any, bins: Any, limits: Any) -> Array:
    if isinstance(bins, str):
        raise TypeError(f"{name}: bins is a number of bins or their edges, not a rule by name, got {bins!r}")
    check_arrays(name, a)
    dtype = inexact(get_aval(a).dtype)
    if np.ndim(bins) == 1:
        return asarray(bins, dtype=dtype)
    try:
        count = bins.__index__()
    except AttributeError:
        raise TypeError(f"{name}: bins is a number of bins or a vector of edges, got {bins!r}") from None
    if limits is None:
        limits = [reductions.min(a), reductions.max(a)] if dim_product(get_aval(a).shape) else [0, 1]
    if len(limits) != 2:
        raise ValueError(f"{name}: range is (low, high), got {limits!r}")
    low, high = (cast(asarray(limits[i]), dtype) for i in (0, 1))
    single = ufuncs.equal(low, high)
    low = ufuncs.where(single, ufuncs.subtract(low, 0.5), low)
    high = ufuncs.where(single, ufuncs.add(high, 0.5), high)
    return linspace(low, high, count + 1, dtype=dtype)


def _bin_of(edges: Array, values: Array) -> Array:
    """The number of the bin of each value, from 1; 0 below the first edge, the number of bins plus 1 above the last."""
    place = searchsorted(edges, values, side="right")
    # The last bin includes its upper edge.
    last = movement.index_in_dim(edges, -1, keepdims=False)
    return ufuncs.where(ufuncs.equal(values, last), get_aval(edges).shape[0] - 1, place)


def _weighted(name: str, a: Any, weights: Any, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The values and their weights (1 each) in one dtype of floats."""
    if weights is None:
        (a,) = promoted_inexact(name, a)
        return a, movement.full(shape, 1, get_aval(a).dtype)
    check_arrays(name, a, weights)
    if get_aval(weights).shape != shape:
        raise ValueError(f"{name}: weights must have one element for each of {shape}, got {short(weights)}")
    dtype = inexact(dtypes.wider(a, weights))
    return cast(a, dtype), cast(weights, dtype)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> tuple[Array, Array]:
    """The number of values in each bin (or the sum of their weights), and the edges of the bins.

    bins, range: see histogram_bin_edges. density: divide by the widths and the sum, so that the integral is 1.

    >>> import pycompiler.numpy as pnp
    >>> pnp.histogram(pnp.array([1, 2, 2, 4]), bins=3)
    (Array([1., 2., 1.], dtype=float32), Array([1., 2., 3., 4.], dtype=float32))
    """
    check_arrays("histogram", a)
    a, weights = _weighted("histogram", a, weights, get_aval(a).shape)
    edges = _edges("histogram", a, bins, range)
    count = get_aval(edges).shape[0]
    counts = IndexUpdate(zeros(count, get_aval(weights).dtype))[_bin_of(edges, a)].add(weights)
    counts = movement.slice_in_dim(counts, 1, None)
    if density:
        counts = ufuncs.divide(ufuncs.divide(counts, _widths(edges)), reductions.sum(counts))
    return counts, edges


def _widths(edges: Array) -> Array:
    return ufuncs.subtract(movement.slice_in_dim(edges, 1, None), movement.slice_in_dim(edges, 0, -1))


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> tuple[Array, Array, Array]:
    """The number of points (x, y) in each bin, and the edges along x and y.

    bins: a number or a vector of edges for both axes, or a list of one for each axis.
    """
    x, y = promoted_inexact("histogram2d", x, y)
    if not isinstance(bins, list | tuple) and np.ndim(bins) == 1 and len(bins) > 2:
        bins = [bins, bins]
    sample = movement.concatenate([movement.expand_dims(one, (1,)) for one in (x, y)], 1)
    counts, edges = histogramdd(sample, bins, range, weights, density)
    return counts, edges[0], edges[1]


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:
    """The number of points in each bin (int32; with weights, the sum of their weights), and the edges along each
    dimension. The points are the rows of sample.

    bins: a number, or for each dimension a number or its edges. range: for each dimension None or (low, high).
    """
    check_arrays("histogramdd", sample)
    if get_aval(sample).ndim != 2:
        raise ValueError(f"histogramdd: sample has the points as its rows, got {short(sample)}")
    points, rank = get_aval(sample).shape
    rank = fixed("histogramdd", rank)
    counted = weights is None
    sample, weights = _weighted("histogramdd", sample, weights, (points,))
    if counted:
        # The number of points is an integer.
        weights = movement.full((points,), 1, dtypes.scalar_dtype(int))
    each = [bins] * rank if not isinstance(bins, list | tuple) and np.ndim(bins) == 0 else list(bins)
    if len(each) != rank:
        raise ValueError(f"histogramdd: bins has one entry for each of the {rank} dimensions, got {len(each)}")
    if range is not None and len(range) != rank:
        raise ValueError(f"histogramdd: range has one entry for each of the {rank} dimensions, got {range!r}")
    columns = [movement.index_in_dim(sample, i, 1, keepdims=False) for i in builtins.range(rank)]
    limits = [None] * rank if range is None else range
    edges = [
        _edges("histogramdd", column, one, limit) for column, one, limit in zip(columns, each, limits, strict=True)
    ]
    # One more bin below and one above in each dimension, which are removed at the end.
    sizes = tuple(get_aval(edge).shape[0] + 1 for edge in edges)
    place: Array = 0
    for edge, column, size in zip(edges, columns, sizes, strict=True):
        place = ufuncs.add(ufuncs.multiply(place, size), _bin_of(edge, column))
    counts = IndexUpdate(zeros(prod(sizes), get_aval(weights).dtype))[place].add(weights)
    counts = movement.slice(reshape(counts, sizes), (1,) * rank, tuple(size - 1 for size in sizes))
    if density:
        counts = cast(counts, get_aval(sample).dtype)
        counts = ufuncs.divide(counts, reductions.sum(counts))
        for axis, edge in enumerate(edges):
            widths = _widths(edge)
            others = [i for i in builtins.range(rank) if i != axis]
            counts = ufuncs.divide(counts, movement.expand_dims(widths, others))
    return counts, edges
