"""Exchange with other array libraries: DLPack in both directions, and the inspection interface of the Array API.

`array` attaches the methods. Reference: Array API standard 2024.12; DLPack 1.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycompiler._runtime import Array, Device, array_from_dlpack, default_device, devices, dlpack_capsule, sharding_of
from pycompiler.core.config.config import config
from pycompiler.core.mesh.placement import check_placement
from pycompiler.core.mesh.processes import processes
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, short
from pycompiler.lax.placement import created, place_leaf

__all__ = [
    "array_repr",
    "array_str",
    "from_dlpack",
    "get_printoptions",
    "printoptions",
    "set_printoptions",
]

# Texts of arrays, in NumPy's form.
array_repr = np.array_repr
array_str = np.array_str

API_VERSION = "2024.12"
_CPU, _CUDA = 1, 2  # kDLCPU, kDLCUDA


def dlpack(
    self: Array,
    *,
    stream: int | None = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The elements as a DLPack capsule, shared and marked as read-only, or a copy with `copy=True`. Waits for them.

    Consumers of versions before 1.0 get the old capsule, which has no read-only mark; they must not write. The
    elements are computed when this returns, so that any `stream` may read those of a GPU. Raises BufferError for a
    dtype that DLPack does not have, for another device than the array's, and for an array on several.
    """
    sharding = sharding_of(self)
    if sharding is not None:
        way = "np.asarray(x) has all elements, " if sharding.is_fully_addressable else ""
        raise BufferError(
            f"__dlpack__: {short(self.aval)} is on {sharding.num_devices} devices, and a tensor is on one. What to do: "
            f"{way}x.addressable_data(i) is the part of one device"
        )
    here = dlpack_device(self)
    if stream is not None and here[0] == _CPU:
        raise ValueError(f"__dlpack__: stream must be None on a CPU, got {stream!r}")
    if dl_device is not None and tuple(dl_device) != here:
        raise BufferError(f"__dlpack__: the array is on device {here} and can't be exported to {dl_device}")
    return dlpack_capsule(self, max_version is not None and max_version[0] >= 1, bool(copy))


def dlpack_device(self: Array) -> tuple[int, int]:
    """The DLPack type and number of the device: (1, 0) for the CPU, (2, 0) for the first GPU that this process sees."""
    device = self.device
    return (_CUDA, device.local_hardware_id) if isinstance(device, Device) and device.platform == "gpu" else (_CPU, 0)


def from_dlpack(x: Any, /, *, device: Device | None = None, copy: bool | None = None) -> Array:
    """The array of another library, through `x.__dlpack__()`: shared if it is row-major on the CPU, else copied.

    A shared array changes when its owner writes to it. If a copy is needed, `copy=False` raises BufferError;
    `copy=True` always copies. A 64-bit array is narrowed, with a warning, unless `enable_x64` is set. Raises TypeError
    for an object without `__dlpack__`, BufferError for dtypes and devices that are not supported.
    """
    if device is not None:
        return created("from_dlpack", device, lambda: from_dlpack(x, copy=copy))
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__ method; use asarray")
    kind, number = x.__dlpack_device__() if hasattr(x, "__dlpack_device__") else (_CPU, 0)
    stream: dict[str, Any] = {}
    if kind != _CPU:
        here = [one for one in devices() if one.platform == "gpu" and processes.is_here(one)]
        owner = next((one for one in here if (kind, number) == (_CUDA, one.local_hardware_id)), None)
        if owner is None:
            raise BufferError(
                f"from_dlpack: the array is on a device of DLPack type {int(kind)}; copy it to the CPU first"
            )
        # The producer makes the stream that will read the elements wait for them.
        stream["stream"] = owner.stream_handle
    try:
        capsule = x.__dlpack__(max_version=(1, 0), copy=copy, **stream)
    except TypeError:  # a producer older than 1.0
        capsule = x.__dlpack__(**stream)
    made = array_from_dlpack(capsule, copy)
    dtype = dtypes.canonicalize(made.dtype)
    if dtype == made.dtype:
        return made
    if copy is False:
        raise BufferError(
            f"from_dlpack: {made.dtype.name} must be narrowed to {dtype.name}, which copies; set enable_x64"
        )
    dtypes.warn_of_narrowing("from_dlpack", made.dtype, dtype)
    return as_array(np.asarray(made).astype(dtype))


def to_device(self: Any, device: Device, *, stream: None = None) -> Any:
    """The array on `device`. Raises ValueError for a device that does not exist, and for a stream."""
    if stream is not None:
        raise ValueError(f"to_device: stream must be None on a CPU, got {stream!r}")
    return place_leaf("to_device", self, device)


class ArrayNamespaceInfo:
    """The result of `__array_namespace_info__()`: capabilities, devices, dtypes and their defaults."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """Boolean masks and data-dependent sizes work outside `jit`; the number of dimensions has no limit."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> Device:
        """The device on which arrays are created."""
        return default_device()

    def devices(self) -> list[Device]:
        """All devices."""
        return list(devices())

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, np.dtype[Any]]:
        """The dtypes of Python scalars and of index arrays: 32 bits unless `enable_x64` is set."""
        check_placement("default_dtypes", device)
        wide = config.enable_x64
        return {
            "real floating": dtypes.float64 if wide else dtypes.float32,
            "complex floating": np.dtype(np.complex128 if wide else np.complex64),
            "integral": dtypes.int64 if wide else dtypes.int32,
            "indexing": dtypes.int64 if wide else dtypes.int32,
        }

    def dtypes(
        self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """The supported dtypes of the standard, by name: those of a `kind` of `isdtype`, or of several kinds."""
        check_placement("dtypes", device)
        wide = config.enable_x64
        kinds: dict[str, tuple[str, ...]] = {
            "bool": ("bool",),
            "signed integer": ("int8", "int16", "int32", *(("int64",) if wide else ())),
            "unsigned integer": ("uint8", "uint16", "uint32", *(("uint64",) if wide else ())),
            "real floating": ("float32", *(("float64",) if wide else ())),
            "complex floating": ("complex64", *(("complex128",) if wide else ())),
        }
        kinds["integral"] = kinds["signed integer"] + kinds["unsigned integer"]
        kinds["numeric"] = kinds["integral"] + kinds["real floating"] + kinds["complex floating"]
        asked = ("bool", "numeric") if kind is None else (kind,) if isinstance(kind, str) else kind
        for one in asked:
            if one not in kinds:
                raise ValueError(f"dtypes: kind must be one of {', '.join(kinds)}, got {one!r}")
        return {name: np.dtype(name) for one in asked for name in kinds[one]}


# Arrays are printed by NumPy.


def get_printoptions() -> Any:
    """The options for the text of arrays: those of NumPy."""
    return np.get_printoptions()


def set_printoptions(*args: Any, **kwargs: Any) -> None:
    """Change the options for the text of arrays. Takes the arguments of `numpy.set_printoptions`."""
    np.set_printoptions(*args, **kwargs)


def printoptions(*args: Any, **kwargs: Any) -> Any:
    """A context with other options for the text of arrays. Takes the arguments of `numpy.printoptions`.

    >>> import pycompiler.numpy as pnp
    >>> with pnp.printoptions(precision=2):
    ...     print(pnp.array([3.14159]))
    [3.14]
    """
    return np.printoptions(*args, **kwargs)
