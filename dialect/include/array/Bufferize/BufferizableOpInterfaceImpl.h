// Bufferization of the array ops that remain after the conversion to linalg, as external models that a context
// registers, like those of upstream's dialects.
#ifndef ARRAY_BUFFERIZE_BUFFERIZABLEOPINTERFACEIMPL_H
#define ARRAY_BUFFERIZE_BUFFERIZABLEOPINTERFACEIMPL_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::array {

void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

/// Loops find the operand of a result at once. Comes after upstream's models of the scf dialect.
void registerOperandsOfCarries(DialectRegistry &registry);

} // namespace mlir::array

#endif // ARRAY_BUFFERIZE_BUFFERIZABLEOPINTERFACEIMPL_H
