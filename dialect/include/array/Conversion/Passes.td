// The conversions out of the array dialect.
#ifndef ARRAY_CONVERSION_PASSES_TD
#define ARRAY_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertArrayToLinalg : Pass<"convert-array-to-linalg", "ModuleOp"> {
  let summary = "Lower the array dialect to linalg on tensors";
  let description = [{
    Replaces every op of the array dialect by `linalg`, `tensor`, `arith`, `math`, `scf` and `func`. Types become storage types:

    - `i1` elements are stored as `i8` holding 0 or 1; bodies compute with `i1` and extend what they store,
    - `uiN` elements become signless `iN`; the unsigned variant of an arithmetic op is chosen by the array op's element type,
    - `!array.token` is erased, from function signatures too.

    Elementwise ops, broadcasts, transposes, iota, gathers, reductions and contractions become `linalg.generic`, one each;
    `array-fuse-elementwise` joins them. What is a view (slice, most reshapes) becomes a `tensor` op.

    Floating-point flags: `contract` on additions, subtractions and multiplications; sums and products that reduce carry
    `reassoc` as well; nothing else. Transcendental functions, sums and contractions of f16 and bf16 compute in f32.

    Scatters become loops over their updates, or, where there are threads for these, a `linalg.generic` that says where
    each of them goes (array/Conversion/ScatterForm.h).
  }];
  let options = [Option<"hasThreads", "has-threads", "bool", "false",
                        "Elements have threads, as on a GPU: nothing that could run at the same time is a loop">,
                 Option<"narrowFactors", "narrow-factors", "bool", "false",
                        "Leave the factors of large convolutions in their own type, where the sums are wider">];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect", "linalg::LinalgDialect", "math::MathDialect",
                           "scf::SCFDialect", "tensor::TensorDialect"];
}

def LowerViews : Pass<"array-lower-views"> {
  let summary = "Cut dimensions of buffers into several sizes that a call decides";
  let description = [{
    A `memref.expand_shape` that cuts one dimension into several of sizes that are not constants becomes a
    `memref.reinterpret_cast` with the strides that follow: expand-strided-metadata, which comes next, takes one such size
    for each dimension.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

#endif // ARRAY_CONVERSION_PASSES_TD
