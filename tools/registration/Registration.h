// What every tool on IR files knows: MLIR's dialects and passes, and those of array programs. Before the tools' mains.
#ifndef ARRAY_TOOLS_REGISTRATION_H
#define ARRAY_TOOLS_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::array {

/// All dialects, with the interfaces that passes need of them, are known to contexts of this registry.
void registerToolDialects(DialectRegistry &registry);

/// All passes and pipelines can be named.
void registerToolPasses();

} // namespace mlir::array

#endif // ARRAY_TOOLS_REGISTRATION_H
