// Routines of the table that process each element of the first dimension separately, so that threads can share the
// elements.
#ifndef PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H
#define PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H

#include "runtime/Abi.h"
#include "support/LibraryCalls.h"

#include <algorithm>
#include <atomic>
#include <new>

namespace pcrt::library {

/// The minimum work that threads share, and the minimum of a part of it, in nanoseconds.
inline constexpr double sharedNs = 30000, pieceNs = 8000;

/// Calls body(piece) for the numbers below `pieces`, in as many threads as are free. `nsOfPiece` is the time of a call.
template <typename Body>
int32_t overPieces(const PcrtFrame *frame, int64_t pieces, double nsOfPiece, const Body &body) {
  auto run = [](const PcrtFrame *, const void *captured, int64_t low, int64_t high) -> int32_t {
    for (int64_t piece = low; piece < high; ++piece)
      (*static_cast<const Body *>(captured))(piece);
    return PCRT_OK;
  };
  if (pieces < 2 || nsOfPiece * static_cast<double>(pieces) < sharedNs)
    return run(frame, &body, 0, pieces);
  return parallelFor(frame, run, &body, pieces, static_cast<int64_t>(pieceNs / nsOfPiece) + 1);
}

/// Calls body(low, high) for the blocks of `size` below `count`, in as many threads as are free. `nsOfBlock` is the
/// time of a call. Throws std::bad_alloc if a call does.
template <typename Body>
void overBlocks(const PcrtFrame *frame, size_t count, size_t size, double nsOfBlock, const Body &body) {
  std::atomic<bool> hasMemory{true};
  auto blocks = static_cast<int64_t>((count + size - 1) / size);
  overPieces(frame, blocks, nsOfBlock, [&](int64_t i) {
    try {
      body(static_cast<size_t>(i) * size, std::min((static_cast<size_t>(i) + 1) * size, count));
    } catch (const std::bad_alloc &) {
      hasMemory = false;
    }
  });
  if (!hasMemory)
    throw std::bad_alloc();
}

/// Calls `routine` on blocks of the first dimension, which must be common to all operands, in as many threads as are
/// free. Calls it once on the whole if the dimension is not common, if the work is little, or unless `mayCut`.
/// `nsOfElement` is the time of an element of the first input. Blocks are multiples of `together` rows. The other
/// parameters are the routine's own arguments.
int32_t overRows(PcrtLibraryCall routine, bool mayCut, double nsOfElement, const PcrtFrame *frame,
                 const PcrtTensor *inputs, int32_t inputCount, const PcrtTensor *outputs, int32_t outputCount,
                 const int64_t *params, int64_t together = 1);

} // namespace pcrt::library

#endif // PYCOMPILER_RUNTIME_LIB_CPU_ROWS_H
