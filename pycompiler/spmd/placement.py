"""Devices and placements of arrays: `devices`, `device_put`, `default_device`, `transfer_guard` and related functions.

Computation follows data. An array that was put on a device stays there, with everything that is computed from it.
Uncommitted operands move to it. The runtime decides this for every call; this module has the names.
"""

from __future__ import annotations

import logging
from typing import Any

from pycompiler import _runtime
from pycompiler._runtime import Device
from pycompiler.core.config.config import config
from pycompiler.core.config.settings import no_platform
from pycompiler.core.hooks import set_transfer_log
from pycompiler.core.mesh.processes import processes
from pycompiler.core.source import warn
from pycompiler.core.tracing.boundary import expose
from pycompiler.lax.placement import copy_to_host_async, device_get, device_put

_log = logging.getLogger("pycompiler.transfers")
set_transfer_log(_log.warning)


def devices(backend: str | None = None) -> list[Device]:
    """The devices of a platform (None: the default one) in all processes, in one order everywhere: those of process 0
    first.

    `PYCOMPILER_NUM_CPU_DEVICES=4` makes four of the CPU. Raises RuntimeError for a platform that does not exist here.

    >>> import pycompiler as pc
    >>> pc.devices()[0]
    CpuDevice(id=0)
    """
    return _devices("devices", backend)


def _devices(name: str, backend: Any) -> list[Device]:
    if backend is not None and not isinstance(backend, str):
        raise TypeError(f"{name}: a platform is a string, as 'cpu', got {backend!r} of type {type(backend).__name__}")
    wanted = "gpu" if backend == "cuda" else backend or default_backend()
    _runtime.note_use_of_devices()
    found = [device for device in _runtime.devices() if device.platform == wanted]
    if not found:
        raise RuntimeError(f"{name}: {no_platform(wanted)}")
    return found


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Device]:
    """The devices of a process, by default this one. Raises ValueError for a process that does not exist."""
    asked = host_id if process_index is None else process_index
    if asked is None:
        asked = processes.index
    if asked not in range(processes.count):
        there = "there is one, 0" if processes.count == 1 else f"there are {processes.count}, from 0"
        raise ValueError(f"local_devices: there is no process {asked!r}; {there}")
    return [device for device in _devices("local_devices", backend) if device.process_index == asked]


def device_count(backend: str | None = None) -> int:
    """The number of devices of a platform (None: the default one)."""
    return len(_devices("device_count", backend))


def local_device_count(backend: str | None = None) -> int:
    """The number of devices of this process."""
    return len([device for device in _devices("local_device_count", backend) if processes.is_here(device)])


def default_backend() -> str:
    """The platform of the default device: "cpu" or "gpu"."""
    return config.platform_name or _runtime.default_device().platform


def process_count(backend: str | None = None) -> int:
    """The number of processes that work together, as `pycompiler.distributed.initialize` has found them."""
    return _count("process_count", backend)


def _count(function: str, backend: str | None) -> int:
    return len({device.process_index for device in _devices(function, backend)})


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that work together."""
    _devices("process_index", backend)
    return processes.index


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of the processes that work together."""
    return list(range(_count("process_indices", backend)))


def host_count(backend: str | None = None) -> int:
    """The old name of `process_count`; it warns."""
    warn("host_count is an old name: use process_count")
    return _count("host_count", backend)


def host_id(backend: str | None = None) -> int:
    """The old name of `process_index`; it warns."""
    warn("host_id is an old name: use process_index")
    _devices("host_id", backend)
    return processes.index


def host_ids(backend: str | None = None) -> list[int]:
    """The old name of `process_indices`; it warns."""
    warn("host_ids is an old name: use process_indices")
    return list(range(_count("host_ids", backend)))


__all__ = [
    "copy_to_host_async",
    "default_backend",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "host_count",
    "host_id",
    "host_ids",
    "local_device_count",
    "local_devices",
    "process_count",
    "process_index",
    "process_indices",
]

expose(globals(), __all__)
