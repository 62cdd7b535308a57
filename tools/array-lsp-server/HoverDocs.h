// For an operation under the pointer, MLIR's language server answers with its name and its generic form. This filter
// reads the answers to the editor, and adds the documentation of the operation.
#ifndef ARRAY_TOOLS_HOVERDOCS_H
#define ARRAY_TOOLS_HOVERDOCS_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::array {

/// Runs `server`, which speaks the protocol over stdin and stdout, in a separate process between this one's stdin and
/// stdout. Returns its exit status; for a crashed server, 128 plus the signal.
int runWithHoverDocs(llvm::function_ref<int()> server);

} // namespace mlir::array

#endif // ARRAY_TOOLS_HOVERDOCS_H
