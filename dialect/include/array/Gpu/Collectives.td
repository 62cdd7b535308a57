// The pass that prepares collectives for GPUs, on tensors: before convert-array-to-linalg, where the others of Passes.td
// come after bufferization. lib/Pipelines/Cpu.cpp runs it where it builds the way to linalg for a GPU.
#ifndef ARRAY_GPU_COLLECTIVES
#define ARRAY_GPU_COLLECTIVES

include "mlir/Pass/PassBase.td"

def ExpandCollectives : Pass<"array-expand-collectives"> {
  let summary = "Leave to the runtime only what moves whole buffers between GPUs";
  let description = [{
    The runtime of GPUs copies contiguous memory, and computes nothing. What else a collective does becomes operations
    around it, which are kernels like any other: reductions are of what was gathered, along a new first dimension, in
    which the members stand in their order; dimensions are brought to the front before an exchange, and back behind it.

    | Collective | becomes |
    | --- | --- |
    | `all_gather` along any dimension | one along the first, a transposition |
    | `all_reduce` of less than 128 KiB, or of what the members can't divide evenly | `all_gather`, a reduction |
    | `all_reduce` otherwise | `all_to_all`, a reduction of the member's part, `all_gather` |
    | `reduce_scatter` | a transposition, `all_to_all`, a reduction |
    | `all_to_all` along any dimensions | a transposition, one along the first, a transposition |

    Invariants: afterwards `all_reduce` and `reduce_scatter` are gone, and `all_gather` and `all_to_all` are along the
    first dimension alone. All members compute the same sums in the same way, so they get the same bits.
  }];
  let dependentDialects = ["::mlir::array::ArrayDialect"];
}

#endif // ARRAY_GPU_COLLECTIVES
