"""Meshes of devices, partition specs, and shardings of arrays."""

from pycompiler.core.mesh.mesh import AxisType, Mesh, PartitionSpec, get_mesh, set_mesh
from pycompiler.core.mesh.sharding import NamedSharding, Sharding, SingleDeviceSharding

__all__ = [
    "AxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "get_mesh",
    "set_mesh",
]
