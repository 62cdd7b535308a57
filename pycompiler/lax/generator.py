"""Blocks of random bits from a state with a counter, by algorithms that are an operation of other compilers.

`random` has keys that can be split, and streams that stay the same in all releases.
"""

import enum
import functools
from collections.abc import Callable, Hashable
from math import prod
from typing import Any

import numpy as np

from pycompiler.core.config.config import trace_key
from pycompiler.core.dims.dims import surely_below
from pycompiler.core.tracing import axes
from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.record import record
from pycompiler.core.tracing.trace import DebugInfo
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.lax import bits as lax_bits
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.operands import Array, canonical_shape, cast, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.primitives.arithmetic import convert
from pycompiler.primitives.bits import shift_right_logical
from pycompiler.primitives.creation import iota
from pycompiler.primitives.random import rng_bit_generator_block, threefry2x32

__all__ = [
    "RandomAlgorithm",
    "rng_bit_generator",
]


class RandomAlgorithm(enum.IntEnum):
    """The algorithm of rng_bit_generator. The default is Philox."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self) -> str:
        return self.name


_WIDTHS = (np.uint8, np.uint16, np.uint32, np.uint64)


def rng_bit_generator(
    key: Any,
    shape: Any,
    dtype: Any = np.uint32,
    algorithm: Any = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> tuple[Array, Array]:
    """A new state, and random bits of a shape in an unsigned dtype. Equal states give equal bits.

    key is the state: u32[4] or u64[2]. Its first half is the key, its second half the counter. Philox4x32-10 and
    Threefry2x32-20 are those of J. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011. Raises
    TypeError for other states and dtypes.
    """
    check_arrays("rng_bit_generator", key)
    aval = get_aval(key)
    if (aval.shape, aval.dtype) not in (((4,), dtypes.uint32), ((2,), dtypes.uint64)):
        raise TypeError(f"rng_bit_generator: the state must be u32[4] or u64[2], got {short(aval)}")
    shape = canonical_shape("rng_bit_generator", shape)
    wanted = dtypes.canonicalize_requested(dtype, "rng_bit_generator")
    if wanted not in map(np.dtype, _WIDTHS):
        raise TypeError(f"rng_bit_generator: makes unsigned integers, got dtype={wanted.name}; bitcast the bits")
    algorithm = RandomAlgorithm(algorithm)
    state, bits = eager_jit(random_block, key, shape=shape, dtype=wanted, algorithm=algorithm)
    return state, divided("rng_bit_generator", bits, out_sharding)


def random_block(
    key: Array, *, shape: tuple[int, ...], dtype: Any, algorithm: RandomAlgorithm = RandomAlgorithm.RNG_PHILOX
) -> tuple[Array, Array]:
    """rng_bit_generator of checked arguments, as one operation. Under `vmap`, all members take consecutive bits of the
    first state, as in JAX."""
    aval = get_aval(key)
    make = _graphs(ShapedArray(aval.shape, aval.dtype), dtype, algorithm, trace_key())
    state, bits = rng_bit_generator_block.bind(key, graph=make(shape), shape=shape, make=make)
    return state, bits


@functools.lru_cache(maxsize=256)
def _graphs(
    state: ShapedArray, dtype: Any, algorithm: RandomAlgorithm, context: Hashable
) -> Callable[[tuple[int, ...]], ClosedGraph]:
    """The function from a shape to the graph of its bits."""
    function = _threefry if algorithm == RandomAlgorithm.RNG_THREE_FRY else _philox

    @functools.lru_cache(maxsize=256)
    def make(shape: tuple[int, ...]) -> ClosedGraph:
        with axes.unbound():
            debug_info = DebugInfo("rng_bit_generator", function)
            return record(lambda key: function(key, shape=shape, dtype=dtype), (state,), debug_info)

    return make


def _words(key: Array) -> list[Array]:
    """The state as four numbers of 32 bits."""
    if get_aval(key).dtype == dtypes.uint64:
        key = movement.reshape(lax_bits.bitcast_convert_type(key, dtypes.uint32), (4,))
    return [movement.index_in_dim(key, i, keepdims=False) for i in range(4)]


def _advanced(key: Array, low: Array, high: Array) -> Array:
    """The state with a new counter."""
    words = [*_words(key)[:2], low, high]
    state = movement.concatenate([movement.reshape(word, (1,)) for word in words], 0)
    if get_aval(key).dtype == dtypes.uint64:
        return lax_bits.bitcast_convert_type(movement.reshape(state, (2, 2)), dtypes.uint64)
    return state


def _counters(low: Array, high: Array, count: int) -> tuple[Array, Array]:
    """The counter and the count - 1 numbers after it: 64 bits in two halves."""
    step, more = numbered(count)
    low = movement.broadcast_in_dim(low, (count,), ())
    high = movement.broadcast_in_dim(high, (count,), ())
    sums = lax.add(low, step)
    high = lax.add(high, cast(lax.lt(sums, low), dtypes.uint32))
    return sums, high if more is None else lax.add(high, more)


def numbered(count: Any) -> tuple[Array, Array | None]:
    """The lower and the upper 32 bits of the numbers 0, 1, ...; None for the upper ones, if all are 0."""
    if not surely_below(2**32, count):
        return movement.iota(dtypes.uint32, count), None
    # Without enable_x64, words of 64 bits exist, but their literals do not.
    wide = iota.bind(dtype=dtypes.uint64, shape=(count,), dimension=0)
    shift = movement.broadcast_in_dim(convert.bind(32, new_dtype=dtypes.uint64), (count,), ())
    low, high = wide, shift_right_logical.bind(wide, shift)
    return convert.bind(low, new_dtype=dtypes.uint32), convert.bind(high, new_dtype=dtypes.uint32)


def _after(low: Array, high: Array, count: int) -> tuple[Array, Array]:
    total = lax.add(low, np.uint32(count & 0xFFFFFFFF))
    return total, lax.add(lax.add(high, np.uint32(count >> 32)), cast(lax.lt(total, low), dtypes.uint32))


def _wide(low: Array, high: Array) -> Array:
    """Pairs of 32 bits as 64 bits."""
    low, high = cast(low, dtypes.uint64), cast(high, dtypes.uint64)
    return lax.bitwise_or(low, lax.shift_left(high, movement.full_like(high, 32)))


def _philox(key: Array, *, shape: tuple[int, ...], dtype: Any) -> tuple[Array, Array]:
    size, wide = prod(shape), dtype.itemsize == 8
    blocks = -(-size * (2 if wide else 1) // 4)
    k0, k1, low, high = _words(key)
    state = _advanced(key, *_after(low, high, blocks))
    if not size:
        return state, movement.full(shape, 0, dtype)
    c0, c1 = _counters(low, high, blocks)
    k0, k1, low = (movement.broadcast_in_dim(word, (blocks,), ()) for word in (k0, k1, low))
    c0, c1, c2, c3 = philox_block(k0, k1, low, c0, c1)
    words = [_wide(c0, c1), _wide(c2, c3)] if wide else [c0, c1, c2, c3]
    columns = movement.concatenate([movement.reshape(word, (blocks, 1)) for word in words], 1)
    flat = movement.slice_in_dim(movement.reshape(columns, (blocks * len(words),)), 0, size)
    return state, cast(movement.reshape(flat, shape), dtype)


def philox_block(k0: Array, k1: Array, low: Array, c0: Array, c1: Array) -> tuple[Array, Array, Array, Array]:
    """Blocks of Philox4x32-10: for each key, its four words at a counter (c0, c1) that started at `low`."""
    # The counter has 128 bits. Its upper half starts as the key.
    carry = cast(lax.bitwise_and(lax.lt(c0, low), lax.eq(c1, 0)), dtypes.uint32)
    c2 = lax.add(k0, carry)
    c3 = lax.add(k1, cast(lax.lt(c2, k0), dtypes.uint32))
    return philox_rounds(k0, k1, c0, c1, c2, c3)


def philox_rounds(
    k0: Array, k1: Array, c0: Array, c1: Array, c2: Array, c3: Array
) -> tuple[Array, Array, Array, Array]:
    """Philox4x32-10 of keys of two words and counters of four."""
    first, second = (movement.full_like(c0, m) for m in (np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)))
    for round in range(10):
        if round:
            k0, k1 = lax.add(k0, np.uint32(0x9E3779B9)), lax.add(k1, np.uint32(0xBB67AE85))
        c0, c1, c2, c3 = (
            lax.bitwise_xor(lax.bitwise_xor(lax_bits.mulhi(second, c2), c1), k0),
            lax.mul(second, c2),
            lax.bitwise_xor(lax.bitwise_xor(lax_bits.mulhi(first, c0), c3), k1),
            lax.mul(first, c0),
        )
    return c0, c1, c2, c3


def _threefry(key: Array, *, shape: tuple[int, ...], dtype: Any) -> tuple[Array, Array]:
    k0, k1, low, high = _words(key)
    if dtype.itemsize == 8:
        half, halved = shape, None
    else:
        # The words of a pair alternate along the first dimension of even size, else along the longest dimension.
        halved = next((i for i, n in enumerate(shape) if n % 2 == 0), None)
        if halved is None and shape:
            halved = max(range(len(shape)), key=lambda i: shape[i])
        half = tuple(-(-n // 2) if i == halved else n for i, n in enumerate(shape))
    count = prod(half)
    state = _advanced(key, *_after(low, high, count))
    if not count:
        return state, movement.full(shape, 0, dtype)
    x0, x1 = _counters(low, high, count)
    keys = [movement.broadcast_in_dim(word, (count,), ()) for word in (k0, k1)]
    a, b = (movement.reshape(word, half) for word in threefry2x32.bind(*keys, x0, x1))
    if dtype.itemsize == 8:
        return state, _wide(a, b)
    if halved is None:
        return state, cast(a, dtype)
    pairs = movement.concatenate([movement.expand_dims(word, (halved + 1,)) for word in (a, b)], halved + 1)
    merged = tuple(2 * n if i == halved else n for i, n in enumerate(half))
    whole = movement.slice_in_dim(movement.reshape(pairs, merged), 0, shape[halved], axis=halved)
    return state, cast(whole, dtype)
