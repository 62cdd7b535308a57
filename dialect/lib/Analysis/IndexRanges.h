// Ranges of index values, as far as they can be inferred. Private to this directory: for checks of modules from files.
#ifndef ARRAY_LIB_ANALYSIS_INDEXRANGES_H
#define ARRAY_LIB_ANALYSIS_INDEXRANGES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include <limits>
#include <optional>

namespace mlir::array {

struct Range {
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
};

/// The range of a value in the body of an operation on tensors, or outside of one.
Range rangeOf(Value value);

/// The range of an expression over loops with these extents; none if the expression is not supported.
std::optional<Range> rangeOf(AffineExpr expression, ArrayRef<int64_t> extents);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_INDEXRANGES_H
