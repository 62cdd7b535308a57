"""Profiles over HTTP, of other processes, and read again."""

import gzip
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

import pycompiler as pc
import pycompiler.numpy as pnp
from pycompiler import profiler

CHILD = """
import sys, time
import pycompiler as pc, pycompiler.numpy as pnp
print(pc.profiler.start_server(0).port, flush=True)
f = pc.jit(lambda x: x * 2)
while True:
    with pc.profiler.TraceAnnotation("child works", round=1):
        f(pnp.ones(3)).block_until_ready()
    time.sleep(0.01)
"""


def ask(port, path):
    with urllib.request.urlopen(f"http://localhost:{port}{path}", timeout=60) as answer:
        return answer.read()


@pytest.fixture
def server():
    yield profiler.start_server(0)
    profiler.stop_server()


@pytest.fixture
def child():
    with subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True) as process:
        yield process.pid, int(process.stdout.readline())
        process.kill()


def names(data):
    return {event.name for plane in data.planes for line in plane.lines for event in line.events}


def test_a_running_program_is_asked(child):
    _, port = child
    # On a busy machine the child may not get its turn within one of these.
    traces = (json.loads(ask(port, "/trace?seconds=0.3")) for _ in range(50))
    assert any("child works" in {event["name"] for event in trace["traceEvents"]} for trace in traces)
    assert ask(port, "/memory")[:2] == b"\x1f\x8b"
    for path, code in (
        ("/nothing", 404),
        ("/trace?seconds=x", 400),
        ("/trace?seconds=nan", 400),
        ("/trace?seconds=-1", 400),
        ("/stop", 409),
    ):
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask(port, path)
        assert caught.value.code == code


def test_one_server_and_one_profile_at_a_time(server, tmp_path):
    with pytest.raises(ValueError, match=f"a server runs at port {server.port}"):
        profiler.start_server(0)
    with profiler.trace(tmp_path), pytest.raises(urllib.error.HTTPError) as caught:
        ask(server.port, "/trace?seconds=0.01")
    assert caught.value.code == 409
    assert ask(server.port, "/start").isdigit()
    with pytest.raises(RuntimeError, match="being recorded"):
        profiler.start_trace(tmp_path)
    assert b"traceEvents" in ask(server.port, "/stop")


def test_no_server():
    with pytest.raises(ValueError, match="no server runs"):
        profiler.stop_server()


def test_a_profile_has_registered_processes(child, tmp_path):
    pid, port = child
    remove = profiler.register_subprocess(pid, port)
    with pytest.raises(ValueError, match=f"process {pid} is registered"):
        profiler.register_subprocess(pid, port)
    with profiler.trace(tmp_path), profiler.TraceAnnotation("parent waits"):
        time.sleep(0.3)
    (file,) = tmp_path.glob("plugins/profile/*/*")
    data = profiler.ProfileData.from_file(file)
    assert names(data) >= {"parent waits", "child works"}
    parent, other = (data.find_plane_with_name(f"/host:CPU/{number}") for number in (os.getpid(), pid))
    (waits,) = [e for line in parent.lines for e in line.events if e.name == "parent waits"]
    works = [e for line in other.lines for e in line.events if e.name == "child works"]
    # One clock: the rounds of the child fall into the wait.
    assert sum(waits.start_ns < e.start_ns and e.end_ns < waits.end_ns for e in works) > len(works) // 2
    remove()
    with profiler.trace(tmp_path / "alone"):
        pass
    (file,) = (tmp_path / "alone").glob("plugins/profile/*/*")
    assert json.loads(gzip.decompress(file.read_bytes()))["traceEvents"] == [] or "child works" not in names(
        profiler.ProfileData.from_file(file)
    )


def test_a_process_without_a_server():
    with pytest.raises(RuntimeError, match=r"no profiler server answers at port 1 .*start_server"):
        profiler.register_subprocess(12345, 1)


def test_a_profile_is_read(tmp_path):
    with profiler.trace(tmp_path), profiler.TraceAnnotation("fetch rows", batch=3):
        pc.jit(lambda x: pnp.sin(x) + 1)(pnp.ones(3)).block_until_ready()
    (file,) = tmp_path.glob("plugins/profile/*/*")
    for path in (file, tmp_path / "unpacked.json"):
        if path != file:
            path.write_bytes(gzip.decompress(file.read_bytes()))
        data = profiler.ProfileData.from_file(path)
        (plane,) = [plane for plane in data.planes if isinstance(plane, profiler.ProfilePlane)]
        (load,) = [e for line in plane.lines for e in line.events if e.name == "fetch rows"]
        assert isinstance(load, profiler.ProfileEvent)
        assert dict(load.stats) == {"category": "user", "batch": 3}
        assert load.duration_ns > 0
        assert load.end_ns == load.start_ns + load.duration_ns
        assert any(line.name == "MainThread" for line in plane.lines)
        assert data.find_plane_with_name("/host:GPU") is None
    (tmp_path / "other").write_text("{}")
    with pytest.raises(ValueError, match="no profile of this package"):
        profiler.ProfileData.from_file(tmp_path / "other")
