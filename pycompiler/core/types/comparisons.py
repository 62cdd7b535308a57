"""NumPy's comparisons of arrays that can't be read: deleted or failed ones, keys, tracers, arrays of other processes.

`numpy.array_equal` and `numpy.array_equiv` convert both arguments, and answer False after any exception. So a failed
computation would be the answer "not equal". For these two functions, a failed conversion gives elements instead whose
comparison raises the exception.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.hooks import set_failed_read

_FUNCTIONS = frozenset({"array_equal", "array_equiv"})


class _Unread:
    """An element of an array that can't be read."""

    __slots__ = ("_error",)

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __eq__(self, other: object) -> NoReturn:
        raise self._error

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def _unread_elements(array: Any, error: BaseException, frame: FrameType) -> np.ndarray[Any, Any] | None:
    """The answer to a failed conversion that the code of `frame` began. None if this is no comparison of NumPy: other
    functions of NumPy pass the exception on."""
    if frame.f_code.co_name not in _FUNCTIONS or not frame.f_globals.get("__name__", "").startswith("numpy."):
        return None
    element = np.empty((), object)
    element[()] = _Unread(error)
    shape: tuple[Any, ...] = array.shape
    if not _is_known(shape):
        # NumPy has no symbolic sizes. Both arguments get one shape, so that elements are compared.
        others: list[Any] = [frame.f_locals.get(name) for name in ("a1", "a2")]
        shape = next((tuple(np.shape(other)) for other in others if other is not array), ())
    return np.broadcast_to(element, shape) if _is_known(shape) else element


def _is_known(shape: tuple[Any, ...]) -> bool:
    return all(type(size) is int for size in shape)


def _after_failed_read(array: Array, error: BaseException) -> np.ndarray[Any, Any] | None:
    return _unread_elements(array, error, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]


set_failed_read(_after_failed_read)


def answers_comparisons(read: Callable[..., Any]) -> Callable[..., Any]:
    """For the `__array__` of a class whose conversions fail."""

    @functools.wraps(read)
    def convert(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return read(self, *args, **kwargs)
        except Exception as error:
            elements = _unread_elements(self, error, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
            if elements is None:
                raise
            return elements

    return convert
