"""Shardings: the devices of an array, and the elements that each device holds.

A sharding lays out the argument of `device_put` (`place`), and is an attribute of every array. Imports `mesh`.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Sequence
from typing import Any

from pycompiler.core.hooks import hooks
from pycompiler.core.mesh.abstract import AbstractMesh, AxisType
from pycompiler.core.mesh.mesh import Device, Mesh, device_of
from pycompiler.core.mesh.processes import processes
from pycompiler.core.mesh.spec import Layout, PartitionSpec, layout_of, local_shape

Index = tuple[slice, ...]


def _check_memory_kind(function: str, kind: Any) -> None:
    if kind is not None and not (isinstance(kind, str) and kind == "device"):
        raise ValueError(f"{function}: memory_kind is 'device', the memory that each device has, got {kind!r}")


class Sharding:
    """The devices of an array, and the elements on each. Compared by value, hashable."""

    @property
    def device_list(self) -> tuple[Device, ...]:
        """The devices, in the order in which arrays hold their parts."""
        raise NotImplementedError

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Device, Index]:
        """The part of an array of this shape that each device holds, as a tuple of slices."""
        raise NotImplementedError

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of each device's part. Raises ValueError when it can't be divided evenly."""
        raise NotImplementedError

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each device holds all of the array."""
        raise NotImplementedError

    @property
    def device_set(self) -> set[Device]:
        """The devices."""
        return set(self.device_list)

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return len(self.device_list)

    @property
    def local_numbers(self) -> tuple[int, ...]:
        """The places in `device_list` of this process's devices. Arrays hold the parts of these, in this order."""
        every = self.device_list
        return tuple([number for number, device in enumerate(every) if processes.is_here(device)])

    @property
    def addressable_devices(self) -> set[Device]:
        """The devices of this process."""
        return set(self._addressable_device_assignment)

    @property
    def _addressable_device_assignment(self) -> tuple[Device, ...]:
        """JAX's inner name of this process's devices in order, which Orbax reads."""
        every = self.device_list
        return tuple([every[number] for number in self.local_numbers])

    @property
    def _device_assignment(self) -> tuple[Device, ...]:
        """JAX's inner name of `device_list`."""
        return self.device_list

    @property
    def has_addressable_devices(self) -> bool:
        """Whether some devices belong to this process."""
        return len(self.local_numbers) > 0

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all devices belong to this process."""
        return len(self.local_numbers) == self.num_devices

    @property
    def memory_kind(self) -> str:
        """The memory of the devices that holds the array. Each device has one."""
        return "device"

    def with_memory_kind(self, kind: str) -> Sharding:
        """The sharding in another memory. Raises ValueError if the devices do not have it."""
        _check_memory_kind("with_memory_kind", kind)
        return self

    def addressable_devices_indices_map(self, global_shape: Sequence[int]) -> dict[Device, Index]:
        """`devices_indices_map` of this process's devices."""
        here = self.addressable_devices
        return {device: index for device, index in self.devices_indices_map(global_shape).items() if device in here}

    def check_compatible_aval(self, aval_shape: Sequence[int]) -> None:
        """Raise ValueError unless the sharding can divide arrays of this shape."""
        self.shard_shape(aval_shape)

    def place(self, x: Any, donate: bool = False) -> Any:
        """The array `x` laid out by this sharding, with the same elements, as by `device_put`. Constrains a tracer.

        Raises ValueError when the sharding can't divide the array.
        """
        return hooks.place(self, x, donate)

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        """Whether both put the same elements of arrays of `ndim` dimensions on the same devices."""
        raise NotImplementedError


class SingleDeviceSharding(Sharding):
    """All elements on one device.

    >>> import pycompiler as pc
    >>> pc.sharding.SingleDeviceSharding(pc.devices()[0]).is_fully_replicated
    True
    """

    def __init__(self, device: Device, *, memory_kind: str | None = None) -> None:
        if not hasattr(device, "platform"):
            raise TypeError(f"SingleDeviceSharding: takes a device, got {device!r} of type {type(device).__name__}")
        self._device = device
        _check_memory_kind(type(self).__name__, memory_kind)

    @property
    def device_list(self) -> tuple[Device, ...]:
        return (self._device,)

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Device, Index]:
        return {self._device: tuple([slice(None)] * len(global_shape))}

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        return tuple(global_shape)

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        return other.device_list == self.device_list

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SingleDeviceSharding) and self._device is other._device

    def __hash__(self) -> int:
        return hash(("SingleDeviceSharding", id(self._device)))

    def __reduce__(self) -> Any:
        return _on_device, (self._device.platform, self._device.id)

    def __repr__(self) -> str:
        return f"SingleDeviceSharding(device={self._device!r}, memory_kind=device)"


def _on_device(platform: str, number: int) -> SingleDeviceSharding:
    return SingleDeviceSharding(device_of(platform, number))


class NamedSharding(Sharding):
    """Elements divided over the axes of a mesh by a spec. The array is replicated along axes that the spec omits.

    Raises ValueError for a spec that names an axis twice, or an axis that the mesh does not have.

    >>> import pycompiler as pc
    >>> mesh = pc.make_mesh((1,), ("x",))
    >>> pc.sharding.NamedSharding(mesh, pc.sharding.PartitionSpec("x")).shard_shape((4, 2))
    (4, 2)
    """

    mesh: Any
    spec: PartitionSpec

    def __init__(self, mesh: Mesh | AbstractMesh, spec: PartitionSpec, *, memory_kind: str | None = None) -> None:
        if not isinstance(mesh, (Mesh, AbstractMesh)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"NamedSharding: takes a Mesh, got {mesh!r} of type {type(mesh).__name__}")
        if not isinstance(spec, PartitionSpec):  # pyright: ignore[reportUnnecessaryIsInstance]
            if not isinstance(spec, tuple):
                raise TypeError(f"NamedSharding: takes a PartitionSpec, got {spec!r} of type {type(spec).__name__}")
            spec = PartitionSpec(*spec)
        _check_memory_kind(type(self).__name__, memory_kind)
        if spec.unreduced or spec.reduced:
            _check_sums(mesh, spec)
        # This checks names and repetitions. The sizes of the dimensions are not known yet.
        self._names = layout_of("NamedSharding", spec.update(unreduced=frozenset()), mesh.shape, (0,) * len(spec))
        self.mesh = mesh
        self.spec = spec

    @property
    def device_list(self) -> tuple[Device, ...]:
        if isinstance(self.mesh, AbstractMesh):
            raise ValueError(f"{self!r} has no devices: its mesh is abstract")
        return self.mesh.device_list

    @property
    def num_devices(self) -> int:
        return self.mesh.size

    @property
    def local_numbers(self) -> tuple[int, ...]:
        # The devices of an abstract mesh count as devices of this process.
        return tuple(range(self.mesh.size)) if isinstance(self.mesh, AbstractMesh) else self.mesh.local_numbers

    @property
    def is_fully_replicated(self) -> bool:
        return all(self.mesh.shape[name] == 1 for names in self._names for name in names)

    @property
    def axes_of_dimensions(self) -> Layout:
        """The axes of the mesh that divide each dimension of the spec."""
        return self._names

    def dividing(self, shape: Sequence[int]) -> NamedSharding:
        """This sharding without axes that do not divide an array of this shape evenly: of the axes of a dimension, the
        longest prefix stays that does."""
        parts: list[Any] = []
        for part, names, size in zip(self.spec, self._names, shape, strict=False):
            counts = itertools.accumulate([self.mesh.shape[name] for name in names], operator.mul)
            kept = names[: sum(1 for _ in itertools.takewhile(lambda count, size=size: size % count == 0, counts))]
            parts.append(part if kept == names else kept)
        return self if parts == list(self.spec) else NamedSharding(self.mesh, PartitionSpec(*parts))

    @property
    def replicated_axes(self) -> frozenset[str]:
        """The axes of the mesh that the spec does not name."""
        return frozenset(self.mesh.axis_names) - {name for names in self._names for name in names}

    def layout(self, shape: Sequence[int]) -> Layout:
        """The axes of each dimension of an array of this shape. Raises ValueError when the shape can't be divided."""
        return layout_of("NamedSharding", self.spec, self.mesh.shape, shape)

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        return local_shape(global_shape, self.layout(global_shape), self.mesh.shape)

    def devices_indices_map(self, global_shape: Sequence[int]) -> dict[Device, Index]:
        return dict(zip(self.device_list, self.indices(tuple(global_shape)), strict=True))

    def indices(self, shape: tuple[int, ...]) -> tuple[Index, ...]:
        """The part of each device, in the order of the devices."""
        return _indices(self, shape)

    def is_equivalent_to(self, other: Sharding, ndim: int) -> bool:
        if isinstance(self.mesh, AbstractMesh):
            shape = (self.num_devices,) * ndim
            if not isinstance(other, NamedSharding) or other.mesh.shape_tuple != self.mesh.shape_tuple:
                return False
            return self.indices(shape) == other.indices(shape)
        if self.device_set != other.device_set:
            return False
        # A size that every number of parts divides stands for all sizes.
        shape = (self.num_devices,) * ndim
        if not isinstance(other, NamedSharding):
            return self.is_fully_replicated and other.is_fully_replicated
        return _places(self, shape) == _places(other, shape)

    def update(
        self, *, mesh: Mesh | AbstractMesh | None = None, spec: Any = None, memory_kind: str | None = None
    ) -> NamedSharding:
        """A copy with another mesh or another spec."""
        changed = self.spec if spec is None else spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec)
        return NamedSharding(self.mesh if mesh is None else mesh, changed, memory_kind=memory_kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedSharding) and self.mesh == other.mesh and self.spec == other.spec

    def __hash__(self) -> int:
        return hash((self.mesh, self.spec))

    def __repr__(self) -> str:
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec!r}, memory_kind=device)"


def _check_sums(mesh: Mesh | AbstractMesh, spec: PartitionSpec) -> None:
    """Raise ValueError for unreduced or reduced axes that the mesh does not have, or that are Auto."""
    kinds = mesh.abstract_mesh.types_of_axes
    for name in (*spec.unreduced, *spec.reduced):
        if name not in kinds:
            raise ValueError(f"NamedSharding: {spec} names the axis {name!r}, but the mesh has {list(kinds)}")
        if kinds[name] is AxisType.Auto:
            raise ValueError(f"NamedSharding: the axis {name!r} of {spec} is Auto, but must be Explicit or Manual")


def _places(sharding: NamedSharding, shape: tuple[int, ...]) -> dict[Any, Any]:
    pairs = zip(sharding.device_list, sharding.indices(shape), strict=True)
    # Both would be the whole axis, but slice(None) and slice(0, n) are not equal.
    return {id(d): tuple([s.indices(n)[:2] for s, n in zip(index, shape, strict=True)]) for d, index in pairs}


@functools.lru_cache(maxsize=1024)
def _indices(sharding: NamedSharding, shape: tuple[int, ...]) -> tuple[Index, ...]:
    layout, sizes = sharding.layout(shape), sharding.mesh.shape
    found: list[Index] = []
    for number in range(sharding.mesh.size):
        where: dict[str, int] = {}
        for name, size in reversed(sizes.items()):
            number, where[name] = divmod(number, size)
        index: list[slice] = []
        for size, names in zip(shape, layout, strict=True):
            part, parts = 0, 1
            for name in names:
                part, parts = part * sizes[name] + where[name], parts * sizes[name]
            length = size // parts
            index.append(slice(None) if parts == 1 else slice(part * length, (part + 1) * length))
        found.append(tuple(index))
    return tuple(found)


def make_single_device_sharding(device: Device, *, memory_kind: str | None = None) -> Sharding:
    """The sharding of arrays on one device. Raises TypeError for an object that is no device."""
    if not hasattr(device, "platform"):
        given = f"{device!r} of type {type(device).__name__}"
        raise TypeError(f"make_single_device_sharding: takes a device, got {given}")
    _check_memory_kind("make_single_device_sharding", memory_kind)
    return SingleDeviceSharding(device)


def replicas(sharding: NamedSharding, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The number of earlier devices that hold the same part, for each device in order."""
    seen: dict[Any, int] = {}
    found: list[int] = []
    for index in sharding.indices(shape):
        key = tuple([s.indices(n)[:2] for s, n in zip(index, shape, strict=True)])
        found.append(seen.setdefault(key, 0))
        seen[key] += 1
    return tuple(found)
