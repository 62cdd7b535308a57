"""The caches of jit: bounded, freed with the function, and filled once by any number of threads."""

import gc
import threading
import weakref

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime
from pycompiler.core.cache import Cache
from pycompiler.jit import eager


def test_a_cache_keeps_what_was_used_last():
    cache = Cache(lambda: 8)
    for number in range(100):
        cache.put(number, str(number))
        assert cache.get(0) == "0"
    assert len(cache) <= 8
    assert cache.get(99) == "99"
    assert cache.get(50) is None


@pytest.fixture
def small():
    pc.config.update("cache_size", 4)
    yield
    pc.config.update("cache_size", 2048)


def test_traces_and_compiled_calls_are_bounded(small):
    traces = []

    @pc.jit
    def f(x):
        traces.append(x.shape)
        return x + 1

    for size in range(1, 9):
        f(np.ones(size, np.float32))
        f(np.ones(1, np.float32))
    assert f.cache_size() <= 4
    assert traces.count((1,)) == 1  # it was always among the last used entries
    f(np.ones(2, np.float32))
    assert traces.count((2,)) == 2


def test_a_fresh_function_in_a_loop_is_freed():
    def use(number):
        table = pnp.full(3, number)
        function = pc.jit(lambda x: pnp.sin(x) + table)
        function(pnp.ones(3))
        pc.vmap(function)(pnp.ones((2, 3)))
        pc.grad(lambda x: function(x).sum())(pnp.ones(3))
        return weakref.ref(function), weakref.ref(table)

    use(0)
    # Arrays of earlier tests may be freed meanwhile: then it is counted again.
    for _ in range(3):
        gc.collect()
        arrays = _runtime.live_arrays()
        kept = [use(number) for number in range(5)]
        gc.collect()
        assert [(f(), table()) for f, table in kept] == [(None, None)] * 5
        if _runtime.live_arrays() >= arrays:
            break
    assert _runtime.live_arrays() == arrays


def test_eager_evaluation_is_bounded(small):
    x = pnp.arange(24)
    for length in range(1, 12):
        assert x[: 2 * length : 2].shape == (length,)
    assert len(eager._functions) <= 4


def test_clear_caches():
    traces = []

    @pc.jit
    def f(x):
        traces.append(x)
        return x

    f(1.0)
    pc.clear_caches()
    f(1.0)
    assert len(traces) == 2


def in_threads(count, work):
    failures = []
    barrier = threading.Barrier(count)

    def run(number):
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_one_key_is_traced_once_by_eight_threads():
    traces = []

    @pc.jit
    def f(x, scale):
        traces.append(threading.get_ident())
        for _ in range(20):
            x = pnp.sin(x) * scale
        return x

    results = [None] * 8

    def work(number):
        results[number] = np.asarray(f(pnp.ones(4), 2.0))

    in_threads(8, work)
    assert len(traces) == 1
    for result in results:
        np.testing.assert_array_equal(result, results[0])


def test_threads_with_the_same_and_different_functions():
    shared = pc.jit(lambda x: (x * 2).sum())

    def work(number):
        own = pc.jit(lambda x: shared(x) + number)
        for size in (2, 3, 4):
            x = pnp.ones(size)
            assert float(own(x)) == 2 * size + number
            np.testing.assert_array_equal(pc.grad(own)(x), np.full(size, 2.0))
            assert float(shared(x)) == 2 * size
            assert own.lower(x).out_info.shape == ()

    in_threads(8, work)
