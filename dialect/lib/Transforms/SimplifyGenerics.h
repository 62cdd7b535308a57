// The simplest form of linalg.generic ops and their bodies. Private to array-fuse-elementwise.
#ifndef ARRAY_LIB_TRANSFORMS_SIMPLIFYGENERICS_H
#define ARRAY_LIB_TRANSFORMS_SIMPLIFYGENERICS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir::array {

/// Whether an op only reads stored operands: a matmul, and a scatter, whose operands a GPU kernel reads
/// (array/Analysis/ScatterForm.h).
bool readsWhatIsStored(linalg::GenericOp op);

/// Whether `producer` is a transposition, by which the terms of a convolution become dense in its kernel `operand`.
bool makesTermsDense(linalg::GenericOp producer, OpOperand &operand);

/// The parts of a complex number, if an operation puts their bits together as convert-array-to-linalg does.
std::optional<std::pair<Value, Value>> partsOf(Value bits);

/// Patterns for one op: it reads through reshapes that only insert or drop dims of size 1, constants of equal elements
/// as scalars, and nothing twice; its body computes nothing twice and converts nothing back and forth.
FrozenRewritePatternSet simplificationsOfGenerics(MLIRContext *context);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_SIMPLIFYGENERICS_H
