// The version of the array dialect in MLIR's bytecode. Before it: the dialect. After it: the bindings, which expose the
// version.
#ifndef ARRAY_IR_BYTECODE_H
#define ARRAY_IR_BYTECODE_H

#include <cstdint>

namespace mlir {
class DialectRegistry;

namespace array {

/// Increased whenever the meaning of an op, an attribute or a type changes.
inline constexpr uint64_t kBytecodeVersion = 1;

/// Makes contexts of `registry` write the version into bytecode, and check it on reading.
void registerBytecodeVersion(DialectRegistry &registry);

} // namespace array
} // namespace mlir

#endif // ARRAY_IR_BYTECODE_H
