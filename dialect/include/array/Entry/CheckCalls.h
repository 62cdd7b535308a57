// The pass array-check-calls: calls are inlined, so they must have an end, and not too far away.
#ifndef ARRAY_ENTRY_CHECKCALLS_H
#define ARRAY_ENTRY_CHECKCALLS_H

#include "mlir/Pass/Pass.h"

namespace mlir::array {

std::unique_ptr<Pass> createCheckCalls();
void registerCheckCallsPass();

} // namespace mlir::array

#endif // ARRAY_ENTRY_CHECKCALLS_H
