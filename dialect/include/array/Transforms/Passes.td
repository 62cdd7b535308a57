// Passes on tensors: lib/Transforms. lib/Pipelines puts them in order.
// One pass is one file there and one of tests/lit.
#ifndef ARRAY_TRANSFORMS_PASSES
#define ARRAY_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def ExpandComplex : Pass<"array-expand-complex"> {
  let summary = "Rewrite ops on complex numbers into ops on their parts";
  let description = [{
    A table maps each op: ops that act on each part separately (sums, differences, broadcasts of constants), and
    functions with formulas in real ops. Infinities and zeros follow C99 Annex G as far as the formulas allow.
    `array.complex`, `array.real` and `array.imag` of a value that was just built fold away, so a chain of ops works on
    parts throughout.

    Invariants: afterwards only `array.complex`, `array.constant`, arguments, calls and ops that move or store elements
    make complex values. Only `array.real`, `array.imag`, such ops, calls and results read them.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def JoinReductions : Pass<"array-join-reductions", "::mlir::func::FuncOp"> {
  let summary = "Join small reductions among participants into one";
  let description = [{
    `array.all_reduce` ops of one block with one kind, one element type and the same groups, of at most 64 KiB each and
    together at most 1 MiB, become one reduction of their concatenated elements, at the place of the last one. Each value
    has the same bits as before: members are combined in the same order. Between the first and the last of them there is
    no other collective, no effect, and no use of their results.
  }];
}

def FuseElementwise : Pass<"array-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse elementwise linalg ops into their elementwise readers and reductions";
  let description = [{
    Upstream's fusion of `linalg.generic` under a cost rule (isWorthFusing in FuseElementwise.cpp). A producer with one
    consumer is fused; in long programs its body moves (MoveBody.h). A producer with several consumers, or a producer
    that every row would recompute, is fused only if the recomputation costs less than the memory traffic that fusion
    saves. Splat constants and fills become scalars in bodies. Reshapes that
    only insert or drop dimensions of size 1 become maps. The two sums of the variance of a large array become one sweep
    over its blocks (FuseVariance.h). Elementwise readers of concatenations, padding and rotations become one op for each
    part, at most 25, which is fused with the producers of its part (DivideReaders.h).

    Contractions do not change: producers are not fused into their operands.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // ARRAY_TRANSFORMS_PASSES
