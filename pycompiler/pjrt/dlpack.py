"""DLPack for JAX's arrays on our devices. `client` attaches it once.

JAX's own functions know the platforms of XLA by name. On a CPU an array is a view of memory that NumPy exports, and an
imported array is one of NumPy's, which JAX takes without a copy where it is aligned.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax._src import array as jax_array
from jax._src import dlpack as jax_dlpack
from jax._src import dtypes

__all__ = ["register"]

_PLATFORM = "pycompiler"
_CPU = 1


class _Memory:
    """The memory of an array, as writable memory for NumPy: DLPack's older form has no mark for read-only memory."""

    def __init__(self, array: jax.Array) -> None:
        view = np.asarray(array)
        self._kept = view
        interface = dict(view.__array_interface__)
        self.__array_interface__ = interface | {"data": (interface["data"][0], False)}


def _is_ours(array: Any) -> bool:
    return all(device.platform == _PLATFORM for device in array.devices())


def register() -> None:
    """Let arrays of the platform export and import themselves."""
    kind: Any = jax_array.ArrayImpl
    export, place, take = kind.__dlpack__, kind.__dlpack_device__, jax_dlpack.from_dlpack

    def exported(self: Any, **options: Any) -> Any:
        return _exported(self, **options) if _is_ours(self) else export(self, **options)

    def placed(self: Any) -> Any:
        if not _is_ours(self):
            return place(self)
        if len(self.devices()) != 1:
            raise BufferError("__dlpack__ only supported for unsharded arrays.")
        return _CPU, 0

    def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Any:
        if not _takes(external_array, device):
            return take(external_array, device, copy)
        return _imported(external_array, device, copy)

    kind.__dlpack__, kind.__dlpack_device__ = exported, placed
    _replace(take, from_dlpack)


def _replace(before: Callable[..., Any], after: Callable[..., Any]) -> None:
    """Replace a function of JAX in all of JAX's modules."""
    after.__doc__, after.__module__ = before.__doc__, before.__module__
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "jax" and getattr(module, "from_dlpack", None) is before:
            module.from_dlpack = after  # type: ignore[attr-defined]


def _exported(
    array: Any, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
) -> Any:
    if len(array.devices()) != 1:
        raise BufferError(
            "to_dlpack can only pack a dlpack tensor from an array on a singular device, but an array with a Sharding "
            f"over {len(array.devices())} devices was provided."
        )
    if dl_device is not None and int(dl_device[0]) != _CPU:
        raise BufferError(f"the array is on a CPU, and was asked for on the DLPack device {dl_device}")
    if array.dtype == dtypes.bfloat16:
        raise BufferError("NumPy exports no bfloat16.\nWhat to do: export x.view(jax.numpy.uint16)")
    memory = np.array(array) if copy else np.asarray(_Memory(array))
    return memory.__dlpack__()


def _takes(array: Any, device: Any) -> bool:
    """Whether the caller asks for an array of the host on our devices."""
    if not hasattr(array, "__dlpack__") or not hasattr(array, "__dlpack_device__"):
        return False
    if int(array.__dlpack_device__()[0]) != _CPU:
        return False
    if device is not None:
        devices = getattr(device, "device_set", {device})
        return all(getattr(one, "platform", "") == _PLATFORM for one in devices)
    if isinstance(array, jax.Array):
        return _is_ours(array)
    return jax.default_backend() == _PLATFORM


def _imported(array: Any, device: Any, copy: bool | None) -> Any:
    is_jaxs: bool = isinstance(array, jax.Array)
    if is_jaxs and device is None and not copy:
        return array
    taken = np.from_dlpack(array)
    return jax.device_put(np.array(taken) if copy else taken, device)
