"""Meshes of devices: devices in an array with a name for each axis. `spec` assigns the dimensions of an array to them.

`contexts` has the current mesh, `sharding` joins meshes and specs; `primitives.spmd.shard_map` and the partitioner
compute with them. No function here uses an array.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Hashable, Sequence
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np

from pycompiler._runtime import default_device, note_use_of_devices
from pycompiler._runtime import devices as all_devices
from pycompiler.core.config.config import config
from pycompiler.core.mesh.abstract import NO_MESH, AbstractDevice, AbstractMesh, AxisType, BaseMesh, axis_types_of
from pycompiler.core.mesh.processes import processes
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.arguments import as_sizes

Device = Any


class Mesh(BaseMesh, contextlib.ContextDecorator):
    """Devices in an array with a name for each axis. Programs refer to these names in specs and collectives.

    A mesh is a context in which it is the current mesh, and a decorator for functions that run in this context.

    Raises ValueError unless each dimension has one name, and no name or device occurs twice.

    >>> import pycompiler as pc
    >>> pc.sharding.Mesh(pc.devices()[:1], ("x",))
    Mesh(axis_sizes=(1,), axis_names=('x',), axis_types=(Auto,))
    """

    def __init__(
        self,
        devices: Any,
        axis_names: str | Sequence[str],
        axis_types: tuple[AxisType, ...] | None = None,
    ) -> None:
        names: tuple[Any, ...] = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        given = np.array(devices, dtype=object)
        if given.ndim != len(names):
            raise ValueError(
                f"Mesh: an array of devices of {given.ndim} dimensions needs {given.ndim} axis names, got {names}"
            )
        if len(set(names)) != len(names):
            raise ValueError(f"Mesh: an axis is named twice in {names}")
        ids = [id(device) for device in given.flat]
        if len(set(ids)) != len(ids):
            raise ValueError(f"Mesh: a device occurs twice among {list(given.flat)}")
        if None in names:
            raise ValueError(f"Mesh: the names of axes can't be None, got {names}")
        given.flags.writeable = False
        self.devices = given
        self.axis_names = names
        self.axis_types = axis_types_of("Mesh", names, axis_types)
        self._key = (tuple(ids), given.shape, names, self.axis_types)
        self._abstract: AbstractMesh | None = None
        self._local_mesh: Mesh | None = None
        # The devices of a mesh, and the processes that they belong to, are fixed. A mesh without devices contains None.
        self.local_numbers = tuple(
            [number for number, device in enumerate(given.flat) if device is None or processes.is_here(device)]
            if processes.are_several
            else range(given.size)
        )

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self.devices.shape

    @property
    def size(self) -> int:
        """The number of devices."""
        return 0 if self.empty and self.devices.flat[0] is None else math.prod(self.devices.shape)

    @property
    def abstract_mesh(self) -> AbstractMesh:
        if self._abstract is None:
            self._abstract = NO_MESH if self.empty else self._without_devices()
            _with_devices.setdefault(self._abstract.shape_tuple, self)
        return self._abstract

    def _without_devices(self) -> AbstractMesh:
        first = self.devices.flat[0]
        device = None if first is None else AbstractDevice(first.device_kind, None, first.platform)
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types, abstract_device=device)

    def update(
        self, devices: Any = None, axis_names: str | Sequence[str] | None = None, axis_types: Any = None
    ) -> Mesh:
        """A copy with other devices, names or types of axes."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    @property
    def device_list(self) -> tuple[Device, ...]:
        """The devices in the order of participants: the last axis varies fastest."""
        return tuple(self.devices.flat)

    @property
    def local_devices(self) -> list[Device]:
        """The devices of this process."""
        every = self.device_list
        return [every[number] for number in self.local_numbers]

    @property
    def local_mesh(self) -> Mesh:
        """The mesh of this process's devices, with the same axes. Raises ValueError if they are no block of the mesh,
        or if there are none."""
        if not self.is_multi_process:
            return self
        if self._local_mesh is None:
            self._local_mesh = self._block_here()
        return self._local_mesh

    def _block_here(self) -> Mesh:
        places = np.unravel_index(np.array(self.local_numbers, int), self.devices.shape)
        block = self.devices[np.ix_(*[np.unique(place) for place in places])]
        if not self.local_numbers or block.size != len(self.local_numbers):
            raise ValueError(
                f"local_mesh: the devices of process {processes.index} are no block of {self}: "
                f"{self.local_devices}. What to do: make the mesh so that each process has one, as by make_mesh"
            )
        return Mesh(block, self.axis_names, self.axis_types)

    @property
    def device_ids(self) -> np.ndarray[Any, Any]:
        """The ids of the devices, in their array."""
        return np.array([device.id for device in self.devices.flat], int).reshape(self.devices.shape)

    @property
    def is_multi_process(self) -> bool:
        """Whether some of the devices belong to another process."""
        return len(self.local_numbers) != self.devices.size

    def __enter__(self) -> Mesh:
        _entered.append(axes.swap_mesh(self))
        return self

    def __exit__(self, *error: object) -> None:
        axes.swap_mesh(_entered.pop())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> Any:
        platforms = tuple([device.platform for device in self.devices.flat])
        return _mesh_of_ids, (self.device_ids, platforms, self.axis_names, self.axis_types)

    def __str__(self) -> str:
        sizes = ", ".join(f"{name!r}: {size}" for name, size in self.shape.items())
        return f"Mesh({sizes}, axis_types={self.axis_types})" if sizes else "Mesh()"

    def __repr__(self) -> str:
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}, axis_types={self.axis_types})"


_entered: list[Any] = []


# A mesh with the axes of each abstract mesh that was made of one.
_with_devices: WeakValueDictionary[tuple[tuple[str, int], ...], Mesh] = WeakValueDictionary()


def with_devices(abstract: AbstractMesh) -> Mesh | None:
    """A mesh with these axes: the current one, else the first that a type was made of. None if there is none. Arrays
    that are on other devices decide on the mesh of a call."""
    mesh = cast("Mesh | None", axes.current_mesh())
    if mesh is None or mesh.shape_tuple != abstract.shape_tuple:
        mesh = _with_devices.get(abstract.shape_tuple)
    if mesh is None or mesh.axis_types == abstract.axis_types:
        return mesh
    return mesh.update(axis_types=abstract.axis_types)


def _mesh_of_ids(
    ids: np.ndarray[Any, Any], platforms: tuple[str, ...], names: tuple[str, ...], types: tuple[AxisType, ...]
) -> Mesh:
    found = [device_of(platform, int(number)) for platform, number in zip(platforms, ids.flat, strict=True)]
    return Mesh(np.array(found, dtype=object).reshape(ids.shape), names, types)


def device_of(platform: str, number: int) -> Device:
    """The device with an id, for pickles. Raises ValueError if the process does not have it."""
    for device in all_devices():
        if (device.platform, device.id) == (platform, number):
            return device
    raise ValueError(f"this process has no device {platform!r} with the id {number}, which a pickle names")


def devices_for_mesh(platform: str | None = None) -> list[Device]:
    """The devices of a platform, by default the default platform. `make_mesh` takes them if no devices are given."""
    wanted = "gpu" if platform == "cuda" else platform or config.platform_name or default_device().platform
    note_use_of_devices()
    return [device for device in all_devices() if device.platform == wanted]


def how_to_get_devices(devices: Sequence[Device]) -> str:
    """The advice in messages for more than these devices: CPU devices are configurable, GPUs are not."""
    if all(device.platform == "cpu" for device in devices):
        return "start the process with PYCOMPILER_NUM_CPU_DEVICES"
    return "make it of devices('cpu'), whose number PYCOMPILER_NUM_CPU_DEVICES sets"


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[str],
    axis_types: tuple[AxisType, ...] | None = None,
    *,
    devices: Sequence[Device] | None = None,
) -> Mesh:
    """A mesh of the first devices of the default platform, or of the given devices. Its axes are Explicit unless
    `axis_types` says otherwise: shardings are parts of types.

    Raises ValueError when there are too few devices for the sizes.

    >>> import pycompiler as pc
    >>> pc.make_mesh((1,), ("x",)).shape
    OrderedDict([('x', 1)])
    """
    sizes = as_sizes("make_mesh", "axis_shapes", axis_shapes)
    names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
    if not all(isinstance(cast(object, name), Hashable) for name in names):
        raise TypeError(f"make_mesh: axis_names are strings, got {axis_names!r}")
    if len(sizes) != len(names):
        raise ValueError(f"make_mesh: axis_shapes {sizes} and axis_names {names} must be of one length")
    given = devices_for_mesh() if devices is None else list(devices)
    count = math.prod(sizes)
    if count > len(given):
        raise ValueError(
            f"make_mesh: a mesh of {' x '.join(map(str, sizes))} needs {count} devices, there are {len(given)}; make "
            f"it smaller, or {how_to_get_devices(given)}"
        )
    array = np.empty(count, dtype=object)
    array[:] = given[:count]
    types = (AxisType.Explicit,) * len(names) if axis_types is None else axis_types
    return Mesh(array.reshape(sizes), names, types)
