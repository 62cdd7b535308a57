// Between which numbers an index lies, as far as it can be seen. Private to this directory: for checks of modules from
// elsewhere.
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

/// Of what the body of an operation on tensors computes, or what stands outside of one.
Range rangeOf(Value value);

/// Of an expression of loops of these extents; nothing for what is not computed here.
std::optional<Range> rangeOf(AffineExpr expression, ArrayRef<int64_t> extents);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_INDEXRANGES_H
