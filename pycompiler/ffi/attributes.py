"""The constants of a foreign call, in the runtime's form for handlers."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from pycompiler.core.types import dtype as dtypes

# The dtypes in which XLA passes Python's numbers.
_NUMBERS: tuple[tuple[type, Any], ...] = (
    (bool, np.bool_),
    (int, np.int64),
    (float, np.float64),
    (complex, np.complex128),
)


class Attributes:
    """The attributes of a call, sorted by name. Two objects are equal if handlers get the same attributes."""

    __slots__ = ("_text", "encoded")

    def __init__(self, given: Mapping[str, Any]) -> None:
        # (name, dtype, bytes, is_array) of numbers, (name, bytes) of a string, (name, tuple) of a dictionary.
        self.encoded = _encoded_all("", given)
        # Keys of graphs use this text, so different attributes must have different texts. NumPy shortens arrays.
        digest = hashlib.blake2b(repr(self.encoded).encode(), digest_size=8).hexdigest()
        self._text = f"{dict(given)!r:.200} ({digest})" if given else "{}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attributes) and self.encoded == other.encoded

    def __hash__(self) -> int:
        return hash(self.encoded)

    def __repr__(self) -> str:
        return self._text


def _encoded_all(prefix: str, given: Mapping[str, Any]) -> tuple[tuple[Any, ...], ...]:
    for name in given:
        if not isinstance(name, str):
            raise TypeError(f"ffi_call: the attribute {prefix}{name!r} has no string as its name")
    made = [(name, *_encoded(prefix + name, value)) for name, value in given.items()]
    return tuple(sorted(made, key=lambda one: operator.itemgetter(0)(one).encode()))


def _encoded(name: str, value: Any) -> tuple[Any, ...]:
    if isinstance(value, str):
        return (value.encode(),)
    if isinstance(value, bytes):
        return (value,)
    if isinstance(value, Mapping):
        return (_encoded_all(f"{name}.", value),)
    if isinstance(value, (np.generic, np.ndarray)):
        return _numbers(name, value)
    for kind, dtype in _NUMBERS:
        if isinstance(value, kind):
            try:
                return _numbers(name, dtype(value))
            except OverflowError:
                raise TypeError(
                    f"ffi_call: the attribute {name} = {value} is no int64; give a NumPy number of another type"
                ) from None
    raise TypeError(
        f"ffi_call: the attribute {name} is {value!r} of type {type(value).__name__}; an attribute is a number, a "
        "string, a NumPy array or a dict of these. What to do: give arrays of the program as positional arguments"
    )


def _numbers(name: str, value: Any) -> tuple[Any, ...]:
    if value.dtype == dtypes.float0:
        value = np.zeros(value.shape, np.bool_)
    try:
        dtype = dtypes.as_dtype(value.dtype)
    except TypeError:
        raise TypeError(
            f"ffi_call: the attribute {name} has the dtype {value.dtype}, which handlers can't read"
        ) from None
    return dtype, np.ascontiguousarray(value).tobytes(), isinstance(value, np.ndarray)
