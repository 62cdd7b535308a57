"""`jax.version`: the version of JAX whose public names and semantics this package follows."""

__all__ = ["__version__", "__version_info__"]

__version__ = "0.10.2"
__version_info__ = tuple(int(part) for part in __version__.split("."))
