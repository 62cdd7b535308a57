// What may be measured of a product or a convolution: the plans around the cost model's choice. lib/Target asks for
// them, whoever measures chooses, and array.plan (array/IR/Plan.h) says what was chosen.
#ifndef ARRAY_CPU_MATMULPLANS_H
#define ARRAY_CPU_MATMULPLANS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <string>
#include <variant>
#include <vector>

namespace mlir::array {

/// The entries of one array.plan.
using MatmulPlan = std::vector<std::pair<std::string, std::variant<int64_t, std::string>>>;

/// The plans worth measuring for an operation on buffers, the likeliest first, each of which differs in little from the
/// cost model's choice; none where that is no contraction that array-lower-matmuls takes.
std::vector<MatmulPlan> matmulPlans(linalg::LinalgOp op, unsigned vectorBits, bool bfloat16Dot2);

/// The same for array-lower-convolutions.
std::vector<MatmulPlan> convolutionPlans(linalg::LinalgOp op, unsigned vectorBits);

} // namespace mlir::array

#endif // ARRAY_CPU_MATMULPLANS_H
