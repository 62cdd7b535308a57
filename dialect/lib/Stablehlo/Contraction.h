// The dimension numbers of products and the lists of windows, in the printed form and in the generic one.
#ifndef ARRAY_LIB_STABLEHLO_CONTRACTION_H
#define ARRAY_LIB_STABLEHLO_CONTRACTION_H

#include "Rules.h"

namespace mlir::array::stablehlo {

/// The dimensions of `[0] x [1]`, or of the entry of a structure.
struct DotDimensions {
  SmallVector<int64_t> lhs, rhs;
};
DotDimensions dotDimensions(Source &source, StringRef printed, StringRef entry);

/// A list of the printed window, or an attribute of the generic form, flat; `absent` for each dimension otherwise.
SmallVector<int64_t> windowList(Source &source, StringRef printed, StringRef generic, size_t count, int64_t absent);

/// The windows of a reduction, by dimension. The printed lists have two numbers of padding for each.
struct Windows {
  SmallVector<int64_t> dimensions, strides, low, high, baseDilation, dilation;
};
Windows readWindows(Source &source, int64_t rank);

/// The windows of a reduction as operands: (x, init, dimensions, strides, base dilations, dilations, padding).
inline constexpr StringLiteral kDynamicReduceWindow = "stablehlo.dynamic_reduce_window";
LogicalResult convertDynamicReduceWindow(Source &source);

} // namespace mlir::array::stablehlo

#endif // ARRAY_LIB_STABLEHLO_CONTRACTION_H
