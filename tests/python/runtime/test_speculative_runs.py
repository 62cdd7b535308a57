"""Loops of unknown length: a short one runs in the calling thread, a long one does not delay its caller.

The runtime's choice: StreamTest.cpp (triesWhatMayBeShort). The budget of a trip: lit/Entry/add-loop-budget.mlir.
"""

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import lax


@pc.jit
def collatz(start):
    """The number of steps to 1, and the maximum on the way."""

    def step(state):
        n, count, most = state
        n = pnp.where(n % 2 == 0, n // 2, 3 * n + 1)
        return n, count + 1, pnp.maximum(most, n)

    return lax.while_loop(lambda state: state[0] != 1, step, (start, 0, start))[1:]


def collatz_of_numbers(n):
    count, most = 0, n
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count, most = count + 1, max(most, n)
    return count, most


@pc.jit
def count(limit):
    return lax.while_loop(lambda c: c < limit, lambda c: c + 1, pnp.int32(0))


def test_loops_of_every_length_give_their_result():
    for n in (1, 2, 7, 27, 97, 871, 77031):
        assert tuple(map(int, collatz(np.int32(n)))) == collatz_of_numbers(n)
    for _ in range(3):
        for n in (0, 1, 1000, 4999, 5000, 5001, 20_000, 3_000_000, 17):
            assert int(count(pnp.int32(n))) == n


def test_a_short_one_is_done_when_the_call_returns():
    for _ in range(5):
        assert count(pnp.int32(100)).is_ready()


def test_a_long_one_is_not():
    """A call that waited for its loop would always have its result; one that does not may, on a busy machine."""
    were_ready = []
    for _ in range(5):
        result = count(pnp.int32(500_000_000))
        were_ready.append(result.is_ready())
        assert int(result) == 500_000_000
    assert not all(were_ready)


def test_what_gave_up_leaves_no_trace():
    """Results and temporaries are written before a run stops: arrays that change in each trip, nested loops."""

    @pc.jit
    def powers(x, limit):
        def step(state):
            i, x = state
            inner = lax.while_loop(lambda v: v[0] < 3, lambda v: (v[0] + 1, v[1].at[i % 5].add(1)), (0, x))[1]
            return i + 1, inner[::-1] * 2 % 1000

        return lax.while_loop(lambda state: state[0] < limit, step, (0, x))[1]

    def expected(x, limit):
        for i in range(limit):
            x[i % 5] += 3
            x = x[::-1] * 2 % 1000
        return x

    for limit in (0, 3, 40, 2000, 40):
        np.testing.assert_array_equal(powers(pnp.arange(5), pnp.int32(limit)), expected(np.arange(5), limit))


@pytest.mark.parametrize("limit", [10, 1_000_000])
def test_donated_arguments_are_given_up_once(limit):
    double = pc.jit(lambda x: lax.while_loop(lambda v: v[0] < limit, lambda v: v + 1, x), donate_argnums=0)
    given = pnp.zeros(8)
    np.testing.assert_array_equal(double(given), np.full(8, limit, np.float32))
    assert given.is_deleted()


def test_searches_of_rows_inside_are_no_loops_of_unknown_length():
    @pc.jit
    def peaks(x, limit):
        def step(state):
            i, x = state
            return i + 1, x.at[i % 3, x.argmax(axis=1)[i % 3]].add(-1)

        return lax.while_loop(lambda state: state[0] < limit, step, (0, x))[1]

    def expected(x, limit):
        for i in range(limit):
            x[i % 3, x[i % 3].argmax()] -= 1
        return x

    x = np.random.default_rng(0).integers(0, 9, (3, 64)).astype(np.float32)
    for limit in (0, 1, 50, 700):
        result = peaks(pnp.asarray(x), pnp.int32(limit))
        np.testing.assert_array_equal(result, expected(x.copy(), limit))
    # After failed speculative runs of the long loops, the runtime waits before the next one.
    ready = [peaks(pnp.asarray(x), pnp.int32(1)).is_ready() for _ in range(20)]
    assert all(ready[-5:])


def test_callbacks_are_called_once_a_trip():
    seen = []

    @pc.jit
    def told(limit):
        def step(c):
            pc.debug.callback(lambda c: seen.append(int(c)), c, ordered=True)
            return c + 1

        return lax.while_loop(lambda c: c < limit, step, pnp.int32(0))

    assert int(told(pnp.int32(3000))) == 3000
    pc.effects_barrier()
    assert seen == list(range(3000))
