// The table of plans worth measuring for a matmul: one step away from the cost model's choice, in each possible
// direction.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULPLANTABLE_H
#define ARRAY_LIB_CPU_MATMUL_MATMULPLANTABLE_H

#include "Matmul.h"
#include "array/Cpu/MatmulPlans.h"

namespace mlir::array {

/// A matmul, the cost model's choice, and the freedom that its layout leaves.
struct MatmulFreedom {
  int64_t m, n, k;
  MatmulTile tile;
  MatmulBlocks blocks;
  bool isTiled = true; ///< and neither streamed nor left to loops
  bool isLooped = false;
  bool isDot2 = false;                     ///< of bytes: the tile is fixed
  SmallVector<StringRef, 3> packings = {}; ///< others than the chosen one
  bool canStream = false;
  int64_t registers = 32;
};

std::vector<MatmulPlan> matmulPlanTable(const MatmulFreedom &freedom);

/// Tiles other than `chosen` for a matmul with `columns` columns, on a machine with this many registers.
std::vector<MatmulPlan> tilePlans(const MatmulTile &chosen, int64_t rows, int64_t columns, int64_t registers);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULPLANTABLE_H
