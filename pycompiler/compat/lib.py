"""`jax.lib`, which has only the version of the library that JAX would load."""

from pycompiler.compat.version import __version__

__all__ = ["__version__"]
