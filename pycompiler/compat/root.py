"""Names of `jax` itself that differ from `pycompiler`'s: JAX's version, and the class of mutable arrays."""

from pycompiler.compat.version import __version__, __version_info__

__all__ = ["Ref", "__version__", "__version_info__"]


class Ref:
    """The class of mutable arrays, for isinstance (Flax asks): pycompiler has none, so nothing is an instance."""
