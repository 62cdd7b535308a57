"""The index of a checkpoint: the contents of its files, and the structure of the tree. A folder with an index is a
checkpoint.

The checkpoint of step 20 is the folder `step-20`. The index is written last, so a folder without one is an interrupted
save. `latest` checks only the sizes of the files that the index names.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from pycompiler.checkpoints.files import DamagedError
from pycompiler.core.tracing.arguments import as_index
from pycompiler.core.types.tree_keys import flatten_one_level_with_keys, is_tree_node, keystr

INDEX = "index.json"
_VERSION = 1
_FOLDER = re.compile(r"step-(\d+)$")

Structure = Any  # of JSON
Folder = str | os.PathLike[str]


@dataclass(frozen=True)
class Part:
    """A part of an array: the number of its file, its name there, its first element's indices, and its shape."""

    file: int
    name: str
    start: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Leaf:
    """A leaf of the tree. `kind` is "array", "numpy", or the name of a Python type. `value` is the text of a value of
    this type."""

    path: str
    kind: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    weak_type: bool = False
    value: str = ""
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Index:
    """A checkpoint. `files` are the names and sizes, by process."""

    step: int
    files: tuple[tuple[str, int], ...]
    structure: Structure
    leaves: tuple[Leaf, ...]

    def encoded(self) -> bytes:
        """The text of the index."""
        return json.dumps({"format": "pycompiler checkpoint", "version": _VERSION, **asdict(self)}).encode()


def _decoded(path: Path) -> Index:
    try:
        found = json.loads(path.read_bytes())
        if found["format"] != "pycompiler checkpoint" or found["version"] != _VERSION:
            raise DamagedError(
                f"{path} is of the format {found['format']!r}, version {found['version']}; expected version {_VERSION} "
                "of 'pycompiler checkpoint'"
            )
        leaves = [
            Leaf(**{**leaf, "shape": tuple(leaf["shape"]), "parts": tuple([_part(each) for each in leaf["parts"]])})
            for leaf in found["leaves"]
        ]
        files = tuple([(str(name), int(size)) for name, size in found["files"]])
        return Index(int(found["step"]), files, found["structure"], tuple(leaves))
    except DamagedError:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path} is no index of a checkpoint: {type(error).__name__}: {error}") from None


def _part(given: dict[str, Any]) -> Part:
    return Part(int(given["file"]), str(given["name"]), tuple(given["start"]), tuple(given["shape"]))


# Folders


def as_step(function: str, step: Any) -> Any:
    """The number of a step that is an integer of NumPy, or an array, as an int. Other values stay."""
    return step if isinstance(step, bool) else as_index(function, "step", step)


def folder_of(folder: Path, step: int) -> Path:
    """The folder of a step's checkpoint."""
    return folder / f"step-{step}"


def steps_in(folder: Path) -> Iterator[int]:
    """The steps of the checkpoints in the folder, complete or not, the last first."""
    if not folder.is_dir():
        return
    found = [int(match[1]) for entry in folder.iterdir() if (match := _FOLDER.match(entry.name))]
    yield from sorted(found, reverse=True)


def read_index(folder: Path) -> Index:
    """The index of a checkpoint. Raises DamagedError if one of its files is missing or has another size."""
    index = _decoded(folder / INDEX)
    for name, size in index.files:
        path = folder / name
        there = path.stat().st_size if path.exists() else None
        if there != size:
            state = "is not there" if there is None else f"has {there} bytes"
            raise DamagedError(f"{path} {state}, and the index says {size} bytes")
    return index


def is_whole(folder: Path) -> bool:
    """Whether a folder is a checkpoint with all of its files."""
    try:
        read_index(folder)
    except (OSError, DamagedError):
        return False
    return True


def latest(folder: Folder) -> int | None:
    """`checkpoint.latest`."""
    folder = Path(folder)
    return next((step for step in steps_in(folder) if is_whole(folder_of(folder, step))), None)


# Trees


def path_of(keys: tuple[Any, ...]) -> str:
    """The name of a leaf, `params/0/w`. As in JSON pointers, ~1 is a slash within a key, and ~0 a tilde."""
    texts = [keystr((key,), simple=True).replace("~", "~0").replace("/", "~1") for key in keys]
    return "/".join(texts)


def _type_name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def structure_of(tree: Any) -> Structure:
    """The containers of a tree, as JSON. A leaf is "*"."""
    kind: type = type(tree)
    if tree is None:
        return None
    if not is_tree_node(kind):
        return "*"
    keyed = [(key, structure_of(child)) for key, child in flatten_one_level_with_keys(tree)[0]]
    children = [child for _, child in keyed]
    if kind in (list, tuple):
        return {kind.__name__: children}
    if kind in (dict, OrderedDict) and all(type(key.key) in (str, int) for key, _ in keyed):
        return {kind.__name__: [[key.key, child] for key, child in keyed]}
    if issubclass(kind, tuple):
        return {"namedtuple": _type_name(kind), "fields": [[key.name, child] for key, child in keyed]}
    return {"other": _type_name(kind), "children": children}


def tree_of(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The tree of a structure. Raises ValueError for containers that only the program can make."""
    match structure:
        case None:
            return None
        case "*":
            return next(leaves)
        case {"list": children}:
            return [tree_of(child, leaves) for child in children]
        case {"tuple": children}:
            return tuple([tree_of(child, leaves) for child in children])
        case {"dict": children}:
            return {key: tree_of(child, leaves) for key, child in children}
        case {"OrderedDict": children}:
            return OrderedDict([(key, tree_of(child, leaves)) for key, child in children])
        case {"namedtuple": name, "fields": fields}:
            kind = _named_tuple(name, [field for field, _ in fields])
            return kind(*[tree_of(child, leaves) for _, child in fields])
        case _:
            raise ValueError(_unknown(structure["other"]))


def _unknown(name: str) -> str:
    return (
        f"the tree has a container of the type {name.replace(':', '.')}, which a file can't make. What to do: give a "
        "tree of the same structure, like=..."
    )


def _named_tuple(name: str, fields: list[str]) -> Any:
    """A class of the running program. Nothing is imported because a file says so."""
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for each in path.split("."):
        found = getattr(found, each, None)
    if not isinstance(found, type) or list(cast(Any, getattr(found, "_fields", ()))) != fields:
        raise ValueError(_unknown(name))
    return found
