"""`ds`: slices of a fixed size whose start may be traced, as an item of an index. Part of numpy's indices.

`cut` makes a window of such an index. `numpy.indexing` reads the window, and `numpy.updates` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pycompiler.core.dims.dims import Dim
from pycompiler.core.errors import ArgumentError
from pycompiler.core.tracing.arguments import array_of, as_index
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree_keys import register_pytree_node
from pycompiler.lax import elementwise, movement
from pycompiler.lax.operands import Array, cast


@dataclass(frozen=True)
class Slice:
    """A slice of `size` elements from `start`, which may be a traced integer. `ds` makes it."""

    start: Any
    size: Any
    stride: int = 1

    def __post_init__(self) -> None:
        if self.stride < 0:
            raise ValueError(f"ds: the stride must not be negative, got {self.stride}")
        if self.stride == 0 and self.size != 1:
            raise ValueError(
                f"ds: the stride is 0 for {self.size} elements, expected from 1. What to do: read ds(start, 1), and "
                "repeat it by numpy.broadcast_to"
            )


def _parts(x: Slice) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    is_static = isinstance(x.start, (int, Dim))
    return ((None if is_static else x.start),), (x.start if is_static else None, x.size, x.stride)


register_pytree_node(
    Slice,
    _parts,
    lambda data, children: Slice(data[0] if children[0] is None else children[0], data[1], data[2]),
)


@boundary
def ds(start: Any, size: Any = None, stride: int | None = None) -> slice | Slice:
    """A slice for an index, of a fixed size, whose start may be traced: `x[ds(i, 2)]` is `x[i : i + 2]`.

    `ds(n)` is `:n`, and `ds(None)` is `:`. If a window does not fit, a read, and a write to a reference, move it into
    the array, as `lax.dynamic_slice` does. `x.at[...]` drops such a write. Raises TypeError for a size that is no known
    integer.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.jit(lambda x, i: x[pc.ds(i, 2)])(pnp.arange(10), 4)
    Array([4, 5], dtype=int32)
    """
    if start is None:
        return slice(None)
    step = 1 if stride is None else as_index("ds", "stride", stride)
    if not isinstance(step, int):
        raise TypeError(f"ds: stride must be an integer, got {stride!r} of type {type(stride).__name__}")
    if size is None:
        start, size = 0, start
    count = size if isinstance(size, Dim) else as_index("ds", "size", size)
    if not isinstance(count, (int, Dim)):
        raise TypeError(f"ds: size must be an integer, got {size!r} of type {type(size).__name__}")
    start = array_of(start)
    if not isinstance(start, (int, Dim)):
        aval = get_aval(start)
        if aval.shape or not dtypes.is_integer(aval.dtype):
            raise TypeError(f"ds: start must be an integer, got {short(aval)}")
        if isinstance(start, (np.generic, np.ndarray)):
            start = int(start)
    return Slice(start, count, step)


def has_slices(index: Any) -> bool:
    """Whether an index has an item of `ds`."""
    if type(index) is tuple:
        return any(type(item) is Slice for item in index)
    return type(index) is Slice


def with_known_starts(index: Any) -> Any:
    """An index with slices of Python in place of items of `ds`. It selects as many elements."""
    if type(index) is tuple:
        return tuple([with_known_starts(item) for item in index])
    return slice(0, _extent(index), index.stride or 1) if type(index) is Slice else index


@dataclass(frozen=True)
class Window:
    """The part of an array that the slices of an index cover, and the rest of the index for this part."""

    starts: list[Array]
    part: Array
    index: tuple[Any, ...]
    # Whether the whole part is at the place of the index. None: it certainly is.
    fits: Array | None
    # The wanted start of the part minus its start, along each dimension where they may differ.
    shifts: dict[int, Array]


def cut(name: str, x: Array, index: Any) -> Window:
    """The window of an index with items of `ds`."""
    items = index if isinstance(index, tuple) else (index,)
    shape = get_aval(x).shape
    found: dict[int, Slice] = {}
    rest: list[Any] = []
    dim = 0
    used = sum(map(_taken, items))
    if used > len(shape):
        raise IndexError(f"{name}: too many indices: {used} for {short(get_aval(x))}")
    for item in items:
        if type(item) is Slice:
            found[dim] = item
            rest.append(slice(None, None, item.stride or 1))
        else:
            rest.append(item)
        dim += len(shape) - used if item is Ellipsis else _taken(item)
    starts: list[Array] = []
    sizes: list[Any] = list(shape)
    fits: Array | None = None
    shifts: dict[int, Array] = {}
    for place, size in enumerate(shape):
        item = found.get(place)
        if item is None:
            starts.append(np.int32(0))
            continue
        sizes[place] = _extent(item)
        if isinstance(size, int) and isinstance(sizes[place], int) and sizes[place] > size:
            raise ArgumentError(f"{name}: {item} covers {sizes[place]} of the {size} elements along axis {place}")
        start, inside, shift = _start(item.start, size, sizes[place])
        starts.append(start)
        if shift is not None:
            shifts[place] = shift
        fits = inside if fits is None else fits if inside is None else elementwise.bitwise_and(fits, inside)
    return Window(starts, movement.dynamic_slice(x, starts, sizes), tuple(rest), fits, shifts)


def _extent(item: Slice) -> Any:
    return item.size if item.stride == 1 else 0 if item.size == 0 else (item.size - 1) * (item.stride or 1) + 1


def _taken(item: Any) -> int:
    """The number of dimensions of x that an item of an index takes."""
    if item is None or item is Ellipsis:
        return 0
    dtype = getattr(item, "dtype", None)
    return len(item.shape) if dtype == dtypes.bool_ else 0 if type(item) is bool else 1


def _start(start: Any, size: Any, extent: Any) -> tuple[Array, Array | None, Array | None]:
    """The start of a window after a move into its dimension, whether it did not move, and the distance of the move."""
    last = size - extent
    if isinstance(start, int) and isinstance(last, int):
        wanted = start + size if start < 0 else start
        moved = min(max(wanted, 0), last)
        if moved == wanted:
            return np.int32(moved), None, None
        return np.int32(moved), np.bool_(False), np.int32(wanted - moved)
    dtype = dtypes.int32 if not isinstance(start, Dim) and get_aval(start).dtype != dtypes.int64 else dtypes.int64
    value, most = cast(start, dtype), cast(last, dtype)
    zero = cast(0, dtype)
    wanted = elementwise.select(elementwise.lt(value, zero), elementwise.add(value, cast(size, dtype)), value)
    moved = elementwise.min(elementwise.max(wanted, zero), most)
    return moved, elementwise.eq(moved, wanted), elementwise.sub(wanted, moved)


def put_back(x: Array, window: Window, part: Array, always: bool) -> Array:
    """x with another part in the place of a window. A window that was moved is not written, unless `always`."""
    if window.fits is not None and not always:
        part = _chosen(window.fits, part, window.part)
    return movement.dynamic_update_slice(x, part, window.starts)


def filled(window: Window, part: Array, fill: Any) -> Array:
    """The part. If the window was moved, the fill value in all places of the part."""
    if window.fits is None:
        return part
    aval = get_aval(part)
    return _chosen(window.fits, part, movement.full(aval.shape, cast(fill, aval.dtype)))


def _chosen(fits: Array, a: Array, b: Array) -> Array:
    return elementwise.select(movement.broadcast(fits, get_aval(a).shape), a, b)
