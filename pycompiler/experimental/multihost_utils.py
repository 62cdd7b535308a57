"""Communication between the processes of a program. There is one process: it has all data."""

from typing import Any

import numpy as np

from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types.tree import prefix_leaves, tree_flatten, tree_map
from pycompiler.lax.names import nearest_name
from pycompiler.spmd.placement import device_put

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The arrays of the process that is the source, as NumPy arrays. The one process is the source.

    >>> from pycompiler.experimental import multihost_utils
    >>> multihost_utils.broadcast_one_to_all({"seed": 3})
    {'seed': array(3)}
    """
    return tree_map(np.asarray, in_tree)


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The arrays of all processes, as NumPy arrays: stacked, or with `tiled` joined, along the first axis.

    >>> from pycompiler.experimental import multihost_utils
    >>> multihost_utils.process_allgather(1.5)
    array([1.5])
    """
    return tree_map(lambda x: np.asarray(x) if tiled else np.asarray(x)[None], in_tree)


def sync_global_devices(name: str) -> None:
    """Wait until all processes are here. `name` is the name of the place."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"sync_global_devices: the name must be a str, got {name!r} of type {type(name).__name__}")


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise AssertionError unless the arrays are equal in all processes; a nan is equal to nothing."""
    for x in tree_flatten(in_tree)[0]:
        if not np.all(np.equal(np.asarray(x), np.asarray(x))):
            raise AssertionError(f"{fail_message}. Expected: {in_tree}; got: {in_tree}.")


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether the processes are to save a checkpoint because some are stopped soon: never, for one process."""
    return False


def _placed(function: str, tree: Any, mesh: Mesh, pspecs: Any) -> Any:
    leaves, structure = tree_flatten(tree)
    specs = prefix_leaves(pspecs, tree, lambda x: x is None or isinstance(x, PartitionSpec))
    for spec in specs:
        if not isinstance(spec, PartitionSpec):
            raise ValueError(
                f"{function}: {spec!r} is not a valid input to the pspecs argument. Please use PartitionSpec() if you "
                "wanted to replicate your input."
            )
    return structure.unflatten(
        [device_put(x, NamedSharding(mesh, spec)) for x, spec in zip(leaves, specs, strict=True)]
    )


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The arrays of each process as arrays that are divided over a mesh: a tree of PartitionSpecs that is a prefix.

    Raises ValueError for a spec that is None, or that does not divide its array.

    >>> import numpy as np, pycompiler as pc
    >>> from pycompiler.experimental import multihost_utils
    >>> mesh = pc.make_mesh((1,), ("x",))
    >>> multihost_utils.host_local_array_to_global_array(np.arange(2.0), mesh, pc.P("x"))
    Array([0., 1.], dtype=float32)
    """
    return _placed("host_local_array_to_global_array", local_inputs, global_mesh, pspecs)


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts of arrays that this process has. The one process has all of them: the arrays are on its mesh.

    Raises ValueError for a spec that is None, or that does not divide its array.
    """
    return _placed("global_array_to_host_local_array", global_inputs, global_mesh, pspecs)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
