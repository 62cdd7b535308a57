// Producers of which another op reads slices (SliceProducers.h). In `lap[1:] - lap[:-1]`, one op could compute both
// slices of `lap` in place of a trip through memory. Each slice becomes an op of its own here, on slices of the
// operands, and array-fuse-elementwise fuses these ops into the reader.
#include "SliceProducers.h"
#include "array/Analysis/ScatterForm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {
namespace {

/// The maximum number of slices that are recomputed, and the maximum number of uses that are searched for an equal
/// slice.
constexpr size_t mostSlices = 32, mostUses = 64;

/// A slice with known offsets and sizes, strides of 1, and the rank of its source.
bool isPlain(tensor::ExtractSliceOp slice) {
  return slice.getType().getRank() == slice.getSourceType().getRank() && slice.getType().hasStaticShape() &&
         !llvm::is_contained(slice.getStaticOffsets(), ShapedType::kDynamic) &&
         llvm::all_of(slice.getStaticStrides(), [](int64_t stride) { return stride == 1; });
}

bool isSlice(Operation *op, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  return slice && isPlain(slice) && slice.getStaticOffsets() == offsets && slice.getStaticSizes() == sizes;
}

bool isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 && op->getNumResults() == 1 &&
         !op->hasAttr(kScatterAttr) && op.getRegionOutputArgs()[0].use_empty() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         llvm::all_of(op.getDpsInputOperands(),
                      [&](OpOperand *operand) {
                        AffineMap map = op.getMatchingIndexingMap(operand);
                        auto type = dyn_cast<RankedTensorType>(operand->get().getType());
                        return !type || (type.hasStaticShape() && map.isProjectedPermutation(true));
                      }) &&
         llvm::none_of(*op.getBody(), [](Operation &inner) {
           return isa<linalg::IndexOp, tensor::ExtractOp>(inner) || inner.getNumRegions() != 0;
         });
}

/// A slice of a tensor. Slices of slices become one, and equal slices are one operation: so an op that fuses several of
/// its readers has it as one operand.
Value sliceOf(RewriterBase &rewriter, Location loc, Value tensor, SmallVector<int64_t> offsets, ArrayRef<int64_t> sizes,
              Operation *reader) {
  if (cast<RankedTensorType>(tensor.getType()).getShape() == sizes)
    return tensor;
  while (auto outer = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    if (!isPlain(outer))
      break;
    for (auto [offset, first] : llvm::zip_equal(offsets, outer.getStaticOffsets()))
      offset += first;
    tensor = outer.getSource();
  }
  for (auto [number, user] : llvm::enumerate(tensor.getUsers())) {
    if (number == mostUses)
      break;
    if (isSlice(user, offsets, sizes) && user->getBlock() == reader->getBlock() && user->isBeforeInBlock(reader))
      return user->getResult(0);
  }
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(tensor);
  auto indices = [&](ArrayRef<int64_t> numbers) { return getAsIndexOpFoldResult(rewriter.getContext(), numbers); };
  SmallVector<int64_t> strides(sizes.size(), 1);
  return tensor::ExtractSliceOp::create(rewriter, loc, tensor, indices(offsets), indices(sizes), indices(strides));
}

/// The op on a part of its loops.
Value computeSlice(RewriterBase &rewriter, linalg::GenericOp op, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  SmallVector<Value> operands;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    if (!type) {
      operands.push_back(operand->get());
      continue;
    }
    SmallVector<int64_t> first, size;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      first.push_back(dim ? offsets[dim.getPosition()] : 0);
      size.push_back(dim ? sizes[dim.getPosition()] : 1);
    }
    operands.push_back(sliceOf(rewriter, op.getLoc(), operand->get(), first, size, op));
  }
  auto type = cast<RankedTensorType>(op.getResult(0).getType()).clone(sizes);
  operands.push_back(tensor::EmptyOp::create(rewriter, op.getLoc(), sizes, type.getElementType()));
  return clone(rewriter, op, TypeRange(type), operands)->getResult(0);
}

} // namespace

std::optional<ReadSlices> slicesOf(linalg::GenericOp producer) {
  if (!isElementwise(producer) || producer->use_empty())
    return std::nullopt;
  ReadSlices found{nullptr, 0};
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Operation *user : producer->getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !isPlain(slice) || slices.size() > mostSlices)
      return std::nullopt;
    if (slice->use_empty())
      continue;
    for (OpOperand &use : slice->getUses()) {
      auto reader = dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!reader || (found.reader && found.reader != reader) || !reader.isDpsInput(&use) ||
          reader->getBlock() != producer->getBlock())
        return std::nullopt;
      found.reader = reader;
    }
    if (llvm::none_of(slices, [&](tensor::ExtractSliceOp other) {
          return isSlice(slice, other.getStaticOffsets(), other.getStaticSizes());
        }))
      slices.push_back(slice);
  }
  found.different = int64_t(slices.size());
  return found.reader ? std::optional(found) : std::nullopt;
}

void computeSlices(RewriterBase &rewriter, linalg::GenericOp producer) {
  SmallVector<std::pair<tensor::ExtractSliceOp, Value>> computed;
  rewriter.setInsertionPoint(producer);
  for (Operation *user : llvm::make_early_inc_range(producer->getUsers())) {
    auto slice = cast<tensor::ExtractSliceOp>(user);
    if (slice->use_empty())
      continue;
    auto same = llvm::find_if(computed, [&](auto &known) {
      return isSlice(slice, known.first.getStaticOffsets(), known.first.getStaticSizes());
    });
    if (same == computed.end()) {
      computed.emplace_back(slice, computeSlice(rewriter, producer, slice.getStaticOffsets(), slice.getStaticSizes()));
      same = std::prev(computed.end());
    }
    rewriter.replaceAllUsesWith(slice, same->second);
  }
  for (Operation *user : llvm::make_early_inc_range(producer->getUsers()))
    rewriter.eraseOp(user);
  rewriter.eraseOp(producer);
}

} // namespace mlir::array
