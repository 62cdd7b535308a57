"""`pjit`, jax's earlier name for `jit`."""

from pycompiler.jit.jit import jit as pjit
from pycompiler.lax.names import nearest_name

__all__ = ["pjit"]

__getattr__ = nearest_name(__name__, __all__)
