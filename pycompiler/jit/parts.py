"""Arguments of `pmap` that each process gives for its own devices. After `spmd`; `parallel` imports this module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycompiler._runtime import Array
from pycompiler.core.mesh.mesh import Device, Mesh
from pycompiler.core.mesh.processes import processes
from pycompiler.core.mesh.sharding import NamedSharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.spmd.sharded import make_array_from_process_local_data


def is_elsewhere(x: Any) -> bool:
    """Whether x is an array with parts in other processes."""
    return type(x) is Array and not x.is_fully_addressable


def is_part(leaves: Sequence[Any], size: int, there: Sequence[Device]) -> bool:
    """Whether the mapped elements are those of this process's devices alone, not those of all."""
    here = sum(map(processes.is_here, there))
    return size == here < len(there) and not any(map(is_elsewhere, leaves))


def joined(mesh: Mesh, name: Any, x: Any, dim: int | None) -> Any:
    """The parts of all processes, as one array; a value that is not mapped stays as it is."""
    if dim is None:
        return x
    return make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec(*[None] * dim, name)), x)
