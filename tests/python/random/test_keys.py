"""Arrays of keys: creation, movement, mapping and carries; arithmetic on them is an error."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import random as theirs

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, random
from pycompiler.core.types import dtype as dtypes
from pycompiler.core.types.aval import get_aval
from pycompiler.primitives import PRIMITIVES

KEY = dtypes.KEY


@pytest.fixture(autouse=True)
def original_streams():
    with jax.threefry_partitionable(False):
        yield


def same(ours, wanted):
    assert ours.dtype is KEY
    assert ours.shape == wanted.shape
    np.testing.assert_array_equal(random.key_data(ours), theirs.key_data(wanted))


def test_one_key():
    key = random.key(42)
    assert (key.shape, key.ndim, key.size, key.nbytes) == ((), 0, 1, 8)
    assert repr(key) == str(key) == "Array((), dtype=key<fry>) overlaying:\n[ 0 42]"
    assert pnp.issubdtype(key.dtype, pc.dtypes.prng_key)
    assert pnp.issubdtype(key.dtype, pc.dtypes.extended)
    assert not pnp.issubdtype(key.dtype, np.integer)
    assert not pnp.issubdtype(np.uint32, pc.dtypes.prng_key)
    assert random.key_dtype() is key.dtype
    assert random.key_impl(key) == random.key_impl(random.PRNGKey(42)) == "threefry2x32"
    same(key, theirs.key(42))
    same(random.clone(key), theirs.key(42))
    same(random.key(np.int32(7), impl="threefry2x32"), theirs.key(7))
    same(random.key(7, dtype=KEY), theirs.key(7))
    same(random.wrap_key_data(random.key_data(key)), theirs.key(42))
    assert random.key_data(random.PRNGKey(3)).dtype == np.uint32


def test_several_keys():
    keys = random.split(random.key(1), 3)
    same(keys, theirs.split(theirs.key(1), 3))
    assert len(keys) == 3
    for key, wanted in zip(keys, theirs.split(theirs.key(1), 3), strict=True):
        same(key, wanted)
    first, second = random.split(random.key(1))
    same(first, theirs.split(theirs.key(1))[0])
    same(random.fold_in(second, 5), theirs.fold_in(theirs.split(theirs.key(1))[1], 5))
    same(
        random.wrap_key_data(np.arange(6, dtype=np.uint32).reshape(3, 2)),
        theirs.wrap_key_data(jnp.arange(6, dtype="uint32").reshape(3, 2)),
    )


MOVES = {
    "element": lambda n, k: k[0, 1],
    "slice": lambda n, k: k[:, 1:],
    "reversed": lambda n, k: k[::-1],
    "gathered": lambda n, k: k[np.array([1, 0, 1])],
    "new axis": lambda n, k: k[None],
    "stack": lambda n, k: n.stack([k[0], k[1]], axis=1),
    "concatenate": lambda n, k: n.concatenate([k, k]),
    "reshape": lambda n, k: k.reshape(3, 2),
    "ravel": lambda n, k: k.ravel(),
    "transpose": lambda n, k: k.T,
    "broadcast": lambda n, k: n.broadcast_to(k[0, 0], (4,)),
    "where": lambda n, k: n.where(np.array([True, False]), k[:, 0], k[:, 1]),
    "squeeze": lambda n, k: n.squeeze(k[:1]),
    "expand_dims": lambda n, k: n.expand_dims(k, 1),
    "take": lambda n, k: n.take(k, np.array([1, 0]), axis=1),
    "set": lambda n, k: k.at[0].set(k[1]),
    "roll": lambda n, k: n.roll(k, 1, 1),
    "flip": lambda n, k: n.flip(k),
}  # fmt: skip


@pytest.mark.parametrize("case", MOVES.values(), ids=MOVES)
def test_moved(case):
    ours, wanted = random.split(random.key(3), (2, 3)), theirs.split(theirs.key(3), (2, 3))
    same(case(pnp, ours), case(jnp, wanted))
    same(pc.jit(lambda keys: case(pnp, keys))(ours), case(jnp, wanted))


def test_compared():
    keys = random.split(random.key(3), 3)
    np.testing.assert_array_equal(keys == keys[::-1], [False, True, False])
    np.testing.assert_array_equal(keys != keys[::-1], [True, False, True])


def test_transformed():
    keys, wanted = random.split(random.key(0), 4), theirs.split(theirs.key(0), 4)
    same(pc.vmap(lambda k: random.split(k, 3))(keys), jax.vmap(lambda k: theirs.split(k, 3))(wanted))
    same(
        pc.vmap(random.fold_in, (None, 0))(keys[0], np.arange(3)),
        jax.vmap(theirs.fold_in, (None, 0))(wanted[0], np.arange(3)),
    )
    same(pc.vmap(random.key)(np.arange(3)), jax.vmap(theirs.key)(np.arange(3)))
    np.testing.assert_allclose(
        pc.jit(pc.vmap(lambda k: random.normal(k, (2,))))(keys),
        jax.vmap(lambda k: theirs.normal(k, (2,)))(wanted),
        rtol=1e-5,
    )
    slope = pc.grad(lambda x, key: x * random.normal(key))(2.0, keys[0])
    np.testing.assert_allclose(slope, theirs.normal(wanted[0]), rtol=1e-6)
    assert pc.eval_shape(random.split, keys[0]).dtype is KEY
    assert "key<fry>[4]" in repr(pc.make_jaxpr(lambda k: k[0])(keys))


def test_carried_by_a_loop():
    def walk(lib, r, key):
        def step(_, state):
            key, total = state
            key, subkey = r.split(key)
            return key, total + r.uniform(subkey)

        return lib.fori_loop(0, 5, step, (key, np.float32(0)))

    key, total = walk(lax, random, random.key(8))
    wanted, sum_of_them = walk(jax.lax, theirs, theirs.key(8))
    same(key, wanted)
    np.testing.assert_allclose(total, sum_of_them, rtol=1e-6)
    keys, totals = pc.vmap(lambda k: walk(lax, random, k))(random.split(random.key(0), 3))
    wanted, sums = jax.vmap(lambda k: walk(jax.lax, theirs, k))(theirs.split(theirs.key(0), 3))
    same(keys, wanted)
    np.testing.assert_allclose(totals, sums, rtol=1e-6)


def test_documented_numbers():
    key = random.key(42)
    assert abs(float(random.normal(key)) + 0.18471177) < 1e-6
    assert abs(float(random.normal(key)) + 0.18471177) < 1e-6
    assert abs(float(random.normal(random.fold_in(key, 43))) - 0.11627013) < 1e-6
    first, second = random.split(key)
    assert abs(float(random.normal(first)) - 0.13790321) < 1e-6
    assert abs(float(random.normal(second)) - 1.3694694) < 1e-6


COMPUTED = {
    "key + 1": lambda k: k + 1,
    "1.5 * key": lambda k: 1.5 * k,
    "key + key": lambda k: k + k,
    "-key": lambda k: -k,
    "key & 1": lambda k: k & 1,
    "key.sum": lambda k: k.sum(),
    "key.max": lambda k: k.max(),
    "exp": pnp.exp,
    "sort": pnp.sort,
    "astype": lambda k: k.astype(int),
    "mean": pnp.mean,
    "cumsum": pnp.cumsum,
    "float": float,
    "asarray": np.asarray,
    "tolist": lambda k: k.tolist(),
    "pickle": pickle.dumps,
    "dtype of numbers": lambda k: random.normal(k[0], dtype=k.dtype),
    "wrapped twice": random.wrap_key_data,
    "seed": random.key,
    "several": random.normal,
}  # fmt: skip


@pytest.mark.parametrize("case", COMPUTED.values(), ids=COMPUTED)
def test_nothing_is_computed_with_keys(case):
    with pytest.raises(TypeError, match="key"):
        case(random.split(random.key(0), 3))


# Functions that take arrays of all dtypes.
GENERIC = {
    "bitcast",
    "broadcast_in_dim",
    "concatenate",
    "dim_as_value",
    "eq",
    "iota",
    "ne",
    "pad",
    "reshape",
    "reverse",
    "slice",
}
GENERIC |= {"dynamic_slice", "dynamic_update_slice", "gather", "optimization_barrier", "scatter", "select"}
GENERIC |= {"sort", "transpose", "while"}


@pytest.mark.parametrize("name", sorted(set(PRIMITIVES) - GENERIC))
def test_primitives_refuse_keys(name):
    primitive = PRIMITIVES[name]
    sample = next(iter(primitive.sampler(np.random.default_rng(0))))
    avals = [get_aval(x).update(dtype=KEY) for x in sample.args]
    with pytest.raises((TypeError, ValueError)):
        primitive.shape_rule(*avals, **sample.params)


def test_errors():
    with pytest.raises(ValueError, match=r"key: unrecognized PRNG implementation 'philox'; the generators are .*'rbg'"):
        random.key(0, impl="philox")
    with pytest.raises(ValueError, match="key: takes impl or dtype, not both"):
        random.key(0, impl="threefry2x32", dtype=KEY)
    with pytest.raises(TypeError, match=r"their numbers u32\[..., 2\] of threefry2x32, got f32\[2\]"):
        random.key_data(np.float32([1, 2]))
    with pytest.raises(TypeError, match=r"no elements that NumPy knows: random.key_data\(keys\) gives"):
        np.asarray(random.key(0))


@pytest.mark.parametrize("wrap", [lambda f: f, pc.jit], ids=["eager", "jit"])
def test_arrays_of_one_key(wrap):
    """Functions that fill an array with a number make the key whose numbers all equal it."""
    made = {
        "zeros": lambda module, keys: module.zeros(keys.shape, keys.dtype),
        "ones": lambda module, keys: module.ones((2, 1), keys.dtype),
        "empty": lambda module, keys: module.zeros_like(module.empty(3, keys.dtype)),
        "full": lambda module, keys: module.full((2,), 100, dtype=keys.dtype),
        "full of a key": lambda module, keys: module.full((2,), keys[1], dtype=keys.dtype),
        "zeros_like": lambda module, keys: module.zeros_like(keys),
        "ones_like": lambda module, keys: module.ones_like(keys),
        "full_like": lambda module, keys: module.full_like(keys, 7),
        "full_like of a key": lambda module, keys: module.full_like(keys, keys[0]),
        "insert": lambda module, keys: module.insert(keys, 1, keys[0]),
    }
    for make in made.values():
        ours = wrap(lambda keys, make=make: make(pnp, keys))(random.split(random.key(3)))
        jaxs = make(jnp, theirs.wrap_key_data(np.asarray(random.key_data(random.split(random.key(3))))))
        assert ours.dtype == KEY
        np.testing.assert_array_equal(random.key_data(ours), theirs.key_data(jaxs))


def test_keys_are_close_to_themselves():
    keys = random.split(random.key(3))
    for close in (pnp.isclose, pc.jit(pnp.isclose)):
        np.testing.assert_array_equal(close(keys, keys), [True, True])
        np.testing.assert_array_equal(close(keys, keys[::-1]), [False, False])
    assert pnp.allclose(keys, keys)
    assert not pnp.allclose(keys, keys[0])
    for promotion in ("standard", "strict"):
        with pc.numpy_dtype_promotion(promotion), pytest.raises(TypeError, match="isclose: keys of random numbers"):
            pnp.isclose(keys, 1.0)


def test_the_dtype_of_keys_is_a_dtype():
    assert pnp.issubdtype(KEY, np.generic)
    assert pnp.issubdtype(KEY, pc.dtypes.prng_key)
    assert not pnp.issubdtype(KEY, np.integer)
    # No number becomes a key implicitly.
    with pytest.raises(TypeError, match="keys of random numbers"):
        random.split(random.key(0)).at[0].set(0)


def test_bools_count_as_0_and_1():
    same(random.key(True), theirs.key(1))
    for data in (True, np.True_, pnp.array(True)):
        same(random.fold_in(random.key(3), data), theirs.fold_in(theirs.key(3), 1))
    same(pc.jit(random.fold_in)(random.key(3), False), theirs.fold_in(theirs.key(3), 0))
