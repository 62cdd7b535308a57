// Chooses how a linalg op is walked (which dimension the vectors lie along, how many lanes) and emits its loop nest.
#ifndef ARRAY_LIB_TRANSFORMS_LINALGTOLOOPSNEST_H
#define ARRAY_LIB_TRANSFORMS_LINALGTOLOOPSNEST_H

#include "LinalgToLoopsBody.h"

namespace mlir::array::loops {

struct Strategy {
  std::optional<unsigned> vectorDim; // none: scalar loops
  int64_t lanes = 0;
};

/// The cheapest way by a count of memory operations for an element. `registerBits` is the width of a vector register.
Strategy chooseStrategy(linalg::LinalgOp op, const IterationSpace &space, int64_t registerBits);

/// Emits loops that do what `op` does, before it. The op stays.
void emitNest(OpBuilder &b, IndexBuilder &indices, linalg::LinalgOp op, const IterationSpace &space,
              const Strategy &strategy);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_TRANSFORMS_LINALGTOLOOPSNEST_H
