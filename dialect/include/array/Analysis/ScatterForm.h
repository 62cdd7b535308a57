// The form in which convert-array-to-linalg represents scatters with concurrent updates, for array-map-scatters-to-gpu.
// Passes between them leave these ops whole.
//
// A scatter is a `linalg.generic` with the dictionary `array.scatter`. The last dimensions of its operand are the
// window, which each update covers completely. The other dimensions form a row. The key of an update is the number of
// its target row, or -1 if the update is dropped.
//
//   ins(%keys : [positions...] x i64, %updates : [positions..., window...]) outs(%operand : [row..., window...])
//
// The loops are the operand's dimensions (parallel), then the positions (a reduction). An element is combined, in the
// order of the positions, with the updates whose key is its row number. Any pass may lower the op by this definition,
// but then each row visits every update.
#ifndef ARRAY_ANALYSIS_SCATTERFORM_H
#define ARRAY_ANALYSIS_SCATTERFORM_H

#include "llvm/ADT/StringRef.h"

namespace mlir::array {

inline constexpr llvm::StringLiteral kScatterAttr = "array.scatter";

// Entries of the dictionary.
/// A string: set, add, mul, min or max.
inline constexpr llvm::StringLiteral kScatterKind = "kind";
/// A type: the element type of the program. Storage types do not determine it.
inline constexpr llvm::StringLiteral kScatterElement = "element";
/// If present, no two updates have the same key.
inline constexpr llvm::StringLiteral kScatterUnique = "unique";
/// If present, updates of the same key follow each other.
inline constexpr llvm::StringLiteral kScatterGrouped = "grouped";

} // namespace mlir::array

#endif // ARRAY_ANALYSIS_SCATTERFORM_H
