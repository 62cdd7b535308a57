"""The known environment variables: those of the settings, and those that the runtime or other code reads directly.

An unknown variable with our prefix gives a warning at import that names the nearest known one. A misspelled name would
otherwise have no effect, without notice. tests/python/core/test_core_config.py checks the table against the readers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

from pycompiler.core.config.settings import TABLE

PREFIX = "PYCOMPILER_"

# The variables that are no settings, and their meaning.
ELSEWHERE: dict[str, str] = {
    "PYCOMPILER_NUM_THREADS": "the number of threads of the pool, which share large kernels",
    "PYCOMPILER_SYNC": "1: each call runs in place, so a failure appears at its launch",
    "PYCOMPILER_LAPACK": "the file of the LAPACK that array-run and exported libraries load",
    "PYCOMPILER_COORDINATOR_ADDRESS": "host:port of process 0, for distributed.initialize",
    "PYCOMPILER_NUM_PROCESSES": "the number of processes, for distributed.initialize",
    "PYCOMPILER_PROCESS_ID": "the number of this process, for distributed.initialize",
    "PYCOMPILER_SECRET": "a text that the processes of one program show each other",
    "PYCOMPILER_SUBDOMAIN": "the headless service of a Kubernetes job's pods",
    "PYCOMPILER_MPI": "the file of the library of MPI",
    "PYCOMPILER_MESSAGE_DELAY": "milliseconds that exchanges between processes take more: a slow network, for tests",
    "PYCOMPILER_SHARED_MEMORY": "0: the processes of a node exchange messages by MPI, not by memory that they share",
    "PYCOMPILER_CUDA_DRIVER": "the file of the CUDA driver",
    "PYCOMPILER_CUBLASLT": "the file of cuBLASLt",
    "PYCOMPILER_CUFFT": "the file of cuFFT",
    "PYCOMPILER_CUSOLVER": "the file of cuSOLVER",
    "PYCOMPILER_NCCL": "the file of NCCL",
    "PYCOMPILER_EMULATED_DEVICES": "the tests' emulated GPU: the number of devices",
    "PYCOMPILER_EMULATED_MEMORY": "the tests' emulated GPU: bytes of memory of each",
    "PYCOMPILER_EMULATED_VERSION": "the tests' emulated GPU: the version of the driver",
    "PYCOMPILER_EMULATED_CAPABILITY": "the tests' emulated GPU: the compute capability",
    "PYCOMPILER_EMULATED_POOLS": "the tests' emulated GPU: whether it has pools of memory",
    "PYCOMPILER_EMULATED_PEERS": "the tests' emulated GPU: whether devices read each other's memory",
    "PYCOMPILER_TORCH_STRICT": "1: an operation that torch.compile would leave to eager torch is an error",
    "PYCOMPILER_TESTS_CACHE": "the tests' own disk cache",
}


def known() -> list[str]:
    """The names of all known variables."""
    return [*(setting.environment for setting in TABLE), *ELSEWHERE]


def unknown(environment: Iterable[str]) -> dict[str, str | None]:
    """The variables with our prefix that no code reads, each with the nearest known name."""
    names = {name.removeprefix(PREFIX): name for name in known()}
    given = (name.removeprefix(PREFIX) for name in environment if name.startswith(PREFIX))
    found = sorted(name for name in given if name not in names)
    if not found:
        return {}
    import difflib  # few programs get here, and the module would slow the import

    nearest = {name: difflib.get_close_matches(name, names, 1) for name in found}
    return {PREFIX + name: names[near[0]] if near else None for name, near in nearest.items()}


def warn_of_unknown(environment: Mapping[str, str]) -> None:
    """A warning for each variable that no code reads."""
    for name, nearest in unknown(environment).items():
        hint = f"; the nearest one is {nearest}" if nearest else ""
        warnings.warn(
            f"the environment variable {name} is not known and changes nothing{hint}. What to do: unset it, or see the "
            "table in the reference of the settings",
            stacklevel=2,
        )
