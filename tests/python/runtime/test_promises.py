"""The runtime's nine promises, one section each. A section names tests in other files.

Kernels that wait for the test make the order of events certain: `gated_add_one` runs until the test opens a gate,
`meet` until another one runs, too. Time is part of a test only as a limit, if a program must end by itself.
"""

import gc
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from gates import VECTOR, eventually

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as rt
from pycompiler.compile import lapack

ONE_MORE = [1, 2, 3, 4]


def add_one(load, x, cost_ns=0.0):
    (result,) = load("add_one", cost_ns).execute([x], [VECTOR])
    return result


def run_program(code, expected_status=0, limit=300, **environment):
    """Run a program in a new process, which must end by itself; returns its output."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=limit,
        # Where the tests run in the background, a shell has made them ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.returncode == expected_status, done.stderr
    return done.stdout.strip() if expected_status else (done.stdout.strip(), done.stderr)[0 if not done.stderr else 1]


# A program with work that takes some tenths of a second, in a function that any test can launch.
LONG = """
import os, signal, sys, threading, time
import numpy as np
import pycompiler as pc, pycompiler.numpy as pnp
from pycompiler import lax
@pc.jit
def long(x):
    return lax.fori_loop(0, 30_000_000, lambda i, c: c * 0.5 + 1.0, x)
@pc.jit
def count(limit):
    return lax.while_loop(lambda c: c < limit, lambda c: c + 1, pnp.float32(0))
x = pnp.ones(3)
"""


# 1. A call returns before its work is done; shape and dtype never block.
# Also StreamTest.cpp (returnsBeforeTheWorkIsDone) and array/test_asynchronous.py.


def test_a_call_returns_before_its_work_is_done(gate, vector):
    result = gate(vector())
    later = pc.jit(lambda x: (x + 1, x.sum()))(result)
    assert not result.is_ready()
    assert not any(array.is_ready() for array in later)
    assert (result.shape, result.dtype, later[1].shape, later[1].ndim) == ((4,), np.float32, (), 0)
    assert type(result) is pc.Array
    assert result[0].shape == ()
    gate.open()
    assert [array.tolist() for array in later] == [[2, 3, 4, 5], 10]


# 2. Independent calls run at the same time; a call starts as soon as its inputs are ready.
# Also StreamTest.cpp (independentCallsOverlap).


def test_independent_calls_run_at_the_same_time(load, vector):
    if rt.thread_count() < 2:
        pytest.skip("one thread runs one call at a time")
    meet = load("meet", 1e9)
    (first,), (second,) = (meet.execute([vector()], [VECTOR]) for _ in range(2))
    assert np.asarray(first).tolist() == np.asarray(second).tolist() == ONE_MORE


def test_what_is_ready_to_run_does_not_wait_for_what_is_not(gate, load, vector):
    if rt.thread_count() < 2:
        pytest.skip("one thread runs one call at a time")
    held = gate(vector())
    behind = add_one(load, held, 1e9)
    free = add_one(load, add_one(load, vector(), 1e9), 1e9)
    assert np.asarray(free).tolist() == [2, 3, 4, 5]
    assert not held.is_ready()
    assert not behind.is_ready()
    gate.open()
    assert np.asarray(behind).tolist() == [2, 3, 4, 5]


# 3. An error surfaces at the first read, with its type, the operation, its line and that of the launch, and poisons
# only its dependents. Also StreamTest.cpp (errorsPoisonDependentsOnly, errorsNameTheOperation) and
# test_runtime_array.py::test_errors_surface_at_the_read_and_poison_dependents_only.


@pytest.fixture
def no_lapack():
    """LAPACK's table is empty: every decomposition fails while it runs."""
    pnp.linalg.cholesky(pnp.eye(2)).block_until_ready()
    rt.fill_lapack([])
    yield
    lapack.require_lapack.__wrapped__()


def line_of(function):
    return f"{__file__}:{function.__code__.co_firstlineno + 1}"


def factor(x):
    return pnp.linalg.cholesky(x)  # the line below that of the def


def message_of(array):
    with pytest.raises(pc.errors.ExecutionError) as caught:
        np.asarray(array)
    return caught.value.args[0]


def test_what_runs_eagerly_names_the_line_of_each_call(no_lapack):
    from_here = message_of(pnp.linalg.cholesky(pnp.eye(17)))
    first = sys._getframe().f_lineno - 1
    from_there = message_of(pnp.linalg.cholesky(pnp.eye(17)))
    assert f"test_promises.py:{first}" in from_here
    assert f"test_promises.py:{first}" not in from_there
    assert f"test_promises.py:{first + 2}" in from_there


def test_the_message_names_the_operation_and_both_lines(no_lapack):
    model = pc.jit(lambda x: pc.jit(factor)(x) + 1)

    def launch():
        return model(pnp.eye(3))

    expected = f": cholesky: a library routine failed (at {line_of(factor)}, launched at {line_of(launch)})"
    assert message_of(launch()).endswith(expected)


def test_an_operation_that_is_called_by_itself(no_lapack):
    assert message_of(factor(pnp.eye(3))) == f"cholesky: a library routine failed (launched at {line_of(factor)})"


def test_dependents_report_the_first_cause_and_siblings_go_on(no_lapack):
    x = pnp.eye(3)
    broken = pc.jit(factor)(x)
    first = message_of(broken)
    other = pc.jit(lambda y: pnp.linalg.qr(y)[0])(x)
    assert "factor" in first
    assert "qr" in message_of(other)
    dependents = {
        "eager": broken + 1,
        "view": broken.reshape(9),
        "element": broken[0, 0],
        "two causes, the first argument's counts": pc.jit(lambda a, b: a @ b)(broken, other),
        "donated": pc.jit(lambda a: a * 2, donate_argnums=0)(broken * 1),
        "through many": pc.jit(lambda a: (a, a.sum()))(broken - 3)[1] * 2,
    }
    for name, array in dependents.items():
        assert message_of(array) == first, name
        assert array.is_ready()
        assert message_of(array) == first, name
    np.testing.assert_array_equal(x + 1, np.eye(3) + 1)
    assert float((x * 2).sum()) == 6


def test_the_next_call_works_after_a_failure():
    f = pc.jit(factor)
    pnp.linalg.cholesky(pnp.eye(2)).block_until_ready()
    try:
        rt.fill_lapack([])
        message_of(f(pnp.eye(3)))
    finally:
        lapack.require_lapack.__wrapped__()
    np.testing.assert_array_equal(f(pnp.eye(3)), np.eye(3))


def test_memory_that_runs_out_is_a_memory_error_at_the_read():
    f = pc.jit(lambda x: pnp.sort(pnp.broadcast_to(x, (1 << 44,)))[:1])
    broken = f(pnp.float32(1))
    with pytest.raises(MemoryError, match=r"temporaries: .*\(launched at .*test_promises"):
        np.asarray(broken)
    with pytest.raises(MemoryError, match="temporaries"):
        float((broken + 1)[0])


def test_errors_are_forgotten_with_their_arrays(no_lapack):
    def fail():
        broken = pc.jit(factor)(pnp.eye(3))
        message_of(broken + 1)

    fail()
    gc.collect()
    before = rt.live_arrays(), rt.memory_stats().live_buffers
    for _ in range(5):
        fail()
    assert eventually(lambda: (rt.live_arrays(), rt.memory_stats().live_buffers) == before)


class PickyError(ValueError):
    """Takes types that its arguments don't show."""

    def __init__(self, number, *, unit):
        super().__init__(f"{number} {unit}")
        self.unit = unit


def refuse(x):
    raise PickyError(7, unit="apples")


@pc.jit
def asks(x):
    shape = pc.ShapeDtypeStruct(x.shape, x.dtype)
    return pc.pure_callback(refuse, shape, x) * 2


def test_the_exception_of_a_callback_keeps_its_type():
    broken = asks(pnp.ones(3))
    for array in (broken, broken + 1, pc.jit(lambda x: x.sum())(broken)):
        caught = []
        for _ in range(2):
            with pytest.raises(PickyError) as info:
                np.asarray(array)
            assert str(info.value) == "7 apples"
            caught.append(info.value)
        first, second = caught
        assert (first.unit, first.args) == ("apples", ("7 apples",))
        # Each read raises a separate object, so that the frames of one are not kept alive by the others.
        assert first is not second
        (note,) = first.__notes__
        assert note.startswith("in callback of asks (at ")
        assert note.count(f"{__file__}:") == 2
        assert any(frame.name == "refuse" for frame in info.traceback)
    np.testing.assert_array_equal(pnp.ones(3) * 2, [2, 2, 2])


def test_the_exception_of_a_callback_keeps_nothing_alive():
    def fail():
        broken = asks(pnp.ones(3))
        with pytest.raises(PickyError):
            np.asarray(broken + 1)

    fail()
    rt.synchronize()
    gc.collect()
    before = rt.live_arrays()
    for _ in range(5):
        fail()
    assert eventually(lambda: rt.live_arrays() <= before)


def test_sync_runs_everything_in_place():
    code = (
        LONG
        + """
from pycompiler import _runtime as rt
y = long(x)
print(y.is_ready(), y.tolist() == [2.0] * 3)
pnp.linalg.cholesky(pnp.eye(2))
rt.fill_lapack([])
broken = pc.jit(pnp.linalg.cholesky)(pnp.eye(3)) + 1
names = [open(f"/proc/self/task/{task}/comm").read() for task in os.listdir("/proc/self/task")]
print(broken.is_ready(), any("worker" in name for name in names))
try:
    broken.block_until_ready()
except pc.errors.ExecutionError as error:
    print("cholesky" in str(error))
"""
    )
    assert run_program(code, PYCOMPILER_SYNC="1") == "True True\nTrue False\nTrue"


# 4. Run-ahead is bounded, in calls and in bytes.
# In bytes: test_runtime_array.py::test_run_ahead_is_bounded, StreamTest.cpp (runAheadIsBoundedInBytes).


def test_run_ahead_is_bounded_in_calls(gate, load, vector):
    step = load("add_one", 1e9)
    made = []

    def launch():
        x = gate(vector())
        for _ in range(3000):
            (x,) = step.execute([x], [VECTOR])
            made.append(x)

    launching = threading.Thread(target=launch)
    launching.start()
    launching.join(0.5)
    assert launching.is_alive(), "3000 calls were enqueued behind one that does not end"
    assert len(made) < 3000
    gate.open()
    launching.join()
    assert np.asarray(made[-1]).tolist() == [3001, 3002, 3003, 3004]


def test_calls_that_are_far_ahead_get_memory_without_a_free_block(gate, load, vector):
    large = rt.ShapedArray((1 << 18,), np.float32)
    step = load("add_one", 1e9)
    made = [gate(vector())]
    # 40 MiB behind a call that waits for this thread: each waits for a free block, and for a while only.
    for _ in range(40):
        made += step.execute([made[-1]], [large])
    gate.open()
    assert [np.asarray(x)[:2].tolist() for x in made] == [[n + 1, n + 2] for n in range(41)]


def test_an_argument_outlives_the_wait_for_a_free_block(gate, load, vector):
    large = rt.ShapedArray((1 << 20,), np.float32)
    step = load("add_one", 1e9)
    x = gate(vector())
    behind = [step.execute([x], [large])[0] for _ in range(2 * max(2, rt.thread_count()))]
    first, found = behind[0], []

    def launch():
        try:
            found.extend(step.execute([first], [large]))
        except RuntimeError as error:
            found.append(error)

    launching = threading.Thread(target=launch)
    launching.start()
    first.delete()
    gate.open()
    launching.join()
    # The call began before the deletion, or was refused.
    (outcome,) = found
    if isinstance(outcome, RuntimeError):
        assert "was deleted" in str(outcome)
    else:
        assert np.asarray(outcome)[:4].tolist() == [3, 4, 5, 6]


# 5. Ordered effects follow program order through tokens; unordered ones are waited for at exit. test_effects.py.


def test_effects_are_ordered_from_call_to_call_and_waited_for_at_exit():
    code = (
        LONG
        + """
@pc.jit
def say(x):
    pc.debug.print("ordered {}", x[0], ordered=True)
    return x + 1
y = long(x) - 2
for _ in range(3):
    y = say(y)
say(x * 7)
pc.jit(lambda x: pc.debug.print("unordered {}", x[0]))(long(x))
"""
    )
    lines = run_program(code).splitlines()
    assert [line for line in lines if "ordered" in line and "un" not in line] == [
        f"ordered {value}" for value in (0.0, 1.0, 2.0, 7.0)
    ]
    assert "unordered 2.0" in lines


# 6. A donated buffer that is used again fails loudly, also after an error. Also jit/test_donation.py.


def test_a_donated_array_fails_loudly_also_after_an_error(no_lapack):
    broken = pc.jit(factor)(pnp.eye(64))
    replaced = pc.jit(lambda x: x + 1, donate_argnums=0)(broken)
    assert broken.is_deleted()
    for use in (np.asarray, lambda x: x + 1, pc.jit(lambda x: x * 2)):
        with pytest.raises(RuntimeError, match=r"this array was donated to .* at .*test_promises"):
            use(broken)
    assert "cholesky" in message_of(replaced)


# 7. No deadlock. Fork after use: test_runtime_array.py::test_a_fork_after_use_works; Ctrl-C while waiting:
# test_ctrl_c_interrupts_a_wait there.


def test_ctrl_c_ends_a_program_that_waits():
    code = (
        LONG
        + """
# However short the runs before were, one that has no end is run neither in the call nor by who waits for it.
print([int(count(float(n))) for n in range(20)] == list(range(20)))
y = count(float("inf"))
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    y.block_until_ready()
except KeyboardInterrupt:
    print("interrupted", y.is_ready(), float((x + 1)[0]), flush=True)
    os._exit(3)
"""
    )
    assert run_program(code, expected_status=3) == "True\ninterrupted False 2.0"


def forks(expected):
    """Two threads run `launch` while five children are forked. In each child, `expected` is true if `right` is."""
    return f"""
threads = [threading.Thread(target=launch) for _ in range(2)]
for thread in threads:
    thread.start()
right = True
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if {expected} else 1)
    right = right and os.waitpid(child, 0)[1] == 0
"""


def test_a_fork_while_others_launch_and_fail():
    code = (
        LONG
        + """
from pycompiler import _runtime as rt
pnp.linalg.cholesky(pnp.eye(2)).block_until_ready()
rt.fill_lapack([])
broken = pc.jit(pnp.linalg.cholesky)(pnp.eye(3))
step = pc.jit(lambda x: x * 0.5 + 1)
big = pnp.ones(300_000)
ended = threading.Event()
def launch():
    while not ended.is_set():
        step(step(big))
        broken + 1
"""
        + forks("float(step(step(big))[0]) == 1.75")
        + """
ended.set()
for thread in threads:
    thread.join()
print(right, float(step(big)[0]))
"""
    )
    assert run_program(code) == "True 1.5"


def test_a_fork_while_others_load_the_compiler(tmp_path):
    code = (
        LONG
        + """
number = float(os.environ["NUMBER"])
step = pc.jit(lambda x: x * number)
ones = pnp.ones(30)
def launch():
    step(ones)
"""
        + forks("float(step(ones)[0]) == number")
        + """
for thread in threads:
    thread.join()
print(right)
"""
    )
    # In the second program, only `step` is not in the cache.
    for number in "2", "3", "4", "5":
        environment = {"NUMBER": number, "PYCOMPILER_COMPILATION_CACHE_DIR": str(tmp_path)}
        assert run_program(code, limit=60, **environment) == "True"


def test_many_threads_wait_for_one_array(gate, vector):
    result = gate(vector())
    values = []
    threads = [threading.Thread(target=lambda: values.append(np.asarray(result).tolist())) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert not values
    gate.open()
    for thread in threads:
        thread.join()
    assert values == [ONE_MORE] * 8


# 8. A later write to a NumPy input never changes a result.


def test_a_write_to_an_input_of_a_call_that_has_not_run_changes_nothing(gate, vector):
    values = np.arange(4, dtype=np.float32)
    big = np.ones(1 << 18, np.float32)
    held = gate(vector())
    f = pc.jit(lambda held, x, y: (held * 0 + x, y.sum()))
    small_result, big_result = f(held, values, big)
    values[:], big[:] = np.nan, np.nan
    assert not small_result.is_ready()
    gate.open()
    assert np.asarray(small_result).tolist() == [0, 1, 2, 3]
    assert float(big_result) == 1 << 18


# 9. Nothing is alive at exit. test_runtime_array.py::test_pending_work_is_waited_for_at_exit; under the sanitizers the
# C++ tests.


def test_a_program_ends_while_work_is_pending_and_threads_wait():
    code = (
        LONG
        + """
ys = [long(x + i) for i in range(4)]
threading.Thread(target=ys[-1].block_until_ready, daemon=True).start()
async def main():
    await ys[0]
import asyncio
asyncio.run(main())
print("end")
"""
    )
    assert run_program(code) == "end"


def test_an_array_on_several_devices_is_awaited_without_blocking_the_loop():
    code = (
        LONG
        + """
import asyncio
from pycompiler.sharding import NamedSharding, PartitionSpec
mesh = pc.make_mesh((2,), ("x",))
async def main():
    x = pc.device_put(np.ones(4, np.float32), NamedSharding(mesh, PartitionSpec("x")))
    y = long(x)
    turns, was_ready = 0, y.is_ready()
    async def count():
        nonlocal turns
        while not y.is_ready():
            turns += 1
            await asyncio.sleep(0.001)
    counting = asyncio.create_task(count())
    same = await y is y
    await counting
    print(was_ready, same, turns > 2, np.asarray(y).tolist())
asyncio.run(main())
"""
    )
    assert run_program(code, PYCOMPILER_NUM_CPU_DEVICES="2") == "False True True [2.0, 2.0, 2.0, 2.0]"


def test_a_program_that_fails_while_work_is_pending_ends():
    code = LONG + "ys = [long(x + i) for i in range(4)]\nsys.exit(5)"
    assert run_program(code, expected_status=5) == ""


def test_nothing_is_alive_after_the_arrays_are_gone(gate, vector):
    gc.collect()  # remains of other tests
    before = rt.live_arrays()
    results = [gate(vector()) for _ in range(10)]
    chained = pc.jit(lambda *xs: sum(xs))(*results)
    del results, chained
    gate.open()
    rt.synchronize()
    assert eventually(lambda: rt.live_arrays() <= before), (rt.live_arrays(), before)
