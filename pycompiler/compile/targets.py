"""The target of compiled code: the processor of this machine, or a GPU. `compile` and its callers import this module.

Code runs on every device of its target. The runtime decides the device when a call is made. This module gives the
target to compile for first.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pycompiler._runtime import Array, Device, default_device, local_devices


@dataclass(frozen=True)
class Target:
    """This machine's processor, or the GPUs of a compute capability ("9.0").

    The tests' emulated GPU runs kernels compiled for the processor. `libraries` are the libraries that the code may
    call.
    """

    capability: str = ""
    is_emulated: bool = False
    libraries: tuple[str, ...] = ()

    @property
    def is_host(self) -> bool:
        return not self.capability

    def __str__(self) -> str:
        emulated = ", emulated" if self.is_emulated else ""
        libraries = f", with {', '.join(self.libraries)}" if self.libraries else ""
        return f"GPU of compute capability {self.capability}{emulated}{libraries}" if self.capability else "host"


HOST = Target()


@functools.cache
def target_of(device: Device) -> Target:
    """The target of a device."""
    return Target(device.compute_capability, device.device_kind.startswith("Emulated"))


@functools.cache
def device_of(target: Target) -> Device:
    """The first device that code for a target runs on."""
    wanted = (target.capability, target.is_emulated)
    kinds = ((device, target_of(device)) for device in local_devices())
    return next(device for device, kind in kinds if (kind.capability, kind.is_emulated) == wanted)


def expected_target(leaves: Iterable[Any], named: Device | None = None) -> Target:
    """The target of the expected device of a call with these leaves: `named` if the function names one, else the device
    of an array, else the default one."""
    if named is None:
        for leaf in leaves:
            if type(leaf) is Array and leaf.committed and isinstance(leaf.device, Device):
                named = leaf.device
                break
    return target_of(default_device() if named is None else named)
