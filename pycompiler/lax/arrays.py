"""Functions of lax that create, join and divide arrays, and return shapes and dtypes."""

import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.dims import dims
from pycompiler.core.errors import ArgumentError
from pycompiler.core.mesh.reshard import typed_like
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, get_aval, short
from pycompiler.lax import movement
from pycompiler.lax.operands import (
    Array,
    broadcast_to,
    broadcasts,
    canonical_axis,
    canonical_shape,
    check_arrays,
)
from pycompiler.lax.shardings import divided
from pycompiler.primitives import shape as shapes

__all__ = [
    "broadcast_like",
    "broadcast_shapes",
    "dtype",
    "empty",
    "platform_dependent",
    "shape_as_value",
    "split",
    "stack",
    "stage",
    "tile",
    "unstack",
]


def dtype(x: Any) -> Any:
    """The dtype of an array, of a scalar, or of a dtype's name."""
    if isinstance(x, (type, str | np.dtype)):
        return dtypes.canonicalize(dtypes.as_dtype(x))
    check_arrays("dtype", x)
    return get_aval(x).dtype


def empty(shape: Any, dtype: Any, *, out_sharding: Any = None) -> Array:
    """An array without specified elements. They are zeros."""
    return divided("empty", movement.full(canonical_shape("empty", shape), 0, dtype), out_sharding)


def shape_as_value(shape: Sequence[int]) -> Array:
    """A shape as an array of int32. Its sizes are numbers: symbols have no value while a function is traced."""
    return as_array(np.asarray(canonical_shape("shape_as_value", shape), np.int32))


def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]:
    """The shape to which all given shapes broadcast, by NumPy's rule. ValueError if there is none, TypeError for an
    object that is not a shape.

    InconclusiveDimensionError, which is a ValueError, if they broadcast only at some sizes.
    """
    return dims.broadcast_shapes(*(canonical_shape("broadcast_shapes", one) for one in shapes))


def broadcast_like(arr: Array, like_arr: Array) -> Array:
    """arr repeated to the shape of like_arr, by NumPy's rule. ValueError if it does not fit."""
    check_arrays("broadcast_like", arr, like_arr)
    given, wanted = get_aval(arr), get_aval(like_arr).shape
    if not broadcasts(given.shape, wanted):
        raise ArgumentError(
            f"broadcast_like: {short(given)} does not fit into {short(get_aval(like_arr))}; each dimension must be "
            "equal or 1"
        )
    return typed_like(as_array(broadcast_to(arr, wanted)), get_aval(like_arr))


def stage(x: Array, /) -> Array:
    """x as an array. A scalar or NumPy array is copied to the device."""
    check_arrays("stage", x)
    return as_array(x)


def stack(operands: Sequence[Array], axis: int = 0) -> Array:
    """Arrays of one shape and dtype joined along a new axis. ValueError or TypeError if shapes or dtypes differ."""
    if not len(operands):
        raise ValueError("stack: needs at least one array")
    check_arrays("stack", *operands)
    first = get_aval(operands[0])
    for other in map(get_aval, operands):
        if other.shape != first.shape:
            raise ArgumentError(f"stack: shapes differ: {short(first)} and {short(other)}; all must be of one shape")
    axis = canonical_axis("stack", axis, len(first.shape) + 1)
    return movement.concatenate([movement.expand_dims(x, (axis,)) for x in operands], axis)


def unstack(x: Array, axis: int = 0) -> tuple[Array, ...]:
    """The slices of an array along an axis, without that axis."""
    check_arrays("unstack", x)
    shape = get_aval(x).shape
    axis = canonical_axis("unstack", axis, len(shape))
    return tuple(movement.index_in_dim(x, i, axis, keepdims=False) for i in range(shape[axis]))


def split(operand: Array, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """Parts of the given sizes along an axis. ValueError unless the sizes add up to its length."""
    check_arrays("split", operand)
    aval = get_aval(operand)
    axis = canonical_axis("split", axis, len(aval.shape))
    sizes = [operator.index(size) for size in sizes]
    if any(size < 0 for size in sizes) or sum(sizes) != aval.shape[axis]:
        raise ValueError(
            f"split: sizes {tuple(sizes)} do not add up to axis {axis} of {short(aval)} ({sum(sizes)} vs "
            f"{aval.shape[axis]})"
        )
    ends = np.cumsum([0, *sizes]).tolist()
    return [movement.slice_in_dim(operand, a, b, axis=axis) for a, b in itertools.pairwise(ends)]


def tile(operand: Array, reps: Sequence[int]) -> Array:
    """operand repeated along each of its dimensions. ValueError if `reps` has another number of entries."""
    check_arrays("tile", operand)
    aval = get_aval(operand)
    counts = [operator.index(count) for count in reps]
    if len(counts) != len(aval.shape) or any(count < 0 for count in counts):
        raise ValueError(
            f"tile: {short(aval)} needs {len(aval.shape)} repetitions that are not negative, got {tuple(counts)}"
        )
    spread = [n for pair in zip(counts, aval.shape, strict=True) for n in pair]
    kept = tuple(range(1, len(spread), 2))
    repeated = shapes.broadcast_in_dim.bind(operand, shape=tuple(spread), broadcast_dimensions=kept)
    return movement.reshape(repeated, [count * n for count, n in zip(counts, aval.shape, strict=True)])


def platform_dependent(
    *args: Any, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> Any:
    """The function for the platform of the computation, or the default, called with the arguments.

    The only platform is "cpu". ValueError if neither it nor a default is given.
    """
    chosen = per_platform.get("cpu", default)
    if chosen is None:
        raise ValueError(
            f"platform_dependent: runs on cpu, but has functions for {sorted(per_platform)} and no default"
        )
    return chosen(*args)
