// Prologues of matmuls: elementwise operations (a cast, a scale, a difference) whose result only the matmul reads. They
// run block by block while the operand is packed, and their result has no memory of its own.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULPROLOGUE_H
#define ARRAY_LIB_CPU_MATMUL_MATMULPROLOGUE_H

#include "Analysis/MatmulForm.h"
#include "Matmul.h"

namespace mlir::array {

/// An elementwise operation, and its inputs in memory as matrices of the operand's rows and columns.
struct MatmulPrologue {
  linalg::GenericOp producer;
  SmallVector<MatmulMatrix> inputs;
};

/// The elementwise operation that computes `operand` of `product` and nothing else, if it may run at the matmul. Null
/// if there is none, or if it would extend the life of another temporary.
linalg::GenericOp findPrologue(linalg::LinalgOp product, OpOperand &operand);

/// The inputs of `producer` in memory, with their strides in the loops of `product`; fails if these are not known.
FailureOr<SmallVector<Operand>> readPrologue(linalg::GenericOp producer, linalg::LinalgOp product, OpOperand &operand);

/// Computes `rows` x `columns` elements from (row, column) on, and stores them in `target`, of that shape.
void emitPrologueBlock(ImplicitLocOpBuilder &b, const MatmulPrologue &prologue, Value row, Value column, Value rows,
                       Value columns, Value target);

/// Erases the operation and the memory of its result, after the matmul that read it was erased.
void erasePrologue(linalg::GenericOp producer);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULPROLOGUE_H
