"""Writing checkpoints, by a thread beside the program.

`save` copies the parts that this process writes, and returns. The runtime makes the copies without waiting. The thread
writes the file of the process, then all processes meet. Process 0 writes the index, and they meet again. So the index
exists only if all files do, and every process knows of a failure in another one. One save is under way at a time.
`restoring` and the next `save` first call `wait`, which raises the failure.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.checkpoints import files
from pycompiler.checkpoints.files import Tensor
from pycompiler.checkpoints.index import (
    INDEX,
    Folder,
    Index,
    Leaf,
    Part,
    as_step,
    folder_of,
    is_whole,
    path_of,
    steps_in,
    structure_of,
)
from pycompiler.core.config.config import config
from pycompiler.core.mesh.placement import put
from pycompiler.core.mesh.processes import processes
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import short
from pycompiler.core.types.tree_keys import tree_flatten_with_path
from pycompiler.spmd.agreement import meet
from pycompiler.spmd.sharded import global_shards, is_sharded, on_host

# The dtype of keys in files: their two words.
KEY_WORDS = np.dtype(np.uint64)
# Python's values, which the index holds as text.
PYTHON = (bool, int, float, complex, str)


def everyone() -> tuple[int, ...]:
    """The numbers of all processes."""
    return tuple(range(processes.count))


def timeout_ms() -> int:
    """The maximum wait for the other processes at a checkpoint; 0 for no limit."""
    return config.collective_timeout * 1000


def agreed(what: str, own: bytes) -> list[bytes]:
    """The bytes of all processes at this point."""
    return meet(what, everyone(), own, timeout_ms()) if processes.are_several else [own]


# The saved values


@dataclass(frozen=True)
class _Snapshot:
    """The leaves with this process's parts, and copies of these parts, which later calls of the program don't
    change."""

    leaves: list[Leaf]
    tensors: list[Tensor]
    # Values that all processes have, and that process 0 writes.
    shared: list[tuple[str, Callable[[], Any]]]


def _text(value: Any) -> str:
    """A Python number or string; floats have all their bits."""
    if isinstance(value, complex):
        return f"{value.real.hex()} {value.imag.hex()}"
    return value.hex() if isinstance(value, float) else str(value)


def value_of(kind: str, text: str) -> Any:
    """The Python number or string of a leaf."""
    match kind:
        case "bool":
            return text == "True"
        case "int":
            return int(text)
        case "float":
            return float.fromhex(text)
        case "complex":
            return complex(*map(float.fromhex, text.split()))
        case _:
            return text


def host_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of an array's elements in the host's memory, and in files."""
    return KEY_WORDS if dtypes.is_key(dtype) else np.dtype(dtype)


def _part_name(path: str, start: tuple[int, ...], is_all: bool) -> str:
    name = path or "value"
    return name if is_all else f"{name}@{','.join(map(str, start))}"


def _of_array(path: str, x: Array, taken: _Snapshot) -> Leaf:
    if x.is_deleted():
        raise ValueError(
            f"save: the array at {path!r}, {short(x.aval)}, was deleted or donated: save the array that replaced it"
        )
    leaf = Leaf(path, "array", str(x.dtype), x.shape, x.aval.weak_type)
    parts: list[Part] = []
    own = processes.index
    for shard in global_shards(x) if is_sharded(x) else []:
        if shard.replica_id or shard.data is None:
            continue
        data: Array = shard.data
        start = tuple([index.start or 0 for index in shard.index])
        part = Part(own, _part_name(path, start, data.shape == x.shape), start, data.shape)
        parts.append(part)
        kept = put(data, data.device, may_alias=False)
        taken.tensors.append(Tensor(part.name, host_dtype(x.dtype), data.shape, partial(on_host, kept)))
    if not is_sharded(x):
        kept = put(x, x.device, may_alias=False)
        parts += _of_all(path, host_dtype(x.dtype), x.shape, partial(on_host, kept), taken)
    return replace(leaf, parts=tuple(parts))


def _of_all(
    path: str, dtype: np.dtype[Any], shape: tuple[int, ...], values: Callable[[], Any], taken: _Snapshot
) -> list[Part]:
    """A value that every process has: process 0 writes it."""
    taken.shared.append((path, values))
    if processes.index:
        return []
    start = (0,) * len(shape)
    part = Part(0, _part_name(path, start, True), start, shape)
    taken.tensors.append(Tensor(part.name, dtype, shape, values))
    return [part]


def _taken(pairs: list[tuple[Any, Any]]) -> _Snapshot:
    taken = _Snapshot([], [], [])
    for keys, x in pairs:
        path = path_of(keys)
        if type(x) is Array:
            leaf = _of_array(path, x, taken)
        elif isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind not in "OSUMm" and x.dtype.names is None:
            kept = np.array(x)
            parts = _of_all(path, kept.dtype, kept.shape, partial(np.asarray, kept), taken)
            leaf = Leaf(path, "numpy", kept.dtype.name, kept.shape, parts=tuple(parts))
        elif type(x) in PYTHON:
            leaf = Leaf(path, type(x).__name__, value=_text(x))
            taken.shared.append((path, partial(np.frombuffer, leaf.value.encode(), np.uint8)))
        else:
            raise TypeError(
                f"save: the leaf at {path!r} is of type {type(x).__name__}: a checkpoint holds arrays, numbers and "
                "strings. What to do: leave it out, or save what it is made of (of a Ref, ref[...])"
            )
        taken.leaves.append(leaf)
    return taken


# The thread


class _Saving:
    """The save that is under way, and the failure of the last one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.step = 0
        self.failure: BaseException | None = None


_saving = _Saving()


def wait() -> None:
    """`checkpoint.wait`."""
    thread = _saving.thread
    if thread is not None:
        thread.join()
    with _saving.lock:
        failure, _saving.failure, _saving.thread = _saving.failure, None, None
    if failure is not None:
        raise failure


def save(folder: Folder, step: int, tree: Any, keep: int | None) -> None:
    """`checkpoint.save`."""
    step = as_step("save", step)
    if type(step) is not int or step < 0:
        raise ValueError(f"save: step must be an int from 0, got {step!r}")
    if keep is not None and (type(keep) is not int or keep < 1):
        raise ValueError(f"save: keep must be None or an int from 1, got {keep!r}")
    wait()
    root = Path(folder).absolute()
    place = folder_of(root, step)
    if is_whole(place):
        raise ValueError(
            f"save: {place} is a checkpoint already. What to do: save under another step, or remove the folder"
        )
    pairs, _ = tree_flatten_with_path(tree)
    taken = _taken(pairs)
    index = Index(step, (), structure_of(tree), tuple(taken.leaves))
    _saving.step = step
    _saving.thread = threading.Thread(
        target=_write, args=(root, index, taken, keep), name="pycompiler checkpoint", daemon=False
    )
    _saving.thread.start()


def _write(root: Path, index: Index, taken: _Snapshot, keep: int | None) -> None:
    try:
        _write_all(root, index, taken, keep)
    except BaseException as error:
        with _saving.lock:
            _saving.failure = error


processes.before_end.append(wait)


@atexit.register
def _tell_of_failure() -> None:
    if _saving.failure is not None:
        print(f"pycompiler: the checkpoint of step {_saving.step} was not saved: {_saving.failure}", file=sys.stderr)


def _digest(values: Any) -> str:
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16).hexdigest()


def _write_all(root: Path, index: Index, taken: _Snapshot, keep: int | None) -> None:
    place = folder_of(root, index.step)
    name = f"process-{processes.index}-of-{processes.count}.safetensors"
    failure: BaseException | None = None
    told: dict[str, Any] = {"folder": str(place)}
    try:
        place.mkdir(parents=True, exist_ok=True)
        files.sync_folder(root)
        if processes.are_several:
            told["shared"] = {path: _digest(values()) for path, values in taken.shared}
        told["structure"] = index.structure
        told["leaves"] = [asdict(leaf) for leaf in index.leaves]
        told["file"] = name, files.write(place / name, taken.tensors, {"step": str(index.step)})
    except BaseException as error:
        failure = error
        told = {"folder": str(place), "failure": f"{type(error).__name__}: {error}"}
    taken.tensors.clear()
    taken.shared.clear()
    everything = [json.loads(each) for each in agreed("checkpoint.save", json.dumps(told).encode())]
    if failure is not None:
        raise failure
    _check(index.step, everything)
    failed = ""
    if processes.index == 0:
        try:
            _complete(root, place, index, everything, keep)
        except OSError as error:
            failure, failed = error, f"{type(error).__name__}: {error}"
    failed = agreed("checkpoint.save, the index", failed.encode())[0].decode()
    if failure is not None:
        raise failure
    if failed:
        raise RuntimeError(f"save: the checkpoint of step {index.step}: process 0 could not write its index: {failed}")


def _check(step: int, everything: list[dict[str, Any]]) -> None:
    """Raise RuntimeError for a failure elsewhere, ValueError if the processes do not save the same."""
    what = f"save: the checkpoint of step {step}"
    for number, each in enumerate(everything):
        if "failure" in each:
            raise RuntimeError(f"{what}: process {number} could not write its file: {each['failure']}")
    first = everything[0]
    for number, each in enumerate(everything):
        if each["folder"] != first["folder"]:
            raise ValueError(
                f"{what}: process 0 saves to {first['folder']}, process {number} to {each['folder']}. What to do: "
                "make the same calls in all processes"
            )
        for one, other in zip(first["leaves"], each["leaves"], strict=False):
            if {**one, "parts": (), "value": ""} != {**other, "parts": (), "value": ""}:
                raise ValueError(f"{what}: process 0 saves {_short(one)}, process {number} {_short(other)}")
        if each["structure"] != first["structure"] or len(each["leaves"]) != len(first["leaves"]):
            raise ValueError(f"{what}: the trees of process 0 and process {number} have different structures")
        differs = next(
            (path for path, digest in first.get("shared", {}).items() if each["shared"][path] != digest), None
        )
        if differs is not None:
            raise ValueError(
                f"{what}: {differs!r} is one value in process 0 and another one in process {number}. What to do: save "
                "an array that is divided over the processes, or the same value everywhere"
            )


def _short(leaf: dict[str, Any]) -> str:
    return f"{leaf['path']!r} as {leaf['kind']} {leaf['dtype']}{leaf['shape'] if leaf['dtype'] else ''}"


def _complete(root: Path, place: Path, index: Index, everything: list[dict[str, Any]], keep: int | None) -> None:
    """In process 0: write the index, then remove files that the index does not name, and checkpoints that are not
    kept."""
    named = [(name, size) for name, size in (each["file"] for each in everything)]
    for name, _ in named:
        if not (place / name).exists():
            raise FileNotFoundError(
                f"{place / name}, which another process has written, is not there: all processes must see one folder"
            )
    leaves = [
        replace(leaf, parts=tuple([Part(**part) for each in everything for part in each["leaves"][number]["parts"]]))
        for number, leaf in enumerate(index.leaves)
    ]
    whole = replace(index, files=tuple(named), leaves=tuple(leaves))
    files.write_whole(place / INDEX, [whole.encoded()])
    for entry in place.iterdir():
        if entry.name != INDEX and entry.name not in dict(named):
            entry.unlink()
    for old in _others(root, index.step, keep):
        # The index is removed first: without it, the other files are no checkpoint.
        with contextlib.suppress(FileNotFoundError):
            (old / INDEX).unlink()
        shutil.rmtree(old, ignore_errors=True)


def _others(root: Path, step: int, keep: int | None) -> Iterator[Path]:
    """The folders to remove: checkpoints before the last `keep` ones, and interrupted saves."""
    if keep is None:
        return
    earlier = [folder_of(root, each) for each in steps_in(root) if each < step]
    whole = [folder for folder in earlier if is_whole(folder)]
    yield from [folder for folder in earlier if folder not in whole[: keep - 1]]
