"""Sizes of arrays as text, for files: numbers, and expressions of symbols, `2*n + 1`. `exported` imports this module.

A file has the bounds of each symbol once. Python's expression parser reads sizes. Only arithmetic is accepted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.dims.sizes import symbols_of
from pycompiler.core.dims.text import arithmetic
from pycompiler.export.damage import DeserializationError, entry, of_kind

# No program has longer texts of sizes, and reading them would take long.
_MOST_CHARACTERS = 10_000


def symbols_to_json(avals: Iterable[Any]) -> dict[str, Any]:
    """The symbols in the shapes of avals, by name."""
    return {
        symbol.name: {"min": symbol.min, "max": symbol.max, "multiple_of": symbol.multiple_of}
        for symbol in symbols_of(avals)
    }


def symbols_from_json(written: Mapping[str, Mapping[str, Any]]) -> dict[str, Dim]:
    """The inverse of `symbols_to_json`."""
    return {
        of_kind(name, str, "a symbol"): Dim(
            name,
            min=entry(said, "min", int),
            max=None if said.get("max") is None else entry(said, "max", int),
            multiple_of=entry(said, "multiple_of", int),
        )
        for name, said in of_kind(written, dict, "the symbols").items()
    }


def size_from_text(text: str, symbols: Mapping[str, Dim]) -> Dimension:
    """A size. Raises DeserializationError for an expression that this version does not read; TypeError, ValueError for
    text that is not an expression of sizes."""
    of_kind(text, str, "a size")
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"a size of {len(text)} characters, expected at most {_MOST_CHARACTERS}")
    if text.isdecimal():
        return int(text)
    try:
        return arithmetic(ast.parse(text, mode="eval").body, symbols)
    except (SyntaxError, KeyError, TypeError):
        raise DeserializationError(
            f"deserialize: the exported function has an array of the size {text!r}, and this version reads numbers and "
            f"expressions of the symbols ({', '.join(symbols) or 'none'}); load it with a later one"
        ) from None
