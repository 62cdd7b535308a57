"""`ds`: slices of a fixed size with a computed start, as items of an index; against plain slices, which move inside."""

import types

import jax
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp

X = np.arange(10, dtype=np.int32)
Y = np.arange(20, dtype=np.int32).reshape(4, 5)

READS = [
    (X, lambda m, i: m.ds(4, 2)),
    (X, lambda m, i: m.ds(i(4), 2)),
    (X, lambda m, i: m.ds(9, 3)),
    (X, lambda m, i: m.ds(i(9), 3)),
    (X, lambda m, i: m.ds(-2, 2)),
    (X, lambda m, i: m.ds(i(-3), 2)),
    (X, lambda m, i: m.ds(3)),
    (X, lambda m, i: m.ds(None)),
    (X, lambda m, i: m.ds(1, 3, 2)),
    (X, lambda m, i: m.ds(i(2), 3, 3)),
    (X, lambda m, i: m.ds(i(2), 0)),
    (Y, lambda m, i: (m.ds(1, 2), m.ds(i(2), 3))),
    (Y, lambda m, i: (2, m.ds(i(2), 3))),
    (Y, lambda m, i: (..., None, m.ds(i(2), 3))),
    (Y, lambda m, i: (m.ds(i(1), 2), slice(None, None, 2))),
    (Y, lambda m, i: (m.numpy.array([0, 1]), m.ds(i(2), 3))),
    (Y, lambda m, i: (m.ds(i(1), 2), m.numpy.array([0, 3]))),
    (Y, lambda m, i: (m.ds(i(1), 2), i(3))),
]


def plain_slices():
    """A stand-in for the package, whose slices are lists of places."""

    def ds(start, size=None, stride=1):
        if size is None:
            return slice(None) if start is None else slice(0, start)
        return _Places(start, size, stride)

    return types.SimpleNamespace(ds=ds, numpy=np)


class _Places:
    def __init__(self, *of):
        self.of = of

    def along(self, length):
        start, size, stride = self.of
        start += length * (start < 0)
        start = min(max(start, 0), length - (max(size - 1, 0) * stride + 1))
        return start + stride * np.arange(size)


def plain_read(x, index):
    """One item after the other: arrays of places index alone, and keep their axis."""
    items = index if isinstance(index, tuple) else (index,)
    for at in [at for at, item in enumerate(items) if item is ...]:
        missing = x.ndim - sum(item is not None for item in items) + 1
        items = (*items[:at], *[slice(None)] * missing, *items[at + 1 :])
    axis = 0
    for item in items:
        if item is None:
            x = np.expand_dims(x, axis)
            axis += 1
        elif isinstance(item, _Places):
            x = np.take(x, item.along(x.shape[axis]), axis)
            axis += 1
        elif isinstance(item, slice):
            x = x[(slice(None),) * axis + (item,)]
            axis += 1
        else:
            x = np.take(x, item, axis)
            axis += np.ndim(item)
    return x


@pytest.mark.parametrize("case", range(len(READS)))
def test_reads(case):
    x, index = READS[case]
    wanted = plain_read(x, index(plain_slices(), int))
    for start in (int, np.int32, pnp.int32):
        np.testing.assert_array_equal(pnp.asarray(x)[index(pc, start)], wanted)
    # Traced starts: every integer of the index depends on the argument.
    found = pc.jit(lambda x, zero: x[index(pc, lambda i: i + zero)])(x, np.int32(0))
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(pnp.asarray(x).at[index(pc, pnp.int32)].get(), wanted)


# What does not fit is not written, or moves inside.
UPDATES = [
    (lambda x: x.at[pc.ds(2, 3)].set(-1), [0, 1, -1, -1, -1, 5, 6, 7, 8, 9]),
    (lambda x: x.at[pc.ds(pnp.int32(2), 3)].add(pnp.arange(3)), [0, 1, 2, 4, 6, 5, 6, 7, 8, 9]),
    (lambda x: x.at[pc.ds(pnp.int32(8), 3)].set(-1), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    (lambda x: x.at[pc.ds(pnp.int32(8), 3)].set(-1, mode="clip"), [0, 1, 2, 3, 4, 5, 6, -1, -1, -1]),
    (lambda x: x.at[pc.ds(pnp.int32(7), 2)].multiply(5), [0, 1, 2, 3, 4, 5, 6, 35, 40, 9]),
    (lambda x: x.at[pc.ds(pnp.int32(1), 3, 2)].max(4), [0, 4, 2, 4, 4, 5, 6, 7, 8, 9]),
    (lambda x: x.at[pc.ds(pnp.int32(6), 2)].apply(lambda e: -e), [0, 1, 2, 3, 4, 5, -6, -7, 8, 9]),
]


@pytest.mark.parametrize(("update", "wanted"), UPDATES)
def test_updates(update, wanted):
    np.testing.assert_array_equal(update(pnp.asarray(X)), wanted)
    np.testing.assert_array_equal(pc.jit(update)(X), wanted)


def test_a_negative_start_of_an_update_counts_from_the_end():
    wanted = X.copy()
    wanted[-3:-1] = 0
    for start in (-3, pnp.int32(-3)):
        np.testing.assert_array_equal(pnp.asarray(X).at[pc.ds(start, 2)].set(0), wanted)


def test_updates_of_several_axes():
    def update(x, i):
        return x.at[pc.ds(i, 2), 1, pc.ds(i + 1, 2)].set(7.0)

    x = np.zeros((4, 3, 5), np.float32)
    wanted = x.copy()
    wanted[1:3, 1, 2:4] = 7
    np.testing.assert_array_equal(pc.jit(update)(x, 1), wanted)
    # One of the windows does not fit: nothing is written.
    np.testing.assert_array_equal(pc.jit(update)(x, 3), x)


def test_derivatives_and_maps():
    x = X.astype(np.float32)
    slope = pc.grad(lambda x, i: (x[pc.ds(i, 3)] ** 2).sum())(x, 4)
    np.testing.assert_array_equal(slope, np.where((X >= 4) & (X < 7), 2 * x, 0))
    rows = pc.vmap(lambda i: pnp.asarray(x)[pc.ds(i, 2)])(np.arange(3, dtype=np.int32))
    np.testing.assert_array_equal(rows, [[0, 1], [1, 2], [2, 3]])
    filled = pnp.asarray(x).at[pc.ds(pnp.int32(8), 3)].get(mode="fill", fill_value=-1)
    np.testing.assert_array_equal(filled, [-1, -1, -1])


def test_a_slice_is_a_container_of_a_computed_start():
    assert repr(pc.ds(1, 2)) == repr(jax.ds(1, 2)) == "Slice(start=1, size=2, stride=1)"
    assert pc.tree.leaves(pc.ds(1, 2)) == []
    moved = pc.jit(lambda s, by: pc.tree.map(lambda start: start + by, s))(pc.ds(pnp.int32(1), 2), 3)
    assert pnp.asarray(X)[moved].tolist() == [4, 5]


def test_what_is_no_slice():
    x = pnp.asarray(X)
    for wrong, kind, match in [
        (lambda: pc.ds(1.5, 2), TypeError, r"start must be an integer, got f32\[\]"),
        (lambda: pc.ds(1, 2.5), TypeError, "size must be an integer, got 2.5"),
        (lambda: pc.ds(1, 2, -1), ValueError, "the stride must not be negative, got -1"),
        (lambda: pc.ds(1, 2, 0), ValueError, "the stride is 0 for 2 elements, expected from 1"),
        (lambda: x[pc.ds(2, 20)], TypeError, "covers 20 of the 10 elements along axis 0"),
        (lambda: x[pc.ds(2, 2), pc.ds(2, 2)], IndexError, r"too many indices: 2 for i32\[10\]"),
        (lambda: pc.jit(lambda n: x[pc.ds(0, n)])(2), pc.errors.TracerIntegerConversionError, "size"),
    ]:
        with pytest.raises(kind, match=match):
            wrong()
