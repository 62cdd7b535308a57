// array-forward-copies: if copies assemble a temporary, its readers read the sources of the copies instead, part by
// part. Concatenations, rotations and padding are such temporaries. Runs right after bufferization, where every copy is
// visible; array-lower-matmuls follows.
#include "Analysis/Box.h"
#include "Analysis/BufferUses.h"
#include "array/Bufferize/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

#define GEN_PASS_DEF_FORWARDCOPIES
#include "array/Bufferize/Passes.h.inc"

namespace {

/// The maximum number of ops that replace one op, if each has at least elementsOfPart elements, and the maximum size of
/// all their bodies.
constexpr int64_t mostParts = 16, elementsOfPart = 256, mostOperations = 512;

/// One of the copies that assemble a temporary; later ones cover earlier ones.
struct Piece {
  Operation *write;
  Value source; ///< a buffer of the piece's shape, or a scalar
  Box box;
};

/// A temporary whose sources can be read instead.
struct Assembled {
  Value buffer;
  SmallVector<Piece> pieces;
  SmallVector<linalg::GenericOp> readers;
};

/// The value that an op copies or fills into `target`; null for any other op.
Value writtenBy(Operation *op, Value target) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return copy.getTarget() == target && copy.getSource() != target ? copy.getSource() : Value();
  auto fill = dyn_cast<linalg::FillOp>(op);
  return fill && fill.getOutputs()[0] == target ? fill.value() : Value();
}

Box boxOf(ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  Box box;
  for (auto [offset, size] : llvm::zip_equal(offsets, sizes))
    box.push_back({offset, offset + size});
  return box;
}

/// Whether an op reads a temporary along its parallel loops, so that parts of it can be read from the sources.
bool isReader(linalg::GenericOp op, Value temporary) {
  if (!op.hasPureBufferSemantics() || op.getNumReductionLoops() != 0)
    return false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (operand.get() == temporary ? op.isDpsInit(&operand) || !map.isProjectedPermutation()
                                   : !map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return false;
  }
  // Not by loads in its body.
  return !op->walk([&](Operation *inner) {
              bool uses = inner != op && llvm::is_contained(inner->getOperands(), temporary);
              return uses ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}

std::optional<Assembled> analyze(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.hasStaticShape() || type.getRank() == 0 || !type.getLayout().isIdentity())
    return std::nullopt;
  Assembled found{alloc, {}, {}};
  SmallVector<int64_t> origin(type.getRank(), 0);
  for (Operation *user : alloc->getUsers()) {
    if (user->getBlock() != alloc->getBlock())
      return std::nullopt;
    if (Value source = writtenBy(user, alloc)) {
      found.pieces.push_back({user, source, boxOf(origin, type.getShape())});
    } else if (auto part = dyn_cast<memref::SubViewOp>(user)) {
      bool isStatic = !llvm::is_contained(part.getStaticOffsets(), ShapedType::kDynamic) &&
                      !llvm::is_contained(part.getStaticSizes(), ShapedType::kDynamic) &&
                      llvm::all_of(part.getStaticStrides(), [](int64_t stride) { return stride == 1; });
      if (!isStatic || part.getType().getRank() != type.getRank() || !part->hasOneUse())
        return std::nullopt;
      Operation *write = *part->user_begin();
      Value source = write->getBlock() == alloc->getBlock() ? writtenBy(write, part) : Value();
      if (!source)
        return std::nullopt;
      found.pieces.push_back({write, source, boxOf(part.getStaticOffsets(), part.getStaticSizes())});
    } else if (auto reader = dyn_cast<linalg::GenericOp>(user); reader && isReader(reader, alloc)) {
      if (!llvm::is_contained(found.readers, reader))
        found.readers.push_back(reader);
    } else {
      return std::nullopt;
    }
  }
  if (found.pieces.empty() || found.readers.empty())
    return std::nullopt;
  auto inOrder = [](auto &a, auto &b) { return a->isBeforeInBlock(b); };
  llvm::sort(found.pieces, [&](const Piece &a, const Piece &b) { return inOrder(a.write, b.write); });
  llvm::sort(found.readers, inOrder);
  return found;
}

/// Whether the sources still hold the copied values at every read of the temporary.
bool isUnchanged(const Assembled &found) {
  Operation *last = found.readers.back();
  if (!found.pieces.back().write->isBeforeInBlock(linalg::GenericOp(found.readers.front())))
    return false;
  for (const Piece &piece : found.pieces) {
    if (!isa<MemRefType>(piece.source.getType()))
      continue;
    Value root = viewedBuffer(piece.source);
    if (!isMemoryOfItsOwn(root) || root == found.buffer)
      return false;
    for (Operation *op = piece.write->getNextNode();; op = op->getNextNode()) {
      if (mayWriteMemory(op, root))
        return false;
      if (op == last)
        break;
    }
  }
  return true;
}

/// The borders of the pieces, in each loop of a reader. A loop of unknown length has no further borders, because no
/// piece divides it.
SmallVector<SmallVector<int64_t>> cutsOf(linalg::GenericOp op, const DenseMap<Value, const Assembled *> &assembled) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<SmallVector<int64_t>> cuts;
  for (int64_t range : ranges)
    cuts.push_back({0, range});
  for (OpOperand *operand : op.getDpsInputOperands())
    if (const Assembled *found = assembled.lookup(operand->get()))
      for (const Piece &piece : found->pieces)
        for (auto [expr, side] : llvm::zip_equal(op.getMatchingIndexingMap(operand).getResults(), piece.box)) {
          auto &loop = cuts[cast<AffineDimExpr>(expr).getPosition()];
          loop.append({side.first, side.second});
        }
  for (auto [range, loop] : llvm::zip_equal(ranges, cuts)) {
    if (ShapedType::isDynamic(range))
      continue;
    llvm::sort(loop);
    loop.erase(llvm::unique(loop), loop.end());
  }
  return cuts;
}

int64_t partsOf(ArrayRef<SmallVector<int64_t>> cuts) {
  int64_t parts = 1;
  for (const auto &loop : cuts)
    parts *= int64_t(loop.size()) - 1;
  return parts;
}

bool isWorthwhile(linalg::GenericOp op, const DenseMap<Value, const Assembled *> &assembled) {
  int64_t parts = partsOf(cutsOf(op, assembled)), elements = 1;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (int64_t range : ranges)
    elements *= range;
  return parts == 1 ||
         (!ShapedType::isDynamicShape(ranges) && parts <= mostParts && elements >= parts * elementsOfPart &&
          parts * int64_t(op.getBody()->getOperations().size()) <= mostOperations);
}

/// The piece that contains a part of a temporary; null if nothing was written there.
const Piece *pieceOf(const Assembled &found, const Box &part) {
  for (const Piece &piece : llvm::reverse(found.pieces))
    if (contains(piece.box, part))
      return &piece;
  return nullptr;
}

/// The view of a buffer at a box. The buffer starts at `origin` of the box.
Value viewAt(OpBuilder &builder, Location loc, Value buffer, const Box &box, const Box *origin = nullptr) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> offsets, sizes, strides(box.size(), 1);
  for (auto [d, side] : llvm::enumerate(box)) {
    offsets.push_back(side.first - (origin ? (*origin)[d].first : 0));
    sizes.push_back(side.second - side.first);
  }
  if (ArrayRef(sizes) == type.getShape())
    return buffer;
  return memref::SubViewOp::create(builder, loc, buffer, offsets, sizes, strides);
}

/// Emits the op on one part of its loops, before it.
void emitPart(OpBuilder &builder, linalg::GenericOp op, const Box &part,
              const DenseMap<Value, const Assembled *> &assembled) {
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Value value = operand.get();
    if (isa<MemRefType>(value.getType())) {
      Box box = boxOfOperand(map, part);
      if (const Assembled *found = assembled.lookup(value)) {
        const Piece &piece = *pieceOf(*found, box);
        value = piece.source;
        if (isa<MemRefType>(value.getType()))
          value = viewAt(builder, loc, value, box, &piece.box);
        else
          map = AffineMap::get(op.getNumLoops(), 0, builder.getContext());
      } else if (llvm::none_of(box, [](auto side) { return ShapedType::isDynamic(side.second); })) {
        value = viewAt(builder, loc, value, box); // else it is the only part
      }
    }
    operands.push_back(value);
    maps.push_back(map);
  }
  auto copy = cast<linalg::GenericOp>(builder.clone(*op));
  copy->setOperands(operands);
  copy.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  OpBuilder::InsertionGuard guard(builder);
  for (auto index : llvm::make_early_inc_range(copy.getBody()->getOps<linalg::IndexOp>())) {
    int64_t first = part[index.getDim()].first;
    if (first == 0)
      continue;
    builder.setInsertionPointAfter(index);
    Value offset = arith::ConstantIndexOp::create(builder, loc, first);
    auto sum = arith::AddIOp::create(builder, loc, index, offset);
    index.getResult().replaceAllUsesExcept(sum, sum);
  }
}

void split(linalg::GenericOp op, const DenseMap<Value, const Assembled *> &assembled) {
  SmallVector<SmallVector<int64_t>> cuts = cutsOf(op, assembled);
  OpBuilder builder(op);
  for (int64_t number = 0, count = partsOf(cuts); number < count; ++number) {
    Box part;
    int64_t rest = number;
    for (const auto &loop : cuts) {
      int64_t at = rest % int64_t(loop.size() - 1);
      rest /= int64_t(loop.size() - 1);
      part.push_back({loop[at], loop[at + 1]});
    }
    emitPart(builder, op, part, assembled);
  }
  op.erase();
}

/// Whether every part of the temporary that a reader needs was written.
bool isCovered(linalg::GenericOp op, const Assembled &found, const DenseMap<Value, const Assembled *> &assembled) {
  SmallVector<SmallVector<int64_t>> cuts = cutsOf(op, assembled);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (operand->get() != found.buffer)
      continue;
    SmallVector<AffineExpr> exprs(op.getMatchingIndexingMap(operand).getResults());
    int64_t count = 1;
    for (AffineExpr expr : exprs)
      count *= int64_t(cuts[cast<AffineDimExpr>(expr).getPosition()].size()) - 1;
    for (int64_t number = 0; number < count; ++number) {
      Box part;
      int64_t rest = number;
      for (AffineExpr expr : exprs) {
        const auto &loop = cuts[cast<AffineDimExpr>(expr).getPosition()];
        int64_t at = rest % int64_t(loop.size() - 1);
        rest /= int64_t(loop.size() - 1);
        part.push_back({loop[at], loop[at + 1]});
      }
      if (!pieceOf(found, part))
        return false;
    }
  }
  return true;
}

/// Forwards temporaries to their readers, as many at once as possible: rotations both ways along both axes divide their
/// reader into nine.
void forward(SmallVector<Assembled> candidates) {
  DenseMap<Value, const Assembled *> assembled;
  for (const Assembled &found : candidates)
    assembled[found.buffer] = &found;
  // If one reader still needs a temporary, all its readers keep it.
  auto isRefused = [&](const Assembled &found) {
    return llvm::any_of(found.readers, [&](linalg::GenericOp reader) {
      return !isWorthwhile(reader, assembled) || !isCovered(reader, found, assembled);
    });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Assembled &found : llvm::reverse(candidates))
      if (assembled.contains(found.buffer) && isRefused(found))
        changed |= assembled.erase(found.buffer);
  }
  llvm::SetVector<Operation *> readers;
  for (const Assembled &found : candidates)
    if (assembled.contains(found.buffer))
      readers.insert(found.readers.begin(), found.readers.end());
  for (Operation *reader : readers)
    split(cast<linalg::GenericOp>(reader), assembled);
  for (Assembled &found : candidates) {
    if (!assembled.contains(found.buffer))
      continue;
    for (const Piece &piece : found.pieces)
      piece.write->erase();
    for (Operation *view : llvm::make_early_inc_range(found.buffer.getUsers()))
      view->erase();
    found.buffer.getDefiningOp()->erase();
  }
}

struct ForwardCopies : impl::ForwardCopiesBase<ForwardCopies> {
  void runOnOperation() override {
    SmallVector<Assembled> candidates;
    getOperation().walk([&](memref::AllocOp alloc) {
      if (std::optional<Assembled> found = analyze(alloc); found && isUnchanged(*found))
        candidates.push_back(std::move(*found));
    });
    // The source of one may be another temporary, which would be erased. The next round forwards it.
    DenseSet<Value> sources;
    for (const Assembled &found : candidates)
      for (const Piece &piece : found.pieces)
        sources.insert(viewedBuffer(piece.source));
    llvm::erase_if(candidates, [&](Assembled &found) { return sources.contains(found.buffer); });
    if (!candidates.empty())
      forward(std::move(candidates));
  }
};

} // namespace
} // namespace mlir::array
