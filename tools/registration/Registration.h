// The dialects and passes of every tool on IR files: MLIR's, and those of array programs. Before the tools' mains.
#ifndef ARRAY_TOOLS_REGISTRATION_H
#define ARRAY_TOOLS_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::array {

/// Registers all dialects, with the interfaces that passes need.
void registerToolDialects(DialectRegistry &registry);

/// All passes and pipelines can be named.
void registerToolPasses();

} // namespace mlir::array

#endif // ARRAY_TOOLS_REGISTRATION_H
