"""`device.client`, which manages the devices of one platform in this process, and the memories of a device. JAX's
devices have these attributes."""

from __future__ import annotations

import functools
from typing import NamedTuple

from pycompiler import _runtime
from pycompiler._runtime import Device
from pycompiler.core.mesh.processes import processes
from pycompiler.version import __version__


class Client(NamedTuple):
    """The runtime for one platform."""

    platform: str
    runtime_type: str = "pycompiler"
    platform_version: str = f"pycompiler {__version__}"

    def devices(self) -> list[Device]:
        """The devices of the platform, in all processes."""
        return [device for device in _runtime.devices() if device.platform == self.platform]

    def local_devices(self) -> list[Device]:
        """The devices of the platform in this process."""
        return [device for device in self.devices() if processes.is_here(device)]

    def device_count(self) -> int:
        """The number of devices of the platform."""
        return len(self.devices())

    def local_device_count(self) -> int:
        """The number of devices of the platform in this process."""
        return len(self.local_devices())

    def process_index(self) -> int:
        """The number of this process among those of a program."""
        return processes.index


class Memory(NamedTuple):
    """A kind of memory of a device. Each device has one, "device"."""

    kind: str
    device: Device

    @property
    def platform(self) -> str:
        """The platform of the device."""
        return self.device.platform

    def addressable_by_devices(self) -> list[Device]:
        """The devices that use the memory."""
        return [self.device]


def _default_memory(device: Device) -> Memory:
    """The memory in which the device's arrays are."""
    return Memory("device", device)


def _memories(device: Device) -> list[Memory]:
    """The kinds of memory that the device uses."""
    return [_default_memory(device)]


def _memory(device: Device, kind: str) -> Memory:
    """The memory of a kind. Raises ValueError for another kind than "device"."""
    if kind != "device":
        raise ValueError(f"memory: {device!r} has the kind 'device' alone, got {kind!r}")
    return _default_memory(device)


@functools.cache
def _of(platform: str) -> Client:
    return Client(platform)


def _client(device: Device) -> Client:
    """The client of the device's platform: the same object for all devices of the platform."""
    return _of(device.platform)


for _name, _member in {
    "client": property(_client),
    "addressable_memories": _memories,
    "default_memory": _default_memory,
    "memory": _memory,
}.items():
    setattr(Device, _name, _member)
