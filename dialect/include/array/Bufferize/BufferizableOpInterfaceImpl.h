// How the array dialect's ops that outlive the conversion to linalg are bufferized: registered with a context, as
// upstream's dialects do it.
#ifndef ARRAY_BUFFERIZE_BUFFERIZABLEOPINTERFACEIMPL_H
#define ARRAY_BUFFERIZE_BUFFERIZABLEOPINTERFACEIMPL_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::array {

void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::array

#endif // ARRAY_BUFFERIZE_BUFFERIZABLEOPINTERFACEIMPL_H
