"""Kernels: functions on references to blocks of arrays, for every index of a grid, as in `jax.experimental.pallas`.

`kernel_call` has the arguments of JAX's `pallas_call` that have the same meaning here. It compiles a kernel to loops
over its blocks. In a kernel, `ref[...]`, `load` and `store` read and write blocks. `program_id` is the index. All
functions of `numpy` and `lax` may be called.
"""

from pycompiler.core.tracing.boundary import protect
from pycompiler.kernel.blocks import ANY, Blocked, BlockSpec, Element, GridSpec, MemorySpace, Squeezed, squeezed
from pycompiler.kernel.body import cdiv, dot, load, loop, num_programs, program_id, run_scoped, store, swap, when
from pycompiler.kernel.calls import kernel_call
from pycompiler.lax.dynamic_slices import Slice, ds
from pycompiler.lax.names import nearest_name

dslice = ds

__all__ = [
    "ANY",
    "BlockSpec",
    "Blocked",
    "Element",
    "GridSpec",
    "MemorySpace",
    "Slice",
    "Squeezed",
    "cdiv",
    "dot",
    "ds",
    "dslice",
    "kernel_call",
    "load",
    "loop",
    "num_programs",
    "program_id",
    "run_scoped",
    "squeezed",
    "store",
    "swap",
    "when",
]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
