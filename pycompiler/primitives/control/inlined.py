"""The operations of calls, each with the parameter whose graph computes the results. The others are for derivatives.

Emission puts the equations of the graph in place of the call. Nested calls of `jit` are not in the table: they stay
functions.
"""

from pycompiler.core.autodiff.checkpoint import checkpoint
from pycompiler.core.autodiff.custom import custom_jvp_call, custom_vjp_call
from pycompiler.core.tracing.primitive import Primitive
from pycompiler.primitives.control.custom_partition import custom_partitioned_call
from pycompiler.primitives.control.custom_vmap import custom_vmap_call
from pycompiler.primitives.control.linear_call import linear_call
from pycompiler.primitives.control.solvers import custom_linear_solve, custom_root
from pycompiler.primitives.random import rng_bit_generator_block

INLINED: dict[Primitive, str] = {
    checkpoint: "jaxpr",
    custom_jvp_call: "call_jaxpr",
    custom_vjp_call: "call_jaxpr",
    custom_vmap_call: "graph",
    custom_partitioned_call: "graph",
    linear_call: "graph",
    custom_linear_solve: "graph",
    custom_root: "graph",
    rng_bit_generator_block: "graph",
}
