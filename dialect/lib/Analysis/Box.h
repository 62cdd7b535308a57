// Boxes of indices: the parts of a tensor or buffer, and of the loops of an op that reads it part by part
// (array-fuse-elementwise, array-forward-copies).
#ifndef ARRAY_LIB_ANALYSIS_BOX_H
#define ARRAY_LIB_ANALYSIS_BOX_H

#include "mlir/IR/AffineMap.h"

namespace mlir::array {

using Box = SmallVector<std::pair<int64_t, int64_t>>; ///< [from, to) in each dimension

inline bool contains(const Box &outer, const Box &inner) {
  return llvm::all_of(llvm::zip_equal(outer, inner), [](auto sides) {
    auto [o, i] = sides;
    return o.first <= i.first && i.second <= o.second;
  });
}

/// The part of an operand that the loops of `part` visit, by a projected permutation; 0 is a dimension of size 1.
inline Box boxOfOperand(AffineMap map, const Box &part) {
  Box box;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    box.push_back(dim ? part[dim.getPosition()] : std::pair<int64_t, int64_t>(0, 1));
  }
  return box;
}

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_BOX_H
