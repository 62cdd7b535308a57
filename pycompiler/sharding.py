"""Meshes of devices, partition specs, and shardings of arrays and of types."""

from pycompiler.core.mesh.abstract import AbstractDevice, AbstractMesh, AxisType
from pycompiler.core.mesh.contexts import get_abstract_mesh, get_mesh, set_mesh, use_abstract_mesh
from pycompiler.core.mesh.manual import ManualAxisType
from pycompiler.core.mesh.mesh import Mesh
from pycompiler.core.mesh.sharding import NamedSharding, Sharding, SingleDeviceSharding, make_single_device_sharding
from pycompiler.core.mesh.spec import PartitionSpec
from pycompiler.lax.explicit import auto_axes, explicit_axes, reshard
from pycompiler.lax.names import nearest_name

__all__ = [
    "AbstractDevice",
    "AbstractMesh",
    "AxisType",
    "ManualAxisType",
    "Mesh",
    "NamedSharding",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "auto_axes",
    "explicit_axes",
    "get_abstract_mesh",
    "get_mesh",
    "make_single_device_sharding",
    "reshard",
    "set_mesh",
    "use_abstract_mesh",
]

__getattr__ = nearest_name(__name__, __all__)
