"""Modules under JAX's names. A proxy looks each name up in our modules; it copies and renames nothing."""

from __future__ import annotations

import difflib
import importlib
from types import ModuleType
from typing import Any

from pycompiler.compat.internals import INTERNALS
from pycompiler.compat.modules import NAMES, providers


def full_name(name: str) -> str:
    """The name of JAX's module: "jax.numpy" for "numpy", "jax" for ""."""
    return f"jax.{name}" if name else "jax"


def _module(name: str) -> ModuleType | None:
    """Our module, or None if there is none. An error inside the module is raised."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # The missing module is this one or a parent package, not an import of this one.
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise


def sources_of(name: str) -> list[ModuleType]:
    """Our modules behind `jax.<name>`; empty if JAX or this package has no such module."""
    found = [_module(each) for each in providers(name) or ()]
    return [module for module in found if module is not None]


class Inner(ModuleType):
    """An internal module of JAX, with the names of internals.py."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "Internal names of JAX for libraries, which pycompiler.compat.internals names.")
        self.__dict__.update(INTERNALS[name]())

    def __getattr__(self, name: str) -> Any:
        inner = f"{self.__name__}.{name}"
        if inner in INTERNALS:
            return importlib.import_module(inner)
        raise AttributeError(f"no {inner}: pycompiler replaces JAX in this process, and does not have it", name=name)


def _names(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    return list(listed) if listed is not None else [name for name in vars(module) if not name.startswith("_")]


# The names with underscores that JAX's modules have; Python itself looks up others in modules.
_DUNDERS = {"__version__", "__version_info__", "__array_namespace_info__", "__array_api_version__"}


class Proxy(ModuleType):
    """`jax.<name>`, which takes its attributes from our modules at the first use."""

    def __init__(self, name: str, sources: list[ModuleType], doc: str | None) -> None:
        super().__init__(full_name(name), doc)
        self.__dict__["_short"], self.__dict__["_sources"] = name, sources

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            # `from jax.numpy import *` reads it, since few names are in `__dict__` yet.
            return [each for each in dir(self) if not each.startswith("_") and hasattr(self, each)]
        if name.startswith("__") and name not in _DUNDERS:
            raise AttributeError(f"module {self.__name__} has no attribute {name}", name=name)
        inner = f"{self._short}.{name}" if self._short else name
        if full_name(inner) in INTERNALS or (inner in NAMES and sources_of(inner)):
            return importlib.import_module(full_name(inner))
        for source in self._sources:
            value = getattr(source, name, self)
            # Our folders are no modules of JAX: jax.numpy has no module `creation`.
            if value is not self and not isinstance(value, ModuleType):
                # Names are kept after the first lookup, since our modules have no properties that change.
                self.__dict__[name] = value
                return value
        near = difflib.get_close_matches(name, dir(self), 1, 0.75)
        hint = f"; the nearest name is {near[0]}" if near else ""
        raise AttributeError(
            f"no {self.__name__}.{name}: pycompiler replaces JAX in this process, and does not have it{hint}", name=name
        )

    def __dir__(self) -> list[str]:
        own = {name for source in self._sources for name in _names(source)}
        start = f"{self._short}." if self._short else ""
        inner = {name[len(start) :] for name in NAMES if name.startswith(start) and "." not in name[len(start) :]}
        return sorted(own | {name for name in inner if sources_of(f"{start}{name}")})
