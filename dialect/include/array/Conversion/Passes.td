// The conversion out of the array dialect.
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
    of each update (array/Analysis/ScatterForm.h).
  }];
  let options = [Option<"hasThreads", "has-threads", "bool", "false",
                        "Elements have threads, as on a GPU: nothing that could run at the same time is a loop">,
                 Option<"narrowFactors", "narrow-factors", "bool", "false",
                        "Multiply factors of 16 bits in their own type where the sums are wider, even if they are "
                        "widened first">];
  let dependentDialects = ["arith::ArithDialect", "func::FuncDialect", "linalg::LinalgDialect", "math::MathDialect",
                           "scf::SCFDialect", "tensor::TensorDialect"];
}

#endif // ARRAY_CONVERSION_PASSES_TD
