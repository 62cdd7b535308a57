"""Annotations for functions that take arrays: `ArrayLike`, `DTypeLike`, as in `jax.typing`.

A function annotates its parameters with `ArrayLike`, and its results with `Array`, which it returns in any case.
"""

from __future__ import annotations

from typing import Any, Protocol, Union, runtime_checkable

import numpy as np

from pycompiler._runtime import Array
from pycompiler.lax.names import nearest_name

__all__ = ["ArrayLike", "DTypeLike"]


@runtime_checkable
class _HasDtype(Protocol):
    """An object with a dtype, such as `numpy.float32` and arrays."""

    @property
    def dtype(self) -> np.dtype[Any]: ...


# Arrays, those of NumPy, and scalars of NumPy and Python: `isinstance(x, ArrayLike)` tests an object. Tracers are
# arrays, too. Sequences are not.
ArrayLike = Union[Array, np.ndarray, np.bool_, np.number, bool, int, float, complex]  # noqa: UP007 (libraries read its origin)
# The arguments of `numpy.dtype`, except None: a name, a type, a dtype or an object with one.
DTypeLike = Union[str, type[Any], np.dtype, _HasDtype]  # noqa: UP007 (libraries read its origin)

__getattr__ = nearest_name(__name__, __all__)
