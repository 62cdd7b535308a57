// The table of plans that are worth measuring for a product: one step away from the cost model's choice in each
// direction in which there is one.
#ifndef ARRAY_LIB_CPU_MATMUL_MATMULPLANTABLE_H
#define ARRAY_LIB_CPU_MATMUL_MATMULPLANTABLE_H

#include "Matmul.h"
#include "array/Cpu/MatmulPlans.h"

namespace mlir::array {

/// A product, what the cost model chose for it, and what its layout leaves free.
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

/// Tiles of a product with `columns` columns other than `chosen`, for a machine with so many registers.
std::vector<MatmulPlan> tilePlans(const MatmulTile &chosen, int64_t rows, int64_t columns, int64_t registers);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_MATMULPLANTABLE_H
