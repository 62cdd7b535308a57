// Convolutions of dilated operands without the zeros between the elements. For Convolution.cpp.
#ifndef ARRAY_LIB_CONVERSION_ARRAYTOLINALG_CONVOLUTIONPHASES_H
#define ARRAY_LIB_CONVERSION_ARRAYTOLINALG_CONVOLUTIONPHASES_H

#include "array/IR/Array.h"

namespace mlir::array {

/// The same as a convolution of the operand itself, whose output features are the phases of the result. Null if the
/// operand is not dilated, or for strides, dilated windows, groups and dynamic sizes.
Value convolvePhases(OpBuilder &builder, ConvGeneralDilatedOp op);

} // namespace mlir::array

#endif // ARRAY_LIB_CONVERSION_ARRAYTOLINALG_CONVOLUTIONPHASES_H
