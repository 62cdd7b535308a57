// Chooses the launches of a scatter on buffers: the first matching rule of a table (ScatterRules.cpp).
#ifndef ARRAY_LIB_GPU_ROUTINES_SCATTERRULES_H
#define ARRAY_LIB_GPU_ROUTINES_SCATTERRULES_H

#include "RoutineLauncher.h"

namespace mlir::array {

/// A scatter of `positions` updates of `width` neighbouring elements into `rows` rows, on whole buffers.
struct ScatterOnBuffers {
  StringRef kind;
  Type element;   ///< The element type of the program.
  bool isUnique;  ///< No two updates have the same key.
  bool isGrouped; ///< Updates of the same key follow each other.
  Value keys, updates, target;
  int64_t positions, width, rows;
};

struct ScatterRule {
  bool (*holds)(const ScatterOnBuffers &);
  void (*launch)(DeviceLauncher &, const ScatterOnBuffers &);
};

/// The rule for a scatter; there is always one.
const ScatterRule &ruleFor(const ScatterOnBuffers &scatter);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROUTINES_SCATTERRULES_H
