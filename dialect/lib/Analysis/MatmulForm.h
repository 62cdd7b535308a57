// A contraction on buffers as a product of matrices: which loops are rows, columns and depth, and how each operand
// steps through them.
#ifndef ARRAY_LIB_ANALYSIS_MATMULFORM_H
#define ARRAY_LIB_ANALYSIS_MATMULFORM_H

#include "BoundedSize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

/// An operand of the contraction: its buffer, and its stride in each loop of the operation (0: the loop does not move
/// it).
struct Operand {
  Value buffer;
  SmallVector<BoundedSize> strides;
  int64_t offset = 0; ///< dynamic for a slice at an index
  bool isSigned = true;
};

/// Some loops of a contraction as one dimension of a matrix: a size, and a stride for each of a, b, c and what else the
/// product reads.
struct Dimension {
  BoundedSize size = 1;
  SmallVector<BoundedSize> strides;
};

/// c[outer, m, n] += a[outer, m, k] * b[outer, k, n]: what is left over after m, n and k are loops around the product.
struct MatmulForm {
  Operand a, b, c;
  SmallVector<Operand> more;
  Dimension m, n, k;
  SmallVector<Dimension> outer;
  SmallVector<Dimension> outerReductions;
  bool isSwapped = false; ///< a is the operation's second operand
  /// Factors narrower than the sums, which have 32 bits.
  enum { None, Bytes, BFloat16 } narrow = None;

  /// Whether there may be no terms at all: then the sums are what they start with.
  bool maySumNothing() const;
};

/// Reads an operand's strides by loop; fails where they are not known or its map is not a projected permutation, which
/// may have zeros.
FailureOr<Operand> readOperand(linalg::LinalgOp op, OpOperand &operand);

/// Reads an operand of `elementwise`, which has an element for each one of `product`'s operand `joint`, with its
/// strides in the loops of the product.
FailureOr<Operand> readOperandBeside(linalg::GenericOp elementwise, OpOperand &operand, linalg::LinalgOp product,
                                     OpOperand &joint);

/// Takes the operation apart; fails where it is no contraction of two buffers of known layout. Each dimension is one
/// for the operands of `more` as well.
FailureOr<MatmulForm> readMatmul(linalg::LinalgOp op, ArrayRef<Operand> more = {});

/// Makes n the dimension in which c has unit stride, by computing c^T = b^T * a^T where it is m.
LogicalResult orient(MatmulForm &product);

/// The size of a dimension of a buffer; none where it depends on more than the sizes of a call.
std::optional<BoundedSize> sizeOfBuffer(Value buffer, unsigned dim);

/// The size of a loop: a number, if one of the operands tells it; none where no operand tells it.
std::optional<BoundedSize> sizeOfLoop(linalg::LinalgOp op, unsigned loop);

/// The elements of a buffer.
std::optional<BoundedSize> elementsOf(Value buffer);

/// A buffer like `buffer`, of known sizes, whose dimension i is its dimension order[i].
memref::AllocOp allocateOrdered(OpBuilder &b, Value buffer, ArrayRef<int64_t> order);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_MATMULFORM_H
