// Where the temporaries of a compiled module lie in its arena. array-plan-memory decides; lib/Target shows it.
#ifndef ARRAY_BUFFERIZE_MEMORYPLAN_H
#define ARRAY_BUFFERIZE_MEMORYPLAN_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::array {

/// One temporary: it is used from the operation `first` to the operation `last` of the module, in program order.
struct PlannedBuffer {
  int64_t offset, bytes, first, last;
  std::string type;  ///< as a memref: memref<4x8xf32>
  std::string place; ///< "file:line" of what it was made for; empty where that is not known
};

/// The plan of a module on loops, in the order of the offsets.
std::vector<PlannedBuffer> getMemoryPlan(ModuleOp module);

} // namespace mlir::array

#endif // ARRAY_BUFFERIZE_MEMORYPLAN_H
