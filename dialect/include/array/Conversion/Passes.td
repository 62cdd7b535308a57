// The conversions out of the array dialect.
#ifndef ARRAY_CONVERSION_PASSES_TD
#define ARRAY_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertArrayToLinalg : Pass<"convert-array-to-linalg", "ModuleOp"> {
  let summary = "Lower the array dialect to linalg on tensors";
  let description = [{
    Replaces every op of the array dialect by `linalg`, `tensor`, `arith`, `math`, `scf` and `func`. Types become
    storage types:

    - `i1` elements are stored as `i8` with 0 or 1; bodies compute with `i1` and extend before they store,
    - `uiN` elements become signless `iN`; the element type of the array op selects the unsigned variant of an arithmetic op,
    - `!array.token` is erased, also from function signatures.

    Elementwise ops, broadcasts, transposes, iota, gathers, reductions and contractions become `linalg.generic`, one
    each; `array-fuse-elementwise` fuses them. Views (slice, most reshapes) become `tensor` ops.

    Floating-point flags: `contract` on additions, subtractions and multiplications; also `reassoc` on the sums and
    products of reductions; nothing else. Transcendental functions, sums and contractions of f16 and bf16 compute in
    f32.

    Scatters become loops over their updates. With `has-threads` they become a `linalg.generic` that computes the place
    of each update (array/Conversion/ScatterForm.h).
  }];
  let options = [Option<"hasThreads", "has-threads", "bool", "false",
                        "Elements have threads, as on a GPU: nothing that could run at the same time is a loop">,
                 Option<"narrowFactors", "narrow-factors", "bool", "false",
                        "Leave the factors of large convolutions in their own type, where the sums are wider">];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect", "linalg::LinalgDialect", "math::MathDialect",
                           "scf::SCFDialect", "tensor::TensorDialect"];
}

def LowerViews : Pass<"array-lower-views"> {
  let summary = "Cut dimensions of buffers into several symbolic sizes";
  let description = [{
    If a `memref.expand_shape` cuts one dimension into several non-constant sizes, it becomes a
    `memref.reinterpret_cast` with the resulting strides: expand-strided-metadata, which comes next, supports one such
    size for each dimension.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CheckShapes : Pass<"array-check-shapes", "ModuleOp"> {
  let summary = "Refuse types whose bytes exceed 64-bit numbers";
  let description = [{
    From here on, sizes, strides and bytes are 64-bit numbers. The shape of every value must fit (array/IR/Bytes.h): a
    product that wraps would lead to a buffer that is too small. Runs first in every pipeline.
  }];
}

def CheckInput : Pass<"array-check-input", "ModuleOp"> {
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

def GuardSizes : Pass<"array-guard-sizes", "func::FuncOp"> {
  let summary = "Check symbolic sizes of modules from files at run time";
  let description = [{
    Runs on modules with `array.checked`, after array-resolve-sizes. An operation on tensors of dynamic sizes assumes
    that some sizes are equal, or within others. If this does not follow from their definitions, the routine `check`
    tests it at the operation. Redundant checks are removed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::array::ArrayDialect", "::mlir::tensor::TensorDialect"];
}

#endif // ARRAY_CONVERSION_PASSES_TD
