"""Functions for devices. Each reads XLA_FLAGS first, as JAX does at the first use of its devices. So a program may set
the number of CPU devices after it has imported jax.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import pycompiler
from pycompiler.compat.environment import take_devices

__all__ = ["device_count", "devices", "local_device_count", "local_devices", "make_mesh"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _after_flags(function: Callable[_P, _R]) -> Callable[_P, _R]:
    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> Any:
        take_devices()
        return function(*args, **kwargs)

    return call


device_count = _after_flags(pycompiler.device_count)
devices = _after_flags(pycompiler.devices)
local_device_count = _after_flags(pycompiler.local_device_count)
local_devices = _after_flags(pycompiler.local_devices)
make_mesh = _after_flags(pycompiler.make_mesh)
