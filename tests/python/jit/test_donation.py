"""Results that are computed in the memory of donated arguments: the same values, the same memory, and nobody else's."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax

COUNT = 4096
X = np.arange(COUNT, dtype=np.float32)
Y = np.linspace(0, 1, COUNT, dtype=np.float32)
M = (X / COUNT).reshape(64, 64)

# (function, arguments, which are donated)
CASES = {
    "elementwise": (lambda x: pnp.sin(x) * 2 + x, (X,), 0),
    "reversed": (lambda x: x[::-1], (X,), 0),
    "reversed and read": (lambda x: x[::-1] + x, (X,), 0),
    "rolled": (lambda x: pnp.roll(x, 1) * 2, (X,), 0),
    "reduced as well": (lambda x: (x + 1, x.sum()), (X,), 0),
    "read by two": (lambda x: (x + 1, x * 2), (X,), 0),
    "exchanged": (lambda x, y: (y + 1, x + 1), (X, Y), (0, 1)),
    "exchanged and reversed": (lambda x, y: (y[::-1], x[::-1]), (X, Y), (0, 1)),
    "transposed": (lambda m: m.T, (M,), 0),
    "transposed and read": (lambda m: m + m.T, (M,), 0),
    "product": (lambda m: m @ m, (M,), 0),
    "loop that sets": (lambda x: lax.fori_loop(0, 99, lambda i, c: c.at[i].set(7.0), x), (X,), 0),
    "loop that reads neighbours": (lambda x: lax.fori_loop(0, 9, lambda i, c: 0.5 * (pnp.roll(c, 1) + c), x), (X,), 0),
    "while loop": (lambda x: lax.while_loop(lambda c: c[0] < 10.0, lambda c: c + 1, x), (X,), 0),
    "loop, and what it started from": (
        lambda x: (lax.fori_loop(0, 9, lambda i, c: c.at[i].add(x[i + 1]), x), x[3]),
        (X,),
        0,
    ),
    "one element": (lambda x: (x.at[5].set(1.0), x[5]), (X,), 0),
    "part": (lambda x: (lax.dynamic_slice(x, (3,), (64,)), x * 2), (X,), 0),
    "reshaped as well": (lambda x: (x.reshape(64, 64) * 1, x + 1), (X,), 0),
    "sorted": (lambda x: pnp.sort(-x), (X,), 0),
    "summed up": (lambda x: pnp.cumsum(x), (X,), 0),
    "turned": (lambda x: pnp.concatenate([x[100:], x[:100]]), (X,), 0),
    "gathered": (lambda x: x[pnp.arange(COUNT - 1, -1, -1)], (X,), 0),
    "step": (lambda p, g: {"w": p - 0.1 * g, "n": pnp.sqrt((g * g).sum())}, (X, Y), 0),
    "returned as well": (lambda x, y: (y, x + 1, x, y * 2), (X, Y), (0, 1)),
    "nested": (lambda x: pc.jit(lambda y: y * 2)(x) + x[::-1], (X,), 0),
}


def address(x):
    return np.asarray(x).__array_interface__["data"][0]


@pytest.mark.parametrize("name", CASES)
def test_the_values_are_the_same(name):
    function, values, donated = CASES[name]
    wanted = pc.tree.leaves(pc.jit(function)(*map(pnp.array, values)))
    arrays = [pnp.array(value) for value in values]
    before = {address(x) for x in arrays}
    got = pc.tree.leaves(pc.jit(function, donate_argnums=donated)(*arrays))
    for ours, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(ours, other)
    assert {address(x) for x in got} & before
    assert arrays[0].is_deleted()


scaled = pc.jit(lambda x: x * 2 + 1, donate_argnums=0)


def test_a_chain_stays_in_one_place():
    x = pnp.ones(COUNT)
    x.block_until_ready()
    place = address(x)
    for _ in range(20):
        x = scaled(x)
    np.testing.assert_array_equal(x, np.full(COUNT, 2.0**21 - 1))
    assert address(x) == place


def test_what_others_see_does_not_change():
    x = pnp.array(X)
    seen = np.asarray(x)
    view = x.reshape(64, 64)
    result = scaled(x)
    np.testing.assert_array_equal(result, X * 2 + 1)
    np.testing.assert_array_equal(seen, X)
    np.testing.assert_array_equal(view, X.reshape(64, 64))
    exchanged = np.from_dlpack(y := pnp.array(X))
    scaled(y).block_until_ready()
    np.testing.assert_array_equal(exchanged, X)
    given = X.copy()
    np.testing.assert_array_equal(scaled(given), X * 2 + 1)
    np.testing.assert_array_equal(given, X)


def test_work_in_flight_that_reads_it():
    slow = pc.jit(lambda x: lax.fori_loop(0, 2000, lambda i, c: pnp.sin(c) + x, x))
    for _ in range(5):
        x = pnp.array(X)
        pending = slow(x)
        replaced = scaled(x)
        np.testing.assert_array_equal(replaced, X * 2 + 1)
        wanted = slow(pnp.array(X))
        np.testing.assert_array_equal(pending, wanted)


def test_an_array_given_twice():
    both = pc.jit(lambda a, b: a * 2 + b[::-1], donate_argnums=0)
    x = pnp.array(X)
    np.testing.assert_array_equal(both(x, x), X * 2 + X[::-1])
    pair = pc.jit(lambda a, b: (a + 1, b + 2), donate_argnums=(0, 1))
    x = pnp.array(X)
    first, second = pair(x, x)
    np.testing.assert_array_equal(first, X + 1)
    np.testing.assert_array_equal(second, X + 2)


def test_the_compiled_stage_donates_too():
    lowered = pc.jit(lambda x: x + 1, donate_argnums=0).lower(X)
    assert "array.donated = array<i64: 0>" in lowered.as_text()
    compiled = lowered.compile()
    x = pnp.array(X)
    np.testing.assert_array_equal(compiled(x), X + 1)
    assert x.is_deleted()


def test_a_deleted_array_leaves_the_memory_to_its_views():
    x = pnp.array(X)
    seen = np.asarray(x)
    x.delete()
    for _ in range(10):
        pnp.zeros(COUNT).block_until_ready()
    np.testing.assert_array_equal(seen, X)
