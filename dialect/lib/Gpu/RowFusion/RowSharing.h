// The division of a row fusion's rows among the threads of a kernel: a table by the length of the rows, and by the
// registers for their elements (RowFusionForm.h; RowFusionKernels.cpp emits the kernel).
#ifndef ARRAY_LIB_GPU_ROWFUSION_ROWSHARING_H
#define ARRAY_LIB_GPU_ROWFUSION_ROWSHARING_H

#include "RowFusionForm.h"

namespace mlir::array {

struct RowSharing {
  explicit RowSharing(const GpuRowFusion &fusion);

  int64_t lanes;      ///< Adjacent elements that a thread moves at once: a group.
  int64_t groups;     ///< Of a row.
  int64_t threads;    ///< Threads that share a row: some lanes of a warp, or a block.
  int64_t held = 0;   ///< Groups of a thread; 0 if they are loaded in every phase.
  int64_t rows = 1;   ///< Of a block.
  int64_t operations; ///< For an element.
  unsigned phases;    ///< The last one stores.
};

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROWFUSION_ROWSHARING_H
