"""Images of any number of dimensions: interpolation at given places."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import check_arrays

__all__ = ["map_coordinates"]

Array = Any


def _mirrored(index: Array, size: int) -> Array:
    period = max(2 * (size - 1), 1)
    return pnp.abs((index + size - 1) % period - (size - 1)) if size > 1 else index * 0


# Functions from an index outside of an axis to an index inside.
_INSIDE: dict[str, Callable[[Array, int], Array]] = {
    "constant": lambda index, size: pnp.clip(index, 0, size - 1),
    "nearest": lambda index, size: pnp.clip(index, 0, size - 1),
    "wrap": lambda index, size: index % size,
    "mirror": _mirrored,
    "reflect": lambda index, size: (_mirrored(2 * index + 1, 2 * size + 1) - 1) // 2,
}


def map_coordinates(
    input: Any, coordinates: Sequence[Any], order: int, mode: str = "constant", cval: Any = 0.0
) -> Array:
    """The values of an array at places between its elements.

    coordinates: for each axis of `input`, an array of places. The arrays broadcast to the shape of the result, which
    has the dtype of `input`. order: 0 (the nearest element) or 1 (linear). mode, for places outside: 'constant' (the
    value cval), 'nearest', 'wrap', 'mirror' or 'reflect' (with the edge repeated). ValueError for another number of
    coordinates; NotImplementedError for another order or mode.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy import ndimage
    >>> ndimage.map_coordinates(pnp.array([1.0, 3.0]), [pnp.array([0.0, 0.25, 5.0])], order=1)
    Array([1. , 1.5, 0. ], dtype=float32)
    """
    coordinates = [pnp.asarray(one) if isinstance(one, (list, tuple)) else one for one in coordinates]
    check_arrays("map_coordinates", input, *coordinates, cval)
    shape = get_aval(input).shape
    if len(coordinates) != len(shape):
        raise ValueError(
            f"map_coordinates: takes one array of coordinates for each axis, got {len(coordinates)} for "
            f"{short(get_aval(input))}"
        )
    if mode not in _INSIDE:
        raise NotImplementedError(f"map_coordinates: mode is one of {', '.join(_INSIDE)}, got {mode!r}")
    if order not in (0, 1):
        raise NotImplementedError(f"map_coordinates: order is 0 or 1, got {order!r}")
    if 0 in shape:
        raise ValueError(f"map_coordinates: takes an array with elements, got {short(get_aval(input))}")
    if any(dtypes.is_complex(get_aval(x).dtype) for x in coordinates):
        raise TypeError(f"map_coordinates: coordinates must be real, got {', '.join(map(short, coordinates))}")
    return eager_jit(_mapped, input, cval, *coordinates, order=int(order), mode=mode)


def _nodes(place: Array, order: int) -> list[tuple[Array, Array]]:
    """The indices of the neighbours along an axis, with their weights."""
    if dtypes.is_integer(place.dtype) or place.dtype == np.bool_:
        return [(place.astype(np.int32), 1.0)]
    if order == 0:
        # Halves round away from zero.
        return [((pnp.sign(place) * pnp.floor(pnp.abs(place) + 0.5)).astype(np.int32), 1.0)]
    lower = pnp.floor(place)
    upper = place - lower
    index = lower.astype(np.int32)
    return [(index, 1 - upper), (index + 1, upper)]


def _mapped(input: Array, cval: Array, *coordinates: Array, order: int, mode: str) -> Array:
    values = pnp.asarray(input)
    places = [pnp.asarray(place) for place in coordinates]
    shape = np.broadcast_shapes(*(place.shape for place in places))
    background = pnp.asarray(cval).astype(values.dtype)
    total = None
    for nodes in itertools.product(*(_nodes(place, order) for place in places)):
        indices = tuple(_INSIDE[mode](index, size) for (index, _), size in zip(nodes, values.shape, strict=True))
        part = values[indices] if indices else values
        if mode == "constant" and indices:
            inside = [(index >= 0) & (index < size) for (index, _), size in zip(nodes, values.shape, strict=True)]
            for one in inside[1:]:
                inside[0] = inside[0] & one
            part = pnp.where(inside[0], part, background)
        part = math.prod((weight for _, weight in nodes), start=1.0) * part
        total = part if total is None else total + part
    total = pnp.broadcast_to(total, shape)
    if dtypes.is_integer(values.dtype):
        total = pnp.sign(total) * pnp.floor(pnp.abs(total) + 0.5)
    return total.astype(values.dtype)


protect(globals(), __all__, of_arrays=True)
__getattr__ = nearest_name(__name__, __all__)
