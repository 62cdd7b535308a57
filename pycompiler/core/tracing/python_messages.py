"""Python's own messages about a value, completed with the parameter that got it: `'int' object is not iterable` says
neither which argument it means nor the expected kind of value."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

_MESSAGE = re.compile(
    r"^'(?P<type>[\w.]+)' object is not (?P<lacking>iterable|subscriptable|callable)$"
    r"|^object of type '(?P<sized>[\w.]+)' has no len\(\)$"
)

# The words of an annotation that promise the lacking ability.
_SEQUENCE = re.compile(r"Sequence|Iterable|Collection|tuple|list|Axis|Axes|Shape|Mapping|dict", re.IGNORECASE)
_FUNCTION = re.compile(r"Callable|Function", re.IGNORECASE)
# If annotations are not kept as text, a dimension is a union.
_DIMENSION = r"Dimension|typing\.Union\[int, [^,]*Dim\b[^,]*\]"
_INTEGERS = re.compile(rf"Sequence\[(int|{_DIMENSION})\]|tuple\[int, \.\.\.\]|Axes|Shape")


def with_parameter(text: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """The message with the name of the parameter that got the value, the expectation and the value. The message is
    unchanged if it is not one of Python's, or if no parameter or several can be meant."""
    said = _MESSAGE.match(text)
    if not said:
        return text
    promised = _FUNCTION if said["lacking"] == "callable" else _SEQUENCE
    found = [
        (name, value, annotation)
        for name, value, annotation in _bound(function, args, kwargs)
        if (said["type"] or said["sized"]) in _names(cast(type[Any], type(value))) and promised.search(annotation)
    ]
    if len(found) != 1:
        return text
    name, value, annotation = found[0]
    if promised is _FUNCTION:
        expected = "a function"
    else:
        expected = "a sequence of integers" if _INTEGERS.search(annotation) else "a sequence"
    given = repr(value)
    return f"{name} must be {expected}, got {given if len(given) < 60 else 'one'} of type {type(value).__name__}"


def _names(kind: type[Any]) -> tuple[str, ...]:
    """Python prints the name of a type of its own, and the whole name of one of an extension module. NumPy's integers
    have become Python's."""
    return kind.__name__, f"{kind.__module__}.{kind.__name__}", *(["int"] if issubclass(kind, np.integer) else [])


def _bound(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[tuple[str, Any, str]]:
    """The parameters that got a value, or have a default, with the texts of their annotations."""
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError):
        return
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            yield name, value, str(parameter.annotation)
