// Chooses the loop of which a step computes several elements, because they read the same memory (LoopChoices.h).
#include "Analysis/Footprint.h"
#include "LoopChoices.h"

namespace mlir::array::loops {

/// Registers for accumulators, and body operations, of a jammed loop.
static constexpr int64_t jammedRegisters = 16, jammedOperations = 64, maxJam = 8;
/// The rows of a stencil at once, the minimum number of rows and of loads that they share, and the number of loads
/// above which a vector is one register.
static constexpr int64_t rowsAtOnce = 2, leastRows = 8, leastShared = 2, fewLoads = 8;

void chooseJam(linalg::LinalgOp op, const IterationSpace &space, int64_t registerBits, LoopSchedule &schedule) {
  if (schedule.tileDim || !space.hasReduction() || hasPartialOutput(space))
    return;
  int64_t most = 0;
  for (unsigned dim = 0; dim < space.dims.size(); ++dim) {
    if (dim == *schedule.vectorDim || space.dims[dim].reduced || !isAtLeast(space.dims[dim].size, 2))
      continue;
    int64_t shared = llvm::count_if(space.inputs(), [&](const Access &access) {
      return !access.scalar && !access.moves(dim) && llvm::any_of(llvm::enumerate(space.dims), [&](auto other) {
        return other.value().reduced && access.moves(other.index());
      });
    });
    if (shared >= std::max<int64_t>(most, 1)) {
      schedule.jamDim = dim;
      most = shared;
    }
  }
  if (!schedule.jamDim)
    return;
  int64_t registers = 0;
  for (const Access &access : space.outputs())
    registers += std::max<int64_t>(1, schedule.lanes * widthOf(access.element) / registerBits);
  int64_t operations = std::max<int64_t>(1, llvm::range_size(op.getBlock()->without_terminator()));
  int64_t size = std::max<int64_t>(1, std::min({jammedRegisters / registers, jammedOperations / operations, maxJam}));
  // Groups of equal sizes rather than a small last one.
  const SymbolicSize &extent = space.dims[*schedule.jamDim].size;
  if (extent.isStatic() && size > 1)
    size = llvm::divideCeil(extent.factor, llvm::divideCeil(extent.factor, size));
  schedule.jamSize = size;
  if (size <= 1)
    schedule.jamDim.reset();
}

bool isShifted(const IterationSpace &space, const Access &access, const Access &other, unsigned dim, int64_t distance) {
  if (access.scalar || other.scalar || access.element != other.element || access.strides != other.strides ||
      access.isOneRow || other.isOneRow)
    return false;
  Footprint first = footprintOf(access, space), second = footprintOf(other, space);
  return first.known && second.known && first.root == second.root &&
         second.first == first.first + distance * access.strides[dim].factor * bytesOf(access.element);
}

void jamSharedRows(linalg::LinalgOp op, const IterationSpace &space, int64_t registerBits, LoopSchedule &schedule) {
  if (schedule.tileDim || schedule.jamDim || !schedule.unrolledDims.empty() || space.hasReduction())
    return;
  int64_t most = 0;
  for (unsigned dim = 0; dim < space.dims.size(); ++dim) {
    if (dim == *schedule.vectorDim || !isAtLeast(space.dims[dim].size, leastRows))
      continue;
    int64_t shared = llvm::count_if(space.inputs(), [&](const Access &access) {
      return access.moves(dim) && access.moves(*schedule.vectorDim) &&
             llvm::any_of(space.inputs(), [&](const Access &other) { return isShifted(space, access, other, dim, 1); });
    });
    if (shared < std::max(most, leastShared))
      continue;
    schedule.jamDim = dim;
    most = shared;
  }
  if (!schedule.jamDim)
    return;
  schedule.jamSize = rowsAtOnce;
  int64_t width = 8;
  for (const Access &access : space.accesses)
    width = std::max(width, widthOf(access.element));
  if (llvm::count_if(space.inputs(), [&](const Access &access) { return access.moves(*schedule.vectorDim); }) >
      fewLoads)
    schedule.lanes = std::min(schedule.lanes, registerBits / width);
}

} // namespace mlir::array::loops
