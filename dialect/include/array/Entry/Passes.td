// Passes that make functions on tensors the entry that the runtime calls: lib/Entry. lib/Pipelines puts them in order.
// One pass is one file there and one of tests/lit.
#ifndef ARRAY_ENTRY_PASSES
#define ARRAY_ENTRY_PASSES

include "mlir/Pass/PassBase.td"

def CheckShapes : Pass<"array-check-shapes", "::mlir::ModuleOp"> {
  let summary = "Refuse types whose bytes exceed 64-bit numbers";
  let description = [{
    From here on, sizes, strides and bytes are 64-bit numbers. The shape of every value must fit (array/IR/Bytes.h): a
    product that wraps would lead to a buffer that is too small. Runs first in every pipeline.
  }];
}

def CheckInput : Pass<"array-check-input", "::mlir::ModuleOp"> {
  let summary = "Check a module from a file, and add run-time checks where the compiler cannot decide";
  let description = [{
    For modules from files; modules that this package traces are correct by construction. The pass refuses operations
    that work on memory by address, and attributes and operations that only passes make. It defines undefined cases: an
    index outside a tensor, and a step that is not positive, are run-time errors (the routine `check` of the runtime).
    An integer divided by 0 is -1 (the maximum of unsigned types), and the remainder is the dividend.

    The module gets the attribute `array.checked`, by which array-guard-sizes recognizes it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::array::ArrayDialect", "::mlir::tensor::TensorDialect"];
}

def GuardSizes : Pass<"array-guard-sizes", "::mlir::func::FuncOp"> {
  let summary = "Check symbolic sizes of modules from files at run time";
  let description = [{
    Runs on modules with `array.checked`, after array-resolve-sizes. An operation on tensors of dynamic sizes assumes
    that some sizes are equal, or within others. If this does not follow from their definitions, the routine `check`
    tests it at the operation. Redundant checks are removed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::array::ArrayDialect", "::mlir::tensor::TensorDialect"];
}

def ResolveSizes : Pass<"array-resolve-sizes", "::mlir::func::FuncOp"> {
  let summary = "Compute all symbolic sizes at the start of the function";
  let description = [{
    Replaces every `tensor.dim` and `memref.dim`, and the index arithmetic on them, by arithmetic on `array.symbol` at
    the start of the function. Each expression occurs once: afterwards equal sizes are the same value. An argument of
    @main without `array.dims` gets a symbol for each `?`.

    Invariants: afterwards no `dim` operation is left; a size that does not follow from the arguments' sizes is an
    error. Runs after convert-array-to-linalg, and again after bufferization. Functions of static shapes do not change.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::array::ArrayDialect"];
}

def PrepareEntry : Pass<"array-prepare-entry", "::mlir::ModuleOp"> {
  let summary = "Give @main one buffer argument for each tensor argument and each tensor result";
  let description = [{
    `func.func @main(tensors) -> tensors` becomes a function on memrefs. First come the arguments, read through
    `bufferization.to_tensor restrict`, then the results, each written by `bufferization.materialize_in_destination ...
    restrict writable`. So one-shot-bufferize computes results in the caller's buffers, and `bufferization.alloc_tensor`
    or `memref.alloc` remains for temporaries only. Constants of equal elements become fills; all others become
    read-only globals later.

    Invariants: @main is the only function with a body (calls were inlined before) and has one block; non-static sizes
    have been resolved. The arguments keep `array.dims`, and each result's buffer gets it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::tensor::TensorDialect"];
}

def OutlineKernels : Pass<"array-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn parts of @main that differ only in their buffers into one function";
  let description = [{
    The candidates are the regions that array-vectorize-linalg marked with `array.kernel`, and loops outside them, from
    the outermost ones on. Candidates with the same operations, attributes and types (locations aside) become calls of
    one private function @kernel*. Its arguments are their buffers, the values that they use, and the call frame if a
    loop inside is for threads. Every other marked region is replaced by its operations.

    A function's buffers are memory of their own: overlapping places in the arena are passed as one. A part that calls
    the runtime stays in @main, so that its failures name the place in the program.

    Invariants: runs after array-plan-memory; afterwards no marked region is left, and the functions have the mark.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect"];
}

def DivideMain : Pass<"array-divide-main", "::mlir::ModuleOp"> {
  let summary = "Turn a long @main into calls of functions of bounded length";
  let description = [{
    If a block of @main has more than twice `length` operations, including those in its loops, it becomes sequences of
    about `length` operations, and each sequence a private function @part*. The arguments of the function are the used
    arguments of @main, values that earlier operations computed, and the call frame if a loop inside is for threads.
    Its results are the values that later operations use. Constants, and views of buffers, are repeated in each user.

    Operations that can fail, loops of unknown length, stack memory and globals stay in @main. A sequence that uses a
    buffer of symbolic size, or a buffer that a loop carries, also stays.

    Invariants: runs after array-plan-memory; the functions have the mark of kernels. Shorter blocks do not change.
  }];
  let options = [Option<"length", "length", "int64_t", "1000", "The number of operations in a function">];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
}

def AssignCallSiteIds : Pass<"array-assign-call-site-ids", "::mlir::ModuleOp"> {
  let summary = "Assign a call-site id to each operation that can fail at run time";
  let description = [{
    Every `array.runtime_call` gets its call-site id as the attribute `array.call_site`, and the module gets the table
    `array.call_sites`: for each id the primitive and the place in the program, `["cholesky", "model.py:12"]`.
    Operations with the same name and place share an id. Inlined code has its own place, not that of the call; the place
    is empty if no file is known.

    Invariants: ids start at 1, in the order of the module; nothing else changes.
  }];
}

def UpliftLoops : Pass<"array-uplift-loops", "::mlir::func::FuncOp"> {
  let summary = "Give while loops that count their bounds";
  let description = [{
    If an `scf.while` adds 1 to a number while the number is less than a value from outside, it becomes an `scf.for`
    over that number (upstream's `upliftWhileToForLoop`). Then `array-add-loop-budget` spends the budget of the loop
    once, before its first iteration. Upstream's analysis of integer ranges folds clamps and comparisons with a known
    result, such as those of `x[i]` in a loop over the rows of x.

    Invariants: the counter keeps its type. Loops over an index come from elsewhere, and have no budget.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def AddLoopBudget : Pass<"array-add-loop-budget", "::mlir::ModuleOp"> {
  let summary = "Give loops of unknown length a budget of operations, so that a speculative run can stop";
  let description = [{
    Each iteration of an `scf.while` begins with an `array.spend` of about the number of its operations. For an
    `scf.for` over a number of the program (array-uplift-loops), one `array.spend` for all iterations precedes the loop.
    A vector operation counts as one, and an inner loop by its iterations. A call of a function of another module counts
    as a thousand; a call of a library, or a loop that threads share, as a hundred thousand. The module gets the
    attribute `array.loop_budget`.

    A run that exceeds its budget runs again from the beginning. Therefore the pass does nothing if a run cannot be
    repeated: if it writes an argument's memory, if it has effects on the world outside the program (a callback, a
    collective), or if such a loop is in a function other than @main, which has no frame.

    Invariants: structured control flow still exists, and all later functions have been made (parallel loops, kernels).
  }];
  let dependentDialects = ["::mlir::array::ArrayDialect"];
}

def LowerRuntimeCalls : Pass<"array-lower-runtime-calls", "::mlir::func::FuncOp"> {
  let summary = "Call library routines through the table of the call frame";
  let description = [{
    `array.runtime_call` on memrefs becomes an indirect call of the routine's slot in PcrtTable
    (runtime/include/runtime/Abi.h). PcrtTensor structures on the stack describe the operands. If the status is not
    PCRT_OK, the function returns at once, with the call-site id of the call above the low PCRT_STATUS_BITS bits. The
    function gets the call frame as its last argument, with the role "frame", and returns an i32 status; so @main is the
    only function with such calls. `array.spend` subtracts from a counter on the stack, which starts at the frame's
    budget, and returns PCRT_OUT_OF_BUDGET if it becomes negative.

    Invariants: structured control flow is lowered (the early return needs a branch); operands are dense and row-major.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect"];
}

def EmitEntry : Pass<"array-emit-entry", "::mlir::ModuleOp"> {
  let summary = "Emit the C entry over the call frame";
  let description = [{
    Emits `int32_t pcrt_main(const PcrtFrame *)`, which loads the pointers from the frame and calls @main, now a private
    function over bare pointers. The pointers are `llvm.noalias`, aligned to the element for arguments and to 64 bytes
    for results and the arena; arguments are `llvm.readonly`. Static descriptors rebuild the memrefs from the pointers.
    The functions of array-outline-kernels take pointers in the same way.

    Invariant: @main takes memrefs only (and the frame, if array-lower-runtime-calls added it).
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect"];
}

#endif // ARRAY_ENTRY_PASSES
