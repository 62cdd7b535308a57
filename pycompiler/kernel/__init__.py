"""Kernels: functions on references to blocks of arrays, for every index of a grid, as in `jax.experimental.pallas`.

`kernel_call` has the arguments of JAX's `pallas_call` that have the same meaning here. It compiles a kernel to loops
over its blocks. In a kernel, `ref[...]`, `load` and `store` read and write blocks. `program_id` is the index. All
functions of `numpy` and `lax` may be called.
"""

from pycompiler.core.tracing.boundary import protect
from pycompiler.kernel.blocks import (
    ANY,
    HOST,
    BlockDim,
    Blocked,
    BlockSpec,
    Buffered,
    Element,
    GridSpec,
    MemoryRef,
    MemorySpace,
    PrefetchScalarGridSpec,
    RevisitMode,
    Squeezed,
    no_block_spec,
    squeezed,
)
from pycompiler.kernel.body import (
    cdiv,
    debug_check,
    dot,
    load,
    loop,
    num_programs,
    program_id,
    run_scoped,
    run_state,
    store,
    swap,
    when,
    with_scoped,
)
from pycompiler.kernel.calls import kernel_call
from pycompiler.kernel.costs import CostEstimate, estimate_cost
from pycompiler.lax.dynamic_slices import Slice, ds
from pycompiler.lax.names import nearest_name

dslice = ds

__all__ = [
    "ANY",
    "HOST",
    "BlockDim",
    "BlockSpec",
    "Blocked",
    "Buffered",
    "CostEstimate",
    "Element",
    "GridSpec",
    "MemoryRef",
    "MemorySpace",
    "PrefetchScalarGridSpec",
    "RevisitMode",
    "Slice",
    "Squeezed",
    "cdiv",
    "debug_check",
    "dot",
    "ds",
    "dslice",
    "estimate_cost",
    "kernel_call",
    "load",
    "loop",
    "no_block_spec",
    "num_programs",
    "program_id",
    "run_scoped",
    "run_state",
    "squeezed",
    "store",
    "swap",
    "when",
    "with_scoped",
]

protect(globals(), __all__)
__getattr__ = nearest_name(__name__, __all__)
