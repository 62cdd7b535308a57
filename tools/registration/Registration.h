// The dialects and passes of all tools on IR files: MLIR's, and those of array programs. The tools' mains include it.
#ifndef ARRAY_TOOLS_REGISTRATION_H
#define ARRAY_TOOLS_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::array {

/// Registers all dialects, with the interfaces that passes need, for contexts of this registry.
void registerToolDialects(DialectRegistry &registry);

/// Registers all passes and pipelines by name.
void registerToolPasses();

} // namespace mlir::array

#endif // ARRAY_TOOLS_REGISTRATION_H
