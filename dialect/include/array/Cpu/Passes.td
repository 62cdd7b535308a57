// Passes that make code for a CPU of operations on buffers: lib/Cpu. lib/Pipelines/Cpu.cpp puts them in order.
// One pass is one file there and one of tests/lit.
#ifndef ARRAY_CPU_PASSES
#define ARRAY_CPU_PASSES

include "mlir/Pass/PassBase.td"

def WidenMatmuls : Pass<"array-widen-matmuls", "::mlir::func::FuncOp"> {
  let summary = "Widen the operands of large matmuls of narrow floats to the type of the sums";
  let description = [{
    If a `linalg.generic` widens two floats, multiplies them and adds the product, the pass inserts a `linalg.generic`
    for each operand that widens it. array-fuse-elementwise then fuses the producers of the operand into it, and the
    blocked matmuls of array-lower-matmuls read wide operands from memory. If the target has dot2 for bf16, large
    matmuls of bf16 do not change.

    Invariants: runs before array-fuse-elementwise. Small matmuls and those of dynamic sizes do not change.
  }];
  let options = [
    Option<"bfloat16Dot2", "bfloat16-dot2", "bool", /*default=*/"false",
           "Whether the target has dot2 for bf16 (AVX512_BF16)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def SplitContractions : Pass<"array-split-contractions", "::mlir::func::FuncOp"> {
  let summary = "Divide matmuls of many terms and a small result by their terms";
  let description = [{
    A contraction of f32 or f64 with a result of at most 2048 elements, at least 8 rows and columns, and at least 2^22
    multiplications becomes (upstream's splitReduction) a contraction with a further parallel loop over 4 to 12 parts of
    the terms, and a sum of the parts. Threads share the parts. Their number follows from the sizes alone.

    Invariants: runs before array-fuse-elementwise. Matmuls of dynamic sizes do not change.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def JoinRows : Pass<"array-join-rows", "::mlir::func::FuncOp"> {
  let summary = "Transpose factors whose rows stand on both sides of the terms";
  let description = [{
    An operand of a contraction that is outer rows, terms, and at most 8 inner rows becomes a copy with the terms last,
    so that all rows are one dimension of the matmul.

    Invariants: runs before array-fuse-elementwise. Only the outer rows and the columns may be dynamic.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def OrderResults : Pass<"array-order-results", "::mlir::func::FuncOp"> {
  let summary = "Store contractions that stay loops in the order of their reader";
  let description = [{
    If the one reader of a contraction only changes the order of the dimensions, and the contraction is too small for
    blocks, its result has the reader's order, and the reader disappears.

    Invariants: runs before array-fuse-elementwise, on tensors of known sizes.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LowerConvolutions : Pass<"array-lower-convolutions", "::mlir::ModuleOp"> {
  let summary = "Replace convolutions on buffers by calls that multiply tiles of windows";
  let description = [{
    Lowers a linalg operation on memrefs if its body is `acc + lhs * rhs` (f32, f64) and it reads its first operand
    through windows (`position * stride + tap * dilation`). The operation becomes loops over slabs of this operand.
    @convolution_pack_* copies a part of the operand between zeros, @matmul_pack_* copies the kernel to panels, and
    @convolution_tiles_* multiplies rows, which are windows in the slab, with one panel. Constant tables hold the
    offsets of windows and of their elements, so each module has one function for an element type and tile. Padding that
    was written before, as zeros around a view, is read through the view. Interior zeros (the gradient of a strided
    convolution) are skipped: the loops compute the positions of one remainder at a time. A preceding zero fill of the
    result is folded away. Slabs and panels are `memref.alloc`s in the entry block of the function.

    Invariants: shapes and strides are static, the result has unit stride along its features; distinct arguments do not
    overlap; runs before array-plan-memory. The result does not depend on the number of threads.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"512",
           "Width of the target's vector registers: 128, 256 or 512">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerMatmuls : Pass<"array-lower-matmuls", "::mlir::ModuleOp"> {
  let summary = "Replace contractions on buffers by calls of a blocked matmul";
  let description = [{
    Lowers a linalg operation on memrefs if its body is `acc + lhs * rhs` and its loops fall into batch, rows, columns
    and reduction. Element types are f32, f64, bytes with sums of i32, and bf16 with sums of f32 where the target has
    dot2. The operation becomes calls of private functions inside loops over blocks and over the batch. @matmul_pack_*
    copies a block of the right operand to panels. @matmul_tiles_* multiplies rows with one panel. @matmul_stream_*
    multiplies a few rows with a matrix that is read once: up to three rows, or eight if the right operand exceeds the
    cache. @matmul_dot2_* makes pairs of bytes or bf16; one instruction multiplies and adds a pair. Each module has one
    function for an element type, tile and layout; sizes and strides are run-time values. Operands may have any strides;
    the result needs unit stride along the rows or the columns. A preceding zero fill of the result is folded away. The
    packed block is a `memref.alloc` in the entry block of the function.

    If the only reader of the result is an elementwise op, the op runs in the memory of the result, on each block of
    rows after the sums of the block are complete.

    Other contractions with fewer than 4 rows, columns or terms, or smaller than 16x16x16, do not change. If a
    contraction has two or three columns that lie across k, these are transposed.

    Invariants: shapes and strides are static; distinct arguments do not overlap; runs before array-plan-memory.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"512",
           "Width of the target's vector registers: 128, 256 or 512">,
    Option<"bfloat16Dot2", "bfloat16-dot2", "bool", /*default=*/"false",
           "Whether the target has dot2 for bf16 (AVX512_BF16)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ScheduleConvolutions : Pass<"array-schedule-convolutions", "::mlir::ModuleOp"> {
  let summary = "Write the plans that array-lower-convolutions chooses on the convolutions";
  let description = [{
    Each linalg op on memrefs that array-lower-convolutions would lower gets `array.plan`: the tile (`tile_rows`,
    `tile_vectors`), the largest block (`rows`, `columns`, `depth`), and the bytes of a `slab`. An entry that the op has
    stays. `array-opt --array-schedule-convolutions` prints the choices.

    Invariants: the ops do not change. array-lower-convolutions emits the same code with these plans as without plans.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"512",
           "Width of the target's vector registers: 128, 256 or 512">
  ];
}

def ScheduleMatmuls : Pass<"array-schedule-matmuls", "::mlir::ModuleOp"> {
  let summary = "Write the plans that array-lower-matmuls chooses on the contractions";
  let description = [{
    Each contraction on memrefs of a form that array-lower-matmuls supports gets `array.plan`: the method (`strategy`);
    for tiles of registers also the `packing` of the right operand, the tile (`tile_rows`, `tile_vectors`) and the block
    (`rows`, `columns`, `depth`). An entry that the op has stays, if the layout of its operands allows it.
    `array-opt --array-schedule-matmuls` prints the choices.

    If the only reader of a result has its dimensions in another order, both ops change to it first, as in
    array-lower-matmuls.

    Invariants: array-lower-matmuls emits the same code with these plans as without plans.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"512",
           "Width of the target's vector registers: 128, 256 or 512">,
    Option<"bfloat16Dot2", "bfloat16-dot2", "bool", /*default=*/"false",
           "Whether the target has dot2 for bf16 (AVX512_BF16)">
  ];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
}

def ScheduleLoops : Pass<"array-schedule-loops", "::mlir::func::FuncOp"> {
  let summary = "Write the schedules that array-vectorize-linalg chooses on the linalg ops";
  let description = [{
    Every `linalg` op on memrefs gets `array.schedule`, a dictionary: the loops of its iteration space (`loops`), the loop
    of the vectors (`vector`) and their length (`lanes`), a loop that is divided around the vectors (`tile`, `tile_size`,
    and `in_order` if rows are read in the order of memory), a loop of which several elements are computed at once
    (`jam`, `jam_size`), short loops inside of the vectors (`unrolled`), and the prefetch distance (`prefetch`). An op
    that has a schedule keeps it. array-vectorize-linalg obeys the schedule. If the loops do not allow an entry, an
    error names the entry. A schedule that equals the choice of the cost model does not prevent row fusion: neighbours
    may share its loops.

    `array-opt --array-schedule-loops` prints the choices. A schedule affects time, and the order of the sums of a
    reduction.

    Invariants: the ops do not change. An op without strides has no schedule.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Width of a vector register in bits">,
    Option<"prefetchDistance", "prefetch-distance", "int64_t", "2048",
           "Prefetch distance in bytes of reductions that exceed the second cache; 0 disables prefetching">
  ];
}

def VectorizeLinalg : Pass<"array-vectorize-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg ops and copies on memrefs to loops over 1-D vectors";
  let description = [{
    Every `linalg` op on memrefs and every `memref.copy` becomes an `scf.for` nest whose innermost work is 1-D `vector`
    operations on flat views (`memref.reinterpret_cast`) of its operands. The pass reads the op as an iteration space
    with one stride for each operand and dimension. It drops unit dimensions and merges neighbouring dimensions with
    compatible strides. It cuts the dimension along which most operands are contiguous into vectors, with one masked
    step for the rest. Neighbouring ops on the same rows share the loop over the rows (row fusion), and a temporary of
    such a loop takes the memory of one row. For row fusion, dense ops on large arrays are divided into blocks.

    A temporary row of at most 128 bytes lies on the stack of each thread. If the row is longer, each block of rows has
    its own row, a multiple of 128 bytes from the next; the allocation gets `array.touched_bytes`, or a larger
    allocation replaces it.

    Preconditions: every argument of the function, and every allocation, is memory of its own.

    Invariants: no linalg op and no memref.copy is left. Vectors are 1-D and hold at most 4 registers of `vector-bits`.
    Loads and stores assume only the alignment of the element. Loops are not unrolled, except short ones whose elements
    lie between those of a vector. Nothing is read or written outside a buffer's elements, and masked lanes do not trap.
    The order of a reduction depends only on shapes. A reduction along the vectors is re-associated; every other
    operation keeps its flags. The outermost loop of a nest gets the mark `array.parallel` if its iterations are
    independent and worth several threads. A large reduction to one element is cut into blocks by its size alone, and
    the results of the blocks are combined in order.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Width of a vector register in bits">,
    Option<"marksKernels", "mark-kernels", "bool", "false",
           "Put the loops of fused ops into a region of their own, for array-outline-kernels">,
    Option<"prefetchDistance", "prefetch-distance", "int64_t", "2048",
           "Prefetch distance in bytes of reductions that exceed the second cache; 0 disables prefetching">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"array-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expand math operations into arithmetic";
  let description = [{
    One row of a table rewrites each operation of the math dialect that LLVM would turn into a call of the C library.
    The formulas serve f32 and f64, with an error of at most 4 ulp over the whole range (denormals, infinities, nan and
    signed zeros included). f16 and bf16 are computed in f32. sin, cos and tan of large arguments call the C library,
    lane by lane for vectors (a private function @lanes* of the module). A scalar and a lane of a vector give the same
    bits. Operations that are instructions (absf, floor, sqrt, fma, ...) do not change; minima and maxima that pass nan on
    are instructions if `has-extrema`.

    A formula with many uses in the module becomes a private function @math_* on one or four registers of `vector-bits`,
    or on a scalar: the same bits, compiled once.

    Invariants: operations are on scalars and 1-D vectors; structured control flow is not lowered yet; the called
    functions are those of runtime/include/runtime/Symbols.def.
  }];
  let options = [Option<"vectorBits", "vector-bits", "unsigned", "512", "Width of a vector register in bits">,
                 Option<"hasExtrema", "has-extrema", "bool", "false",
                        "The machine has minima and maxima that pass nan on">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ShuffleParts : Pass<"array-shuffle-parts", "::mlir::ModuleOp"> {
  let summary = "Read and join the parts of complex numbers in vectors by shuffles";
  let description = [{
    A vector of complex numbers has integer lanes of 64 or 128 bits, whose halves are the parts. A pair of truncations
    that read both halves becomes two `vector.shuffle` of the same bits. `ori` of an extended lower part and a shifted
    upper part becomes one `vector.shuffle` of both parts, and a shifted part alone a shuffle with zeros.

    Invariants: vectors are 1-D. Scalars do not change, nor vectors of which one half of 64-bit lanes is read.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::vector::VectorDialect"];
}

def ExpandQuotients : Pass<"array-expand-quotients", "::mlir::ModuleOp"> {
  let summary = "Divide vectors by constants by multiplication, to the same bits";
  let description = [{
    In a loop, `arith.divf` of a vector of f32 or f64 by a constant becomes a multiplication by the reciprocal in two
    parts, and a branch that divides if a lane is too small for the formula. The pass checks each divisor: if a result
    could differ from the correctly rounded quotient, the division stays. Divisions of scalars also stay. The pass is
    for machines with `math.fma`.

    Invariants: vectors are 1-D; structured control flow is not lowered yet.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ContractProducts : Pass<"array-contract-products", "::mlir::ModuleOp"> {
  let summary = "Add products with one rounding";
  let description = [{
    A sum or difference in f32 or f64 with the flag `contract` becomes `math.fma` if an operand is a product with that
    flag and without other users. If both operands are such products, the first is contracted. LLVM would choose for
    each basic block, so a loop over vectors and its remainder could round differently. The pass is for machines with
    the instruction; on others LLVM contracts nothing.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ExpandFma : Pass<"array-expand-fma", "::mlir::ModuleOp"> {
  let summary = "Multiply and add with one rounding where the machine has no instruction for it";
  let description = [{
    `math.fma` of f32 is computed in f64, which holds the product exactly. The result has one rounding, except for sums
    that f64 rounds to the middle of two floats. `math.fma` of f64 adds the error of the product, which Dekker's
    splitting gives exactly, and the error of the sum; it is within 2^-50 of a place of the correctly rounded result. If
    the splitting overflows, product and sum are each rounded. The pass is for machines without the instruction, where
    LLVM would call a function of the C runtime for each element.

    Invariant: operations stand on scalars and 1-D vectors.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ExpandBFloat16 : Pass<"array-expand-bfloat16", "::mlir::ModuleOp"> {
  let summary = "Compute bf16 in f32, and round to it in integer arithmetic";
  let description = [{
    Each operation of arithmetic on bf16 extends its operands, computes in f32 and rounds; `arith.truncf` from f32 to bf16
    becomes an addition and a shift of the bits, to nearest with ties to even, denormals kept. So vectors stay vectors.

    Invariant: operations stand on scalars and 1-D vectors.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def JoinElementwise : Pass<"array-join-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Join neighbouring elementwise ops over the same elements into one op with several outputs";
  let description = [{
    Elementwise `linalg.generic` ops on buffers that follow each other and have the same known number of elements become
    one op if they share a buffer, and each touches element i of a written buffer only in step i. A value that one stores
    and another loads passes as a value; if nothing else reads the buffer, it disappears. The joined op has at most 16
    buffers, 128 operations, and two functions of the math dialect, so that its values stay in registers.

    Invariants: distinct arguments and allocations do not overlap; runs after array-lower-matmuls and before
    array-reuse-buffers, which look at ops with one output and at temporaries.
  }];
}

def ShareScans : Pass<"array-share-scans", "::mlir::func::FuncOp"> {
  let summary = "Mark the loops of the program whose iterations are independent";
  let description = [{
    An `scf.for` of the program (`array.control_flow`) without carries, of 16 iterations or more, gets
    `array.independent` if each iteration writes its own rows: the first index of every write is the number of the
    iteration, up to a sign and a constant, and the loop does not touch these buffers elsewhere. `array-plan-memory` then
    treats it as the grid of a kernel. A loop that calls a routine, or a matmul of tiles, has no mark.

    Invariants: distinct arguments and allocations do not overlap; runs before array-vectorize-linalg, while the rows are
    still subviews.
  }];
}

def ParallelizeLoops : Pass<"array-parallelize-loops", "::mlir::ModuleOp"> {
  let summary = "Hand the marked loops of @main to the runtime, which shares them among threads";
  let description = [{
    An outermost `scf.for` with the attribute `array.parallel = <grain>` becomes a private function over a range of its
    iterations, and a call of `parallel_for` of PcrtTable (runtime/include/runtime/Abi.h) replaces it. A structure on
    the stack passes the captured values: the pointers of @main's arguments, and values. Addresses and constants are
    recomputed, and each piece makes its own buffers on the stack with `array.private`. @main gets the call frame as its
    last argument, with the role "frame". A loop that uses any other buffer does not change.

    Invariants: the pass that sets the attribute guarantees independent iterations (they write disjoint elements);
    nothing in the loop fails or returns. So the result depends only on the iterations, not on the threads.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def LowerTransposes : Pass<"array-lower-transposes", "::mlir::ModuleOp"> {
  let summary = "Replace transposes of blocks by calls of a shared function";
  let description = [{
    The `linalg.transpose` that `array-vectorize-linalg` leaves, of two memrefs with dynamic sizes, offset and row
    stride, becomes a call of the private function @transpose_<element type>. Each module has one such function for an
    element type; it transposes squares in vector registers. The target has room for whole squares.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerMasks : Pass<"array-lower-masks", "::mlir::ModuleOp"> {
  let summary = "Lower vector masks to comparisons of lane numbers";
  let description = [{
    `vector.create_mask` and `vector.constant_mask` become comparisons with a constant vector of lane numbers, or
    constants. This is the one part of upstream's `convert-vector-to-llvm` for 1-D vectors that `convert-to-llvm` lacks.

    A masked store of only the first lane becomes a scalar store.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect"];
}

#endif // ARRAY_CPU_PASSES
