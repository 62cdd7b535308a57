"""Names of `jax` itself that differ from `pycompiler`'s: JAX's version."""

from pycompiler.compat.version import __version__, __version_info__

__all__ = ["__version__", "__version_info__"]
