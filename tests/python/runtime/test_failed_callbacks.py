"""A failed callback fails all results of its call, and the barrier if no result is read."""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import debug
from pycompiler.experimental import io_callback

SCALAR = pc.ShapeDtypeStruct((), np.float32)


class UnluckyError(Exception):
    pass


def fails(x):
    raise UnluckyError(f"number {int(x)}")


RESULTS = {
    "a number": lambda x: 5.0,
    "an array": lambda x: np.arange(3.0, dtype=np.float32),
    "the argument": lambda x: x,
    "a part of it": lambda x: x[1:],
    "all": lambda x: (x, 1, x + 1, [x[:1], np.zeros(2, np.float32)]),
}


@pytest.mark.parametrize("call", ["ordered", "debug", "io", "unread io"])
@pytest.mark.parametrize("result", RESULTS)
def test_every_result_of_a_failed_call_fails(call, result):
    x = pnp.arange(1 << 15, dtype=np.float32)
    calls = {
        "ordered": lambda x: io_callback(fails, None, x[3], ordered=True),
        "debug": lambda x: debug.callback(fails, x[3], ordered=True),
        "io": lambda x: io_callback(fails, None, x[3]),
        "unread io": lambda x: io_callback(fails, SCALAR, x[3]),
    }

    @pc.jit
    def f(x):
        calls[call](x)
        return RESULTS[result](x)

    for out in pc.tree.leaves(f(x)):
        with pytest.raises(UnluckyError, match="number 3"):
            np.asarray(out)
        with pytest.raises(UnluckyError, match="number 3"):
            (out * 2).block_until_ready()
    # Reads of the results have reported it.
    pc.effects_barrier()
    assert float(x[3]) == 3


def test_the_results_of_calls_that_do_not_fail_are_right():
    seen = []

    @pc.jit(donate_argnums=0)
    def f(x, y):
        io_callback(lambda x: seen.append(float(x)), None, x[3], ordered=True)
        return y, x, 5, x[1:3], np.arange(2)

    y, x, five, part, pair = f(pnp.arange(1 << 15), pnp.ones(1 << 15, np.int32))
    assert (int(y.sum()), int(x[7]), int(five)) == (1 << 15, 7, 5)
    np.testing.assert_array_equal(part, [1, 2])
    np.testing.assert_array_equal(pair, [0, 1])
    assert seen == [3]


def test_the_barrier_raises_what_no_read_has_told():
    f = pc.jit(lambda x: (io_callback(fails, None, x, ordered=True), x + 1)[1])
    g = pc.jit(lambda x: io_callback(fails, SCALAR, x))
    unread = f(1), g(pnp.float32(2)), f(3)
    with pytest.raises(UnluckyError, match="number 1"):
        pc.effects_barrier()
    with pytest.raises(UnluckyError, match="number 2"):
        pc.effects_barrier()
    with pytest.raises(UnluckyError, match="number 3"):
        unread[2].block_until_ready()
    pc.effects_barrier()
    read = f(4)
    with pytest.raises(UnluckyError, match="number 4"):
        (read + 1).block_until_ready()
    pc.effects_barrier()


def test_a_pure_callback_that_fails_fails_the_whole_call():
    """Also results that are constants, or arguments passed through: a program has failed or not. One that no result
    needs is not called."""

    def fails(x):
        raise ValueError("no good")

    def f(x):
        return 3, x, pc.pure_callback(fails, pc.ShapeDtypeStruct((), x.dtype), x)

    for part in pc.jit(f)(pnp.ones(())):
        with pytest.raises(ValueError, match="no good"):
            part.block_until_ready()
    constant, passed = pc.jit(lambda x: f(x)[:2])(pnp.ones(()))
    assert (int(constant), float(passed)) == (3, 1.0)
