"""Several devices: copies that wait for their source, donation, deferred creation, derivatives, guards, threads."""

import copy
import pickle
import threading

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as rt
from pycompiler import lax

DEVICES = 4


@pc.jit
def slow(x):
    """Work for some tenths of a second."""
    return lax.fori_loop(0, 3_000_000, lambda i, c: pnp.sin(c) + i * 1e-9, x)


def place(x):
    return x.device.id, x.committed


def test_devices_say_what_they_are():
    devices = pc.devices()
    assert all(isinstance(device, pc.Device) for device in devices)
    assert [repr(device) for device in devices] == [f"CpuDevice(id={i})" for i in range(4)]
    last = pc.local_devices()[3]
    assert last is devices[3]
    assert (str(last), last.platform, last.device_kind) == ("cpu:3", "cpu", "cpu")
    assert (last.id, last.process_index, last.local_hardware_id) == (3, 0, 3)
    assert (pc.device_count(), pc.local_device_count(), pc.process_count(), pc.process_index()) == (4, 4, 1, 0)
    assert len({*devices, *pc.devices()}) == 4
    with pytest.raises(ValueError, match="no process 2"):
        pc.local_devices(2)


def test_memory_is_counted_by_device():
    first, second = pc.devices()[:2]
    before = [device.memory_stats()["bytes_in_use"] for device in (first, second)]
    x = pnp.ones(1 << 20, device=second).block_until_ready()
    after = [device.memory_stats()["bytes_in_use"] for device in (first, second)]
    assert after[0] == before[0]
    assert after[1] >= before[1] + x.nbytes
    assert second.memory_stats()["peak_bytes_in_use"] >= x.nbytes


def test_a_copy_of_what_is_pending_returns_at_once_and_waits():
    x = slow(pnp.ones(()))
    y = pc.device_put(x, pc.devices()[1])
    z = y + 1
    assert not x.is_ready()
    assert not y.is_ready()
    assert place(z) == (1, True)
    assert float(y) == float(x)
    assert float(z) == pytest.approx(float(x) + 1)


def test_a_donated_source_is_given_up_also_while_it_is_pending():
    device = pc.devices()[2]
    x = slow(pnp.ones(()))
    y = pc.device_put(x, device, donate=True)
    assert x.is_deleted()
    with pytest.raises(Exception, match=r"donated to device_put at .*test_devices\.py"):
        np.asarray(x)
    assert 0 < abs(float(y)) < 1
    kept = pnp.ones(1 << 20).block_until_ready()
    used = pc.devices()[0].memory_stats()["bytes_in_use"]
    moved = pc.device_put({"a": kept, "b": (2.0,)}, device, donate=True)
    pc.block_until_ready(moved)
    rt.synchronize()
    assert pc.devices()[0].memory_stats()["bytes_in_use"] <= used - 4 * (1 << 20)
    assert float(moved["a"].sum()) == 1 << 20


def test_on_the_same_device_the_memory_is_shared_unless_a_copy_is_asked_for():
    first = pc.devices()[0]
    x = pnp.ones(1 << 20).block_until_ready()
    used = first.memory_stats()["bytes_in_use"]
    shared = pc.device_put(x, first)
    assert place(shared) == (0, True)
    assert first.memory_stats()["bytes_in_use"] == used
    again = pc.device_put(shared, first)
    assert again is not shared
    assert again.unsafe_buffer_pointer() == shared.unsafe_buffer_pointer()
    copied = pc.device_put(x, first, may_alias=False).block_until_ready()
    assert first.memory_stats()["bytes_in_use"] >= used + x.nbytes
    again = pc.device_put(x, may_alias=False)
    assert again is not x
    assert place(again) == (0, False)
    given = pc.device_put(x, first, donate=True)
    assert x.is_deleted()
    np.testing.assert_array_equal(np.asarray(given), np.asarray(copied))
    with pytest.raises(ValueError, match="donate and may_alias"):
        pc.device_put(copied, first, donate=True, may_alias=True)


def test_trees_of_places():
    a, b = pc.devices()[1:3]
    tree = {"a": pnp.ones(3), "b": (1.5, np.arange(2, dtype=np.int32))}
    put = pc.device_put(tree, {"a": a, "b": b})
    assert pc.tree.map(place, put) == {"a": (1, True), "b": ((2, True), (2, True))}
    put = pc.device_put(tree, {"a": None, "b": (a, b)})
    assert pc.tree.map(place, put) == {"a": (0, False), "b": ((1, True), (2, True))}
    got = pc.device_get(put)
    assert isinstance(got["a"], np.ndarray)
    assert got["b"][0] == 1.5
    np.testing.assert_array_equal(got["b"][1], [0, 1])
    with pytest.raises(ValueError, match="device_put: device is not a prefix"):
        pc.device_put(tree, {"a": a})
    with pytest.raises(ValueError, match=r"device_put: device 'gpu' is none of \[CpuDevice\(id=0\)"):
        pc.device_put(tree, "gpu")
    with pytest.raises(TypeError, match="device_put: takes arrays and scalars, got 'text'"):
        pc.device_put("text", a)


def test_donated_arguments_that_have_to_be_moved():
    f = pc.jit(lambda x, y: (x + y, y * 2), donate_argnums=(0, 1))
    far = pc.device_put(pnp.full(4096, 2.0), pc.devices()[1])
    x = pnp.arange(4096.0)
    total, double = f(x, far)
    assert (place(total), place(double)) == ((1, True), (1, True))
    assert x.is_deleted()
    assert far.is_deleted()
    np.testing.assert_array_equal(np.asarray(total), np.arange(4096.0) + 2)
    np.testing.assert_array_equal(np.asarray(double), np.full(4096, 4.0))


def test_parts_and_shapes_of_an_array_are_where_it_is():
    far, near = pc.device_put(pnp.arange(65536.0), pc.devices()[1]), pnp.arange(65536.0)
    for part in (far.reshape(256, 256), far[: 1 << 15], far[7], pnp.ravel(far.reshape(256, 256)), far[::2]):
        assert place(part) == (1, True)
    assert place(near.reshape(256, 256)) == (0, False)
    moved, _ = pc.jit(lambda x, y: (x.reshape(256, 256), y + 1))(near, far[0])
    assert place(moved) == (1, True)
    assert float(moved[1, 1]) == 257
    with pc.default_device(pc.devices()[2]):
        here = pnp.arange(8.0)
        here.block_until_ready()
    assert place(here[1]) == (0, False)


def test_constants_are_copied_once_for_a_device():
    table = pnp.arange(float(1 << 18)).block_until_ready()
    device = pc.devices()[3]
    f = pc.jit(lambda x: x + table[5] * table.sum())
    far = pc.device_put(1.0, device)
    expected = float(f(1.0))
    assert float(f(far)) == expected
    used = device.memory_stats()["bytes_in_use"]
    peaks = []
    for _ in range(3):
        rt.reset_peak_memory(device)
        assert float(f(far)) == expected
        peaks.append(device.memory_stats()["peak_bytes_in_use"])
    assert max(peaks) < used + table.nbytes


def test_a_deleted_operand_is_an_error_on_every_device():
    x = pnp.ones(3) + 1
    x.delete()
    far = pc.device_put(pnp.ones(3), pc.devices()[1])
    with pytest.raises(Exception, match="was deleted"):
        x + far
    with pytest.raises(Exception, match="was deleted"):
        pc.device_put(x, pc.devices()[1])


def test_default_devices_belong_to_threads():
    seen = {}

    def work(device):
        with pc.default_device(device):
            for _ in range(50):
                seen.setdefault(device.id, set()).add(place(pnp.ones(3) * 2))

    threads = [threading.Thread(target=work, args=(device,)) for device in pc.devices()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {i: {(i, False)} for i in range(4)}
    assert place(pnp.ones(3)) == (0, False)
    for bad in ("gpu", 3, [pc.devices()[0]]):
        with pytest.raises(ValueError, match="default_device"), pc.default_device(bad):
            pass


def test_derivatives_and_batches_of_device_put():
    a, b = pc.devices()[1:3]
    x, far = pnp.arange(3.0), pc.device_put(pnp.arange(3.0), b)

    def f(x):
        return (pc.device_put(x, a) ** 2).sum()

    for start, home in ((x, (0, True)), (far, (2, True))):
        slope = pc.grad(f)(start)
        assert place(slope) == home
        np.testing.assert_array_equal(np.asarray(slope), [0, 2, 4])
    value, tangent = pc.jvp(f, (x,), (pnp.ones(3),))
    assert (float(value), float(tangent)) == (5, 6)
    assert place(value) == (1, True)
    mapped = pc.vmap(lambda x: pc.device_put(x, a) * 2)(far)
    assert place(mapped) == (1, True)
    np.testing.assert_array_equal(np.asarray(mapped), [0, 2, 4])
    np.testing.assert_array_equal(np.asarray(pc.jit(pc.vmap(pc.grad(lambda x: f(x[None]))))(x)), [0, 2, 4])


def test_a_compiled_function_runs_where_it_puts_values():
    a, b = pc.devices()[1:3]
    x = pnp.arange(3.0)
    f = pc.jit(lambda x: pc.device_put(x, a) + 1)
    assert place(f(x)) == (1, True)
    assert place(f(pc.device_put(x, a))) == (1, True)
    with pytest.raises(ValueError, match=r"committed to CpuDevice\(id=2\), but .* puts values on CpuDevice\(id=1\)"):
        f(pc.device_put(x, b))
    assert place(pc.jit(lambda x: pc.device_put(x) + 1)(pc.device_put(x, b))) == (2, True)
    assert place(pc.jit(lambda: pnp.zeros(3, device=b))()) == (2, True)
    with pytest.raises(
        ValueError, match=r"on CpuDevice\(id=1\) and on CpuDevice\(id=2\), but a compiled function runs on"
    ):
        pc.jit(lambda x: (pc.device_put(x, a), pc.device_put(x, b)))(x)
    text = str(pc.make_jaxpr(lambda x: pc.device_put(x, a))(x))
    assert "device_put[device=CpuDevice(id=1) src=None]" in text


# Arrays that are created at their first use.


def test_arrays_that_are_not_made_yet_are_arrays():
    x = pnp.zeros((2, 3))
    assert (x.shape, x.dtype, x.size, place(x)) == ((2, 3), np.float32, 6, (0, False))
    np.testing.assert_array_equal(np.asarray(x), np.zeros((2, 3)))
    y = pnp.full(3, 2.5)
    assert y.block_until_ready() is y
    assert pnp.ones(3).is_ready() in (True, False)
    assert float(pnp.full((), 3.0)) == pnp.full((1,), 3.0).item() == 3
    assert str(pnp.arange(3)) == "[0 1 2]"
    assert memoryview(pnp.arange(3)).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(np.from_dlpack(pnp.ones(3)), np.ones(3))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pnp.eye(2))), np.eye(2))
    assert pnp.ones((2, 3)).reshape(6).sum() == 6
    z = pnp.ones(3)
    z.delete()
    with pytest.raises(Exception, match="was deleted"):
        np.asarray(z)


def test_what_is_made_late_is_made_as_it_was_asked_for():
    with pc.enable_x64():
        x, y = pnp.arange(3), pnp.full(2, 1 / 3)
    assert (x.dtype, y.dtype) == (np.int64, np.float64)
    np.testing.assert_array_equal(np.asarray(x), [0, 1, 2])
    assert float(y[0]) == 1 / 3
    kept = pnp.ones(3)
    traced = pc.jit(lambda a: a + kept * float(np.asarray(pnp.ones(())) if kept is None else 1))(pnp.zeros(3))
    np.testing.assert_array_equal(np.asarray(traced), np.ones(3))
    inside = []
    pc.jit(lambda a: inside.append(np.asarray(kept)) or a)(1.0)
    np.testing.assert_array_equal(inside[0], np.ones(3))
    given = pnp.ones(4096)
    np.testing.assert_array_equal(np.asarray(pc.jit(lambda a: a + 1, donate_argnums=0)(given)), np.full(4096, 2.0))
    assert given.is_deleted()
    again = pnp.arange(4)
    far = pc.device_put(again, pc.devices()[1]) + again
    assert (place(far), place(again)) == ((1, True), (0, False))
    np.testing.assert_array_equal(np.asarray(far), 2 * np.arange(4))
    with pytest.raises(MemoryError):
        np.asarray(pnp.zeros(1 << 50))


def test_arrays_like_others_are_beside_them():
    far = pc.device_put(pnp.ones((2, 3)), pc.devices()[2])
    for like in (pnp.zeros_like(far), pnp.ones_like(far, dtype=np.int32), pnp.full_like(far, 2.5), pnp.empty_like(far)):
        assert place(like) == (2, True)
    assert place(pnp.zeros_like(far, device=pc.devices()[1])) == (1, True)
    assert place(pnp.zeros_like(pnp.ones(3))) == (0, False)


def test_functions_that_take_a_device():
    device = pc.devices()[3]
    line, step = pnp.linspace(0, 1, 5, retstep=True, device=device)
    made = [
        *(line, step, pnp.astype(pnp.ones(3), np.int32, device=device), pnp.ones(3).to_device(device)),
        *(pnp.fft.fftfreq(4, device=device), pnp.fft.rfftfreq(4, device=device)),
        *(pnp.array([[1, 2], [3, 4]], device=device), pnp.asarray(2.0, device=device)),
        pnp.from_dlpack(np.ones(3, np.float32), device=device),
    ]
    assert [place(x) for x in made] == [(3, True)] * len(made)
    assert float(step) == 0.25
    for function in (pnp.zeros, pnp.ones, pnp.eye, pnp.arange, pnp.asarray):
        with pytest.raises(ValueError, match=f"{function.__name__}: device 'gpu' is none of"):
            function(3, device="gpu")


def test_arrays_of_any_device_are_read_copied_and_kept():
    far = pc.device_put(pnp.arange(4.0), pc.devices()[2])
    assert far.devices() == {pc.devices()[2]}
    assert far.platform() == "cpu"
    assert far.__dlpack_device__() == (1, 0)
    np.testing.assert_array_equal(np.from_dlpack(far), np.arange(4.0))
    assert far.copy_to_host_async() is None
    assert place(copy.deepcopy(far)) == place(copy.copy(far)) == place(far.copy()) == (2, True)
    back = pickle.loads(pickle.dumps(far))
    assert place(back) == (0, False)
    np.testing.assert_array_equal(np.asarray(back), np.arange(4.0))


# Guards.


def test_a_guard_disallows_what_nobody_asked_for():
    x, far = pnp.ones(3) + 1, pc.device_put(pnp.ones(3), pc.devices()[1])
    values = np.ones(3, np.float32)
    with pc.transfer_guard("disallow"):
        assert place(x + x) == (0, False)
        assert place(pc.device_put(values, pc.devices()[1]) + far) == (1, True)
        with pytest.raises(RuntimeError, match=r"host-to-device transfer of a value of type numpy.ndarray .*disallow"):
            x + values
        with pytest.raises(RuntimeError, match=r"device-to-device transfer of f32\[3\] to CpuDevice\(id=1\)"):
            x + far
        assert float(np.asarray(x)[0]) == 2
        with pc.transfer_guard("allow"):
            assert place(x + values) == (0, False)
        with pc.transfer_guard_device_to_device("allow"):
            assert place(x + far) == (1, True)
    assert place(x + far) == (1, True)
    with pc.transfer_guard_host_to_device("disallow_explicit"):
        with pytest.raises(RuntimeError, match="disallow_explicit"):
            pc.device_put(values)
        assert place(pc.device_put(x, pc.devices()[1])) == (1, True)
    with pytest.raises(ValueError, match="transfer_guard_host_to_device must be 'allow' or 'log'"):
        pc.config.update("transfer_guard", "never")


def test_a_guard_logs(caplog):
    x, far = pnp.ones(3) + 1, pc.device_put(pnp.ones(3), pc.devices()[1])
    pc.config.update("transfer_guard", "log")
    try:
        x + far
        pc.device_put(x, pc.devices()[1])
    finally:
        pc.config.update("transfer_guard", None)
    x + far
    assert [record.getMessage() for record in caplog.records] == [
        "device-to-device transfer of f32[3] to CpuDevice(id=1)"
    ]
