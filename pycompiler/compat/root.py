"""Names of `jax` itself that differ from `pycompiler`'s: JAX's version, and the class of mutable arrays."""

from typing import Any, NoReturn

from pycompiler.compat.version import __version__, __version_info__

__all__ = ["Ref", "__version__", "__version_info__", "new_ref"]


class Ref:
    """The class of mutable arrays, for isinstance (Flax asks): pycompiler has none, so nothing is an instance."""


def new_ref(*_: Any, **__: Any) -> NoReturn:
    """A mutable array: raises NotImplementedError."""
    raise NotImplementedError(
        "new_ref: pycompiler has no mutable arrays; pass the value and return the new one (Flax: use_ref=False)"
    )
