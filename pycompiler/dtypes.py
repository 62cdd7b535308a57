"""Kinds of dtypes that NumPy does not have, and the query for them: `issubdtype(key.dtype, prng_key)`."""

from pycompiler.core.types.dtype import extended, float0, prng_key
from pycompiler.numpy import bfloat16, issubdtype

__all__ = ["bfloat16", "extended", "float0", "issubdtype", "prng_key"]
