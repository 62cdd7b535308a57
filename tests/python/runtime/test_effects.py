"""Callbacks of compiled code: their time and order, the waits for them, and their exceptions."""

import gc
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import debug, lax
from pycompiler.experimental import io_callback

SCALAR = pc.ShapeDtypeStruct((), np.float32)


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    pc.effects_barrier()


def python(code, wait=60, **environment):
    """The output of a new process, its errors, its status."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=wait,
        check=False,
    )
    return done.stdout, done.stderr, done.returncode


# Values and order.


def test_a_print_shows_at_every_execution(capsys):
    @pc.jit
    def f(x):
        debug.print("x = {x}, {} of {}", x + 1, "two", x=x)
        return x * 2

    for x in range(3):
        assert float(f(x)) == 2 * x
    pc.effects_barrier()
    assert capsys.readouterr().out == "".join(f"x = {x}, {x + 1} of two\n" for x in range(3))


def test_ordered_effects_follow_the_program_within_and_across_calls():
    seen = []

    def note(x):
        if int(x) % 4 == 0:
            time.sleep(0.002)
        seen.append(int(x))

    @pc.jit
    def f(x):
        debug.callback(note, x, ordered=True)
        io_callback(note, None, x + 1, ordered=True)
        return x

    @pc.jit
    def g(x):
        debug.callback(note, x + 2, ordered=True)

    for start in range(0, 60, 3):
        f(start)
        g(start)
    pc.effects_barrier()
    assert seen == list(range(60))


def test_ordered_effects_in_loops_and_branches(capsys):
    @pc.jit
    def f(x):
        def body(i, c):
            debug.print("{} {}", i, c, ordered=True)
            return lax.cond(
                i % 2 == 0,
                lambda c: (debug.print("even", ordered=True), c + 1)[1],
                lambda c: c * 2,
                c,
            )

        x = lax.fori_loop(0, 3, body, x)
        debug.print("between {}", x, ordered=True)

        def is_small(c):
            debug.print("is {} small?", c, ordered=True)
            return c < 8

        return lax.while_loop(is_small, lambda c: (debug.print("grows", ordered=True), c + 2)[1], x)

    assert int(f(1)) == 9
    pc.effects_barrier()
    lines = "0 1|even|1 2|2 4|even|between 5|is 5 small?|grows|is 7 small?|grows|is 9 small?"
    assert capsys.readouterr().out.split("\n")[:-1] == lines.split("|")


def test_effects_of_calls_inside_of_calls(capsys):
    inner = pc.jit(lambda x: (debug.print("in {}", x, ordered=True), x + 1)[1])

    @pc.jit
    def outer(x):
        debug.print("out {}", x, ordered=True)
        y = inner(inner(x))
        inner(y)  # its result is not read
        return y

    assert int(outer(1)) == 3
    pc.effects_barrier()
    assert capsys.readouterr().out == "out 1\nin 1\nin 2\nin 3\n"


def test_threads_that_call_take_turns():
    seen = []

    @pc.jit
    def f(x):
        debug.callback(lambda x: seen.append(("begin", int(x))), x, ordered=True)
        debug.callback(lambda x: seen.append(("end", int(x))), x, ordered=True)

    f(0)
    threads = [threading.Thread(target=lambda n=n: [f(100 * n + i) for i in range(20)]) for n in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pc.effects_barrier()
    begins, ends = seen[2::2], seen[3::2]
    assert [number for _, number in begins] == [number for _, number in ends]
    assert all(what == "begin" for what, _ in begins)
    assert all(what == "end" for what, _ in ends)
    for n in range(1, 4):
        assert [x for _, x in begins if x // 100 == n] == [100 * n + i for i in range(20)]


def test_effects_happen_as_often_as_the_line_is_run():
    seen = []

    @pc.jit
    def f(x):
        io_callback(seen.append, None, x)
        io_callback(seen.append, None, x)
        unread = io_callback(lambda x: (seen.append(x), x)[1], SCALAR, x)
        del unread
        lax.fori_loop(0, 3, lambda i, c: (debug.callback(seen.append, x), c)[1], 0)
        return 1

    assert int(f(pnp.float32(2))) == 1
    pc.effects_barrier()
    assert len(seen) == 6
    assert all(float(x) == 2 for x in seen)


def test_a_pure_callback_that_nobody_reads_is_not_called():
    seen = []

    def pure(x):
        seen.append(x)
        return np.asarray(x) + 1

    @pc.jit
    def f(x):
        pc.pure_callback(pure, x, x + 1)
        return pc.pure_callback(pure, x, x) + pc.pure_callback(pure, x, x)

    assert float(f(pnp.float32(1))) == 4
    assert len(seen) in (1, 2)


def test_a_function_of_effects_alone():
    seen = []
    f = pc.jit(lambda: debug.callback(lambda *a, **k: seen.append((a, k)), "a", None, 1, key=[2.5, "b"]))
    assert f() is None
    assert f() is None
    pc.effects_barrier()
    ((a, none, one), kwargs) = seen[0]
    assert len(seen) == 2
    assert (a, none, int(one)) == ("a", None, 1)
    assert float(kwargs["key"][0]) == 2.5
    assert kwargs["key"][1] == "b"
    assert isinstance(one, pc.Array)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float32", "complex64", "int4", "float8_e4m3fn"]
)
def test_every_dtype_goes_there_and_back(dtype):
    with pc.enable_x64(dtype == "uint64"):
        x = pnp.asarray([[0, 1, 1], [1, 0, 1]]).astype(dtype)
        seen = []

        def same(x):
            seen.append((str(x.dtype), x.shape))
            return np.asarray(x)

        out = pc.jit(lambda x: pc.pure_callback(same, x, x.T.T))(x)
        assert out.dtype == x.dtype
        np.testing.assert_array_equal(np.asarray(out).astype(np.complex64), np.asarray(x).astype(np.complex64))
        assert seen == [(dtype, (2, 3))]


def test_trees_of_arguments_and_results():
    def f(pair, *, scale):
        return {"sum": np.asarray(pair[0]) + np.asarray(pair[1]), "empty": np.zeros((0, 3), np.int32), "scale": scale}

    @pc.jit
    def g(x, y):
        declared = {"sum": x, "empty": pc.ShapeDtypeStruct((0, 3), np.int32), "scale": SCALAR}
        return pc.pure_callback(f, declared, (x, y), scale=pnp.float32(3))

    out = g(pnp.arange(3.0), pnp.ones(3))
    np.testing.assert_array_equal(out["sum"], [1, 2, 3])
    assert out["empty"].shape == (0, 3)
    assert float(out["scale"]) == 3


# Waiting and not waiting.


def test_what_is_printed_does_not_hold_up_the_computation():
    gate = threading.Event()
    seen = []

    def late(x):
        gate.wait(30)
        seen.append(float(x[0]))

    @pc.jit(donate_argnums=0)
    def f(x):
        debug.callback(late, x)
        return x + 1

    x = pnp.zeros(2048)
    for _ in range(5):
        x = f(x)  # in the memory of the callback's argument
    assert float(x[0]) == 5
    assert seen == []
    gate.set()
    pc.effects_barrier()
    assert seen == [0, 1, 2, 3, 4]


def test_a_call_with_callbacks_returns_before_they_are_done():
    gate = threading.Event()

    def late(x):
        gate.wait(30)
        return np.asarray(x)

    f = pc.jit(lambda x: pc.pure_callback(late, x, x) + 1)
    out = f(pnp.float32(1))
    assert out.shape == ()
    assert not out.is_ready()
    gate.set()
    assert float(out) == 2


def test_a_callback_calls_compiled_code_that_calls_back():
    def level(depth):
        if depth == 0:
            return pc.jit(lambda x: pc.pure_callback(lambda x: np.asarray(x) + 1, x, x))
        inner = level(depth - 1)
        return pc.jit(lambda x: pc.pure_callback(lambda x: np.asarray(inner(x * 2)), x, x))

    assert float(level(4)(pnp.float32(1))) == 17


def test_an_ordered_callback_calls_ordered_code():
    seen = []
    inner = pc.jit(lambda x: debug.callback(lambda x: seen.append(int(x)), x, ordered=True))

    def note(x):
        inner(x)
        inner(x + 1)

    outer = pc.jit(lambda x: debug.callback(note, x, ordered=True))
    for start in range(0, 10, 2):
        outer(start)
    pc.effects_barrier()
    assert seen == list(range(10))


def test_the_barrier_inside_of_a_callback_is_an_error():
    failures = []

    def waits(x):
        try:
            pc.effects_barrier()
        except RuntimeError as error:
            failures.append(str(error))

    pc.jit(lambda x: debug.callback(waits, x))(1)
    pc.effects_barrier()
    assert "called by a callback" in failures[0]


def test_ctrl_c_ends_the_wait_and_the_next_call_works():
    gate = threading.Event()
    f = pc.jit(lambda x: debug.callback(lambda x: gate.wait(30), x, ordered=True))
    f(1)
    # Where the tests run in the background, a shell has made them ignore the signal.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            pc.effects_barrier()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, previous)
        gate.set()
    pc.effects_barrier()
    assert int(pc.jit(lambda x: pc.pure_callback(lambda x: np.asarray(x) + 1, x, x))(1)) == 2


# Exceptions.


class UnluckyError(Exception):
    pass


def fails(x):
    raise UnluckyError(f"number {int(x)}")


def test_an_exception_is_that_of_the_result_and_of_what_depends_on_it():
    f = pc.jit(lambda x: pc.pure_callback(fails, x, x))
    out = f(7)
    dependent, sibling = out + 1, pnp.int32(3) + 1
    for x in (out, dependent):
        with pytest.raises(UnluckyError, match="number 7"):
            x.block_until_ready()
    assert int(sibling) == 4
    with pytest.raises(UnluckyError, match="number 8"):
        f(8).block_until_ready()


def test_an_ordered_exception_is_that_of_the_call_and_the_next_call_works():
    seen = []

    @pc.jit
    def f(x):
        debug.callback(lambda x: fails(x) if int(x) == 1 else seen.append(int(x)), x, ordered=True)
        return x * 2

    with pytest.raises(UnluckyError, match="number 1"):
        f(1).block_until_ready()
    assert int(f(2)) == 4
    assert seen == [2]
    pc.effects_barrier()  # a read has reported it


def test_an_exception_of_a_call_without_results_is_raised_by_the_barrier():
    pc.jit(lambda x: debug.callback(fails, x, ordered=True))(5)
    with pytest.raises(UnluckyError, match="number 5"):
        pc.effects_barrier()
    pc.effects_barrier()


def test_an_exception_in_a_print_is_logged_and_raised_by_the_barrier(caplog):
    @pc.jit
    def f(x):
        debug.callback(fails, x)
        return x + 1

    assert int(f(6)) == 7
    with pytest.raises(UnluckyError, match="number 6"):
        pc.effects_barrier()
    pc.effects_barrier()
    assert "debug.callback of fails failed" in caplog.text
    assert "number 6" in caplog.text


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (lambda x: np.zeros(3, np.float32), r"returned float32\[3\], result_shape_dtypes declares f32\[\]"),
        (lambda x: np.int32(3), r"returned int32\[\], result_shape_dtypes declares f32\[\]"),
        (lambda x: (x, x), "returned 2 arrays, result_shape_dtypes declares 1"),
        (lambda x: None, "returned 0 arrays, result_shape_dtypes declares 1"),
    ],
    ids=["shape", "dtype", "more", "none"],
)
def test_what_it_returns_must_be_what_is_declared(result, said):
    for name, call in (("pure_callback", pc.pure_callback), ("io_callback", io_callback)):
        with pytest.raises(RuntimeError, match=f"{name}: .*{said}"):
            pc.jit(lambda x, call=call: call(result, SCALAR, x))(pnp.float32(1)).block_until_ready()


@pytest.mark.parametrize("call", [pc.pure_callback, io_callback])
def test_a_callback_with_the_sharding_of_one_device(call):
    one = pc.sharding.SingleDeviceSharding(pc.devices()[0])
    assert float(pc.jit(lambda x: call(lambda x: 2 * x, x, x, sharding=one))(pnp.float32(3))) == 6


def test_a_64_bit_result_is_narrowed_as_inputs_are():
    assert float(pc.pure_callback(lambda x: float(x) + 0.5, SCALAR, pnp.float32(1))) == 1.5


# Arguments.


def test_bad_arguments_are_named():
    x = pnp.float32(1)
    with pytest.raises(TypeError, match=r"debug.callback: the callback must be a function, got 3"):
        debug.callback(3)
    with pytest.raises(TypeError, match=r"pure_callback: the callback must be a function, got 3"):
        pc.pure_callback(3, x, x)
    with pytest.raises(ValueError, match="pure_callback: vmap_method is 'foo', expected None or one of sequential"):
        pc.pure_callback(np.sin, x, x, vmap_method="foo")
    with pytest.raises(ValueError, match=r"result_shape_dtypes\['a'\] is of 64-bit float64, .*enable_x64"):
        pc.pure_callback(np.sin, {"a": np.zeros(3)}, x)
    with pytest.raises(TypeError, match=r"io_callback: result_shape_dtypes\[0\] is 'f32'"):
        io_callback(np.sin, ["f32"], x)
    with pytest.raises(TypeError, match=r"io_callback: an argument of the callback, \[0\]\[0\], is 'a'"):
        io_callback(np.sin, x, "a")
    with pytest.raises(NotImplementedError, match="sharding"):
        pc.pure_callback(np.sin, x, x, sharding=1)


@pytest.mark.parametrize("function", [debug.print, debug.log], ids=["print", "log"])
def test_a_format_must_fit_its_values(function):
    name = function.__name__
    with pytest.raises(ValueError, match=rf"debug.{name}: .* has no field for the value number 1"):
        function("{}", 1, 2)
    with pytest.raises(ValueError, match="no field for the value 'b'"):
        function("{a}", a=1, b=2)
    with pytest.raises(IndexError, match="fields without a value: 1"):
        function("{} {}", 1)
    with pytest.raises(KeyError, match="without a value: 'a'"):
        function("{} {a}", 1)
    with pytest.raises(TypeError, match="the format must be a str, got 3"):
        function(3)
    with pytest.raises(TypeError, match=rf"debug.{name}: is given x=3, but no format"):
        function(x=3)


def test_formats(capsys):
    x = pnp.asarray([1.0, 2.5])
    debug.print(
        "{:.3f} {!r} {0[0]} {y.shape} {y:{w}}".replace("{:.3f}", "{1:.3f}").replace("{!r}", "{0!r}"),
        x,
        1.5,
        y=x[0],
        w=5,
    )
    debug.print("a b")
    debug.print("values", 1, x, skip_format_check=True)
    debug.print(ordered=True)("{a} {b}", a=[x, (1, "c")], b=None)
    with np.printoptions(precision=2):
        debug.print("{}", pnp.float32([1 / 3]))
    pc.effects_barrier()
    assert capsys.readouterr().out == (
        "1.500 Array([1. , 2.5], dtype=float32) 1.0 ()   1.0\na b\nvalues 1 [1.  2.5]\n"
        "[Array([1. , 2.5], dtype=float32), (Array(1, dtype=int32), 'c')] None\n[0.33]\n"
    )


def test_a_log_has_the_line(caplog):
    with caplog.at_level(logging.INFO, "pycompiler.debug"):
        pc.jit(lambda x: debug.log("x is {}", x))(3)
        pc.effects_barrier()
    (record,) = caplog.records
    assert record.getMessage() == "x is 3"
    assert record.levelno == logging.INFO
    assert record.pathname == __file__
    assert record.lineno == test_a_log_has_the_line.__code__.co_firstlineno + 2


def test_outside_of_jit_the_same_happens(capsys):
    x = pnp.float32(2)
    debug.print("x {}", x, ordered=True)
    assert float(pc.pure_callback(lambda x: np.asarray(x) * 3, x, x)) == 6
    assert float(io_callback(lambda x: np.asarray(x) * 4, x, x, ordered=True)) == 8
    debug.print("hello")
    pc.effects_barrier()
    assert capsys.readouterr().out == "x 2.0\nhello\n"
    with pytest.raises(UnluckyError):
        io_callback(fails, x, x).block_until_ready()


def test_the_same_print_is_compiled_once(capsys):
    for i in range(3):
        debug.print("the same {}", pnp.int32(i))
    with pc.log_compiles(True):
        debug.print("the same {}", pnp.int32(3))
    pc.effects_barrier()
    assert capsys.readouterr().out == "".join(f"the same {i}\n" for i in range(4))


def test_an_object_that_its_own_callback_holds_is_freed():
    class Model:
        def __init__(self):
            self.step = pc.jit(self._step)

        def _step(self, x):
            debug.callback(self.note, x)
            return x + 1

        def note(self, x):
            self.last = x

    model = Model()
    assert int(model.step(1)) == 2
    pc.effects_barrier()
    freed = weakref.ref(model)
    del model
    gc.collect()
    assert freed() is None


# Processes.


PRINTS = """
import time
import pycompiler as pc
f = pc.jit(lambda x: (pc.debug.callback(lambda x: (time.sleep(0.2), print("seen", x)), x, ordered={ordered}), x)[1])
f(1)
f(2)
{last}
"""


@pytest.mark.parametrize("sync", ["0", "1"])
@pytest.mark.parametrize("ordered", [False, True])
def test_the_end_of_the_program_waits(ordered, sync):
    out, err, status = python(PRINTS.format(ordered=ordered, last=""), PYCOMPILER_SYNC=sync)
    # Independent calls may end in any order, and so may their output.
    lines = out.splitlines() if ordered or sync == "1" else sorted(out.splitlines())
    assert (lines, status) == (["seen 1", "seen 2"], 0), err


def test_the_end_after_an_error_waits():
    out, err, status = python(PRINTS.format(ordered=True, last="raise ValueError('over')"))
    assert out == "seen 1\nseen 2\n"
    assert status == 1
    assert "over" in err


def test_a_failure_that_nobody_was_told_of_shows_at_the_end():
    code = "import pycompiler as pc\npc.jit(lambda x: pc.debug.callback(lambda x: 1 / 0, x, ordered={}))(1)\n"
    for ordered in (False, True):
        out, err, status = python(code.format(ordered))
        assert "ZeroDivisionError" in err, (ordered, out, err)
        assert status == 0


def test_everything_in_place_gives_the_same():
    code = """
import numpy as np, pycompiler as pc
from pycompiler.experimental import io_callback
inner = pc.jit(lambda x: pc.pure_callback(lambda x: np.asarray(x) + 1, x, x))
f = pc.jit(lambda x: (pc.debug.print("p {}", x), io_callback(lambda x: np.asarray(inner(x)), x, x, ordered=True))[1])
print(int(f(1)))
try:
    pc.jit(lambda x: pc.pure_callback(lambda x: {}[0], x, x))(1).block_until_ready()
except KeyError:
    print("KeyError")
pc.effects_barrier()
"""
    for sync in ("0", "1"):
        out, err, status = python(code, PYCOMPILER_SYNC=sync)
        assert (sorted(out.split("\n")), status) == (["", "2", "KeyError", "p 1"], 0), err


def test_a_fork_waits_for_callbacks_and_the_child_has_its_own():
    code = """
import os, sys, time, warnings
import pycompiler as pc
warnings.simplefilter("ignore")
def see(x):
    time.sleep(0.2)
    os.write(1, b"seen %d\\n" % int(x))
f = pc.jit(lambda x: pc.debug.callback(see, x, ordered=True))
f(1)
child = os.fork()
f(3 if child else 2)
pc.effects_barrier()
if child:
    _, status = os.waitpid(child, 0)
    sys.exit(status != 0)
os._exit(0)
"""
    out, err, status = python(code)
    assert out.startswith("seen 1\n"), (out, err)
    assert (sorted(out.split()), status) == (["1", "2", "3", "seen", "seen", "seen"], 0), (out, err)


def test_calls_outside_of_compiled_functions_follow_the_order_of_their_thread():
    seen = []
    for number in range(8):
        slow = pnp.linalg.inv(pnp.eye(300) * (number + 1))[0, 0] * (number + 1)
        debug.callback(lambda x, number=number: seen.append(2 * number), slow)
        debug.callback(lambda number=number: seen.append(2 * number + 1))
        io_callback(lambda x, number=number: seen.append(2 * number + 100), None, slow)
        debug.callback(lambda number=number: seen.append(2 * number + 101), ordered=True)
    pc.effects_barrier()
    assert seen == [2 * number + each for number in range(8) for each in (0, 1, 100, 101)]
