"""Keys: created from a seed, from another key, or from numbers; and random bits of a key.

`key` returns an array of the dtype key<fry>, without dimensions. `split(key, n)` returns an array of n keys. Like other
arrays, it can be indexed, stacked and mapped. `PRNGKey` returns the numbers of a key, uint32[2]. Each function also
accepts numbers. Keys derived from numbers are numbers, too.
"""

from functools import partial
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.config.config import config
from pycompiler.core.errors import ArgumentError
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import canonical_shape, cast, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.numpy.creation import array, asarray
from pycompiler.random.arguments import check_key
from pycompiler.random.containers import THREEFRY, Generator, KeyArray, default_generator, for_keys, generator
from pycompiler.random.counters import COUNTING, seed_counting
from pycompiler.random.streams import bits_of, fold_key, numbers, packed, seed_block, seed_key, split_keys


def _given(name: str, impl: Any, dtype: Any = None) -> Generator:
    if impl is not None and dtype is not None:
        raise ValueError(f"{name}: takes impl or dtype, not both")
    return generator(name, dtype if impl is None else impl)


def _as_keys(numbers: Array, of: Generator) -> Any:
    """Keys from their numbers."""
    return eager_jit(packed, numbers) if of is THREEFRY else KeyArray(numbers, of)


def _is_typed(keys: Any) -> bool:
    return dtypes.is_key(get_aval(keys).dtype)


def _counting(x: Any) -> Any:
    """A bool as the integer 0 or 1; anything else as it is."""
    if isinstance(x, bool | np.bool_):
        return int(x)
    return cast(x, dtypes.int32) if getattr(x, "dtype", None) == dtypes.bool_ else x


def _numbers_of_seed(name: str, seed: Any, of: Generator) -> Array:
    if isinstance(seed, KeyArray):
        raise TypeError(f"{name}: the seed must be one integer, got a key")
    seed = _counting(seed)
    if config.random_seed_offset:
        seed = seed + config.random_seed_offset
    if type(seed) is int:
        if not -(2**63) <= seed < 2**63:
            raise OverflowError(f"{name}: the seed {seed} does not fit into 64 bits with a sign")
        # As in JAX, the seed has 64 bits. The upper half counts only with enable_x64.
        high = (seed >> 32) & 0xFFFFFFFF if config.enable_x64 else 0
        words = [high, seed & 0xFFFFFFFF]
        if of.name in COUNTING:
            return eager_jit(seed_counting, np.array(words, np.uint32), name=of.name)
        return array(np.array(words if of is THREEFRY else [*words, *words], np.uint32))
    check_arrays(name, seed)
    aval = get_aval(seed)
    if aval.shape != () or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"{name}: the seed must be one integer, got {short(aval)}; for several, use vmap")
    if of.name in COUNTING:
        return eager_jit(seed_counting, eager_jit(seed_key, seed), name=of.name)
    return eager_jit(seed_key if of is THREEFRY else seed_block, seed)


def key(seed: Any, *, impl: str | None = None, dtype: Any = None) -> Array:
    """The key of an integer seed.

    TypeError for a seed that is not one integer; ValueError for an unknown generator: `impl` is 'threefry2x32', 'rbg',
    'unsafe_rbg', 'threefry4x32', 'philox2x32' or 'philox4x32', or a dtype of keys; by default, the setting
    default_prng_impl.

    >>> from pycompiler import random
    >>> random.key(42)
    Array((), dtype=key<fry>) overlaying:
    [ 0 42]
    """
    of = _given("key", impl, dtype)
    return _as_keys(_numbers_of_seed("key", seed, of), of)


def PRNGKey(seed: Any, *, impl: str | None = None) -> Array:  # noqa: N802
    """The numbers of the key of an integer seed, uint32[2]; with the setting enable_custom_prng, the key itself.

    TypeError for a seed that is not one integer; ValueError for an unknown generator: `impl` is 'threefry2x32', 'rbg',
    'unsafe_rbg', 'threefry4x32', 'philox2x32' or 'philox4x32', or a dtype of keys; by default, the setting
    default_prng_impl.

    >>> from pycompiler import random
    >>> random.PRNGKey(7)
    Array([0, 7], dtype=uint32)
    """
    if config.enable_custom_prng:
        return key(seed, impl=impl)
    return _numbers_of_seed("PRNGKey", seed, generator("PRNGKey", impl))


def key_dtype(impl_spec: Any = None) -> Any:
    """The dtype of the keys of a generator."""
    return generator("key_dtype", impl_spec).dtype


def _check_keys(name: str, keys: Any) -> None:
    """Raise TypeError unless these are keys, or numbers of keys of the default generator."""
    check_arrays(name, keys)
    if not _is_typed(keys):
        _check_numbers(name, keys, default_generator())


def _check_numbers(name: str, keys: Any, of: Generator) -> None:
    aval = get_aval(keys)
    if aval.dtype != dtypes.uint32 or aval.shape[-1:] != (of.words,):
        raise TypeError(f"{name}: takes keys, or their numbers u32[..., {of.words}] of {of.name}, got {short(aval)}")


def key_impl(keys: Any) -> str:
    """The name of the generator of keys; for numbers of keys, that of the setting default_prng_impl."""
    if isinstance(keys, KeyArray):
        return keys.generator.name
    _check_keys("key_impl", keys)
    return THREEFRY.name if _is_typed(keys) else default_generator().name


def key_data(keys: Any) -> Array:
    """The numbers of keys, uint32[..., words]: 2 for threefry2x32 and philox4x32, 1 for philox2x32, 4 for the others.

    >>> from pycompiler import random
    >>> random.key_data(random.key(7))
    Array([0, 7], dtype=uint32)
    """
    if isinstance(keys, KeyArray):
        return keys.numbers
    _check_keys("key_data", keys)
    return eager_jit(numbers, keys) if _is_typed(keys) else keys


def wrap_key_data(key_bits_array: Any, *, impl: str | None = None, dtype: Any = None) -> Array:
    """Keys from their numbers: uint32[..., words], as from `key_data`."""
    of = _given("wrap_key_data", impl, dtype)
    if isinstance(key_bits_array, KeyArray):
        raise TypeError(f"wrap_key_data: takes the numbers of keys, u32[..., {of.words}], got keys")
    check_arrays("wrap_key_data", key_bits_array)
    _check_numbers("wrap_key_data", key_bits_array, of)
    return _as_keys(asarray(key_bits_array), of)


def clone(key: Any) -> Any:
    """The same key."""
    if isinstance(key, KeyArray):
        return KeyArray(key.numbers, key.generator)
    _check_keys("clone", key)
    # The check for repeated use of keys treats the clone as a new key.
    return eager_jit(_packed_again, key) if _is_typed(key) else key


def _packed_again(key: Array) -> Array:
    return packed(numbers(key))


def _split_typed(key: Array, *, shape: tuple[int, ...]) -> Array:
    return packed(split_keys(key, shape))


@partial(for_keys, gives_keys=True)
def split(key: Any, num: Any = 2) -> Array:
    """`num` new keys (or an array of keys of a shape), with independent streams.

    >>> from pycompiler import random
    >>> key, subkey = random.split(random.key(0))
    """
    check_key("split", key)
    return eager_jit(_split_typed if _is_typed(key) else split_keys, key, shape=canonical_shape("split", num))


def _fold_typed(key: Array, data: Array) -> Array:
    return packed(fold_key(key, data))


@partial(for_keys, gives_keys=True)
def fold_in(key: Any, data: Any) -> Array:
    """A new key, derived from a key and an integer.

    >>> from pycompiler import random
    >>> random.normal(random.fold_in(random.key(42), 43))
    Array(0.11627013, dtype=float32)
    """
    check_key("fold_in", key)
    data = _counting(data)
    if type(data) is int:
        data = np.uint32(data & 0xFFFFFFFF) if data < 0 else cast(data, dtypes.uint32)
    check_arrays("fold_in", data)
    aval = get_aval(data)
    if aval.shape != () or not dtypes.is_integer(aval.dtype):
        raise TypeError(f"fold_in: the data must be one integer, got {short(aval)}")
    return eager_jit(_fold_typed if _is_typed(key) else fold_key, key, data)


@for_keys
@decided
def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Unsigned integers of random bits; uint32 (uint64 with enable_x64) unless an unsigned dtype is given.

    >>> from pycompiler import random
    >>> random.bits(random.key(0), (2,))
    Array([ 928981903, 3453687069], dtype=uint32)
    """
    check_key("bits", key)
    default = dtypes.uint64 if config.enable_x64 else dtypes.uint32
    wanted = default if dtype is None else dtypes.canonicalize_requested(dtype, "bits")
    if not dtypes.is_unsigned(wanted):
        raise ArgumentError(f"bits: the dtype must be an unsigned integer, got {wanted.name}")
    return divided(
        "bits", eager_jit(bits_of, key, width=wanted.itemsize * 8, shape=canonical_shape("bits", shape)), out_sharding
    )
