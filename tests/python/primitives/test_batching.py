"""vmap of all primitives, evaluated by the references: all choices of mapped arguments, axes in any place, two maps.

test_rules.py calls the batching rules alone. Here, `vmap` calls them, so that its movement of axes is tested, too.
"""

import itertools
import zlib

import numpy as np
import pytest
from numpy_evaluator import by_reference

from pycompiler.primitives import PRIMITIVES, rules
from pycompiler.transforms import vmap

NAMES = [name for name in sorted(PRIMITIVES) if name != "iota"]
SIZE = 3
# For each primitive: the first sample, the last, and some between them.
MOST_SAMPLES = 6


def samples(name):
    every = list(PRIMITIVES[name].sampler(np.random.default_rng(zlib.crc32(name.encode()))))
    step = max(1, len(every) // (MOST_SAMPLES - 1))
    return [*every[:-1:step], every[-1]]


def choices(count):
    """The choices of mapped arguments: all choices for up to three, else each alone, all, all but each."""
    if count <= 3:
        return [chosen for chosen in itertools.product((False, True), repeat=count) if any(chosen)]
    alone = [tuple(i == j for j in range(count)) for i in range(count)]
    return [*alone, (True,) * count, *(tuple(not one for one in chosen) for chosen in alone)]


def several(rng, arg):
    """Examples of an argument: its elements in other orders; indices that differ."""
    if arg.ndim == 0 and rules.kind(arg.dtype) in "iu":
        return [np.asarray(arg + arg.dtype.type(i)) for i in range(SIZE)]
    return [arg, *(rng.permutation(arg.ravel()).reshape(arg.shape) for _ in range(SIZE - 1))]


def comparable(x):
    x = np.asarray(x)
    return x.astype(np.complex128 if rules.kind(x.dtype) == "c" else np.float64)


def assert_same(got, want, message):
    assert got.dtype == want.dtype, message
    np.testing.assert_allclose(comparable(got), comparable(want), rtol=1e-6, err_msg=message)


def function(name, params):
    primitive = PRIMITIVES[name]

    def apply(*args):
        out = primitive.bind(*args, **params)
        return tuple(out) if primitive.multiple_results else (out,)

    return apply


def place(number, rank):
    """An axis of an array of that rank: the first, the last, the middle one."""
    return (0, -1, rank // 2)[number % 3]


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_of_arguments(name):
    rng = np.random.default_rng(5)
    with by_reference(), np.errstate(all="ignore"):
        for args, params in samples(name):
            apply = function(name, params)
            for number, chosen in enumerate(choices(len(args))):
                examples = [several(rng, arg) for arg in args]
                in_axes = [
                    place(number + i, x.ndim + 1) if c else None
                    for i, (x, c) in enumerate(zip(args, chosen, strict=True))
                ]
                stacks = [
                    x if axis is None else np.stack(each, axis % (x.ndim + 1))
                    for x, each, axis in zip(args, examples, in_axes, strict=True)
                ]
                wanted = [
                    apply(*(each[k] if c else x for x, each, c in zip(args, examples, chosen, strict=True)))
                    for k in range(SIZE)
                ]
                out_axes = tuple(place(number + i + 1, np.ndim(out) + 1) for i, out in enumerate(wanted[0]))
                got = vmap(apply, in_axes=tuple(in_axes), out_axes=out_axes)(*stacks)
                for i, (x, axis) in enumerate(zip(got, out_axes, strict=True)):
                    want = np.stack([np.asarray(out[i]) for out in wanted], axis)
                    assert_same(np.asarray(x), want, f"{in_axes} -> {out_axes} {params}")


@pytest.mark.parametrize("name", NAMES)
def test_two_maps(name):
    """Each argument is mapped by the outer map, by the inner one, or by both, in all places."""
    rng = np.random.default_rng(6)
    with by_reference(), np.errstate(all="ignore"):
        args, params = samples(name)[0]
        apply = function(name, params)
        pairs = list(zip(choices(len(args)), reversed(choices(len(args))), strict=True))
        for number, (outer, inner) in enumerate(pairs):
            stacks, outer_axes, inner_axes, pick = [], [], [], []
            for i, arg in enumerate(args):
                grid = [several(rng, one) for one in several(rng, arg)]
                inner_axis = place(number + i, arg.ndim + 1) if inner[i] else None
                rank = arg.ndim + inner[i]
                outer_axis = place(number + 2 * i + 1, rank + 1) if outer[i] else None
                rows = [np.stack(row, inner_axis % (arg.ndim + 1)) if inner[i] else row[0] for row in grid]
                stacks.append(np.stack(rows, outer_axis % (rank + 1)) if outer[i] else rows[0])
                outer_axes.append(outer_axis)
                inner_axes.append(inner_axis)
                pick.append(lambda j, k, grid=grid, o=outer[i], n=inner[i]: grid[j if o else 0][k if n else 0])
            got = vmap(vmap(apply, tuple(inner_axes), -1, axis_size=SIZE), tuple(outer_axes), 0, axis_size=SIZE)(
                *stacks
            )
            wanted = [[apply(*(one(j, k) for one in pick)) for k in range(SIZE)] for j in range(SIZE)]
            for i, x in enumerate(got):
                want = np.stack([np.stack([np.asarray(out[i]) for out in row], -1) for row in wanted])
                assert_same(np.asarray(x), want, f"{inner_axes} in {outer_axes} {params}")
