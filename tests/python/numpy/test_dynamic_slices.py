"""`ds`: slices of a fixed size with a computed start, as items of an index; against jax and against plain slices."""

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


@pytest.mark.parametrize("case", range(len(READS)))
def test_reads(case):
    x, index = READS[case]
    wanted = jax.numpy.asarray(x)[index(jax, jax.numpy.int32)]
    for start in (int, np.int32, pnp.int32):
        np.testing.assert_array_equal(pnp.asarray(x)[index(pc, start)], wanted)
    # Traced starts: every integer of the index depends on the argument.
    found = pc.jit(lambda x, zero: x[index(pc, lambda i: i + zero)])(x, np.int32(0))
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(pnp.asarray(x).at[index(pc, pnp.int32)].get(), wanted)


UPDATES = [
    lambda m, x: x.at[m.ds(2, 3)].set(-1),
    lambda m, x: x.at[m.ds(m.numpy.int32(2), 3)].add(m.numpy.arange(3)),
    lambda m, x: x.at[m.ds(m.numpy.int32(8), 3)].set(-1),
    lambda m, x: x.at[m.ds(m.numpy.int32(8), 3)].set(-1, mode="clip"),
    lambda m, x: x.at[m.ds(m.numpy.int32(7), 2)].multiply(5),
    lambda m, x: x.at[m.ds(m.numpy.int32(1), 3, 2)].max(4),
    lambda m, x: x.at[m.ds(m.numpy.int32(6), 2)].apply(lambda e: -e),
]


@pytest.mark.parametrize("case", range(len(UPDATES)))
def test_updates(case):
    wanted = UPDATES[case](jax, jax.numpy.asarray(X))
    np.testing.assert_array_equal(UPDATES[case](pc, pnp.asarray(X)), wanted)
    np.testing.assert_array_equal(pc.jit(lambda x: UPDATES[case](pc, x))(X), wanted)


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
        (lambda: x[pc.ds(2, 20)], TypeError, "covers 20 of the 10 elements along axis 0"),
        (lambda: x[pc.ds(2, 2), pc.ds(2, 2)], IndexError, r"too many indices: 2 for i32\[10\]"),
        (lambda: pc.jit(lambda n: x[pc.ds(0, n)])(2), pc.errors.TracerIntegerConversionError, "size"),
    ]:
        with pytest.raises(kind, match=match):
            wrong()
