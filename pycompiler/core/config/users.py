"""Contexts that users make: values that the traces of jitted functions depend on. Imports `config`."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Hashable
from typing import Any

from pycompiler.core.config.config import config
from pycompiler.core.config.settings import Setting

_numbers = itertools.count(1)


class UserContext:
    """A value of the process that a `with` block changes in its thread (`make_user_context`)."""

    __slots__ = ("_name",)

    def __init__(self, default_value: Any) -> None:
        self._name = f"user_context_{next(_numbers)}"
        config.add(Setting(self._name, object, default_value, "", "a context of a user", keyed=True))

    @property
    def value(self) -> Any:
        """The value in this thread."""
        return config.read(self._name)

    def get_global(self) -> Any:
        """The value in threads that are in no `with` block."""
        return config.common(self._name)

    def set_global(self, new_value: Hashable) -> None:
        """Set the value of the process. Raises TypeError for a value without a hash."""
        config.update(self._name, new_value)

    def __call__(self, new_value: Hashable) -> contextlib.AbstractContextManager[None]:
        """A context in which this thread has another value. Raises TypeError for a value without a hash."""
        hash(new_value)
        return config.override(self._name, new_value)


def make_user_context(default_value: Hashable = None) -> UserContext:
    """A value on which functions may depend while they are traced: `jit` traces again if it differs.

    Make it before other threads run. Raises TypeError for a default without a hash.

    >>> import pycompiler as pc
    >>> scale = pc.make_user_context(1.0)
    >>> f = pc.jit(lambda x: x * scale.value)
    >>> with scale(3.0):
    ...     print(f(2.0))
    6.0
    >>> print(f(2.0))
    2.0
    """
    hash(default_value)
    return UserContext(default_value)
