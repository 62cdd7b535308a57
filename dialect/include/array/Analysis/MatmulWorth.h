// Which products are worth the blocked one of array-lower-matmuls: for all that prepare their operands for it.
#ifndef ARRAY_ANALYSIS_MATMULWORTH_H
#define ARRAY_ANALYSIS_MATMULWORTH_H

#include <cstdint>

namespace mlir::array {

/// A product of 16x16x16 takes about as long as the call; fewer than 4 rows, columns or terms are bound by memory.
inline bool isWorthBlocking(int64_t rows, int64_t columns, int64_t terms) {
  return rows >= 4 && columns >= 4 && terms >= 4 && rows * columns * terms >= 16 * 16 * 16;
}

} // namespace mlir::array

#endif // ARRAY_ANALYSIS_MATMULWORTH_H
