"""The processes of a program, for all other modules: their number, and the number of this one.

`pycompiler.distributed` sets the record once, before a device is used. The devices know their processes by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Device = Any


class Processes:
    """The record. `hosts` are the names of the machines, by process."""

    def __init__(self) -> None:
        self.index = 0
        self.count = 1
        self.hosts: tuple[str, ...] = ()
        # Functions that wait for work which must end before this process leaves the others, such as writing a
        # checkpoint.
        self.before_end: list[Callable[[], None]] = []

    def set(self, index: int, hosts: Iterable[str]) -> None:
        """This process is number `index` of those on these hosts."""
        self.hosts = tuple(hosts)
        self.index, self.count = index, len(self.hosts)

    @property
    def are_several(self) -> bool:
        """Whether there are others."""
        return self.count > 1

    def is_here(self, device: Device) -> bool:
        """Whether the device belongs to this process."""
        return device.process_index == self.index


processes = Processes()


def owners_of(devices: Iterable[Device]) -> tuple[int, ...]:
    """The processes of some devices, each once, in order."""
    return tuple(sorted({device.process_index for device in devices}))


def how_to_read(devices: Iterable[Device]) -> str:
    """The end of messages about elements that are in other processes."""
    others = [str(owner) for owner in owners_of(devices) if owner != processes.index]
    rest = f"process {others[0]} has" if len(others) == 1 else f"processes {', '.join(others)} have"
    return (
        f"{rest} the rest. What to do: call process_allgather(x, tiled=True) of "
        "pycompiler.experimental.multihost_utils in all processes, or read the parts here, x.addressable_shards"
    )
