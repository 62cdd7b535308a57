"""Signals during a compilation: the handler's exception surfaces, nothing stays locked, and the process ends."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler.core.config.config import config
from pycompiler.mlir import Context, Module, PassManager

X = np.linspace(0.1, 1.0, 64, dtype=np.float32)


def long_program(length: int) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        for i in range(length):
            x = pnp.sin(pnp.roll(x, i)) + pnp.sort(x) * x.sum()
        return x

    return f


@contextlib.contextmanager
def signal_after(seconds: float, handler: Any) -> Iterator[list[int]]:
    """Start a timer for SIGALRM; the list records its arrival."""
    came: list[int] = []

    def handle(number: int, frame: Any) -> None:
        came.append(number)
        handler(number, frame)

    before = signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield came
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def without_disk_cache() -> Iterator[None]:
    with config.override("enable_compilation_cache", False):
        yield


def threads_that_compile() -> set[str]:
    """This process's threads but those of the pool. A thread may end while they are listed."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if (task / "comm").read_text() != "pc-worker\n":
                found.add(task.name)
    return found


@pytest.mark.filterwarnings("ignore")
def test_an_interrupt_surfaces_and_the_next_compilation_works() -> None:
    # On a busy machine, an early signal comes before the passes begin.
    for seconds in (0.3, 1, 2, 4):
        lowered = pc.jit(long_program(1500)).lower(X)
        with signal_after(seconds, signal.default_int_handler) as came, pytest.raises(KeyboardInterrupt):
            lowered.compile()
        assert came
        before = threads_that_compile()
        # The interrupted compilation may go on. Meanwhile another module is compiled, here and in another thread.
        np.testing.assert_array_equal(np.asarray(pc.jit(lambda x: x * 2 + 1)(X)), X * np.float32(2) + np.float32(1))
        results: list[Any] = []
        thread = threading.Thread(target=lambda: results.append(np.asarray(pc.jit(lambda x: x - 3)(X))))  # noqa: B023
        thread.start()
        thread.join()
        np.testing.assert_array_equal(results[0], X - np.float32(3))
        if threads_that_compile() - before:
            break
    # The exception did not wait for the end of the pass, or of all passes: the thread was left to its compilation, and
    # the next one started another thread. A thread whose compilation has ended takes the next one.
    else:
        pytest.fail("no compilation was left to its thread")


@pytest.mark.filterwarnings("ignore")
def test_a_call_that_was_interrupted_is_compiled_again() -> None:
    f = pc.jit(long_program(40))

    def compile_again_and_again() -> None:
        while True:
            pc.clear_caches()
            f(X)

    with signal_after(0.05, signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        compile_again_and_again()
    want = pc.jit(lambda x: long_program(40)(x))(X)
    np.testing.assert_array_equal(np.asarray(f(X)), np.asarray(want))


@pytest.mark.filterwarnings("ignore")
def test_a_handler_that_returns_lets_the_compilation_go_on() -> None:
    f = pc.jit(long_program(100))
    with signal_after(0.2, lambda *_: None) as came:
        lowered = f.lower(X)
        while not came:
            compiled = lowered.compile()
            pc.clear_caches()
            lowered = pc.jit(long_program(100)).lower(X)
    assert np.asarray(compiled(X)).shape == X.shape


@pytest.mark.filterwarnings("ignore")
def test_other_threads_go_on() -> None:
    lowered = pc.jit(long_program(300)).lower(X)
    counts: list[int] = [0]
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    for show in (lowered.compile, lambda: lowered.as_text("llvmir")):
        counts[0] = 0
        show()
        # A thousand and more. If the compiler held the lock of the interpreter, it would be one or two.
        assert counts[0] > 10
    done.set()
    thread.join()


def chain(length: int) -> str:
    lines = ["func.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {"]
    lines += [f"  %{i + 1} = array.sin %{i} : tensor<4xf32>" for i in range(length)]
    return "\n".join([*lines, f"  return %{length} : tensor<4xf32>", "}"])


def test_a_pass_manager_is_interrupted() -> None:
    with Context():
        module, other = Module.parse(chain(50_000)), Module.parse(chain(3))
        passes = PassManager.parse("builtin.module(canonicalize,cse,array-to-linalg,canonicalize,cse)")

    def run_again_and_again() -> None:
        while True:
            passes.run(module)

    with signal_after(0.2, signal.default_int_handler), pytest.raises(KeyboardInterrupt):
        run_again_and_again()
    # The worker owns the context, which is free when the worker ends.
    assert len(list(module.walk())) == 1
    passes.run(other)
    assert "linalg.generic" in str(other)


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )


LONG = """
    import signal, sys, threading, time
    import numpy as np
    import pycompiler as pc, pycompiler.numpy as pnp
    pc.config.update("enable_compilation_cache", False)

    def f(x):
        for i in range(3000):
            x = pnp.sin(pnp.roll(x, i)) + pnp.sort(x) * x.sum()
        return x

    lowered = pc.jit(f).lower(np.ones(64, np.float32))
"""


def test_a_process_ends_while_what_was_interrupted_goes_on() -> None:
    done = run(
        LONG
        + """
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        lowered.compile()
    except KeyboardInterrupt:
        print("interrupted")
    sys.exit(3)
    """
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "interrupted\n", "")


def test_control_c_ends_a_program_that_compiles() -> None:
    done = run(
        LONG
        + """
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where the tests run in the background it is ignored
    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
    lowered.compile()
    """
    )
    assert done.returncode in (-signal.SIGINT, 130)
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")
