// Passes that make functions on tensors the entry that the runtime calls: lib/Entry. lib/Pipelines puts them in order.
// One pass is one file there and one of tests/lit.
#ifndef ARRAY_ENTRY_PASSES
#define ARRAY_ENTRY_PASSES

include "mlir/Pass/PassBase.td"

def ResolveSizes : Pass<"array-resolve-sizes", "::mlir::func::FuncOp"> {
  let summary = "Compute the sizes that a call decides at the start of the function, from its symbols";
  let description = [{
    Every `tensor.dim` and `memref.dim`, and the index arithmetic on them, becomes arithmetic on `array.symbol` at the
    start of the function, each expression once: equal sizes are the same value from here on (SymbolicSizes.h). An argument of
    @main without `array.dims` gets a symbol for each `?`.

    Invariants: afterwards no `dim` operation is left; one whose size does not follow from the arguments' sizes is an
    error. Comes after convert-array-to-linalg, and once more after bufferization. Functions of static shapes stay as they
    are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::array::ArrayDialect"];
}

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

def OutlineKernels : Pass<"array-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Make one function of the parts of @main that differ in their buffers alone";
  let description = [{
    The parts are the regions that array-vectorize-linalg marked with `array.kernel`, and loops outside of them, from the outermost ones on. Those
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

def AssignCallSiteIds : Pass<"array-assign-call-site-ids", "::mlir::ModuleOp"> {
  let summary = "Number the operations that can fail while the compiled code runs";
  let description = [{
    Every `array.runtime_call` gets the attribute `array.call_site`, its number, and the module the table `array.call_sites`: for
    each number the primitive and the place in the program, `["cholesky", "model.py:12"]`. Operations of one name at one
    place share a number. Of inlined code the place is its own, not that of the call; it is empty where no file is known.

    Invariants: numbers are from 1, in the order of the module; nothing else changes.
  }];
}

def AddLoopBudget : Pass<"array-add-loop-budget", "::mlir::ModuleOp"> {
  let summary = "Have loops of unknown length count what they do, so that a run can give up";
  let description = [{
    Each trip of an `scf.while` begins with an `array.spend` of about the operations of one: vectors count as one
    operation, loops inside by their trips, a call of a function of another module as a thousand, one of a library, or a
    loop that threads share, as a hundred thousand.
    The module gets the attribute `array.loop_budget`.

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
    other than PCRT_OK leaves the function at once, with the number that array-assign-call-site-ids gave the call above its low
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

#endif // ARRAY_ENTRY_PASSES
