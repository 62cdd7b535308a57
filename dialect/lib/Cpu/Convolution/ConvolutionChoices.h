// The choices of the cost model for a convolution: whether tiles pay off, the tile, and the limits of its blocks.
#ifndef ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONCHOICES_H
#define ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONCHOICES_H

#include "Analysis/ConvolutionForm.h"
#include "ConvolutionPlan.h"
#include "Cpu/Matmul/Matmul.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

/// Whether tiles are faster than loops. `element` is the type of the sums.
bool isWorthTiling(const Convolution &convolution, Type element, unsigned vectorBits);

/// The cost model's choice, overridden by the plan of the operation.
MatmulTile chooseConvolutionTile(linalg::LinalgOp op, Type element, unsigned vectorBits,
                                 const Convolution &convolution);
ConvolutionLimits chooseConvolutionLimits(linalg::LinalgOp op, const MatmulTile &tile);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_CONVOLUTION_CONVOLUTIONCHOICES_H
