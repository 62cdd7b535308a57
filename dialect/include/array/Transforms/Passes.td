// The passes from the array dialect to the LLVM dialect, in the order in which lib/Pipelines/Cpu.cpp runs them.
// One pass is one file of lib/Transforms and one of tests/lit, in the folder of its kind.
#ifndef ARRAY_TRANSFORMS_PASSES
#define ARRAY_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

//===--- The array dialect ----------------------------------------------------------------------------------------===//

def ExpandComplex : Pass<"array-expand-complex"> {
  let summary = "Rewrite ops on complex numbers into ops on their parts";
  let description = [{
    By a table: ops that act on each part alone (sums, differences, broadcasts of constants), and functions by formulas
    in the real ops (C99 Annex G for infinities and zeros as far as the formulas reach). `array.complex`, `array.real`
    and `array.imag` of what was just built fold away, so that a chain of ops works on parts throughout.

    Invariants: afterwards a complex value is made by `array.complex`, `array.constant`, an argument, a call or an op that only moves
    or stores elements, and read by `array.real` and `array.imag`, by such ops, calls and results.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

//===--- Sizes that a call decides --------------------------------------------------------------------------------===//

def ResolveSizes : Pass<"array-resolve-sizes", "::mlir::func::FuncOp"> {
  let summary = "Compute the sizes that a call decides at the start of the function, from its symbols";
  let description = [{
    Every `tensor.dim` and `memref.dim`, and the index arithmetic on them, becomes arithmetic on `array.symbol` at the
    start of the function, each expression once: equal sizes are the same value from here on (Sizes.h). An argument of
    @main without `array.dims` gets a symbol for each `?`.

    Invariants: afterwards no `dim` operation is left; one whose size does not follow from the arguments' sizes is an
    error. Comes after convert-array-to-linalg, and once more after bufferization. Functions of static shapes stay as they
    are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::array::ArrayDialect"];
}

//===--- Linalg on tensors ----------------------------------------------------------------------------------------===//

def WidenProducts : Pass<"array-widen-products", "::mlir::func::FuncOp"> {
  let summary = "Copy the narrow floats that a large product multiplies to the type of its sums";
  let description = [{
    A `linalg.generic` that widens two floats, multiplies them and adds the product gets operands of the wider type, each
    made by a `linalg.generic` of its own, into which array-fuse-elementwise takes what comes before: then the blocked
    products of array-lower-contractions multiply what is in memory. Where the target multiplies pairs of bf16, products of
    bf16 that are worth making pairs stay as they are.

    Invariants: comes before array-fuse-elementwise. Small products and those of dynamic sizes stay as they are.
  }];
  let options = [
    Option<"bfloat16Pairs", "bfloat16-pairs", "bool", /*default=*/"false",
           "Whether the target multiplies pairs of bf16 and adds the two products (AVX512_BF16)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"array-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise linalg ops into the elementwise ops and reductions that read them";
  let description = [{
    Upstream's fusion of `linalg.generic` under a cost rule (isWorthFusing in FuseElementwise.cpp): a producer with one
    consumer is fused; one with several, or that would be computed again for every row, only when that is cheaper than
    the memory traffic it saves. Splat constants and fills become scalars in bodies. Reshapes that only insert or
    drop dims of size 1 become maps. The two sums of the variance of a large array become one sweep over blocks of it
    (FuseVariance.h).

    Contractions are left as they are: their operands are not computed while they are read.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

//===--- Tensors to buffers ---------------------------------------------------------------------------------------===//

def PrepareEntry : Pass<"array-prepare-entry", "::mlir::ModuleOp"> {
  let summary = "Give @main one buffer argument for each tensor argument and each tensor result";
  let description = [{
    `func.func @main(tensors) -> tensors` becomes a function on memrefs: first the arguments, read through
    `bufferization.to_tensor restrict`, then the results, each written by
    `bufferization.materialize_in_destination ... restrict writable`. So one-shot-bufferize computes results in
    the caller's buffers, and `bufferization.alloc_tensor` or `memref.alloc` is left for temporaries only. Constants of
    equal elements become fills; others will be read-only globals.

    Invariants: @main is the module's one function with a body (nested calls were inlined before) and has one
    block; sizes that are not static have been resolved. `array.dims` of the arguments stays, and each result's buffer gets it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def PrepareLoops : Pass<"array-prepare-loops", "::mlir::func::FuncOp"> {
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
    Option<"copyCarry", "copy-carry", "bool", /*default=*/"false",
           "Copy what loops and branches carry instead: slower, but bufferization never finds a conflict">
  ];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===--- Linalg on buffers: contractions --------------------------------------------------------------------------===//

def LowerConvolutions : Pass<"array-lower-convolutions", "::mlir::ModuleOp"> {
  let summary = "Replace convolutions on buffers by calls that multiply tiles of windows";
  let description = [{
    A linalg operation on memrefs whose body is `acc + lhs * rhs` (f32, f64), and whose first operand is read through windows
    (`position * stride + tap * dilation`), becomes loops over slabs of this operand: @convolution_pack_* copies a part of it
    between zeros, @gemm_pack_* the kernel to panels, and @convolution_tiles_* multiplies rows, which are windows in the slab,
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

def LowerContractions : Pass<"array-lower-contractions", "::mlir::ModuleOp"> {
  let summary = "Replace contractions on buffers by calls of a blocked matrix product";
  let description = [{
    A linalg operation on memrefs whose body is `acc + lhs * rhs` (f32, f64, bytes with sums of i32, or bf16 with sums of
    f32 where the target multiplies pairs of them) and whose loops fall into batch, rows, columns and reduction becomes calls of private functions inside loops over blocks and over
    the batch: @gemm_pack_* copies a block of the right operand to panels, @gemm_tiles_* multiplies rows with one panel;
    @gemm_stream_* multiplies up to three rows, or eight where the right operand is larger than the cache, with a matrix
    that is read once; @gemm_pair_* makes pairs of bytes or bf16, of which a tile multiplies two with one instruction. The
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
    Option<"bfloat16Pairs", "bfloat16-pairs", "bool", /*default=*/"false",
           "Whether the target multiplies pairs of bf16 and adds the two products (AVX512_BF16)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

//===--- Linalg on buffers: memory --------------------------------------------------------------------------------===//

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

//===--- Linalg on buffers: loops ---------------------------------------------------------------------------------===//

def LinalgToLoops : Pass<"array-linalg-to-loops", "::mlir::func::FuncOp"> {
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
    Option<"fetchAhead", "fetch-ahead", "int64_t", "2048",
           "How far ahead, in bytes, a reduction of more than the second cache holds asks for what it reads; 0: not at all">
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

//===--- Memory ---------------------------------------------------------------------------------------------------===//

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

def OutlineKernels : Pass<"array-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Make one function of the parts of @main that differ in their buffers alone";
  let description = [{
    The parts are the regions that array-linalg-to-loops marked with `array.kernel`, and loops outside of them, from the outermost ones on. Those
    that have the same operations, attributes and types (locations aside) become calls of one private function @kernel*, which
    takes their buffers and the values that they use, and the call frame if a loop in it is for threads. Every other marked
    region is replaced by its operations.

    A function's buffers are memory of their own: places in the arena that overlap are passed as one. A part that calls the
    runtime stays, so that its failures name the place in the program.

    Invariants: runs after array-plan-memory; afterwards no marked region is left, and the functions have the mark.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

//===--- Math -----------------------------------------------------------------------------------------------------===//

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

//===--- Threads --------------------------------------------------------------------------------------------------===//

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

//===--- Vectors --------------------------------------------------------------------------------------------------===//

def LowerTransposes : Pass<"array-lower-transposes", "::mlir::ModuleOp"> {
  let summary = "Replace transposes of blocks by calls of a shared function";
  let description = [{
    The `linalg.transpose` that `array-linalg-to-loops` leaves, of two memrefs with dynamic sizes, offset and row stride,
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

//===--- The entry and the runtime's table ------------------------------------------------------------------------===//

def NumberSites : Pass<"array-number-sites", "::mlir::ModuleOp"> {
  let summary = "Number the operations that can fail while the compiled code runs";
  let description = [{
    Every `array.runtime_call` gets the attribute `array.site`, its number, and the module the table `array.sites`: for
    each number the primitive and the place in the program, `["cholesky", "model.py:12"]`. Operations of one name at one
    place share a number. Of inlined code the place is its own, not that of the call; it is empty where no file is known.

    Invariants: numbers are from 1, in the order of the module; nothing else changes.
  }];
}

def LimitLoops : Pass<"array-limit-loops", "::mlir::ModuleOp"> {
  let summary = "Have loops of unknown length count what they do, so that a run can give up";
  let description = [{
    Each trip of an `scf.while` begins with an `array.spend` of about the operations of one: vectors count as one
    operation, loops inside by their trips, a call of a function of another module as a thousand, one of a library, or a
    loop that threads share, as a hundred thousand.
    The module gets the attribute `array.gives_up`.

    A run that gives up is run again, so this is done only where a run can be: not when an argument's memory is
    written, when something acts on the world outside of the program (a callback, a collective), or when such a loop is
    in a function other than @main, which has no frame.

    Invariants: structured control flow is there still, and all that becomes a function has become one (parallel loops,
    kernels).
  }];
  let dependentDialects = ["::mlir::array::ArrayDialect"];
}

def LowerRuntimeCalls : Pass<"array-lower-runtime-calls", "::mlir::func::FuncOp"> {
  let summary = "Call library routines through the call frame's table";
  let description = [{
    `array.runtime_call` on memrefs becomes an indirect call of the routine's slot in PcrtTable
    (runtime/include/runtime/Abi.h): operands are described by PcrtTensor structures on the stack. A status
    other than PCRT_OK leaves the function at once, with the number that array-number-sites gave the call above its low
    PCRT_STATUS_BITS bits. The function gets the call frame as its last argument, with the
    role "frame", and returns an i32 status; so @main is the one function that may hold such calls. `array.spend` takes
    from a counter on the stack, which begins at the frame's budget, and returns PCRT_OUT_OF_BUDGET when it is negative.

    Invariants: structured control flow is lowered (the early return needs a branch); operands are dense and row-major.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

def EmitEntry : Pass<"array-emit-entry", "::mlir::ModuleOp"> {
  let summary = "Emit the C entry over the call frame";
  let description = [{
    Emits `int32_t pcrt_main(const PcrtFrame *)`, which loads the pointers from the frame and calls @main, now a
    private function over bare pointers: `llvm.noalias`, aligned to the element for arguments and to 64 bytes for
    results and the arena, arguments `llvm.readonly`. Memrefs are rebuilt from the pointers as static descriptors. The
    functions of array-outline-kernels take pointers in the same way.

    Invariant: @main takes memrefs only (and the frame, when array-lower-runtime-calls added it).
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // ARRAY_TRANSFORMS_PASSES
