"""Errors for invalid bytes of exported functions: one class, whose message names the damaged part.

`container` imports this module. A checksum detects accidental changes. A file with a valid checksum may still come from
another program or be edited. So each part is read within the context `part`, and an invalid part is an error.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from typing import Any, TypeVar, cast

_T = TypeVar("_T")


class DeserializationError(ValueError):
    """Bytes that can't be loaded as an exported function. The message states the reason.

    They are other data, truncated, damaged (the message names the part), from a later version, or hold containers
    without registered names.
    """


def damaged(about: str, where: str, why: str) -> DeserializationError:
    """The error for a damaged part of a file; `about` names the writer of the file."""
    return DeserializationError(f"deserialize: the exported function ({about}) is damaged: {where}: {why}")


@contextlib.contextmanager
def part(about: str, where: str) -> Generator[None]:
    """A context that turns errors while a part is read into damage of that part."""
    try:
        yield
    except DeserializationError:
        raise
    except (Exception, RecursionError) as error:
        # The data may have any form: a number in the place of a list, or a structure of a thousand levels.
        raise damaged(
            about, where, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        ) from error


def entry(written: Any, key: str, kind: type[_T]) -> _T:
    """An entry of a description, which must have this type. Raises KeyError, TypeError."""
    if not isinstance(written, Mapping):
        raise TypeError(f"expected an object of JSON, got {type(written).__name__}")
    found = cast("Mapping[str, Any]", written)
    if key not in found:
        raise KeyError(key)
    return of_kind(found[key], kind, key)


def of_kind(value: Any, kind: type[_T], what: str) -> _T:
    """The value, if it has this type; a bool is not an integer. Raises TypeError."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{what} is {value!r:.80}, expected {kind.__name__}")
    return value


def texts(written: Any, key: str) -> tuple[str, ...]:
    """An entry that is a list of strings. Raises KeyError, TypeError."""
    return tuple([of_kind(word, str, key) for word in cast("list[Any]", entry(written, key, list))])
