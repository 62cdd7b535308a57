// Constants for folders: reads and makes splats. Only splats fold; other constant arrays do not change. Private to this
// directory.
#ifndef ARRAY_LIB_IR_CONSTANTS_H
#define ARRAY_LIB_IR_CONSTANTS_H

#include "array/IR/Array.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/APFloat.h"

namespace mlir::array {

/// Bools count as unsigned.
inline bool isUnsigned(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

/// The common value of all elements, or none.
std::optional<APInt> splatInt(Attribute constant);
std::optional<APFloat> splatFloat(Attribute constant);

/// Whether all elements are this integer, of an integer type.
bool isIntSplat(Attribute constant, int64_t number);
/// Whether all elements are this float, bit for bit: 0 is not -0.
bool isFloatSplat(Attribute constant, double number);

/// A constant of the type `result`. Null if its shape is dynamic, or if the number is a nan, whose bits depend on the
/// machine.
Attribute splatOf(Type result, const std::optional<APInt> &number);
Attribute splatOf(Type result, const std::optional<APFloat> &number);

/// The same splat in another static shape, else null.
Attribute resizedSplat(Attribute constant, Type result);

} // namespace mlir::array

#endif // ARRAY_LIB_IR_CONSTANTS_H
