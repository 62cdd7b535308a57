"""Dtypes: their limits, kinds and promotion, with the dtypes that NumPy does not have, as in `jax.dtypes`.

`issubdtype(key.dtype, prng_key)` asks for the kind of a dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pycompiler.core.tracing.boundary import protect
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.dtype import TypePromotionError, extended, float0, prng_key
from pycompiler.lax.names import nearest_name
from pycompiler.numpy import finfo, iinfo, types

__all__ = [
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "result_type",
    "scalar_type_of",
]

# The type of NumPy's scalars, as in JAX; `numpy.bfloat16` makes arrays.
bfloat16 = dtypes.bfloat16.type


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
    """The dtype that arrays of `dtype` have: 64-bit types are narrowed to 32 bits unless `enable_x64` is set.

    Raises TypeError for an object that is no dtype, ValueError for a dtype of keys without `allow_extended_dtype`.

    >>> import pycompiler as pc
    >>> pc.dtypes.canonicalize_dtype("float64")
    dtype('float32')
    """
    given = dtypes.as_dtype(dtype)
    if dtypes.is_key(given) and not allow_extended_dtype:
        raise ValueError(f"canonicalize_dtype: {given} is an extended dtype; allow it by allow_extended_dtype=True")
    return dtypes.canonicalize(given)


def issubdtype(a: Any, b: Any) -> bool:
    """Whether the dtype (or kind) a is b or below it: `numpy.issubdtype`.

    >>> import pycompiler as pc
    >>> pc.dtypes.issubdtype(pc.random.key(0).dtype, pc.dtypes.prng_key)
    True
    """
    return types.issubdtype(a, b)


def itemsize_bits(dtype: Any) -> int:
    """The number of bits of an element: 4 for int4, and 8 for bool.

    Raises ValueError for a dtype that holds no numbers.

    >>> import pycompiler as pc
    >>> pc.dtypes.itemsize_bits("int4"), pc.dtypes.itemsize_bits("complex64")
    (4, 64)
    """
    if dtype is None:
        raise ValueError("itemsize_bits: takes a dtype, got None")
    given = np.dtype(dtype) if dtype in (float, int, complex) else dtypes.as_dtype(dtype)
    if dtypes.is_key(given) or given == float0:
        raise ValueError(f"itemsize_bits: {given} is no dtype of numbers")
    return dtypes.bit_width(given)


def scalar_type_of(x: Any) -> type:
    """The Python type of the elements of an array, of a scalar, or of a dtype: bool, int, float or complex.

    Raises TypeError for an object whose elements are no numbers.

    >>> import pycompiler as pc, pycompiler.numpy as pnp
    >>> pc.dtypes.scalar_type_of(pnp.ones(3, "bfloat16"))
    <class 'float'>
    """
    dtype = dtypes.dtype_and_weak(x)[0]
    if not dtypes.is_key(dtype) and dtype != float0:
        for scalar, kind in ((bool, np.bool_), (int, np.integer), (float, np.floating), (complex, np.complexfloating)):
            if types.issubdtype(dtype, kind):
                return scalar
    raise TypeError(f"scalar_type_of: the elements of {x!r:.80} are no numbers")


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """The dtype to which arrays, scalars and dtypes promote. None means the default dtype of floats.

    With `return_weak_type_flag`, the pair of the dtype and whether it is weak, like that of Python scalars.

    >>> import pycompiler as pc
    >>> pc.dtypes.result_type("int32", 1.0, return_weak_type_flag=True)
    (dtype('float32'), True)
    """
    found = dtypes.result_type(*(dtypes.scalar_dtype(float) if arg is None else arg for arg in args))
    return found if return_weak_type_flag else found[0]


protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
