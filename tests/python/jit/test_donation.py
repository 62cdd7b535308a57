"""Results in the memory of donated arguments: the same values, the same memory, and no changes of other arrays."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.core.config.config import config

COUNT = 4096
X = np.arange(COUNT, dtype=np.float32)
Y = np.linspace(0, 1, COUNT, dtype=np.float32)
M = (X / COUNT).reshape(64, 64)

# (function, arguments, donated arguments)
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


@pytest.mark.parametrize("shape", [(), (1,), (100,)])
def test_small_arrays_give_their_memory_as_well(shape, recwarn):
    def step(x, y):
        return x + y, y * 2

    def pointers(*arrays):
        return [x.unsafe_buffer_pointer() for x in arrays]

    x, y = pnp.full(shape, 1.0), pnp.full(shape, 2.0)
    before = pointers(x, y)
    step = pc.jit(step, donate_argnums=(0, 1))
    for _ in range(3):
        x, y = step(x, y)
        assert pointers(x, y) == before
    np.testing.assert_array_equal(x, np.full(shape, 15.0))
    # One that is also elsewhere is copied, without a warning.
    view = np.asarray(x)
    x, _ = step(x, y)
    np.testing.assert_array_equal(view, np.full(shape, 15.0))
    np.testing.assert_array_equal(x, np.full(shape, 31.0))
    assert not recwarn.list


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


@pytest.mark.parametrize(
    ("donated", "arguments"),
    [
        (0, lambda x: (x, x)),
        (1, lambda x: (x, x)),
        ((0, 1), lambda x: (x, x)),
        (0, lambda x: ({"a": x, "b": [x]}, x + 1)),
        (0, lambda x: ([x, x + 1], {"c": x})),
        ((0, 1), lambda x: ((x + 1, x + 2), (x + 3, x, x))),
    ],
)
@pytest.mark.parametrize("count", [4, COUNT])  # counts at which a result does not take the memory, and takes it
def test_an_array_given_twice_is_an_error(donated, arguments, count):
    function = pc.jit(lambda a, b: pc.tree.map(lambda x: x * 2, (a, b)), donate_argnums=donated)
    x = pnp.arange(count, dtype="float32")
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"the donated array f32\[{count}\] is given twice, as leaves \d and \d"):
            function(*arguments(x))
        assert not x.is_deleted()
    np.testing.assert_array_equal(x, np.arange(count))
    # A copy is another array; an array in the same memory is one, too.
    a, b = arguments(x)
    function(*pc.tree.map(lambda y: y.copy(), (a, b)))
    np.testing.assert_array_equal(x, np.arange(count))


def test_an_array_and_another_in_its_memory():
    both = pc.jit(lambda a, b: a * 2 + b[::-1], donate_argnums=0)
    x = pnp.array(X)
    same = pc.jit(lambda x: x)(x)
    with pytest.warns(UserWarning, match="was copied"):
        np.testing.assert_array_equal(both(x, same), X * 2 + X[::-1])
    np.testing.assert_array_equal(same, X)


def test_an_argument_that_is_not_used_may_be_given_twice():
    first = pc.jit(lambda a, b: a + 1, donate_argnums=(0, 1))
    x = pnp.array(X)
    np.testing.assert_array_equal(first(x, x), X + 1)
    assert x.is_deleted()


# (function of x and y, both donated; the argument that is taken): jax 0.10.2 deletes the same.
TAKEN = {
    "neither": (lambda x, y: x.sum() + y.sum(), (False, False)),
    "one of two": (lambda x, y: x + y, (True, False)),
    "both": (lambda x, y: (x + y, x - y), (True, True)),
    "returned": (lambda x, y: (y, x.sum()), (False, True)),
    "not used": (lambda x, y: y * 2, (False, True)),
    "another dtype": (lambda x, y: x > y, (False, False)),
    "smaller": (lambda x, y: (x + y)[:3], (False, False)),
    "nothing computed": (lambda x, y: 3, (False, False)),
}


@pytest.mark.parametrize("count", [4, COUNT])
@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.filterwarnings("ignore:jit of")
def test_what_no_result_can_take_is_not_deleted(name, count):
    function, taken = TAKEN[name]
    values = np.arange(count, dtype=np.float32), np.linspace(0, 1, count, dtype=np.float32)
    for keep in (False, True):
        x, y = map(pnp.asarray, values)
        results = pc.jit(function, donate_argnums=(0, 1), keep_unused=keep)(x, y)
        # A result takes the first kept argument that fits.
        assert (x.is_deleted(), y.is_deleted()) == ((True, False) if name == "not used" and keep else taken)
        for ours, wanted in zip(pc.tree.leaves(results), pc.tree.leaves(function(*values)), strict=True):
            np.testing.assert_allclose(ours, wanted, rtol=1e-6)
        for array, value in zip((x, y), values, strict=True):
            if not array.is_deleted():
                np.testing.assert_array_equal(array, value)


def test_it_is_told_once_that_an_argument_is_not_taken():
    function = pc.jit(lambda x, y: x + y, donate_argnums=(0, 1))
    with pytest.warns(UserWarning, match=r"the donated 'y' .*another donated argument's memory.* is not deleted"):
        function(pnp.array(X), pnp.array(Y))


@pytest.mark.filterwarnings("ignore:jit of")
def test_other_ways_to_run_take_and_refuse_the_same():
    function = lambda x, y: {"sum": x + 1, "total": y.sum()}  # noqa: E731
    for options, scope in (
        ({"dynamic": {"x": ("n",), "y": ("n",)}}, {}),
        ({"dynamic": "auto"}, {}),
        ({}, {"debug_nans": True}),
    ):
        jitted = pc.jit(function, donate_argnames=("x", "y"), **options)
        with config.override("debug_nans", scope.get("debug_nans", False)):
            x, y = pnp.array(X), pnp.array(Y)
            jitted(x, y)
            assert (x.is_deleted(), y.is_deleted()) == (True, False)
            x = pnp.array(X)
            with pytest.raises(ValueError, match="is given twice"):
                jitted(x, x)
            np.testing.assert_array_equal(x, X)
    positive = pc.jit(lambda x, y: (x[x > 0], y * 2), donate_argnums=(0, 1), dynamic="auto")
    x, y = pnp.array(X), pnp.array(Y)
    positive(x, y)
    assert (x.is_deleted(), y.is_deleted()) == (True, False)
    with pytest.raises(ValueError, match="is given twice"):
        positive(y, y)


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


def test_a_failed_array_that_others_read_too():
    # Donated while other calls have it: it is not copied, and its error comes with the results.
    needs_too_much = pc.jit(lambda x: pnp.sort(pnp.broadcast_to(x[0], (1 << 44,)))[:COUNT])
    donating = pc.jit(lambda x, y: x - 0.1 * y, donate_argnums=0)
    for _ in range(20):
        bad = needs_too_much(pnp.asarray(X))
        readers = [pnp.tanh(bad), bad + 1]
        results = [*readers, donating(bad, readers[1])]
        for result in results:
            with pytest.raises(MemoryError, match="out of memory"):
                np.asarray(result)
