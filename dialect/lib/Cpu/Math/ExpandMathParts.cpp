// Splits vectors of any length into registers, and joins them again. For the files ExpandMath*.cpp.
#include "ExpandMathTerm.h"

namespace mlir::array {

/// Neighbours are joined in pairs; the last ones may have excess lanes.
static Value join(ImplicitLocOpBuilder &b, SmallVector<Value> parts, int64_t count) {
  int64_t lanes = cast<VectorType>(parts.front().getType()).getNumElements();
  while (parts.size() > 1) {
    SmallVector<Value> pairs;
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(vector::ShuffleOp::create(b, parts[i], parts[std::min(i + 1, parts.size() - 1)], order));
    parts = std::move(pairs);
    lanes *= 2;
  }
  if (lanes == count)
    return parts.front();
  return vector::ShuffleOp::create(b, parts.front(), parts.front(), llvm::to_vector(llvm::seq<int64_t>(0, count)));
}

Value inParts(ImplicitLocOpBuilder &b, ValueRange vectors, int64_t lanes, function_ref<Value(ValueRange)> function) {
  int64_t count = cast<VectorType>(vectors.front().getType()).getNumElements();
  if (count == lanes)
    return function(vectors);
  SmallVector<Value> results;
  for (int64_t first = 0; first < count; first += lanes) {
    // Lanes beyond the last one repeat the first; any value would do.
    SmallVector<int64_t> order;
    for (int64_t lane = first; lane < first + lanes; ++lane)
      order.push_back(lane < count ? lane : first);
    SmallVector<Value> parts;
    for (Value vector : vectors)
      parts.push_back(vector::ShuffleOp::create(b, vector, vector, order));
    results.push_back(function(parts));
  }
  return join(b, results, count);
}

} // namespace mlir::array
