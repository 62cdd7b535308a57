"""Threads of compiled graphs: `torch.set_num_threads` decides, and torch's own threads are no hindrance."""

import json
import os
import subprocess
import sys

# Prints what the workers of the pool have done after each of several calls.
PROGRAM = """
import json, os, pathlib, sys, time
import torch
import pycompiler.torch

def workers():
    found = [p for p in pathlib.Path("/proc/self/task").iterdir() if (p / "comm").read_text().startswith("pc-worker")]
    times = [(p / "schedstat").read_text().split() for p in found]
    return len(found), sum(int(t[0]) for t in times)

x = torch.rand(1 << 22)
f = torch.compile(lambda x: (x.sin() * x.cos()).exp(), backend="pycompiler")
seen = []
for count in json.loads(sys.argv[1]):
    torch.set_num_threads(count)
    f(x)
    time.sleep(0.05)
    before = workers()
    for _ in range(5):
        f(x)
    after = workers()
    seen.append((after[0], after[1] - before[1]))
print(json.dumps(seen))
"""


def work_of(counts: list[int], pool: int) -> list[tuple[int, int]]:
    """The number of workers and the nanoseconds that they ran, for calls with each number of torch's threads."""
    settings = {**os.environ, "PYCOMPILER_NUM_THREADS": str(pool)}
    text = subprocess.check_output([sys.executable, "-c", PROGRAM, json.dumps(counts)], text=True, env=settings)
    return [(count, time) for count, time in json.loads(text)]


def test_one_thread_of_torch_is_no_work_on_the_pool():
    assert work_of([1], pool=4) == [(0, 0)]


def test_the_number_may_change_between_calls():
    many, one, again = work_of([4, 1, 2], pool=4)
    assert many[0] >= 1
    assert many[1] > 0
    # Workers that slept stay asleep.
    assert one[1] < many[1] / 20
    assert again[1] > 0


def test_a_pool_of_one_stays_one():
    assert work_of([4], pool=1) == [(0, 0)]
