"""Modules `jax._src.X` for JAX's tests: its test_util from the source, public names, and stand-ins for all others."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

ROOT = "jax._src"

# The modules of JAX that are executed, because tests use their contents.
EXECUTED = {
    f"{ROOT}.{name}": f"{name.replace('.', '/')}.py"
    for name in (
        "test_util",
        "public_test_util",
        "test_loader",
        "test_warning_util",
        "internal_test_util.lax_test_util",
        "hypothesis_test_util",
        "pallas.pallas_test_util",
    )
}


# Inner modules of a public one, whose private names tests use. They are stand-ins, too, except the executed one.
INNER = "jax.experimental.sparse"
INNER_EXECUTED = {f"{INNER}.test_util": "experimental/sparse/test_util.py"}

# Public modules that this package does not have, and that files about all devices import.
ELSEWHERE = "jax.experimental.mosaic"

# Internal names of JAX that public modules have, too.
INSIDE = {
    "jax.experimental": {"primal_tangent_dtype": f"{ROOT}.dtypes.primal_tangent_dtype"},
    "jax.experimental.pallas": {name: f"{ROOT}.pallas.{name}" for name in ("mosaic_gpu", "triton")},
    INNER: {name: f"{INNER}.{name}" for name in ("CuSparseEfficiencyWarning", "SparseTracer", "todense_p")},
}


class InsideOfJaxError(Exception):
    """A test used an internal name of JAX, so the test is not counted."""


class Stand(ModuleType):
    """An internal name of JAX, as a module with the names from `names`. Any other use raises InsideOfJaxError."""

    def __init__(self, name: str, names: Any) -> None:
        super().__init__(name)
        self.__dict__.update(names.given(name))
        self.__dict__.update(__path__=[], _public=names.public(name), _otherwise=names.otherwise)

    def __getattr__(self, name: str) -> Any:
        if name == "__bases__":  # isinstance, issubclass and assertRaises read it
            self._used()
        if name.startswith("__"):
            raise AttributeError(name)
        for module in self._public:
            try:
                value = getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError):
                continue
            if not isinstance(value, ModuleType):
                self.__dict__[name] = value
                return value
        found = self._otherwise(self.__name__, name)
        return importlib.import_module(f"{self.__name__}.{name}") if found is None else found

    def _used(self, *_: Any, **__: Any) -> NoReturn:
        raise InsideOfJaxError(f"{self.__name__} is a name from inside of JAX")

    def __call__(self, *_: Any, **__: Any) -> None:
        # Files register classes of their own at their import, which has no effect here.
        if not self.__name__.rpartition(".")[2].startswith("register"):
            self._used()

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set an entry of a table of JAX, which has no effect here."""

    __len__ = __getitem__ = __contains__ = __enter__ = __exit__ = __bool__ = __mro_entries__ = _used
    __index__ = __int__ = __float__ = __add__ = __radd__ = __or__ = __ror__ = __and__ = __lt__ = __gt__ = _used
    __instancecheck__ = __subclasscheck__ = _used

    def __eq__(self, other: object) -> bool:
        return self is other or self._used()

    def __ne__(self, other: object) -> bool:
        return self is not other and self._used()

    __hash__ = ModuleType.__hash__


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `jax._src` and its submodules. `sources` is the folder of JAX's package, `names` gives a module's names."""

    def __init__(self, sources: Path, names: Any) -> None:
        self._sources, self._names = sources, names

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname in INNER_EXECUTED:
            return importlib.util.spec_from_file_location(fullname, self._sources / INNER_EXECUTED[fullname])
        if fullname not in (ROOT, ELSEWHERE) and not fullname.startswith((f"{ROOT}.", f"{INNER}.", f"{ELSEWHERE}.")):
            return None
        if fullname in EXECUTED:
            file = self._sources / "_src" / EXECUTED[fullname]
            return importlib.util.spec_from_file_location(fullname, file)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Stand(spec.name, self._names)

    def exec_module(self, module: ModuleType) -> None:
        """Execute nothing."""


def install(sources: Path, names: Any) -> None:
    """Install the stand-ins for `jax._src`. `pycompiler.compat` is installed before; its own modules of these names are
    dropped."""
    for name in [each for each in sys.modules if each == ROOT or each.startswith(f"{ROOT}.")]:
        del sys.modules[name]
    sys.meta_path.insert(0, Finder(sources, names))
    for module, inside in INSIDE.items():
        for name, place in inside.items():
            value = names.given(module).get(name)
            setattr(importlib.import_module(module), name, Stand(place, names) if value is None else value)
