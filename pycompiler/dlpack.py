"""Exchange of arrays with other libraries by DLPack, as in `jax.dlpack`.

An array is a producer itself: `torch.from_dlpack(x)` and `numpy.from_dlpack(x)` share its elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycompiler._runtime import Array, Device
from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.lax.names import nearest_name
from pycompiler.numpy import interchange

__all__ = ["from_dlpack", "is_supported_dtype"]


def from_dlpack(external_array: Any, device: Device | None = None, copy: bool | None = None) -> Array:
    """The array of another library, shared if it is row-major on the CPU, else copied: `numpy.from_dlpack`."""
    return interchange.from_dlpack(external_array, device=device, copy=copy)


def is_supported_dtype(dtype: Any) -> bool:
    """Whether DLPack has the dtype: all but the small types of 8 bits and less that are no plain integers.

    Raises TypeError for None and for an object that is no dtype.

    >>> import pycompiler as pc
    >>> pc.dlpack.is_supported_dtype("bfloat16"), pc.dlpack.is_supported_dtype("float8_e5m2")
    (True, False)
    """
    if dtype is None:
        raise TypeError("is_supported_dtype: takes a dtype or its name, got None")
    try:
        found = dtypes.as_dtype(dtype)
    except TypeError:
        np.dtype(dtype)  # an object that is no dtype is a TypeError
        return False
    return found in dtypes.DTYPES and not dtypes.is_small(found)


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
