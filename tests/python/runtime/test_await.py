"""`await array`: the event loop continues meanwhile, and all waiters are served."""

import asyncio
import gc
import pathlib
import threading

import numpy as np
import pytest

from pycompiler import _runtime as rt

VECTOR = rt.ShapedArray((4,), np.float32)


def enqueue(load, array, entry="brief_add_one"):
    (result,) = load(entry, 1e9).execute([array], [VECTOR])
    return result


async def value(array):
    return np.asarray(await array).tolist()


def test_the_loop_goes_on_while_one_waits(gate, vector):
    result = gate(vector())

    async def main():
        async def count():
            for _ in range(5):
                await asyncio.sleep(0)
            gate.open()

        # Unless the loop goes on, nothing opens the gate.
        counting = asyncio.create_task(count())
        assert await result is result
        assert counting.done()

    asyncio.run(main())
    np.testing.assert_array_equal(np.asarray(result), [1, 2, 3, 4])


def test_what_is_ready_needs_no_loop(vector):
    array = vector(1, 2, 3, 4)
    with pytest.raises(StopIteration) as stopped:
        array.__await__().send(None)
    assert stopped.value.value is array


def test_errors_are_raised_where_it_is_awaited(load, vector):
    poisoned = enqueue(load, enqueue(load, vector(), "fails"))

    async def main():
        with pytest.raises(RuntimeError, match="fails: a library routine failed"):
            await poisoned
        return await value(enqueue(load, vector()))

    assert asyncio.run(main()) == [1, 2, 3, 4]


def test_many_are_gathered(load, vector):
    async def main():
        arrays = [enqueue(load, vector(i, i, i, i)) for i in range(50)]
        broken = enqueue(load, arrays[3], "fails")
        results = await asyncio.gather(*map(value, arrays), value(broken), value(arrays[0]), return_exceptions=True)
        assert results[:50] == [[i + 1.0] * 4 for i in range(50)]
        assert isinstance(results[50], RuntimeError)
        assert results[51] == [1.0] * 4

    asyncio.run(main())


def test_one_who_is_cancelled_does_not_disturb_the_others(load, gate, vector):
    async def main():
        slow = gate(vector())
        impatient, patient = asyncio.create_task(value(slow)), asyncio.create_task(value(slow))
        await asyncio.sleep(0)
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(value(enqueue(load, slow)), 0.001)
        gate.open()
        return await patient

    assert asyncio.run(main()) == [1, 2, 3, 4]


def test_a_loop_that_is_closed_meanwhile(gate, vector):
    slow = gate(vector())

    async def main():
        asyncio.create_task(value(slow))  # noqa: RUF006 (cancelled when the loop ends)
        await asyncio.sleep(0)

    asyncio.run(main())
    loop = asyncio.new_event_loop()
    task = loop.create_task(value(slow))
    loop.run_until_complete(asyncio.sleep(0))
    assert not task.done()
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
    assert not slow.is_ready()
    gate.open()
    slow.block_until_ready()
    del loop, task
    gc.collect()
    assert asyncio.run(value(slow)) == [1, 2, 3, 4]


def test_loops_in_several_threads(load, vector):
    results = []

    def run(number):
        async def main():
            for _ in range(20):
                results.append(await value(enqueue(load, vector(*[number] * 4))) == [number + 1.0] * 4)

        asyncio.run(main())

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 80
    assert all(results)


def test_no_descriptor_and_no_array_is_kept(load, vector):
    descriptors = pathlib.Path("/proc/self/fd")
    asyncio.run(value(enqueue(load, vector())))
    gc.collect()
    alive, kept = rt.live_arrays(), list[int]()
    for _ in range(3):
        before = len(list(descriptors.iterdir()))
        for _ in range(5):
            asyncio.run(value(enqueue(load, vector())))
        gc.collect()
        kept.append(len(list(descriptors.iterdir())) - before)
    # A thread of an earlier test may open one during one of the rounds; what a run keeps, each round keeps.
    assert min(kept) <= 0, kept
    assert rt.live_arrays() == alive
