"""The runtime's threads: independent calls overlap; threads start when needed, idle at no cost, and survive a fork."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pycompiler as pc
import pycompiler.numpy as jnp

two_threads = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")


def python(code: str, **settings: str) -> str:
    """The output of a new process."""
    done = subprocess.run(
        [sys.executable, "-c", f"import pycompiler as pc, pycompiler.numpy as jnp, os, time\n{code}"],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pc.jit
def serial(x: Any, steps: Any) -> Any:
    """A chain of scalar operations, which threads cannot share."""
    return pc.lax.fori_loop(0, steps, lambda i, y: jnp.sin(y) + x, x)


def chain(x: Any, steps: int) -> Any:
    for _ in range(4):
        x = serial(x, steps)
    return x


LONG, SHORT = 6_000_000, 60_000


@pytest.fixture
def numbers() -> tuple[Any, Any]:
    x, y = jnp.asarray(0.5), jnp.asarray(0.25)
    pc.block_until_ready((serial(x, 10), serial(y, 10)))
    return x, y


@two_threads
def test_a_short_call_passes_a_long_one(numbers: tuple[Any, Any]) -> None:
    x, y = numbers
    long, short = serial(x, LONG), serial(y, SHORT)
    short.block_until_ready()
    assert not long.is_ready()
    long.block_until_ready()


@two_threads
def test_a_short_chain_passes_a_long_one(numbers: tuple[Any, Any]) -> None:
    x, y = numbers
    long, short = chain(x, LONG // 4), chain(y, SHORT)
    short.block_until_ready()
    assert not long.is_ready()
    long.block_until_ready()


@two_threads
def test_a_parallel_call_passes_a_serial_one(numbers: tuple[Any, Any]) -> None:
    """The loops find the other thread busy, and one thread runs them."""
    product = pc.jit(lambda a: (a @ a).sum())
    a = jnp.ones((256, 256))
    pc.block_until_ready(product(a))
    long, short = serial(numbers[0], LONG), product(a)
    assert float(short) == 256**3
    assert not long.is_ready()
    long.block_until_ready()


@two_threads
def test_two_calls_run_at_the_same_time(numbers: tuple[Any, Any], tmp_path: Path) -> None:
    """benchmarks/threads.py shows that two then take the time of one."""
    with pc.profiler.trace(tmp_path):
        pc.block_until_ready([serial(x, LONG) for x in numbers])
    (path,) = tmp_path.glob("plugins/profile/*/perfetto_trace.json.gz")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    runs = [event for event in events if event.get("cat") == "run" and event["name"] == "serial"]
    assert len(runs) == 2
    assert max(run["ts"] for run in runs) < min(run["ts"] + run["dur"] for run in runs)


COUNT_THREADS = "print(len(os.listdir('/proc/self/task')) - before, end=' ')\n"


def test_small_calls_start_no_thread() -> None:
    out = python(
        "before = len(os.listdir('/proc/self/task'))\n"
        "x = jnp.arange(16.0)\n"
        "for _ in range(50): x = x * 2 - x\n"
        "x.block_until_ready(); pc.jit(lambda x: x @ x)(x).block_until_ready()\n"
        f"{COUNT_THREADS}"
        "y = jnp.ones((1024, 1024)); (y @ y).block_until_ready()\n"
        "pc.jit(lambda y: (y * 2).sum(0))(y).block_until_ready()\n"
        f"{COUNT_THREADS}",
        PYCOMPILER_NUM_THREADS="2",
    )
    small, large = (int(word) for word in out.split())
    # The compiler runs in a separate thread, so that the main one handles signals meanwhile.
    assert small <= 1
    assert small < large <= small + 2


def test_one_thread_or_none_is_enough() -> None:
    code = "y = jnp.ones((1024, 1024)); print(float((y @ y).sum()), end=' ')\n"
    assert python(code, PYCOMPILER_NUM_THREADS="1") == python(code, PYCOMPILER_SYNC="1") == "1073741824.0"
    count = "before = len(os.listdir('/proc/self/task'))\n" + code + COUNT_THREADS
    assert python(count, PYCOMPILER_SYNC="1").split()[1] == "0"


def test_an_idle_process_uses_no_time() -> None:
    """All threads but the main one sleep, and none of them is woken in half a second: their turns are counted."""
    out = python(
        "import pathlib\n"
        "def turns():\n"
        "    found = {}\n"
        "    for task in pathlib.Path('/proc/self/task').iterdir():\n"
        "        if int(task.name) != os.getpid():\n"
        "            lines = dict(line.split(':', 1) for line in (task / 'status').read_text().splitlines())\n"
        "            found[task.name] = [lines['State'].split()[0], lines['voluntary_ctxt_switches']]\n"
        "    return found\n"
        "y = jnp.ones((512, 512))\n"
        "for _ in range(20): y = (y @ y) * 0.001\n"
        "y.block_until_ready()\n"
        # The last ones may still be on their way to sleep.
        "for _ in range(600):\n"
        "    time.sleep(0.1)\n"
        "    if all(state == 'S' for state, _ in turns().values()): break\n"
        "time.sleep(0.1); before = turns()\n"
        "time.sleep(0.5); print(len(before), turns() == before, {state for state, _ in before.values()} == {'S'})\n",
        PYCOMPILER_NUM_THREADS="2",
    )
    count, is_equal, sleeps = out.split()
    assert (int(count) > 0, is_equal, sleeps) == (True, "True", "True")


def test_a_child_computes_and_the_parent_goes_on() -> None:
    out = python(
        "y = jnp.ones((700, 700)); f = pc.jit(lambda y: (y @ y) * (1 / 700))\n"
        "z = f(y)\n"
        "for _ in range(20): z = f(z)\n"  # in flight at the fork
        "child = os.fork()\n"
        "if child == 0:\n"
        "    ok = abs(float(f(z).sum()) - 490000) < 10 and abs(float(z.sum()) - 490000) < 10\n"
        "    os._exit(0 if ok else 1)\n"
        "for _ in range(20): z = f(z)\n"
        "print(abs(float(z.sum()) - 490000) < 10, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert out == "True 0"
