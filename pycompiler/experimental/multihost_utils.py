"""Communication between the processes of a program. All processes call each function, in the same order."""

import contextlib
import math
import signal
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array, Device
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.processes import owners_of, processes
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types.tree import prefix_leaves, tree_flatten, tree_map
from pycompiler.lax.names import nearest_name
from pycompiler.spmd.agreement import meet
from pycompiler.spmd.placement import device_put, devices
from pycompiler.spmd.sharded import make_array_from_process_local_data, make_array_from_single_device_arrays, shards

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "live_devices",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]


def _everyone() -> tuple[int, ...]:
    return tuple(range(processes.count))


def _gathered_bytes(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The arrays of all processes, stacked; they have one shape and dtype. They travel as bytes, so all dtypes stay."""
    first = [next(device for device in devices() if device.process_index == owner) for owner in _everyone()]
    mesh = Mesh(np.array(first, object), ("processes",))
    words = np.frombuffer(np.ascontiguousarray(x).tobytes(), np.uint8)[None]
    parted = make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("processes")), words)
    whole = np.asarray(device_put(parted, NamedSharding(mesh, PartitionSpec())))
    return np.frombuffer(whole.tobytes(), x.dtype).reshape(processes.count, *x.shape)


def _gathered(x: Any, tiled: bool) -> np.ndarray[Any, Any]:
    if isinstance(x, Array) and not x.is_fully_addressable:
        whole = device_put(x, NamedSharding(x.sharding.mesh, PartitionSpec()))
        return np.asarray(whole)
    values = np.asarray(x)
    if not processes.are_several:
        return values if tiled else values[None]
    every = _gathered_bytes(values)
    return np.concatenate(list(every)) if tiled else every


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The arrays of the source process, by default process 0, as NumPy arrays in all processes. The other processes
    pass trees with the same shapes and dtypes.

    Raises ValueError unless one process is the source.

    >>> from pycompiler.experimental import multihost_utils
    >>> multihost_utils.broadcast_one_to_all({"seed": 3})
    {'seed': array(3)}
    """
    if not processes.are_several:
        return tree_map(np.asarray, in_tree)
    is_own = processes.index == 0 if is_source is None else is_source
    told = meet("broadcast_one_to_all", _everyone(), b"1" if is_own else b"", 0)
    sources = [number for number, each in enumerate(told) if each]
    if len(sources) != 1:
        raise ValueError(f"broadcast_one_to_all: one process is the source, got is_source=True in processes {sources}")
    return tree_map(lambda x: _gathered_bytes(np.asarray(x))[sources[0]], in_tree)


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The arrays of all processes, as NumPy arrays: stacked, or with `tiled` joined, along the first axis. All
    processes call this. An array that is divided over processes is fetched whole.

    >>> from pycompiler.experimental import multihost_utils
    >>> multihost_utils.process_allgather(1.5)
    array([1.5])
    """
    return tree_map(lambda x: _gathered(x, tiled), in_tree)


def sync_global_devices(name: str, timeout: float | None = None) -> None:
    """Wait until all processes call this, at most `timeout` seconds. `name` is the name of the meeting.

    Raises RuntimeError with the missing processes when the time is over.
    """
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"sync_global_devices: the name must be a str, got {name!r} of type {type(name).__name__}")
    if processes.are_several:
        meet(f"sync_global_devices: {name!r}", _everyone(), b"", 0 if timeout is None else max(int(timeout * 1000), 1))


@contextlib.contextmanager
def live_devices(devices: Sequence[Device]) -> Generator[list[Device]]:
    """A block that the processes of some devices run together: all of them complete it, or all of them raise.

    It gives the devices in their order. Processes wait for each other before and after the block. After the failure of
    a process, a program stops with DistributedError, which names the process. So all devices of a running program are
    live. Raises RuntimeError if the block raised in another process, ValueError if this process has none of the
    devices.

    >>> import pycompiler as pc
    >>> from pycompiler.experimental import multihost_utils
    >>> with multihost_utils.live_devices(pc.devices()) as live:
    ...     print(live == pc.devices())
    True
    """
    members = owners_of(tuple(devices))
    if processes.index not in members:
        raise ValueError(f"live_devices: process {processes.index} has none of the devices {list(devices)}")
    several = len(members) > 1
    if several:
        meet("live_devices", members, b"", 0)
    error: Exception | None = None
    try:
        yield sorted(devices, key=lambda device: device.id)
    except Exception as raised:
        error = raised
    told = b"" if error is None else f"{type(error).__name__}: {error}".encode()
    others = meet("the end of live_devices", members, told, 0) if several else []
    if error is not None:
        raise error
    failed = [f"process {number}: {text.decode()}" for number, text in zip(members, others, strict=False) if text]
    if failed:
        raise RuntimeError(f"live_devices: the block failed in another process: {'; '.join(failed)}")


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise AssertionError unless the arrays are equal in all processes; a nan is equal to nothing."""
    for x in tree_flatten(in_tree)[0]:
        values = np.asarray(x)
        first = broadcast_one_to_all(values)
        is_equal = bool(np.all(np.equal(values, first)))
        told = meet("assert_equal", _everyone(), b"" if is_equal else b"1", 0) if processes.are_several else [b""]
        wrong = [number for number, each in enumerate(told) if each]
        if not is_equal or wrong:
            where = f" They differ from process 0 in processes {wrong}." if wrong else ""
            raise AssertionError(f"{fail_message}. Expected: {first}; got: {values}.{where}")


_is_preempted = False


def _note_preemption(*_: Any) -> None:
    global _is_preempted
    _is_preempted = True


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether the processes should save a checkpoint, since a process got SIGTERM and will stop soon. All processes
    call this at each step, and get the same answer. With one process it is False."""
    if not processes.are_several:
        return False
    if signal.getsignal(signal.SIGTERM) is not _note_preemption:
        signal.signal(signal.SIGTERM, _note_preemption)
    return any(meet(f"preemption at step {step_id}", _everyone(), b"1" if _is_preempted else b"", 0))


def _placed(function: str, tree: Any, mesh: Mesh, pspecs: Any, place: Callable[[NamedSharding, Any], Any]) -> Any:
    leaves, structure = tree_flatten(tree)
    specs = prefix_leaves(pspecs, tree, lambda x: x is None or isinstance(x, PartitionSpec))
    for spec in specs:
        if not isinstance(spec, PartitionSpec):
            raise ValueError(
                f"{function}: {spec!r} is not a valid input to the pspecs argument. Please use PartitionSpec() if you "
                "wanted to replicate your input."
            )
    return structure.unflatten([place(NamedSharding(mesh, spec), x) for x, spec in zip(leaves, specs, strict=True)])


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The arrays of each process as arrays that are divided over a mesh. `pspecs` is a tree of PartitionSpecs, a
    prefix.

    Raises ValueError for a spec that is None, or that does not divide its array.

    >>> import numpy as np, pycompiler as pc
    >>> from pycompiler.experimental import multihost_utils
    >>> mesh = pc.make_mesh((1,), ("x",))
    >>> multihost_utils.host_local_array_to_global_array(np.arange(2.0), mesh, pc.P("x"))
    Array([0., 1.], dtype=float32)
    """
    function = "host_local_array_to_global_array"
    return _placed(function, local_inputs, global_mesh, pspecs, make_array_from_process_local_data)


def _local_part(sharding: NamedSharding, x: Any) -> Any:
    if not isinstance(x, Array) or x.is_fully_addressable:
        return device_put(x, NamedSharding(sharding.mesh.local_mesh, sharding.spec))
    x = device_put(x, sharding)
    own = NamedSharding(sharding.mesh.local_mesh, sharding.spec)
    parts = [shard.data for shard in shards(x)]
    # The part of each device keeps its size, and there are fewer devices.
    layout = own.layout([own.mesh.size] * x.ndim)
    counts = [math.prod([own.mesh.shape[name] for name in names]) for names in layout]
    sizes = [size * count for size, count in zip(parts[0].shape, counts, strict=True)]
    return make_array_from_single_device_arrays(sizes, own, parts)


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts of arrays that this process has, on the mesh of its devices.

    Raises ValueError for a spec that is None, or that does not divide its array.
    """
    return _placed("global_array_to_host_local_array", global_inputs, global_mesh, pspecs, _local_part)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
