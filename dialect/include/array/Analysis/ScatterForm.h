// How convert-array-to-linalg writes down scatters whose updates are to run at the same time, for
// array-map-scatters-to-gpu. Passes between them leave these ops whole.
//
// A scatter is a `linalg.generic` with the dictionary `array.scatter`. Of its operand's dimensions the last are the
// window, which the updates have whole; the others make a row. Where an update goes is its key: the number of a row, or
// -1 for one that is dropped.
//
//   ins(%keys : [positions...] x i64, %updates : [positions..., window...]) outs(%operand : [row..., window...])
//
// Loops are the operand's dimensions, parallel, then the positions, a reduction: in their order, an element is combined
// with the updates whose key is the number of its row. That is what the op means where nobody knows of scatters, and it
// would take as many steps as there are rows, for each update.
#ifndef ARRAY_ANALYSIS_SCATTERFORM_H
#define ARRAY_ANALYSIS_SCATTERFORM_H

#include "llvm/ADT/StringRef.h"

namespace mlir::array {

inline constexpr llvm::StringLiteral kScatterAttr = "array.scatter";

// What the dictionary has.
/// A string: set, add, mul, min or max.
inline constexpr llvm::StringLiteral kScatterKind = "kind";
/// A type: what the elements are taken for, as storage types don't tell.
inline constexpr llvm::StringLiteral kScatterElement = "element";
/// If present, no two updates have the same key.
inline constexpr llvm::StringLiteral kScatterUnique = "unique";
/// If present, updates of the same key follow each other.
inline constexpr llvm::StringLiteral kScatterGrouped = "grouped";

} // namespace mlir::array

#endif // ARRAY_ANALYSIS_SCATTERFORM_H
