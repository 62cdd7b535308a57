"""The addresses of C functions and data from the objects that hold them: capsules, ctypes, Numba, CFFI."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

_Destructor = ctypes.CFUNCTYPE(None, ctypes.py_object)


def _of_python(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    function = ctypes.PYFUNCTYPE(result, *arguments)
    return function((name, ctypes.pythonapi))


_new = _of_python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _Destructor)
_name = _of_python("PyCapsule_GetName", ctypes.c_char_p, ctypes.py_object)
_pointer = _of_python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)

_CAPSULE = type(_new(1, None, _Destructor(0)))
# The base class of the functions of all libraries and types.
_FUNCTION = _Destructor.__mro__[1]


def capsule_of(function: Any) -> Any:
    """A capsule that holds a function of ctypes."""
    return _new(ctypes.cast(function, ctypes.c_void_p), None, _Destructor(0))


def in_capsule(what: str, capsule: object) -> int:
    """The address that a capsule holds. Raises TypeError for another object."""
    if not isinstance(capsule, _CAPSULE):
        raise TypeError(
            f"{what} must be a PyCapsule, got {capsule!r} of type {type(capsule).__name__}. What to do: wrap a "
            "function of ctypes by ffi.pycapsule"
        )
    return _pointer(capsule, _name(capsule))


def of_function(what: str, function: Any) -> int:
    """The address of a function: a number, a capsule, a function of ctypes, or an object with an `address` (Numba's
    cfunc). Raises TypeError for another object, ValueError for a null pointer."""
    found = getattr(function, "address", function)
    if isinstance(found, _CAPSULE):
        found = in_capsule(what, found)
    elif isinstance(found, _FUNCTION):
        found = ctypes.cast(found, ctypes.c_void_p).value or 0
    if not isinstance(found, int) or isinstance(found, bool):
        raise TypeError(
            f"{what} must be a C function, got {function!r} of type {type(function).__name__}. What to do: give "
            "(library, name), a function of ctypes, Numba's cfunc, a PyCapsule or an address"
        )
    if found == 0:
        raise ValueError(f"{what} is a null pointer")
    return found
