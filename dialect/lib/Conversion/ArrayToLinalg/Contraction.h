// Products and convolutions: the generic that multiplies and adds. Private to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_CONTRACTION_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_CONTRACTION_H

#include "Lowering.h"

namespace mlir::array {

/// A scalar, or a tensor, of elements in the accumulator's type, which is wider and of the same kind. `element` is the
/// array op's element type.
Value widened(ImplicitLocOpBuilder &b, Value x, Type element, Type accumulator);

/// Sums of products in the accumulator type of `resultElement`, rounded to it at the end. `maps` are those of lhs, rhs
/// and the result, whose sizes are `sizes`. The new ops take over the plan and the precision of `source`.
Value contraction(ImplicitLocOpBuilder &b, Operation *source, Value lhs, Value rhs, ArrayRef<AffineMap> maps,
                  ArrayRef<utils::IteratorType> iterators, ArrayRef<OpFoldResult> sizes, Type element,
                  Type resultElement);

/// Factors of 16 bits that are widened to f32 before a product in f32 are multiplied as they are: each product is exact
/// in f32 on units that keep subnormal numbers, as a GPU's do.
void multiplyNarrowFactors(Operation *root);

/// The same as a convolution of a dilated operand as one of the operand itself, whose output features are the phases of
/// the result. Null if that does not pay, or for strides, dilated windows, groups and dynamic sizes.
Value convolvePhases(OpBuilder &builder, ConvGeneralDilatedOp op);

/// Like populateConvolution, but factors are widened in the multiplication, and not before.
void populateNarrowConvolution(const TypeConverter &converter, RewritePatternSet &patterns);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_CONTRACTION_H
