"""The finder that makes `import jax` and `import jaxlib` give proxies, and their versions to importlib.metadata."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from pycompiler.compat.environment import take_variables
from pycompiler.compat.internals import INTERNALS
from pycompiler.compat.proxies import Inner, Proxy, sources_of

if TYPE_CHECKING:
    from importlib.metadata import Distribution, DistributionFinder

ROOTS = ("jax", "jaxlib")


# `importlib.abc` is slow to load. Python only calls the methods of finders and loaders.
class _Loader:
    """Makes one module; `make` gives the module of a spec."""

    def __init__(self, make: Any) -> None:
        self._make = make

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._make()

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing: the first use of a name looks it up."""


class Finder:
    """Finds `jax`, `jaxlib` and their submodules, before installed ones."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        root, _, rest = fullname.partition(".")
        if root not in ROOTS:
            return None
        make = self._maker(fullname, root, rest)
        if make is None:
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: pycompiler replaces JAX in this process, and does not have it",
                name=fullname,
            )
        spec = importlib.machinery.ModuleSpec(fullname, cast(Any, _Loader(make)), origin=__file__, is_package=True)
        # Python's error for `from jax import name` shows this file.
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
        return importlib.import_module("pycompiler.compat.metadata").distributions(ROOTS, context)


def loaded() -> list[str]:
    """The modules of the real JAX that this process has loaded."""
    return sorted(
        name
        for name, module in sys.modules.items()
        if name.partition(".")[0] in ROOTS and not isinstance(getattr(module.__spec__, "loader", None), _Loader)
    )
