// Passes that make code for a CPU of operations on buffers: lib/Cpu. lib/Pipelines/Cpu.cpp puts them in order.
// One pass is one file there and one of tests/lit.
#ifndef ARRAY_CPU_PASSES
#define ARRAY_CPU_PASSES

include "mlir/Pass/PassBase.td"

def WidenMatmuls : Pass<"array-widen-matmuls", "::mlir::func::FuncOp"> {
  let summary = "Copy the narrow floats that a large product multiplies to the type of its sums";
  let description = [{
    A `linalg.generic` that widens two floats, multiplies them and adds the product gets operands of the wider type, each
    made by a `linalg.generic` of its own, into which array-fuse-elementwise takes what comes before: then the blocked
    products of array-lower-matmuls multiply what is in memory. Where the target multiplies pairs of bf16, products of
    bf16 that are worth making pairs stay as they are.

    Invariants: comes before array-fuse-elementwise. Small products and those of dynamic sizes stay as they are.
  }];
  let options = [
    Option<"bfloat16Dot2", "bfloat16-dot2", "bool", /*default=*/"false",
           "Whether the target multiplies pairs of bf16 and adds the two products (AVX512_BF16)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LowerConvolutions : Pass<"array-lower-convolutions", "::mlir::ModuleOp"> {
  let summary = "Replace convolutions on buffers by calls that multiply tiles of windows";
  let description = [{
    A linalg operation on memrefs whose body is `acc + lhs * rhs` (f32, f64), and whose first operand is read through windows
    (`position * stride + tap * dilation`), becomes loops over slabs of this operand: @convolution_pack_* copies a part of it
    between zeros, @matmul_pack_* the kernel to panels, and @convolution_tiles_* multiplies rows, which are windows in the slab,
    with one panel. Offsets of windows and of their elements are constant tables, so that the functions are built once a
    module for each element type and tile. Padding that was written before, as zeros around a view, is read through the view;
    interior zeros (the gradient of a strided convolution) are left out by computing positions of one remainder at a
    time. A zero fill of the result that comes before is folded away. Slabs and panels are `memref.alloc`s in the function's
    entry block.

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
  let summary = "Replace contractions on buffers by calls of a blocked matrix product";
  let description = [{
    A linalg operation on memrefs whose body is `acc + lhs * rhs` (f32, f64, bytes with sums of i32, or bf16 with sums of
    f32 where the target multiplies pairs of them) and whose loops fall into batch, rows, columns and reduction becomes calls of private functions inside loops over blocks and over
    the batch: @matmul_pack_* copies a block of the right operand to panels, @matmul_tiles_* multiplies rows with one panel;
    @matmul_stream_* multiplies up to three rows, or eight where the right operand is larger than the cache, with a matrix
    that is read once; @matmul_dot2_* makes pairs of bytes or bf16, of which a tile multiplies two with one instruction. The
    functions are built once a module for each element type, tile and layout; sizes and strides are run-time values. Any
    strides of the operands are taken; the result needs unit stride along the rows or the columns. A zero fill of the
    result that comes before is folded away. The packed block is a `memref.alloc` in the function's entry block.

    What alone reads the result, element by element, is computed in the result's place, on each block of rows once its
    sums are complete.

    Other products with fewer than 4 rows, columns or terms, or smaller than 16x16x16, stay as they are; with two or
    three columns that lie across k, these are transposed.

    Invariants: shapes and strides are static; distinct arguments do not overlap; runs before array-plan-memory.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "unsigned", /*default=*/"512",
           "Width of the target's vector registers: 128, 256 or 512">,
    Option<"bfloat16Dot2", "bfloat16-dot2", "bool", /*default=*/"false",
           "Whether the target multiplies pairs of bf16 and adds the two products (AVX512_BF16)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def VectorizeLinalg : Pass<"array-vectorize-linalg", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg ops and copies on memrefs to loops over 1-D vectors";
  let description = [{
    Every `linalg` op on memrefs and every `memref.copy` becomes an `scf.for` nest whose innermost work is 1-D `vector`
    operations on flat views (`memref.reinterpret_cast`) of its operands. The op is read as an iteration space with one stride for
    each operand and dimension; unit dimensions vanish, neighbours that every operand walks as one are merged, and the
    dimension along which most operands are contiguous is cut into vectors, with one masked step for the rest. Neighbours that walk
    the same rows share the loop over them, and temporaries of such a loop take the memory of one row. Dense ones on large
    arrays are cut into blocks for that.

    A row of at most 128 bytes is on the stack of each thread. Of a longer one each block of rows has one, a multiple of
    128 bytes from the next; the allocation gets `array.touched_bytes`, or becomes one that is large enough.

    Invariants: every argument of the function, and every allocation, is memory of its own; no linalg op and no
    memref.copy is left; vectors are 1-D and hold at most 4 registers of `vector-bits`; loads and stores assume the
    alignment of the element only; loops are not unrolled, but short ones whose elements lie between those of a vector. Nothing is read or written outside of a buffer's elements,
    lanes that are masked off do not trap, and the order of a reduction depends on shapes only. A reduction along
    the vectors is re-associated; every other operation keeps its flags. The outermost loop of a nest is marked with
    `array.parallel` where its iterations are independent and worth several threads; a large reduction to one element is
    cut into blocks, by its size alone, whose results are combined in order.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "Width of a vector register in bits">,
    Option<"marksKernels", "mark-kernels", "bool", "false",
           "Leave what is emitted for ops that share loops in a region of its own, for array-outline-kernels">,
    Option<"prefetchDistance", "prefetch-distance", "int64_t", "2048",
           "How far ahead, in bytes, a reduction of more than the second cache holds asks for what it reads; 0: not at all">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandMath : Pass<"array-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expand math operations into arithmetic, or calls of the C library that can be resolved";
  let description = [{
    Each operation of the math dialect that LLVM would leave to a function of the C library is rewritten by one row of a
    table: f32 by a formula with an error of at most 4 ulp over the whole range (denormals, infinities, nan and
    signed zeros included), f16 and bf16 in f32, f64 and the rest by calls of the scalar function, lane by lane for vectors
    (a private function @lanes* of the module). sin, cos and tan of large arguments call the library as well.
    A scalar and a lane of a vector give the same bits. Operations that are instructions (absf, floor, sqrt, fma, ...) stay.

    A formula that many operations of the module need becomes a private function @math_* on one or four registers of `vector-bits`,
    or a scalar, that all of them call: the same bits, compiled once.

    Invariants: operations stand on scalars and 1-D vectors; structured control flow is not lowered yet; the called
    functions are those of runtime/include/runtime/Symbols.def.
  }];
  let options = [Option<"vectorBits", "vector-bits", "unsigned", "512", "Width of a vector register in bits">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def ExpandFma : Pass<"array-expand-fma", "::mlir::ModuleOp"> {
  let summary = "Multiply and add with one rounding where the machine has no instruction for it";
  let description = [{
    `math.fma` of f32 is computed in f64, which holds the product exactly: the result is that of one rounding, but for sums
    that f64 rounds to the middle of two floats. `math.fma` of f64 adds the error of the product, which Dekker's splitting
    gives exactly, and the error of the sum: within 2^-50 of a place more than half a place. Where the splitting overflows,
    product and sum are each rounded. For other machines than those that have the instruction: LLVM would call a function of
    the C runtime for each element.

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

def ParallelizeLoops : Pass<"array-parallelize-loops", "::mlir::ModuleOp"> {
  let summary = "Give the marked loops of @main to the runtime, to be shared by threads";
  let description = [{
    An outermost `scf.for` with the attribute `array.parallel = <grain>` becomes a private function over a range of its
    iterations, and its place a call of `parallel_for` of PcrtTable (runtime/include/runtime/Abi.h). What the loop uses is
    passed through a structure on the stack: the pointers of @main's arguments, and values; addresses and constants are
    computed again, and buffers on the stack with `array.private` are made for each piece. @main gets the call frame as its
    last argument, with the role "frame". A loop that uses a buffer of another kind stays as it is.

    Invariants: whoever set the attribute knows that the iterations are independent of each other (they write disjoint
    elements); nothing in the loop fails or returns; so the result depends on the iterations alone, not on the threads.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def LowerTransposes : Pass<"array-lower-transposes", "::mlir::ModuleOp"> {
  let summary = "Replace transposes of blocks by calls of a shared function";
  let description = [{
    The `linalg.transpose` that `array-vectorize-linalg` leaves, of two memrefs with dynamic sizes, offset and row stride,
    becomes a call of the private function @transpose_<element type>, which is built once a module and transposes
    squares in vector registers. The target has room for whole squares.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerMasks : Pass<"array-lower-masks", "::mlir::ModuleOp"> {
  let summary = "Lower vector masks to comparisons of lane numbers";
  let description = [{
    `vector.create_mask` and `vector.constant_mask` become comparisons with a constant vector of lane numbers, or constants.
    It is the one part of upstream's `convert-vector-to-llvm` that `convert-to-llvm` lacks for 1-D vectors.

    A masked store of nothing but the first lane becomes a store of that number.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect"];
}

#endif // ARRAY_CPU_PASSES
