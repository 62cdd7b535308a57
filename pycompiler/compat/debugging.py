"""`jax.debug.callback`: the error of a failed host function is JAX's (`callbacks`)."""

from __future__ import annotations

import functools
from typing import Any

from pycompiler import debug
from pycompiler.compat.callbacks import Reporting

__all__ = ["callback"]


@functools.wraps(debug.callback)
def callback(callback: Any = None, *args: Any, **kwargs: Any) -> Any:
    return debug.callback(Reporting(callback) if callable(callback) else callback, *args, **kwargs)
