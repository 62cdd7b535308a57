// Passes around bufferization, and on the memory of buffers: lib/Bufferize. lib/Pipelines puts them in order.
// One pass is one file there and one of tests/lit.
#ifndef ARRAY_BUFFERIZE_PASSES
#define ARRAY_BUFFERIZE_PASSES

include "mlir/Pass/PassBase.td"

def InPlaceCarries : Pass<"array-in-place-carries", "::mlir::func::FuncOp"> {
  let summary = "Prepare loops and conditionals so that bufferization computes them in place";
  let description = [{
    Rewrites every `scf.while`, and every `scf.for` and `scf.if` with the mark `array.control_flow`. Carries and values
    of regions without dimensions become scalars. `bufferization.materialize_in_destination` writes each tensor of the
    next carry to the tensor of the current one, after the last read of the current one. If a carry starts as an
    argument, it starts as a copy. Branches write their results to one destination. So one-shot-bufferize gives a loop
    one buffer for each tensor of the carry, the canonicalizer hoists these buffers, and an iteration copies only
    tensors that its body permutes, or reads after they were overwritten. If the body reads only a part of such a
    tensor, at most a quarter of it, the iteration copies this part before it is overwritten.

    Invariants: runs after array-prepare-entry and before the elimination of empty tensors; the carry has static shapes.
  }];
  let options = [
    Option<"copyCarries", "copy-carries", "bool", /*default=*/"false",
           "Copy all carries of loops and branches: slower, but bufferization never finds a conflict">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ScalarizeCarries : Pass<"array-scalarize-carries", "::mlir::func::FuncOp"> {
  let summary = "Carry the elements of small arrays through loops in registers";
  let description = [{
    An `scf.for` that carries arrays with dimensions, of at most four elements, carries their elements if its body has
    only elementwise ops, slices and reshapes of such arrays. The body computes with scalars. A larger array gets the
    elements of a slice at once.

    Invariants: the elementwise operations and their order do not change.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}
def ForwardCopies : Pass<"array-forward-copies", "::mlir::func::FuncOp"> {
  let summary = "Read the source of a copy instead of the copied temporary";
  let description = [{
    Removes a temporary if only copies and fills write it, or parts of it, and only elementwise `linalg` ops read it.
    Each reader becomes one op for each part, on that part of every operand. So concatenations, rotations and padding
    cost no copy. The readers read the sources in place of the copies, so nothing may write the sources in between.

    Invariants: every argument and every allocation is memory of its own; parts are static; an op becomes at most 16
    ops.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def ForwardStores : Pass<"array-forward-stores", "::mlir::func::FuncOp"> {
  let summary = "Compute at the destination of a copy instead of in a temporary";
  let description = [{
    Removes a temporary of static shape that one elementwise `linalg` op writes and one copy reads, perhaps reshaped:
    the op writes the target of the copy. No operation from the op to the copy may use this part of the target. The op
    itself may read the target in the order of its writes. So an update of a slice, or of each element of a slice,
    needs no temporary if the other operands are in other memory.

    Invariants: before, every argument and every allocation is memory of its own. Afterwards an op may read and write
    one view, element by element.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def OverlapCollectives : Pass<"array-overlap-collectives", "::mlir::func::FuncOp"> {
  let summary = "Start collectives early and wait for them late";
  let description = [{
    A call of the routine `collective` becomes `collective_start` and `collective_wait`, if enough computation of its
    block fits between them. The start moves up to the last operation that writes its input or uses its output, and the
    wait moves down to the first one. Neither passes an effect outside the program, and neither leaves its block. All
    participants run one program, so all start their collectives in one order.

    Invariants: before, every argument and every allocation is memory of its own. Between a start and its wait nothing
    writes the input or uses the output. Both have the operands of the call, so that the memory is in use until the
    wait.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def ReuseBuffers : Pass<"array-reuse-buffers", "::mlir::func::FuncOp"> {
  let summary = "Let elementwise ops overwrite operands that are dead afterwards";
  let description = [{
    Applies to the routine `sort`, and to a `linalg` op without reductions, or a `memref.copy`, that reads an operand
    and writes an output with the same map. If this is the last use of the operand and the first use of the output, the
    op uses the operand's buffer for both. Operand and output have one type and are whole or reshaped. The operand is a
    temporary. The output is a temporary or an argument. The buffer of an argument becomes the buffer of both. An output
    may also be a part of a buffer, such as the block of a kernel's output, that nothing else uses during the life of the
    temporary; then the part becomes the buffer of both. If such an op is the last reader of a matmul's result, it moves right after the matmul: the result is still in the cache,
    and its memory becomes free earlier.

    Invariants: before, every argument and every allocation is memory of its own. Afterwards an op may read and write
    one buffer, element by element.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"array-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Replace allocations by views of one arena argument";
  let description = [{
    Every `memref.alloc` becomes a `memref.view` at a fixed, 64-byte aligned offset of one `memref<Nxi8>` argument,
    which the pass appends to the function. An allocation is live from the first to the last operation of its own block
    that uses it or a view of it. An allocation inside a loop is live within an iteration; one outside the loop with
    uses inside is live across the whole loop. Allocations that are live at the same time never overlap. Offsets are
    first-fit, largest first, and deterministic. `memref.dealloc` is removed. An allocation with the attribute
    `array.touched_bytes` takes only that many bytes.

    The attribute `array.arena_bytes` of the function has the size of the arena; a function without allocations does not
    change. Each view has `array.live`: the numbers of the first and the last operation that use it, and its bytes.
    Invariant: allocations are static; an allocation inside a loop does not leave its iteration.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def LowerViews : Pass<"array-lower-views"> {
  let summary = "Views of buffers become arithmetic on their offsets";
  let description = [{
    Applies the patterns of upstream's expand-strided-metadata to views, and to the ops that read their offsets, sizes and
    addresses. Upstream supports one symbolic size for each dimension that a `memref.expand_shape` splits. If there are
    several, the op first becomes a `memref.reinterpret_cast` with the resulting strides.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

#endif // ARRAY_BUFFERIZE_PASSES
