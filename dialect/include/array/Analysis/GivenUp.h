// Remarks about fallbacks of passes. They use MLIR's remark engine, in the category `array`. Each kind is a row of the
// table in pycompiler/diagnostics/remarks.py, and of docs/remarks.md.
#ifndef ARRAY_ANALYSIS_GIVENUP_H
#define ARRAY_ANALYSIS_GIVENUP_H

#include "mlir/IR/Location.h"

namespace mlir::array {

inline constexpr llvm::StringLiteral kRemarkCategory = "array";

/// Emits the remark `text` at a location. `array-opt --remarks-filter=array` and the Python binding receive it.
void tellGivenUp(Location loc, llvm::StringRef kind, const llvm::Twine &text);

} // namespace mlir::array

#endif // ARRAY_ANALYSIS_GIVENUP_H
