"""Functions that take nested lists of numbers as arrays. After `creation`."""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from pycompiler.numpy.creation import asarray

_P = ParamSpec("_P")
_R = TypeVar("_R")


def nested(count: int) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A decorator: the first `count` arguments of a function may be nested lists of numbers."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if any(isinstance(x, list | tuple) for x in args[:count]):
                given: Any = [asarray(x) if isinstance(x, list | tuple) else x for x in args[:count]]
                return function(*given, *args[count:], **kwargs)
            return function(*args, **kwargs)

        return call

    return decorate
