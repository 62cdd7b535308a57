"""Arrays of devices for a `Mesh`. The devices have no topology: the arrays keep their order."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycompiler.core.mesh.mesh import Device, devices_for_mesh
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.tracing.boundary import protect
from pycompiler.lax.names import nearest_name

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]


def _sizes(function: str, what: str, shape: Any) -> tuple[int, ...]:
    try:
        return tuple([int(as_index(function, what, size)) for size in shape])
    except (TypeError, ValueError):
        raise ValueError(f"{function}: {what} must be a sequence of ints, got {shape!r}") from None


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Device] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
    """The devices (by default all) as an array of a shape, for `Mesh`.

    `contiguous_submeshes` and `allow_split_physical_axes` concern topologies of TPUs, and change nothing. Raises
    ValueError unless the size of the shape is the number of devices.

    >>> from pycompiler.experimental import mesh_utils
    >>> from pycompiler.sharding import Mesh
    >>> Mesh(mesh_utils.create_device_mesh((1, 1)), ("data", "model")).shape
    OrderedDict([('data', 1), ('model', 1)])
    """
    given = devices_for_mesh() if devices is None else list(devices)
    shape = _sizes("create_device_mesh", "mesh_shape", mesh_shape)
    if math.prod(shape) != len(given):
        raise ValueError(
            f"create_device_mesh: Number of devices {len(given)} must equal the product of mesh_shape {shape}"
        )
    if given[-1].platform == "gpu":
        given.sort(key=lambda device: device.id)
    result = np.empty(len(given), object)
    result[:] = given
    return result.reshape(shape)


def create_hybrid_device_mesh(
    mesh_shape: Sequence[int],
    dcn_mesh_shape: Sequence[int],
    devices: Sequence[Device] | None = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
    """The devices as an array of the shape `mesh_shape * dcn_mesh_shape`.

    Each process (or each `slice_index` of devices that have one) fills a block of the shape `mesh_shape`; the blocks
    are arranged as `dcn_mesh_shape`. Raises ValueError unless the numbers of devices and of processes fit.

    >>> from pycompiler.experimental import mesh_utils
    >>> mesh_utils.create_hybrid_device_mesh((1, 1), (1, 1), process_is_granule=True).shape
    (1, 1)
    """
    given = devices_for_mesh() if devices is None else list(devices)
    attribute = "process_index" if process_is_granule else "slice_index"
    if not hasattr(given[0], attribute):
        raise ValueError(
            f"create_hybrid_device_mesh: Device {given[0]} does not have attribute {attribute}. See "
            "`process_is_granule` option."
        )
    groups: dict[Any, list[Device]] = defaultdict(list)
    for device in given:
        groups[getattr(device, attribute)].append(device)
    keys = sorted(groups) if should_sort_granules_by_key else list(groups)
    outer = _sizes("create_hybrid_device_mesh", "dcn_mesh_shape", dcn_mesh_shape)
    if math.prod(outer) != len(keys):
        raise ValueError(
            f"create_hybrid_device_mesh: Number of slices {len(keys)} must equal the product of dcn_mesh_shape {outer}"
        )
    blocks = np.empty(len(keys), object)
    for place, key in enumerate(keys):
        blocks[place] = create_device_mesh(mesh_shape, groups[key], allow_split_physical_axes=allow_split_physical_axes)
    return np.block(blocks.reshape(outer).tolist())


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
