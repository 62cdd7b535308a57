// array-forward-stores: an op that computes a temporary for a copy computes at the copy's destination instead. Updates
// of slices, `x.at[1:-1].set(f(y))`, are such copies: bufferization computes the slice apart if the destination is read
// before it changes. The counterpart of array-forward-copies, after which it runs; array-lower-matmuls follows.
#include "Analysis/Box.h"
#include "Analysis/BufferUses.h"
#include "array/Bufferize/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

#define GEN_PASS_DEF_FORWARDSTORES
#include "array/Bufferize/Passes.h.inc"

namespace {

/// The elements of a buffer that a view has: those of a box, whose dimensions may be reshaped without a change of their
/// order. No box: any part.
struct Place {
  Value root;
  std::optional<Box> box;
};

Place placeOf(Value view) {
  Place place{viewedBuffer(view), std::nullopt};
  auto type = dyn_cast<MemRefType>(place.root.getType());
  if (!type || !type.hasStaticShape())
    return place;
  // Of several slices in a row, the box of the first one is known, and the rest is inside.
  memref::SubViewOp slice;
  for (Value value = view; auto op = value.getDefiningOp<ViewLikeOpInterface>(); value = op.getViewSource()) {
    if (auto part = dyn_cast<memref::SubViewOp>(op.getOperation()))
      slice = part.getSource() == place.root ? part : slice;
    else if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(op))
      return place;
  }
  Box box;
  if (!slice) {
    for (int64_t size : type.getShape())
      box.push_back({0, size});
  } else {
    for (auto [offset, size, stride] :
         llvm::zip_equal(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getStaticStrides())) {
      if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) || ShapedType::isDynamic(stride))
        return place;
      box.push_back({offset, offset + (size - 1) * stride + 1});
    }
  }
  place.box = std::move(box);
  return place;
}

bool mayOverlap(const Place &a, const Place &b) {
  if (a.root != b.root)
    return !isMemoryOfItsOwn(a.root) || !isMemoryOfItsOwn(b.root);
  if (!a.box || !b.box)
    return true;
  return llvm::all_of(llvm::zip_equal(*a.box, *b.box), [](auto sides) {
    auto [x, y] = sides;
    return x.first < y.second && y.first < x.second;
  });
}

/// Whether two views have the same elements in the same order: made from one buffer by equal operations.
bool isSameView(Value a, Value b) {
  while (a != b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    if (!first || !second || !isa<ViewLikeOpInterface>(first) || first->getName() != second->getName() ||
        first->getAttrDictionary() != second->getAttrDictionary() || a.getType() != b.getType() ||
        first->getNumOperands() != second->getNumOperands() ||
        !llvm::equal(llvm::drop_begin(first->getOperands()), llvm::drop_begin(second->getOperands())))
      return false;
    a = first->getOperand(0);
    b = second->getOperand(0);
  }
  return true;
}

/// An operation of a block that uses memory, and its kind of use.
struct Use {
  Operation *op;
  Place place;
};

/// A temporary that one op computes, and the copy of it.
struct Forwarded {
  memref::AllocOp alloc;
  linalg::LinalgOp writer;
  OpOperand *output;
  memref::CopyOp copy;
  SmallVector<Operation *, 2> reshapes; ///< Between the temporary and the copy, from the temporary on.
};

/// The copy is the only reader, and the writer writes each element without reading the former one.
std::optional<Forwarded> match(memref::CopyOp copy) {
  Forwarded found;
  found.copy = copy;
  Value source = copy.getSource();
  while (Operation *op = source.getDefiningOp()) {
    if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op) || !op->hasOneUse())
      break;
    found.reshapes.push_back(op);
    source = op->getOperand(0);
  }
  std::reverse(found.reshapes.begin(), found.reshapes.end());
  found.alloc = source.getDefiningOp<memref::AllocOp>();
  if (!found.alloc || !found.alloc.getType().hasStaticShape() || found.alloc->getBlock() != copy->getBlock())
    return std::nullopt;
  Operation *reader = found.reshapes.empty() ? copy.getOperation() : found.reshapes.front();
  for (OpOperand &use : found.alloc->getUses()) {
    if (use.getOwner() == reader)
      continue;
    auto writer = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (found.writer || !writer || writer->getBlock() != copy->getBlock() || !writer.hasPureBufferSemantics() ||
        writer.getNumReductionLoops() != 0 || !writer.isDpsInit(&use) || !writer->isBeforeInBlock(copy) ||
        !writer.getMatchingIndexingMap(&use).isPermutation() || !writer.getMatchingBlockArgument(&use).use_empty())
      return std::nullopt;
    found.writer = writer;
    found.output = &use;
  }
  return found.writer ? std::optional(found) : std::nullopt;
}

/// The view of the copy's target in the shape of the temporary, before the writer; null if there is none.
Value targetBefore(Forwarded &found) {
  SmallVector<Operation *> views;
  Value root = found.copy.getTarget();
  while (auto op = root.getDefiningOp<ViewLikeOpInterface>()) {
    views.push_back(op);
    root = op.getViewSource();
  }
  Operation *writer = found.writer;
  auto isBefore = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || op->getBlock() != writer->getBlock() || op->isBeforeInBlock(writer);
  };
  for (Operation *view : views)
    for (Value operand : view->getOperands())
      if (!llvm::is_contained(views, operand.getDefiningOp()) && !isBefore(operand)) {
        // A later allocation can be earlier.
        auto alloc = operand.getDefiningOp<memref::AllocOp>();
        if (!alloc || alloc->getNumOperands() != 0)
          return nullptr;
        alloc->moveBefore(writer);
      }
  OpBuilder b(writer);
  IRMapping mapping;
  for (Operation *view : llvm::reverse(views))
    b.clone(*view, mapping);
  Value target = mapping.lookupOrDefault(found.copy.getTarget());
  if (auto alloc = target.getDefiningOp<memref::AllocOp>(); alloc && !isBefore(alloc))
    alloc->moveBefore(writer);
  Location loc = found.copy.getLoc();
  for (Operation *reshape : llvm::reverse(found.reshapes)) {
    auto type = cast<MemRefType>(target.getType());
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(reshape)) {
      SmallVector<ReassociationIndices> groups = expand.getReassociationIndices();
      if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
        return nullptr;
      target = memref::CollapseShapeOp::create(b, loc, target, groups);
      continue;
    }
    auto collapse = cast<memref::CollapseShapeOp>(reshape);
    ArrayRef<int64_t> shape = cast<MemRefType>(collapse.getSrc().getType()).getShape();
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
    FailureOr<MemRefType> expanded = memref::ExpandShapeOp::computeExpandedType(type, shape, groups);
    if (failed(expanded))
      return nullptr;
    target = memref::ExpandShapeOp::create(b, loc, *expanded, target, groups);
  }
  return target;
}

class Forwarding {
public:
  explicit Forwarding(Block &block) {
    for (Operation &op : block)
      read(&op);
  }

  void run(memref::CopyOp copy) {
    std::optional<Forwarded> found = match(copy);
    if (!found || !canStoreEarly(*found))
      return;
    Value target = targetBefore(*found);
    if (!target)
      return;
    Place place = placeOf(target);
    forget(copy, place.root);
    found->output->set(target);
    uses[place.root].push_back({found->writer, place});
    copy->erase();
    for (Operation *reshape : llvm::reverse(found->reshapes))
      reshape->erase();
    found->alloc->erase();
  }

private:
  /// The maximum number of uses that are compared for one copy: the time stays proportional to the number of copies.
  static constexpr size_t mostUses = 4096;

  void read(Operation *op) {
    op->walk([&](Operation *inner) {
      if (isa<ViewLikeOpInterface, memref::AllocOp, memref::DimOp>(inner))
        return;
      for (Value operand : inner->getOperands())
        if (isa<BaseMemRefType>(operand.getType())) {
          Place place = placeOf(operand);
          bool isKnown = isMemoryOfItsOwn(place.root);
          uses[isKnown ? place.root : Value()].push_back({op, place});
        }
    });
  }

  void forget(Operation *op, Value root) {
    llvm::erase_if(uses[root], [&](const Use &use) { return use.op == op; });
  }

  /// Whether nothing uses the target between the writer and the copy. The writer may read each element of it before it
  /// writes this element.
  bool canStoreEarly(Forwarded &found) {
    Value target = found.copy.getTarget();
    Place place = placeOf(target);
    if (!isMemoryOfItsOwn(place.root) || place.root == found.alloc.getResult())
      return false;
    auto isFree = [&](ArrayRef<Use> among) {
      return among.size() <= mostUses && llvm::none_of(among, [&](const Use &use) {
               bool isBetween = use.op == found.writer ||
                                (found.writer->isBeforeInBlock(use.op) && use.op->isBeforeInBlock(found.copy));
               return isBetween && mayOverlap(use.place, place) &&
                      !(use.op == found.writer && readsInOrder(found, place));
             });
    };
    return isFree(uses[place.root]) && isFree(uses[Value()]);
  }

  /// Whether the writer uses the target only by operands that are the target, read in the order of the output.
  static bool readsInOrder(Forwarded &found, const Place &place) {
    linalg::LinalgOp writer = found.writer;
    if (!found.reshapes.empty())
      return false;
    AffineMap map = writer.getMatchingIndexingMap(found.output);
    for (OpOperand &operand : writer->getOpOperands()) {
      if (!isa<BaseMemRefType>(operand.get().getType()) || !mayOverlap(placeOf(operand.get()), place))
        continue;
      if (!writer.isDpsInput(&operand) || writer.getMatchingIndexingMap(&operand) != map ||
          !isSameView(operand.get(), found.copy.getTarget()))
        return false;
    }
    return !writer.getBlock()
                ->walk([&](memref::LoadOp load) {
                  return mayOverlap(placeOf(load.getMemRef()), place) ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted();
  }

  DenseMap<Value, SmallVector<Use>> uses; ///< By buffer; the null value has those of unknown memory.
};

struct ForwardStores : impl::ForwardStoresBase<ForwardStores> {
  void runOnOperation() override {
    llvm::SetVector<Block *> blocks;
    getOperation().walk([&](memref::CopyOp copy) { blocks.insert(copy->getBlock()); });
    for (Block *block : blocks) {
      Forwarding forwarding(*block);
      for (auto copy : llvm::make_early_inc_range(block->getOps<memref::CopyOp>()))
        forwarding.run(copy);
    }
  }
};

} // namespace
} // namespace mlir::array
