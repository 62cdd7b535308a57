// What dot_general and convolutions are made of: a generic that multiplies and adds. Private to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_CONTRACTION_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_CONTRACTION_H

#include "Lowering.h"

namespace mlir::array {

/// A scalar, or a tensor, of elements in the accumulator's type, which is wider and of the same kind. `element` is the
/// array op's element type.
Value widened(ImplicitLocOpBuilder &b, Value x, Type element, Type accumulator);

/// Sums of products in the accumulator of `resultElement`, rounded to it at the end. `maps` are those of lhs, rhs and
/// the result, whose sizes are `sizes`. What is made takes over the plan and the precision of `source`.
Value contraction(ImplicitLocOpBuilder &b, Operation *source, Value lhs, Value rhs, ArrayRef<AffineMap> maps,
                  ArrayRef<utils::IteratorType> iterators, ArrayRef<OpFoldResult> sizes, Type element,
                  Type resultElement);

/// populateConvolution, but that factors are widened where they are multiplied, and not before.
void populateNarrowConvolution(const TypeConverter &converter, RewritePatternSet &patterns);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_CONTRACTION_H
