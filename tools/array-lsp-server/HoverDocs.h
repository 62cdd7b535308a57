// MLIR's language server says of an operation under the pointer its name and its generic form. Here what it answers is
// read on the way to the editor, and the operation's documentation added.
#ifndef ARRAY_TOOLS_HOVERDOCS_H
#define ARRAY_TOOLS_HOVERDOCS_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::array {

/// Runs `server`, which speaks the protocol over stdin and stdout, in a process of its own, between this one's stdin
/// and stdout. Returns its exit status; of a server that crashed, 128 and the signal.
int runWithHoverDocs(llvm::function_ref<int()> server);

} // namespace mlir::array

#endif // ARRAY_TOOLS_HOVERDOCS_H
