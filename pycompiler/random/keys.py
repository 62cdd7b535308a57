"""Keys: made of a seed, of another key, of their numbers.

A key is a uint32 array of two numbers, of `key` and `PRNGKey` alike.
"""

from typing import Any

import numpy as np

from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import get_aval, short
from pycompiler.core.config import config
from pycompiler.lax.fused import fused
from pycompiler.lax.operands import Array, canonical_shape, cast, check_arrays
from pycompiler.numpy.creation import array
from pycompiler.random.arguments import check_key
from pycompiler.random.streams import bits_of, fold_key, seed_key, split_keys


def key(seed: Any, *, impl: str | None = None) -> Array:
    """The key of an integer seed.

    TypeError for a seed that is not one integer; ValueError for an impl other than 'threefry2x32'.

    >>> from pycompiler import random
    >>> random.key(42)
    Array([ 0, 42], dtype=uint32)
    """
    if impl not in (None, "threefry2x32"):
        raise ValueError(f"key: the only generator there is yet is 'threefry2x32', got {impl!r}")
    if type(seed) is int:
        # As JAX: 64 bits wide, of which the upper half counts only with enable_x64.
        high = (seed >> 32) & 0xFFFFFFFF if config.enable_x64 else 0
        return array(np.array([high, seed & 0xFFFFFFFF], np.uint32))
    check_arrays("key", seed)
    aval = get_aval(seed)
    if aval.shape != () or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"key: the seed must be one integer, got {short(aval)}")
    return fused(seed_key, seed)


PRNGKey = key


def key_data(keys: Array) -> Array:
    """The numbers of keys: here the keys themselves."""
    check_arrays("key_data", keys)
    return keys


def wrap_key_data(key_bits_array: Array, *, impl: str | None = None) -> Array:
    """Keys of their numbers: here the numbers themselves."""
    check_arrays("wrap_key_data", key_bits_array)
    return key_bits_array


def clone(key: Array) -> Array:
    """The same key."""
    check_arrays("clone", key)
    return key


def split(key: Array, num: Any = 2) -> Array:
    """`num` new keys, uint32[num, 2] (or of a shape), whose streams have nothing to do with each other.

    >>> from pycompiler import random
    >>> key, subkey = random.split(random.key(0))
    """
    check_key("split", key)
    return fused(split_keys, key, shape=canonical_shape("split", num))


def fold_in(key: Array, data: Any) -> Array:
    """The key that belongs to a key and an integer."""
    check_key("fold_in", key)
    if type(data) is int:
        data = np.uint32(data & 0xFFFFFFFF) if data < 0 else cast(data, dtypes.uint32)
    check_arrays("fold_in", data)
    aval = get_aval(data)
    if aval.shape != () or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"fold_in: the data must be one integer, got {short(aval)}")
    return fused(fold_key, key, data)


def bits(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """Unsigned integers, every bit random; uint32 unless an unsigned dtype is given."""
    check_key("bits", key)
    wanted = dtypes.uint32 if dtype is None else dtypes.canonicalize_requested(dtype, "bits")
    if not dtypes.is_unsigned(wanted):
        raise TypeError(f"bits: the dtype must be an unsigned integer, got {wanted.name}")
    return fused(bits_of, key, width=wanted.itemsize * 8, shape=canonical_shape("bits", shape))
