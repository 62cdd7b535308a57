// A contraction on buffers as a product of matrices: which loops are rows, columns and depth, and how each operand
// steps through them.
#ifndef ARRAY_LIB_TRANSFORMS_CONTRACTIONPRODUCT_H
#define ARRAY_LIB_TRANSFORMS_CONTRACTIONPRODUCT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// An operand of the contraction: its buffer, and its stride in each loop of the operation (0: the loop does not move
/// it).
struct Operand {
  Value buffer;
  SmallVector<int64_t> strides;
  int64_t offset = 0; ///< dynamic for a slice at an index
  bool isSigned = true;
};

/// Some loops of a contraction as one dimension of a matrix: a size, and a stride for each of a, b, c and what else the
/// product reads.
struct Dimension {
  int64_t size = 1;
  SmallVector<int64_t, 4> strides;
};

/// c[outer, m, n] += a[outer, m, k] * b[outer, k, n]: what is left over after m, n and k are loops around the product.
struct Product {
  Operand a, b, c;
  SmallVector<Operand> more;
  Dimension m, n, k;
  SmallVector<Dimension> outer;
  SmallVector<Dimension> outerReductions;
  bool isSwapped = false; ///< a is the operation's second operand
  /// Factors narrower than the sums, which have 32 bits.
  enum { None, Bytes, BFloat16 } narrow = None;
};

/// Reads an operand's strides by loop; fails where they are not known or its map is not a projected permutation, which
/// may have zeros.
FailureOr<Operand> readOperand(linalg::LinalgOp op, OpOperand &operand);

/// Takes the operation apart; fails where it is no contraction of two buffers of known layout. Each dimension is one
/// for the operands of `more` as well.
FailureOr<Product> readProduct(linalg::LinalgOp op, ArrayRef<Operand> more = {});

/// Makes n the dimension in which c has unit stride, by computing c^T = b^T * a^T where it is m.
LogicalResult orient(Product &product);

} // namespace mlir::array

#endif // ARRAY_LIB_TRANSFORMS_CONTRACTIONPRODUCT_H
