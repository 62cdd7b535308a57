"""Array: copies from and to NumPy, futures, errors, memory."""

import gc
import os
import signal
import subprocess
import sys
import threading
import weakref

import ml_dtypes
import numpy as np
import pytest
from gates import VECTOR, eventually

from pycompiler import _runtime as rt

DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
DTYPES += [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]


@pytest.fixture(autouse=True)
def _bfloat16():
    rt.register_dtype(np.dtype(ml_dtypes.bfloat16), rt.dtype_codes()["bfloat16"], "bfloat16")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (2, 0, 3), (1, 1, 4)])
def test_round_trip_through_numpy(dtype, shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    array = rt.array_from_numpy(values, rt.ShapedArray(shape, dtype))
    assert (array.shape, array.dtype, array.ndim) == (shape, np.dtype(dtype), len(shape))
    assert (array.size, array.nbytes, array.weak_type) == (values.size, values.nbytes, False)
    back = np.asarray(array)
    assert back.dtype == np.dtype(dtype)
    assert back.shape == shape
    assert not back.flags.writeable
    np.testing.assert_array_equal(back, values)
    if values.size == 1:
        assert array.item() == values.item()
        assert type(array.item()) is type(values.item())


def test_a_later_write_to_the_ndarray_changes_nothing():
    values = np.ones(4, np.float32)
    array = rt.array_from_numpy(values, VECTOR)
    values[:] = 7
    np.testing.assert_array_equal(np.asarray(array), 1)


def test_array_from_numpy_checks_the_aval():
    with pytest.raises(ValueError, match="not a"):
        rt.array_from_numpy(np.ones(5, np.float32), VECTOR)
    with pytest.raises(ValueError, match="not a"):
        rt.array_from_numpy(np.ones((2, 2), np.float32), VECTOR)
    with pytest.raises(ValueError, match="not a"):
        rt.array_from_numpy(np.ones(4, np.int32), VECTOR)
    with pytest.raises(ValueError, match="contiguous"):
        rt.array_from_numpy(np.ones((4, 2), np.float32)[:, 0], VECTOR)
    with pytest.raises(ValueError, match="symbols"):
        rt.array_from_numpy(np.ones(4, np.float32), rt.ShapedArray(("n",), np.float32))


def test_buffers_are_read_only_and_keep_the_array_alive(vector):
    array = vector(1, 2, 3, 4)
    view = memoryview(array)
    assert (view.readonly, view.format, view.shape, view.contiguous) == (True, "f", (4,), True)
    del array
    gc.collect()
    assert view.tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(vector())[0] = 1


def test_bfloat16_has_no_buffer_but_is_an_ndarray():
    values = np.array([1.5, -2], ml_dtypes.bfloat16)
    array = rt.array_from_numpy(values, rt.ShapedArray((2,), ml_dtypes.bfloat16))
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(array)
    np.testing.assert_array_equal(np.asarray(array), values)


def test_array_protocol_converts_and_copies(vector):
    array = vector(1, 2, 3, 4)
    assert np.asarray(array, np.int16).dtype == np.int16
    copied = array.__array__(copy=True)
    copied[0] = 9
    assert np.asarray(array)[0] == 1


def test_item_wants_one_element(vector):
    with pytest.raises(ValueError, match=r"4 elements"):
        vector().item()


def test_reshaped_and_with_weak_type_share_the_elements(vector):
    array = vector(1, 2, 3, 4)
    square = rt.reshaped(array, rt.ShapedArray((2, 2), np.float32))
    assert np.shares_memory(np.asarray(square), np.asarray(array))
    assert rt.with_weak_type(array, True).aval is rt.ShapedArray((4,), np.float32, True)
    with pytest.raises(ValueError, match="another size"):
        rt.reshaped(array, rt.ShapedArray((3,), np.float32))
    with pytest.raises(TypeError):
        rt.reshaped(np.ones(4), VECTOR)


def test_arrays_are_weakly_referenced_unhashable_and_not_constructible(vector):
    array = vector()
    reference = weakref.ref(array)
    assert reference() is array
    del array
    assert reference() is None
    with pytest.raises(TypeError, match="unhashable"):
        hash(vector())
    with pytest.raises(TypeError):
        rt.Array()


def test_live_arrays_and_memory_are_counted(vector):
    gc.collect()
    arrays, before = rt.live_arrays(), rt.memory_stats()
    held = [vector() for _ in range(10)]
    large = rt.array_from_numpy(np.zeros(1 << 20, np.float32), rt.ShapedArray((1 << 20,), np.float32))
    now = rt.memory_stats()
    assert rt.live_arrays() - arrays == 11
    assert now.live_buffers - before.live_buffers == 11
    assert now.live_bytes - before.live_bytes == 10 * 64 + (4 << 20)
    assert now.peak_bytes >= now.live_bytes
    del held, large
    assert rt.live_arrays() == arrays
    assert rt.memory_stats().live_bytes == before.live_bytes
    assert rt.memory_stats().cached_bytes >= 4 << 20
    rt.release_cached_memory()
    assert rt.memory_stats().cached_bytes == 0


def test_an_array_that_cannot_be_allocated_is_a_memory_error(load, vector):
    huge = rt.ShapedArray((1 << 50,), np.float32)
    with pytest.raises(MemoryError, match=r"add_one .*4\.0 PiB"):
        load("add_one").execute([vector()], [huge])
    hungry = load("add_one", arena_bytes=1 << 55)
    (result,) = hungry.execute([vector()], [VECTOR])
    with pytest.raises(MemoryError, match=r"add_one: temporaries: .*32\.0 PiB"):
        result.block_until_ready()


def test_device():
    (device,) = rt.devices()
    assert (device.platform, device.id, repr(device)) == ("cpu", 0, "CpuDevice(id=0)")
    assert rt.device_count() == 1
    assert rt.thread_count() >= 1


def test_a_deleted_array_fails_loudly(load, vector):
    x, kept = vector(1, 2, 3, 4), vector(4, 3, 2, 1)
    before = rt.memory_stats().live_buffers
    assert not x.is_deleted()
    x.delete()
    x.delete()
    assert x.is_deleted()
    assert rt.memory_stats().live_buffers == before - 1
    assert x.shape == (4,)
    for read in (np.asarray, memoryview, lambda x: x.block_until_ready()):
        with pytest.raises(RuntimeError, match="was deleted by delete"):
            read(x)
    with pytest.raises(RuntimeError, match="was deleted by delete"):
        load("sum_and_difference").execute([x, kept], [VECTOR, VECTOR])
    assert np.asarray(kept)[0] == 4


def test_execute(load, vector):
    total, difference = load("sum_and_difference").execute([vector(1, 2, 3, 4), vector(4, 3, 2, 1)], [VECTOR, VECTOR])
    np.testing.assert_array_equal(np.asarray(total), 5)
    np.testing.assert_array_equal(np.asarray(difference), [-3, -1, 1, 3])


def test_execute_checks_its_arguments(load, vector):
    with pytest.raises(TypeError, match="not an Array"):
        load("add_one").execute([np.ones(4, np.float32)], [VECTOR])
    with pytest.raises(TypeError, match="concrete"):
        load("add_one").execute([vector()], [rt.ShapedArray(("n",), np.float32)])


def test_load_says_what_is_wrong(kernels):
    with pytest.raises(RuntimeError, match="cannot load 'f': the object defines no function 'nothing'"):
        rt.Executable.load(kernels, "nothing", 0, "f")
    with pytest.raises(RuntimeError, match="cannot load 'f': malformed object"):
        rt.Executable.load(kernels[:100], "add_one", 0, "f")


def test_a_call_returns_before_its_work_is_done(gate, vector):
    result = gate(vector())
    assert not result.is_ready()
    assert result.shape == (4,)
    gate.open()
    assert result.block_until_ready() is result
    assert result.is_ready()
    np.testing.assert_array_equal(np.asarray(result), [1, 2, 3, 4])


def test_chains_of_pending_results(load, vector):
    slow, quick = load("slow_add_one", 1e9), load("add_one")
    (x,) = slow.execute([vector()], [VECTOR])
    for _ in range(100):
        (x,) = quick.execute([x], [VECTOR])
    np.testing.assert_array_equal(np.asarray(x), [101, 102, 103, 104])


@pytest.mark.parametrize("cost_ns", [0, 15000, 1e9])
def test_errors_surface_at_the_read_and_poison_dependents_only(load, vector, cost_ns):
    failing, quick = load("fails", cost_ns), load("add_one", cost_ns)
    (broken,) = failing.execute([vector()], [VECTOR])
    (poisoned,) = quick.execute([broken], [VECTOR])
    (sibling,) = quick.execute([vector()], [VECTOR])
    for read in (rt.Array.block_until_ready, np.asarray, memoryview, rt.Array.__array__):
        for array in (broken, poisoned):
            with pytest.raises(RuntimeError, match=r"fails: a library routine failed \(launched at .*test_runt"):
                read(array)
    assert broken.is_ready()
    assert broken.shape == (4,)
    np.testing.assert_array_equal(np.asarray(sibling), [1, 2, 3, 4])


def test_the_error_class_can_be_set(load, vector):
    class ExecutionError(RuntimeError):
        pass

    before = rt.set_error_type(ExecutionError)
    try:
        (broken,) = load("fails").execute([vector()], [VECTOR])
        with pytest.raises(ExecutionError):
            broken.block_until_ready()
        with pytest.raises(TypeError):
            rt.set_error_type(int)
    finally:
        rt.set_error_type(before)


def test_results_outlive_the_executable_and_the_arguments(load, vector):
    (result,) = load("slow_add_one", 1e9).execute([vector()], [VECTOR])
    gc.collect()
    np.testing.assert_array_equal(np.asarray(result), [1, 2, 3, 4])


def test_a_dropped_result_is_computed_and_forgotten(gate, vector):
    gc.collect()
    before = rt.live_arrays()
    gate(x := vector())
    assert rt.live_arrays() > before
    gate.open()
    rt.synchronize()
    del x
    assert eventually(lambda: rt.live_arrays() == before)


def test_other_python_threads_go_on_while_one_waits(load, vector):
    (result,) = load("slow_add_one", 1e9).execute([vector()], [VECTOR])
    counter = 0
    waiting = threading.Thread(target=result.block_until_ready)
    waiting.start()
    while waiting.is_alive():
        counter += 1
    waiting.join()
    assert counter > 100


def test_many_threads_enqueue(load, vector):
    step = load("add_one", 1e9)
    wrong = []

    def work():
        for _ in range(50):
            x = vector(0, 0, 0, 0)
            for _ in range(10):
                (x,) = step.execute([x], [VECTOR])
            if np.asarray(x).tolist() != [10] * 4:
                wrong.append(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    "read", [lambda x: x.block_until_ready(), np.asarray, memoryview], ids=["wait", "numpy", "buffer"]
)
def test_ctrl_c_interrupts_a_wait(load, vector, read):
    # Where the tests run in the background, a shell has made them ignore the signal.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    # A few seconds of work: a waiter must not start it itself, and must notice the signal.
    (result,) = load("very_slow_add_one", 1e10).execute([vector()], [VECTOR])
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            read(result)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, previous)
    assert not result.is_ready()
    np.testing.assert_array_equal(np.asarray(result), [1, 2, 3, 4])


def run_process(code, kernels, tmp_path, **environment):
    """Run a program with `load(entry, cost)` and `x`; returns its standard output."""
    (tmp_path / "kernels.o").write_bytes(kernels)
    head = """
import sys, os, time, numpy as np
from pycompiler import _runtime as rt
V = rt.ShapedArray((4,), np.float32)
x = rt.array_from_numpy(np.arange(4, dtype=np.float32), V)
def load(entry, cost=1e9):
    return rt.Executable.load(open(sys.argv[1], "rb").read(), entry, 0, entry, cost)
"""
    done = subprocess.run(
        [sys.executable, "-c", head + code, tmp_path / "kernels.o"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def test_sync_runs_everything_in_place(kernels, tmp_path):
    code = "(y,) = load('slow_add_one').execute([x], [V]); print(y.is_ready(), np.asarray(y).tolist())"
    assert run_process(code, kernels, tmp_path, PYCOMPILER_SYNC="1") == "True [1.0, 2.0, 3.0, 4.0]"


def test_the_number_of_threads_comes_from_the_environment(kernels, tmp_path):
    assert run_process("print(rt.thread_count())", kernels, tmp_path, PYCOMPILER_NUM_THREADS="3") == "3"


def test_pending_work_is_waited_for_at_exit(kernels, tmp_path):
    code = "ys = [load('slow_add_one').execute([x], [V])[0] for _ in range(4)]; print('end')"
    assert run_process(code, kernels, tmp_path) == "end"


def test_a_fork_after_use_works(kernels, tmp_path):
    code = """
slow = load('slow_add_one')
(y,) = slow.execute([x], [V])
child = os.fork()
(z,) = slow.execute([y], [V])
right = np.asarray(z).tolist() == [2, 3, 4, 5]
if child == 0:
    os._exit(0 if right else 1)
print(right, os.waitpid(child, 0)[1])
"""
    assert run_process(code, kernels, tmp_path) == "True 0"


def test_run_ahead_is_bounded(kernels, tmp_path):
    code = """
big = rt.ShapedArray((1 << 20,), np.float32)
slow = load('brief_add_one', 1e9)
rt.reset_peak_memory()
start = rt.memory_stats().live_bytes
for _ in range(200):
    (y,) = slow.execute([x], [big])
y.block_until_ready()
print(rt.memory_stats().peak_bytes - start <= 256 << 20)
"""
    assert run_process(code, kernels, tmp_path) == "True"
