// The pass array-check-calls. Calls are inlined, so recursion, and too many operations after inlining, are errors.
#ifndef ARRAY_ENTRY_CHECKCALLS_H
#define ARRAY_ENTRY_CHECKCALLS_H

#include "mlir/Pass/Pass.h"

namespace mlir::array {

std::unique_ptr<Pass> createCheckCalls();
void registerCheckCallsPass();

} // namespace mlir::array

#endif // ARRAY_ENTRY_CHECKCALLS_H
