"""The table of generators, and keys of generators other than threefry2x32.

A key of threefry2x32 is an element of an array of the runtime, with the dtype key<fry>. The runtime has no elements for
keys of other generators. `KeyArray` is a container for them: its leaf is the array of the keys' numbers, uint32[...,
words]. So transformations treat it as a tree. `for_keys` turns a function of the numbers of keys into a function of
KeyArrays. `keys` and the distributions import this module.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from pycompiler.core.config.config import config
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, is_array
from pycompiler.core.types.comparisons import answers_comparisons
from pycompiler.core.types.tree_keys import register_pytree_node_class
from pycompiler.lax import movement

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Generator(NamedTuple):
    """A generator: its name, the dtype of its keys, and the number of uint32 in each."""

    name: str
    dtype: dtypes.KeyDType
    words: int


THREEFRY = Generator("threefry2x32", dtypes.KEY, 2)
GENERATORS = {
    one.name: one
    for one in (
        THREEFRY,
        Generator("rbg", dtypes.RBG_KEY, 4),
        Generator("unsafe_rbg", dtypes.UNSAFE_RBG_KEY, 4),
        Generator("threefry4x32", dtypes.THREEFRY4_KEY, 4),
        Generator("philox2x32", dtypes.PHILOX2_KEY, 1),
        Generator("philox4x32", dtypes.PHILOX4_KEY, 2),
    )
}
_BY_DTYPE = {one.dtype: one for one in GENERATORS.values()}


def default_generator() -> Generator:
    """The generator of the setting default_prng_impl, for new keys, and for keys that are numbers."""
    return GENERATORS[config.default_prng_impl]


def generator(function: str, spec: Any = None) -> Generator:
    """The generator with a name or a dtype of keys; by default that of the setting."""
    if spec is None:
        return default_generator()
    if isinstance(spec, dtypes.KeyDType):
        return _BY_DTYPE[spec]
    if not isinstance(spec, str):
        raise TypeError(f"{function}: a generator is a name or a dtype of keys, got {spec!r} of {type(spec).__name__}")
    if spec not in GENERATORS:
        known = ", ".join(map(repr, GENERATORS))
        raise ValueError(f"{function}: unrecognized PRNG implementation {spec!r}; the generators are {known}")
    return GENERATORS[spec]


@register_pytree_node_class
class KeyArray:
    """Keys of a generator other than threefry2x32, of a shape. As a tree, it has one leaf, `numbers`:
    uint32[*shape, words].

    Indexing, iteration, reshaping and comparison work as for an array of keys. Functions of `numpy` take only arrays.
    Apply them to `random.key_data(keys)`, and make keys of the result by `random.wrap_key_data`.
    """

    __slots__ = ("generator", "numbers")

    def __init__(self, numbers: Any, generator: Generator) -> None:
        self.numbers = numbers
        self.generator = generator

    def tree_flatten(self) -> tuple[tuple[Any, ...], Generator]:
        return (self.numbers,), self.generator

    @classmethod
    def tree_unflatten(cls, metadata: Generator, payload: Sequence[Any]) -> KeyArray:
        return cls(payload[0], metadata)

    def _with(self, numbers: Any) -> KeyArray:
        return KeyArray(numbers, self.generator)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape, without the numbers of a key."""
        return tuple(self.numbers.shape[:-1])

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Any:
        return prod(self.shape)

    @property
    def dtype(self) -> Any:
        return self.generator.dtype

    @property
    def itemsize(self) -> int:
        return self.generator.dtype.itemsize

    @property
    def nbytes(self) -> Any:
        return self.size * self.itemsize

    @property
    def sharding(self) -> Any:
        return self.numbers.sharding

    def devices(self) -> Any:
        """The devices of the numbers."""
        return self.numbers.devices()

    def block_until_ready(self) -> KeyArray:
        """Wait until the keys are computed."""
        self.numbers.block_until_ready()
        return self

    def copy(self) -> KeyArray:
        """A copy."""
        return self._with(self.numbers.copy())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return len(self.numbers)

    def __iter__(self) -> Iterator[KeyArray]:
        if not self.shape:
            raise TypeError("iteration over a key: it has no dimensions")
        return map(self._with, self.numbers)

    def __getitem__(self, index: Any) -> KeyArray:
        return self._with(self.numbers[_of_numbers(index)])

    def reshape(self, *shape: Any) -> KeyArray:
        """The keys in another shape."""
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
        return self._with(movement.reshape(self.numbers, self._sizes(tuple(sizes))))

    def _sizes(self, sizes: tuple[Any, ...]) -> tuple[Any, ...]:
        if -1 in sizes:
            known = prod(n for n in sizes if n != -1)
            sizes = tuple([self.size // known if n == -1 else n for n in sizes])
        return (*sizes, self.generator.words)

    def ravel(self) -> KeyArray:
        """The keys in one dimension."""
        return self.reshape(-1)

    flatten = ravel

    @property
    def at(self) -> _At:
        """`keys.at[index].get()` and `.set(keys)`, as those of arrays."""
        return _At(self)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, KeyArray) or other.generator is not self.generator:
            return NotImplemented
        return (self.numbers == other.numbers).all(axis=-1)

    def __ne__(self, other: object) -> Any:
        if not isinstance(other, KeyArray) or other.generator is not self.generator:
            return NotImplemented
        return (self.numbers != other.numbers).any(axis=-1)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"KeyArray({self.shape}, dtype={self.dtype}) overlaying:\n{self.numbers}"

    @answers_comparisons
    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, Any]:
        raise TypeError(f"keys ({self.dtype}) are no numbers: random.key_data(keys) has their numbers")


def _of_numbers(index: Any) -> tuple[Any, ...]:
    """The index of the numbers of keys, from an index of the keys."""
    items: list[Any] = list(cast(Any, index)) if isinstance(index, tuple) else [index]
    return (*items, slice(None)) if any(item is Ellipsis for item in items) else (*items, ..., slice(None))


class _At:
    """Keys at an index."""

    def __init__(self, keys: KeyArray, index: Any = ...) -> None:
        self._keys = keys
        self._index = index

    def __getitem__(self, index: Any) -> _At:
        return _At(self._keys, index)

    def get(self, *, mode: Any = None, **hints: Any) -> KeyArray:
        """The keys, by the rules of `x.at[index].get`. There is no fill value: keys have none."""
        keys = self._keys
        return KeyArray(keys.numbers.at[_of_numbers(self._index)].get(mode=mode, **hints), keys.generator)

    def set(self, values: Any, *, mode: Any = None, **hints: Any) -> KeyArray:
        """The keys with those at the index replaced. Raises TypeError for keys of another generator."""
        keys = self._keys
        if not isinstance(values, KeyArray) or values.generator is not keys.generator:
            raise TypeError(f"at[].set: takes keys of {keys.generator.name}, got {values!r}")
        changed = keys.numbers.at[_of_numbers(self._index)].set(values.numbers, mode=mode, **hints)
        return KeyArray(changed, keys.generator)


def for_keys(function: Callable[_P, _R], gives_keys: bool = False) -> Callable[_P, _R]:
    """Make `function(key, ...)`, which takes arrays of keys, accept a KeyArray. The function gets the numbers of the
    keys, and the setting default_prng_impl is their generator. With `gives_keys`, the result becomes a KeyArray."""
    name = next(iter(inspect.signature(function).parameters))
    of_numbers = cast(Callable[..., _R], function)

    @functools.wraps(function)
    def with_generator(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        key: Any = args[0] if args else kwargs.get(name)
        if type(key) is not KeyArray:
            if config.default_prng_impl != THREEFRY.name and is_array(key) and dtypes.is_key(get_aval(key).dtype):
                with config.override("default_prng_impl", THREEFRY.name):
                    return function(*args, **kwargs)
            return function(*args, **kwargs)
        given: tuple[Any, ...] = (key.numbers, *args[1:]) if args else ()
        named: dict[str, Any] = dict(kwargs) if args else {**kwargs, name: key.numbers}
        with config.override("default_prng_impl", key.generator.name), config.override("legacy_prng_key", "allow"):
            result = of_numbers(*given, **named)
        return cast(_R, KeyArray(result, key.generator)) if gives_keys else result

    return with_generator
