"""The start and the end of a program of several processes. Imports `launchers` and `mpi`.

First, the process finds its launcher. Then MPI starts, by its own launcher or by a PMI server in process 0. The
processes connect to the control plane in process 0, whose address is given or comes by MPI. Finally, all processes
exchange the lists of their devices.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import secrets
import socket
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pycompiler import _runtime
from pycompiler.core.errors import DistributedError
from pycompiler.core.mesh.processes import processes
from pycompiler.core.source import user_source
from pycompiler.diagnostics import remarks
from pycompiler.distributed.gpus import given, share
from pycompiler.distributed.launchers import Start, find_start, host_and_port
from pycompiler.distributed.mpi import load
from pycompiler.distributed.places import start_answering


@dataclass
class _State:
    """The arguments of `initialize`, and the place of its call."""

    request: tuple[Any, ...]
    place: str
    # Whether this process has told the others of its failure, and whether it has left.
    has_failed: bool = False
    has_left: bool = False
    pmi_port: int = 0


_state: _State | None = None


def is_initialized() -> bool:
    """Whether `initialize` has been called in this process, and `shutdown` not yet."""
    return _state is not None and not _state.has_left


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: Any = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: int = 60,
    heartbeat_timeout_seconds: int = 10,
    coordinator_bind_address: str | None = None,
) -> None:
    """Make this process one of a program of several. Call it before devices are used, in all processes.

    Without arguments, the launcher's environment gives the number of processes: mpirun (Open MPI, MPICH, Intel, Cray),
    srun, torchrun, Kubernetes' indexed jobs, or `PYCOMPILER_COORDINATOR_ADDRESS`, `PYCOMPILER_NUM_PROCESSES` and
    `PYCOMPILER_PROCESS_ID`. A process that no launcher started is a program of one. A second equal call does nothing.

    The processes of a machine divide its GPUs: one GPU each if there are enough. `local_device_ids`, a number or
    numbers among the GPUs that the driver shows to this process, chooses others.

    `coordinator_address` is the address of process 0, "host:port"; launchers of MPI need none. `initialization_timeout`
    is in seconds; a process that is silent for `heartbeat_timeout_seconds` has failed.

    Raises ValueError for settings that differ or are too few, RuntimeError after devices were used and after
    `shutdown`, ImportError without an MPI, and RuntimeError with the processes that are missing when the time is over.
    """
    global _state
    for name, value in (
        ("initialization_timeout", initialization_timeout),
        ("heartbeat_timeout_seconds", heartbeat_timeout_seconds),
    ):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise ValueError(f"distributed.initialize: {name} must be a positive number of seconds, got {value!r}")
    request = (coordinator_address, num_processes, process_id, coordinator_bind_address, str(local_device_ids))
    if _state is not None and _state.has_left:
        if processes.are_several:
            raise RuntimeError(
                f"distributed.initialize, called at {_state.place}, was ended by shutdown(). A process is started once"
            )
        _state = None
    if _state is not None:
        if _state.request == request:
            return
        raise RuntimeError(
            f"distributed.initialize was called before, at {_state.place}, with other arguments: "
            f"{_state.request[:3]}, now {request[:3]}. A process is started once"
        )
    used = _runtime.first_use_of_devices()
    if used is not None:
        raise RuntimeError(
            f"distributed.initialize must come before devices are used: {used or 'this process'} used them. What to "
            "do: call it first, right after the imports"
        )
    if cluster_detection_method not in (None, "deactivate"):
        raise ValueError(
            f"distributed.initialize: cluster_detection_method must be None or 'deactivate', got "
            f"{cluster_detection_method!r}; the launchers are recognised by their variables"
        )
    gpus = None if local_device_ids is None else given(local_device_ids, _runtime.visible_gpus())
    environment = {} if cluster_detection_method == "deactivate" else os.environ
    start = find_start(coordinator_address, num_processes, process_id, environment)
    source = user_source()
    state = _State(request, str(source) if source else "an unknown line")
    if start.num_processes != 1:
        deadline = time.monotonic() + initialization_timeout
        state.pmi_port = _start(start, deadline, int(heartbeat_timeout_seconds * 1000), coordinator_bind_address, gpus)
        _install_ends()
        start_answering()
    elif gpus is not None:
        _runtime.keep_gpus(gpus)
    _state = state


def _left_ms(deadline: float) -> int:
    return max(int((deadline - time.monotonic()) * 1000), 1)


@contextlib.contextmanager
def _named_if_late(start: Start, phase: str, deadline: float) -> Iterator[None]:
    """A context for a wait of MPI, whose errors name no process. If the time is over, the control plane names the
    missing processes."""
    _runtime.set_value(f"{phase}: begun by {start.process_id}", b"")
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, DistributedError) or time.monotonic() < deadline:
            raise
        assert start.num_processes is not None
        missing = [number for number in range(start.num_processes) if not _has_begun(phase, number)]
        who = f"these processes have not come to it: {missing}" if missing else "all processes have come to it"
        raise RuntimeError(f"{error}; {who}") from None


def _has_begun(phase: str, number: int) -> bool:
    try:
        _runtime.get_value(f"{phase}: begun by {number}", 1)
    except RuntimeError:
        return False
    return True


#  Connecting


def _own_address() -> str:
    """The address of the interface that reaches other machines. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        return probe.getsockname()[0]
    return socket.gethostname()


def _start(start: Start, deadline: float, silence_ms: int, bind_address: str | None, gpus: list[int] | None) -> int:
    """Connect the processes. Returns the port of the PMI server, 0 without one."""
    pmi_port = 0
    assert start.process_id is not None
    assert start.num_processes is not None
    version = load(start.mpi, os.environ.get("PYCOMPILER_MPI"))
    if (start.local_num_processes or start.num_processes) > (os.cpu_count() or 1):
        # Processes that share cores and spin in MPICH keep each other from running.
        os.environ.setdefault("MPIR_CVAR_CH4_SHM_PROGRESS_THROTTLE", "1")
    is_open_mpi = "Open MPI" in _runtime.mpi_abi()
    # A launcher that speaks PMIx, such as srun --mpi=pmix, starts Open MPI as its own launcher does.
    if start.mpi or (is_open_mpi and os.environ.get("PMIX_RANK")):
        _start_mpi(start, version, deadline)
        address, port, secret = _coordinator_by_mpi(start, deadline, silence_ms)
        _connect(start, address, port, secret, deadline, silence_ms)
    else:
        if is_open_mpi:
            raise RuntimeError(
                f"distributed.initialize: {version} starts by its own launcher only, which {start.launcher} is not. "
                "What to do: start the program by mpirun (srun --mpi=pmix), or pip install mpich and set "
                "PYCOMPILER_MPI to its libmpi.so.12"
            )
        address, port = host_and_port(str(start.coordinator_address))
        secret = os.environ.get("PYCOMPILER_SECRET") or start.secret
        if start.process_id == 0:
            _runtime.serve_processes(bind_address or address, port, start.num_processes, secret, silence_ms)
        _connect(start, address, port, secret, deadline, silence_ms)
        pmi_port = _start_by_pmi(start, version, address, deadline)
    _meet(start, _keep_gpus(start, gpus, deadline), deadline)
    return pmi_port


def _start_mpi(start: Start, version: str, deadline: float) -> None:
    late = (
        f"distributed.initialize: MPI_Init of {version} has not returned in time: it waits for processes that have not "
        f"started, of the {start.num_processes} that {start.launcher} names"
    )
    rank, size = _runtime.start_mpi(_left_ms(deadline), late)
    if (rank, size) != (start.process_id, start.num_processes):
        raise RuntimeError(
            f"distributed.initialize: {start.launcher} says that this is process {start.process_id} of "
            f"{start.num_processes}, but {version} that it is {rank} of {size}: the library does not belong to the "
            "launcher. What to do: use the mpirun of the same MPI, or set PYCOMPILER_MPI to the launcher's library"
        )


def _coordinator_by_mpi(start: Start, deadline: float, silence_ms: int) -> tuple[str, int, str]:
    """The address of the control plane, which MPI carries from process 0, and the secret."""
    told = b""
    if start.process_id == 0:
        address = "127.0.0.1" if start.local_num_processes == start.num_processes else _own_address()
        secret = secrets.token_hex(16)
        assert start.num_processes is not None
        port = _runtime.serve_processes(address, 0, start.num_processes, secret, silence_ms)
        told = json.dumps([address, port, secret]).encode()
    late = (
        "distributed.initialize: process 0 has not told its address in time: it has failed, or does not run. What "
        "to do: look for its error in the output of the launcher"
    )
    address, port, secret = json.loads(_runtime.broadcast_by_mpi(told, _left_ms(deadline), late))
    return address, port, secret


def _connect(start: Start, address: str, port: int, secret: str, deadline: float, silence_ms: int) -> None:
    assert start.process_id is not None
    assert start.num_processes is not None
    host = socket.gethostname()
    try:
        _runtime.begin_processes(
            start.process_id,
            start.num_processes,
            host,
            os.getpid(),
            address,
            port,
            secret,
            _left_ms(deadline),
            silence_ms,
        )
    except RuntimeError as error:
        raise RuntimeError(f"distributed.initialize, process {start.process_id} on {host}: {error}") from None


def _start_by_pmi(start: Start, version: str, address: str, deadline: float) -> int:
    """Start an MPICH without its launcher: process 0 answers in place of the launcher. Returns the port for the
    answers."""
    assert start.num_processes is not None
    everyone = list(range(start.num_processes))
    hosts = [
        host.decode()
        for host in _runtime.gather_values(
            "distributed.initialize", everyone, socket.gethostname().encode(), _left_ms(deadline)
        )
    ]
    if start.process_id == 0:
        local = len(set(hosts)) == 1
        port = _runtime.serve_pmi(
            "127.0.0.1" if local else address, len(hosts), f"(vector,(0,1,{len(hosts)}))" if local else ""
        )
        _runtime.set_value("pmi", f"{'127.0.0.1' if local else address}:{port}".encode())
    before = {name: os.environ.pop(name, None) for name in ("PMI_PORT", "PMI_ID", "PMI_FD", "PMI_RANK", "PMI_SIZE")}
    pmi = _runtime.get_value("pmi", _left_ms(deadline)).decode()
    os.environ["PMI_PORT"] = pmi
    os.environ["PMI_ID"] = str(start.process_id)
    try:
        with _named_if_late(start, "the start of MPI", deadline):
            _start_mpi(start, version, deadline)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
    return int(pmi.rpartition(":")[2])


def _keep_gpus(start: Start, gpus: list[int] | None, deadline: float) -> list[str]:
    """Divide the GPUs of each machine among its processes. Returns the uuids of this process's GPUs."""
    assert start.process_id is not None
    assert start.num_processes is not None
    told = json.dumps({"host": socket.gethostname(), "gpus": _runtime.visible_gpus()}).encode()
    everyone = list(range(start.num_processes))
    all_told = [
        json.loads(each)
        for each in _runtime.gather_values("distributed.initialize, GPUs", everyone, told, _left_ms(deadline))
    ]
    visible, hosts = [each["gpus"] for each in all_told], [each["host"] for each in all_told]
    own = share(visible, hosts, start.process_id) if gpus is None else gpus
    _runtime.keep_gpus(own)
    return [visible[start.process_id][number] for number in own]


def _meet(start: Start, gpus: list[str], deadline: float) -> None:
    """Exchange the lists of devices with all processes, and number the devices."""
    assert start.process_id is not None
    assert start.num_processes is not None
    own = [
        [
            device.platform,
            device.local_hardware_id,
            str(device).split(":")[0],
            device.device_kind,
            device.compute_capability,
        ]
        for device in _runtime.local_devices()
    ]
    told = json.dumps({"host": socket.gethostname(), "devices": own, "gpus": gpus}).encode()
    everyone = list(range(start.num_processes))
    all_told = [
        json.loads(each)
        for each in _runtime.gather_values("distributed.initialize", everyone, told, _left_ms(deadline))
    ]
    hosts = [each["host"] for each in all_told]
    for gpu in gpus:
        if len(sharing := [process for process, each in enumerate(all_told) if gpu in each["gpus"]]) > 1:
            remarks.tell("gpu-shared", f"processes {', '.join(map(str, sharing))} compute on the GPU {gpu}")
    counts: dict[str, int] = {}
    ids: list[int] = []
    others: list[tuple[int, int, int, str, str, str, str]] = []
    for process, each in enumerate(all_told):
        for platform, local, family, kind, capability in each["devices"]:
            number = counts.get(platform, 0)
            counts[platform] = number + 1
            if process == start.process_id:
                ids.append(number)
            else:
                others.append((process, number, local, platform, family, kind, capability))
    _runtime.place_devices(start.process_id, ids, others)
    processes.set(start.process_id, hosts)
    neighbours = hosts.count(hosts[start.process_id])
    shares_memory = os.environ.get("PYCOMPILER_SHARED_MEMORY", "1") != "0"
    may_spin = neighbours <= len(os.sched_getaffinity(0))
    with _named_if_late(start, "the messages of MPI", deadline):
        late = "MPI (MPI_Comm_dup, MPI_Win_allocate_shared) has not returned in time"
        _runtime.join_transport(may_spin, shares_memory, _left_ms(deadline), late)


# Ending


def _install_ends() -> None:
    atexit.register(_at_exit)
    earlier = sys.excepthook

    def tell(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        # An error from another process is not a failure of this one.
        if not isinstance(error, DistributedError):
            _tell_failure(kind, error, trace)
        elif _state is not None:
            _state.has_failed = True
        earlier(kind, error, trace)

    sys.excepthook = tell


def _tell_failure(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    assert _state is not None
    _state.has_failed = True
    frames = traceback.extract_tb(trace)
    place = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    text = str(error)
    with contextlib.suppress(RuntimeError):
        _runtime.tell_failure(f"{kind.__name__}{': ' + text if text else ''}", place)


def shutdown() -> None:
    """Leave the program: wait for launched work, and for the other processes, as long as they live. The end of the
    process does the same. A second call does nothing."""
    if _state is None or _state.has_left:
        return
    if not processes.are_several:
        _state.has_left = True
        return
    for finish in processes.before_end:
        finish()
    _runtime.synchronize()
    _runtime.tell_end()
    everyone = list(range(processes.count))
    _runtime.gather_values("distributed.shutdown", everyone, b"", 0)
    # MPI must not end while messages are on their way.
    _runtime.drain_messages()
    _runtime.gather_values("distributed.shutdown, the last messages", everyone, b"", 0)
    _state.has_left = True
    _runtime.leave_processes(ends_mpi=True, pmi_port=_state.pmi_port)


def _at_exit() -> None:
    if _state is None or _state.has_left:
        return
    failed = _state.has_failed
    if not failed:
        try:
            shutdown()
        except RuntimeError as error:
            print(f"pycompiler: process {processes.index} ends: {error}", file=sys.stderr)
    if not _state.has_left:
        # MPI can't end here, since others of its processes are gone, and its own end might wait for them.
        _runtime.leave_processes(ends_mpi=False, pmi_port=0)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
