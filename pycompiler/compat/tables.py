"""Tables of JAX in which libraries enter their own classes of arrays, as TensorFlow Probability does for a subclass of
NumPy's array. Here such a class needs no entry, and entries have no effect.
"""

from typing import Any

import numpy as np

from pycompiler.core.types.aval import get_aval

__all__ = ["canonicalize_dtype_handlers", "pytype_aval_mappings"]

canonicalize_dtype_handlers: dict[type, Any] = {np.ndarray: np.asarray}
pytype_aval_mappings: dict[type, Any] = {np.ndarray: get_aval}
