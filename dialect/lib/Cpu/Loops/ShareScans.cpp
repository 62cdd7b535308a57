// array-share-scans marks the loops of a program whose iterations are independent: those of a scan without a carry, of
// `lax.map`, of the rows of a sparse matrix. array-plan-memory treats them as the loops over the grids of kernels: it
// gives each piece its own temporaries, and decides whether several threads are worth it.
//
// Iterations are independent if each writes a row of its own: the first index of each write is the number of the
// iteration, up to a sign and a constant, and nothing else of the loop touches these buffers.
#include "Analysis/BufferUses.h"
#include "array/Cpu/Passes.h"
#include "array/IR/Array.h"
#include "array/IR/Kernel.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::array {

#define GEN_PASS_DEF_SHARESCANS
#include "array/Cpu/Passes.h.inc"

namespace {

/// A position that belongs to one iteration: `sign * iteration + offset`.
struct Position {
  int64_t sign, offset;
  bool operator==(const Position &other) const { return sign == other.sign && offset == other.offset; }
};

std::optional<Position> positionOf(OpFoldResult index, Value iteration) {
  auto value = dyn_cast<Value>(index);
  if (!value)
    return std::nullopt;
  if (value == iteration)
    return Position{1, 0};
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    std::optional<int64_t> by = getConstantIntValue(sum.getRhs());
    std::optional<Position> of = positionOf(sum.getLhs(), iteration);
    return by && of ? std::optional(Position{of->sign, of->offset + *by}) : std::nullopt;
  }
  if (auto difference = value.getDefiningOp<arith::SubIOp>()) {
    if (std::optional<int64_t> from = getConstantIntValue(difference.getLhs())) {
      std::optional<Position> of = positionOf(difference.getRhs(), iteration);
      return of ? std::optional(Position{-of->sign, *from - of->offset}) : std::nullopt;
    }
    std::optional<int64_t> by = getConstantIntValue(difference.getRhs());
    std::optional<Position> of = positionOf(difference.getLhs(), iteration);
    return by && of ? std::optional(Position{of->sign, of->offset - *by}) : std::nullopt;
  }
  return std::nullopt;
}

/// The accesses of a loop's body to memory from outside of the loop.
class Accesses {
public:
  explicit Accesses(scf::ForOp loop) : loop(loop) {}

  bool areIndependent() {
    WalkResult walked =
        loop.getBody()->walk([&](Operation *op) { return add(op) ? WalkResult::advance() : WalkResult::interrupt(); });
    if (walked.wasInterrupted())
      return false;
    return llvm::all_of(buffers, [](const auto &entry) {
      const Buffer &buffer = entry.second;
      return !buffer.isWritten || buffer.position;
    });
  }

private:
  struct Buffer {
    bool isWritten = false;
    std::optional<Position> position; ///< The row of all accesses; none if there are others.
  };

  bool add(Operation *op) {
    if (isMemoryEffectFree(op) || isa<scf::ForOp, scf::IfOp, scf::WhileOp, memref::AllocOp>(op))
      return true;
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return add(load.getMemRef(), false, load.getIndices());
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return add(store.getMemRef(), true, store.getIndices());
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      return add(copy.getSource(), false) && add(copy.getTarget(), true);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return llvm::all_of(linalgOp->getOpOperands(), [&](OpOperand &operand) {
        return !isa<BaseMemRefType>(operand.get().getType()) || add(operand.get(), linalgOp.isDpsInit(&operand));
      });
    return false;
  }

  bool add(Value memref, bool isWritten, ValueRange indices = {}) {
    std::optional<Position> position;
    if (!indices.empty())
      position = positionOf(indices.front(), loop.getInductionVar());
    // The view that stands on the buffer itself decides: all further ones are inside it.
    while (auto view = memref.getDefiningOp<ViewLikeOpInterface>()) {
      if (!isa<memref::CastOp>(view))
        position = std::nullopt;
      if (auto slice = dyn_cast<memref::SubViewOp>(view.getOperation()); slice && slice.getStaticSizes().front() == 1)
        position = positionOf(slice.getMixedOffsets().front(), loop.getInductionVar());
      memref = view.getViewSource();
    }
    if (Operation *source = memref.getDefiningOp(); source && loop->isProperAncestor(source))
      return isa<memref::AllocOp>(source); // of this iteration
    if (memref.getDefiningOp<memref::GetGlobalOp>())
      return !isWritten;
    if (!isMemoryOfItsOwn(memref))
      return false;
    auto [entry, isNew] = buffers.try_emplace(memref, Buffer{isWritten, position});
    if (!isNew) {
      Buffer &buffer = entry->second;
      buffer.isWritten |= isWritten;
      if (!(buffer.position && position && *buffer.position == *position))
        buffer.position = std::nullopt;
    }
    return true;
  }

  scf::ForOp loop;
  llvm::MapVector<Value, Buffer> buffers;
};

/// Loops of fewer iterations leave threads to the loops inside them.
constexpr int64_t kFewTrips = 16;

struct ShareScans : impl::ShareScansBase<ShareScans> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([](scf::ForOp loop) {
      if (loop->hasAttr(kGridAttr))
        return WalkResult::skip();
      std::optional<llvm::APInt> trips = loop.getStaticTripCount();
      bool isScan = loop->hasAttr(kControlFlowAttr) && loop.getNumResults() == 0 && trips && trips->uge(kFewTrips);
      if (!isScan || !Accesses(loop).areIndependent())
        return WalkResult::advance();
      loop->setAttr(kIndependentAttr, UnitAttr::get(loop.getContext()));
      return WalkResult::skip();
    });
  }
};

} // namespace
} // namespace mlir::array
