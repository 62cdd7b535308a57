// The kernel of a row fusion of ops that work on the same rows (RowFusionForm.h).
#ifndef ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONKERNELS_H
#define ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONKERNELS_H

#include "RowFusionForm.h"

namespace mlir::array {

void emitRowFusion(KernelBuilder &k, const GpuRowFusion &fusion);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONKERNELS_H
