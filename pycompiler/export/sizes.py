"""Sizes of arrays as text, for files: numbers, and expressions of symbols, `2*n + 1`. Before `exported`.

A file has the bounds of each symbol once. Python's expression parser reads sizes; only arithmetic is accepted.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Mapping
from typing import Any

from pycompiler.core.dims.dims import Dim, Dimension
from pycompiler.core.dims.sizes import symbols_of
from pycompiler.export.damage import DeserializationError, entry, of_kind

# No program has sizes beyond these limits, and reading them would take long.
_MOST_CHARACTERS, _MOST_POWER = 10_000, 64

_OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


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
        return _value(ast.parse(text, mode="eval").body, symbols)
    except (SyntaxError, KeyError, TypeError):
        raise DeserializationError(
            f"deserialize: the exported function has an array of the size {text!r}, and this version reads numbers and "
            f"expressions of the symbols ({', '.join(symbols) or 'none'}); load it with a later one"
        ) from None


def _value(node: ast.expr, symbols: Mapping[str, Dim]) -> Any:
    if isinstance(node, ast.Name):
        return symbols[node.id]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, symbols)
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left, symbols), _value(node.right, symbols)
        if isinstance(node.op, ast.Pow) and (type(right) is not int or not 0 <= right < _MOST_POWER):
            raise ValueError(f"the power {right} in a size, expected a number from 0 to {_MOST_POWER - 1}")
        return _OPERATORS[type(node.op)](left, right)
    raise TypeError(type(node).__name__)
