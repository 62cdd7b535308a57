"""Documented behaviour of devices: the places of arrays, of computations, and of created arrays."""

import os
import subprocess
import sys

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as rt

DEVICES = 4


def place(x):
    return x.device.id, x.committed


def test_arrays_are_uncommitted_on_the_first_device():
    assert [device.id for device in pc.devices()] == [0, 1, 2, 3]
    assert place(pnp.ones(3)) == (0, False)
    assert place(pnp.ones(3) + pnp.arange(3)) == (0, False)
    assert place(pc.jit(lambda: pnp.zeros(3))()) == (0, False)


def test_device_put_commits_and_computation_follows():
    x, a = pnp.arange(3.0), pc.device_put(pnp.ones(3), pc.devices()[1])
    assert place(a) == (1, True)
    for out in (x + a, a + x, a * 2, a[0], pnp.where(a > 0, x, 0.0), a + np.ones(3, np.float32), a @ x):
        assert place(out) == (1, True)
    assert place(pc.jit(lambda p, q: p + q["w"])(x, {"w": a})) == (1, True)
    assert place(x) == (0, False)
    np.testing.assert_array_equal(np.asarray(x + a), [1, 2, 3])


def test_what_a_function_returns_as_it_got_it_is_there_too():
    x, a = pnp.arange(3.0), pc.device_put(pnp.ones(3), pc.devices()[1])
    assert [place(out) for out in pc.jit(lambda p, q: (p, q, p + 1))(a, x)] == [(1, True)] * 3
    kept = pnp.arange(4.0)
    inside, constant = pc.jit(lambda p: (p + kept[0], kept))(a)
    assert (place(inside), place(constant)) == ((1, True), (1, True))
    assert place(kept) == (0, False)
    np.testing.assert_array_equal(np.asarray(constant), np.arange(4.0))


def test_closed_over_arrays_do_not_decide_the_devices():
    devices = pc.devices()
    a = pc.device_put(pnp.arange(4.0), devices[1])
    assert place(pc.jit(lambda y: y + a)(1.0)) == (0, False)
    assert place(pc.jit(lambda y: y + a)(pc.device_put(pnp.ones(4), devices[2]))) == (2, True)
    first, second = (pc.make_mesh((2,), ("i",), devices=some) for some in (devices[:2], devices[2:]))
    x, other = (pc.device_put(pnp.arange(4.0), pc.NamedSharding(mesh, pc.P("i"))) for mesh in (first, second))
    call = pc.jit(lambda y: y + a)
    loop = pc.jit(lambda y: pc.lax.fori_loop(0, 2, lambda _, c: c + other / 2, y))
    mapped = pc.jit(pc.shard_map(lambda y: y + a[y.astype(int)], mesh=first, in_specs=pc.P("i"), out_specs=pc.P("i")))
    for function in (call, loop, mapped, call.lower(x).compile(), loop.lower(x).compile()):
        for _ in range(2):
            out = function(x)
            assert out.sharding == x.sharding
            np.testing.assert_array_equal(out, np.arange(4.0) * 2)
    with pytest.raises(ValueError, match="is committed to"):
        pc.jit(lambda y, a: y + a)(x, a)
    with pytest.raises(ValueError, match="on different devices"):
        pc.jit(lambda y, a: y + a)(x, other)


@pytest.mark.parametrize(
    ("call", "first", "second"),
    [
        (lambda a, b: a + b, "'x'", "'y'"),
        (lambda a, b: pc.jit(lambda p, q: p["w"] + q)({"w": a}, b), "'p['w']'", "'q'"),
        (lambda a, b: pc.jit(lambda p, q: (p, q))(a, b), "'p'", "'q'"),
        (lambda a, b: pc.jit(lambda n, p, *, scale: p * scale * n, static_argnums=0)(2, a, scale=b), "'p'", "'scale'"),
        (lambda a, b: pnp.concatenate([a, b]), "0", "1"),
    ],
    ids=["operator", "jit", "returned", "static", "function"],
)
def test_operands_committed_to_different_devices_are_an_error_that_names_both(call, first, second):
    a, b = (pc.device_put(pnp.ones(3), device) for device in pc.devices()[1:3])
    with pytest.raises(ValueError, match="is committed to") as caught:
        call(a, b)
    text = str(caught.value)
    assert text.index(first) < text.index("CpuDevice(id=1)") < text.index(second) < text.index("CpuDevice(id=2)")
    assert text.count("f32[3]") == 2
    assert "device_put" in text


def test_device_put_without_a_device_leaves_arrays_where_they_are():
    x, a = pnp.ones(3), pc.device_put(pnp.ones(3), pc.devices()[2])
    assert pc.device_put(x) is x
    assert pc.device_put(a) is a
    assert place(pc.device_put(np.ones(3, np.float32))) == (0, False)
    assert place(pc.device_put(2)) == (0, False)


def test_the_default_device():
    x, devices = pnp.ones(3), pc.devices()
    with pc.default_device(devices[3]):
        assert place(pnp.zeros(3)) == place(pc.device_put(np.zeros(3, np.float32))) == (3, False)
        assert place(x + 1) == (3, False)
        assert place(pc.device_put(x)) == (0, False)
        with pc.default_device("cpu"):
            assert place(pnp.arange(5)) == (0, False)
        y = pnp.arange(5)
    assert place(y) == (3, False)
    assert place(y + 1) == (0, False)
    pc.config.update("default_device", devices[1])
    try:
        assert place(pnp.zeros(3)) == (1, False)
    finally:
        pc.config.update("default_device", None)
    assert place(pnp.zeros(3)) == (0, False)


def test_a_compiled_function_serves_every_device():
    traces = []

    @pc.jit
    def f(x):
        traces.append(x)
        return x * 2 + 1

    for device in pc.devices():
        assert place(f(pc.device_put(pnp.arange(5.0), device))) == (device.id, True)
    assert len(traces) == 1
    assert f.cache_size() == 1


BIG = 3 << 20
MADE = {
    "zeros": lambda **where: pnp.zeros(BIG, **where),
    "ones": lambda **where: pnp.ones((4, BIG // 4), **where),
    "full": lambda **where: pnp.full(BIG, 2.5, **where),
    "full-int": lambda **where: pnp.full(BIG, 7, np.int32, **where),
    "empty": lambda **where: pnp.empty(BIG, **where),
    "eye": lambda **where: pnp.eye(2000, **where),
    "arange": lambda **where: pnp.arange(BIG, **where),
    "arange-step": lambda **where: pnp.arange(0.5, BIG, 2, **where),
}


def peak_of_the_default_device(make):
    pc.block_until_ready(pnp.ones(3) + 1)
    rt.synchronize()
    rt.reset_peak_memory()
    before = rt.memory_stats().peak_bytes
    made = make().block_until_ready()
    return rt.memory_stats().peak_bytes - before, made


@pytest.mark.parametrize("how", ["device", "device_put", "default_device"])
@pytest.mark.parametrize("name", MADE)
def test_arrays_are_made_on_the_asked_device_at_once(name, how):
    device, make = pc.devices()[1], MADE[name]

    def made():
        if how == "device":
            return make(device=device)
        if how == "device_put":
            return pc.device_put(make(), device)
        with pc.default_device(device):
            return make().block_until_ready()

    grown, array = peak_of_the_default_device(made)
    assert grown == 0
    assert place(array) == (1, how != "default_device")
    alone = make()
    assert place(alone) == (0, False)
    assert (array.shape, array.dtype, array.weak_type) == (alone.shape, alone.dtype, alone.weak_type)
    np.testing.assert_array_equal(np.asarray(array), np.asarray(alone))


def test_numpy_values_go_straight_to_the_device():
    values = np.ones(BIG, np.float32)
    for make in (
        lambda: pc.device_put(values, pc.devices()[2]),
        lambda: pnp.asarray(values, device=pc.devices()[2]),
        lambda: pnp.array(values, device=pc.devices()[2]),
    ):
        grown, array = peak_of_the_default_device(make)
        assert grown == 0
        assert place(array) == (2, True)
    values[:] = 3
    assert float(array.max()) == 1


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True
    )


def test_the_client_of_a_device():
    device = pc.devices()[0]
    client = device.client
    assert client is device.client
    assert (client.platform, client.process_index()) == (device.platform, 0)
    assert client.devices() == client.local_devices() == pc.devices(device.platform)
    assert client.device_count() == len(pc.devices(device.platform))
    memory = device.default_memory()
    assert device.addressable_memories() == [memory] == [device.memory("device")]
    assert (memory.kind, memory.platform, memory.addressable_by_devices()) == ("device", device.platform, [device])
    with pytest.raises(ValueError, match="got 'pinned_host'"):
        device.memory("pinned_host")


def test_the_environment_chooses_platform_and_number():
    code = "import pycompiler as pc; print(len(pc.devices()), pc.default_backend(), pc.device_count('cpu'))"
    assert run(code, PYCOMPILER_NUM_CPU_DEVICES="3", PYCOMPILER_PLATFORM="cpu").stdout == "3 cpu 3\n"
    for bad in ("many", "0", "5000"):
        refused = run(code, PYCOMPILER_NUM_CPU_DEVICES=bad)
        assert f"can't become '{bad}'" in refused.stderr
        assert "expected a number from 1 to 1024" in refused.stderr
    refused = run(code, PYCOMPILER_PLATFORM="gpu", PYCOMPILER_CUDA_DRIVER="/no/driver.so")
    assert refused.returncode != 0
    assert "there is no platform 'gpu' here; there is cpu (4 devices)" in refused.stderr


def test_cpu_devices_are_added_to_a_running_process():
    code = """
import numpy as np, pycompiler as pc, pycompiler.numpy as pnp
x = pnp.arange(4.0)
f = pc.jit(lambda x: (x * 2).sum())
first, before = pc.devices()[0], f(x)
pc.config.update("jax_num_cpu_devices", 3)
assert pc.devices()[0] is first is x.device and pc.device_count() == pc.config.num_cpu_devices == 3
assert [d.id for d in pc.devices()] == [0, 1, 2]
y = pc.device_put(x, pc.devices()[2])
assert f(y).device is pc.devices()[2] and f(y) == f(x) == before == 12
mesh = pc.make_mesh((3,), ("i",))
z = pc.device_put(np.arange(6.0), pc.NamedSharding(mesh, pc.P("i")))
assert (pnp.sin(z).sum() == np.sin(np.arange(6.0)).sum(dtype=np.float32)) and len(z.sharding.device_set) == 3
for bad in (2, 1025, "many"):
    try:
        pc.config.update("num_cpu_devices", bad)
    except ValueError as error:
        assert "from 3 to 1024" in str(error)
    else:
        raise AssertionError(bad)
print("ok")
"""
    ran = run(code, PYCOMPILER_PLATFORM="cpu", PYCOMPILER_NUM_CPU_DEVICES="1")
    assert ran.stdout == "ok\n", ran.stderr


def test_a_platform_that_is_not_there_is_refused_with_what_is():
    for ask in (
        lambda: pc.config.update("platform_name", "gpu"),
        lambda: pc.devices("gpu"),
        lambda: pc.config.update("default_device", "gpu"),
    ):
        with pytest.raises((ValueError, RuntimeError), match=r"no platform 'gpu' here; there is cpu \(4 devices\)"):
            ask()
    pc.config.update("platform_name", "cpu")
    assert pc.default_backend() == "cpu"
    pc.config.update("platform_name", None)


def test_kinds_of_memory_are_placements():
    x = pnp.arange(3)
    for space in pc.memory.Space:
        assert pc.device_put(x, space).device == x.device
        np.testing.assert_array_equal(pc.jit(lambda x, space=space: pc.device_put(x, space) + 1)(x), [1, 2, 3])
    assert pc.device_put({"a": x, "b": x}, {"a": pc.memory.Space.Host, "b": None})["a"].shape == (3,)


def test_a_sharding_of_one_device():
    x = pnp.arange(3)
    place = pc.sharding.make_single_device_sharding(pc.devices()[0])
    assert isinstance(place, pc.sharding.Sharding)
    assert pc.device_put(x, place).sharding == place
    with pytest.raises(ValueError, match=r"'device', the memory that each device has, got 'pinned_host'"):
        pc.sharding.make_single_device_sharding(pc.devices()[0], memory_kind="pinned_host")
