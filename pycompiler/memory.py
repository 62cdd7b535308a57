"""Kinds of memory, as placements of arrays: `device_put(x, memory.Space.Host)`. See `Space`."""

from pycompiler.core.mesh.placement import MemorySpace as Space
from pycompiler.lax.names import nearest_name

__all__ = ["Space"]

__getattr__ = nearest_name(__name__, __all__)
