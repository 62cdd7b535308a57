// MLIR's language server answers a hover on an operation with its name and its generic form. These functions intercept
// the answer on its way to the editor, and add the operation's documentation.
#ifndef ARRAY_TOOLS_HOVERDOCS_H
#define ARRAY_TOOLS_HOVERDOCS_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::array {

/// Runs `server`, which speaks the protocol over stdin and stdout, in a process of its own, between this one's stdin
/// and stdout. Returns its exit status; of a server that crashed, 128 and the signal.
int runWithHoverDocs(llvm::function_ref<int()> server);

} // namespace mlir::array

#endif // ARRAY_TOOLS_HOVERDOCS_H
