"""Typed keys on several devices: placed, divided, computed with and read as other arrays."""

import numpy as np
import pytest
from meshes import auto_mesh

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax, random
from pycompiler.sharding import NamedSharding, SingleDeviceSharding
from pycompiler.sharding import PartitionSpec as P

MESH = auto_mesh((4, 2), ("x", "y"))
KEYS = random.split(random.key(3), (8, 2))
SPECS = [P(), P("x"), P(("x", "y")), P("x", "y"), P(None, "y")]


def words(keys):
    assert keys.dtype == random.key_dtype()
    return np.asarray(random.key_data(keys))


WORDS = words(KEYS)
each_spec = pytest.mark.parametrize("spec", SPECS, ids=str)


def put(spec, keys=KEYS):
    return pc.device_put(keys, NamedSharding(MESH, spec))


@each_spec
def test_keys_are_divided_and_put_together(spec):
    divided = put(spec)
    assert divided.sharding == NamedSharding(MESH, spec)
    np.testing.assert_array_equal(words(divided), WORDS)
    for shard in divided.addressable_shards:
        np.testing.assert_array_equal(words(shard.data), WORDS[shard.index])
        assert "overlaying" in repr(shard)
    assert repr(divided) == repr(KEYS)
    np.testing.assert_array_equal(words(put(P("y"), divided)), WORDS)
    for place in (pc.devices()[2], SingleDeviceSharding(pc.devices()[1])):
        np.testing.assert_array_equal(words(pc.device_put(divided, place)), WORDS)
    got = pc.device_get({"keys": divided, "one": KEYS, "x": pnp.ones(2)})
    np.testing.assert_array_equal(words(got["keys"]), WORDS)
    np.testing.assert_array_equal(words(got["one"]), WORDS)
    assert isinstance(got["x"], np.ndarray)


def test_one_key_is_on_every_device():
    key = put(P(), random.key(5))
    np.testing.assert_array_equal(words(key), [0, 5])
    np.testing.assert_array_equal(random.normal(key, (3,)), random.normal(random.key(5), (3,)))


@each_spec
@pytest.mark.parametrize("jitted", [False, True])
def test_what_is_computed_of_them(spec, jitted):
    functions = {
        "draw": lambda k: pc.vmap(pc.vmap(lambda k: random.normal(k, (3,))))(k),
        "split": lambda k: pc.vmap(pc.vmap(lambda k: random.split(k, 3)))(k),
        "fold": lambda k: pc.vmap(pc.vmap(random.fold_in))(k, pnp.arange(16).reshape(8, 2)),
        "reshape": lambda k: k.reshape(4, 4).T,
        "index": lambda k: k[pnp.asarray([3, 1, 7]), 1],
        "slice": lambda k: k[2:5, ::-1],
        "joined": lambda k: pnp.concatenate([k, k[:2]]),
        "stack": lambda k: pnp.stack([k, k]),
        "same": lambda k: k,
        "scan": lambda k: lax.scan(lambda c, k: (c, (k, random.bits(k[0]))), 0, k)[1],
        "branch": lambda k: lax.cond(random.bits(k[0, 0]) % 2 == 0, lambda k: k, lambda k: k[::-1], k),
        "constant": lambda k: (KEYS, random.key(1), random.bits(k[0, 0])),
        "constraint": lambda k: lax.with_sharding_constraint(k, NamedSharding(MESH, P("y"))),
    }
    for name, function in functions.items():
        wanted = function(KEYS)
        found = (pc.jit(function) if jitted else function)(put(spec))
        for a, b in zip(pc.tree.leaves(found), pc.tree.leaves(wanted), strict=True):
            assert a.dtype == b.dtype
            a, b = (words(x) if x.dtype == random.key_dtype() else np.asarray(x) for x in (a, b))
            np.testing.assert_allclose(a, b, rtol=1e-5 if a.dtype == np.float32 else 0, err_msg=name)


def test_shardings_of_jit():
    rows = NamedSharding(MESH, P("x"))
    f = pc.jit(lambda k: random.split(k, 4), in_shardings=NamedSharding(MESH, P()), out_shardings=rows)
    found = f(random.key(1))
    assert found.sharding == rows
    np.testing.assert_array_equal(words(found), words(random.split(random.key(1), 4)))
    g = pc.jit(lambda k: pc.vmap(random.normal)(k), in_shardings=rows)
    np.testing.assert_array_equal(g(KEYS[:, 0]), pc.vmap(random.normal)(KEYS[:, 0]))


def test_pmap_of_keys():
    keys = random.split(random.key(0), 8)

    def f(key, x):
        first, second = random.split(key)
        return random.normal(first, (2,)) + x, second, lax.all_gather(second, "i"), random.fold_in(key, 3)

    found = pc.pmap(f, axis_name="i", in_axes=(0, None))(keys, pnp.float32(2))
    wanted = pc.vmap(f, axis_name="i", in_axes=(0, None))(keys, pnp.float32(2))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-5)
    for a, b in zip(found[1:], wanted[1:], strict=True):
        np.testing.assert_array_equal(words(a), words(b))
    one = pc.pmap(lambda key, i: random.bits(random.fold_in(key, i)), in_axes=(None, 0))(random.key(7), np.arange(8))
    np.testing.assert_array_equal(one, [random.bits(random.fold_in(random.key(7), i)) for i in range(8)])


@pytest.mark.parametrize("check_vma", [True, False])
def test_shard_map_of_keys(check_vma):
    def f(keys, key):
        mine = random.fold_in(key, lax.axis_index("x"))
        return pc.vmap(random.bits)(keys[:, 0]), keys, mine[None], key

    mapped = pc.shard_map(
        f, mesh=MESH, in_specs=(P("x"), P()), out_specs=(P("x"), P("x"), P("x"), P()), check_vma=check_vma
    )
    for transform in (lambda f: f, pc.jit):
        bits, keys, mine, key = transform(mapped)(KEYS, random.key(2))
        np.testing.assert_array_equal(bits, pc.vmap(random.bits)(KEYS[:, 0]))
        np.testing.assert_array_equal(words(keys), WORDS)
        np.testing.assert_array_equal(words(mine), [words(random.fold_in(random.key(2), i)) for i in range(4)])
        np.testing.assert_array_equal(words(key), [0, 2])


def test_arrays_of_keys_are_made_of_parts():
    sharding = NamedSharding(MESH, P("x"))
    made = pc.make_array_from_callback((8, 2), sharding, lambda index: KEYS[index])
    np.testing.assert_array_equal(words(made), WORDS)
    parts = [shard.data for shard in made.addressable_shards]
    again = pc.make_array_from_single_device_arrays((8, 2), sharding, parts)
    np.testing.assert_array_equal(words(again), WORDS)


def test_a_derivative_with_keys():
    def loss(w, keys):
        return pc.vmap(lambda k: (random.normal(k, (2,)) * w).sum())(keys).sum()

    w = pnp.arange(2.0)
    wanted = pc.grad(loss)(w, KEYS[:, 0])
    np.testing.assert_allclose(pc.jit(pc.grad(loss))(w, put(P("x"))[:, 0]), wanted, rtol=1e-5)
