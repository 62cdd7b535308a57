"""Keys of the Threefry-2x32 generator and the streams of bits that they stand for.

A key is a uint32 array of two numbers, of `key` and `PRNGKey` alike (JAX's `key` gives an array of keys instead; the
numbers drawn are the same). The streams are JAX's, bit for bit, for both values of the setting threefry_partitionable.
"""

from math import prod
from typing import Any

import numpy as np

from pycompiler.core import dtype as dtypes
from pycompiler.core.aval import get_aval, short
from pycompiler.core.config import config
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.fused import fused
from pycompiler.lax.operands import Array, broadcast_to, canonical_shape, cast, check_arrays
from pycompiler.numpy.creation import array
from pycompiler.ops.random import threefry2x32

UINTS = {8: dtypes.uint8, 16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}


def check_key(name: str, key: Any) -> None:
    """Raises a TypeError unless key is one key."""
    check_arrays(name, key)
    aval = get_aval(key)
    if aval.dtype != dtypes.uint32 or aval.shape != (2,):
        raise TypeError(
            f"{name}: takes one key, u32[2] as random.key(seed) makes it, got {short(aval)}; for several, use vmap"
        )


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
    return fused(_seed, seed)


PRNGKey = key


def _seed(seed: Array) -> Array:
    dtype = get_aval(seed).dtype
    high = cast(0, dtypes.uint32)
    if dtype.itemsize == 8:
        high = cast(lax.shift_right_logical(seed, 32), dtypes.uint32)
        seed = lax.bitwise_and(seed, 0xFFFFFFFF)
    halves = [movement.reshape(x, (1,)) for x in (high, cast(seed, dtypes.uint32))]
    return movement.concatenate(halves, 0)


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


def _halves(key: Array) -> tuple[Array, Array]:
    first, second = (movement.index_in_dim(key, i, keepdims=False) for i in (0, 1))
    return first, second


def _apply(key: Array, x0: Array, x1: Array) -> tuple[Array, Array]:
    shape = get_aval(x0).shape
    first, second = (broadcast_to(half, shape) for half in _halves(key))
    return threefry2x32.bind(first, second, x0, x1)


def _hash(key: Array, counts: Array) -> Array:
    """The block function over a vector of counters, taken as two halves; an odd one is padded with 0."""
    (count,) = get_aval(counts).shape
    if count % 2:
        counts = movement.pad(counts, cast(0, dtypes.uint32), [(0, 1, 0)])
    half = (count + 1) // 2
    x0, x1 = (movement.slice_in_dim(counts, start, start + half) for start in (0, half))
    out = movement.concatenate(_apply(key, x0, x1), 0)
    return movement.slice_in_dim(out, 0, count) if count % 2 else out


def _numbered(key: Array, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The block function of each element's own 64-bit number: the newer stream, which can be made in parts."""
    size = prod(shape)
    if size > 2**32:
        raise ValueError(f"random: an array of {size} random numbers is more than the 2**32 that there are yet")
    low = movement.reshape(movement.iota(dtypes.uint32, size), shape)
    return _apply(key, broadcast_to(cast(0, dtypes.uint32), shape), low)


def split_keys(key: Array, shape: tuple[int, ...]) -> Array:
    """Keys of a shape, uint32[*shape, 2]; inside other functions."""
    if config.threefry_partitionable:
        pair = [movement.expand_dims(half, (len(shape),)) for half in _numbered(key, shape)]
        return movement.concatenate(pair, len(shape))
    counts = movement.iota(dtypes.uint32, 2 * prod(shape))
    return movement.reshape(_hash(key, counts), (*shape, 2))


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
    return fused(_fold_in, key, data)


def _fold_in(key: Array, data: Array) -> Array:
    return _hash(key, _seed(cast(data, dtypes.uint32)))


def bits_of(key: Array, width: int, shape: tuple[int, ...]) -> Array:
    """Unsigned integers of a width, every bit random; inside other functions."""
    dtype = UINTS[width]
    if config.threefry_partitionable:
        high, low = _numbered(key, shape)
        if width == 64:
            return lax.bitwise_or(lax.shift_left(cast(high, dtype), 32), cast(low, dtype))
        mixed = lax.bitwise_xor(high, low)
        return mixed if width == 32 else cast(mixed, dtype)
    size = prod(shape)
    count = -(-width * size // 32)
    words = _hash(key, movement.iota(dtypes.uint32, count))
    if width == 64:
        high, low = (cast(movement.slice_in_dim(words, i, i + size), dtype) for i in (0, size))
        words = lax.bitwise_or(lax.shift_left(high, 32), low)
    elif width < 32:
        # Each word holds several, the lowest first.
        parts = (count, 32 // width)
        wide = movement.broadcast_in_dim(words, parts, (0,))
        places = lax.mul(movement.broadcasted_iota(dtypes.uint32, parts, 1), width)
        narrow = lax.bitwise_and(lax.shift_right_logical(wide, places), 2**width - 1)
        words = movement.slice_in_dim(cast(movement.reshape(narrow, (prod(parts),)), dtype), 0, size)
    return movement.reshape(words, shape)


def bits(key: Array, shape: Any = (), dtype: Any = None) -> Array:
    """Unsigned integers, every bit random; uint32 unless an unsigned dtype is given."""
    check_key("bits", key)
    wanted = dtypes.uint32 if dtype is None else dtypes.canonicalize_requested(dtype, "bits")
    if not dtypes.is_unsigned(wanted):
        raise TypeError(f"bits: the dtype must be an unsigned integer, got {wanted.name}")
    return fused(bits_of, key, width=wanted.itemsize * 8, shape=canonical_shape("bits", shape))
