"""Draws from given elements: permutation, choice, categorical. The algorithms and the numbers are JAX's."""

import operator
from math import prod
from typing import Any

import numpy as np

from pycompiler._runtime import Array
from pycompiler.core.dims.dims import Dim, surely_below
from pycompiler.core.tracing.trace import Tracer
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval, short
from pycompiler.lax import elementwise as lax
from pycompiler.lax import movement, reduction
from pycompiler.lax.branches import cond
from pycompiler.lax.eager_jit import eager_jit
from pycompiler.lax.explicit import decided
from pycompiler.lax.operands import broadcast_to, broadcasts, canonical_axis, canonical_shape, check_arrays
from pycompiler.lax.shardings import divided
from pycompiler.numpy import cumulative, indexing, sorting
from pycompiler.numpy.promotion import promoted_inexact
from pycompiler.random.arguments import check_key
from pycompiler.random.containers import for_keys
from pycompiler.random.continuous import gumbel_mode, gumbel_of
from pycompiler.random.discrete import randint
from pycompiler.random.streams import bits_of, subkeys, uniform_of


def _shuffle(key: Array, x: Array, *, axis: int) -> Array:
    """x sorted by random numbers, repeatedly, until equal numbers are unlikely (as TensorFlow and JAX do)."""
    shape = get_aval(x).shape
    size = prod(shape)

    def sort(subkey: Array, x: Array) -> Array:
        return reduction.sort_key_val(bits_of(subkey, 32, shape), x, axis)[1]

    for least in _MORE_ROUNDS:
        if surely_below(size, least):
            break
        key, subkey = subkeys(key, 2)
        if surely_below(least - 1, size):
            x = sort(subkey, x)
        else:
            x = cond(lax.ge(size, least), sort, lambda _, x: x, subkey, x)
    return x


# The sizes from which one more round is needed. The number of rounds is ceil(3 log(size) / log(2**32 - 1)).
_MORE_ROUNDS = (2, 1626, 2642246)


def _permuted(key: Array, x: Array, *, axis: int) -> Array:
    order = _shuffle(key, movement.iota(dtypes.int32, get_aval(x).shape[axis]), axis=0)
    return indexing.getitem(x, (*(slice(None),) * axis, order))


def _permuted_numbers(key: Array, *, count: Any) -> Array:
    return _shuffle(key, movement.iota(dtypes.scalar_dtype(int), count), axis=0)


@for_keys
@decided
def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None) -> Array:
    """x shuffled along an axis: whole slices, or with `independent` each line separately. An int x means 0..x-1.

    >>> from pycompiler import random
    >>> random.permutation(random.key(3), 6)
    Array([2, 4, 1, 3, 5, 0], dtype=int32)
    """
    check_key("permutation", key)
    if isinstance(x, int | np.integer | Dim):
        canonical_axis("permutation", axis, 1)
        return divided(
            "permutation", eager_jit(_permuted_numbers, key, count=x if isinstance(x, Dim) else int(x)), out_sharding
        )
    check_arrays("permutation", x)
    rank = len(get_aval(x).shape)
    if rank == 0:
        if isinstance(x, Tracer):
            operator.index(x)  # raises an error that names the argument behind the tracer
        raise TypeError(f"permutation: takes an integer or an array, got {x!r}")
    axis = canonical_axis("permutation", axis, rank)
    return divided(
        "permutation", eager_jit(_shuffle if independent or rank == 1 else _permuted, key, x, axis=axis), out_sharding
    )


def _categorical(key: Array, logits: Array, *, axis: int, shape: tuple[int, ...], prefix: int, mode: str) -> Array:
    sizes = list(shape[prefix:])
    sizes.insert(axis, get_aval(logits).shape[axis])
    noise = gumbel_of(key, (*shape[:prefix], *sizes), get_aval(logits).dtype, mode)
    total = lax.add(noise, broadcast_to(logits, get_aval(noise).shape))
    return reduction.argmax(total, prefix + axis, dtypes.scalar_dtype(int))


def _categorical_without(
    key: Array, logits: Array, *, axis: int, shape: tuple[int, ...], count: int, mode: str
) -> Array:
    """The Gumbel top-k trick: the indices of the greatest sums of logits and noise."""
    aval = get_aval(logits)
    noisy = lax.add(gumbel_of(key, aval.shape, aval.dtype, mode), logits)
    rank = len(aval.shape)
    noisy = movement.transpose(noisy, (*(d for d in range(rank) if d != axis), axis))
    places = reduction.top_k(noisy, count)[1]
    return movement.reshape(movement.transpose(places, (rank - 1, *range(rank - 1))), shape)


@for_keys
def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Indices along an axis of logits. The probability of each is proportional to exp(logit).

    Without `replace`, the draws of one batch (the leading dimensions of the shape) are distinct. `mode` is the mode of
    the Gumbel noise. Raises ValueError for more draws than categories.

    >>> import pycompiler.numpy as pnp
    >>> from pycompiler import random
    >>> random.categorical(random.key(0), pnp.log(pnp.array([0.1, 0.9])), shape=(5,))
    Array([1, 1, 1, 1, 1], dtype=int32)
    """
    check_key("categorical", key)
    (logits,) = promoted_inexact("categorical", logits)
    aval = get_aval(logits)
    axis = canonical_axis("categorical", axis, len(aval.shape))
    batch = (*aval.shape[:axis], *aval.shape[axis + 1 :])
    size = batch if shape is None else canonical_shape("categorical", shape)
    prefix = len(size) - len(batch)
    if not broadcasts(batch, size):
        raise ValueError(f"categorical: {short(aval)} without axis {axis} does not broadcast to the shape {size}")
    noise = gumbel_mode("categorical", mode)
    if replace:
        return divided(
            "categorical",
            eager_jit(_categorical, key, logits, axis=axis, shape=size, prefix=prefix, mode=noise),
            out_sharding,
        )
    count = prod(size[:prefix])
    if count > aval.shape[axis]:
        raise ValueError(f"categorical: {count} draws from {aval.shape[axis]} categories need replace=True")
    if size[prefix:] != batch:
        raise ValueError(f"categorical: with replace=False the shape {size} must end with {batch}, that of the logits")
    return divided(
        "categorical",
        eager_jit(_categorical_without, key, logits, axis=axis, shape=size, count=count, mode=noise),
        out_sharding,
    )


@for_keys
def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Elements of a (an int means 0..a-1) along an axis, with or without replacement; `p` are probabilities.

    `mode` is the mode of the Gumbel noise for draws with `p` and without replacement.

    >>> from pycompiler import random
    >>> random.choice(random.key(2), 5, (3,), replace=False)
    Array([0, 4, 1], dtype=int32)
    """
    check_key("choice", key)
    check_arrays("choice", a)
    size = canonical_shape("choice", shape)
    aval = get_aval(a)
    scalar = aval.shape == ()
    axis = 0 if scalar else canonical_axis("choice", axis, len(aval.shape))
    population, draws = (a if isinstance(a, Dim) else int(a)) if scalar else aval.shape[axis], prod(size)
    if population <= 0 and draws:
        raise ValueError("choice: takes at least one element to draw from, got none")
    if not replace and draws > population:
        raise ValueError(f"choice: {draws} draws from {population} elements need replace=True")
    if p is None and replace:
        places = randint(key, size, 0, max(population, 1))
    elif p is None:
        drawn = permutation(key, population if scalar else a, axis)
        drawn = movement.slice_in_dim(drawn, 0, draws, axis=axis)
        return movement.reshape(drawn, size if scalar else (*aval.shape[:axis], *size, *aval.shape[axis + 1 :]))
    else:
        (p,) = promoted_inexact("choice", p)
        if get_aval(p).shape != (population,):
            raise ValueError(
                f"choice: the probabilities {short(get_aval(p))} are not one for each of {population} elements"
            )
        if replace:
            places = eager_jit(_weighted, key, p, shape=size)
        else:
            places = eager_jit(_weighted_without, key, p, shape=size, mode=gumbel_mode("choice", mode))
    places = movement.reshape(places, size)
    return places if scalar else indexing.getitem(a, (*(slice(None),) * axis, places))


def _weighted(key: Array, p: Array, *, shape: tuple[int, ...]) -> Array:
    total = cumulative.cumsum(p)
    drawn = lax.sub(1.0, uniform_of(key, shape, get_aval(p).dtype))
    last = movement.index_in_dim(total, -1, keepdims=False)
    return sorting.searchsorted(total, lax.mul(drawn, last))


def _weighted_without(key: Array, p: Array, *, shape: tuple[int, ...], mode: str) -> Array:
    """The Gumbel top-k trick: the indices of the greatest sums of log(p) and noise."""
    aval = get_aval(p)
    noisy = lax.add(gumbel_of(key, aval.shape, aval.dtype, mode), lax.log(p))
    return reduction.top_k(noisy, prod(shape))[1]
