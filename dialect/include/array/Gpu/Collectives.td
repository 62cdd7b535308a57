// The pass that prepares collectives for GPUs, on tensors. It runs before convert-array-to-linalg; the passes of
// Passes.td run after bufferization. lib/Pipelines/Cpu.cpp adds it to the pipeline to linalg for GPUs.
#ifndef ARRAY_GPU_COLLECTIVES
#define ARRAY_GPU_COLLECTIVES

include "mlir/Pass/PassBase.td"

def ExpandCollectives : Pass<"array-expand-collectives"> {
  let summary = "Reduce collectives to moves of whole buffers between GPUs";
  let description = [{
    The runtime of GPUs copies contiguous memory, and computes nothing. The other parts of a collective become
    operations around it, and later kernels. A reduction reduces the gathered operands along a new first dimension, in
    the order of the members. Transpositions move a dimension to the front before an exchange, and back afterwards.

    | Collective | becomes |
    | --- | --- |
    | `all_gather` along any dimension | one along the first, a transposition |
    | `all_reduce` of less than 128 KiB, or not evenly divisible by the members | `all_gather`, a reduction |
    | `all_reduce` otherwise | `all_to_all`, a reduction of the member's part, `all_gather` |
    | `reduce_scatter` | a transposition, `all_to_all`, a reduction |
    | `all_to_all` along any dimensions | a transposition, one along the first, a transposition |

    Invariants: afterwards `all_reduce` and `reduce_scatter` are gone, and `all_gather` and `all_to_all` are along the
    first dimension alone. All members compute the same sums in the same way, so they get the same bits.
  }];
  let dependentDialects = ["::mlir::array::ArrayDialect"];
}

#endif // ARRAY_GPU_COLLECTIVES
