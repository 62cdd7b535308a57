// The version of the array dialect in MLIR's bytecode. Before it: the dialect; after it: the bindings, which say it.
#ifndef ARRAY_IR_BYTECODE_H
#define ARRAY_IR_BYTECODE_H

#include <cstdint>

namespace mlir {
class DialectRegistry;

namespace array {

/// Raised whenever what an op, an attribute or a type means changes.
inline constexpr uint64_t kBytecodeVersion = 1;

/// Has modules of the contexts that `registry` is for say the version, and checks it in what they read.
void registerBytecodeVersion(DialectRegistry &registry);

} // namespace array
} // namespace mlir

#endif // ARRAY_IR_BYTECODE_H
