"""Indices of several dtypes in one index: reads, writes, slices at computed places, mapped and not."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

X = np.arange(60.0).reshape(3, 4, 5)
PAIRS = [("int32", "int64"), ("int64", "int32"), ("uint8", "int64"), ("int8", "uint32"), ("uint64", "int32")]


@pytest.fixture(autouse=True)
def wide():
    with pc.enable_x64(True):
        yield


READS = {
    "both": lambda x, i, j: x[i, j],
    "apart": lambda x, i, j: x[i, :, j],
    "beside a slice": lambda x, i, j: x[i, 1:3, j],
    "beside a number": lambda x, i, j: x[i, 2, j],
    "steps": lambda x, i, j: x[i, ::2, j],
}
WRITES = {
    "set": lambda x, i, j: x.at[i, j].set(7),
    "add": lambda x, i, j: x.at[i, :, j].add(1),
    "steps": lambda x, i, j: x.at[i, ::2, j].set(7),
    "max": lambda x, i, j: x.at[i, 1:3, j].max(30),
}


def written(name, i, j):
    want = X.copy()
    if name == "set":
        want[i, j] = 7
    elif name == "add":
        np.add.at(want, (i, slice(None), j), 1)
    elif name == "steps":
        want[i, ::2, j] = 7
    else:
        np.maximum.at(want, (i, slice(1, 3), j), 30)
    return want


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_reads_and_writes(one, other):
    x = pnp.asarray(X)
    for i, j in ((np.array(1, one), np.array(2, other)), (np.array([0, 2], one), np.array([1, 3], other))):
        for read in READS.values():
            np.testing.assert_array_equal(pc.jit(read)(x, i, j), read(X, i.astype(int), j.astype(int)))
        for name, write in WRITES.items():
            np.testing.assert_array_equal(pc.jit(write)(x, i, j), written(name, i.astype(int), j.astype(int)))


def want_at(read, places):
    return np.stack([read(X, int(place), 1) for place in places])


@pytest.mark.parametrize(("one", "other"), PAIRS[:3])
def test_mapped(one, other):
    x, i, j = pnp.asarray(X), pnp.asarray(np.array([0, 2], one)), pnp.asarray(np.array([1, 3], other))
    stacked = pnp.stack([x, x + 1])
    for read in READS.values():
        want = np.stack([read(X, int(a), int(b)) for a, b in zip(i, j, strict=True)])
        np.testing.assert_array_equal(pc.vmap(read, (None, 0, 0))(x, i, j), want)
        np.testing.assert_array_equal(pc.vmap(read, (None, 0, None))(x, i, j[0]), want_at(read, i))
        want = np.stack([read(X + k, int(i[k]), int(j[k])) for k in range(2)])
        np.testing.assert_array_equal(pc.vmap(read)(stacked, i, j), want)
        np.testing.assert_array_equal(pc.vmap(read, (0, None, None))(stacked, i[1], j[1])[1], read(X + 1, 2, 3))
    for name, write in WRITES.items():
        want = np.stack([written(name, int(a), int(b)) for a, b in zip(i, j, strict=True)])
        np.testing.assert_array_equal(pc.vmap(write, (None, 0, 0))(x, i, j), want)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_slices_at_computed_places(one, other):
    x = pnp.asarray(X[0])

    def read(i, j):
        return lax.dynamic_slice(x, (i, j), (2, 2))

    def write(i, j):
        return lax.dynamic_update_slice(x, pnp.zeros((2, 2), x.dtype), (i, j))

    i, j = np.array([0, 2], one), np.array([1, 3], other)
    for k in range(2):
        want = X[0].copy()
        a, b = int(i[k]), int(j[k])
        np.testing.assert_array_equal(pc.jit(read)(i[k], j[k]), want[a : a + 2, b : b + 2])
        np.testing.assert_array_equal(pc.vmap(read)(i, j)[k], want[a : a + 2, b : b + 2])
        np.testing.assert_array_equal(pc.vmap(read, (0, None))(i, j[k])[k], want[a : a + 2, b : b + 2])
        want[a : a + 2, b : b + 2] = 0
        np.testing.assert_array_equal(pc.jit(write)(i[k], j[k]), want)
        np.testing.assert_array_equal(pc.vmap(write)(i, j)[k], want)


def test_a_gradient_through_them():
    def total(x, i, j):
        return (x[i, j] ** 2).sum()

    gradient = pc.grad(total)(pnp.asarray(X), np.int32(1), np.int64(2))
    want = np.zeros_like(X)
    want[1, 2] = 2 * X[1, 2]
    np.testing.assert_array_equal(gradient, want)
