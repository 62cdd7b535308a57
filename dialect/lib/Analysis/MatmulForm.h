// A contraction on buffers as a matmul: which loops are rows, columns and depth, and the strides of each operand.
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

/// Some loops of a contraction as one dimension of a matrix: a size, and a stride for each of a, b, c and further
/// operands.
struct Dimension {
  BoundedSize size = 1;
  SmallVector<BoundedSize> strides;
};

/// c[outer, m, n] += a[outer, m, k] * b[outer, k, n]. Loops other than m, n and k surround the matmul.
struct MatmulForm {
  Operand a, b, c;
  SmallVector<Operand> more;
  Dimension m, n, k;
  SmallVector<Dimension> outer;
  SmallVector<Dimension> outerReductions;
  bool isSwapped = false; ///< a is the operation's second operand
  /// Factors narrower than the sums, which have 32 bits.
  enum { None, Bytes, BFloat16 } narrow = None;

  /// Whether the number of terms may be zero. Then the sums keep their initial values.
  bool maySumNothing() const;
};

/// Reads an operand's strides by loop. Fails if they are not known, or if its map is not a projected permutation (zeros
/// are allowed).
FailureOr<Operand> readOperand(linalg::LinalgOp op, OpOperand &operand);

/// Reads an operand of `elementwise`, with its strides in the loops of the matmul. `elementwise` has one element for
/// each element of operand `joint` of `product`.
FailureOr<Operand> readOperandBeside(linalg::GenericOp elementwise, OpOperand &operand, linalg::LinalgOp product,
                                     OpOperand &joint);

/// Analyzes the operation; fails if it is not a contraction of two buffers of known layout. Each dimension is also one
/// dimension of the operands `more`.
FailureOr<MatmulForm> readMatmul(linalg::LinalgOp op, ArrayRef<Operand> more = {});

/// Makes n the dimension in which c has unit stride. If that is m, it computes c^T = b^T * a^T.
LogicalResult orient(MatmulForm &product);

/// The size of a dimension of a buffer; none if it depends on more than the sizes of a call.
std::optional<BoundedSize> sizeOfBuffer(Value buffer, unsigned dim);

/// The size of a loop: a number, if one of the operands determines it; none if no operand does.
std::optional<BoundedSize> sizeOfLoop(linalg::LinalgOp op, unsigned loop);

/// The elements of a buffer.
std::optional<BoundedSize> elementsOf(Value buffer);

/// Allocates a buffer like `buffer`, of known sizes, whose dimension i is dimension order[i] of `buffer`.
memref::AllocOp allocateOrdered(OpBuilder &b, Value buffer, ArrayRef<int64_t> order);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_MATMULFORM_H
