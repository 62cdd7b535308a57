"""Interpolation between samples on a rectangular grid."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import pycompiler.numpy as pnp
from pycompiler.core.tracing.boundary import with_boundary
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.lax.names import nearest_name
from pycompiler.lax.operands import check_arrays
from pycompiler.numpy.promotion import promoted_inexact_each

__all__ = ["RegularGridInterpolator"]

Array = Any


@register_pytree_node_class
@with_boundary
class RegularGridInterpolator:
    """A function of places, from values on a grid; a pytree of arrays.

    points: for each of the first k axes of the values, the increasing coordinates. values: f[n1, ..., nk, ...]. method:
    'linear' or 'nearest'. fill_value: the value outside of the grid; None extrapolates from the cells at the edge.
    bounds_error must be False: an error cannot depend on values. ValueError for another method, for shapes that do not
    fit, and for a fill_value of another kind than the values.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler.scipy.interpolate import RegularGridInterpolator
    >>> x, y = pnp.arange(3.0), pnp.arange(2.0)
    >>> RegularGridInterpolator((x, y), x[:, None] + 10 * y)(pnp.array([[0.5, 0.5], [9.0, 0.0]]))
    Array([5.5, nan], dtype=float32)
    """

    def __init__(
        self,
        points: Sequence[Any],
        values: Any,
        method: str = "linear",
        bounds_error: bool = False,
        fill_value: Any = np.nan,
    ) -> None:
        name = "RegularGridInterpolator"
        self.method = _checked_method(method)
        if bounds_error:
            raise NotImplementedError(f"{name}: bounds_error must be False: an error cannot depend on values")
        self.bounds_error = bounds_error
        points = tuple(points)
        check_arrays(name, values, *points)
        (values,) = promoted_inexact_each(name, values)
        shape = get_aval(values).shape
        if len(points) > len(shape):
            raise ValueError(f"{name}: there are {len(points)} vectors of points for {short(get_aval(values))}")
        for axis, one in enumerate(points):
            if get_aval(one).shape != shape[axis : axis + 1]:
                raise ValueError(
                    f"{name}: the points of axis {axis} must be a vector of {shape[axis]}, got {short(get_aval(one))}"
                )
            if shape[axis] < 2:
                raise ValueError(f"{name}: axis {axis} needs two points, got {short(get_aval(one))}")
        if fill_value is not None:
            check_arrays(name, fill_value)
            kinds = get_aval(fill_value).dtype, get_aval(values).dtype
            if dtypes.is_complex(kinds[0]) and not dtypes.is_complex(kinds[1]):
                raise ValueError(f"{name}: fill_value must be None or real, like the values, got {short(fill_value)}")
            fill_value = pnp.asarray(fill_value)
        self.fill_value = fill_value
        self.grid = tuple(pnp.asarray(one) for one in points)
        self.values = pnp.asarray(values)

    def tree_flatten(self) -> tuple[Any, Any]:
        """The arrays, and the settings."""
        return (self.grid, self.values, self.fill_value), (self.method, self.bounds_error)

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> "RegularGridInterpolator":
        """The object with these arrays."""
        made = cls.__new__(cls)
        made.grid, made.values, made.fill_value = children
        made.method, made.bounds_error = aux_data
        return made

    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """The values at places: f[..., k], or a tuple of k arrays that broadcast."""
        method = self.method if method is None else _checked_method(method)
        count = len(self.grid)
        places = _places(xi, count)
        shape = places.shape[:-1]
        nodes: list[list[tuple[Array, Array]]] = []
        outside: Any = pnp.zeros(shape, bool)
        for axis, points in enumerate(self.grid):
            x = places[..., axis]
            below = pnp.clip(pnp.searchsorted(points, x) - 1, 0, points.shape[0] - 2)
            share = (x - points[below]) / (points[below + 1] - points[below])
            outside = outside | (x < points[0]) | (x > points[-1])
            if method == "nearest":
                nodes.append([(pnp.where(share <= 0.5, below, below + 1), 1.0)])
            else:
                nodes.append([(below, 1 - share), (below + 1, share)])
        total: Any = 0.0
        more = (1,) * (self.values.ndim - count)
        for corner in itertools.product(*nodes):
            part = self.values[tuple(index for index, _ in corner)]
            if method == "linear":
                weight: Any = 1.0
                for _, share in corner:
                    weight = weight * share
                part = part * pnp.reshape(weight, (*shape, *more))
            total = total + part if method == "linear" else part
        if self.fill_value is None:
            return total
        return pnp.where(pnp.reshape(outside, (*shape, *more)), self.fill_value, total)


def _checked_method(method: Any) -> str:
    if method not in ("linear", "nearest"):
        raise ValueError(f"RegularGridInterpolator: method is 'linear' or 'nearest', got {method!r}")
    return method


def _places(xi: Any, count: int) -> Array:
    name = "RegularGridInterpolator"
    if isinstance(xi, tuple) and len(xi) == 1:
        (xi,) = xi
    if isinstance(xi, tuple):
        check_arrays(name, *xi)
        places = pnp.stack(pnp.broadcast_arrays(*promoted_inexact_each(name, *xi)), -1)
    else:
        check_arrays(name, xi)
        places = pnp.asarray(promoted_inexact_each(name, xi)[0])
        if places.ndim == 1:
            places = places.reshape(-1, count) if places.size % count == 0 else places[None]
    if places.ndim == 0 or places.shape[-1] != count:
        raise ValueError(f"{name}: the places must have {count} coordinates in the last axis, got {short(places)}")
    return places


__getattr__ = nearest_name(__name__, __all__)
