"""Launches over processes start in one order, and one that fails alone leaves the next ones as they are."""

import time

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.experimental import multihost_utils
from pycompiler.sharding import Mesh, NamedSharding
from pycompiler.sharding import PartitionSpec as P

PROCESSES = 4
# What starts the processes makes no difference here.
KINDS = ("pmi",)


def mesh_of(*numbers):
    return Mesh(np.array([pc.devices()[number] for number in numbers], object), ("x",))


def summed(mesh):
    return pc.jit(pc.shard_map(lambda x: pc.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))


def own_part(mesh, value):
    return pc.make_array_from_process_local_data(NamedSharding(mesh, P("x")), np.full(1, value, np.float32))


@pytest.mark.parametrize("seed", [0, 1])
def test_overlapping_meshes_with_random_delays(seed):
    own = pc.process_index()
    groups = [(0, 1, 2, 3), (0, 1), (1, 2), (2, 3), (0, 3), (0, 1, 2), (1, 2, 3), (3, 1)]
    meshes = [mesh_of(*group) for group in groups]
    programs = [summed(mesh) for mesh in meshes]
    # The same order of launches everywhere, and other delays everywhere.
    shared, delays = np.random.default_rng(seed), np.random.default_rng(1000 * seed + own)
    results = []
    for launch in range(60):
        which = int(shared.integers(len(groups)))
        if own not in groups[which]:
            continue
        time.sleep(float(delays.exponential(0.003)))
        x = own_part(meshes[which], own + launch)
        results.append((programs[which](x), sum(groups[which]) + launch * len(groups[which])))
        if delays.integers(6) == 0:
            result, expected = results.pop(int(delays.integers(len(results))))
            assert float(np.asarray(result)[0]) == expected
    # Read in another order in each process.
    for place in delays.permutation(len(results)):
        result, expected = results[place]
        assert float(np.asarray(result)[0]) == expected


def test_slow_callbacks_of_overlapping_meshes():
    own = pc.process_index()
    delays = np.random.default_rng(own)

    def host(x):
        time.sleep(float(delays.uniform(0, 0.01)))
        return x

    def ring_of(mesh):
        def each(x):
            return pc.lax.psum(pc.pure_callback(host, pc.ShapeDtypeStruct(x.shape, x.dtype), x), "x")

        return pc.jit(pc.shard_map(each, mesh=mesh, in_specs=P("x"), out_specs=P()))

    pairs = [tuple(sorted((number, (number + 1) % 4))) for number in range(4)]
    rings = {pair: (mesh_of(*pair), ring_of(mesh_of(*pair))) for pair in pairs}
    results = []
    for _ in range(8):
        for pair in pairs:
            if own in pair:
                mesh, ring = rings[pair]
                results.append((ring(own_part(mesh, 1)), pair))
    for result, _ in reversed(results):
        assert float(np.asarray(result)[0]) == 2


def test_programs_that_differ_are_named_on_both_sides_with_number_name_and_line():
    mesh = mesh_of(0, 1, 2, 3)
    own = pc.process_index()
    x = own_part(mesh, 1)

    @pc.jit
    def train_step(x):
        return (x * 2).sum()

    @pc.jit
    def evaluate(x):
        return (x * 3).max()

    out = (evaluate if own == 2 else train_step)(x)
    said = (
        r"launch \d+: process \d runs `(train_step|evaluate)` \(\S*test_order.py:\d+\), process \d runs "
        r"`(train_step|evaluate)` \(\S*test_order.py:\d+\)\. All processes must make the same calls"
    )
    with pytest.raises(RuntimeError, match=said) as caught:
        np.asarray(out)
    assert "`train_step`" in str(caught.value)
    assert "`evaluate`" in str(caught.value)
    multihost_utils.sync_global_devices("both failed", timeout=30)
    assert float(train_step(x)) == 8


def test_shapes_that_differ_are_told_apart():
    mesh = mesh_of(0, 1, 2, 3)
    own = pc.process_index()
    length = 2 if own == 1 else 1
    x = pc.make_array_from_process_local_data(NamedSharding(mesh, P("x")), np.ones(length, np.float32), (4 * length,))
    with pytest.raises(RuntimeError, match=r"launch \d+: process \d runs .*, process \d runs "):
        np.asarray(summed(mesh)(x))
    multihost_utils.sync_global_devices("all failed", timeout=30)
    assert float(np.asarray(summed(mesh)(own_part(mesh, 1)))[0]) == 4


def test_many_launches_that_fail_alone_leave_no_trace():
    mesh = mesh_of(0, 1, 2, 3)
    own = pc.process_index()
    shared = np.random.default_rng(5)
    who_fails = -1

    def host(x):
        if own == who_fails:
            raise MemoryError("no room for a row")
        return x

    @pc.jit
    @pc.shard_map(mesh=mesh, in_specs=P("x"), out_specs=P())
    def step(x):
        return pc.lax.psum(pc.pure_callback(host, pc.ShapeDtypeStruct(x.shape, x.dtype), x), "x")

    for turn in range(20):
        who_fails = int(shared.integers(-1, 4))
        out = step(own_part(mesh, turn))
        if who_fails < 0:
            assert float(np.asarray(out)[0]) == 4 * turn
            continue
        kind = MemoryError if own == who_fails else pc.errors.DistributedError
        with pytest.raises(kind, match="no room for a row"):
            np.asarray(out)


@pytest.mark.parametrize("what", ["results", "temporaries"])
def test_a_process_without_memory_fails_this_launch_everywhere(what):
    mesh = mesh_of(0, 1, 2, 3)
    own = pc.process_index()

    @pc.jit
    @pc.shard_map(mesh=mesh, in_specs=P("x"), out_specs=P())
    def fill(x):
        large = pc.lax.psum(pnp.broadcast_to(x, (1 << 22,)), "x")
        return large if what == "results" else pnp.sort(large)[:1]

    small = summed(mesh)
    x = own_part(mesh, 1)
    assert float(fill(x)[0]) == 4
    assert float(small(x)[0]) == 4
    if own == 3:
        pc.config.update("memory_limit", 8 << 20)
    try:
        kind = MemoryError if own == 3 else pc.errors.DistributedError
        with pytest.raises(kind, match="memory") as caught:
            np.asarray(fill(x))
    finally:
        pc.config.update("memory_limit", 0)
    if own != 3:
        assert caught.value.process == 3
    assert float(small(x)[0]) == 4
    assert float(fill(x)[0]) == 4
