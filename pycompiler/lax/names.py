"""The AttributeError of modules for a missing name. It suggests the nearest name."""

import difflib
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import NoReturn

from pycompiler.core.tracing.boundary import boundary


def _likeness(name: str, other: str) -> tuple[float, int]:
    """The similarity of two names. Among equally similar names, those with a common beginning come first."""
    begins = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(name, other, strict=False)))
    return difflib.SequenceMatcher(None, other, name).ratio(), begins


def nearest_name(module: str, names: Iterable[str]) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module with these names."""
    public = sorted(name for name in names if not name.startswith("_"))

    @boundary
    def missing(name: str) -> NoReturn:
        close = difflib.get_close_matches(name, public, cutoff=0.75)
        close.sort(key=lambda other: _likeness(name, other), reverse=True)
        if not close and len(name) > 3:
            close = sorted(
                (other for other in public if other.startswith(name) or name.startswith(f"{other}_")), key=len
            )
        hint = f"; the nearest name is {close[0]}" if close else ""
        raise AttributeError(f"module {module} has no attribute {name}{hint}", name=name)

    return missing
