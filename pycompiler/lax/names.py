"""The `__getattr__` of modules: loads a rare module at its first use, suggests the nearest name for a missing one."""

import importlib
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any, NoReturn, overload

from pycompiler.core.tracing.boundary import boundary


def _likeness(name: str, other: str) -> tuple[float, int]:
    """The similarity of two names. Among equally similar names, those with a common beginning come first."""
    import difflib  # few programs need a suggestion, and it counts in the time of an import

    begins = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(name, other, strict=False)))
    return difflib.SequenceMatcher(None, other, name).ratio(), begins


@overload
def nearest_name(module: str, names: Iterable[str]) -> Callable[[str], NoReturn]: ...
@overload
def nearest_name(module: str, names: Iterable[str], later: Iterable[str]) -> Callable[[str], Any]: ...
def nearest_name(module: str, names: Iterable[str], later: Iterable[str] = ()) -> Callable[[str], Any]:
    """The `__getattr__` of a module with these names. It loads the inner modules `later` at their first use. A type
    checker sees them by imports under TYPE_CHECKING."""
    public = sorted(name for name in names if not name.startswith("_"))
    modules = frozenset(later)

    def found(name: str) -> Any:
        # The import sets the attribute of the package: there is no second call for this name.
        return importlib.import_module(f"{module}.{name}") if name in modules else missing(name)

    @boundary
    def missing(name: str) -> Any:
        if name.startswith("_"):  # Tools look up such names in each module, and no public name is near.
            raise AttributeError(f"module {module} has no attribute {name}", name=name)
        import difflib

        close = difflib.get_close_matches(name, public, cutoff=0.75)
        close.sort(key=lambda other: _likeness(name, other), reverse=True)
        if not close and len(name) > 3:
            close = sorted(
                (other for other in public if other.startswith(name) or name.startswith(f"{other}_")), key=len
            )
        hint = f"; the nearest name is {close[0]}" if close else ""
        raise AttributeError(f"module {module} has no attribute {name}{hint}", name=name)

    return found
