// The offsets of a compiled module's temporaries in its arena. array-plan-memory decides them; lib/Target shows them.
#ifndef ARRAY_BUFFERIZE_MEMORYPLAN_H
#define ARRAY_BUFFERIZE_MEMORYPLAN_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::array {

/// One temporary. It is live from operation `first` to operation `last` of the module, in program order.
struct PlannedBuffer {
  int64_t offset, bytes, first, last;
  std::string type;  ///< a memref type: memref<4x8xf32>
  std::string place; ///< "file:line" of the operation that needs it; empty if unknown
};

/// The plan of a module on loops, in the order of the offsets.
std::vector<PlannedBuffer> getMemoryPlan(ModuleOp module);

} // namespace mlir::array

#endif // ARRAY_BUFFERIZE_MEMORYPLAN_H
