// The sizes that the blocked matmul of array-lower-matmuls pays off for. Passes that prepare operands for it share this
// rule.
#ifndef ARRAY_ANALYSIS_MATMULWORTH_H
#define ARRAY_ANALYSIS_MATMULWORTH_H

#include <cstdint>

namespace mlir::array {

/// A matmul of 16x16x16 takes about as long as the call. With fewer than 4 rows, columns or terms, memory is the limit.
inline bool isWorthBlocking(int64_t rows, int64_t columns, int64_t terms) {
  return rows >= 4 && columns >= 4 && terms >= 4 && rows * columns * terms >= 16 * 16 * 16;
}

} // namespace mlir::array

#endif // ARRAY_ANALYSIS_MATMULWORTH_H
