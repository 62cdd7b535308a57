"""The setting `wait_for_callbacks`: a call of a program with host callbacks returns when they have run."""

import threading

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import experimental, lax

DEVICES = 2


@pytest.fixture(autouse=True)
def waits():
    pc.config.update("wait_for_callbacks", True)
    yield
    pc.config.update("wait_for_callbacks", False)
    pc.effects_barrier()


FLOATS = pc.ShapeDtypeStruct((3,), np.float32)
X = np.arange(3, dtype=np.float32)


def pure(function):
    return lambda x: pc.pure_callback(function, pc.ShapeDtypeStruct(x.shape, x.dtype), x)


def with_result(function, ordered):
    return lambda x: experimental.io_callback(function, FLOATS, x, ordered=ordered)


def debugging(function, ordered):
    def call(x):
        pc.debug.callback(lambda v: (function(v), None)[1], x, ordered=ordered)
        return x * 2

    return call


def without_result(function):
    return lambda x: experimental.io_callback(lambda v: (function(v), None)[1], None, x, ordered=True)


KINDS = {
    "pure": pure,
    "io": lambda function: with_result(function, False),
    "io-ordered": lambda function: with_result(function, True),
    "io-none": without_result,
    "debug": lambda function: debugging(function, False),
    "debug-ordered": lambda function: debugging(function, True),
    "cond": lambda function: lambda x: lax.cond(x[1] > 0, debugging(function, False), lambda x: x, x),
    "loop": lambda function: lambda x: lax.fori_loop(0, 1, lambda _, x: debugging(function, True)(x), x),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [True, False], ids=["jit", "eager"])
def test_callbacks_have_run_when_the_call_returns(kind, compiled):
    seen = []

    def record(value):
        # Longer than a launch, so that a call which does not wait returns first.
        threading.Event().wait(0.05)
        seen.append(np.array(value))
        return seen[-1]

    function = KINDS[kind](record)
    (pc.jit(function) if compiled else function)(X)
    assert len(seen) == 1
    np.testing.assert_array_equal(seen[0], X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [True, False], ids=["jit", "eager"])
def test_errors_are_raised_by_the_call_once(kind, compiled):
    def fail(value):
        raise ValueError("a callback that fails")

    function = KINDS[kind](fail)
    with pytest.raises(ValueError, match="a callback that fails"):
        (pc.jit(function) if compiled else function)(X)
    pc.effects_barrier()  # the error was raised: there is none left


@pytest.mark.parametrize("kind", ["pure", "io", "debug", "debug-ordered"])
def test_functions_of_the_host_get_no_weak_types(kind):
    seen = []

    def look(x):
        seen.append(x.weak_type)
        return np.ones(3, np.float32)

    function = {"pure": lambda x: pc.pure_callback(look, FLOATS, x)}.get(kind, KINDS[kind](look))
    pc.jit(function)(2.0)
    assert seen == [False]


def test_operands_in_flight_and_failed_ones():
    seen = []
    program = pc.jit(debugging(seen.append, False))
    slow = pc.jit(lambda x: lax.fori_loop(0, 200_000, lambda _, x: x * 1.0 + 0.0, x))
    program(slow(pnp.asarray(X)))
    np.testing.assert_array_equal(seen[0], X)


def test_a_callback_that_calls_such_a_program():
    seen = []
    inner = pc.jit(debugging(seen.append, False))
    outer = pc.jit(pure(lambda x: inner(x)))
    np.testing.assert_array_equal(outer(X), 2 * X)
    pc.effects_barrier()
    np.testing.assert_array_equal(seen, [X])


def test_calls_of_several_threads():
    seen = []
    program = pc.jit(debugging(lambda x: seen.append(int(x[0])), True))
    program(X)

    def calls(number):
        for _ in range(20):
            program(np.full(3, number, np.float32))
            assert number in seen

    threads = [threading.Thread(target=calls, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == sorted([0, *[1] * 20, *[2] * 20, *[3] * 20])


def test_participants():
    mesh = pc.make_mesh((2,), ("i",))
    seen, spec = [], pc.P("i")

    def record(value):
        threading.Event().wait(0.05)
        seen.extend(np.asarray(value).tolist())

    mapped = pc.jit(pc.shard_map(debugging(record, False), mesh=mesh, in_specs=spec, out_specs=spec))
    mapped(np.arange(4, dtype=np.float32))
    assert sorted(seen) == [0, 1, 2, 3]

    def fail(value):
        raise ValueError("a participant that fails")

    failing = pc.jit(pc.shard_map(pure(fail), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False))
    with pytest.raises(ValueError, match="a participant that fails"):
        failing(np.arange(4, dtype=np.float32))
    pc.effects_barrier()


def test_it_is_a_setting_of_the_process():
    with (
        pytest.raises(ValueError, match="wait_for_callbacks is a setting of the whole process"),
        pc.config.override("wait_for_callbacks", True),
    ):
        pass
