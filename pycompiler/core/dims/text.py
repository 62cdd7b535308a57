"""Dimensions from text: sums, products, quotients, remainders, maxima and minima of whole numbers and names. Imports
`ranges`.

>>> from pycompiler.core.dims.dims import Dim
>>> dimension_from("2 * s0 + 1", {"s0": Dim("n")})
2*n + 1
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from pycompiler.core.dims.ranges import larger, smaller

__all__ = ["arithmetic", "dimension_from"]

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
}
_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {"max": larger, "min": smaller}
_MOST_POWER = 64


def dimension_from(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression of an affine map, whose operators are `+`, `*`, `floordiv` and `mod`. Raises
    SyntaxError, KeyError or TypeError for other text."""
    return arithmetic(ast.parse(text.replace(" floordiv ", "//").replace(" mod ", "%"), mode="eval").body, names)


def arithmetic(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of parsed text. Raises KeyError for a name that is not given, ValueError for a power that no size has,
    TypeError for other syntax."""
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -arithmetic(node.operand, names)
    if isinstance(node, ast.BinOp):
        left, right = arithmetic(node.left, names), arithmetic(node.right, names)
        if isinstance(node.op, ast.Pow) and (type(right) is not int or not 0 <= right < _MOST_POWER):
            raise ValueError(f"the power {right} in a size, expected a number from 0 to {_MOST_POWER - 1}")
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2 and not node.keywords:
        return _FUNCTIONS[node.func.id](*[arithmetic(operand, names) for operand in node.args])
    raise TypeError(type(node).__name__)
