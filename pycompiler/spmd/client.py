"""`device.client`: what manages the devices of one platform in this process, for programs that ask JAX's devices."""

from __future__ import annotations

import functools
from typing import NamedTuple

from pycompiler import _runtime
from pycompiler._runtime import Device
from pycompiler.version import __version__


class Client(NamedTuple):
    """The runtime, as one device's platform sees it."""

    platform: str
    runtime_type: str = "pycompiler"
    platform_version: str = f"pycompiler {__version__}"

    def devices(self) -> list[Device]:
        """The devices of the platform."""
        return [device for device in _runtime.devices() if device.platform == self.platform]

    local_devices = devices

    def device_count(self) -> int:
        """The number of devices of the platform."""
        return len(self.devices())

    local_device_count = device_count

    def process_index(self) -> int:
        """The number of this process among those of a program, which has one."""
        return 0


@functools.cache
def _of(platform: str) -> Client:
    return Client(platform)


def _client(device: Device) -> Client:
    """What manages the devices of this platform: the same object for each of them."""
    return _of(device.platform)


Device.client = property(_client)  # pyright: ignore[reportAttributeAccessIssue]
