// The passes array-eliminate-empty-tensors and array-bufferize: upstream's eliminate-empty-tensors and
// one-shot-bufferize, but with a time that grows about linearly with the length of a program.
#ifndef ARRAY_BUFFERIZE_BUFFERIZE_H
#define ARRAY_BUFFERIZE_BUFFERIZE_H

#include "mlir/Pass/Pass.h"

namespace mlir::array {

std::unique_ptr<Pass> createEliminateEmptyTensors();
std::unique_ptr<Pass> createBufferize();
void registerBufferizePasses();

} // namespace mlir::array

#endif // ARRAY_BUFFERIZE_BUFFERIZE_H
