// What computes an operand of a product element by element (a cast, a scale, a difference) for the product alone: it is
// computed block by block while the operand is packed, and has no memory of its own.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULPROLOGUE_H
#define ARRAY_LIB_CPU_MATMUL_MATMULPROLOGUE_H

#include "Analysis/MatmulForm.h"
#include "Matmul.h"

namespace mlir::array {

/// An elementwise operation, and what it reads from memory as matrices of the operand's rows and columns.
struct MatmulPrologue {
  linalg::GenericOp producer;
  SmallVector<MatmulMatrix> inputs;
};

/// The elementwise operation that computes `operand` of `product` and nothing else, if it may as well be computed when
/// the product reads it. Null where there is none, or where that would keep a temporary in memory for another.
linalg::GenericOp findPrologue(linalg::LinalgOp product, OpOperand &operand);

/// What `producer` reads from memory, with the strides in the loops of `product`; fails where they are not known.
FailureOr<SmallVector<Operand>> readPrologue(linalg::GenericOp producer, linalg::LinalgOp product, OpOperand &operand);

/// Computes `rows` x `columns` elements from (row, column) on, and stores them in `target`, of that shape.
void emitPrologueBlock(ImplicitLocOpBuilder &b, const MatmulPrologue &prologue, Value row, Value column, Value rows,
                       Value columns, Value target);

/// Removes the operation and its result's memory, once the product that read them is gone.
void erasePrologue(linalg::GenericOp producer);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULPROLOGUE_H
