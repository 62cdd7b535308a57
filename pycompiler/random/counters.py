"""The generators threefry4x32, philox2x32 and philox4x32: words from a key and a counter.

Each is a function of a key and a counter, which consist of words of 32 bits, by J. Salmon and others, "Parallel random
numbers: as easy as 1, 2, 3", 2011. Keys and bits are JAX's, bit for bit. `streams` imports this module.
"""

from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import numpy as np

from pycompiler.core.config.config import config
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.lax import bits as lax_bits
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement
from pycompiler.lax.generator import philox_rounds
from pycompiler.lax.operands import Array, broadcast_to, cast

# The words of a key, or of several keys: an array for each word.
Words = tuple[Array, ...]

# The rotations of Threefry-4x32: of two pairs of words, in eight rounds.
_ROTATIONS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
_PARITY = np.uint32(0x1BD11BDA)


def _rotated(x: Array, count: int) -> Array:
    return lax.bitwise_or(lax.shift_left(x, np.uint32(count)), lax.shift_right_logical(x, np.uint32(32 - count)))


def _xor(*words: Array) -> Array:
    return reduce(lax.bitwise_xor, words)


def _threefry4x32(keys: Words, counter: Words) -> Words:
    """Threefry-4x32-20."""
    schedule = (*keys, _xor(*keys, _PARITY))
    x = [lax.add(word, key) for word, key in zip(counter, schedule[:4], strict=True)]
    for number in range(20):
        # In every second round, the second and the fourth word are swapped.
        pairs = ((0, 1), (2, 3)) if number % 2 == 0 else ((0, 3), (2, 1))
        for (i, j), rotation in zip(pairs, _ROTATIONS[number % 8], strict=True):
            x[i] = lax.add(x[i], x[j])
            x[j] = lax.bitwise_xor(x[i], _rotated(x[j], rotation))
        if number % 4 == 3:
            added = number // 4 + 1
            x = [lax.add(word, schedule[(added + i) % 5]) for i, word in enumerate(x)]
            x[3] = lax.add(x[3], np.uint32(added))
    return tuple(x)


def _philox2x32(keys: Words, counter: Words) -> Words:
    """Philox-2x32-10."""
    (key,), (x0, x1) = keys, counter
    factor = movement.full_like(x0, np.uint32(0xD256D193))
    for number in range(10):
        if number:
            key = lax.add(key, np.uint32(0x9E3779B9))
        x0, x1 = _xor(lax_bits.mulhi(factor, x0), x1, key), lax.mul(factor, x0)
    return x0, x1


def _philox4x32(keys: Words, counter: Words) -> Words:
    """Philox-4x32-10."""
    return philox_rounds(*keys, *counter)


class Counting(NamedTuple):
    """A generator: the words of its keys and counters, its function, and whether a seed is a key or a counter."""

    words: int
    counters: int
    block: Callable[[Words, Words], Words]
    seed_is_key: bool

    def __call__(self, keys: Words, counter: tuple[Array, ...]) -> Words:
        """The words at a counter; missing words of the counter are 0. Several keys or counters give arrays of words."""
        shape = max((get_aval(word).shape for word in (*keys, *counter)), key=len)
        zeros = (np.uint32(0),) * (self.counters - len(counter))
        spread = [broadcast_to(cast(word, dtypes.uint32), shape) for word in (*keys, *counter, *zeros)]
        return self.block(tuple(spread[: self.words]), tuple(spread[self.words :]))

    def key_of(self, high: Array, low: Array) -> Words:
        """The key of a seed of 64 bits."""
        if self.seed_is_key:
            zeros = (np.uint32(0),) * (self.words - 2)
            return self((high, low, *zeros), ())
        return self((np.uint32(0),) * self.words, (high, low))[: self.words]

    def keys_at(self, keys: Words, high: Array, low: Array) -> Words:
        """The new key for a number of 64 bits."""
        zeros = (np.uint32(0),) * (self.counters - 2)
        return self(keys, (*zeros, high, low))[: self.words]

    def bits_at(self, keys: Words, high: Array, low: Array, dtype: np.dtype) -> Array:
        """Random bits at a number of 64 bits."""
        out = self(keys, (high, low))
        if dtype.itemsize < 8:
            return cast(_xor(*out), dtype)
        # threefry4x32 uses all words of a block; for philox4x32, JAX uses two.
        halves = (_xor(out[0], out[2]), _xor(out[1], out[3])) if self.seed_is_key else out[:2]
        upper, lower = (cast(half, dtype) for half in halves)
        return lax.bitwise_or(lax.shift_left(upper, movement.full_like(upper, 32)), lower)


COUNTING = {
    "threefry4x32": Counting(4, 4, _threefry4x32, seed_is_key=True),
    "philox2x32": Counting(1, 2, _philox2x32, seed_is_key=False),
    "philox4x32": Counting(2, 4, _philox4x32, seed_is_key=False),
}


def counting(keys: Array) -> Counting | None:
    """The generator of keys that are numbers, from the setting default_prng_impl, if it is one of this module."""
    return COUNTING.get(config.default_prng_impl) if get_aval(keys).dtype == dtypes.uint32 else None


def stacked(words: Words) -> Array:
    """The numbers of keys from their words."""
    last = len(get_aval(words[0]).shape)
    return movement.concatenate([movement.expand_dims(word, (last,)) for word in words], last)


def seed_counting(pair: Array, *, name: str) -> Array:
    """The key of a seed of two words, for the generator of a name."""
    high, low = (movement.index_in_dim(pair, i, keepdims=False) for i in range(2))
    return stacked(COUNTING[name].key_of(high, low))
