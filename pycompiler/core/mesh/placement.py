"""Placements of arrays (devices, and shardings over several), and putting one array on a placement, outside traces.

A sharding is any object with two members. `device_set` is the set of its devices. `place(array, donate=False)` takes an
Array or an ndarray, and returns an Array of the same elements, laid out by the sharding. A sharding over a single
device stands for that device. `primitives.spmd.placement` has the primitive, `lax.placement` handles traces and trees.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Generator
from typing import Any

from pycompiler import _runtime
from pycompiler._runtime import Array, Device, ShapedArray
from pycompiler.core.config.config import config
from pycompiler.core.mesh.contexts import current_mesh, explicit_mesh
from pycompiler.core.mesh.layout import Format, sharding_of
from pycompiler.core.mesh.sharding import NamedSharding, SingleDeviceSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.tracing import axes
from pycompiler.core.types.aval import as_array

Placement = Any


class MemorySpace(enum.Enum):
    """A kind of memory, as a placement in `device_put`: `memory.Space`.

    A device has one memory, so that `Device` and `Any` leave an array where it is. `Host` does so on CPUs, whose memory
    is the host's; beside GPUs it is an error.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.device_put(pnp.ones(2), pc.memory.Space.Device)
    Array([1., 1.], dtype=float32)
    """

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()


def is_placement(x: object) -> bool:
    """Whether `x` is a placement of an array: a device, a sharding, a spec of the current mesh, a kind of memory."""
    return isinstance(x, (Device, Format, MemorySpace, PartitionSpec)) or (
        hasattr(x, "device_set") and hasattr(x, "place")
    )


def check_placement(function: str, place: Any) -> Placement | None:
    """The checked `place`; a spec becomes a sharding over the current mesh. Raises ValueError unless it is None, a
    device, a sharding, a spec or a kind of memory, for a spec without a current mesh, and for the memory of a host
    beside GPUs."""
    place = sharding_of(function, place, of_array=True)
    if isinstance(place, MemorySpace):
        if place is MemorySpace.Host and any(device.platform != "cpu" for device in _runtime.devices()):
            raise ValueError(
                f"{function}: there are GPUs, whose arrays are in their own memory alone, got {place}. What to do: "
                'give a device of the host, devices("cpu")[0]'
            )
        return None
    if isinstance(place, PartitionSpec):
        return NamedSharding(current_mesh(function), place)
    if place is None or is_placement(place):
        return place
    raise ValueError(f"{function}: device {place!r} is none of {_runtime.devices()}, no sharding and not None")


def single_device(place: Placement) -> Device | None:
    """The device of a placement on one device; None for several."""
    if isinstance(place, Device):
        return place
    devices = place.device_set
    return next(iter(devices)) if len(devices) == 1 else None


@contextlib.contextmanager
def making_on(device: Device | None) -> Generator[None]:
    """In this context, the thread makes arrays from other values on `device`; None keeps the default device."""
    before = _runtime.swap_default_device(device) if device is not None else None
    try:
        yield
    finally:
        if device is not None:
            _runtime.swap_default_device(before)


@contextlib.contextmanager
def asked_for() -> Generator[None]:
    """A context for transfers that the user requested by name (`transfer_guard`)."""
    before = _runtime.swap_explicit_transfers(True)
    try:
        yield
    finally:
        _runtime.swap_explicit_transfers(before)


def put(x: Any, place: Placement | None, *, donate: bool = False, may_alias: bool | None = None) -> Any:
    """One array on a placement, committed to it. Without a placement an Array stays on its device, and any other value
    is put on the default device, uncommitted. Raises TypeError for a value that is not an array or scalar."""
    if place is None:
        if type(x) is not Array:
            with asked_for():
                return as_array(x)
        if may_alias is not False or not isinstance(x.device, Device):
            return x
        return _runtime.with_commitment(_runtime.put(x, x.device, donate, True), x.committed)
    device = single_device(place)
    if device is None:
        return place.place(x, donate=donate)
    if type(x) is not Array:
        with asked_for(), making_on(device):
            return _runtime.with_commitment(as_array(x), True)
    if not isinstance(x.device, Device):
        # The array lies on several devices: this gathers its parts.
        place = SingleDeviceSharding(device)
        return _runtime.with_commitment(place.place(x), True)
    return _runtime.put(x, device, donate, may_alias is False)


def deferred(aval: ShapedArray, make: Callable[[], Any]) -> Any:
    """An array that `make()` makes at its first use. With several devices, another device than the default may be
    chosen before that. With one device, inside a trace, and for small arrays, `make()` runs at once."""
    if _runtime.device_count() == 1 or _runtime.current_trace() is not None or explicit_mesh() is not None:
        return make()
    wide = config.enable_x64

    def run() -> Any:
        before = axes.swap_mesh(None)
        try:
            with config.override("enable_x64", wide):
                return make()
        finally:
            axes.swap_mesh(before)

    return _runtime.deferred(aval, run)
