// The arithmetic of windows that reduce_window and convolution share. Private to this directory.
#ifndef ARRAY_LIB_IR_WINDOWS_H
#define ARRAY_LIB_IR_WINDOWS_H

#include <cstdint>

namespace mlir::array {

/// The size with `dilation - 1` gaps between neighbours.
int64_t dilatedSize(int64_t size, int64_t dilation);

/// How many windows fit, `stride` apart.
int64_t countWindows(int64_t padded, int64_t window, int64_t stride);

} // namespace mlir::array

#endif // ARRAY_LIB_IR_WINDOWS_H
