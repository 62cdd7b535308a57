"""The start of a process, from arguments and the environment: its number, the number of processes, and the address of
process 0.

Each launcher is a row of `LAUNCHERS`; the first one whose variables are set counts. `start` imports this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

Environment = Mapping[str, str]

# The port of process 0 if a launcher names only its host. Jobs on one machine get different ports by their ids.
_FIRST_PORT, _PORTS = 61440, 4096


@dataclass(frozen=True)
class Start:
    """The start of a process. `mpi` is the family of the MPI that the launcher belongs to; "" if it belongs to none.
    None: unknown.

    `secret` is a text that the processes of one program share, and that other programs need not know.
    """

    launcher: str
    process_id: int | None = None
    num_processes: int | None = None
    coordinator_address: str | None = None
    local_process_id: int | None = None
    local_num_processes: int | None = None
    mpi: str = ""
    secret: str = ""


@dataclass(frozen=True)
class Launcher:
    """A launcher: its variables for each fact, the first that is set counts. `is_there` are names that must all be set
    for it to be the one; of `one_is_there` one must be."""

    name: str
    is_there: tuple[str, ...]
    process_id: tuple[str, ...]
    num_processes: tuple[str, ...]
    local_process_id: tuple[str, ...] = ()
    local_num_processes: tuple[str, ...] = ()
    mpi: str = ""
    address: Callable[[Environment], str | None] = lambda environment: None
    job: tuple[str, ...] = ()
    one_is_there: tuple[str, ...] = ()

    def is_the_one(self, environment: Environment) -> bool:
        """Whether its variables are there."""
        some = not self.one_is_there or any(environment.get(name) for name in self.one_is_there)
        return some and all(environment.get(name) for name in self.is_there)


def _own_address(environment: Environment) -> str | None:
    return environment.get("PYCOMPILER_COORDINATOR_ADDRESS") or None


def _port_of(job: str | None) -> int:
    """A port by the number of a job."""
    digits = re.sub(r"\D", "", job or "")
    return _FIRST_PORT + int(digits or 0) % _PORTS


def first_host(nodes: str) -> str:
    """The first host of a list as Slurm writes it: "gpu[003-010,12],login1" -> "gpu003".

    >>> first_host("gpu[003-010,12],login1")
    'gpu003'
    """
    head = re.match(r"([^,\[]*)(?:\[([^\],-]*)[^\]]*\]([^,]*))?", nodes)
    assert head is not None
    return head[1] + (head[2] or "") + (head[3] or "")


def _slurm_address(environment: Environment) -> str | None:
    nodes = environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST")
    return f"{first_host(nodes)}:{_port_of(environment.get('SLURM_JOB_ID'))}" if nodes else None


def _torchrun_address(environment: Environment) -> str | None:
    host, port = environment.get("MASTER_ADDR"), environment.get("MASTER_PORT", "")
    # The launcher itself listens at MASTER_PORT.
    return f"{host}:{int(port) + 1 if port.isdecimal() else _port_of(port)}" if host else None


def _kubernetes_address(environment: Environment) -> str | None:
    """Process 0 of an indexed job: the pod's host name ends in the index, and a headless service makes it known."""
    own = environment.get("HOSTNAME", "")
    index = environment["JOB_COMPLETION_INDEX"]
    if not own.endswith(f"-{index}"):
        return None
    domain = environment.get("PYCOMPILER_SUBDOMAIN", "")
    return f"{own[: -len(index)]}0{'.' + domain if domain else ''}:{_FIRST_PORT}"


_OWN = "PYCOMPILER_*"

LAUNCHERS = (
    Launcher(
        _OWN,
        (),
        ("PYCOMPILER_PROCESS_ID",),
        ("PYCOMPILER_NUM_PROCESSES",),
        address=_own_address,
        # One that is set alone is no program of one process: what is missing is an error, or another launcher says it.
        one_is_there=("PYCOMPILER_PROCESS_ID", "PYCOMPILER_NUM_PROCESSES", "PYCOMPILER_COORDINATOR_ADDRESS"),
    ),
    Launcher(
        "Open MPI",
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK",),
        ("OMPI_COMM_WORLD_SIZE",),
        ("OMPI_COMM_WORLD_LOCAL_RANK",),
        ("OMPI_COMM_WORLD_LOCAL_SIZE",),
        mpi="Open MPI",
        job=("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"),
    ),
    Launcher(
        "MPICH",
        ("PMI_RANK",),
        ("PMI_RANK",),
        ("PMI_SIZE",),
        ("MPI_LOCALRANKID",),
        ("MPI_LOCALNRANKS",),
        mpi="MPICH",
        job=("PMI_JOBID",),
    ),
    Launcher(
        "Cray PALS",
        ("PALS_RANKID",),
        ("PALS_RANKID",),
        ("PALS_SIZE", "PMI_SIZE"),
        ("PALS_LOCAL_RANKID",),
        ("PALS_LOCAL_SIZE",),
        mpi="MPICH",
        job=("PALS_APID",),
    ),
    # A batch script without srun has SLURM_PROCID, too; the number of its step's tasks is set only in a step.
    Launcher(
        "Slurm",
        ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
        ("SLURM_PROCID",),
        ("SLURM_STEP_NUM_TASKS",),
        ("SLURM_LOCALID",),
        address=_slurm_address,
        job=("SLURM_JOB_ID",),
    ),
    Launcher(
        "torchrun",
        ("RANK", "WORLD_SIZE", "MASTER_ADDR"),
        ("RANK",),
        ("WORLD_SIZE",),
        ("LOCAL_RANK",),
        ("LOCAL_WORLD_SIZE",),
        address=_torchrun_address,
        job=("TORCHELASTIC_RUN_ID",),
    ),
    Launcher(
        "Kubernetes",
        ("JOB_COMPLETION_INDEX", "KUBERNETES_SERVICE_HOST"),
        ("JOB_COMPLETION_INDEX",),
        ("PYCOMPILER_NUM_PROCESSES",),
        address=_kubernetes_address,
    ),
)


def _number(environment: Environment, names: tuple[str, ...]) -> int | None:
    for name in names:
        text = environment.get(name)
        if text is None or text == "":
            continue
        if not text.strip().isdecimal():
            raise ValueError(f"distributed.initialize: the variable {name} must be a number, got {text!r}")
        return int(text)
    return None


def _of(launcher: Launcher, environment: Environment) -> Start:
    return Start(
        launcher.name,
        _number(environment, launcher.process_id),
        _number(environment, launcher.num_processes),
        launcher.address(environment),
        _number(environment, launcher.local_process_id),
        _number(environment, launcher.local_num_processes),
        launcher.mpi,
        next((environment[name] for name in launcher.job if name in environment), ""),
    )


def recognised(environment: Environment) -> list[Start]:
    """The starts by all launchers whose variables are set, in the order of their precedence."""
    return [_of(launcher, environment) for launcher in LAUNCHERS if launcher.is_the_one(environment)]


_FACTS = {
    "process_id": "the number of this process",
    "num_processes": "the number of processes",
    "coordinator_address": "the address of process 0",
}


def _joined(first: Start, second: Start) -> Start:
    """The facts of the first, completed by those of the second. Raises ValueError if they differ."""
    for fact, meaning in _FACTS.items():
        one, other = getattr(first, fact), getattr(second, fact)
        # Of a launcher's address only the host is given, and another one may be asked for.
        if fact == "coordinator_address" and second.launcher != _OWN:
            continue
        if one is not None and other is not None and one != other:
            raise ValueError(
                f"distributed.initialize: {first.launcher} says that {meaning} is {one}, {second.launcher} that it is "
                f"{other}. What to do: leave out one of them, or start the program by one launcher"
            )
    joined = {
        fact: getattr(second, fact)
        for fact in (*_FACTS, "local_process_id", "local_num_processes")
        if getattr(first, fact) is None
    }
    return replace(first, **joined, mpi=first.mpi or second.mpi, secret=first.secret or second.secret)


def find_start(
    coordinator_address: str | None,
    num_processes: int | None,
    process_id: int | None,
    environment: Environment,
) -> Start:
    """The start of this process. Arguments come first, then PYCOMPILER_*, then one launcher.

    Raises ValueError if two of these differ, or if together they are not enough; TypeError for arguments of other
    types.
    """
    _check_kinds(coordinator_address, num_processes, process_id)
    found = recognised(environment)
    own = [start for start in found if start.launcher == _OWN]
    launchers = [start for start in found if start.launcher != _OWN][:1]
    asked = Start("the call", process_id, num_processes, coordinator_address)
    is_asked = (process_id, num_processes, coordinator_address) != (None, None, None)
    sources = [*([asked] if is_asked else []), *own, *launchers]
    if not sources:
        return Start("no launcher", 0, 1)
    joined = sources[0]
    for source in sources[1:]:
        joined = _joined(joined, source)
    if launchers and (joined.mpi if joined.launcher == "the call" else joined.process_id != sources[0].process_id):
        joined = replace(joined, launcher=launchers[0].launcher)
    return _checked(joined)


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of "host:port"; the port is 0 if there is none. Brackets may be around an address with colons.

    >>> host_and_port("[::1]:1234")
    ('::1', 1234)
    """
    host, _, port = address.rpartition(":")
    return host.removeprefix("[").removesuffix("]"), int(port) if port.isdecimal() else 0


def _check_kinds(coordinator_address: object, num_processes: object, process_id: object) -> None:
    """Raise TypeError for arguments of other types."""
    for name, value in (("num_processes", num_processes), ("process_id", process_id)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise TypeError(
                f"distributed.initialize: {name} must be an int, got {value!r} of type {type(value).__name__}"
            )
    if coordinator_address is not None and not isinstance(coordinator_address, str):
        raise TypeError(
            "distributed.initialize: coordinator_address must be a str, 'host:port', got "
            f"{coordinator_address!r} of type {type(coordinator_address).__name__}"
        )


def _checked(start: Start) -> Start:
    where = f"distributed.initialize, started by {start.launcher}"
    if start.num_processes == 1 and start.process_id is None:
        start = replace(start, process_id=0)
    if start.process_id is None or start.num_processes is None:
        missing = " and ".join([meaning for fact, meaning in list(_FACTS.items())[:2] if getattr(start, fact) is None])
        raise ValueError(
            f"{where}: {missing} is not known. What to do: give num_processes and process_id, or set "
            "PYCOMPILER_NUM_PROCESSES and PYCOMPILER_PROCESS_ID"
        )
    if not 0 <= start.process_id < start.num_processes:
        raise ValueError(f"{where}: there is no process {start.process_id} of {start.num_processes}")
    if start.num_processes > 1 and not start.mpi:
        host, port = host_and_port(start.coordinator_address or "")
        if not host or not 0 < port < 65536:
            given = f", got {start.coordinator_address!r}" if start.coordinator_address else ""
            raise ValueError(
                f"{where}: the address of process 0 is needed, as 'host:port' with a port from 1 to 65535{given}. What "
                "to do: give coordinator_address, or set PYCOMPILER_COORDINATOR_ADDRESS"
            )
    return start
