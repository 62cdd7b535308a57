"""What a module answers when it is asked for a name that it does not have: an AttributeError with the nearest one."""

import difflib
from collections.abc import Callable, Iterable
from typing import NoReturn


def nearest_name(module: str, names: Iterable[str]) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module that has the names."""
    public = sorted(name for name in names if not name.startswith("_"))

    def missing(name: str) -> NoReturn:
        close = difflib.get_close_matches(name, public, n=1, cutoff=0.75)
        if not close and len(name) > 3:
            close = sorted(
                (other for other in public if other.startswith(name) or name.startswith(f"{other}_")), key=len
            )
        hint = f"; the nearest name is {close[0]}" if close else ""
        raise AttributeError(f"module {module} has no attribute {name}{hint}", name=name)

    return missing
