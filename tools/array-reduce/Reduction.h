// The pass of array-reduce: `--array-reduction`.
#ifndef ARRAY_TOOLS_REDUCTION_H
#define ARRAY_TOOLS_REDUCTION_H

namespace mlir::array {

void registerReduction();

} // namespace mlir::array

#endif // ARRAY_TOOLS_REDUCTION_H
