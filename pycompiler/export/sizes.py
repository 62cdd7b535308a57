"""Sizes of arrays as text, for files: numbers, and what is computed of symbols, `2*n + 1`. Before `exported`.

A file says the bounds of its symbols once. Sizes are read by a parser of Python's expressions, of which nothing but
arithmetic is taken.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Mapping
from typing import Any

from pycompiler.core.dims import Dim, Dimension
from pycompiler.core.sizes import symbols_of

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
    """What `symbols_to_json` gave."""
    return {
        name: Dim(name, min=said["min"], max=said["max"], multiple_of=said["multiple_of"])
        for name, said in written.items()
    }


def size_from_text(text: str, symbols: Mapping[str, Dim]) -> Dimension:
    """A size. Raises ValueError for what is none."""
    if text.isdigit():
        return int(text)
    try:
        return _value(ast.parse(text, mode="eval").body, symbols)
    except (SyntaxError, KeyError, TypeError):
        raise ValueError(
            f"deserialize: the exported function has an array of the size {text!r}, and this version reads numbers and "
            f"what is computed of the symbols ({', '.join(symbols) or 'none'}); load it with a later one"
        ) from None


def _value(node: ast.expr, symbols: Mapping[str, Dim]) -> Any:
    if isinstance(node, ast.Name):
        return symbols[node.id]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, symbols)
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_value(node.left, symbols), _value(node.right, symbols))
    raise TypeError(type(node).__name__)
