"""The finder that makes `import jax` and `import jaxlib` give proxies, and their versions to importlib.metadata."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, DistributionFinder
from types import ModuleType
from typing import Any

from pycompiler.compat import version
from pycompiler.compat.environment import take_variables
from pycompiler.compat.internals import INTERNALS
from pycompiler.compat.proxies import Inner, Proxy, sources_of

ROOTS = ("jax", "jaxlib")


class _Metadata(Distribution):
    """The metadata of a distribution that stands for JAX's: the name and the version."""

    def __init__(self, name: str) -> None:
        self._of = name

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: {self._of}\nVersion: {version.__version__}\n"

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(f"{path} of {self._of}: pycompiler stands for {self._of}, which has no files here")


class _Loader(importlib.abc.Loader):
    """Makes one module; `make` gives the module of a spec."""

    def __init__(self, make: Any) -> None:
        self._make = make

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._make()

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is executed: the names are taken at their first use."""


class Finder(importlib.abc.MetaPathFinder):
    """Finds `jax`, `jaxlib` and what is below them before any that are installed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        root, _, rest = fullname.partition(".")
        if root not in ROOTS:
            return None
        make = self._maker(fullname, root, rest)
        if make is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: it was asked for in JAX's place, and pycompiler does not have it",
                name=fullname,
            )
        spec = importlib.machinery.ModuleSpec(fullname, _Loader(make), origin=__file__, is_package=True)
        # Of `from jax import name`, Python's error shows this file.
        spec.has_location = True
        return spec

    def _maker(self, fullname: str, root: str, rest: str) -> Any:
        """The function that makes the module; None if there is none."""
        if fullname in INTERNALS:
            return lambda: Inner(fullname)
        if root == "jaxlib":
            return None
        if not rest:
            take_variables()
        sources = sources_of(rest)
        return (lambda: Proxy(rest, sources, sources[-1].__doc__)) if sources else None

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> Iterable[Distribution]:
        """For importlib.metadata: the versions of `jax` and `jaxlib`."""
        name = None if context is None else context.name
        return [_Metadata(root) for root in ROOTS if name is None or name.lower() == root]


def loaded() -> list[str]:
    """The modules of the real JAX that this process has loaded."""
    return sorted(
        name
        for name, module in sys.modules.items()
        if name.partition(".")[0] in ROOTS and not isinstance(getattr(module.__spec__, "loader", None), _Loader)
    )
