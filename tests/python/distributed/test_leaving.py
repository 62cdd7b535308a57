"""No process stays behind: a failure in any phase, and Ctrl-C in any wait, end all of them soon."""

import os
import re
import signal
import textwrap
import time

import pytest
from starting import HERE, patience, start

SCRIPT = HERE / "program_of_failures.py"


def begin(count, text, **variables):
    guard = "import faulthandler; faulthandler.dump_traceback_later(%s, exit=True)\n" % (40 * patience())
    return start("pmi", count, ["-c", guard + textwrap.dedent(text)], **variables)


def until(started, text):
    """Wait until it is printed."""
    end = time.monotonic() + 40 * patience()
    while text not in started.output():
        if time.monotonic() > end or any(process.poll() is not None for process in started.processes):
            started.kill()
            pytest.fail(f"{text!r} was not printed:\n{started.output()}", pytrace=False)
        time.sleep(0.02)


@pytest.mark.parametrize("phase", ["_start_mpi", pytest.param("_meet", marks=pytest.mark.full), "join_transport"])
def test_a_process_that_is_killed_within_its_start(phase):
    text = f"""
    import os, signal, time
    import pycompiler as pc
    from pycompiler.distributed import start
    place = start if hasattr(start, "{phase}") else start._runtime
    kept = getattr(place, "{phase}")
    def phase(*given):
        if os.environ["PYCOMPILER_PROCESS_ID"] == "1":
            time.sleep(0.5)
            print("killed", flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        return kept(*given)
    setattr(place, "{phase}", phase)
    try:
        pc.distributed.initialize(initialization_timeout=100)
    except RuntimeError as error:
        print(f"told: {{error}}", flush=True)
        raise
    """
    codes, output = begin(3, text).wait(30)
    assert codes[1] == -signal.SIGKILL
    assert codes[0] not in (0, -signal.SIGABRT, -signal.SIGSEGV), output
    assert codes[2] not in (0, -signal.SIGABRT, -signal.SIGSEGV), output
    # They are told that the connection closed. If they waited for the limit of the start, they would be told of that.
    told = re.findall(r"told: .*process 1 \(.*closed its connection", output)
    assert len(told) == 2, output


def test_processes_leave_after_a_failure_and_ctrl_c_ends_a_wait():
    """They would sleep for a quarter of an hour: that they end within the limit of `wait` is because they were told."""
    text = """
    import os, signal, time
    import numpy as np
    import pycompiler as pc
    from pycompiler.sharding import PartitionSpec as P
    pc.distributed.initialize()
    mesh = pc.make_mesh((3,), ("x",))
    f = pc.jit(pc.shard_map(lambda x: pc.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
    x = pc.make_array_from_process_local_data(pc.NamedSharding(mesh, P("x")), np.ones(1, np.float32))
    f(x).block_until_ready()
    own = pc.process_index()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"ready {own}.", flush=True)
    if own == 1:
        f(x).block_until_ready()
    time.sleep(1000)
    """
    started = begin(3, text)
    for number in range(3):
        until(started, f"ready {number}.")
    time.sleep(0.3)
    # It waits in a launch; the others sleep, and learn of it by nothing that they call.
    os.kill(started.processes[1].pid, signal.SIGINT)
    codes, output = started.wait(20)
    assert 0 not in codes, output
    assert "KeyboardInterrupt" in output
    assert len(re.findall(r"process [02] ends, because process 1 \(.*KeyboardInterrupt", output)) == 2, output


def test_a_program_goes_on_after_ctrl_c_in_a_wait(tmp_path):
    """The launch fails everywhere if the interrupted thread ran it itself, and goes on if another did: by chance. The
    next one works."""
    text = """
    import os, signal, time
    import numpy as np
    import pycompiler as pc
    from pycompiler.sharding import PartitionSpec as P
    pc.distributed.initialize()
    mesh = pc.make_mesh((2,), ("x",))
    f = pc.jit(pc.shard_map(lambda x: pc.lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
    x = pc.make_array_from_process_local_data(pc.NamedSharding(mesh, P("x")), np.ones(1, np.float32))
    for _ in range(5):
        f(x).block_until_ready()
    own = pc.process_index()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"ready {own}.", flush=True)
    if own == 0:
        while not os.path.exists(os.environ["MARK"]):
            time.sleep(0.05)
    try:
        f(x).block_until_ready()
    except (KeyboardInterrupt, pc.errors.DistributedError) as error:
        print(f"{own} had {type(error).__name__}: {error}.", flush=True)
    print(f"{own} goes on: {float(f(x)[0])}.", flush=True)
    """
    mark = tmp_path / "mark"
    started = begin(2, text, MARK=str(mark))
    for number in range(2):
        until(started, f"ready {number}.")
    time.sleep(0.3)
    os.kill(started.processes[1].pid, signal.SIGINT)
    until(started, "1 had KeyboardInterrupt")
    mark.touch()
    codes, output = started.wait(20)
    assert codes == [0, 0], output
    told = re.findall(r"0 had .*", output)
    assert all("the wait for it was interrupted in process 1" in each for each in told), output
    assert "0 goes on: 2.0." in output
    assert "1 goes on: 2.0." in output


@pytest.mark.full
@pytest.mark.parametrize("phase", ["init", "compile", "run", "middle", "exit"])
@pytest.mark.parametrize("what", ["kill", "stop", "raise", "exit"])
def test_what_happens_in_each_phase_ends_all(what, phase):
    started = start("pmi", 3, [SCRIPT, what, phase, 40 * patience()])
    end = time.monotonic() + 50 * patience()
    alive = [0, 2] if what == "stop" else [0, 1, 2]
    while any(started.processes[number].poll() is None for number in alive) and time.monotonic() < end:
        time.sleep(0.05)
    codes, output = [process.poll() for process in started.processes], started.output()
    started.kill()
    assert None not in [codes[number] for number in alive], output
    assert 97 not in codes, output
    if what == phase == "exit":
        # Nobody waits for a process that ends with a code of its own after its last launch.
        assert codes == [0, 3, 0], output
        return
    assert all(codes[number] != 0 for number in alive), output


@pytest.mark.parametrize("wait", ["sync_global_devices('there')", "process_allgather(np.ones(3))", "assert_equal(1)"])
def test_nobody_meets_a_process_that_has_reached_its_end(wait):
    text = f"""
    import sys, time
    import numpy as np
    import pycompiler as pc
    from pycompiler.experimental import multihost_utils
    pc.distributed.initialize()
    if pc.process_index() == 1:
        sys.exit(3)
    try:
        multihost_utils.{wait}
    except pc.errors.DistributedError as error:
        print(f"told: {{error.process}}: {{error}}", flush=True)
        raise
    """
    codes, output = begin(3, text).wait(30)
    assert 0 not in codes, output
    assert len(re.findall(r"told: 1: process 1 \(.*pid \d+\) does not come: it has reached its end", output)) == 2, (
        output
    )


def test_a_long_wait_in_a_meeting_says_where_the_others_are(tmp_path):
    script, mark = tmp_path / "late.py", tmp_path / "mark"
    text = """
    import os, time
    import pycompiler as pc
    from pycompiler.experimental import multihost_utils
    pc.distributed.initialize()
    pc.config.update("collective_timeout", 2)  # A wait is told after half of it.
    def load():
        while not os.path.exists(os.environ["MARK"]):
            time.sleep(0.05)
    if pc.process_index() == 1:
        load()
    multihost_utils.sync_global_devices("data")
    """
    guard = "import faulthandler; faulthandler.dump_traceback_later(%s, exit=True)\n" % (40 * patience())
    script.write_text(guard + textwrap.dedent(text))
    started = start("pmi", 2, [script], MARK=str(mark))
    until(started, "has waited")
    mark.touch()
    codes, output = started.wait(20)
    assert codes == [0, 0], output
    told = r"process 0 has waited for \d+ s in sync_global_devices: 'data' \(call 1\), for process 1 \(.*\): "
    assert re.search(told + r"it has not come, at late.py:\d+ \(load\)", output), output


@pytest.mark.parametrize("count", [1, 2])
def test_a_start_after_the_end(count):
    text = """
    import pycompiler as pc
    pc.distributed.initialize()
    pc.distributed.shutdown()
    print(f"ended: {pc.distributed.is_initialized()}.", flush=True)
    try:
        pc.distributed.initialize()
        print(f"again: {pc.distributed.is_initialized()}.", flush=True)
    except RuntimeError as error:
        print(f"told: {error}.", flush=True)
    """
    codes, output = begin(count, text).wait(30)
    assert codes == [0] * count, output
    assert output.count("ended: False.") == count, output
    told = "again: True." if count == 1 else r"was ended by shutdown\(\)"
    assert len(re.findall(told, output)) == count, output


def test_preemption_is_known_to_all_and_the_programs_own_function_is_called():
    text = """
    import os, signal, threading
    import pycompiler as pc
    from pycompiler.experimental import multihost_utils
    pc.distributed.initialize()
    own = pc.process_index()
    signal.signal(signal.SIGTERM, lambda *given: print(f"called in {own}.", flush=True))
    raised = []
    def elsewhere():
        try:
            multihost_utils.reached_preemption_sync_point(0)
        except RuntimeError as error:
            raised.append(str(error))
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert "make the first call in the main thread" in raised[0], raised
    assert not multihost_utils.reached_preemption_sync_point(1)
    if own == 1:
        os.kill(os.getpid(), signal.SIGTERM)
    print(f"{own}: {multihost_utils.reached_preemption_sync_point(2)}.", flush=True)
    """
    codes, output = begin(2, text).wait(30)
    assert codes == [0, 0], output
    assert sorted(re.findall(r"called in \d|\d: True", output)) == ["0: True", "1: True", "called in 1"], output
