"""The streams of the generators: words, keys and floats of a key.

A key of Threefry-2x32 is two numbers of 32 bits: an array of the dtype key<fry>, or the numbers themselves as
uint32[..., 2]. The functions here return numbers. The generators of `counters` have their own numbers. A key of rbg and
unsafe_rbg is uint32[..., 4]. Their bits are blocks of Philox-4x32; they split keys in different ways (`blocks`). The
setting default_prng_impl selects one of them. The streams are JAX's, bit for bit, for both values of the setting
threefry_partitionable. keys and the distributions import this module. Traced functions call its functions.
"""

from math import prod
from typing import Any

import numpy as np

from pycompiler.core.config.config import config
from pycompiler.core.dims.dims import surely_below
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.generator import numbered, philox_block, random_block
from pycompiler.lax.operands import Array, broadcast_to, cast
from pycompiler.primitives.arithmetic import bitcast, convert
from pycompiler.primitives.bits import or_, shift_left, shift_right_logical
from pycompiler.primitives.random import threefry2x32
from pycompiler.random.counters import Words, counting, stacked

UINTS = {8: dtypes.uint8, 16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}
Halves = tuple[Array, Array]


def halves(key: Array) -> Halves:
    """The two numbers of a key; for several keys, two arrays."""
    if dtypes.is_key(get_aval(key).dtype):
        word = bitcast.bind(key, new_dtype=dtypes.uint64)
        return _narrow(word), _narrow(shift_right_logical.bind(word, _half_width(word)))
    last = len(get_aval(key).shape) - 1
    first, second = (movement.index_in_dim(key, i, last, keepdims=False) for i in (0, 1))
    return first, second


def packed(keys: Array) -> Array:
    """Keys of the dtype key<fry>, from their numbers."""
    first, second = (convert.bind(half, new_dtype=dtypes.uint64) for half in halves(keys))
    word = or_.bind(first, shift_left.bind(second, _half_width(second)))
    return bitcast.bind(word, new_dtype=dtypes.KEY)


def numbers(keys: Array) -> Array:
    """The numbers of keys, uint32[..., 2], which loops carry."""
    if not dtypes.is_key(get_aval(keys).dtype):
        return keys
    last = len(get_aval(keys).shape)
    return movement.concatenate([movement.expand_dims(half, (last,)) for half in halves(keys)], last)


def _narrow(word: Array) -> Array:
    return convert.bind(word, new_dtype=dtypes.uint32)


def _half_width(word: Array) -> Array:
    # Without enable_x64, words of 64 bits exist, but their literals do not.
    return broadcast_to(convert.bind(32, new_dtype=dtypes.uint64), get_aval(word).shape)


def has_block(key: Array) -> bool:
    """Whether a key is of rbg or unsafe_rbg, given that it isn't of `counters`."""
    aval = get_aval(key)
    return aval.dtype == dtypes.uint32 and aval.shape[-1] == 4


def _is_unsafe() -> bool:
    return config.default_prng_impl == "unsafe_rbg"


def _half_keys(key: Array) -> tuple[Array, Array]:
    """A key of rbg as two keys of threefry."""
    return movement.slice_in_dim(key, 0, 2), movement.slice_in_dim(key, 2, 4)


def _block_of(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    return random_block(key, shape=shape, dtype=dtype)[1]


def words_of(keys: Array) -> Words:
    """The words of keys."""
    of = counting(keys)
    if of is None and not has_block(keys):
        return halves(keys)
    last = len(get_aval(keys).shape) - 1
    return tuple([movement.index_in_dim(keys, i, last, keepdims=False) for i in range(4 if of is None else of.words)])


def seed_block(seed: Array) -> Array:
    """The key of rbg of an integer."""
    half = seed_key(seed)
    return movement.concatenate([half, half], 0)


def seed_key(seed: Array) -> Array:
    """The key of an integer."""
    dtype = get_aval(seed).dtype
    high = cast(0, dtypes.uint32)
    if dtype.itemsize == 8:
        high = cast(lax.shift_right_logical(seed, 32), dtypes.uint32)
        seed = lax.bitwise_and(seed, 0xFFFFFFFF)
    parts = [movement.reshape(x, (1,)) for x in (high, cast(seed, dtypes.uint32))]
    return movement.concatenate(parts, 0)


def _apply(key: Array, x0: Array, x1: Array) -> Halves:
    shape = get_aval(x0).shape
    first, second = (broadcast_to(half, shape) for half in halves(key))
    return threefry2x32.bind(first, second, x0, x1)


def _hash(key: Array, counts: Array) -> Array:
    """The block function over a vector of counters, which is split into two halves; an odd length is padded with 0."""
    (count,) = get_aval(counts).shape
    half = (count + 1) // 2
    odd = 2 * half - count
    if odd != 0:
        counts = movement.pad(counts, cast(0, dtypes.uint32), [(0, odd, 0)])
    x0, x1 = (movement.slice_in_dim(counts, start, start + half) for start in (0, half))
    out = movement.concatenate(_apply(key, x0, x1), 0)
    return movement.slice_in_dim(out, 0, count) if odd != 0 else out


def _numbered(key: Array, shape: tuple[int, ...]) -> Halves:
    """The block function of each element's 64-bit number: the newer stream, whose parts are independent."""
    return _apply(key, *_numbers(shape))


def _numbers(shape: tuple[int, ...]) -> Halves:
    """The 64-bit number of each element, the upper half first."""
    low, high = numbered(prod(shape))
    upper = broadcast_to(cast(0, dtypes.uint32), shape) if high is None else movement.reshape(high, shape)
    return upper, movement.reshape(low, shape)


def split_keys(key: Array, shape: tuple[int, ...]) -> Array:
    """Keys of a shape, uint32[*shape, 2]. For other generators, the last size is their number of words."""
    of = counting(key)
    if of is not None:
        return stacked(of.keys_at(words_of(key), *_numbers(shape)))
    if has_block(key):
        if _is_unsafe():
            rows = _block_of(key, (10 * prod(shape), 4), dtypes.uint32)
            return movement.reshape(movement.slice_in_dim(rows, None, None, stride=10), (*shape, 4))
        return movement.concatenate([split_keys(half, shape) for half in _half_keys(key)], len(shape))
    if config.threefry_partitionable:
        pair = [movement.expand_dims(half, (len(shape),)) for half in _numbered(key, shape)]
        return movement.concatenate(pair, len(shape))
    counts = movement.iota(dtypes.uint32, 2 * prod(shape))
    return movement.reshape(_hash(key, counts), (*shape, 2))


def subkeys(key: Array, count: int) -> list[Array]:
    """`count` keys, one by one."""
    keys = split_keys(key, (count,))
    return [movement.index_in_dim(keys, i, keepdims=False) for i in range(count)]


def fold_key(key: Array, data: Array) -> Array:
    """A new key that derives from a key and an integer."""
    of = counting(key)
    if of is not None:
        return stacked(of.keys_at(words_of(key), np.uint32(0), cast(data, dtypes.uint32)))
    if has_block(key):
        if _is_unsafe():
            rows = _block_of(seed_block(cast(data, dtypes.uint32)), (10, 4), dtypes.uint32)
            return lax.bitwise_xor(key, movement.index_in_dim(rows, 9, keepdims=False))
        return movement.concatenate([fold_key(half, data) for half in _half_keys(key)], 0)
    return _hash(key, seed_key(cast(data, dtypes.uint32)))


def bits_of(key: Array, width: int, shape: tuple[int, ...]) -> Array:
    """Unsigned integers of a width, with random bits."""
    dtype = UINTS[width]
    of = counting(key)
    if of is not None:
        return of.bits_at(words_of(key), *_numbers(shape), dtype)
    if has_block(key):
        return _block_of(key, shape, dtype)
    if config.threefry_partitionable:
        high, low = _numbered(key, shape)
        if width == 64:
            return lax.bitwise_or(lax.shift_left(cast(high, dtype), 32), cast(low, dtype))
        mixed = lax.bitwise_xor(high, low)
        return mixed if width == 32 else cast(mixed, dtype)
    size = prod(shape)
    count = -(-width * size // 32)
    if surely_below(2**32, count):
        raise ValueError(
            f"random: an array of {size} random numbers needs {count} words, and a key has 2**32. What "
            "to do: use the newer stream, with the setting threefry_partitionable, or split the key"
        )
    words = _hash(key, movement.iota(dtypes.uint32, count))
    if width == 64:
        high, low = (cast(movement.slice_in_dim(words, i, i + size), dtype) for i in (0, size))
        words = lax.bitwise_or(lax.shift_left(high, 32), low)
    elif width < 32:
        # Each word holds several integers, the lowest first.
        parts = (count, 32 // width)
        wide = movement.broadcast_in_dim(words, parts, (0,))
        places = lax.mul(movement.broadcasted_iota(dtypes.uint32, parts, 1), width)
        narrow = lax.bitwise_and(lax.shift_right_logical(wide, places), 2**width - 1)
        words = movement.slice_in_dim(cast(movement.reshape(narrow, (prod(parts),)), dtype), 0, size)
    return movement.reshape(words, shape)


# The first numbers of the streams of many keys. Arrays of keys are two arrays.


def _apply_each(keys: Words, x0: int, x1: int) -> Halves:
    shape = get_aval(keys[0]).shape
    return threefry2x32.bind(*keys, *(broadcast_to(cast(x, dtypes.uint32), shape) for x in (x0, x1)))


def _philox_each(keys: Words, row: int) -> Words:
    """The row of four words that Philox gives for each of the keys."""
    k0, k1, low, high = keys
    c0 = lax.add(low, np.uint32(row))
    return philox_block(k0, k1, low, c0, lax.add(high, cast(lax.lt(c0, low), dtypes.uint32)))


def split_each(keys: Words, count: int) -> list[Words]:
    """`count` arrays of keys: the result of `split_keys` for each of the keys."""
    of = counting(keys[0])
    if of is not None:
        return [of.keys_at(keys, np.uint32(0), np.uint32(i)) for i in range(count)]
    if len(keys) == 4:
        if _is_unsafe():
            return [_philox_each(keys, 10 * i) for i in range(count)]
        pairs = zip(split_each(keys[:2], count), split_each(keys[2:], count), strict=True)
        return [(*first, *second) for first, second in pairs]
    if config.threefry_partitionable:
        return [_apply_each(keys, 0, i) for i in range(count)]
    blocks = [_apply_each(keys, i, i + count) for i in range(count)]
    words = [*(first for first, _ in blocks), *(second for _, second in blocks)]
    return [(words[2 * i], words[2 * i + 1]) for i in range(count)]


def bits_each(keys: Words, width: int) -> Array:
    """One unsigned integer for each of the keys: the result of `bits_of` for the shape ()."""
    dtype = UINTS[width]
    of = counting(keys[0])
    if of is not None:
        return of.bits_at(keys, np.uint32(0), np.uint32(0), dtype)
    if len(keys) == 4:
        first, second, *_ = _philox_each(keys, 0)
        return (
            lax.bitwise_or(lax.shift_left(cast(second, dtype), 32), cast(first, dtype))
            if width == 64
            else cast(first, dtype)
        )
    newer = config.threefry_partitionable
    high, low = _apply_each(keys, 0, 1 if width == 64 and not newer else 0)
    if width == 64:
        return lax.bitwise_or(lax.shift_left(cast(high, dtype), 32), cast(low, dtype))
    word = lax.bitwise_xor(high, low) if newer else high
    return word if width == 32 else cast(word, dtype)


# Floats.


def _drawn_width(dtype: Any) -> int:
    """The number of random bits for a float."""
    return 8 if int(dtypes.finfo(dtype).nmant) < 8 else dtype.itemsize * 8


def _floats(words: Array, low: Array, high: Array, dtype: Any) -> Array:
    """Random mantissas with the exponent of 1, minus 1, scaled: multiples of 2**-nmant."""
    shape = get_aval(words).shape
    width, drawn, mantissa = dtype.itemsize * 8, _drawn_width(dtype), int(dtypes.finfo(dtype).nmant)
    words = words if drawn == width else cast(words, UINTS[width])
    one = int(np.asarray(1, dtype).view(UINTS[width]))
    pattern = lax.bitwise_or(lax.shift_right_logical(words, drawn - mantissa), one)
    floats = lax.sub(lax.bitcast_convert_type(pattern, dtype), 1.0)
    low, high = (broadcast_to(cast(x, dtype), shape) for x in (low, high))
    return lax.max(low, lax.add(lax.mul(floats, lax.sub(high, low)), low))


def _normals(key_words: Array, dtype: Any) -> Array:
    low = np.nextafter(np.asarray(-1, dtype), np.asarray(0, dtype), dtype=dtype)
    return lax.mul(lax.erf_inv(_floats(key_words, low, 1.0, dtype)), np.asarray(np.sqrt(2), dtype))


def uniform_of(key: Array, shape: tuple[int, ...], dtype: Any, low: Array = 0.0, high: Array = 1.0) -> Array:
    """Floats in low..high, uniformly distributed."""
    return _floats(bits_of(key, _drawn_width(dtype), shape), low, high, dtype)


def uniform_each(keys: Words, dtype: Any) -> Array:
    """A float in 0..1 for each of the keys."""
    return _floats(bits_each(keys, _drawn_width(dtype)), 0.0, 1.0, dtype)


def normal_of(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Floats of the normal distribution."""
    return _normals(bits_of(key, _drawn_width(dtype), shape), dtype)


def normal_each(keys: Words, dtype: Any) -> Array:
    """A float of the normal distribution for each of the keys."""
    return _normals(bits_each(keys, _drawn_width(dtype)), dtype)
