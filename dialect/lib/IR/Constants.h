// What folders need of constants: reading splats and making them. Only splats fold: a constant array stays as it was
// written. Private to this directory.
#ifndef ARRAY_LIB_IR_CONSTANTS_H
#define ARRAY_LIB_IR_CONSTANTS_H

#include "array/IR/Array.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/APFloat.h"

namespace mlir::array {

/// Bools count as unsigned.
inline bool isUnsigned(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

/// The number that all elements are, or nothing.
std::optional<APInt> splatInt(Attribute constant);
std::optional<APFloat> splatFloat(Attribute constant);

/// Whether all elements are this integer, of an integer type.
bool isIntSplat(Attribute constant, int64_t number);
/// Whether all elements are this float, bit for bit: 0 is not -0.
bool isFloatSplat(Attribute constant, double number);

/// A constant of the type `result`; null where its shape is dynamic or the number a nan, whose bits are the machine's
/// to choose.
Attribute splatOf(Type result, const std::optional<APInt> &number);
Attribute splatOf(Type result, const std::optional<APFloat> &number);

/// The same splat in another static shape, else null.
Attribute resizedSplat(Attribute constant, Type result);

} // namespace mlir::array

#endif // ARRAY_LIB_IR_CONSTANTS_H
