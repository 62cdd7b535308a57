"""The edge between the user's code and ours: errors leave through it without the package's own frames."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from pycompiler.core.config import config
from pycompiler.core.source import without_own_frames

_P = ParamSpec("_P")
_R = TypeVar("_R")


def boundary(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """A decorator for public functions: the traceback of an error shows the user's frames only.

    The setting `traceback_filtering` turns it off.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            if config.traceback_filtering:
                # Re-raising adds no frame of its own, so that only the callers' follow.
                error.__traceback__ = without_own_frames(error.__traceback__)
            raise

    return call


def wraps(function: Callable[..., Any], transform: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """`functools.wraps` for what a transformation returns, at the boundary, under a docstring that says what it is."""

    if not callable(function):
        raise TypeError(f"{transform}: takes a function, got {function!r} of type {type(function).__name__}")

    def decorate(wrapper: Callable[_P, _R]) -> Callable[_P, _R]:
        assigned = [name for name in functools.WRAPPER_ASSIGNMENTS if name != "__doc__"]
        bounded = functools.update_wrapper(boundary(wrapper), function, assigned=assigned)
        name = getattr(function, "__name__", type(function).__name__)
        bounded.__doc__ = f"{transform} of {name}. {getattr(function, '__doc__', None) or ''}".rstrip()
        return bounded

    return decorate
