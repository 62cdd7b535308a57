// Passes on tensors: lib/Transforms. lib/Pipelines puts them in order.
// One pass is one file there and one of tests/lit.
#ifndef ARRAY_TRANSFORMS_PASSES
#define ARRAY_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

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

#endif // ARRAY_TRANSFORMS_PASSES
