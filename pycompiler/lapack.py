"""Fills the runtime's table of LAPACK routines from SciPy, before the first decomposition is compiled.

Before it: compile, which asks for it; after it: `_runtime`, which calls the routines without Python. SciPy exports the
entry points of its LAPACK and BLAS as capsules of `cython_lapack` and `cython_blas`.
"""

import ctypes
import functools
import importlib
from typing import Any

from pycompiler._runtime import fill_lapack, lapack_names


@functools.cache
def require_lapack() -> None:
    """Fill the table, once. Raises ImportError that says what to install when SciPy is not there."""
    try:
        modules = [importlib.import_module(f"scipy.linalg.cython_{part}") for part in ("lapack", "blas")]
    except ImportError as error:
        raise ImportError(
            "decompositions (pycompiler.numpy.linalg, lax.linalg, scipy.linalg) run LAPACK from SciPy, which cannot be "
            f"imported ({error}): pip install scipy, or pip install 'pycompiler[linalg]'"
        ) from error
    capsules: dict[str, Any] = {}
    for module in reversed(modules):
        capsules |= module.__pyx_capi__
    fill_lapack([_address(capsules[name]) for name in lapack_names()])


def _address(capsule: Any) -> int:
    """The pointer in a capsule, whose name is the function's signature."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))
