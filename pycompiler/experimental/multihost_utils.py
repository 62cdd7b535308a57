"""Communication between the processes of a program. All processes call each function, in the same order."""

import contextlib
import itertools
import json
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from pycompiler._runtime import Array, Device
from pycompiler.core.config.config import config
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.processes import owners_of, processes
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import short
from pycompiler.core.types.tree import prefix_leaves, tree_flatten, tree_map
from pycompiler.core.types.tree_keys import keystr, tree_flatten_with_path
from pycompiler.lax.names import nearest_name
from pycompiler.random import key_data, wrap_key_data
from pycompiler.spmd.across import part_here
from pycompiler.spmd.agreement import meet
from pycompiler.spmd.placement import device_put, devices
from pycompiler.spmd.sharded import make_array_from_process_local_data

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


def _patience_ms() -> int:
    """The maximum wait for other processes in milliseconds, as in a launch; 0 is no limit."""
    return config.collective_timeout * 1000


def _gathered_bytes(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The arrays of all processes, stacked; they have one shape and dtype. They travel as bytes, so all dtypes stay."""
    first = [next(device for device in devices() if device.process_index == owner) for owner in _everyone()]
    mesh = Mesh(np.array(first, object), ("processes",))
    words = np.frombuffer(np.ascontiguousarray(x).tobytes(), np.uint8)[None]
    parted = make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("processes")), words)
    whole = np.asarray(device_put(parted, NamedSharding(mesh, PartitionSpec())))
    return np.frombuffer(whole.tobytes(), x.dtype).reshape(processes.count, *x.shape)


def _is_key(x: Any) -> bool:
    return isinstance(x, Array) and dtypes.is_key(x.dtype)


def _on_host(x: Any) -> np.ndarray[Any, Any]:
    """The elements of a leaf; of keys, their numbers."""
    return np.asarray(key_data(x) if _is_key(x) else x)


def _like(x: Any, values: np.ndarray[Any, Any]) -> Any:
    """What a leaf becomes: keys stay keys."""
    return wrap_key_data(values) if _is_key(x) else values


def _gathered(x: Any, tiled: bool) -> Any:
    if _is_elsewhere(x):
        return _like(x, _on_host(device_put(x, NamedSharding(x.sharding.mesh, PartitionSpec()))))
    values = _on_host(x)
    if not processes.are_several:
        return _like(x, values if tiled else values[None])
    every = _gathered_bytes(values)
    # Numbers have no axis to be joined along: they get one.
    return _like(x, np.concatenate(list(every)) if tiled and np.ndim(x) else every)


def _is_elsewhere(x: Any) -> bool:
    """Whether x is an array with parts in other processes."""
    return isinstance(x, Array) and not x.is_fully_addressable


def _types(function: str, tree: Any) -> list[tuple[str, str]]:
    """The leaves of a tree of this process, by their paths, with the shapes and dtypes that are the same everywhere.

    Raises TypeError for a leaf that other processes can't get.
    """
    found: list[tuple[str, str]] = []
    for keys, x in tree_flatten_with_path(tree)[0]:
        path = keystr(keys)
        if _is_elsewhere(x):
            found.append((path, f"{short(x.aval)} over processes"))
            continue
        values = _on_host(x)
        if values.dtype.hasobject:
            where = f" at {path}" if path else ""
            raise TypeError(
                f"{function}: takes trees of arrays, numbers and strings, got {x!r} of type {type(x).__name__}{where}"
            )
        kind = x.dtype.name if _is_key(x) else values.dtype
        found.append((path, f"{kind}[{','.join(map(str, np.shape(x)))}]"))
    return found


def _difference(every: list[list[tuple[str, str]]]) -> str:
    """How the leaves of the first process differ from those of another one; "" if all are the same."""
    for number, types in enumerate(every):
        if types == every[0]:
            continue
        pairs = itertools.zip_longest(every[0], types, fillvalue=("", "nothing"))
        [one, other] = next((one, other) for one, other in pairs if one != other)
        return f"process 0 gives {_leaf(one)}, process {number} {_leaf(other)}"
    return ""


def _leaf(leaf: tuple[str, str]) -> str:
    path, kind = leaf
    return f"{kind} at {path}" if path else kind


def _agreed(function: str, tree: Any, own: str = "") -> tuple[list[str], str]:
    """What each process says, and how their trees differ. All processes come here."""
    told = meet(function, _everyone(), json.dumps([own, _types(function, tree)]).encode(), _patience_ms())
    every = [json.loads(each) for each in told]
    types = [[(path, kind) for path, kind in leaves] for _, leaves in every]
    return [said for said, _ in every], _difference(types)


def _check(function: str, difference: str) -> None:
    if difference:
        raise ValueError(
            f"{function}: all processes must give trees of the same structure, shapes and dtypes, but {difference}"
        )


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The arrays of the source process, by default process 0, as NumPy arrays in all processes; keys stay keys. The
    other processes pass trees with the same shapes and dtypes.

    Raises ValueError unless one process is the source, and where the trees differ.

    >>> from pycompiler.experimental import multihost_utils
    >>> multihost_utils.broadcast_one_to_all({"seed": 3})
    {'seed': array(3)}
    """
    if not processes.are_several:
        return tree_map(lambda x: x if _is_key(x) else np.asarray(x), in_tree)
    is_own = processes.index == 0 if is_source is None else is_source
    said, difference = _agreed("broadcast_one_to_all", in_tree, "1" if is_own else "")
    sources = [number for number, each in enumerate(said) if each]
    if len(sources) != 1:
        raise ValueError(f"broadcast_one_to_all: one process is the source, got is_source=True in processes {sources}")
    _check("broadcast_one_to_all", difference)
    return tree_map(lambda x: _like(x, _gathered_bytes(_on_host(x))[sources[0]]), in_tree)


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The arrays of all processes, as NumPy arrays: stacked, or with `tiled` joined, along the first axis. Numbers
    become vectors, keys stay keys. All processes call this. An array that is divided over processes is fetched whole.

    Raises ValueError where the processes give trees of different structures, shapes or dtypes.

    >>> from pycompiler.experimental import multihost_utils
    >>> multihost_utils.process_allgather(1.5)
    array([1.5])
    """
    # Arrays over processes may be those of some processes only, and their launches are compared.
    if processes.are_several and not all(map(_is_elsewhere, tree_flatten(in_tree)[0])):
        _check("process_allgather", _agreed("process_allgather", in_tree)[1])
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
    """Raise AssertionError unless the trees are equal in all processes; a nan is equal to nothing."""
    head = f"{fail_message}. " if fail_message else ""
    if processes.are_several and (difference := _agreed("assert_equal", in_tree)[1]):
        raise AssertionError(f"{head}The trees differ: {difference}")
    for x in tree_flatten(in_tree)[0]:
        values = _on_host(x)
        first = broadcast_one_to_all(values)
        is_equal = bool(np.all(np.equal(values, first)))
        told = [b""]
        if processes.are_several:
            told = meet("assert_equal", _everyone(), b"" if is_equal else b"1", _patience_ms())
        wrong = [number for number, each in enumerate(told) if each]
        if not is_equal or wrong:
            where = f" They differ from process 0 in processes {wrong}." if wrong else ""
            raise AssertionError(f"{head}Expected: {first}; got: {values}.{where}")


_is_preempted = False


# The program's own function for SIGTERM, which is called, too.
_earlier: Any = None


def _note_preemption(*given: Any) -> None:
    global _is_preempted
    _is_preempted = True
    if callable(_earlier):
        _earlier(*given)


def _watch_preemption() -> None:
    global _earlier
    now = signal.getsignal(signal.SIGTERM)
    if now is _note_preemption:
        return
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError(
            "reached_preemption_sync_point: Python gives signals to the main thread alone. What to do: make the first "
            "call in the main thread"
        )
    _earlier = now
    signal.signal(signal.SIGTERM, _note_preemption)


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether the processes are to save a checkpoint because some are stopped soon: one got SIGTERM. All processes call
    this at each step, and get one answer. Never, for one process.

    Raises ValueError where the processes are at different steps.
    """
    if not processes.are_several:
        return False
    _watch_preemption()
    own = json.dumps([int(step_id), _is_preempted]).encode()
    told = [json.loads(each) for each in meet("reached_preemption_sync_point", _everyone(), own, _patience_ms())]
    for number, (step, _) in enumerate(told):
        if step != told[0][0]:
            raise ValueError(
                f"reached_preemption_sync_point: process 0 is at step {told[0][0]}, process {number} at step {step}"
            )
    return any(is_preempted for _, is_preempted in told)


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
    return part_here(device_put(x, sharding))


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts of arrays that this process has, on the mesh of its devices.

    Raises ValueError for a spec that is None, or that does not divide its array.
    """
    return _placed("global_array_to_host_local_array", global_inputs, global_mesh, pspecs, _local_part)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
