// Loops with independent iterations. The pass that emits such a loop marks it here; array-parallelize-loops moves
// marked loops to the runtime. Costs are rough, in nanoseconds of one thread.
#ifndef ARRAY_LIB_ANALYSIS_PARALLELLOOPS_H
#define ARRAY_LIB_ANALYSIS_PARALLELLOOPS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

namespace mlir::array {

/// The attribute of a loop with independent iterations (they share buffers that they read, and write elements of their
/// own): the minimum number of iterations of a piece. Of a loop with few pieces, the runtime gives some only
/// to threads that are awake (ParallelFor.h).
inline constexpr llvm::StringLiteral kParallelAttr = "array.parallel";

/// The time of a loop whose pieces are single iterations. Of others it follows from the pieces.
inline constexpr llvm::StringLiteral kParallelNsAttr = "array.parallel_ns";

/// The attribute of a buffer on the stack whose contents do not survive an iteration of such a loop. Each piece may
/// have its own.
inline constexpr llvm::StringLiteral kPrivateAttr = "array.private";

/// The minimum work of a shared loop, and of a piece. Waking a thread takes 10 to 25 us.
inline constexpr double kSharedNs = 30000, kPieceNs = 8000;

/// The minimum work of a piece of a loop that threads take if they are awake, and of such a loop: a program of many
/// such loops keeps them so. A thread that is awake takes about a microsecond to begin.
inline constexpr double kGrainNs = 2000, kOfferedNs = 2 * kGrainNs;

/// Marks a loop whose iterations are pieces: the number of iterations is large enough to share, or one.
inline void markPieces(scf::ForOp loop) {
  loop->setAttr(kParallelAttr, IntegerAttr::get(IntegerType::get(loop.getContext(), 64), 1));
}

/// Marks a loop of `trips` iterations, if it is large enough.
inline void markParallel(scf::ForOp loop, int64_t trips, double nsOfIteration) {
  double total = nsOfIteration * double(trips);
  if (trips < 2 || total < kOfferedNs)
    return;
  int64_t grain = std::max<int64_t>(1, std::ceil(kGrainNs / nsOfIteration));
  // The runtime wakes threads for single iterations, which can be long.
  if (grain * 2 > trips || (grain == 1 && total < kSharedNs))
    return;
  auto number = IntegerType::get(loop.getContext(), 64);
  loop->setAttr(kParallelAttr, IntegerAttr::get(number, grain));
  if (grain == 1)
    loop->setAttr(kParallelNsAttr, IntegerAttr::get(number, std::llround(total)));
}

/// The smallest divisor of `total` that is at least `least`, preferably a multiple of `unit`; 0 if it leaves fewer than
/// two blocks.
inline int64_t blockOf(int64_t total, int64_t least, int64_t unit) {
  // Bounds the search: a large size of some module would make it last for hours.
  constexpr int64_t mostTries = int64_t(1) << 22;
  least = std::max<int64_t>(least, 1);
  int64_t largest = std::min(total / 2, least > total / 8 ? total : 8 * least);
  if (least > largest)
    return 0;
  int64_t mostBlocks = total / least, leastBlocks = llvm::divideCeil(total, largest);
  for (int64_t multiple : {unit, int64_t(1)}) {
    int64_t tries = 0;
    // Search block counts or block sizes: the smaller set.
    if (mostBlocks - leastBlocks < (largest - least) / multiple) {
      for (int64_t blocks = mostBlocks; blocks >= leastBlocks && tries < mostTries; --blocks, ++tries)
        if (total % blocks == 0 && total / blocks % multiple == 0)
          return total / blocks;
    } else {
      for (int64_t block = llvm::alignTo(least, multiple); block <= largest && tries < mostTries;
           block += multiple, ++tries)
        if (total % block == 0)
          return block;
    }
  }
  return 0;
}

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_PARALLELLOOPS_H
