// Candidate plans of a matmul or a convolution, near the cost model's choice. lib/Target lists them, tuning measures
// them, and array.plan (array/IR/Plan.h) records the chosen one.
#ifndef ARRAY_CPU_MATMULPLANS_H
#define ARRAY_CPU_MATMULPLANS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <string>
#include <variant>
#include <vector>

namespace mlir::array {

/// The entries of one array.plan.
using MatmulPlan = std::vector<std::pair<std::string, std::variant<int64_t, std::string>>>;

/// The plans worth measuring for an operation on buffers, the most promising first. Each differs little from the cost
/// model's choice. None if array-lower-matmuls does not take the operation.
std::vector<MatmulPlan> matmulPlans(linalg::LinalgOp op, unsigned vectorBits, bool bfloat16Dot2);

/// The same for array-lower-convolutions.
std::vector<MatmulPlan> convolutionPlans(linalg::LinalgOp op, unsigned vectorBits);

} // namespace mlir::array

#endif // ARRAY_CPU_MATMULPLANS_H
