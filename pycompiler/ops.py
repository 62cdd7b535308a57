"""Reductions of segments, the sets of rows with one number, as in `jax.ops`: one scatter into the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.tracing.boundary import expose
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.explicit import decided
from pycompiler.lax.indexing import Mode
from pycompiler.lax.movement import full
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import Array, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.numpy import reductions
from pycompiler.numpy.creation import asarray
from pycompiler.numpy.ranges import arange
from pycompiler.numpy.updates import IndexUpdate

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]


@decided
def segment_sum(
    data: Array,
    segment_ids: Array,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Mode = None,
    out_sharding: Any = None,
) -> Array:
    """The sums of the segments of `data`: element i of the result is the sum of the rows whose number is i.

    Args:
      data: an array of rows. A number, or one row, is repeated to the length of `segment_ids`.
      segment_ids: integers with one axis, the number of the segment of each row.
      num_segments: the number of segments; by default the largest number plus one. In `jit` it must be given, because
        it is the size of the result.
      indices_are_sorted, unique_indices: promises about the numbers.
      bucket_size: sum the rows in groups of this size first, which loses less precision in long segments.
      mode: the handling of numbers out of range; by default their rows are dropped. Negative numbers are out of range.
      out_sharding: the sharding of the result.

    Returns an array of shape `(num_segments, *rest of the shape of data)` in the dtype of `data`. An empty segment has
    the sum 0. Raises ValueError for a negative `num_segments`, TypeError for numbers that are no integers.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.ops.segment_sum(pnp.arange(5), pnp.array([0, 0, 1, 1, 2]))
    Array([1, 5, 4], dtype=int32)
    """
    hints = (num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding)
    return _reduced("segment_sum", "add", reductions.sum, data, segment_ids, *hints)


@decided
def segment_prod(
    data: Array,
    segment_ids: Array,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Mode = None,
    out_sharding: Any = None,
) -> Array:
    """The products of the segments of `data`. An empty segment has the product 1. See `segment_sum` for the arguments.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.ops.segment_prod(pnp.arange(6), pnp.array([0, 0, 1, 1, 2, 2]))
    Array([ 0,  6, 20], dtype=int32)
    """
    hints = (num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding)
    return _reduced("segment_prod", "multiply", reductions.prod, data, segment_ids, *hints)


@decided
def segment_max(
    data: Array,
    segment_ids: Array,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Mode = None,
    out_sharding: Any = None,
) -> Array:
    """The largest elements of the segments of `data`. See `segment_sum` for the arguments.

    An empty segment has -inf, the least integer, or False.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.ops.segment_max(pnp.arange(6), pnp.array([0, 0, 1, 1, 2, 2]))
    Array([1, 3, 5], dtype=int32)
    """
    hints = (num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding)
    return _reduced("segment_max", "max", reductions.max, data, segment_ids, *hints)


@decided
def segment_min(
    data: Array,
    segment_ids: Array,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Mode = None,
    out_sharding: Any = None,
) -> Array:
    """The smallest elements of the segments of `data`. See `segment_sum` for the arguments.

    An empty segment has inf, the greatest integer, or True.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.ops.segment_min(pnp.arange(6), pnp.array([0, 0, 1, 1, 2, 2]))
    Array([0, 2, 4], dtype=int32)
    """
    hints = (num_segments, indices_are_sorted, unique_indices, bucket_size, mode, out_sharding)
    return _reduced("segment_min", "min", reductions.min, data, segment_ids, *hints)


def _identity(update: str, dtype: Any) -> Any:
    """The value of an empty segment."""
    if update in ("add", "multiply"):
        return int(update == "multiply")
    least = update == "max"
    if dtype == dtypes.bool_:
        return not least
    if dtypes.is_integer(dtype):
        limits = dtypes.iinfo(dtype)
        return limits.min if least else limits.max
    return -np.inf if least else np.inf


def _count(name: str, num_segments: Any, segment_ids: Any) -> Any:
    if num_segments is None:
        # The largest number of a traced array is not known: the error says so.
        num_segments = int(np.asarray(segment_ids).max(initial=-1)) + 1
    elif not isinstance(num_segments, Dim):
        num_segments = as_index(name, "num_segments", num_segments)
        if not isinstance(num_segments, int):
            raise TypeError(f"{name}: num_segments must be an integer, got {num_segments!r}")
    if not isinstance(num_segments, Dim) and num_segments < 0:
        raise ValueError(f"{name}: num_segments must be 0 or more, got {num_segments}")
    return num_segments


def _reduced(
    name: str,
    update: str,
    reduce: Callable[..., Array],
    data: Array,
    segment_ids: Array,
    num_segments: Any,
    indices_are_sorted: bool,
    unique_indices: bool,
    bucket_size: int | None,
    mode: Mode,
    out_sharding: Any,
) -> Array:
    check_arrays(name, data, segment_ids)
    numbers = get_aval(segment_ids)
    if not dtypes.is_integer(numbers.dtype):
        raise TypeError(f"{name}: segment_ids must be integers, got {short(numbers)}")
    data, segment_ids = asarray(data), asarray(segment_ids)
    rows = get_aval(data)
    if numbers.ndim != 1 or (rows.shape and rows.shape[0] not in (1, numbers.shape[0])):
        raise ArgumentError(
            f"{name}: segment_ids must have one axis, the first one of data; got {short(rows)} and {short(numbers)}"
        )
    count = _count(name, num_segments, segment_ids)
    rest = rows.shape[1:]
    start = _identity(update, rows.dtype)
    hints = {"indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}
    how: dict[str, Any] = {"mode": "drop" if mode is None else mode, "wrap_negative_indices": False, **hints}
    if bucket_size is None:
        written = getattr(IndexUpdate(full((count, *rest), start, rows.dtype))[segment_ids], update)(data, **how)
        return divided(name, written, out_sharding)
    size = as_index(name, "bucket_size", bucket_size)
    if not isinstance(size, int) or size < 1:
        raise ValueError(f"{name}: bucket_size must be a positive integer, got {bucket_size!r}")
    buckets = full((-(-numbers.shape[0] // size), count, *rest), start, rows.dtype)
    written = getattr(IndexUpdate(buckets)[arange(numbers.shape[0]) // size, segment_ids], update)(data, **how)
    return divided(name, reduce(written, axis=0).astype(rows.dtype), out_sharding)


expose(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
