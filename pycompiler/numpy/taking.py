"""take and take_along_axis: elements at integer indices of one dimension. Imports `indexing`."""

from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import broadcast_shapes, dim_product
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.indexing import GatherScatterMode, Mode, as_positions, fill_of
from pycompiler.lax.operands import canonical_axis, cast, check_arrays
from pycompiler.numpy import arithmetic
from pycompiler.numpy.index_plan import plan
from pycompiler.numpy.indexing import read
from pycompiler.numpy.promotion import widened
from pycompiler.primitives.gather import gather

__all__ = [
    "take",
    "take_along_axis",
]


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """a at integer indices of an axis (None: of the flat array). Negative indices count from the end.

    mode 'clip' clamps indices to the range (negative ones to 0), 'wrap' takes them modulo the size. Without a mode, or
    with 'fill', indices out of range give fill_value. Its default is nan for floats, the lowest value for signed
    integers, the greatest for unsigned ones.

    >>> import pycompiler.numpy as pnp
    >>> pnp.take(pnp.array([5, 6, 7]), pnp.array([2, 0]))
    Array([7, 5], dtype=int32)
    """
    check_arrays("take", a, indices)
    refuse_out("take", out)
    check_integers("take", "indices", indices)
    if axis is None:
        a, axis = movement.reshape(a, (dim_product(get_aval(a).shape),)), 0
    axis = canonical_axis("take", axis, len(get_aval(a).shape))
    size = get_aval(a).shape[axis]
    if isinstance(size, int) and size == 0 and dim_product(get_aval(indices).shape) != 0:
        raise IndexError(f"take: no index is in range for axis {axis} of {short(get_aval(a))}")
    if mode == "raise":
        raise NotImplementedError(
            "take: mode 'raise' is not supported, since compiled code can't raise; use 'fill' or 'clip'"
        )
    if mode == "wrap":
        # A narrow dtype may not hold the size.
        needed = dtypes.position_dtype("take", size)
        kind = needed if needed == dtypes.int64 else widened(get_aval(indices).dtype)
        indices = arithmetic.remainder(cast(indices, kind), max(size, 1))
    elif mode not in (None, "fill", "clip"):
        raise ValueError(f"take: mode is 'fill', 'clip' or 'wrap', got {mode!r}")
    index = (*(slice(None),) * axis, indices)
    planned, entries = plan("take", a, index, wrap=mode in (None, "fill"))
    how = "fill" if mode in (None, "fill") else "clip"
    hints = {"unique_indices": unique_indices, "indices_are_sorted": indices_are_sorted}
    return read("take", a, planned, entries, how, fill_value, **hints)


def refuse_out(name: str, out: Any) -> None:
    """Raise NotImplementedError for an output array, because arrays don't change."""
    if out is not None:
        raise NotImplementedError(f"{name}: out is not supported, since arrays don't change; use the result")


def check_integers(name: str, what: str, x: Any) -> None:
    """Raise TypeError unless x is made of integers."""
    if not dtypes.is_integer(get_aval(x).dtype):
        raise ArgumentError(f"{name}: {what} must be integers, got {short(get_aval(x))}")


def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: Mode = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool | None = None,
) -> Array:
    """arr at separate indices for each element: out[i, j, k] = arr[i, indices[i, j, k], k] for axis 1.

    The other dimensions broadcast. Indices out of range give fill_value (as in take), with mode 'clip' the nearest
    element, with 'one_hot' 0. Negative indices count from the end, unless wrap_negative_indices is false.

    >>> import pycompiler.numpy as pnp
    >>> pnp.take_along_axis(pnp.array([[1, 2], [3, 4]]), pnp.array([[1], [0]]), axis=1)
    Array([[2],
           [3]], dtype=int32)
    """
    check_arrays("take_along_axis", arr, indices)
    check_integers("take_along_axis", "indices", indices)
    if axis is None:
        if len(get_aval(indices).shape) != 1:
            raise ValueError(f"take_along_axis: without an axis indices must have one dimension, got {_shown(indices)}")
        arr, axis = movement.reshape(arr, (dim_product(get_aval(arr).shape),)), 0
    shape, taken = get_aval(arr).shape, get_aval(indices).shape
    if len(shape) != len(taken):
        raise ValueError(f"take_along_axis: {_shown(indices)} and {_shown(arr)} differ in dimensions")
    axis = canonical_axis("take_along_axis", axis, len(shape))
    if mode == "one_hot":
        # The result of JAX's implementation: a product with one-hot rows.
        mode, fill_value = "fill", 0
    how = GatherScatterMode.from_any(mode).attribute
    try:
        others = broadcast_shapes(*((*sizes[:axis], *sizes[axis + 1 :]) for sizes in (shape, taken)))
    except ValueError:
        raise ArgumentError(
            f"take_along_axis: {_shown(indices)} and {_shown(arr)} do not broadcast beside axis {axis}"
        ) from None
    result = (*others[:axis], taken[axis], *others[axis:])
    fill = fill_of(arr, fill_value) if how == "fill" else None
    if 0 in result or shape[axis] == 0:
        if 0 not in result and how != "fill":
            raise IndexError(f"take_along_axis: no index is in range for axis {axis} of {_shown(arr)}")
        return movement.full(result, cast(0 if fill is None else fill, get_aval(arr).dtype))
    wrap = how != "promise_in_bounds" if wrap_negative_indices is None else wrap_negative_indices
    extra = () if fill is None else (fill,)
    return eager_jit(_taken_along, arr, indices, *extra, axis=axis, mode=how, wrap=wrap)


def _shown(x: Array) -> str:
    return short(get_aval(x))


def from_end(indices: Any, size: Any) -> Array:
    """Positions, with negative ones counted from the end."""
    unsigned = dtypes.is_unsigned(get_aval(indices).dtype)
    indices = as_positions(indices, size)
    return indices if unsigned else lax.select(lax.lt(indices, 0), lax.add(indices, size), indices)


def _taken_along(arr: Array, indices: Array, *fill: Array, axis: int, mode: str, wrap: bool) -> Array:
    shape, taken = get_aval(arr).shape, get_aval(indices).shape
    indices = from_end(indices, shape[axis]) if wrap else as_positions(indices, shape[axis])
    # A dimension of both is a batching dimension. If indices lack it, it is a window; if arr lacks it, its index is 0.
    windows = [dim for dim in range(len(shape)) if dim != axis and taken[dim] == 1 and shape[dim] != 1]
    batching = [dim for dim in range(len(shape)) if dim != axis and dim not in windows and shape[dim] == taken[dim]]
    kept = [dim for dim in range(len(shape)) if dim not in windows]
    return gather.bind(
        arr,
        movement.squeeze(indices, windows),
        *fill,
        offset_dims=tuple(windows),
        collapsed_slice_dims=tuple(dim for dim in kept if dim not in batching),
        start_index_map=(axis,),
        operand_batching_dims=tuple(batching),
        start_indices_batching_dims=tuple(kept.index(dim) for dim in batching),
        slice_sizes=tuple(size if dim in windows else 1 for dim, size in enumerate(shape)),
        mode=mode,
        indices_are_sorted=False,
        unique_indices=False,
    )
