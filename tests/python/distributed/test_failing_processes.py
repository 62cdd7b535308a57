"""Processes that die, stop, raise or differ: the others learn of it, say which process and why, and end.

By which event they learn of it, the closed connection or the silence, is in the cause that they name. They do not wait
for another limit: each program ends by itself, with 97, after a longer one.
"""

import re
import sys
import textwrap

import pytest
from starting import HERE, free_port, patience, start

SCRIPT = HERE / "program_of_failures.py"


def fails(what, phase, count=3, kind="pmi"):
    codes, output = start(kind, count, [SCRIPT, what, phase, 40 * patience()]).wait(60)
    return codes, output, re.findall(r"process (\d) learned of (\d): (.*)", output)


@pytest.mark.parametrize("phase", ["compile", "run", "middle"])
def test_a_killed_process_is_known_by_its_connection(phase):
    codes, output, told = fails("kill", phase)
    assert {number for number, *_ in told} == {"0", "2"}, output
    assert all(other == "1" and "closed its connection" in cause for _, other, cause in told), output
    assert codes[1] == -9
    assert codes[0] not in (0, 97)
    assert codes[2] not in (0, 97)


def test_a_process_that_is_killed_while_sums_go_on_beside_the_computation(monkeypatch):
    monkeypatch.setenv("PYCOMPILER_MESSAGE_DELAY", "20")
    codes, output, told = fails("kill", "beside")
    assert {number for number, *_ in told} == {"0", "2"}, output
    assert all(other == "1" and "closed its connection" in cause for _, other, cause in told), output
    assert codes[1] == -9
    assert not {0, 97} & {codes[0], codes[2]}, output


def test_a_process_that_is_killed_after_the_start():
    codes, output, told = fails("kill", "init")
    assert {number for number, *_ in told} <= {"0", "2"}, output
    assert 0 not in codes, output
    assert 97 not in codes, output


@pytest.mark.parametrize("phase", ["run", "exit"])
def test_an_exception_is_told_with_its_type_text_and_line(phase):
    codes, output, told = fails("raise", phase)
    assert 97 not in codes, output
    assert codes[1] == 1
    assert "KeyError: 'lost'" in output
    if phase == "run":
        assert {number for number, *_ in told} == {"0", "2"}, output
        assert all("KeyError: 'lost' [program_of_failures.py:" in cause for *_, cause in told), output


def test_a_stopped_process_is_known_within_the_heartbeat_timeout():
    started = start("pmi", 3, [SCRIPT, "stop", "run", 40 * patience()])
    for number in (0, 2):
        assert started.processes[number].wait(60 * patience()) not in (0, 97), started.output()
    output = started.output()
    started.kill()
    assert len(re.findall(r"process (\d) learned of 1: it has been silent for 3 s", output)) == 2, output


def test_a_process_that_ends_early_is_no_riddle():
    codes, output, told = fails("exit", "run")
    assert 97 not in codes, output
    assert codes[1] != 0
    assert {number for number, *_ in told} == {"0", "2"}, output
    assert all("reached its end" in cause or "closed its connection" in cause for *_, cause in told), output


def run(count, text, **variables):
    """Processes that run a text."""
    return start("pmi", count, ["-c", textwrap.dedent(text)], **variables).wait(60)


def test_a_process_that_never_comes_is_named():
    text = """
    import os, sys, time
    if os.environ["PYCOMPILER_PROCESS_ID"] == "1":
        sys.exit(0)
    import pycompiler as pc
    pc.distributed.initialize(initialization_timeout=4)
    """
    codes, output = run(2, text)
    assert codes == [1, 0]
    assert "timed out waiting for process 1" in output


def test_process_0_that_never_comes():
    text = """
    import os, sys
    if os.environ["PYCOMPILER_PROCESS_ID"] == "0":
        sys.exit(0)
    import pycompiler as pc
    pc.distributed.initialize(initialization_timeout=2)
    """
    codes, output = run(2, text)
    assert codes == [0, 1]
    assert re.search(r"process 1 on .*: process 0 can't be reached at 127.0.0.1:\d+: Connection refused", output)


def test_another_secret_and_another_number_are_refused():
    text = """
    import os
    own = os.environ["PYCOMPILER_PROCESS_ID"]
    if own == "1":
        os.environ["PYCOMPILER_SECRET"] = "wrong"
    if own == "2":
        os.environ["PYCOMPILER_NUM_PROCESSES"] = "4"
    import pycompiler as pc
    pc.distributed.initialize(initialization_timeout=5)
    """
    codes, output = run(3, text)
    assert codes == [1, 1, 1]
    assert "PYCOMPILER_SECRET must be the same" in output
    assert "process 0 was started as one of 3 processes, process 2 as one of 4" in output


def test_open_mpi_without_its_launcher_says_so():
    from starting import LIB

    text = "import pycompiler as pc; pc.distributed.initialize()"
    codes, output = start("pmi", 1, ["-c", text], PYCOMPILER_MPI=str(LIB / "libmpi.so.40")).wait(30)
    assert codes == [0], output
    codes, output = start("pmi", 2, ["-c", text], PYCOMPILER_MPI=str(LIB / "libmpi.so.40")).wait(30)
    assert codes == [1, 1], output
    assert "starts by its own launcher only, which PYCOMPILER_* is not" in output


@pytest.mark.parametrize("use", ["numpy.ones(3)", "make_mesh((1,), ('x',))", "process_count()"])
def test_devices_that_were_used_before_the_start(tmp_path, use):
    file = tmp_path / "early.py"
    file.write_text(f"import pycompiler as pc\nx = pc.{use}\npc.distributed.initialize('h:1', 2, 0)\n")
    codes, output = start("pmi", 1, [file]).wait(30)
    assert codes == [1]
    assert re.search(r"must come before devices are used: \S*early.py:2 used them", output), output


def test_a_start_of_one_process_needs_nothing():
    import subprocess

    text = "import pycompiler as pc; pc.distributed.initialize()"
    text += "; print(pc.process_count(), pc.distributed.is_initialized())"
    text += "; pc.distributed.shutdown(); print(pc.distributed.is_initialized(), float(pc.numpy.ones(3).sum()))"
    from starting import environment

    done = subprocess.run([sys.executable, "-c", text], env=environment(), capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["1", "True", "False", "3.0"], done.stderr
    assert free_port() > 0
