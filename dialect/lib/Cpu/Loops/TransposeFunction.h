// The shared function that transposes a block in vector registers. Private to this directory.
#ifndef ARRAY_LIB_CPU_LOOPS_TRANSPOSEFUNCTION_H
#define ARRAY_LIB_CPU_LOOPS_TRANSPOSEFUNCTION_H

#include "Cpu/Matmul/MatmulKernels.h"

namespace mlir::array {

/// @transpose_*(source: m x n, target: n x m), both with unit strides along the rows. It writes whole squares of side
/// loops::transposeSide(element), so the target has room for them.
func::FuncOp getTranspose(ModuleOp module, Type element);

/// Transposes a square of n rows of n elements. In the round of distance d, rows i and i + d (where i has no bit d)
/// exchange the off-diagonal blocks of size d.
void transposeSquare(OpBuilder &b, Location loc, MutableArrayRef<Value> rows);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_LOOPS_TRANSPOSEFUNCTION_H
