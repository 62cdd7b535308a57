// Passes around bufferization, and on the memory of buffers: lib/Bufferize. lib/Pipelines puts them in order.
// One pass is one file there and one of tests/lit.
#ifndef ARRAY_BUFFERIZE_PASSES
#define ARRAY_BUFFERIZE_PASSES

include "mlir/Pass/PassBase.td"

def InPlaceCarries : Pass<"array-in-place-carries", "::mlir::func::FuncOp"> {
  let summary = "Give loops and conditionals the form in which bufferization computes them in place";
  let description = [{
    For every `scf.while`, and every `scf.for` and `scf.if` that is marked with `array.control_flow`: what it carries without
    dimensions becomes a scalar, and so does what its regions compute without dimensions; each tensor of the next carry is
    written by `bufferization.materialize_in_destination` to the tensor of this one, after what reads this one; a carry that
    starts as an argument starts as a copy; branches write their results to one destination. So one-shot-bufferize gives a
    loop one buffer for each tensor of the carry, the canonicalizer takes these out of it, and an iteration copies only what
    its body permutes or reads again after it was overwritten.

    Invariants: runs after array-prepare-entry and before empty tensors are eliminated; the carry has static shapes.
  }];
  let options = [
    Option<"copyCarries", "copy-carries", "bool", /*default=*/"false",
           "Copy what loops and branches carry instead: slower, but bufferization never finds a conflict">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ForwardCopies : Pass<"array-forward-copies", "::mlir::func::FuncOp"> {
  let summary = "Read what was copied to a temporary where it came from";
  let description = [{
    A temporary that is only put together, by copies and fills of it or of parts of it, and then read by elementwise `linalg`
    ops, goes away: each of these ops becomes one op for each part, on that part of every operand. So concatenations,
    rotations and padding cost no copy. What is read of the temporary is read in place of the copies, so nothing may write
    there in between.

    Invariants: every argument and every allocation is memory of its own; parts are static; an op becomes at most 16.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def ReuseBuffers : Pass<"array-reuse-buffers", "::mlir::func::FuncOp"> {
  let summary = "Let elementwise ops write over operands that nobody reads afterwards";
  let description = [{
    A `linalg` op without reductions, or a `memref.copy`, that reads an operand with the map with which it writes an output
    takes the buffer of the operand for both, where the operand's last use is here and the output's first one; so does
    the routine `sort`. Both are of one type, whole, or reshaped; the operand is a temporary, the output one too, or an
    argument, which then is the buffer of both. Such an op that is the last to read what a product computed is moved to
    right after it, so that it finds it in the cache, and leaves its memory to others.

    Invariants: every argument and every allocation is memory of its own before; afterwards ops may read and write one buffer,
    element by element.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"array-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "Replace allocations by views of one arena argument";
  let description = [{
    Every `memref.alloc` becomes a `memref.view` at a fixed, 64-byte aligned offset of one `memref<Nxi8>` argument that
    is appended to the function. An allocation lives from the first to the last operation of its own block that
    uses it or a view of it: one inside of a loop lives within an iteration, one outside of the loop that is used inside lives
    across the whole loop. Two allocations that live at
    the same time never overlap; offsets are first-fit, largest first, and deterministic. `memref.dealloc` goes away. One
    with the attribute `array.touched_bytes` takes that many bytes only.

    The attribute `array.arena_bytes` on the function holds the size of the arena; a function without allocations
    is left as it is. Each view has `array.live`: the numbers of the first and the last operation that uses it, and its
    bytes. Invariant: allocations are static; one inside of a loop does not leave its iteration.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

#endif // ARRAY_BUFFERIZE_PASSES
