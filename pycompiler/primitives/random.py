"""The family of random bits: the Threefry-2x32 block function, and blocks of bits from a state.

Reference: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011), 20 rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pycompiler.core.tracing.graph import ClosedGraph
from pycompiler.core.tracing.primitive import Primitive, Sample
from pycompiler.core.tracing.structural import move_dim
from pycompiler.core.types.aval import ShapedArray, get_aval, short
from pycompiler.primitives import rules
from pycompiler.primitives.movement import concatenate, slice_
from pycompiler.primitives.rules import Dims
from pycompiler.primitives.shape import elementwise_batch, reshaped

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def _threefry2x32_shape(*avals: ShapedArray) -> tuple[ShapedArray, ShapedArray]:
    for aval in avals:
        if aval.dtype != rules.UINT32:
            raise TypeError(f"threefry2x32: takes uint32 arrays, got {short(aval)}")
    rules.check_same_shape("threefry2x32", *avals)
    out = ShapedArray(avals[0].shape, rules.UINT32)
    return out, out


def _threefry2x32_reference(k0: Any, k1: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(0x1BD11BDA))
    with np.errstate(over="ignore"):
        x0, x1 = x0 + keys[0], x1 + keys[1]
        for block in range(5):
            for rotation in _ROTATIONS[block % 2]:
                x0 = x0 + x1
                x1 = ((x1 << np.uint32(rotation)) | (x1 >> np.uint32(32 - rotation))) ^ x0
            x0 = x0 + keys[(block + 1) % 3]
            x1 = x1 + keys[(block + 2) % 3] + np.uint32(block + 1)
    return np.asarray(x0), np.asarray(x1)


def _threefry2x32_samples(rng: np.random.Generator) -> Iterable[Sample]:
    for shape in rules.SHAPES:
        yield Sample(tuple(np.asarray(rng.integers(0, 2**32, shape)).astype(np.uint32) for _ in range(4)), {})


threefry2x32 = Primitive(
    name="threefry2x32",
    shape_rule=_threefry2x32_shape,
    jvp=None,
    transpose=None,
    batch=elementwise_batch(lambda: threefry2x32),
    reference=_threefry2x32_reference,
    sampler=_threefry2x32_samples,
    multiple_results=True,
)

# rng_bit_generator(state): a new state, and bits of `shape`, which `graph` computes. `make` gives the graph of another
# shape: members of a mapped axis take their bits from the first state, one part after the other. It is in no table: its
# graph is made of operations that are. Reference for the rule: JAX's, whose bits these are.


def _block_shape(state: ShapedArray, *, graph: ClosedGraph, shape: Any, make: Any) -> tuple[ShapedArray, ...]:
    return graph.out_avals


def _block_batch(
    args: Sequence[Any], dims: Dims, *, graph: ClosedGraph, shape: tuple[Any, ...], make: Any
) -> tuple[Sequence[Any], Sequence[int]]:
    states = move_dim(args[0], rules.only(dims), 0)
    size, words = get_aval(states).shape
    first = reshaped(slice_.bind(states, start_indices=(0, 0), limit_indices=(1, words), strides=(1, 1)), (words,))
    wide = (size, *shape)
    state, bits = rng_bit_generator_block.bind(first, graph=make(wide), shape=wide, make=make)
    rest = slice_.bind(states, start_indices=(1, 0), limit_indices=(size, words), strides=(1, 1))
    return (concatenate.bind(reshaped(state, (1, words)), rest, dimension=0), bits), (0, 0)


rng_bit_generator_block = Primitive(
    name="rng_bit_generator",
    shape_rule=_block_shape,
    jvp=None,
    transpose=None,
    batch=_block_batch,
    multiple_results=True,
)

TABLE = (threefry2x32,)
