// The documentation of the array dialect's operations, from their .td files.
#ifndef ARRAY_TOOLS_OPERATIONDOCS_H
#define ARRAY_TOOLS_OPERATIONDOCS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::array {

/// Markdown of the operation with this name ("array.add"): its summary, syntax, description, operands, attributes and
/// results. Empty if the dialect has no such operation.
std::string operationDocs(llvm::StringRef name);

} // namespace mlir::array

#endif // ARRAY_TOOLS_OPERATIONDOCS_H
