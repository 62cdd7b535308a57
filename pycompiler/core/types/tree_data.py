"""Comparing and copying the data of registered containers that can't be hashed, or whose == gives no bool.

Structures of trees are keys of caches. Lists, dicts and arrays in them are compared by their contents. A key keeps
copies: if the owner changes the data later, the structure is a different one. `tree_keys` hands both functions to the
runtime.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import numpy as np

from pycompiler._runtime import Array


def equal_data(a: Any, b: Any) -> bool:
    """Whether two values are the same part of a structure: containers and dataclasses by their contents, arrays by
    shape, dtype and elements (nan is equal to itself). A value that can't be compared is equal only to itself."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if issubclass(type(a), (tuple, list)):
        return len(a) == len(b) and all(map(equal_data, a, b))
    if issubclass(type(a), dict):
        return a.keys() == b.keys() and all(equal_data(value, b[key]) for key, value in a.items())
    if issubclass(type(a), (np.ndarray, np.generic, Array)):
        return _equal_arrays(a, b)
    return _equal_objects(a, b)


def _equal_arrays(x: Any, y: Any) -> bool:
    try:
        a, b = np.asarray(x), np.asarray(y)
    except RuntimeError:  # one array was deleted
        return False
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.hasobject:
        return all(map(equal_data, a.flat, b.flat))
    return a.tobytes() == b.tobytes() or bool(np.all((a == b) | ((a != a) & (b != b))))


def _equal_objects(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:  # from the user's ==, or from a result that is no bool
        if not dataclasses.is_dataclass(a) or type(a).__eq__ is object.__eq__:
            return False
    names = [field.name for field in dataclasses.fields(a) if field.compare]
    return all(equal_data(getattr(a, name, None), getattr(b, name, None)) for name in names)


def copy_data(x: Any) -> Any:
    """A copy that later changes of `x` don't reach. If `x` can't be copied, `x` itself."""
    made_as: Any = x.__class__
    kind = made_as
    if kind in (tuple, list):
        return made_as([copy_data(item) for item in x])
    if kind is dict:
        return {key: copy_data(value) for key, value in x.items()}
    try:
        hash(x)
    except Exception:
        try:
            return copy.deepcopy(x)
        except Exception:  # such as a handle of the system: it is compared by itself
            return x
    return x
