#!/usr/bin/env python3
"""Stress test of the runtime: many threads, sizes and programs, including failures; checks for leaks.

Eight Python threads launch programs of all kinds on random sizes, keep some results pending, and compare each result
with NumPy's. One call in a hundred fails on purpose (no memory for temporaries, an exception in a callback, a failed
input, a donated input). The error must be that of the first cause, and nothing else may change. At the end, the numbers
of arrays and bytes must equal those of the start. If nothing happens for two minutes, the stacks of all threads are
printed.

    tools/soak.py --seconds 600
"""

import argparse
import asyncio
import collections
import dataclasses
import faulthandler
import gc
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("PYCOMPILER_NUM_CPU_DEVICES", "2")

import numpy as np

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import _runtime as runtime
from pycompiler import lax

SIZES = (1, 7, 64, 1000, 4097, 65536, 300_000)
EDGES = (4, 33, 128, 200)
FAILURES = 0.01
HANG_SECONDS = 120
# More memory than any machine has. A program with temporaries of this size fails when it runs.
TOO_LARGE = 1 << 44


@dataclasses.dataclass
class Pending:
    """A pending call: its expected result, or the expected error of reading it."""

    name: str
    results: list[Any]
    wanted: list[Any] = dataclasses.field(default_factory=list)
    error: type[BaseException] | None = None
    text: str = ""

    def check(self) -> None:
        if self.error is None:
            for got, want in zip(self.results, self.wanted, strict=True):
                np.testing.assert_allclose(np.asarray(got), want, rtol=2e-4, atol=2e-3, err_msg=self.name)
            return
        for result in self.results:
            try:
                np.asarray(result)
            except self.error as error:
                if self.text in str(error) + "".join(getattr(error, "__notes__", ())):
                    continue
                raise AssertionError(f"{self.name}: the error does not say {self.text!r}") from error
            raise AssertionError(f"{self.name}: reading it should raise {self.error.__name__}")


# Programs, compiled once and shared by the threads.


@pc.jit
def chain(x: Any) -> Any:
    return pnp.tanh(x) * 2 + x


@pc.jit
def statistics(x: Any) -> Any:
    return {"mean": x.mean(), "largest": x.max(), "sorted": pnp.sort(x)[:3], "last": pnp.cumsum(x)[-1]}


@pc.jit
def product(a: Any, b: Any) -> Any:
    return a @ b


@pc.jit
def positive(a: Any) -> Any:
    return pnp.linalg.cholesky(a @ a.T + 10 * pnp.eye(len(a)))


@pc.jit
def loop(x: Any) -> Any:
    return lax.scan(lambda carry, row: (carry * 0.5 + row, carry.sum()), pnp.zeros_like(x), pnp.stack([x] * 5))


def step(parameters: Any, gradients: Any) -> Any:
    return parameters - 0.1 * gradients


donating = pc.jit(step, donate_argnums=0)


@pc.jit
def needs_too_much(x: Any) -> Any:
    return pnp.sort(pnp.broadcast_to(x[0], (TOO_LARGE,)))[:1]


def refuse(x: np.ndarray) -> np.ndarray:
    raise ValueError("refused by the callback")


pure_callback: Any = getattr(pc, "pure_callback", None)


@pc.jit
def calls_back(x: Any) -> Any:
    return pure_callback(lambda y: np.asarray(y) * 3, pc.ShapeDtypeStruct(x.shape, x.dtype), x) + 1


@pc.jit
def calls_back_badly(x: Any) -> Any:
    return pure_callback(refuse, pc.ShapeDtypeStruct(x.shape, x.dtype), x) + 1


class Thread:
    """The stream of calls of one thread."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numpy = np.random.default_rng(seed)
        self.counts: collections.Counter[str] = collections.Counter()
        self.pending: collections.deque[Pending] = collections.deque()
        self.programs = [
            self.chain, self.statistics, self.product, self.positive, self.loop,
            self.donated, self.eager, self.awaited, self.transfer,
        ]  # fmt: skip
        self.failures = [self.out_of_memory, self.poisoned, self.used_again]
        if pure_callback is not None:
            self.programs.append(self.callback)
            self.failures.append(self.failing_callback)

    def floats(self, *shape: int) -> np.ndarray:
        return self.numpy.standard_normal(shape).astype(np.float32)

    def vector(self) -> np.ndarray:
        return self.floats(self.random.choice(SIZES))

    def array(self, values: np.ndarray) -> Any:
        """The array on a random device."""
        devices = pc.devices()
        put = getattr(pc, "device_put", None)
        if put is None or len(devices) == 1 or self.random.random() < 0.5:
            return pnp.asarray(values)
        return put(values, self.random.choice(devices))

    # Programs that succeed.

    def chain(self) -> Pending:
        x = self.vector()
        y, want = self.array(x), x
        for _ in range(self.random.randrange(1, 5)):
            y, want = chain(y), np.tanh(want) * 2 + want
        return Pending("chain", [y], [want])

    def statistics(self) -> Pending:
        x = self.floats(self.random.choice((7, 1000, 4097)))
        got = statistics(self.array(x))
        return Pending(
            "statistics",
            [got["mean"], got["largest"], got["sorted"], got["last"]],
            [x.mean(), x.max(), np.sort(x)[:3], np.float32(x.sum(dtype=np.float64))],
        )

    def product(self) -> Pending:
        edge = self.random.choice(EDGES)
        a, b = self.floats(edge, edge), self.floats(edge, edge)
        left = self.array(a)
        return Pending("product", [product(left, b)], [a @ b])

    def positive(self) -> Pending:
        a = self.floats(self.random.choice((4, 33)), 4)
        return Pending("positive", [positive(self.array(a))], [np.linalg.cholesky(a @ a.T + 10 * np.eye(len(a)))])

    def loop(self) -> Pending:
        x = self.floats(self.random.choice((7, 1000)))
        carry, sums = np.zeros_like(x), []
        for _ in range(5):
            sums.append(carry.sum())
            carry = carry * 0.5 + x
        return Pending("loop", [*loop(self.array(x))], [carry, np.array(sums, np.float32)])

    def donated(self) -> Pending:
        p, g = self.floats(4097), self.floats(4097)
        parameters, gradients = self.array(p), pnp.asarray(g)
        for _ in range(3):
            before, parameters = parameters, donating(parameters, gradients)
            if not before.is_deleted():
                raise AssertionError("donated: the argument is still there")
            p = step(p, g)
        return Pending("donated", [parameters], [p])

    def eager(self) -> Pending:
        x = self.floats(self.random.choice((7, 1000, 65536)))
        y = self.array(x)
        return Pending("eager", [y + y, y * 2 - 1, y[3], (y > 0).sum()], [x + x, x * 2 - 1, x[3], (x > 0).sum()])

    def awaited(self) -> Pending:
        x = self.floats(65536)

        async def main() -> list[Any]:
            return await asyncio.gather(*[one(chain(self.array(x))) for _ in range(3)])

        async def one(array: Any) -> Any:
            return await array

        # Creating an event loop takes far longer than all other steps here.
        if self.random.random() < 0.9:
            return Pending("awaited", [])
        return Pending("awaited", asyncio.run(main()), [np.tanh(x) * 2 + x] * 3)

    def transfer(self) -> Pending:
        """Overwrite the NumPy array as soon as the call has returned."""
        x = self.vector()
        want = np.tanh(x) * 2 + x
        y = chain(x)
        x[:] = np.nan
        return Pending("transfer", [y], [want])

    def callback(self) -> Pending:
        x = self.vector()
        return Pending("callback", [calls_back(self.array(x))], [x * 3 + 1])

    # Programs that fail.

    def out_of_memory(self) -> Pending:
        return Pending(
            "out_of_memory", [needs_too_much(self.array(self.floats(7)))], error=MemoryError, text="launched"
        )

    def poisoned(self) -> Pending:
        """Values that depend on a failure fail with it. Other values are computed."""
        x = self.floats(1000)
        good = self.array(x)
        bad = needs_too_much(good)
        Pending("sibling", [chain(good)], [np.tanh(x) * 2 + x]).check()
        return Pending(
            "poisoned", [chain(bad), bad + good, donating(bad, bad + 1)], error=MemoryError, text="needs_too_much"
        )

    def used_again(self) -> Pending:
        gone, gradients = self.array(self.floats(4097)), pnp.asarray(self.floats(4097))
        kept = donating(gone, gradients)
        for use in (np.asarray, chain):
            try:
                use(gone)
            except RuntimeError as error:
                if "donated" in str(error):
                    continue
                raise
            raise AssertionError("used_again: a donated array was used")
        return Pending("used_again", [gone, kept][:1], error=RuntimeError, text="donated")

    def failing_callback(self) -> Pending:
        results = [chain(calls_back_badly(self.array(self.vector())))]
        return Pending("failing_callback", results, error=ValueError, text="refused by the callback")

    # The loop.

    def call(self, program: Callable[[], Pending]) -> None:
        made = program()
        self.counts[made.name] += 1
        self.pending.append(made)
        while len(self.pending) > self.random.randrange(16):
            self.pending.popleft().check()

    def run(self, until: float) -> None:
        while time.monotonic() < until:
            fails = self.random.random() < FAILURES
            self.call(self.random.choice(self.failures if fails else self.programs))
        self.finish()

    def finish(self) -> None:
        while self.pending:
            self.pending.popleft().check()


def live(most: tuple[float, float] = (0, 0)) -> tuple[int, int]:
    """The arrays and bytes that are alive after all work; waits up to five seconds until they are at most `most`."""
    now = (0, 0)
    for _ in range(50):
        gc.collect()
        runtime.synchronize()
        now = runtime.live_arrays(), sum(runtime.memory_stats(device).live_bytes for device in pc.devices())
        if now[0] <= most[0] and now[1] <= most[1]:
            break
        time.sleep(0.1)
    return now


def resident_mib() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def warm_up() -> None:
    """Compile all programs for each size. Memory that stays in use afterwards is a leak."""
    thread = Thread(0)
    for _ in range(60):
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        for program in (*thread.programs, *thread.failures):
            thread.call(program)
    thread.finish()


def watch(threads: list[Thread], running: threading.Event, seconds: float) -> None:
    """Postpone the alarm while calls are made. The alarm does not need Python's lock."""
    before, started = -1, time.monotonic()
    while not running.wait(10):
        calls = sum(sum(thread.counts.values()) for thread in threads)
        if calls != before:
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            print(
                f"{time.monotonic() - started:5.0f} of {seconds:.0f} s: {calls} calls, {resident_mib()} MiB", flush=True
            )
        before = calls


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(
        f"soak: {options.threads} threads, {options.seconds:.0f} s, --seed {options.seed}, {pc.devices()}", flush=True
    )
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    warm_up()
    arrays, size = live()
    resident = resident_mib()

    threads = [Thread(options.seed + number) for number in range(options.threads)]
    until, faults = time.monotonic() + options.seconds, []

    def work(thread: Thread) -> None:
        try:
            thread.run(until)
        except BaseException as error:
            faults.append(error)
            thread.pending.clear()

    workers = [threading.Thread(target=work, args=(thread,), name=f"soak {i}") for i, thread in enumerate(threads)]
    done = threading.Event()
    watcher = threading.Thread(target=watch, args=(threads, done, options.seconds))
    for thread in (*workers, watcher):
        thread.start()
    for thread in workers:
        thread.join()
    done.set()
    watcher.join()
    counts: collections.Counter[str] = sum((thread.counts for thread in threads), collections.Counter())
    messages = [f"{type(error).__name__}: {error}" for error in faults]
    for error in faults[:3]:
        sys.excepthook(type(error), error, error.__traceback__)
    faults.clear()
    workers.clear()
    threads.clear()
    arrays_after, size_after = live((arrays, size))
    faulthandler.cancel_dump_traceback_later()

    print(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    print(f"{sum(counts.values())} calls, {len(messages)} faults")
    print(
        f"arrays {arrays} -> {arrays_after}, bytes {size} -> {size_after}, resident {resident} -> {resident_mib()} MiB"
    )
    leaks = arrays_after > arrays or size_after > size
    print("soak: " + ("LEAK" if leaks else "FAULTS" if messages else "ok"))
    return 1 if leaks or messages else 0


if __name__ == "__main__":
    sys.exit(main())
