// Conversions between bytes that hold elements of small types and their values. Private to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_ELEMENTWISESMALL_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_ELEMENTWISESMALL_H

#include "Lowering.h"

namespace mlir::array {

/// The value of a byte: f32 for a small float, i8 for a small integer (with its sign, or zeros, above it).
Value decodeSmall(ImplicitLocOpBuilder &b, Value byte, Type small);
/// The byte of a value: f32 for a small float, rounded to nearest; i8 for a small integer, which wraps.
Value encodeSmall(ImplicitLocOpBuilder &b, Value x, Type small);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_ELEMENTWISESMALL_H
