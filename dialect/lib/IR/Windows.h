// Arithmetic on sizes, for pad, reduce_window and convolution. Private to this directory.
#ifndef ARRAY_LIB_IR_WINDOWS_H
#define ARRAY_LIB_IR_WINDOWS_H

#include <cstdint>

namespace mlir::array {

/// Sums and products of sizes. On overflow the result saturates, so that it equals no valid size and is not small.
int64_t addSizes(int64_t lhs, int64_t rhs);
int64_t multiplySizes(int64_t lhs, int64_t rhs);

/// The size with `dilation - 1` gaps between neighbours.
int64_t dilatedSize(int64_t size, int64_t dilation);

/// How many windows fit, `stride` apart.
int64_t countWindows(int64_t padded, int64_t window, int64_t stride);

} // namespace mlir::array

#endif // ARRAY_LIB_IR_WINDOWS_H
