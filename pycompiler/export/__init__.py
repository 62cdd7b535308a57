"""Exported functions: files that another process loads and runs, and shared libraries for C.

Names are those of `jax.export`, except `to_shared_object`. docs/export.md states the guarantees.
"""

from pycompiler.core.tracing.boundary import protect
from pycompiler.export.damage import DeserializationError
from pycompiler.export.exported import (
    CALLING_CONVENTION,
    DisabledSafetyCheck,
    Exported,
    default_export_platform,
    deserialize,
    export,
)
from pycompiler.export.shared_object import SharedObject, to_shared_object
from pycompiler.export.symbols import SymbolicScope, is_symbolic_dim, symbolic_args_specs, symbolic_shape
from pycompiler.export.trees import register_namedtuple_serialization, register_pytree_node_serialization
from pycompiler.lax.names import nearest_name

# The calling conventions of modules: the oldest one that can be read, and the latest one, which is written.
minimum_supported_calling_convention_version = 1
maximum_supported_calling_convention_version = CALLING_CONVENTION

__all__ = [
    "DeserializationError",
    "DisabledSafetyCheck",
    "Exported",
    "SharedObject",
    "SymbolicScope",
    "default_export_platform",
    "deserialize",
    "export",
    "is_symbolic_dim",
    "maximum_supported_calling_convention_version",
    "minimum_supported_calling_convention_version",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
    "symbolic_args_specs",
    "symbolic_shape",
    "to_shared_object",
]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
