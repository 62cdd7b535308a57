// The kernel of a cluster of ops that work on the same rows (RowCluster.h).
#ifndef ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONKERNELS_H
#define ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONKERNELS_H

#include "RowFusionForm.h"

namespace mlir::array {

void emitRowCluster(KernelBuilder &k, const RowCluster &cluster);

} // namespace mlir::array

#endif // ARRAY_LIB_GPU_ROWFUSION_ROWFUSIONKERNELS_H
