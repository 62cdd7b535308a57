"""Four processes of one device each: what they know of the others, their arrays, and whole programs."""

import pickle
import time

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.experimental import multihost_utils
from pycompiler.sharding import AxisType, Mesh, NamedSharding
from pycompiler.sharding import PartitionSpec as P

PROCESSES = 4


def mesh_of_all():
    return pc.make_mesh((4,), ("x",))


def mesh_of_pairs():
    return pc.make_mesh((2, 2), ("a", "b"))


def on(mesh, spec, values):
    return pc.device_put(values, NamedSharding(mesh, spec))


def whole(x):
    return multihost_utils.process_allgather(x, tiled=True)


# What is true


def test_devices_have_global_ids_and_tell_their_process():
    own = pc.process_index()
    assert pc.process_count() == 4
    assert [device.id for device in pc.devices()] == [0, 1, 2, 3]
    assert [device.process_index for device in pc.devices()] == [0, 1, 2, 3]
    assert pc.local_devices() == [pc.devices()[own]]
    assert pc.local_devices(process_index=2) == [pc.devices()[2]]
    assert (pc.device_count(), pc.local_device_count()) == (4, 1)
    assert pc.devices()[own].local_hardware_id == 0
    assert pc.process_indices() == [0, 1, 2, 3]
    assert repr(pc.devices()[3]) == "CpuDevice(id=3)"
    assert all(isinstance(device, pc.Device) for device in pc.devices())


def test_meshes_know_what_is_here():
    own = pc.process_index()
    mesh = mesh_of_pairs()
    assert mesh.is_multi_process
    assert mesh.local_devices == [pc.devices()[own]]
    assert mesh.local_mesh.shape == {"a": 1, "b": 1}
    assert mesh.local_mesh.local_devices == mesh.local_devices
    alone = Mesh(pc.local_devices(), ("x",))
    assert not alone.is_multi_process
    assert alone.local_mesh is alone
    assert mesh == mesh_of_pairs()


def test_shardings_know_what_is_here():
    own = pc.process_index()
    sharding = NamedSharding(mesh_of_all(), P("x"))
    assert not sharding.is_fully_addressable
    assert sharding.has_addressable_devices
    assert sharding.addressable_devices == {pc.devices()[own]}
    assert sharding.num_devices == 4
    assert sharding.addressable_devices_indices_map((8,)) == {pc.devices()[own]: (slice(2 * own, 2 * own + 2),)}
    assert len(sharding.devices_indices_map((8,))) == 4


def test_work_on_local_devices_needs_nobody():
    own = pc.process_index()
    x = pnp.arange(5.0) + own
    assert float(pc.jit(lambda x: x.sum())(x)) == 10 + 5 * own
    assert x.is_fully_addressable


def test_a_device_of_another_process_is_refused():
    other = pc.devices()[(pc.process_index() + 1) % 4]
    with pytest.raises(ValueError, match="belongs to another process"):
        pc.device_put(np.ones(3), other)


# Arrays


def test_parts_of_an_array():
    own = pc.process_index()
    x = on(mesh_of_all(), P("x"), np.arange(8, dtype=np.int32))
    assert x.shape == (8,)
    assert not x.is_fully_addressable
    [shard] = x.addressable_shards
    assert shard.device == pc.devices()[own]
    assert shard.index == (slice(2 * own, 2 * own + 2),)
    np.testing.assert_array_equal(shard.data, [2 * own, 2 * own + 1])
    np.testing.assert_array_equal(x.addressable_data(0), shard.data)
    assert [part.data is None for part in x.global_shards] == [number != own for number in range(4)]
    with pytest.raises(IndexError, match="addressable_data: part 1 of 1, which the devices of this process have"):
        x.addressable_data(1)


def test_reading_what_is_elsewhere_names_the_others_and_the_way():
    x = on(mesh_of_all(), P("x"), np.arange(8.0, dtype=np.float32))
    others = ", ".join(str(number) for number in range(4) if number != pc.process_index())
    for read in (np.asarray, lambda x: x.tolist(), pickle.dumps):
        with pytest.raises(RuntimeError, match=rf"processes {others} have the rest.*process_allgather") as caught:
            read(x)
        assert "has only 1 of the 4 parts" in str(caught.value)
    assert repr(x) == "Array(shape=(8,), dtype=float32)"
    assert str(x) == repr(x)


def test_replicated_arrays_are_read_here():
    x = on(mesh_of_all(), P(), np.arange(3.0, dtype=np.float32))
    np.testing.assert_array_equal(x, [0, 1, 2])
    assert repr(x) == "Array([0., 1., 2.], dtype=float32)"
    assert float(pc.jit(lambda x: x.sum())(x)) == 3


def test_device_put_compares_the_values():
    sharding = NamedSharding(mesh_of_all(), P())
    with pytest.raises(ValueError, match="all processes must put the same value"):
        pc.device_put(np.float32(pc.process_index() == 2), sharding)
    assert float(pc.device_put(np.float32(3), sharding)) == 3


def test_process_local_data():
    own = pc.process_index()
    sharding = NamedSharding(mesh_of_all(), P("x"))
    x = pc.make_array_from_process_local_data(sharding, np.full((2, 3), own, np.int32))
    assert x.shape == (8, 3)
    np.testing.assert_array_equal(whole(x)[:, 0], [0, 0, 1, 1, 2, 2, 3, 3])
    same = pc.make_array_from_process_local_data(sharding, np.arange(8), (8,))
    np.testing.assert_array_equal(whole(same), np.arange(8))
    with pytest.raises(ValueError, match="global_shape"):
        pc.make_array_from_process_local_data(sharding, np.arange(2), (9,))
    halves = pc.make_array_from_process_local_data(NamedSharding(mesh_of_pairs(), P("a")), np.array([own // 2]))
    np.testing.assert_array_equal(whole(halves), [0, 1])


def test_arrays_from_callbacks_and_parts():
    own = pc.process_index()
    sharding = NamedSharding(mesh_of_all(), P("x"))
    asked = []

    def data(index):
        asked.append(index)
        return np.arange(8.0, dtype=np.float32)[index]

    x = pc.make_array_from_callback((8,), sharding, data)
    assert asked == [(slice(2 * own, 2 * own + 2),)]
    np.testing.assert_array_equal(whole(x), np.arange(8.0))
    y = pc.make_array_from_single_device_arrays((8,), sharding, [x.addressable_data(0)])
    np.testing.assert_array_equal(whole(y), np.arange(8.0))
    with pytest.raises(ValueError, match=f"1 devices in process {own}, got 2 arrays"):
        pc.make_array_from_single_device_arrays((8,), sharding, [x.addressable_data(0)] * 2)


# Programs


def test_jit_divides_the_work():
    mesh = pc.make_mesh((4,), ("x",), (AxisType.Auto,))
    a, b = np.random.default_rng(0).normal(size=(2, 8, 8)).astype(np.float32)
    f = pc.jit(lambda a, b: pnp.tanh(a @ b) + a.sum(0))
    out = f(on(mesh, P("x"), a), on(mesh, P(None, "x"), b))
    np.testing.assert_allclose(whole(out), np.tanh(a @ b) + a.sum(0), rtol=1e-5)
    # Values of the host are the same everywhere.
    np.testing.assert_allclose(whole(f(on(mesh, P("x"), a), b)), np.tanh(a @ b) + a.sum(0), rtol=1e-5)


def test_eager_operations():
    x = on(mesh_of_all(), P("x"), np.arange(8.0, dtype=np.float32))
    y = (x * 2 + 1)[::-1]
    np.testing.assert_array_equal(whole(y), np.arange(8.0)[::-1] * 2 + 1)
    assert float(y.sum()) == 64


def test_collectives_of_shard_map():
    mesh = mesh_of_all()
    x = np.arange(16.0, dtype=np.float32).reshape(16)
    divided = P("x")
    put = on(mesh, divided, x)

    def run(f, out_specs=divided):
        return whole(pc.jit(pc.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=out_specs))(put))

    rows = x.reshape(4, 4)
    np.testing.assert_array_equal(run(lambda x: pc.lax.psum(x, "x"), P()), rows.sum(0))
    np.testing.assert_array_equal(run(lambda x: pc.lax.pmax(x, "x"), P()), rows.max(0))
    np.testing.assert_array_equal(
        run(lambda x: pc.lax.all_gather(x, "x", tiled=True) + 0 * pc.lax.axis_index("x")), np.tile(x, 4)
    )
    np.testing.assert_array_equal(run(lambda x: pc.lax.psum_scatter(x, "x", tiled=True)), rows.sum(0))
    np.testing.assert_array_equal(run(lambda x: pc.lax.all_to_all(x, "x", 0, 0, tiled=True)), rows.T.reshape(-1))
    shifted = run(lambda x: pc.lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)]))
    np.testing.assert_array_equal(shifted, np.roll(rows, 1, 0).reshape(-1))
    groups = run(lambda x: pc.lax.psum(x, "x", axis_index_groups=[[0, 2], [1, 3]]))
    np.testing.assert_array_equal(groups, np.tile(rows.reshape(2, 2, 4).sum(0), (2, 1)).reshape(-1))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8", "bool", "complex64", "uint32"])
def test_sums_of_every_dtype(dtype):
    mesh = mesh_of_all()
    values = np.random.default_rng(1).integers(0, 2, 40).astype(pnp.dtype(dtype))
    x = on(mesh, P("x"), values)
    total = pc.jit(
        pc.shard_map(
            lambda x: pc.lax.all_gather(x, "x", tiled=True), mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False
        )
    )(x)
    np.testing.assert_array_equal(np.asarray(total), values)


@pytest.mark.parametrize("size", [1, 1000, 100_000, 3_000_000])
def test_large_and_small_sums(size):
    mesh = mesh_of_all()
    values = np.random.default_rng(2).normal(size=(4, size)).astype(np.float32)
    x = on(mesh, P("x"), values)
    total = pc.jit(pc.shard_map(lambda x: pc.lax.psum(x[0], "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))(x)
    np.testing.assert_array_equal(np.asarray(total), ((values[0] + values[1]) + values[2]) + values[3])


def test_gradients_and_loops():
    mesh = mesh_of_all()
    rng = np.random.default_rng(3)
    data, target = rng.normal(size=(16, 5)).astype(np.float32), rng.normal(size=16).astype(np.float32)
    w = np.zeros(5, np.float32)

    def loss(w, x, y):
        return pnp.mean((x @ w - y) ** 2)

    @pc.jit
    def train(w, x, y):
        return pc.lax.fori_loop(0, 20, lambda i, w: w - 0.1 * pc.grad(loss)(w, x, y), w)

    out = train(on(mesh, P(), w), on(mesh, P("x"), data), on(mesh, P("x"), target))
    expected = train(w, data, target)
    np.testing.assert_allclose(np.asarray(out), np.asarray(expected), rtol=1e-5, atol=1e-7)


def test_pmap():
    total = pc.pmap(lambda x: pc.lax.psum(x, "i"), axis_name="i")
    own = pc.process_index()
    x = pc.make_array_from_process_local_data(NamedSharding(mesh_of_all(), P("x")), np.full((1, 3), own, np.float32))
    np.testing.assert_array_equal(np.asarray(total(x).addressable_data(0)).reshape(-1), [6, 6, 6])


def test_donation():
    mesh = mesh_of_all()
    x = on(mesh, P("x"), np.arange(8.0, dtype=np.float32))
    y = pc.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(whole(y), np.arange(8.0) + 1)


def test_callbacks_run_in_their_process():
    mesh = mesh_of_all()
    own = pc.process_index()

    def body(x):
        return pc.pure_callback(lambda x: x + np.float32(own), pc.ShapeDtypeStruct(x.shape, x.dtype), x)

    x = on(mesh, P("x"), np.zeros(4, np.float32))
    out = pc.jit(pc.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x")))(x)
    np.testing.assert_array_equal(whole(out), [0, 1, 2, 3])


def test_a_mesh_of_some_processes():
    devices = pc.devices()
    mesh = Mesh(np.array([devices[1], devices[3]], object), ("x",))
    f = pc.jit(pc.shard_map(lambda x: pc.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
    if pc.process_index() in (1, 3):
        x = pc.make_array_from_process_local_data(NamedSharding(mesh, P("x")), np.ones(1, np.float32))
        assert float(f(x)[0]) == 2
    else:
        with pytest.raises(ValueError, match=r"has no devices of process .*\[1, 3\]"):
            f(np.ones(2, np.float32))


def test_arrays_move_within_their_mesh():
    mesh = mesh_of_pairs()
    values = np.arange(16.0, dtype=np.float32).reshape(4, 4)
    x = on(mesh, P("a", "b"), values)
    y = pc.device_put(x, NamedSharding(mesh, P("b", "a")))
    assert y.sharding.spec == P("b", "a")
    np.testing.assert_array_equal(np.asarray(pc.device_put(y, NamedSharding(mesh, P()))), values)


def test_many_launches_without_reads():
    mesh = mesh_of_all()
    f = pc.jit(
        pc.shard_map(
            lambda x: pc.lax.psum(x, "x") / 4 + 1, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False
        )
    )
    x = on(mesh, P("x"), np.zeros(4, np.float32))
    for _ in range(200):
        x = f(x)
    assert float(x.addressable_data(0)[0]) == 200


# Communication by hand


def test_process_allgather():
    own = pc.process_index()
    np.testing.assert_array_equal(multihost_utils.process_allgather(np.float64(own)), [0.0, 1.0, 2.0, 3.0])
    assert multihost_utils.process_allgather(np.float64(own)).dtype == np.float64
    gathered = multihost_utils.process_allgather({"a": np.full((1, 2), own)}, tiled=True)
    np.testing.assert_array_equal(gathered["a"], [[0, 0], [1, 1], [2, 2], [3, 3]])


def test_broadcast_one_to_all():
    own = pc.process_index()
    assert multihost_utils.broadcast_one_to_all(np.int64(own + 10)) == 10
    assert multihost_utils.broadcast_one_to_all(np.int64(own + 10), is_source=own == 2) == 12
    with pytest.raises(ValueError, match=r"in processes \[0, 1, 2, 3\]"):
        multihost_utils.broadcast_one_to_all(np.int64(own), is_source=True)


def test_barriers_wait_and_name_who_is_missing():
    own = pc.process_index()
    time.sleep(0.3 * (own == 1))
    # The clock is the machine's: nobody leaves before the last one, which is process 1, has come.
    came = time.monotonic()
    multihost_utils.sync_global_devices("all")
    left = time.monotonic()
    come, leave = (multihost_utils.process_allgather(np.float64(moment)) for moment in (came, left))
    assert leave.min() >= come.max()
    if own != 3:
        with pytest.raises(RuntimeError, match=r"sync_global_devices: 'some'.*timed out waiting for process 3 \("):
            multihost_utils.sync_global_devices("some", timeout=0.5)
    else:
        time.sleep(1)
    multihost_utils.sync_global_devices("again")


def test_assert_equal():
    own = pc.process_index()
    multihost_utils.assert_equal({"a": np.arange(3)})
    with pytest.raises(AssertionError, match=r"no.*differ from process 0 in processes \[1\]"):
        multihost_utils.assert_equal(np.float32(own == 1), "no")


def test_host_local_arrays():
    own = pc.process_index()
    mesh = mesh_of_all()
    x = multihost_utils.host_local_array_to_global_array(np.full((2, 2), own, np.float32), mesh, P("x"))
    assert x.shape == (8, 2)
    local = multihost_utils.global_array_to_host_local_array(x, mesh, P("x"))
    assert local.is_fully_addressable
    np.testing.assert_array_equal(local, np.full((2, 2), own))


def test_preemption_is_known_to_all():
    assert not multihost_utils.reached_preemption_sync_point(0)


# The start


def test_a_second_equal_start_does_nothing():
    assert pc.distributed.is_initialized()
    pc.distributed.initialize()
    with pytest.raises(RuntimeError, match="was called before"):
        pc.distributed.initialize(num_processes=7)


# Programs that differ


def test_a_launch_that_fails_alone_fails_everywhere_and_the_next_works():
    mesh = mesh_of_all()
    own = pc.process_index()

    def body(x):
        def host(x):
            if own == 2:
                raise KeyError("no such row")
            return x

        y = pc.pure_callback(host, pc.ShapeDtypeStruct(x.shape, x.dtype), x)
        return pc.lax.psum(y, "x")

    x = on(mesh, P("x"), np.ones(4, np.float32))
    out = pc.jit(pc.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P()))(x)
    if own == 2:
        with pytest.raises(KeyError, match="no such row"):
            np.asarray(out)
    else:
        with pytest.raises(pc.errors.DistributedError, match=r"KeyError.*no such row") as caught:
            np.asarray(out)
        assert caught.value.process == 2
        assert caught.value.pid > 0
    ok = pc.jit(pc.shard_map(lambda x: pc.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))(x)
    assert float(ok[0]) == 4


def test_different_programs_are_told_apart():
    mesh = mesh_of_all()
    x = on(mesh, P("x"), np.ones(4, np.float32))

    def train_step(x):
        return pc.lax.psum(x, "x")

    def evaluate(x):
        return pc.lax.pmax(x, "x")

    f = train_step if pc.process_index() != 2 else evaluate
    out = pc.jit(pc.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P()))(x)
    with pytest.raises(RuntimeError, match=r"launch \d+: process \d runs .*test_processes.py:\d+.*process \d runs"):
        np.asarray(out)
    multihost_utils.sync_global_devices("both failed", timeout=30)
    ok = pc.jit(pc.shard_map(train_step, mesh=mesh, in_specs=P("x"), out_specs=P()))(x)
    assert float(ok[0]) == 4


def test_a_block_of_live_devices_succeeds_or_fails_everywhere():
    own = pc.process_index()
    with multihost_utils.live_devices(pc.devices()[::-1]) as live:
        assert live == pc.devices()
        assert float(np.asarray(whole(on(mesh_of_all(), P("x"), np.ones(4)))).sum()) == 4
    if own == 2:
        with pytest.raises(KeyError, match="lost"), multihost_utils.live_devices(pc.devices()):
            raise KeyError("lost")
    else:
        with (
            pytest.raises(RuntimeError, match="failed in another process: process 2: KeyError: 'lost'"),
            multihost_utils.live_devices(pc.devices()),
        ):
            pass
    some = pc.devices()[:2]
    if own < 2:
        with multihost_utils.live_devices(some) as live:
            assert live == some
    else:
        with pytest.raises(ValueError, match="has none of the devices"), multihost_utils.live_devices(some):
            pass
