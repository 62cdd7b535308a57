// The form of a contraction with an operand that is read through windows, for array-lower-convolutions.
#ifndef ARRAY_LIB_ANALYSIS_CONVOLUTIONFORM_H
#define ARRAY_LIB_ANALYSIS_CONVOLUTIONFORM_H

#include "BoundedSize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <vector>

namespace mlir::array {

/// A loop, and the stride of each operand in it.
struct ConvolutionLoop {
  int64_t size = 1, lhs = 0, rhs = 0, out = 0;
  bool isBatch = false; ///< its size is symbolic
};

/// One dimension of the operand that is read through windows. Position p and tap q of a window read element `(p * step
/// + q * dilation - low) / interior`, or zero if there is no such element. Only positions move the result, and only
/// taps the kernel.
struct WindowDim {
  int64_t positions = 1, taps = 1;
  int64_t step = 1, dilation = 1, low = 0, interior = 1;
  int64_t size = 1;                  ///< elements of the operand
  int64_t lhs = 0, rhs = 0, out = 0; ///< strides: of an element, a tap, a position
};

/// out[group, position, channel or nothing, column] +=
///     sum over taps (and channels) lhs[group, window, channel] * rhs[group, taps, channel or nothing, column].
/// A batch is a window dimension of one tap. So are the positions of the output in a gradient of the kernel, which has
/// few positions and many taps.
struct Convolution {
  Value lhs, rhs, out;
  int64_t lhsOffset, rhsOffset, outOffset; ///< in elements; dynamic if that of a view is
  int64_t rhsStart = 0, outStart = 0;      ///< relative to these offsets
  SmallVector<ConvolutionLoop> groups;
  SmallVector<WindowDim> dims;      ///< by falling stride of the operand
  ConvolutionLoop channels;         ///< with unit stride in the operand, or one
  ConvolutionLoop columns;          ///< with unit stride in the result
  std::optional<BoundedSize> batch; ///< of the first dimension, if it is symbolic; `dims` then has its expected value
  bool sumsChannels = true;         ///< Whether a channel is a term (or an output).

  int64_t positions() const;
  int64_t taps() const;
};

/// Analyzes a linalg operation on buffers; fails if it is not a convolution. If an operand is a view of a buffer of
/// zeros, the view alone is read (padding). If the view is a copy of a buffer, that buffer is read.
FailureOr<Convolution> analyzeConvolution(linalg::LinalgOp op);

/// The convolution for each remainder of the positions, without interior elements; the convolution itself if it has
/// none. A part may have no taps.
std::vector<Convolution> splitInterior(const Convolution &convolution);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_CONVOLUTIONFORM_H
