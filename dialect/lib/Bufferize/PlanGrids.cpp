// Loops over the grids of kernels, and scans with independent iterations (array-share-scans), as parts of
// array-plan-memory: their temporaries get places in one private buffer, of which each piece of the loop has one, and
// the loop is marked as parallel. If a loop can't be shared, it does not change: its temporaries are in the arena, and
// one thread runs it.
#include "Analysis/BufferUses.h"
#include "Analysis/ParallelLoops.h"
#include "Temporaries.h"
#include "array/Analysis/GivenUp.h"
#include "array/IR/Kernel.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::array;

/// The maximum number of bytes that the temporaries of an iteration take on the stack of a thread.
static constexpr int64_t mostPrivateBytes = int64_t(2) << 20;

/// The number of iterations of a loop whose bounds are computed: a guess, for costs.
static constexpr double expectedTrips = 8;

/// The rough cost of a block in nanoseconds.
static double costOf(Block &block) {
  constexpr double nsOfOperation = 0.5;
  double ns = 0;
  for (Operation &op : block) {
    double trips = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto low = getConstantIntValue(loop.getLowerBound()), high = getConstantIntValue(loop.getUpperBound()),
           step = getConstantIntValue(loop.getStep());
      trips = low && high && step ? std::max<double>(double(*high - *low) / double(*step), 0) : expectedTrips;
    } else if (isa<scf::WhileOp>(op)) {
      trips = expectedTrips;
    }
    ns += op.hasTrait<OpTrait::IsTerminator>() ? 0 : nsOfOperation;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        ns += trips * costOf(inner);
  }
  return ns;
}

/// Whether no use of a buffer is outside of a loop.
static bool isUsedIn(scf::ForOp loop, const llvm::SetVector<Value> &views) {
  return llvm::all_of(views, [&](Value view) {
    return llvm::all_of(view.getUsers(), [&](Operation *user) {
      bool isView = isa<ViewLikeOpInterface>(user) && !loop->isAncestor(user); // its own users count
      return isView || loop->isAncestor(user);
    });
  });
}

/// Why one thread must run a loop; null if several can.
static const char *obstacle(scf::ForOp loop) {
  if (loop.getNumResults() != 0)
    return "its outputs are not updated in place";
  bool calls = loop->walk([](Operation *op) {
                     return isa<ArrayDialect>(op->getDialect()) || isa<LLVM::CallOp>(op) ? WalkResult::interrupt()
                                                                                         : WalkResult::advance();
                   })
                   .wasInterrupted();
  return calls ? "its body calls library routines" : nullptr;
}

/// Buffers on the stack that earlier passes made for one thread: each piece has its own.
static void privatize(func::FuncOp function, scf::ForOp loop) {
  SmallVector<memref::AllocaOp> buffers;
  function.walk([&](memref::AllocaOp alloca) {
    if (!loop->isAncestor(alloca) && !alloca->hasAttr(kPrivateAttr))
      buffers.push_back(alloca);
  });
  for (memref::AllocaOp alloca : buffers) {
    auto isInside = [&](OpOperand &use) { return loop->isAncestor(use.getOwner()); };
    if (llvm::none_of(alloca->getUses(), isInside))
      continue;
    auto own = cast<memref::AllocaOp>(OpBuilder(alloca).clone(*alloca));
    own->setAttr(kPrivateAttr, UnitAttr::get(function.getContext()));
    alloca.getResult().replaceUsesWithIf(own, isInside);
  }
}

/// Plans a loop; whether threads share it.
static bool planGrid(func::FuncOp function, scf::ForOp loop) {
  bool isKernel = loop->hasAttr(kGridAttr), hasParts = loop->hasAttr(kPartsAttr);
  for (StringRef mark : {kGridAttr, kIndependentAttr, kPartsAttr})
    loop->removeAttr(mark);
  auto low = getConstantIntValue(loop.getLowerBound()), high = getConstantIntValue(loop.getUpperBound());
  double ns = costOf(*loop.getBody());
  int64_t trips = low && high ? *high - *low : 0;
  // Parts were made because there is work for threads.
  if (!hasParts && (trips < 2 || ns * double(trips) < kSharedNs))
    return false;
  // No user expects several threads for a scan.
  auto giveUp = [&](const Twine &why) {
    if (isKernel)
      tellGivenUp(loop.getLoc(), "sequential-kernel", "one thread runs the kernel: " + why);
    return false;
  };
  if (const char *why = obstacle(loop))
    return giveUp(why);

  SmallVector<Allocation> allocations;
  function.walk([&](memref::AllocOp alloc) {
    Allocation allocation{alloc, viewsOf(alloc)};
    if (loop->isAncestor(alloc) || isUsedIn(loop, allocation.views))
      allocations.push_back(std::move(allocation));
  });
  for (const Allocation &allocation : allocations) {
    memref::AllocOp alloc = allocation.alloc;
    if (!alloc.getType().hasStaticShape())
      return giveUp("a temporary has a symbolic size");
    if (failed(checkAlloc(allocation)))
      return false;
  }
  // Buffers of matmuls are at the start of the function.
  for (const Allocation &allocation : allocations)
    if (memref::AllocOp alloc = allocation.alloc; !loop->isAncestor(alloc))
      alloc->moveBefore(loop.getBody(), loop.getBody()->begin());
  SmallVector<Temporary> temporaries = findLifetimes(function, allocations);
  std::optional<int64_t> bytes = assignOffsets(temporaries);
  if (!bytes || *bytes > mostPrivateBytes)
    return giveUp("the temporaries of one program take " + Twine(bytes.value_or(0)) + " bytes, and at most " +
                  Twine(mostPrivateBytes) + " are on the stack of a thread. Smaller blocks take less");

  privatize(function, loop);
  if (!temporaries.empty()) {
    OpBuilder b = OpBuilder::atBlockBegin(&function.front());
    auto buffer = memref::AllocaOp::create(b, loop.getLoc(), MemRefType::get({*bytes}, b.getI8Type()),
                                           b.getI64IntegerAttr(PCRT_ALIGNMENT));
    buffer->setAttr(kPrivateAttr, b.getUnitAttr());
    for (const Temporary &temporary : temporaries)
      replaceByView(temporary, buffer);
  }
  loop->walk([](scf::ForOp inner) { inner->removeAttr(kParallelAttr); });
  markParallel(loop, trips, ns);
  // Two programs are worth two threads.
  if (!loop->hasAttr(kParallelAttr))
    markPieces(loop);
  return true;
}

/// The value for one thread. Operations on which it depends are cloned if they depend on the number of threads.
static Value forOneThread(OpBuilder &b, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return value;
  if (isa<ThreadsOp>(op))
    return arith::ConstantIndexOp::create(b, op->getLoc(), 1);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(forOneThread(b, operand));
  if (llvm::equal(operands, op->getOperands()))
    return value;
  Operation *clone = b.clone(*op);
  clone->setOperands(operands);
  return clone->getResult(cast<OpResult>(value).getResultNumber());
}

/// A loop that one thread runs has one part.
static void joinParts(scf::ForOp loop) {
  loop->removeAttr(kPartsAttr);
  OpBuilder b(loop);
  loop->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get().getType().isIndex() && operand.get().getParentRegion()->isAncestor(loop->getParentRegion()))
        operand.set(forOneThread(b, operand.get()));
  });
}

void array::planGrids(func::FuncOp function) {
  SmallVector<scf::ForOp> loops, withParts;
  auto isMarked = [](scf::ForOp loop) {
    return loop->hasAttr(kGridAttr) || loop->hasAttr(kIndependentAttr) || loop->hasAttr(kPartsAttr);
  };
  function.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (loop->hasAttr(kPartsAttr))
      withParts.push_back(loop);
    bool isWithin = llvm::any_of(loops, [&](scf::ForOp outer) { return outer->isProperAncestor(loop); });
    if (isMarked(loop) && !isWithin)
      loops.push_back(loop);
  });
  SmallPtrSet<Operation *, 8> shared;
  for (scf::ForOp loop : loops)
    if (planGrid(function, loop))
      shared.insert(loop);
  for (scf::ForOp loop : withParts)
    if (!shared.contains(loop))
      joinParts(loop);
}
