"""Checkpoints: trees of arrays in files, written by all processes of a program and read by any number of them.

`files` has the format of a file, `index` that of the text which makes files a checkpoint. `saving` and `restoring` use
both, and are loaded at the first call. They import `spmd`, which has the parts of arrays. Users call
`pycompiler.checkpoint`.
"""

import importlib
import os
from typing import Any

from pycompiler.core.tracing.boundary import protect

__all__ = ["latest", "restore", "save", "wait"]

_Folder = str | os.PathLike[str]


def _room(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}")


def save(folder: _Folder, step: int, tree: Any, *, keep: int | None = None) -> None:
    """Save a tree as the checkpoint of a step, in `folder/step-<step>`. All processes call it, with one folder that all
    of them see; each writes the parts of its devices.

    `save` returns at once, and a thread writes: later calls may donate the arrays. The next call of `save`, `restore`
    or `wait` waits for the thread, and raises its failure. If `keep` is a number, only the last `keep` checkpoints
    remain when this one is complete. Leaves are arrays of any dtype, keys, NumPy's arrays, numbers and strings. Values
    that are not divided must be equal in all processes.

    Raises ValueError for a step that has a checkpoint, TypeError for other leaves.

    >>> import pycompiler as pc, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> pc.checkpoint.save(folder, 10, {"w": pc.numpy.ones(3), "rate": 0.5})
    >>> pc.checkpoint.restore(folder)
    {'rate': 0.5, 'w': Array([1., 1., 1.], dtype=float32)}
    """
    _room("saving").save(folder, step, tree, keep)


def restore(folder: _Folder, like: Any = None, *, step: int | None = None, sharding: Any = None) -> Any:
    """The tree of a checkpoint in `folder`: that of `step`, or the last one. All processes of the program call it;
    their number may differ from that at the save.

    `like` is a tree of the same structure, of arrays or ShapeDtypeStructs: arrays get the shardings of its leaves.
    Without it the tree is made of dicts, lists, tuples and namedtuples of the program, and of Python's and NumPy's
    values, if these were saved. `sharding` is a sharding, a device, or a tree of them that is a prefix: then arrays get
    these. Each process reads only the elements that its devices hold.

    Raises FileNotFoundError without a checkpoint, ValueError if the checkpoint and `like` differ, or for damaged files.

    >>> import pycompiler as pc, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> pc.checkpoint.save(folder, 3, (pc.numpy.arange(4), "adam"))
    >>> sharding = pc.NamedSharding(pc.make_mesh((1,), ("data",)), pc.P("data"))
    >>> pc.checkpoint.restore(folder, sharding=sharding)
    (Array([0, 1, 2, 3], dtype=int32), 'adam')
    """
    return _room("restoring").restore(folder, like, step, sharding)


def latest(folder: _Folder) -> int | None:
    """The step of the last complete checkpoint in a folder, None if there is none. It reads the folder only: a single
    process may call it. A save that is under way does not count.

    >>> import pycompiler as pc, tempfile
    >>> pc.checkpoint.latest(tempfile.mkdtemp()) is None
    True
    """
    return _room("index").latest(folder)


def wait() -> None:
    """Wait until the saved checkpoint is on the disk. `save`, `restore` and the end of the program wait first, too.

    Raises the failure of the save: OSError if this process could not write its file, RuntimeError for a failure
    elsewhere.
    """
    _room("saving").wait()


protect(globals(), __all__)
