"""Indices and grids of known sizes: of triangles and diagonals, of flat arrays; `mgrid`, `r_` and related objects."""

import functools
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import dim_product, surely_below
from pycompiler.core.dims.ranges import bounded_diagonal, fixed, smaller
from pycompiler.core.errors import ConcretizationTypeError
from pycompiler.core.tracing.trace import Tracer, no_value
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import movement
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import Array, broadcast_to, canonical_shape, cast, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.numpy import arithmetic, ufuncs
from pycompiler.numpy.creation import array, asarray, ones, zeros
from pycompiler.numpy.movement import concatenate, meshgrid, ravel, stack, tile, transpose
from pycompiler.numpy.promotion import broadcast, check_promotion, promoted, requested
from pycompiler.numpy.ranges import arange, linspace
from pycompiler.numpy.updates import IndexUpdate

__all__ = [
    "bincount",
    "c_",
    "choose",
    "diag_indices",
    "diag_indices_from",
    "fill_diagonal",
    "index_exp",
    "indices",
    "ix_",
    "mask_indices",
    "mgrid",
    "ogrid",
    "r_",
    "ravel_multi_index",
    "s_",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]


def _known(name: str, x: Any, what: str) -> Any:
    """The elements as a NumPy array, because the size or the check of a result depends on them."""
    if isinstance(x, Tracer):
        no_value(ConcretizationTypeError, x, f"{name}: the value, for {what},", "give a value known while tracing")
    return np.asarray(x)


def _indices(places: Sequence[Any]) -> tuple[Array, ...]:
    return tuple(asarray(place.astype(dtypes.scalar_dtype(int))) for place in places)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The rows and columns of the elements of an n by m (or n) matrix on and below its k-th diagonal."""
    (size,) = canonical_shape("tril_indices", n)
    count, width = fixed("tril_indices", size), size if m is None else m
    rows, columns = _indices(np.tril_indices(count, bounded_diagonal(k, count, width), width))
    return rows, columns


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The rows and columns of the elements of an n by m (or n) matrix on and above its k-th diagonal."""
    (size,) = canonical_shape("triu_indices", n)
    count, width = fixed("triu_indices", size), size if m is None else m
    rows, columns = _indices(np.triu_indices(count, bounded_diagonal(k, count, width), width))
    return rows, columns


def _matrix_shape(name: str, arr: Any) -> tuple[int, int]:
    shape = arr.shape if hasattr(arr, "shape") else get_aval(arr).shape
    if len(shape) != 2:
        raise ValueError(f"{name}: takes a matrix, got one of shape {shape}")
    return shape


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """`tril_indices` for a matrix of this shape."""
    rows, columns = _matrix_shape("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, Array]:
    """`triu_indices` for a matrix of this shape."""
    rows, columns = _matrix_shape("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The indices of the diagonal of an array of `ndim` dimensions of size n."""
    if ndim < 0:
        raise ValueError(f"diag_indices: ndim is at least 0, got {ndim}")
    return (movement.iota(dtypes.scalar_dtype(int), *canonical_shape("diag_indices", n)),) * ndim


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """`diag_indices` for an array of this shape."""
    check_arrays("diag_indices_from", arr)
    shape = get_aval(arr).shape
    if len(shape) < 2 or len(set(shape)) != 1:
        raise ValueError(f"diag_indices_from: takes arrays of two or more equal dimensions, got {short(arr)}")
    return diag_indices(shape[0], len(shape))


def mask_indices(n: int, mask_func: Callable[[Any, int], Any], k: int = 0, *, size: int | None = None) -> Any:
    """The rows and columns where mask_func(ones((n, n)), k) is not 0, for a function such as `triu`; `size` of them, or
    all."""
    mask = mask_func(ones((n, n)), k)
    if isinstance(mask, Tracer):
        mask = np.asarray(mask_func(np.ones((n, n)), k))
    places = np.nonzero(np.asarray(mask))
    if size is not None:
        places = [np.concatenate([place, np.zeros(max(size - place.size, 0), place.dtype)])[:size] for place in places]
    rows, columns = _indices(places)
    return rows, columns


def indices(dimensions: Sequence[int], dtype: Any = None, sparse: bool = False) -> Any:
    """The index of each element of an array along each of its dimensions.

    The result is one array, or, with `sparse`, one for each dimension, of size 1 in the others.

    >>> import pycompiler.numpy as pnp
    >>> pnp.indices((2, 2))[0]
    Array([[0, 0],
           [1, 1]], dtype=int32)
    """
    wanted = requested("indices", dtype) or dtypes.scalar_dtype(int)
    sizes = canonical_shape("indices", dimensions)
    rank = len(sizes)
    if sparse:
        shapes = [tuple(size if i == axis else 1 for i in range(rank)) for axis, size in enumerate(sizes)]
        return tuple(movement.broadcasted_iota(wanted, shape, axis) for axis, shape in enumerate(shapes))
    grids = [movement.broadcasted_iota(wanted, sizes, axis) for axis in range(rank)]
    return stack(grids, 0) if grids else movement.full((0,), 0, wanted)


def ix_(*args: Any) -> tuple[Array, ...]:
    """Vectors of indices, each along a separate dimension: x[ix_(a, b)] has the rows a and the columns b.

    A vector of bools means the indices where it holds, which must be known.
    """
    check_arrays("ix_", *args)
    results: list[Array] = []
    for axis, one in enumerate(args):
        if get_aval(one).ndim != 1:
            raise ValueError(f"ix_: takes vectors, got {short(one)}")
        if get_aval(one).dtype == dtypes.bool_:
            (one,) = _indices(np.nonzero(_known("ix_", one, "the number of indices")))
        if dim_product(get_aval(one).shape) == 0:
            one = cast(one, dtypes.scalar_dtype(int))
        results.append(movement.expand_dims(asarray(one), [i for i in range(len(args)) if i != axis]))
    return tuple(results)


def unravel_index(indices: Any, shape: Any) -> tuple[Array, ...]:
    """An index for each dimension, in the dtype of the places in the flat array. Places outside of the array are
    clamped."""
    check_arrays("unravel_index", indices)
    if not dtypes.is_integer(get_aval(indices).dtype):
        raise TypeError(f"unravel_index: takes integers, got {short(indices)}")
    sizes = canonical_shape("unravel_index", shape)
    rest = asarray(indices)
    kind, weak = get_aval(rest).dtype, get_aval(rest).weak_type
    rest = cast(rest, dtypes.int32) if kind.itemsize < 4 else rest
    found: list[Array] = []
    for size in reversed(sizes):
        rest, place = arithmetic.divmod(rest, size)
        found.append(place)
    above, below = ufuncs.greater(rest, 0), False if dtypes.is_unsigned(kind) else ufuncs.less(rest, -1)
    return tuple(
        cast(ufuncs.where(above, size - 1, ufuncs.where(below, 0, place)), kind, weak)
        for size, place in zip(sizes, reversed(found), strict=True)
    )


def ravel_multi_index(
    multi_index: Sequence[Any], dims: Sequence[int], mode: str = "raise", order: str = "C", *, dtype: Any = None
) -> Array:
    """Places in the flat array, from an index for each dimension.

    mode: 'raise' (outside jit: the indices must be known), 'clip', 'wrap' or 'ignore'. order: 'C' (the last dimension
    varies fastest) or 'F' (the first).
    """
    if mode not in ("raise", "clip", "wrap", "ignore"):
        raise ValueError(f"ravel_multi_index: mode is 'raise', 'clip', 'wrap' or 'ignore', got {mode!r}")
    if order not in ("C", "F"):
        raise ValueError(f"ravel_multi_index: order is 'C' or 'F', got {order!r}")
    sizes = canonical_shape("ravel_multi_index", dims)
    parts = list(multi_index)
    if len(parts) != len(sizes):
        raise ValueError(f"ravel_multi_index: takes an index for each of {sizes}, got {len(parts)}")
    check_arrays("ravel_multi_index", *parts)
    for one in parts:
        if not dtypes.is_integer(get_aval(one).dtype):
            raise TypeError(f"ravel_multi_index: indices are integers, got {short(one)}")
    wanted = requested("ravel_multi_index", dtype) or dtypes.result_type(int, *parts)[0]
    if not dtypes.is_integer(wanted) or surely_below(np.iinfo(wanted).max, prod(sizes) - 1):
        raise ValueError(f"ravel_multi_index: {wanted.name} does not hold the places of {sizes}; give another dtype=")
    result: Array = 0
    step = 1
    places = list(zip(parts, sizes, strict=True))
    for one, size in places if order == "F" else reversed(places):
        if mode == "raise":
            known = _known("ravel_multi_index", one, "whether an index is in range (pass mode='clip' or 'wrap')")
            if ((known < 0) | (known >= size)).any():
                raise ValueError(f"ravel_multi_index: an index is not in 0..{size - 1}")
        elif mode == "clip":
            one = ufuncs.clip(one, 0, size - 1)
        elif mode == "wrap":
            one = arithmetic.remainder(one, size)
        result = ufuncs.add(result, ufuncs.multiply(cast(asarray(one), wanted), step))
        step *= size
    return asarray(result, dtype=wanted)


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = True) -> Array:
    """a with a value, or the elements of val in turn, on its diagonal. inplace must be False: arrays never change."""
    if inplace:
        raise TypeError("fill_diagonal: arrays never change; with inplace=False the changed array is the result")
    if wrap:
        raise TypeError("fill_diagonal: the diagonal of a tall matrix is not continued, wrap=True is not supported")
    check_arrays("fill_diagonal", a, val)
    check_promotion("fill_diagonal", a, val)
    shape = get_aval(a).shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) != 1):
        raise ValueError(f"fill_diagonal: takes matrices, or arrays of equal dimensions, got {short(a)}")
    count: Any = functools.reduce(smaller, shape)
    if get_aval(val).ndim:
        val = ravel(val)
        times = -(-count // max(dim_product(get_aval(val).shape), 1))
        val = movement.slice_in_dim(tile(val, times), 0, count)
    return IndexUpdate(a)[diag_indices(count, len(shape))].set(val)


@decided
def bincount(
    x: Any, weights: Any = None, minlength: int = 0, *, length: int | None = None, out_sharding: Any = None
) -> Array:
    """The count of each of 0, 1, ... among the integers x, or the sum of their weights.

    length: the number of counts. Without it, the counts go up to the greatest number (outside jit), and there are at
    least minlength counts. Negative numbers count as 0; numbers beyond the length are ignored.

    >>> import pycompiler.numpy as pnp
    >>> pnp.bincount(pnp.array([0, 1, 1, 3]))
    Array([1, 2, 0, 1], dtype=int32)
    """
    check_arrays("bincount", x)
    aval = get_aval(x)
    if aval.ndim != 1:
        raise ValueError(f"bincount: takes a vector, got {short(x)}")
    if aval.dtype != dtypes.bool_ and not dtypes.is_integer(aval.dtype):
        raise TypeError(f"bincount: takes integers, got {short(x)}")
    if length is None:
        known = _known("bincount", x, "the number of bins (pass length=)")
        length = max(minlength, int(max(known.max(), 0)) + 1 if known.size else 0)
    if weights is None:
        dtypes.position_dtype("bincount", aval.shape[0])
        weights, kind = 1, dtypes.scalar_dtype(int)
    else:
        check_arrays("bincount", weights)
        kind = get_aval(weights).dtype
        if get_aval(weights).shape != aval.shape:
            raise ValueError(f"bincount: weights must have one element for each of {short(x)}, got {short(weights)}")
    if aval.dtype == dtypes.bool_:
        x = cast(x, dtypes.scalar_dtype(int))
    return divided(
        "bincount", IndexUpdate(zeros(length, kind))[ufuncs.maximum(x, 0)].add(cast(weights, kind)), out_sharding
    )


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """choices[a[i]][i] for each index i; all broadcast. mode: 'raise' (outside jit), 'wrap' or 'clip'.

    >>> import pycompiler.numpy as pnp
    >>> pnp.choose(pnp.array([1, 0]), [pnp.array([1, 2]), pnp.array([3, 4])])
    Array([3, 2], dtype=int32)
    """
    ufuncs.no_out("choose", out)
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"choose: mode is 'raise', 'wrap' or 'clip', got {mode!r}")
    if isinstance(choices, dict):
        raise TypeError(f"choose: choices are a sequence of arrays, got {choices!r}")
    cases = list(choices) if isinstance(choices, list | tuple) else [choices[i] for i in range(len(choices))]
    check_arrays("choose", a, *cases)
    if not dtypes.is_integer(get_aval(a).dtype):
        raise TypeError(f"choose: a is made of integers, got {short(a)}")
    count = len(cases)
    if mode == "raise":
        known = _known("choose", a, "whether a choice exists (pass mode='clip' or 'wrap')")
        if ((known < 0) | (known >= count)).any():
            raise ValueError(f"choose: a choice is not in 0..{count - 1}")
    a = arithmetic.remainder(a, count) if mode == "wrap" else ufuncs.clip(a, 0, count - 1)
    shape = get_aval(broadcast("choose", a, *cases)[0]).shape
    first, *others = promoted("choose", *cases)
    result = broadcast_to(first, shape)
    for number, case in enumerate(others, start=1):
        result = ufuncs.where(ufuncs.equal(a, number), case, result)
    return asarray(result)


def _line(name: str, key: slice) -> Array:
    """The numbers of start:stop:step. An imaginary step is the number of values from start to stop."""
    start, stop, step = (
        _known(name, one, "the size").item() if hasattr(one, "dtype") else one
        for one in (key.start, key.stop, key.step)
    )
    start, step = start or 0, 1 if step is None or step == 0 else step
    return linspace(start, stop, int(abs(step))) if isinstance(step, complex) else arange(start, stop, step)


class _Grid:
    """`mgrid` and `ogrid`: an index of slices gives grids."""

    def __init__(self, name: str, sparse: bool, summary: str) -> None:
        self.__name__, self._sparse, self.__doc__ = name, sparse, summary

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _line(self.__name__, key)
        lines = [_line(self.__name__, one) for one in key]
        kind = dtypes.wider(*lines) if lines else dtypes.scalar_dtype(int)
        grids = meshgrid(*(cast(line, kind) for line in lines), indexing="ij", sparse=self._sparse)
        if self._sparse:
            return grids
        return stack(grids, 0) if grids else arange(0)

    def __repr__(self) -> str:
        return f"<pycompiler.numpy.{self.__name__}>"


class _Joiner:
    """`r_` and `c_`: an index of arrays, numbers and slices joins them."""

    def __init__(self, name: str, axis: int, ndmin: int, place: int, summary: str) -> None:
        self.__name__, self._defaults, self.__doc__ = name, (axis, ndmin, place), summary

    def __getitem__(self, key: Any) -> Array:
        items = list(key) if isinstance(key, tuple) else [key]
        (axis, ndmin, place), matrix = self._defaults, -1
        if items and isinstance(items[0], str):
            directive = items.pop(0)
            if directive in ("r", "c"):
                matrix = 0 if directive == "r" else 1
            else:
                try:
                    given = [int(one) for one in directive.split(",")]
                except ValueError:
                    raise ValueError(
                        f"{self.__name__}: a directive is 'r', 'c' or up to three integers 'axis,ndmin,place', "
                        f"got {directive!r}"
                    ) from None
                axis, ndmin, place = (*given[:3], *(axis, ndmin, place)[len(given) :])
        parts: list[Array] = []
        for item in items:
            if isinstance(item, str):
                raise ValueError(f"{self.__name__}: a directive comes first, got {item!r} after an array")
            line = _line(self.__name__, item) if isinstance(item, slice) else asarray(item)
            rank = 0 if isinstance(item, slice) else get_aval(line).ndim
            line = array(line, ndmin=ndmin)
            if place != -1 and ndmin > rank:
                # The places of the given dimensions among the new ones.
                shift = ndmin - abs(ndmin + place + 1) % ndmin
                order = list(range(ndmin))
                line = transpose(line, order[shift:] + order[:shift])
            parts.append(line)
        joined = concatenate(parts, axis)
        return movement.expand_dims(joined, (matrix,)) if matrix != -1 and get_aval(joined).ndim == 1 else joined

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<pycompiler.numpy.{self.__name__}>"


mgrid = _Grid("mgrid", False, "mgrid[a:b, c:d:e, f:g:5j]: the coordinates of a grid, one full array for each.")
ogrid = _Grid("ogrid", True, "ogrid[a:b, c:d:e, f:g:5j]: the coordinates of a grid, each of size 1 in the other axes.")
r_ = _Joiner("r_", 0, 1, -1, "r_[a, 1, 2:9, 0:1:5j]: arrays, numbers and slices one after the other.")
c_ = _Joiner("c_", -1, 2, 0, "c_[a, b]: vectors as the columns of a matrix.")
s_ = np.s_
index_exp = np.index_exp
