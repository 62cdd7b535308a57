"""Fills the runtime's table of LAPACK routines from SciPy, before the first decomposition is compiled.

`compile` calls this module. The runtime calls the routines without Python. SciPy exports the entry points of its LAPACK
and BLAS as capsules of `cython_lapack` and `cython_blas`.
"""

import ctypes
import functools
import importlib
from typing import Any, cast

from pycompiler._runtime import fill_lapack, lapack_names

# The prefix and suffix of OpenBLAS functions in SciPy's wheels, and in other builds.
_OPENBLAS = (("scipy_", ""), ("scipy_", "64_"), ("", ""), ("", "64_"))


@functools.cache
def require_lapack() -> None:
    """Fill the table, once. Raises ImportError, with the package to install, if SciPy is missing."""
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
    fill_lapack([_address(capsules[name]) for name in lapack_names()], *_thread_functions(modules[0].__file__))


def _thread_functions(path: str | None) -> tuple[int, int]:
    """The functions of OpenBLAS that get and set its number of threads, from the library of SciPy's module.

    Returns their addresses, or zeros for another library.
    """
    library = ctypes.CDLL(path) if path else None
    for prefix, suffix in _OPENBLAS if library else ():
        names = [f"{prefix}openblas_{part}_num_threads{suffix}" for part in ("get", "set")]
        found = [getattr(library, name, None) for name in names]
        if all(found):
            get, set_ = (ctypes.cast(cast(Any, function), ctypes.c_void_p).value for function in found)
            return get or 0, set_ or 0
    return 0, 0


def _address(capsule: Any) -> int:
    """The pointer in a capsule, whose name is the function's signature."""
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))
