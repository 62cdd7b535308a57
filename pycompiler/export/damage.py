"""What is wrong with the bytes of an exported function: one kind of error, which names the part.

Before `container`. A checksum tells what happened to a file by chance. A file can also be made, by another program or
by hand, with a right one: each part is read within `part`, and is what it says or an error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from typing import Any, TypeVar, cast

_T = TypeVar("_T")


class DeserializationError(ValueError):
    """Bytes that can't be loaded as an exported function: they are something else, cut off, damaged, of a later
    version, or hold containers whose names are not registered. The message says which, and of damage which part."""


def damaged(about: str, where: str, why: str) -> DeserializationError:
    """The error of a part of a file of which `about` says who wrote it."""
    return DeserializationError(f"deserialize: the exported function ({about}) is damaged: {where}: {why}")


@contextlib.contextmanager
def part(about: str, where: str) -> Generator[None]:
    """What goes wrong in reading a part is that part's damage."""
    try:
        yield
    except DeserializationError:
        raise
    except (Exception, RecursionError) as error:
        # Of what is read nothing is known: a number where a list is expected, a structure of a thousand levels.
        raise damaged(
            about, where, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        ) from error


def entry(written: Any, key: str, kind: type[_T]) -> _T:
    """An entry of a description, which is of this type. Raises KeyError, TypeError."""
    if not isinstance(written, Mapping):
        raise TypeError(f"expected an object of JSON, got {type(written).__name__}")
    found = cast("Mapping[str, Any]", written)
    if key not in found:
        raise KeyError(key)
    return of_kind(found[key], kind, key)


def of_kind(value: Any, kind: type[_T], what: str) -> _T:
    """The value, if it is of this type; bools are no integers. Raises TypeError."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{what} is {value!r:.80}, expected {kind.__name__}")
    return value


def texts(written: Any, key: str) -> tuple[str, ...]:
    """An entry that is a list of words. Raises KeyError, TypeError."""
    return tuple([of_kind(word, str, key) for word in cast("list[Any]", entry(written, key, list))])
