"""Reading checkpoints: each process reads the elements that its devices need, from the files of any process. Imports
`saving`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from pycompiler._runtime import Array, Device, ShapedArray, sharding_of
from pycompiler.checkpoints.files import DamagedError, File, Host
from pycompiler.checkpoints.index import (
    INDEX,
    Folder,
    Index,
    Leaf,
    Part,
    as_step,
    folder_of,
    latest,
    path_of,
    read_index,
    tree_of,
)
from pycompiler.checkpoints.saving import PYTHON, agreed, host_dtype, value_of, wait
from pycompiler.core.mesh.placement import check_placement, single_device
from pycompiler.core.mesh.processes import processes
from pycompiler.core.mesh.shape_struct import ShapeDtypeStruct
from pycompiler.core.mesh.sharding import NamedSharding, Sharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import as_array, short
from pycompiler.core.types.tree import prefix_leaves, tree_structure
from pycompiler.core.types.tree_keys import tree_flatten_with_path
from pycompiler.primitives.arithmetic import convert
from pycompiler.random.keys import wrap_key_data
from pycompiler.spmd.sharded import from_shards, on_device, places

Range = tuple[slice, ...]


class _Reader:
    """The files of a checkpoint, each opened when it is needed."""

    def __init__(self, folder: Path, index: Index) -> None:
        self._folder = folder
        self._index = index
        self._files: dict[int, File] = {}

    def _part(self, part: Part, dtype: np.dtype[Any]) -> Host:
        file = self._files.get(part.file)
        if file is None:
            name, size = self._index.files[part.file]
            file = self._files[part.file] = File(self._folder / name, size)
        return file.tensor(part.name, dtype, part.shape)

    def read(self, leaf: Leaf, dtype: np.dtype[Any], wanted: Range) -> Host:
        """Some elements of an array: those of a range in each dimension."""
        ranges = [index.indices(size)[:2] for index, size in zip(wanted, leaf.shape, strict=True)]
        shape = tuple([stop - start for start, stop in ranges])
        whole: Host | None = None
        count = 0
        for part in leaf.parts:
            common = [
                (max(begin, start), min(begin + size, stop))
                for begin, size, (start, stop) in zip(part.start, part.shape, ranges, strict=True)
            ]
            if any(start >= stop for start, stop in common):
                continue
            there = tuple([slice(a - begin, b - begin) for (a, b), begin in zip(common, part.start, strict=True)])
            found = self._part(part, dtype)[there]
            if found.shape == shape:
                return found
            whole = np.empty(shape, dtype) if whole is None else whole
            whole[tuple([slice(a - start, b - start) for (a, b), (start, _) in zip(common, ranges, strict=True)])] = (
                found
            )
            count += found.size
        if count != math.prod(shape):
            raise DamagedError(
                f"{self._folder / INDEX} names parts with {count} of {math.prod(shape)} elements of {leaf.path!r}"
            )
        return np.empty(shape, dtype) if whole is None else whole


def _dtype(leaf: Leaf) -> Any:
    return dtypes.KEY if leaf.dtype == dtypes.KEY.name else dtypes.as_dtype(leaf.dtype)


def _shown(leaf: Leaf) -> str:
    if not leaf.dtype:
        return f"a Python {leaf.kind}"
    dtype = _dtype(leaf)
    return f"{dtypes.short_name(dtype)}[{','.join(map(str, leaf.shape))}]"


def _array(reader: _Reader, leaf: Leaf, place: Any) -> Array:
    """An array on a placement. Without a placement, it is uncommitted."""
    dtype = _dtype(leaf)
    if not dtypes.is_key(dtype) and dtypes.canonicalize(dtype) != dtype:
        raise ValueError(
            f"restore: {leaf.path!r} is {_shown(leaf)}, and enable_x64 is off. What to do: turn it on, "
            "config.update('enable_x64', True)"
        )
    aval = ShapedArray(leaf.shape, dtype, leaf.weak_type)
    host = host_dtype(dtype)
    if isinstance(place, NamedSharding):
        place.check_compatible_aval(leaf.shape)
        read: dict[Any, Host] = {}
        parts: list[Array] = []
        for device, index in places(place, leaf.shape):
            key = tuple([(one.start, one.stop) for one in index])
            if key not in read:
                read[key] = reader.read(leaf, host, index)
            parts.append(on_device(read[key], device, aval))
        return from_shards(aval, place, parts)
    values = reader.read(leaf, host, (slice(None),) * len(leaf.shape))
    device: Device | None = None if place is None else single_device(place)
    if device is not None:
        return on_device(values, device, aval)
    if dtypes.is_key(dtype):
        words = np.ascontiguousarray(values).reshape(*leaf.shape, 1).view(np.uint32)
        return wrap_key_data(words, impl="threefry2x32")
    made = as_array(np.array(values))
    return convert.bind(made, new_dtype=dtype, weak_type=True) if leaf.weak_type else made


def _restored(reader: _Reader, leaf: Leaf, like: Any, place: Any) -> Any:
    """A leaf, in the type of `like`. If `like` is None, in the type that was saved."""
    if not leaf.dtype:
        value = value_of(leaf.kind, leaf.value)
        if isinstance(like, (Array, ShapeDtypeStruct)):
            return as_array(np.asarray(value, like.dtype))
        return value
    as_it_was = like is None and leaf.kind == "numpy" and place is None
    if as_it_was or isinstance(like, (np.ndarray, np.generic)) or type(like) in PYTHON:
        values = np.array(reader.read(leaf, host_dtype(_dtype(leaf)), (slice(None),) * len(leaf.shape)))
        return cast(Any, type(like))(values.item()) if type(like) in PYTHON else values
    return _array(reader, leaf, place)


# The requested tree


def _placement(like: Any) -> Any:
    """The placement of an array; None if it is not committed."""
    if isinstance(like, ShapeDtypeStruct):
        return like.sharding
    if type(like) is not Array:
        return None
    sharding = sharding_of(like)
    return sharding if sharding is not None else like.device if like.committed else None


def _difference(leaf: Leaf, like: Any) -> str | None:
    """The difference between the types of a leaf and of `like`; None if they agree."""
    if isinstance(like, (Array, ShapeDtypeStruct, np.ndarray, np.generic)):
        given = tuple(like.shape), like.dtype
        # A Python number becomes an array of any dtype.
        fits = given == (leaf.shape, _dtype(leaf)) if leaf.dtype else leaf.kind != "str" and given[0] == ()
        wanted = short(ShapedArray(*given))
        return None if fits else f"{leaf.path!r} is {_shown(leaf)} in the checkpoint, {wanted} in like"
    if type(like) not in PYTHON:
        return f"{leaf.path!r} is of type {type(like).__name__} in like, which no checkpoint holds"
    if leaf.shape != () or (leaf.kind != type(like).__name__ and not leaf.dtype):
        return f"{leaf.path!r} is {_shown(leaf)} in the checkpoint, a Python {type(like).__name__} in like"
    return None


def _matched(index: Index, pairs: Sequence[tuple[Any, Any]], folder: Path) -> list[Leaf]:
    """The leaves for those of `like`, by their paths. Raises ValueError with all differences."""
    there = {leaf.path: leaf for leaf in index.leaves}
    wanted = {path_of(keys): like for keys, like in pairs}
    wrong = [f"{path!r} is not in the checkpoint" for path in wanted if path not in there]
    wrong += [f"{path!r} is not in like" for path in there if path not in wanted]
    differences = [_difference(there[path], like) for path, like in wanted.items() if path in there]
    wrong += [each for each in differences if each is not None]
    if wrong:
        more = f"; and {len(wrong) - 8} more" if len(wrong) > 8 else ""
        raise ValueError(
            f"restore: {folder} and like differ: {'; '.join(wrong[:8])}{more}. What to do: give a tree like the one "
            "that was saved, or leave `like` out and change the restored tree"
        )
    return [there[path] for path in wanted]


def _chosen(folder: Path, step: int | None) -> Path:
    """The folder of the step that process 0 finds or was given. All processes call this."""
    own = latest(folder) if step is None else step
    told = [each.decode() for each in agreed("checkpoint.restore", f"{'' if own is None else own} {step}".encode())]
    first = told[0].split()[0] if not told[0].startswith(" ") else ""
    given = [each.rpartition(" ")[2] for each in told]
    if len(set(given)) > 1:
        raise ValueError(f"restore: the processes ask for different steps: {', '.join(given)}, by their numbers")
    if not first:
        raise FileNotFoundError(
            f"restore: {folder} has no complete checkpoint. What to do: call checkpoint.latest(folder) first, "
            "which returns None in this case"
        )
    return folder_of(folder, int(first))


def restore(folder: Folder, like: Any, step: int | None, sharding: Any) -> Any:
    """`checkpoint.restore`."""
    step = as_step("restore", step)
    if step is not None and (type(step) is not int or step < 0):
        raise ValueError(f"restore: step must be None or an int from 0, got {step!r}")
    wait()
    place = _chosen(Path(folder).absolute(), step)
    if not (place / INDEX).exists():
        raise FileNotFoundError(f"restore: {place} is no checkpoint: it has no index, in process {processes.index}")
    index = read_index(place)
    reader = _Reader(place, index)
    if like is None:
        leaves: Sequence[Leaf] = index.leaves
        likes: Sequence[Any] = [None] * len(leaves)
        marks = tree_of(index.structure, iter(range(len(leaves))))
    else:
        pairs, _ = tree_flatten_with_path(like)
        leaves, likes, marks = _matched(index, pairs, place), [one for _, one in pairs], like
    wanted = [_placement(one) for one in likes]
    if sharding is not None:
        given = prefix_leaves(sharding, marks, lambda x: isinstance(x, (Sharding, PartitionSpec, Device)) or x is None)
        wanted = [
            before if one is None else check_placement("restore", one)
            for one, before in zip(given, wanted, strict=True)
        ]
    values = [_restored(reader, *each) for each in zip(leaves, likes, wanted, strict=True)]
    return tree_structure(marks).unflatten(values)
