"""Failures of host functions in JAX's form: a JaxRuntimeError with the error's text. Libraries look for both.

Without JAX's names, the error itself is raised.
"""

from __future__ import annotations

import functools
import logging
import traceback
from typing import Any

import pycompiler
from pycompiler import errors, experimental

__all__ = ["io_callback", "pure_callback"]


_log = logging.getLogger("jax._src.callback")


class Reporting:
    """A host function with JAX's report of its error. Two objects are equal if their functions are."""

    def __init__(self, function: Any, logged: str = "") -> None:
        self.function = function
        self.logged = logged  # the name under which a failure is logged; failures of `debug` are logged elsewhere
        self.__name__ = str(getattr(function, "__name__", type(function).__name__))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self.function(*args, **kwargs)
        except Exception as error:
            if self.logged:
                _log.exception("jax.%s failed", self.logged)
            text = "".join(traceback.format_exception(error))
            raise errors.JaxRuntimeError(f"INTERNAL: CpuCallback error calling callback: {text}") from error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reporting) and self.function == other.function

    def __hash__(self) -> int:
        return hash(self.function)


def _reporting(callback: Any, name: str) -> Any:
    return Reporting(callback, name) if callable(callback) else callback


@functools.wraps(pycompiler.pure_callback)
def pure_callback(callback: Any, *args: Any, **kwargs: Any) -> Any:
    return pycompiler.pure_callback(_reporting(callback, "pure_callback"), *args, **kwargs)


@functools.wraps(experimental.io_callback)
def io_callback(callback: Any, *args: Any, **kwargs: Any) -> Any:
    return experimental.io_callback(_reporting(callback, "io_callback"), *args, **kwargs)
