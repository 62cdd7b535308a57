// A contraction one of whose operands is read through windows: what array-lower-convolutions knows of it.
#ifndef ARRAY_LIB_ANALYSIS_CONVOLUTIONFORM_H
#define ARRAY_LIB_ANALYSIS_CONVOLUTIONFORM_H

#include "BoundedSize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <vector>

namespace mlir::array {

/// A loop, and the stride of each operand in it.
struct ConvolutionLoop {
  int64_t size = 1, lhs = 0, rhs = 0, out = 0;
  bool isBatch = false; ///< whose size the call decides
};

/// One dimension of the operand that is read through windows: position p and tap q of a window read its element
/// `(p * step + q * dilation - low) / interior`, which is zero where that is no element. Only the positions move the
/// result, only the taps the kernel.
struct WindowDim {
  int64_t positions = 1, taps = 1;
  int64_t step = 1, dilation = 1, low = 0, interior = 1;
  int64_t size = 1;                  ///< elements of the operand
  int64_t lhs = 0, rhs = 0, out = 0; ///< strides: of an element, a tap, a position
};

/// out[group, position, channel or nothing, column] +=
///     sum over taps (and channels) lhs[group, window, channel] * rhs[group, taps, channel or nothing, column].
/// A batch is a window dimension of one tap; so are the outputs' positions in a gradient of the kernel, where it is the
/// positions that are few and the taps that are many.
struct Convolution {
  Value lhs, rhs, out;
  int64_t lhsOffset, rhsOffset, outOffset; ///< in elements; dynamic where a view's is
  int64_t rhsStart = 0, outStart = 0;      ///< from there on
  SmallVector<ConvolutionLoop> groups;
  SmallVector<WindowDim> dims;      ///< by falling stride of the operand
  ConvolutionLoop channels;         ///< with unit stride in the operand, or one
  ConvolutionLoop columns;          ///< with unit stride in the result
  std::optional<BoundedSize> batch; ///< of the first dimension, where the call decides it; what it has is expected then
  bool sumsChannels = true;         ///< Whether a channel is a term (or an output).

  int64_t positions() const;
  int64_t taps() const;
};

/// Takes a linalg operation on buffers apart, where it is a convolution. An operand that is a view of a buffer of zeros
/// is read through the view alone (padding), and where that is a copy of a buffer, this buffer is read.
FailureOr<Convolution> analyzeConvolution(linalg::LinalgOp op);

/// The convolution without interior elements for each remainder of the positions, or itself where it has none. A part
/// may have no taps.
std::vector<Convolution> splitInterior(const Convolution &convolution);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_CONVOLUTIONFORM_H
