"""Random bits of keys `rbg`: Philox and Threefry as XLA counts them, in JAX's own operations. And `lax.rng_uniform`,
which has no key. `lowering` imports this.

Operations of 64 bits exist without enable_x64 only inside of a rule, so numbers of 64 bits are pairs here until the
end. `pycompiler.lax.generator` has the same functions for our own programs.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np
from jax import ShapeDtypeStruct, lax, random
from jax import numpy as jnp
from jax.experimental import io_callback
from jax.extend.random import threefry2x32_p

__all__ = ["random_block", "uniform_draw"]

_THREEFRY = 1

# The draws of this process. The first word of their keys is 0 for no small seed of `jax.random.key`.
_draws = itertools.count()
_KEYS_OF_DRAWS = 0x9E3779B9


def _next_key() -> Any:
    number = next(_draws)
    return np.array([_KEYS_OF_DRAWS ^ number >> 32, number & 0xFFFFFFFF], np.uint32)


def uniform_draw(low: Any, high: Any, *, shape: tuple[int, ...]) -> Any:
    """Numbers of [low, high), as `lax.rng_uniform` gives them: each run of the program gets other numbers.

    The state is the number of the draw in this process, so that all processes have the same first draws. XLA keeps a
    state, too, and does not specify it.
    """
    key = random.wrap_key_data(io_callback(_next_key, ShapeDtypeStruct((2,), np.uint32)), impl="threefry2x32")
    if jnp.issubdtype(low.dtype, np.floating):
        return random.uniform(key, shape, low.dtype, low, high)
    return random.randint(key, shape, low, high, low.dtype)


def random_block(
    key: Any, *, shape: tuple[int, ...], dtype: Any, algorithm: Any, out_sharding: Any = None
) -> list[Any]:
    """A new state and bits, as `lax.rng_bit_generator` gives them for a state of u32[4] or u64[2]."""
    given, dtype = key.dtype, np.dtype(dtype)
    words = lax.bitcast_convert_type(key, np.uint32).reshape(4) if given == np.uint64 else key
    function = _threefry if int(algorithm) == _THREEFRY else _philox
    (low, high), parts = function([words[i] for i in range(4)], shape, dtype.itemsize == 8)
    state = jnp.stack([words[0], words[1], low, high])
    if given == np.uint64:
        state = lax.bitcast_convert_type(state.reshape(2, 2), np.uint64)
    if dtype.itemsize == 8:
        bits = lax.bitcast_convert_type(jnp.stack(parts, -1), np.uint64)
    else:
        bits = lax.convert_element_type(parts[0], dtype)
    return [state, bits]


def _counters(low: Any, high: Any, count: int) -> tuple[Any, Any]:
    """The counter and the count - 1 numbers after it: 64 bits in two halves."""
    step = lax.iota(np.uint32, count)
    sums = low + step
    return sums, high + (sums < step).astype(np.uint32)


def _after(low: Any, high: Any, count: int) -> tuple[Any, Any]:
    total = low + np.uint32(count & 0xFFFFFFFF)
    return total, high + np.uint32(count >> 32) + (total < low).astype(np.uint32)


def _philox(words: list[Any], shape: tuple[int, ...], is_wide: bool) -> tuple[Any, list[Any]]:
    size = prod(shape)
    blocks = -(-size * (2 if is_wide else 1) // 4)
    k0, k1, low, high = words
    after = _after(low, high, blocks)
    if not size:
        return after, [jnp.zeros(shape, np.uint32)] * (2 if is_wide else 1)
    c0, c1 = _counters(low, high, blocks)
    # The counter has 128 bits. Its upper half starts as the key.
    carry = ((c0 < low) & (c1 == 0)).astype(np.uint32)
    c2 = k0 + carry
    c3 = k1 + (c2 < k0).astype(np.uint32)
    flat = jnp.stack(_philox_rounds(k0, k1, c0, c1, c2, c3), 1).reshape(-1)
    if is_wide:
        pairs = flat.reshape(-1, 2)[:size]
        return after, [pairs[:, i].reshape(shape) for i in range(2)]
    return after, [flat[:size].reshape(shape)]


def _philox_rounds(k0: Any, k1: Any, c0: Any, c1: Any, c2: Any, c3: Any) -> list[Any]:
    """Philox4x32-10."""
    for number in range(10):
        if number:
            k0, k1 = k0 + np.uint32(0x9E3779B9), k1 + np.uint32(0xBB67AE85)
        first, second = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
        c0, c1, c2, c3 = (
            _high_product(c2, second) ^ c1 ^ k0,
            second * c2,
            _high_product(c0, first) ^ c3 ^ k1,
            first * c0,
        )
    return [c0, c1, c2, c3]


def _high_product(a: Any, b: Any) -> Any:
    """The upper 32 bits of a product, by products of 16 bits."""
    a0, a1, b0, b1 = a & 0xFFFF, a >> 16, b & 0xFFFF, b >> 16
    middle = a1 * b0 + ((a0 * b0) >> 16)
    rest = (middle & 0xFFFF) + a0 * b1
    return a1 * b1 + (middle >> 16) + (rest >> 16)


def _threefry(words: list[Any], shape: tuple[int, ...], is_wide: bool) -> tuple[Any, list[Any]]:
    # The words of a pair alternate along the first dimension of even size, else along the longest dimension.
    halved = None if is_wide else next((i for i, n in enumerate(shape) if n % 2 == 0), None)
    if not is_wide and halved is None and shape:
        halved = max(range(len(shape)), key=lambda i: shape[i])
    half = tuple([-(-n // 2) if i == halved else n for i, n in enumerate(shape)])
    count = prod(half)
    k0, k1, low, high = words
    after = _after(low, high, count)
    if not count:
        return after, [jnp.zeros(shape, np.uint32)] * (2 if is_wide else 1)
    x0, x1 = _counters(low, high, count)
    a, b = (part.reshape(half) for part in threefry2x32_p.bind(jnp.full_like(x0, k0), jnp.full_like(x0, k1), x0, x1))
    if is_wide:
        return after, [a, b]
    if halved is None:
        return after, [a]
    pairs = jnp.stack([a, b], halved + 1)
    merged = tuple([2 * n if i == halved else n for i, n in enumerate(half)])
    return after, [lax.slice_in_dim(pairs.reshape(merged), 0, shape[halved], axis=halved)]
