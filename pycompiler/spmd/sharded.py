"""Sharded arrays: making them, their parts, reading them. They belong to the runtime's one class of arrays.

Imports `core.mesh.sharding`; `execution` computes with them. A sharded array holds the arrays of its devices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycompiler._runtime import (
    Array,
    ShapedArray,
    array_of_bytes,
    current_trace,
    sharded_array,
    sharding_of,
    shards_of,
)
from pycompiler.compile.targets import target_of
from pycompiler.core.errors import UnexpectedTracerError
from pycompiler.core.hooks import set_assembler
from pycompiler.core.mesh.contexts import current_mesh
from pycompiler.core.mesh.layout import sharding_of as without_layout
from pycompiler.core.mesh.mesh import Device
from pycompiler.core.mesh.placement import put
from pycompiler.core.mesh.processes import how_to_read, processes
from pycompiler.core.mesh.sharding import Index, NamedSharding, Sharding, replicas
from pycompiler.core.mesh.spec import PartitionSpec, local_shape
from pycompiler.core.mesh.typed import with_type
from pycompiler.core.tracing.arguments import as_sizes
from pycompiler.core.tracing.boundary import boundary
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.core.types.tree import prefix_leaves, tree_flatten
from pycompiler.diagnostics import remarks
from pycompiler.lax.placement import device_put
from pycompiler.primitives.arithmetic import bitcast
from pycompiler.primitives.indexing import dynamic_slice


@dataclass(frozen=True, eq=False, repr=False)
class Shard:
    """One device's part of an array: the device, the index of the part, its number among equal parts, the array. If a
    part is in another process, it has no array here: `data` is None."""

    device: Device
    index: Index
    replica_id: int
    data: Any

    def __repr__(self) -> str:
        shown = self.data if self.data is None or dtypes.is_key(self.data.dtype) else np.asarray(self.data)
        return f"Shard(device={self.device!r}, index={self.index}, replica_id={self.replica_id}, data={shown})"


def is_sharded(x: object) -> bool:
    """Whether x is an array whose elements are on several devices."""
    return type(x) is Array and sharding_of(x) is not None


def from_shards(aval: ShapedArray, sharding: NamedSharding, shards: Sequence[Array]) -> Array:
    """The array with these parts: those of this process's devices, in the order of the sharding's."""
    return sharded_array(with_type(aval, sharding), tuple(shards), sharding)


def _assemble(array: Array) -> np.ndarray[Any, Any]:
    """All elements, as a read-only ndarray."""
    sharding, shards = sharding_of(array), shards_of(array)
    array.block_until_ready()
    if sharding.is_fully_replicated and shards:
        return np.asarray(shards[0])
    if not sharding.is_fully_addressable:
        raise RuntimeError(
            f"process {processes.index} reads an array {short(array.aval)}, but it has only {len(shards)} of the "
            f"{sharding.num_devices} parts: {how_to_read(sharding.device_list)}"
        )
    shape = array.shape
    whole = np.empty(shape, array.dtype)
    for index, copy, part in zip(sharding.indices(shape), replicas(sharding, shape), shards, strict=True):
        if not copy:
            whole[index] = np.asarray(part)
    whole.flags.writeable = False
    return whole


set_assembler(_assemble)


def shards(array: Array) -> list[Shard]:
    """The parts of an array, one for each device of this process."""
    return [shard for shard in global_shards(array) if shard.data is not None]


def global_shards(array: Array) -> list[Shard]:
    """The parts of an array, one for each device."""
    sharding = sharding_of(array)
    if sharding is None:
        return [Shard(array.device, tuple([slice(None)] * array.ndim), 0, array)]
    shape = array.shape
    here = dict(zip(sharding.local_numbers, shards_of(array), strict=True))
    return [
        Shard(device, index, copy, here.get(number))
        for number, (device, index, copy) in enumerate(
            zip(sharding.device_list, sharding.indices(shape), replicas(sharding, shape), strict=True)
        )
    ]


# Making


def on_host(x: Any) -> np.ndarray[Any, Any]:
    """The elements of an array or scalar, in the dtype of its array. Keys become their words."""
    aval = get_aval(x)
    if type(x) is Array:
        return np.asarray(bitcast.bind(x, new_dtype=dtypes.uint64) if dtypes.is_key(aval.dtype) else x)
    if isinstance(x, np.ndarray) and x.dtype != aval.dtype:
        dtypes.warn_of_narrowing("an input array", x.dtype, aval.dtype)
    return np.asarray(x, aval.dtype)


def on_device(host: np.ndarray[Any, Any], device: Device, like: ShapedArray) -> Array:
    """A copy on a device, in the dtype of an aval. The words of keys become keys."""
    aval = ShapedArray(host.shape, like.dtype, like.weak_type)
    return array_of_bytes(np.ascontiguousarray(host).reshape(-1).view(np.uint8), aval, device)


def spread(x: Any, sharding: NamedSharding) -> Array:
    """The elements of x, an array or scalar, copied to the devices of a sharding.

    Raises ValueError when the sharding can't divide them.
    """
    aval = get_aval(x)
    sharding.check_compatible_aval(aval.shape)
    if type(x) is Array and _is_on_gpu(x) and current_trace() is None:
        return from_shards(aval, sharding, _parts_on_devices(x, sharding))
    if is_sharded(x):
        remarks.tell("through-host", f"{short(aval)} on {sharding_of(x).mesh} is copied to {sharding.mesh}")
    host = on_host(x)
    parts = [on_device(host[index], device, aval) for device, index in places(sharding, aval.shape)]
    return from_shards(aval, sharding, parts)


def places(sharding: NamedSharding, shape: tuple[int, ...]) -> list[tuple[Device, Index]]:
    """This process's devices, in the order of the parts that arrays hold, and the index of each one's part."""
    devices, indices = sharding.device_list, sharding.indices(shape)
    return [(devices[number], indices[number]) for number in sharding.local_numbers]


def _is_on_gpu(x: Array) -> bool:
    return not is_sharded(x) and not target_of(x.device).is_host


def _parts_on_devices(x: Array, sharding: NamedSharding) -> list[Array]:
    """Parts of an array in a GPU's memory, copied from there to the devices, without waiting."""
    sizes = sharding.shard_shape(x.shape)
    parts: list[Array] = []
    for device, index in places(sharding, x.shape):
        if sizes == x.shape:
            # Copy: deleting the array deletes its parts, but must not delete x.
            parts.append(put(x, device, may_alias=False))
            continue
        # All parts use the same code.
        starts = [np.asarray(where.start or 0, np.int32) for where in index]
        parts.append(put(dynamic_slice.bind(x, *starts, slice_sizes=sizes), device))
    return parts


def _named(function: str, sharding: Any) -> Sharding:
    sharding = without_layout(function, sharding, of_array=True)
    if isinstance(sharding, PartitionSpec):
        return NamedSharding(current_mesh(function), sharding)
    if not isinstance(sharding, Sharding):
        raise TypeError(f"{function}: takes a sharding, got {sharding!r} of type {type(sharding).__name__}")
    return sharding


@boundary
def make_array_from_callback(
    shape: Sequence[int], sharding: Sharding, data_callback: Callable[[Any], Any], dtype: Any = None
) -> Array:
    """An array whose parts come from `data_callback(index)`. The index is a tuple of slices. Each process calls it for
    the parts of its devices.

    Raises ValueError when a part does not have the shape of the sharding's parts.

    >>> import numpy as np, pycompiler as pc
    >>> mesh = pc.make_mesh((1,), ("x",))
    >>> sharding = pc.sharding.NamedSharding(mesh, pc.sharding.PartitionSpec("x"))
    >>> pc.make_array_from_callback((3,), sharding, lambda index: np.arange(3.0, dtype="float32")[index])
    Array([0., 1., 2.], dtype=float32)
    """
    function = "make_array_from_callback"
    shape = as_sizes(function, "shape", shape)
    wanted = None if dtype is None else dtypes.canonicalize(dtypes.as_dtype(dtype))
    sharding = _named(function, sharding)
    local = sharding.shard_shape(shape)
    made: dict[Any, tuple[np.ndarray[Any, Any], ShapedArray]] = {}
    parts: list[Array] = []
    for device, index in sharding.addressable_devices_indices_map(shape).items():
        key = tuple([(s.start, s.stop) for s in index])
        if key not in made:
            given = data_callback(index)
            if isinstance(given, Tracer):
                raise UnexpectedTracerError(
                    f"{function}: the callback gave {given!r}, and the parts are numbers. What to do: call it outside "
                    "of traced functions"
                )
            part, aval = on_host(given), get_aval(given)
            if wanted is not None and wanted != aval.dtype:
                part, aval = part.astype(wanted), ShapedArray(aval.shape, wanted)
            other = next(iter(made.values()))[1] if made else aval
            if aval.dtype != other.dtype:
                raise ValueError(
                    f"{function}: the parts of an array have one dtype, and the callback gave {short(aval)} for "
                    f"{index}, and {short(other)} before. What to do: convert them, or give dtype="
                )
            if aval.shape != local:
                raise ValueError(
                    f"{function}: the callback gave {short(aval)} for {index}; {sharding} of the shape {shape} "
                    f"has parts of the shape {local}"
                )
            made[key] = part, aval
        parts.append(on_device(made[key][0], device, made[key][1]))
    return _joined(shape, sharding, parts, dtype)


@boundary
def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Array], *, dtype: Any = None
) -> Array:
    """An array from existing arrays on its devices, one for each device of this process.

    Raises ValueError when their number is wrong, or one does not have the shape of the sharding's parts, or `dtype`.
    """
    function = "make_array_from_single_device_arrays"
    shape = as_sizes(function, "shape", shape)
    if not isinstance(arrays, (list, tuple)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{function}: arrays is a list of arrays, got {short(get_aval(arrays))}")
    sharding = _named(function, sharding)
    local = sharding.shard_shape(shape)
    given = list(arrays)
    wanted = sharding.addressable_devices_indices_map(shape)
    if len(given) != len(wanted):
        where = "" if sharding.is_fully_addressable else f" in process {processes.index}"
        raise ValueError(f"{function}: {sharding} has {len(wanted)} devices{where}, got {len(given)} arrays")
    for number, part in enumerate(given):
        if part.shape != local or part.dtype != given[0].dtype or is_sharded(part):
            raise ValueError(
                f"{function}: array {number} is {short(part)}; {sharding} of the shape {shape} has parts of the shape "
                f"{local}, all of one dtype and each on one device"
            )
    if dtype is not None and given and given[0].dtype != dtypes.canonicalize(np.dtype(dtype)):
        raise ValueError(f"{function}: dtype is {np.dtype(dtype).name}, the arrays are {short(given[0])}")
    by_device = {id(part.device): part for part in given}
    ordered = [by_device.get(id(device)) for device in wanted]
    if any(part is None for part in ordered):
        there = [part.device for part in given]
        raise ValueError(f"{function}: the arrays are on {there}, the sharding's devices are {tuple(wanted)}")
    return _joined(shape, sharding, ordered, dtype)


@boundary
def make_array_from_process_local_data(sharding: Any, local_data: Any, global_shape: Any = None) -> Any:
    """A tree of arrays with a sharding, from the data of this process.

    `sharding` and `global_shape` are trees that are prefixes of `local_data`. Along each dimension, the data belong to
    the devices of this process, in order, or (if `global_shape` has the size of the data) to all devices. Without a
    global shape, the size of a dimension is that of the data times the number of parts in all processes, divided by the
    number of parts in this process. Raises ValueError for a global shape that does not fit the data.

    >>> import numpy as np, pycompiler as pc
    >>> sharding = pc.sharding.NamedSharding(pc.make_mesh((1,), ("x",)), pc.sharding.PartitionSpec("x"))
    >>> pc.make_array_from_process_local_data(sharding, np.arange(3, dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    function = "make_array_from_process_local_data"
    leaves, structure = tree_flatten(local_data)
    shapes = prefix_leaves(global_shape, local_data, lambda x: x is None or isinstance(x, tuple))
    shardings = prefix_leaves(sharding, local_data, lambda x: isinstance(x, (Sharding, PartitionSpec)))
    return structure.unflatten(
        [
            _of_local_data(function, _named(function, where), x, shape)
            for where, x, shape in zip(shardings, leaves, shapes, strict=True)
        ]
    )


def _of_local_data(function: str, sharding: Sharding, x: Any, shape: tuple[int, ...] | None) -> Array:
    if sharding.is_fully_addressable or not isinstance(sharding, NamedSharding):
        if shape is not None and tuple(shape) != np.shape(x):
            raise ValueError(
                f"{function}: this process has all devices of {sharding}, so that global_shape must be None or the "
                f"shape of the data, {np.shape(x)}, got {shape}"
            )
        return device_put(x, sharding)
    host, aval = on_host(x), get_aval(x)
    # The numbers of the parts here along each dimension, and of all.
    parts = local_shape(
        [sharding.mesh.size] * host.ndim, sharding.layout([sharding.mesh.size] * host.ndim), sharding.mesh.shape
    )
    counts = tuple([sharding.mesh.size // part for part in parts])
    here = [index for _, index in places(sharding, counts)]
    found = [sorted({index[axis].start or 0 for index in here}) for axis in range(host.ndim)]
    for axis, (size, some) in enumerate(zip(host.shape, found, strict=True)):
        # Data of the size of the whole dimension are for all devices.
        is_whole = shape is not None and len(shape) == host.ndim and shape[axis] == size
        if some and size % len(some) and not is_whole:
            raise ValueError(
                f"{function}: the data of process {processes.index} have the shape {host.shape}, and {sharding} "
                f"divides dimension {axis} into {len(some)} equal parts here: {size} is not a multiple of {len(some)}"
            )
    sizes = tuple(
        [size // max(len(some), 1) * count for size, some, count in zip(host.shape, found, counts, strict=True)]
    )
    wanted = sizes if shape is None else as_sizes(function, "global_shape", shape)
    if len(wanted) != host.ndim or not all(
        size in (made, given) for size, made, given in zip(wanted, sizes, host.shape, strict=True)
    ):
        raise ValueError(
            f"{function}: the data of process {processes.index} have the shape {host.shape}, from which {sharding} "
            f"makes {sizes}, got global_shape={shape}"
        )

    def of_data(index: Index) -> Index:
        """The place of a part in the data."""
        moved: list[slice] = []
        for axis, part in enumerate(index):
            length = wanted[axis] // counts[axis]
            if host.shape[axis] == wanted[axis] or counts[axis] == 1:
                moved.append(part)
            else:
                place = found[axis].index((part.start or 0) // length)
                moved.append(slice(place * length, (place + 1) * length))
        return tuple(moved)

    sharding.check_compatible_aval(wanted)
    arrays = [on_device(host[of_data(index)], device, aval) for device, index in places(sharding, wanted)]
    return _joined(wanted, sharding, arrays, aval.dtype)


def _joined(shape: tuple[int, ...], sharding: Sharding, parts: Sequence[Any], dtype: Any) -> Array:
    if not isinstance(sharding, NamedSharding):
        return parts[0]
    if not parts:
        # A process without devices of the mesh has no part with the dtype.
        if dtype is None:
            raise ValueError(f"{sharding} has no devices in process {processes.index}: give the dtype, dtype=...")
        return from_shards(ShapedArray(shape, dtypes.canonicalize(dtypes.as_dtype(dtype))), sharding, ())
    return from_shards(ShapedArray(shape, parts[0].dtype, parts[0].weak_type), sharding, parts)
