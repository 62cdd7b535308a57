"""The metadata of the distributions `jax` and `jaxlib`, loaded at their first use: `importlib.metadata` is slow."""

from __future__ import annotations

from importlib.metadata import Distribution, DistributionFinder
from typing import Any

from pycompiler.compat.version import __version__


class _Metadata(Distribution):
    """The metadata of a distribution in the place of JAX's: the name and the version."""

    def __init__(self, name: str) -> None:
        self._of = name

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: {self._of}\nVersion: {__version__}\n"

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(f"{path} of {self._of}: pycompiler replaces {self._of}, which has no files here")


def distributions(roots: tuple[str, ...], context: DistributionFinder.Context | None) -> list[Distribution]:
    """The distributions of `roots` that the context asks for."""
    name = None if context is None else context.name
    return [_Metadata(root) for root in roots if name is None or name.lower() == root]
