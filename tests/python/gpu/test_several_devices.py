"""Programs over a mesh of several GPUs: collectives, transfers, sharded arrays, loops, failures, and `pmap`."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax
from pycompiler.sharding import AxisType, NamedSharding
from pycompiler.sharding import PartitionSpec as P

GPU = True
GPU_DEVICES = 4

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 8, 6)).astype(np.float32)


def gpus(count=GPU_DEVICES):
    found = pc.devices("gpu")
    if len(found) < count:
        pytest.skip(f"needs {count} GPUs, there are {len(found)}")
    return found[:count]


def line(count=GPU_DEVICES):
    return pc.make_mesh((count,), ("i",), (AxisType.Auto,), devices=gpus(count))


def square():
    return pc.make_mesh((2, 2), ("x", "y"), (AxisType.Auto,) * 2, devices=gpus())


def over(function, *args, count=GPU_DEVICES):
    """The function on the devices, which each have a row of each argument, and by JAX's vmap."""
    mapped = pc.pmap(lambda *rows: function(lax, *rows), axis_name="i", devices=gpus(count))
    want = jax.vmap(lambda *rows: function(jax.lax, *rows), axis_name="i")
    return mapped(*args), want(*args)


def same(found, want, rtol=1e-5):
    for mine, other in zip(pc.tree.leaves(found), jax.tree.leaves(want), strict=True):
        assert (mine.shape, str(mine.dtype)) == (other.shape, str(other.dtype))
        np.testing.assert_allclose(
            np.asarray(mine).astype(other.dtype), np.asarray(other), rtol=rtol, atol=rtol, equal_nan=True
        )


# Collectives.

RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
COLLECTIVES = {
    "psum": lambda c, x: c.psum(x, "i"),
    "pmean": lambda c, x: c.pmean(x, "i"),
    "pmax": lambda c, x: c.pmax(x, "i"),
    "pmin": lambda c, x: c.pmin(x, "i"),
    "gather": lambda c, x: c.all_gather(x, "i"),
    "gather inside": lambda c, x: c.all_gather(x, "i", axis=1),
    "gather tiled": lambda c, x: c.all_gather(x, "i", axis=1, tiled=True),
    "scatter": lambda c, x: c.psum_scatter(x, "i", tiled=True),
    "scatter inside": lambda c, x: c.psum_scatter(x.T, "i", scatter_dimension=1, tiled=True),
    "exchange": lambda c, x: c.all_to_all(x, "i", 0, 0, tiled=True),
    "exchange across": lambda c, x: c.all_to_all(x, "i", 0, 1, tiled=True),
    "exchange back": lambda c, x: c.all_to_all(x.T, "i", 1, 0, tiled=True),
    "ring": lambda c, x: c.ppermute(x, "i", RING),
    "index": lambda c, x: x + c.axis_index("i"),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_collective_is_that_of_vmap(name):
    same(*over(COLLECTIVES[name], X))


def test_who_receives_nothing_has_zeros():
    found = pc.pmap(lambda x: lax.ppermute(x, "i", [(2, 0), (0, 3)]), axis_name="i", devices=gpus())(X)
    np.testing.assert_array_equal(np.asarray(found), [X[2], 0 * X[1], 0 * X[2], X[0]])


DTYPES = ["bfloat16", "float16", "int8", "uint32", "int32", "complex64", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_moved_and_combined(dtype):
    values = (X * 3).astype(jnp.dtype(dtype))

    def function(c, x):
        moved = c.all_gather(x, "i", axis=1), c.ppermute(x, "i", RING), c.all_to_all(x, "i", 0, 1, tiled=True)
        sums = () if dtype == "bool" else (c.psum(x, "i"), c.psum_scatter(x, "i", tiled=True))
        ordered = () if dtype == "complex64" else (c.pmax(x, "i"), c.pmin(x, "i"))
        return *moved, *sums, *ordered

    same(*over(function, values), rtol=1e-2 if dtype in ("bfloat16", "float16") else 1e-5)


def test_a_nan_is_everyones():
    values = X.copy()
    values[2, 3, 4] = np.nan
    same(*over(lambda c, x: (c.pmax(x, "i"), c.pmin(x, "i"), c.psum(x, "i")), values))


# Arrays of 128 KiB and more are summed in pieces.
@pytest.mark.parametrize("size", [0, 1, 1000, 40000, 40001])
def test_sums_of_any_size_are_the_same_bits_for_all(size):
    values = RNG.normal(size=(4, size)).astype(np.float32)
    total, want = over(lambda c, x: c.psum(x, "i"), values)
    same(total, want)
    rows = [np.asarray(shard.data) for shard in total.addressable_shards]
    assert all(row.tobytes() == rows[0].tobytes() for row in rows)
    again, _ = over(lambda c, x: c.psum(x, "i"), values)
    assert np.asarray(again).tobytes() == np.asarray(total).tobytes()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_fewer_devices(count):
    def function(c, x):
        return c.psum(x, "i"), c.all_gather(x, "i", axis=1), c.all_to_all(x[:count], "i", 0, 1)

    same(*over(function, X[:count], count=count))


def test_groups_of_a_mesh():
    def function(c, x):
        return c.psum(x, "x") - c.pmax(x, "y"), c.all_gather(c.psum(x, "y"), "x", tiled=True)

    mesh, values = square(), X[0]
    ours = pc.shard_map(
        lambda x: function(lax, x), mesh=mesh, in_specs=P("x", "y"), out_specs=(P("x", "y"), P()), check_vma=False
    )(values)
    blocks = values.reshape(2, 4, 2, 3).transpose(0, 2, 1, 3)
    first, second = jax.vmap(jax.vmap(lambda x: function(jax.lax, x), axis_name="y"), axis_name="x")(blocks)
    same(ours, (np.asarray(first).transpose(0, 2, 1, 3).reshape(8, 6), second[0, 0]))


def test_collectives_in_loops_and_branches():
    def function(c, x):
        cond = jax.lax.cond if c is jax.lax else pc.lax.cond
        loop = jax.lax.while_loop if c is jax.lax else pc.lax.while_loop
        scan = jax.lax.scan if c is jax.lax else pc.lax.scan
        total, steps = scan(lambda s, r: (s + c.psum(r, "i"), s * r), x[0] * 0, x)
        # The number of iterations depends on values of all devices.
        ended = loop(lambda s: c.psum(s[0, 0] ** 2, "i") > 0.01, lambda s: s / 2, x)
        halved = cond(c.psum(x[0, 0], "i") > 0, lambda y: c.ppermute(y, "i", RING), lambda y: c.pmax(y, "i"), x)
        return total, steps, ended, halved

    same(*over(function, X))


# Arrays on several devices.


def test_transfers_between_devices():
    devices = gpus()
    x = pc.device_put(X, devices[0])
    for device in (devices[1], devices[3], devices[0]):
        x = pc.device_put(x * 2, device)
        assert x.device == device
        assert x.committed
    np.testing.assert_array_equal(np.asarray(x), X * 8)
    with pytest.raises(ValueError, match=r"CudaDevice\(id=1\).*CudaDevice\(id=2\)|cuda:1.*cuda:2"):
        pc.device_put(X, devices[1]) + pc.device_put(X, devices[2])


def test_sharded_arrays_are_read_by_parts_and_as_one():
    mesh = square()
    x = pc.device_put(X[0], NamedSharding(mesh, P("x", "y")))
    np.testing.assert_array_equal(np.asarray(x), X[0])
    for shard in x.addressable_shards:
        assert shard.data.device == shard.device
        np.testing.assert_array_equal(np.asarray(shard.data), X[0][shard.index])
    assert {shard.device for shard in x.addressable_shards} == set(gpus())
    turned = pc.device_put(x, NamedSharding(mesh, P(None, "x")))
    np.testing.assert_array_equal(np.asarray(turned), X[0])
    assert turned.addressable_shards[0].data.shape == (8, 3)
    y = pc.jit(lambda a: pnp.tanh(a) @ a.T)(x)
    np.testing.assert_allclose(np.asarray(y), np.tanh(X[0]) @ X[0].T, rtol=1e-5)
    assert len(y.addressable_shards) == 4


@pytest.mark.parametrize("spec", [P(), P("x"), P(("y", "x")), P(None, "y"), P("x", "y")])
def test_an_array_of_one_device_is_spread_over_others(spec):
    mesh = square()
    x = pc.device_put(X[0], gpus()[1]) * 2
    spread = pc.device_put(x, NamedSharding(mesh, spec))
    for shard in spread.addressable_shards:
        assert shard.data.device == shard.device
        np.testing.assert_array_equal(np.asarray(shard.data), 2 * X[0][shard.index])
    spread.delete()
    np.testing.assert_array_equal(np.asarray(x), 2 * X[0])


def test_a_donated_array_is_given_up():
    x = pc.device_put(X[0], NamedSharding(line(), P("i")))
    y = pc.jit(lambda a: a + 1, donate_argnums=0)(x)
    np.testing.assert_array_equal(np.asarray(y), X[0] + 1)
    with pytest.raises(RuntimeError, match=r"deleted|donated"):
        np.asarray(x)


def test_constants_are_on_every_device():
    table = pnp.asarray(X[0])
    found = pc.pmap(lambda i: lax.psum(table[i], "i") + pnp.arange(6), axis_name="i", devices=gpus())(
        np.arange(4, dtype=np.int32)
    )
    np.testing.assert_allclose(np.asarray(found)[2], X[0][:4].sum(0) + np.arange(6), rtol=1e-5)


def test_the_default_mesh_is_of_the_default_platform():
    gpus()
    assert all(device.platform == "gpu" for device in pc.make_mesh((2,), ("i",)).device_list)
    found = pc.pmap(lambda x: x * 2)(X[:2])
    assert {shard.device.platform for shard in found.addressable_shards} == {"gpu"}


# Programs.


def test_a_step_of_training_is_that_of_one_device():
    rng = np.random.default_rng(1)
    w, x, y = (rng.normal(size=size).astype(np.float32) for size in ((6, 3), (16, 6), (16, 3)))

    def loss(w, x, y):
        return ((pnp.tanh(x @ w) - y) ** 2).mean()

    def step(w, x, y):
        return w - 0.1 * lax.pmean(pc.grad(loss)(w, x, y), "i")

    spread = pc.jit(pc.shard_map(step, mesh=line(), in_specs=(P(), P("i"), P("i")), out_specs=P(), check_vma=False))
    alone = pc.jit(lambda w: w - 0.1 * pc.grad(loss)(w, x, y))
    ours, want = w, w
    for _ in range(5):
        ours, want = spread(ours, x, y), alone(want)
    np.testing.assert_allclose(np.asarray(ours), np.asarray(want), rtol=1e-4, atol=1e-6)


def test_many_runs_at_once():
    mesh = line()
    rows = pc.jit(
        pc.shard_map(lambda a: lax.psum(a, "i") / 4, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False)
    )
    failures = []

    def work(number):
        x = pc.device_put(np.full((4, 8), number, np.float32), NamedSharding(mesh, P("i")))
        for _ in range(10):
            x = rows(x)
        if not (np.asarray(x) == number).all():
            failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# pmap as the documentation has it.


def test_pmap_as_documented():
    devices = gpus()
    x, w = np.arange(5.0, dtype=np.float32), np.array([2.0, 3.0, 4.0], np.float32)

    def convolve(x, w):
        return pnp.array([pnp.dot(x[i - 1 : i + 2], w) for i in range(1, len(x) - 1)])

    xs = np.stack([x + 5 * i for i in range(4)])
    ws = np.stack([w] * 4)
    found = pc.pmap(convolve, devices=devices)(xs, ws)
    want = [[11, 20, 29], [56, 65, 74], [101, 110, 119], [146, 155, 164]]
    np.testing.assert_allclose(np.asarray(found), want)
    assert [shard.device for shard in found.addressable_shards] == devices

    def normalized(x, w):
        output = convolve(x, w)
        return output / lax.psum(output, axis_name="p")

    divided = pc.pmap(normalized, axis_name="p", devices=devices)(xs, ws)
    np.testing.assert_allclose(np.asarray(divided).sum(0), np.ones(3), rtol=1e-6)
    again = pc.pmap(convolve, in_axes=(0, None), devices=devices)(xs, w)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(found))
    power = pc.pmap(lambda x, n: x**n, static_broadcasted_argnums=1, devices=devices)(xs, 2)
    np.testing.assert_allclose(np.asarray(power), xs**2)


# Errors.


def test_devices_of_several_kinds_are_refused():
    mesh = pc.make_mesh((2,), ("i",), (AxisType.Auto,), devices=[*gpus(1), *pc.devices("cpu")[:1]])
    with pytest.raises(ValueError, match=r"the devices of a mesh run the same code, but .*make_mesh"):
        pc.shard_map(lambda x: x * 2, mesh=mesh, in_specs=P("i"), out_specs=P("i"))(X[0])


def test_too_few_devices_say_what_to_do():
    with pytest.raises(ValueError, match=r"make it of devices\('cpu'\)"):
        pc.make_mesh((1000,), ("i",), devices=gpus(1))


def test_the_failure_of_one_is_everyones():
    def check(row):
        if row[0] == 2:
            raise KeyError("no such row")
        return row

    def function(x):
        return lax.psum(pc.pure_callback(check, pc.ShapeDtypeStruct(x.shape, x.dtype), x), "i")

    out = pc.pmap(function, axis_name="i", devices=gpus())(np.arange(4, dtype=np.float32).reshape(4, 1))
    for shard in out.addressable_shards:
        with pytest.raises(KeyError, match="no such row"):
            np.asarray(shard.data)
    good = pc.pmap(function, axis_name="i", devices=gpus())(np.full((4, 1), 5, np.float32))
    np.testing.assert_array_equal(np.asarray(good), np.full((4, 1), 20))
