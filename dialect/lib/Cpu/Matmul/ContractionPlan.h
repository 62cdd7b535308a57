// The plan of a contraction: every decision about its matmul, before code for it is emitted.
#ifndef ARRAY_LIB_CPU_MATMUL_CONTRACTIONPLAN_H
#define ARRAY_LIB_CPU_MATMUL_CONTRACTIONPLAN_H

#include "MatmulEpilogue.h"
#include "MatmulPrologue.h"
#include "MatmulSchedule.h"

#include <array>

namespace mlir::array {

/// The elementwise operation that changes the result in place.
struct EpiloguePlan {
  linalg::GenericOp op;                ///< null if there is none
  bool isOnBlocks = false;             ///< runs on each block of rows and columns whose sums are complete
  std::optional<TileEpilogue> inTiles; ///< runs in registers instead, where tiles compute the block

  /// Whether the code of the matmul replaces the operation. Else it stays where it is.
  bool isFused() const { return isOnBlocks || inTiles; }
};

/// Whether and how threads share the outermost loop around the matmul.
struct BatchPlan {
  BoundedSize step = 1; ///< matmuls of a block, which share packing buffers
  int64_t blocks = 1;
  double itemNs = 0; ///< of a step of the loop

  bool isShared() const { return blocks > 1; }
};

/// The prefetch of an operand of the batch's next matmul: its distance, and the elements for each term of each tile.
/// Both are 0 if it does not pay off.
struct AheadPlan {
  int64_t distance = 0, step = 0;
};

/// The operand's operation that is computed block by block, and the position of its inputs in MatmulForm::more.
struct ProloguePlan {
  MatmulPrologue prologue; ///< without a producer: the operand is read from memory
  size_t firstInput = 0;
};

struct ContractionPlan {
  Type element; ///< of the sums
  /// With the inputs of the prologues, and then the addend of the tiles, as further operands. With pairs, k counts
  /// these.
  MatmulForm product;
  MatmulSchedule schedule;
  linalg::FillOp fill; ///< sets the result to zero, for which the sums start at zero; null if there is none
  EpiloguePlan epilogue;
  std::array<ProloguePlan, 2> prologues = {}; ///< of the left and the right operand
  std::optional<Dot2Operands> pairing = {};
  BatchPlan batch = {};
  int64_t depthBlocks = 1; ///< of a streamed matmul
  std::optional<std::array<AheadPlan, 3>> ahead = {};

  bool hasPrologue(int side) const { return bool(prologues[side].prologue.producer); }
  /// Whether the tiles read a copy of the left operand.
  bool copiesLeft() const { return pairing || hasPrologue(0) || schedule.packsLeft; }
  /// Elements of one packing buffer of the right operand, in whole cache lines.
  int64_t packElements() const {
    return llvm::alignTo(
        matmulPackElements(schedule.tile, schedule.packing, schedule.blocks, product.k.size, product.n.size), 16);
  }
};

/// The plan of `op`, whose form is `product` and whose schedule is not Loops. If one operation alone reads the result
/// and computes in memory of the same layout, `op` gets that memory first. Symbolic sizes are computed at `b`.
ContractionPlan planContraction(ImplicitLocOpBuilder &b, linalg::LinalgOp op, MatmulForm product,
                                const MatmulSchedule &schedule, Type element);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATMUL_CONTRACTIONPLAN_H
