"""The generators other than threefry2x32: keys and numbers are jax's, bit for bit, in every transformation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, random
from pycompiler.lax import generator
from pycompiler.random import counters

COUNTING = ["threefry4x32", "philox2x32", "philox4x32"]
IMPLS = ["rbg", "unsafe_rbg", *COUNTING]
BITS = {name: getattr(jnp, name) for name in ("uint8", "uint16", "uint32")}


@pytest.fixture(autouse=True)
def streams_of_jax():
    with pc.threefry_partitionable(True), jax.threefry_partitionable(True):
        yield


def keys(impl, seed=7):
    return random.key(seed, impl=impl), jax.random.key(seed, impl=impl)


def same(ours, theirs):
    """Equal keys, or numbers that are equal but for the rounding of functions."""
    if pnp.issubdtype(ours.dtype, pc.dtypes.prng_key):
        assert jax.numpy.issubdtype(theirs.dtype, jax.dtypes.prng_key)
        assert (ours.shape, ours.dtype.name) == (theirs.shape, theirs.dtype.name)
        np.testing.assert_array_equal(random.key_data(ours), jax.random.key_data(theirs))
        return
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("partitionable", [True, False])
@pytest.mark.parametrize("impl", IMPLS)
def test_keys(impl, partitionable):
    with pc.threefry_partitionable(partitionable), jax.threefry_partitionable(partitionable):
        mine, theirs = keys(impl)
        same(mine, theirs)
        same(random.split(mine, (2, 3)), jax.random.split(theirs, (2, 3)))
        same(random.fold_in(mine, 12), jax.random.fold_in(theirs, 12))
        mine, theirs = random.split(mine)[1], jax.random.split(theirs)[1]
        same(random.split(mine, 3), jax.random.split(theirs, 3))
        same(random.fold_in(mine, 3), jax.random.fold_in(theirs, 3))
        several = random.split(mine, 4), jax.random.split(theirs, 4)
        split, fold_in = random.split, random.fold_in
        same(pc.vmap(split)(several[0]), jax.vmap(jax.random.split)(several[1]))
        numbers = np.arange(4, dtype=np.uint32)
        same(pc.vmap(fold_in)(several[0], numbers), jax.vmap(jax.random.fold_in)(several[1], numbers))
    assert random.key_impl(mine) == impl
    assert mine.dtype == random.key_dtype(impl) == random.split(mine).dtype


DISTRIBUTIONS = {
    "normal": lambda r, key: r.normal(key, (3, 5)),
    "uniform of bfloat16": lambda r, key: r.uniform(key, (3, 5), "bfloat16").astype("float32"),
    "complex": lambda r, key: abs(r.normal(key, (3,), "complex64")),
    "randint": lambda r, key: r.randint(key, (7,), -5, 1000),
    "truncated_normal": lambda r, key: r.truncated_normal(key, -1.0, 2.0, (4,)),
    "gamma": lambda r, key: r.gamma(key, np.float32([0.3, 1.0, 4.0])),
    "beta": lambda r, key: r.beta(key, 2.0, np.float32([0.5, 3.0])),
    "binomial": lambda r, key: r.binomial(key, 20.0, np.float32([0.1, 0.7])),
    "permutation": lambda r, key: r.permutation(key, 6),
    "choice": lambda r, key: r.choice(key, 5, (3,), replace=False),
    "categorical": lambda r, key: r.categorical(key, np.zeros(4, np.float32), shape=(6,)),
    "orthogonal": lambda r, key: abs(r.orthogonal(key, 3)),
    **{name: lambda r, key, dtype=dtype: r.bits(key, (5, 3), dtype) for name, dtype in BITS.items()},
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("impl", IMPLS)
def test_distributions(impl, name):
    mine, theirs = (k[1] for k in map(lambda r, k: r.split(k), (random, jax.random), keys(impl)))
    draw = DISTRIBUTIONS[name]
    expected = jax.jit(lambda key: draw(jax.random, key))(theirs)
    same(draw(random, mine), expected)
    same(pc.jit(lambda key: draw(random, key))(mine), expected)


@pytest.mark.parametrize("name", ["normal", "randint", "gamma", "permutation"])
@pytest.mark.parametrize("impl", IMPLS)
def test_mapped_keys(impl, name):
    """As in jax, all members take their bits from the first key of an operation."""
    mine, theirs = (r.split(k, 3) for r, k in zip((random, jax.random), keys(impl), strict=True))
    draw = DISTRIBUTIONS[name]
    same(pc.vmap(lambda key: draw(random, key))(mine), jax.vmap(lambda key: draw(jax.random, key))(theirs))


@pytest.mark.parametrize("impl", IMPLS)
def test_loops_and_branches(impl):
    def carried(r, lax, key):
        def step(key, _):
            key, subkey = r.split(key)
            return key, r.normal(subkey)

        return lax.scan(step, key, None, length=4)

    (mine, theirs) = keys(impl)
    for ours, other in zip(carried(random, lax, mine), carried(jax.random, jax.lax, theirs), strict=True):
        same(ours, other)
    several = random.split(mine, 3), jax.random.split(theirs, 3)
    same(lax.map(random.uniform, several[0]), jax.lax.map(jax.random.uniform, several[1]))
    chosen = pc.jit(lambda p, a, b: lax.cond(p, lambda: a, lambda: b))(False, several[0][0], several[0][1])
    same(chosen, several[1][1])
    same(lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, random.fold_in(s[1], s[0])), (0, mine))[1],
         jax.random.fold_in(jax.random.fold_in(theirs, 0), 1))  # fmt: skip


@pytest.mark.parametrize("impl", IMPLS)
def test_the_default_generator_is_of_new_keys_and_of_numbers(impl):
    with pc.default_prng_impl(impl), jax.default_prng_impl(impl):
        same(random.key(3), jax.random.key(3))
        numbers = random.PRNGKey(3)
        np.testing.assert_array_equal(numbers, jax.random.PRNGKey(3))
        assert random.key_impl(numbers) == impl
        same(
            random.normal(random.split(numbers)[0], (3,)),
            jax.random.normal(jax.random.split(jax.random.PRNGKey(3))[0], (3,)),
        )
        same(random.wrap_key_data(numbers), jax.random.key(3))
        # A typed key keeps its own generator.
        fry = random.key(3, impl="threefry2x32"), jax.random.key(3, impl="threefry2x32")
        same(random.normal(fry[0], (3,)), jax.random.normal(fry[1], (3,)))
        size = numbers.shape[0]
        wanted = rf"numbers u32\[{size}\] of {impl}, the setting default_prng_impl, got u32\[{size + 1}\]"
        with pytest.raises(TypeError, match=wanted):
            random.normal(np.zeros(size + 1, np.uint32))
    np.testing.assert_array_equal(random.PRNGKey(3, impl=impl), jax.random.PRNGKey(3, impl=impl))
    assert random.PRNGKey(3).shape == (2,)


def test_a_key_array_is_like_an_array():
    key = random.key(5, impl="rbg")
    several = random.split(key, (2, 3))
    assert (several.shape, several.ndim, several.size, len(several)) == ((2, 3), 2, 6, 2)
    assert (several.itemsize, several.nbytes, str(several.dtype)) == (16, 96, "key<rbg>")
    data = np.asarray(random.key_data(several))
    np.testing.assert_array_equal(random.key_data(several[1]), data[1])
    np.testing.assert_array_equal(random.key_data(several[..., 0]), data[:, 0])
    np.testing.assert_array_equal(random.key_data(several[:, 1:]), data[:, 1:])
    np.testing.assert_array_equal(random.key_data(several.reshape(-1, 2)), data.reshape(3, 2, 4))
    np.testing.assert_array_equal(random.key_data(several.ravel()), data.reshape(6, 4))
    changed = several.at[0, 1].set(several[1, 2])
    np.testing.assert_array_equal(random.key_data(changed)[0], [data[0, 0], data[1, 2], data[0, 2]])
    np.testing.assert_array_equal(random.key_data(several.at[:, 1].get()), data[:, 1])
    with pytest.raises(TypeError, match="takes keys of rbg"):
        several.at[0].set(random.key(0, impl="unsafe_rbg"))
    assert [one.shape for one in several] == [(3,), (3,)]
    assert (several == several.copy()).all()
    assert not (several[0] != several[0]).any()
    first, second = random.split(key)
    assert not bool(first == second)
    assert repr(key).startswith("KeyArray((), dtype=key<rbg>) overlaying:\n[0 5 0 5]")
    assert pnp.issubdtype(key.dtype, pc.dtypes.prng_key)
    assert not pnp.issubdtype(key.dtype, np.uint32)
    assert [leaf.shape for leaf in pc.tree.leaves(several)] == [(2, 3, 4)]
    assert random.clone(key) is not key
    assert random.clone(key) == key
    assert key.block_until_ready() is key
    assert key.devices() == {pc.devices()[0]} == key.sharding.device_set
    again = random.wrap_key_data(np.arange(8, dtype=np.uint32).reshape(2, 4), dtype=random.key_dtype("unsafe_rbg"))
    assert (random.key_impl(again), again.shape) == ("unsafe_rbg", (2,))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda k: random.key(1, impl="philox"), ValueError, "unrecognized PRNG implementation 'philox'; .*'rbg'"),
        (lambda k: random.key(1, impl=3), TypeError, "a generator is a name or a dtype of keys, got 3 of int"),
        (lambda k: random.key(1, impl="rbg", dtype="rbg"), ValueError, "takes impl or dtype, not both"),
        (lambda k: random.key(k), TypeError, "the seed must be one integer, got a key"),
        (lambda k: random.normal(np.zeros(4, np.uint32)), TypeError, r"its numbers u32\[2\], got u32\[4\]"),
        (lambda k: random.normal(random.split(k)), TypeError, "for several, use vmap"),
        (
            lambda k: random.wrap_key_data(np.zeros(2, np.uint32), impl="rbg"),
            TypeError,
            r"u32\[..., 4\] of rbg, got u32\[2\]",
        ),
        (
            lambda k: random.wrap_key_data(np.zeros(4, np.uint32)),
            TypeError,
            r"u32\[..., 2\] of threefry2x32, got u32\[4\]",
        ),
        (lambda k: random.wrap_key_data(k), TypeError, "takes the numbers of keys, .*, got keys"),
        (lambda k: np.asarray(k), TypeError, "keys .* are no numbers"),
        (lambda k: pnp.add(k, 1), TypeError, "takes arrays and scalars, got KeyArray"),
        (lambda k: len(k), TypeError, "without dimensions"),
        (lambda k: list(k), TypeError, "it has no dimensions"),
        (lambda k: {k}, TypeError, "unhashable"),
        (lambda k: lax.cond(True, lambda: k, lambda: random.key(1, impl="unsafe_rbg")), TypeError, "rbg"),
    ],
)
def test_bad_input_and_mixed_generators(call, kind, text):
    with pytest.raises(kind, match=text):
        call(random.key(1, impl="rbg"))


def test_bits_of_mapped_states():
    states = np.arange(12, dtype=np.uint32).reshape(3, 4)
    ours = pc.vmap(lambda s: lax.rng_bit_generator(s, (2, 3)))(states)
    theirs = jax.vmap(lambda s: jax.lax.rng_bit_generator(s, (2, 3)))(states)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)
    inner = pc.jit(pc.vmap(pc.vmap(lambda s: lax.rng_bit_generator(s, (2,))[1])))(states.reshape(1, 3, 4))
    np.testing.assert_array_equal(
        inner, jax.vmap(jax.vmap(lambda s: jax.lax.rng_bit_generator(s, (2,))[1]))(states.reshape(1, 3, 4))
    )


@pytest.mark.parametrize("impl", ["threefry2x32", *IMPLS])
def test_more_numbers_than_2_to_the_32(impl):
    key = random.key(1, impl=impl)
    assert pc.eval_shape(lambda: random.normal(key, (10**6, 10**6))).shape == (10**6, 10**6)
    assert "module" in pc.jit(lambda: random.uniform(key, (308000000, 128), "bfloat16")).lower().as_text()
    if impl == "threefry2x32":
        with pc.threefry_partitionable(False), pytest.raises(ValueError, match=r"and a key has 2\*\*32"):
            pc.eval_shape(lambda: random.normal(key, (2**17, 2**17)))


def test_counters_of_64_bits(monkeypatch):
    """The counters for many numbers are those for few, where both apply."""
    few = generator.numbered(5)
    monkeypatch.setattr(generator, "surely_below", lambda a, b: True)
    low, high = generator.numbered(5)
    assert few[1] is None
    np.testing.assert_array_equal(low, few[0])
    np.testing.assert_array_equal(high, np.zeros(5))


@pytest.mark.parametrize("seed", [2**63, -(2**63) - 1])
def test_seeds_of_more_than_64_bits(seed):
    with pytest.raises(OverflowError, match="does not fit into 64 bits"):
        random.key(seed)


def test_an_axis_of_numbers():
    with pytest.raises(ValueError, match="permutation"):
        random.permutation(random.key(0), 10, axis=3)


@pytest.mark.parametrize("impl", COUNTING)
@pytest.mark.parametrize("seed", [0, 2**40 + 3, -5])
def test_wide_seeds_and_bits(impl, seed):
    with pc.enable_x64(True), jax.enable_x64(True):
        mine, theirs = keys(impl, seed)
        same(mine, theirs)
        np.testing.assert_array_equal(random.bits(mine, (3, 5), "uint64"), jax.random.bits(theirs, (3, 5), "uint64"))
        same(random.key(np.int64(seed), impl=impl), theirs)


# The known answers of the paper's library: key, counter, words.
KNOWN = {
    "philox2x32": ("13198a2e", "243f6a88 85a308d3", "dd7ce038 f62a4c12"),
    "philox4x32": (
        "a4093822 299f31d0",
        "243f6a88 85a308d3 13198a2e 03707344",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
    "threefry4x32": (
        "a4093822 299f31d0 082efa98 ec4e6c89",
        "243f6a88 85a308d3 13198a2e 03707344",
        "59cd1dbb b8879579 86b5d00c ac8b6d84",
    ),
}


@pytest.mark.parametrize("impl", COUNTING)
def test_known_answers(impl):
    key, counter, words = ([np.uint32(int(word, 16)) for word in text.split()] for text in KNOWN[impl])
    assert [int(word) for word in counters.COUNTING[impl](tuple(key), tuple(counter))] == [int(word) for word in words]


def test_a_key_of_threefry2x32_keeps_its_generator_where_another_is_the_default():
    key = random.key(42)
    wanted = random.normal(random.split(key)[1], (3,)), random.gamma(key, 2.0, (2,)), random.fold_in(key, 3)
    with pc.default_prng_impl("philox4x32"):
        got = random.normal(random.split(key)[1], (3,)), random.gamma(key, 2.0, (2,)), random.fold_in(key, 3)
    for ours, other in zip(got[:2], wanted[:2], strict=True):
        np.testing.assert_array_equal(ours, other)
    np.testing.assert_array_equal(random.key_data(got[2]), random.key_data(wanted[2]))
