"""Sizes that int32 does not hold: an error that explains how to get 64-bit indices, and these indices if enabled.

The limit is set low, so that small arrays exceed it. One array really has that many elements.
"""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.types import dtype as dtypes

COUNT = 300
X = np.random.default_rng(0).integers(-5, 5, COUNT).astype(np.int8)
PLACES = np.array([3, -1, 299, 250, 7], np.int32)
SORTED = np.sort(X)

# An array with more elements than int32 can count under this limit.
FUNCTIONS = {
    "argmax": (lambda x: pnp.argmax(x), lambda x: np.argmax(x)),
    "argmin": (lambda x: x.argmin(), lambda x: x.argmin()),
    "argmax of an axis": (
        lambda x: pnp.argmax(x.reshape(1, -1), axis=1),
        lambda x: np.argmax(x.reshape(1, -1), axis=1),
    ),
    "nanargmax": (lambda x: pnp.nanargmax(x.astype("float32")), lambda x: np.argmax(x)),
    "argsort": (lambda x: pnp.argsort(x), lambda x: np.argsort(x, stable=True)),
    "lexsort": (lambda x: pnp.lexsort((x,)), lambda x: np.lexsort((x,))),
    "searchsorted": (lambda x: pnp.searchsorted(pnp.sort(x), 2), lambda x: np.searchsorted(np.sort(x), 2)),
    "nonzero": (lambda x: pnp.nonzero(x)[0], lambda x: np.nonzero(x)[0]),
    "nonzero of a size": (lambda x: pnp.nonzero(x, size=COUNT, fill_value=-1)[0], None),
    "flatnonzero": (lambda x: pnp.flatnonzero(x > 2), lambda x: np.flatnonzero(x > 2)),
    "argwhere": (lambda x: pnp.argwhere(x > 2), lambda x: np.argwhere(x > 2)),
    "where": (lambda x: pnp.where(x > 2)[0], lambda x: np.where(x > 2)[0]),
    "mask": (lambda x: x[np.asarray(X > 2)], lambda x: x[x > 2]),
    "count_nonzero": (lambda x: pnp.count_nonzero(x), lambda x: np.count_nonzero(x)),
    "sum of bools": (lambda x: pnp.sum(x > 0), lambda x: np.sum(x > 0)),
    "method sum": (lambda x: (x > 0).sum(), lambda x: (x > 0).sum()),
    "cumsum of bools": (lambda x: pnp.cumsum(x > 0), lambda x: np.cumsum(x > 0)),
    "bincount": (lambda x: pnp.bincount(x + 5, length=10), lambda x: np.bincount(x + 5, minlength=10)),
    "unique": (lambda x: pnp.unique(x, return_counts=True)[1], lambda x: np.unique(x, return_counts=True)[1]),
    "iota": (lambda x: lax.iota("int32", x.size) + x, None),
    "take": (lambda x: pnp.take(x, PLACES), lambda x: np.take(x, PLACES)),
    "take, wrapped": (lambda x: pnp.take(x, PLACES, mode="wrap"), lambda x: np.take(x, PLACES, mode="wrap")),
    "take_along_axis": (lambda x: pnp.take_along_axis(x, PLACES, 0), lambda x: np.take_along_axis(x, PLACES, 0)),
    "indices": (lambda x: x[PLACES], lambda x: x[PLACES]),
    "indices that are set": (lambda x: x.at[PLACES].set(9), None),
    "set": (lambda x: x.at[-1].set(9), lambda x: np.concatenate([x[:-1], [9]])),
    "add": (lambda x: x.at[np.int32(280)].add(1), None),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (290,), (5,)), lambda x: x[290:295]),
    "dynamic_slice from the end": (lambda x: lax.dynamic_slice_in_dim(x, -5, 5), lambda x: x[-5:]),
    "dynamic_slice at an array": (lambda x: lax.dynamic_slice_in_dim(x, pnp.int32(290), 5), lambda x: x[290:295]),
    "top_k": (lambda x: lax.top_k(x, 3)[1], None),
}
# Functions that need no index, or a known one.
WITHOUT = {
    "first": (lambda x: x[0], lambda x: x[0]),
    "last": (lambda x: x[-1], lambda x: x[-1]),
    "slice": (lambda x: x[280:], lambda x: x[280:]),
    "backwards": (lambda x: x[::-1], lambda x: x[::-1]),
    "max": (lambda x: x.max(), lambda x: x.max()),
    "any": (lambda x: (x > 4).any(), lambda x: (x > 4).any()),
    "sort": (lambda x: pnp.sort(x), lambda x: np.sort(x)),
    "sum of integers": (lambda x: x.sum(), lambda x: x.sum()),
    "sum of bools as": (lambda x: pnp.sum(x > 0, dtype="float32"), lambda x: np.sum(x > 0, dtype="float32")),
    "mean of bools": (lambda x: pnp.mean(x > 0), lambda x: np.mean(x > 0)),
    "roll": (lambda x: pnp.roll(x, 3), lambda x: np.roll(x, 3)),
    "flip": (lambda x: pnp.flip(x), lambda x: np.flip(x)),
    "concatenate": (lambda x: pnp.concatenate([x, x]), lambda x: np.concatenate([x, x])),
    "where of three": (lambda x: pnp.where(x > 0, x, 0), lambda x: np.where(x > 0, x, 0)),
}


@pytest.fixture
def low(monkeypatch):
    pc.clear_caches()
    monkeypatch.setattr(dtypes, "MOST_POSITION", 200)
    yield
    pc.clear_caches()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_without_64_bits_there_is_an_error_that_names_them(low, name):
    function = FUNCTIONS[name][0]
    x = pnp.asarray(X)
    for run in (function, pc.jit(function)):
        if run is not function and name in ("nonzero", "flatnonzero", "argwhere", "where", "unique"):
            continue
        with pytest.raises(
            OverflowError, match=r"up to (2[89]\d|300) do not fit .*enable_x64|300 positions; use int64"
        ):
            run(x)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("iota", "top_k")])
def test_with_64_bits_they_are_right(low, name):
    function, reference = FUNCTIONS[name]
    with pc.enable_x64():
        x = pnp.asarray(X)
        found = np.asarray(function(x))
        if reference is not None:
            np.testing.assert_array_equal(found, reference(X))
        if found.dtype.kind == "i" and found.dtype != X.dtype:
            assert found.dtype == np.int64


@pytest.mark.parametrize("name", WITHOUT)
def test_what_needs_no_index_needs_no_64_bits(low, name):
    function, reference = WITHOUT[name]
    for run in (function, pc.jit(function)):
        np.testing.assert_allclose(run(pnp.asarray(X)), reference(X), rtol=1e-6)


@pytest.mark.skipif(pc.devices()[0].platform != "cpu", reason="a GPU may not have the memory")
def test_more_elements_than_int32_counts():
    x = pnp.zeros(2**31 + 16, "int8")
    with pytest.raises(
        OverflowError, match=r"at\[\]\.set: positions up to 2147483663 do not fit into int32, .*enable_x64"
    ):
        x.at[-1].set(1)
    with pytest.raises(OverflowError, match=r"count_nonzero: .* up to 2147483664 "):
        pnp.count_nonzero(x)
    assert x[-1] == 0
    assert x[2**31 + 3 :].shape == (13,)
    x.delete()
