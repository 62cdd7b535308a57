"""Placement of arrays on devices, traced or not: leaves, trees, and arrays that are created on a device. Part of lax.

It imports `core.mesh.placement`, which places one array outside of any trace, and the primitive of
`primitives.spmd.placement`. The functions of numpy with a parameter `device` import it, and `pycompiler.spmd.placement`
with the public names.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pycompiler._runtime import Array as RuntimeArray
from pycompiler._runtime import Device, ShapedArray, current_trace, default_device, device_count, sharding_of
from pycompiler.core.mesh.abstract import AbstractMesh
from pycompiler.core.mesh.contexts import explicit_mesh
from pycompiler.core.mesh.placement import (
    Placement,
    check_placement,
    deferred,
    is_placement,
    making_on,
    put,
    single_device,
)
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types.aval import get_aval
from pycompiler.core.types.dtype import is_key
from pycompiler.core.types.tree import prefix_leaves, tree_flatten, tree_leaves, tree_map
from pycompiler.lax.explicit import resharded
from pycompiler.lax.operands import Array, check_arrays
from pycompiler.primitives.spmd.placement import device_put as primitive
from pycompiler.primitives.spmd.shard_map import sharding_constraint

# With one device, arrays are created at once.
_SEVERAL = device_count() > 1


def place_leaf(
    function: str, x: Any, place: Placement | None, donate: bool = False, may_alias: bool | None = None
) -> Array:
    """One array at a placement (None: unchanged), traced or not."""
    check_arrays(function, x)
    place = check_placement(function, place)
    if not isinstance(x, Tracer) and current_trace() is None:
        return put(x, place, donate=donate, may_alias=may_alias)
    if isinstance(place, NamedSharding):
        place.check_compatible_aval(get_aval(x).shape)
        if place.mesh.explicit_axes:
            return resharded(function, x, place)
        return sharding_constraint.bind(x, sharding=place)
    return x if place is None else primitive.bind(x, device=place, src=None)


def created(function: str, device: Placement | None, make: Callable[[], Array]) -> Array:
    """The result of `make()`. If `device` is given, the array is created there, without memory on other devices. Raises
    ValueError, in the name of `function`, for an object that is not a device.
    """
    if device is None:
        return _on_mesh(make())
    device = check_placement(function, device)
    if current_trace() is not None:
        return place_leaf(function, make(), device)
    with making_on(single_device(device)):
        made = make()
    return place_leaf(function, made, device)


def filled(
    function: str, device: Placement | None, shape: tuple[Any, ...], dtype: Any, weak: bool, make: Callable[[], Array]
) -> Array:
    """Like `created`, for a value that depends on no array: `make()` returns an array of this shape and dtype.

    If no device is given and there are several, the array is created at its first use, which may be a `device_put`.
    """
    if not _SEVERAL or device is not None or current_trace() is not None:
        return created(function, device, make)
    aval = ShapedArray(shape, dtype, weak)
    return _on_mesh(deferred(aval, make) if aval.is_concrete else make())


def _on_mesh(x: Array) -> Array:
    """A new array; on the devices of the current mesh, if it has Explicit axes."""
    mesh = explicit_mesh()
    if mesh is None or type(x) is not RuntimeArray or sharding_of(x) is not None:
        return x
    return put(x, NamedSharding(mesh, PartitionSpec(*[None] * x.ndim)))


def beside(a: Any, device: Placement | None) -> Placement | None:
    """The placement of a new array like `a`: `device`, else the device to which `a` is committed, or the sharding of a
    ShapeDtypeStruct, else None."""
    if device is not None:
        return device
    if type(a) is RuntimeArray and a.committed:
        return a.device
    return place_of_struct(a)


def place_of_struct(a: Any) -> Placement | None:
    """The sharding of a ShapeDtypeStruct, if it has one over devices whose axes are no part of types."""
    found = a.sharding if isinstance(a, ShapeDtypeStruct) else None
    if isinstance(found, NamedSharding) and (isinstance(found.mesh, AbstractMesh) or found.mesh.explicit_axes):
        return None
    return found


def _is_entry(x: Any) -> bool:
    return x is None or is_placement(x)


def _along(what: str, entries: Any, tree: Any, is_entry: Callable[[Any], bool]) -> list[Any]:
    """An entry for each leaf of a tree, from a tree of entries that is a prefix of it, else ValueError."""
    for entry in tree_leaves(entries, is_entry):
        if not is_entry(entry):
            raise TypeError(f"device_put: {what} must be a bool, or a tree of bools, got {entry!r}")
    try:
        return prefix_leaves(entries, tree, is_entry)
    except ValueError as error:
        raise ValueError(f"device_put: {what} is not a prefix of the tree of arrays: {error}") from None


def _is_flag(x: Any) -> bool:
    return x is None or isinstance(x, bool)


def device_put(
    x: Any,
    device: Any = None,
    *,
    src: Any = None,
    donate: Any = False,
    may_alias: Any = None,
) -> Any:
    """A tree of arrays with its leaves committed to a placement; returns before the copies are made.

    Args:
      x: a tree of arrays, NumPy arrays (which are copied straight to the device) and scalars.
      device: a device, a sharding, a PartitionSpec over the current mesh, None (arrays stay where they are; other
        values become uncommitted arrays on the default device), or a tree of these that is a prefix of x.
      src: the earlier place of x, for derivatives; the default is the place of the arrays.
      donate: delete the given arrays, so that their memory is free after the copy; a bool or a tree.
      may_alias: False forces a copy even if the array is already at the placement; a bool or a tree.

    Inside a compiled function, which runs on one device, it declares this device. Raises TypeError for an object that
    is not an array. Raises ValueError for an object that is not a placement, for trees that do not match, and if both
    donate and may_alias are true.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.device_put(pnp.ones(3), pc.devices()[0]).device
    CpuDevice(id=0)
    """
    leaves, tree = tree_flatten(x)
    for entry in tree_flatten(device, _is_entry)[0]:
        check_placement("device_put", entry)
    places = _along("device", device, x, _is_entry)
    donations = _along("donate", donate, x, _is_flag)
    aliases = _along("may_alias", may_alias, x, _is_flag)
    if any(d and a for d, a in zip(donations, aliases, strict=True)):
        raise ValueError("device_put: donate and may_alias can't both be true: a donated array can't be shared")
    return tree.unflatten(
        [
            place_leaf("device_put", leaf, place, bool(gives), shares)
            for leaf, place, gives, shares in zip(leaves, places, donations, aliases, strict=True)
        ]
    )


def device_get(x: Any) -> Any:
    """A tree of arrays as NumPy arrays. The call waits for them; other leaves stay unchanged. Keys, which NumPy does
    not have, become arrays of keys on one device.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.device_get({"a": pnp.arange(3)})
    {'a': array([0, 1, 2], dtype=int32)}
    """

    def get(leaf: Any) -> Any:
        if type(leaf) is RuntimeArray and is_key(leaf.dtype):
            return leaf if isinstance(leaf.device, Device) else put(leaf, default_device())
        return np.asarray(leaf) if isinstance(leaf, (RuntimeArray, Tracer)) else leaf

    return tree_map(get, x)


def copy_to_host_async(x: Any) -> Any:
    """Start copies of all arrays of a tree to the host, and return the tree. Other leaves stay unchanged.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.copy_to_host_async({"a": pnp.arange(3), "b": "text"})
    {'a': Array([0, 1, 2], dtype=int32), 'b': 'text'}
    """
    for leaf in tree_flatten(x)[0]:
        start = getattr(leaf, "copy_to_host_async", None)
        if start is not None:
            start()
    return x
