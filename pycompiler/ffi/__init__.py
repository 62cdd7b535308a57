"""C functions in compiled programs, as in `jax.ffi`: handlers of XLA's FFI, and plain functions.

`register_ffi_target` and `ffi_call` take handlers that are compiled with the headers at `include_dir()`. The same
compiled handler serves jax, too. `c_function` takes a function of pointers and numbers from any shared library.
"""

from pycompiler.core.tracing.boundary import protect
from pycompiler.ffi.calls import ffi_call
from pycompiler.ffi.plain import c_function
from pycompiler.ffi.targets import include_dir, pycapsule, register_ffi_target, register_ffi_type
from pycompiler.lax.names import nearest_name

__all__ = ["c_function", "ffi_call", "include_dir", "pycapsule", "register_ffi_target", "register_ffi_type"]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
