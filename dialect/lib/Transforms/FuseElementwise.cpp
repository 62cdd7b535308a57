// array-fuse-elementwise: elementwise producers are fused into the elementwise ops and reductions that read them.
// Before it: convert-array-to-linalg. After it: bufferization, which gives every remaining linalg op a buffer to write.
#include "DivideReaders.h"
#include "FuseVariance.h"
#include "MoveBody.h"
#include "SimplifyGenerics.h"
#include "SliceProducers.h"
#include "array/Analysis/GivenUp.h"
#include "array/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::array {
#define GEN_PASS_DEF_FUSEELEMENTWISE
#include "array/Transforms/Passes.h.inc"
} // namespace mlir::array

using namespace mlir;

namespace {

//===----------------------------------------------------------------------===//
// The cost rule
//===----------------------------------------------------------------------===//

/// Maximum cost for recomputing a value at every use: it is cheaper than a trip through memory.
constexpr int64_t cheapCost = 4;
/// Maximum cost for recomputing a producer of a row for every row.
constexpr int64_t freeCost = 1;
/// The maximum cost of values that one op recomputes although others compute them, too. Otherwise, in a chain in which
/// every value has a second reader, each op would compute the chain from its start.
constexpr int64_t mostAgain = 32;
/// A larger body spills registers, and fusing one op after the other takes quadratic time.
constexpr int64_t maxBodySize = 256;

/// A value with more readers is stored once, unless it reads no memory.
constexpr int64_t mostReaders = 64;
/// From this many ops on, bodies are moved first.
constexpr size_t longProgram = 48;

/// The cost of one element, in simple vector operations.
int64_t operationCost(Operation &op) {
  // array-expand-complex reads a complex number only where its parts have many operations in common. Each reader would
  // recompute them.
  if (isa<arith::OrIOp>(op) && array::partsOf(op.getResult(0)))
    return cheapCost + 1;
  // Free operations, and those that become part of an address.
  if (isa<linalg::YieldOp, linalg::IndexOp, arith::ConstantOp, arith::ExtFOp, arith::TruncFOp, arith::ExtUIOp,
          arith::ExtSIOp, arith::TruncIOp, arith::BitcastOp, arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return 0;
  if (isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::FloorOp, math::CeilOp, math::RoundEvenOp>(op))
    return 1;
  // By a constant it is a multiplication (array-expand-quotients). A divider is slower than a trip through a cache.
  if (isa<arith::DivFOp>(op))
    return matchPattern(op.getOperand(1), m_Constant()) ? 4 : 8;
  if (isa<math::SqrtOp, math::RsqrtOp>(op))
    return 8;
  if (isa<tensor::ExtractOp>(op)) // a gather
    return 8;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::RemFOp>(op) ||
      isa<math::MathDialect>(op.getDialect()))
    return 16;
  return 1;
}

int64_t elementCost(linalg::GenericOp op) {
  int64_t cost = 0;
  for (Operation &nested : *op.getBody())
    cost += operationCost(nested);
  return cost;
}

/// Whether the consumer reads an element of the operand in several of its iterations.
bool readsRepeatedly(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  SmallVector<int64_t> ranges = consumer.getStaticLoopRanges();
  return llvm::any_of(llvm::seq<unsigned>(0, consumer.getNumLoops()),
                      [&](unsigned loop) { return ranges[loop] != 1 && !map.isFunctionOfDim(loop); });
}

/// The maps by which the consumer reads the tensor of an operand.
SmallVector<AffineMap> mapsOfTensor(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  SmallVector<AffineMap> maps;
  for (OpOperand *other : consumer.getDpsInputOperands())
    if (other->get() == operand->get() && !llvm::is_contained(maps, consumer.getMatchingIndexingMap(other)))
      maps.push_back(consumer.getMatchingIndexingMap(other));
  return maps;
}

/// Whether the maps of a tensor read elements more than once, such as windows that overlap.
bool readsOverlapping(OpOperand *operand, int64_t maps) {
  // Unknown sizes are those of dimensions that are read as a whole.
  auto countOf = [](ArrayRef<int64_t> sizes) {
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= ShapedType::isDynamic(size) ? 1 : size;
    return count;
  };
  int64_t elements = countOf(cast<RankedTensorType>(operand->get().getType()).getShape());
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  return maps > 1 && maps * countOf(consumer.getStaticLoopRanges()) > elements + elements / 8;
}

/// Whether an op adds to the contents of its result: a product of scalars, without a sum.
bool readsItsResult(linalg::GenericOp op) {
  return llvm::any_of(op.getRegionOutputArgs(), [](BlockArgument before) { return !before.use_empty(); });
}

bool isPossibleConsumer(OpOperand &use) {
  auto consumer = dyn_cast<linalg::GenericOp>(use.getOwner());
  return consumer && consumer.isDpsInput(&use) && !array::readsWhatIsStored(consumer) && !readsRepeatedly(&use);
}

/// Operands that the op streams through, in contrast to scalars and broadcast rows.
int64_t streamedInputs(linalg::GenericOp op) {
  return llvm::count_if(op.getDpsInputOperands(), [](OpOperand *operand) { return !readsRepeatedly(operand); });
}

/// The rule. Never fuse into a contraction or a scatter. With one consumer that reads each element once, always fuse:
/// the intermediate vanishes. If elements would be recomputed, fuse only nearly free operations, or cheap scalars,
/// which are hoisted out of the loops. With several consumers, fuse only cheap operations, and only if the consumers do
/// not read more memory than the intermediate would cost.
bool isWorthFusing(OpOperand *operand) {
  auto consumer = cast<linalg::GenericOp>(operand->getOwner());
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (array::readsWhatIsStored(consumer) || array::makesTermsDense(producer, *operand))
    return false;
  int64_t maps = int64_t(mapsOfTensor(operand).size());
  if (maps * int64_t(producer.getBody()->getOperations().size()) + int64_t(consumer.getBody()->getOperations().size()) >
      maxBodySize)
    return false;
  int64_t cost = elementCost(producer);
  if (cost > cheapCost && readsOverlapping(operand, maps))
    return false;
  // An operation before a loop would be recomputed in every iteration.
  if (producer->getBlock() != consumer->getBlock() && cost > freeCost)
    return false;
  if (readsRepeatedly(operand) && readsItsResult(producer))
    return false;
  if (readsRepeatedly(operand))
    return cost <= freeCost || (producer.getNumLoops() == 0 && cost <= cheapCost);
  if (llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == consumer; }))
    return true;
  if (cost > cheapCost)
    return false;
  int64_t inputs = streamedInputs(producer);
  if (inputs == 0)
    return true;
  // With so many readers, the cost of storing it is small. The bound keeps the time of a long program linear.
  if (llvm::hasNItemsOrMore(producer->getUses(), mostReaders + 1))
    return false;
  int64_t uses = llvm::range_size(producer->getUses());
  // It is stored anyway for a use that cannot fuse it.
  return inputs * uses <= inputs + 1 + uses && llvm::all_of(producer->getUses(), isPossibleConsumer);
}

/// Whether all readers of the op become one op a step later, which will fuse it completely.
bool isJoinedAgain(linalg::GenericOp op) {
  SetVector<Operation *> readers(op->user_begin(), op->user_end());
  Operation *joint = nullptr;
  for (Operation *reader : readers) {
    if (llvm::all_of(readers, [&](Operation *other) {
          return other == reader || (other->hasOneUse() && *other->user_begin() == reader);
        }))
      return true;
    if (!llvm::all_equal(reader->getUsers()) || reader->use_empty())
      return false;
    Operation *next = *reader->user_begin();
    if (joint && joint != next)
      return false;
    joint = next;
  }
  return isa_and_nonnull<linalg::GenericOp>(joint);
}

/// A cheap op that each of its consumers recomputes. Its operands stay in memory, so their producers must not be fused
/// into it.
bool goesIntoItsConsumers(linalg::GenericOp op) {
  return !op->hasOneUse() && !op->use_empty() && elementCost(op) <= cheapCost && !isJoinedAgain(op) &&
         llvm::all_of(op->getUses(), [](OpOperand &use) {
           return isPossibleConsumer(use) && linalg::areElementwiseOpsFusable(&use) && isWorthFusing(&use);
         });
}

//===----------------------------------------------------------------------===//
// The sweep
//===----------------------------------------------------------------------===//

/// Records the replacement of an op, and the values that each op recomputes.
struct ReplacementListener : RewriterBase::Listener {
  void notifyOperationReplaced(Operation *op, ValueRange values) override {
    if (op != current)
      return;
    auto kept = llvm::find_if(values, [](Value value) { return value != nullptr; });
    current = kept == values.end() ? nullptr : (*kept).getDefiningOp();
    if (int64_t cost = again.lookup(op); cost && current)
      again[current] = cost;
  }
  void notifyOperationErased(Operation *op) override {
    again.erase(op);
    erased.insert(op);
    erasedNow.insert(op);
    if (op == current)
      current = nullptr;
  }
  Operation *current = nullptr;
  DenseMap<Operation *, int64_t> again;
  SmallPtrSet<Operation *, 16> erased, erasedNow;
};

/// Fuses producers into one consumer after the other, in program order. When a consumer is visited, its producers are
/// final, so each is decided once, and a body that reaches its limit ends at a value of the program. An operand that a
/// fused op has several times would be repeated in later fusions, so each op is simplified before it is visited again.
class Fuser {
public:
  explicit Fuser(MLIRContext *context)
      : rewriter(context), patterns(array::simplificationsOfGenerics(context)), applicator(patterns) {
    rewriter.setListener(&listener);
    applicator.applyDefaultCostModel();
  }

  /// Moves producers into their only readers, in program order: a body that reaches its limit ends at a value of the
  /// program. Each op is simplified before its body grows, and the fused ones by the sweep that follows. The sweep
  /// copies bodies, which takes little time in short programs.
  bool moveBodies(func::FuncOp function) {
    SmallVector<linalg::GenericOp> readers;
    function.walk([&](linalg::GenericOp op) { readers.push_back(op); });
    if (readers.size() < longProgram)
      return false;
    bool changed = false;
    for (linalg::GenericOp reader : readers) {
      if (goesIntoItsConsumers(reader))
        continue;
      linalg::GenericOp op = simplify(reader);
      while (op && moveOne(op))
        changed = true;
    }
    return changed;
  }

  /// One sweep; the first one skips ops that will vanish. Returns whether anything was fused.
  bool run(func::FuncOp function, bool first) {
    SmallVector<linalg::GenericOp> consumers;
    function.walk([&](linalg::GenericOp op) { consumers.push_back(op); });
    bool changed = false;
    for (linalg::GenericOp consumer : consumers) {
      if (first && goesIntoItsConsumers(consumer))
        continue;
      for (linalg::GenericOp op = simplify(consumer); op && fuseOne(op); op = simplify(op))
        changed = true;
    }
    return changed;
  }

  /// Fuses producers of which one op reads slices: a value at shifted places is recomputed for each place.
  bool fuseSlices(func::FuncOp function) {
    SmallVector<linalg::GenericOp> producers;
    function.walk([&](linalg::GenericOp op) { producers.push_back(op); });
    bool changed = false;
    listener.erased.clear();
    // The last one first: then the readers of the slices of an earlier one have become one op.
    for (linalg::GenericOp producer : llvm::reverse(producers)) {
      if (listener.erased.contains(producer))
        continue;
      std::optional<array::ReadSlices> slices = array::slicesOf(producer);
      if (!slices || !isWorthSlicing(producer, *slices))
        continue;
      array::computeSlices(rewriter, producer);
      for (linalg::GenericOp op = simplify(slices->reader); op && fuseOne(op); op = simplify(op))
        ;
      changed = true;
    }
    return changed;
  }

private:
  static bool isWorthSlicing(linalg::GenericOp producer, const array::ReadSlices &slices) {
    linalg::GenericOp reader = slices.reader;
    auto readsOnce = [&](OpOperand *operand) {
      auto slice = operand->get().getDefiningOp<tensor::ExtractSliceOp>();
      return !slice || slice.getSource() != producer->getResult(0) || !readsRepeatedly(operand);
    };
    return !array::readsWhatIsStored(reader) && llvm::all_of(reader.getDpsInputOperands(), readsOnce) &&
           slices.different * elementCost(producer) <= mostAgain &&
           slices.different * int64_t(producer.getBody()->getOperations().size()) +
                   int64_t(reader.getBody()->getOperations().size()) <=
               maxBodySize;
  }

  /// The op that replaces `op` after simplification; null if its results have no readers. Ops without readers are
  /// erased at once: they count as readers of their operands.
  linalg::GenericOp simplify(linalg::GenericOp op) {
    SmallVector<Operation *> producers = producersOf(op);
    listener.current = op;
    listener.erasedNow.clear();
    while (listener.current) {
      rewriter.setInsertionPoint(listener.current);
      if (failed(applicator.matchAndRewrite(listener.current, rewriter)))
        break;
    }
    auto simple = dyn_cast_or_null<linalg::GenericOp>(listener.current);
    if (simple && simple->use_empty() && simple.hasPureTensorSemantics()) {
      rewriter.eraseOp(simple);
      simple = nullptr;
    }
    while (!producers.empty()) {
      Operation *producer = producers.pop_back_val();
      if (listener.erasedNow.contains(producer) || !producer->use_empty())
        continue;
      llvm::append_range(producers, producersOf(producer));
      rewriter.eraseOp(producer);
    }
    return simple;
  }

  static SmallVector<Operation *> producersOf(Operation *op) {
    SmallVector<Operation *> producers;
    for (Value operand : op->getOperands())
      if (auto producer = operand.getDefiningOp<linalg::GenericOp>();
          producer && !llvm::is_contained(producers, producer))
        producers.push_back(producer);
    return producers;
  }

  bool moveOne(linalg::GenericOp op) {
    return !array::readsWhatIsStored(op) && llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
      return array::moveIntoReader(rewriter, operand, maxBodySize);
    });
  }

  /// Fuses the first producer for which that pays; `op` becomes the fused op.
  bool fuseOne(linalg::GenericOp &op) {
    for (OpOperand *operand : op.getDpsInputOperands())
      if (fuse(op, operand))
        return true;
    return false;
  }

  /// Fuses the producer of an operand, if that pays; `op` becomes the fused op.
  bool fuse(linalg::GenericOp &op, OpOperand *operand) {
    if (!linalg::areElementwiseOpsFusable(operand) || !isWorthFusing(operand))
      return false;
    auto taken = operand->get().getDefiningOp<linalg::GenericOp>();
    bool isShared = llvm::any_of(taken->getUsers(), [&](Operation *user) { return user != op; });
    int64_t again = listener.again.lookup(op) + listener.again.lookup(taken);
    if (isShared)
      again += std::max<int64_t>(elementCost(taken), 1);
    if (isShared && again > mostAgain) {
      array::tellGivenUp(taken.getLoc(), "fusion-given-up",
                         "a value with several readers is stored once: recomputing it in each of them costs more");
      return false;
    }
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, operand);
    if (failed(fused))
      return false;
    // The fused op also computes the producer's results. Only those of the consumer are used, so unused ones are
    // erased.
    for (Value result : op.getResults())
      rewriter.replaceAllUsesWith(result, fused->replacements.lookup(result));
    Operation *producer = operand->get().getDefiningOp();
    rewriter.eraseOp(op);
    // Erase it at once, so that its operands have one consumer less.
    if (producer->use_empty())
      rewriter.eraseOp(producer);
    op = cast<linalg::GenericOp>(fused->fusedOp);
    if (again)
      listener.again[op] = again;
    return true;
  }

  ReplacementListener listener;
  PatternRewriter rewriter;
  FrozenRewritePatternSet patterns;
  PatternApplicator applicator;
};

struct FuseElementwise : array::impl::FuseElementwiseBase<FuseElementwise> {
  void runOnOperation() override {
    Fuser fuser(&getContext());
    bool moved = fuser.moveBodies(getOperation());
    if (fuser.run(getOperation(), /*first=*/true) || moved)
      fuser.run(getOperation(), /*first=*/false);
    if (fuser.fuseSlices(getOperation()))
      fuser.run(getOperation(), /*first=*/false);
    // The producers of a part and the op that reads it may fuse now.
    if (array::divideReaders(getOperation(), elementCost, cheapCost))
      fuser.run(getOperation(), /*first=*/false);
    array::fuseVariances(getOperation());
    // Fills that are read as scalars now.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};

} // namespace
