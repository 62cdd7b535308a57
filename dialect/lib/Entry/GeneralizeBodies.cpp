// Part of array-check-input: tensor.generate, tensor.pad, linalg.map and similar ops in modules from files become
// linalg.generic, which the checks of indices and of sizes support.
#include "Guards.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::array {
namespace {

/// Computes every element by the body, whose arguments are the indices.
Value generate(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, Type element, Region &region) {
  Value init = tensor::EmptyOp::create(b, loc, sizes, element);
  SmallVector<utils::IteratorType> iterators(sizes.size(), utils::IteratorType::parallel);
  AffineMap map = b.getMultiDimIdentityMap(sizes.size());
  auto generic = linalg::GenericOp::create(b, loc, init.getType(), ValueRange(), init, map, iterators);
  Block &body = region.front();
  auto yield = cast<tensor::YieldOp>(body.getTerminator());
  generic.getRegion().takeBody(region);
  OpBuilder inside(yield);
  linalg::YieldOp::create(inside, loc, yield.getValue());
  yield.erase();
  inside.setInsertionPointToStart(&body);
  for (BlockArgument index : body.getArguments())
    index.replaceAllUsesWith(linalg::IndexOp::create(inside, loc, index.getArgNumber()));
  body.eraseArguments(0, body.getNumArguments());
  body.addArgument(element, loc);
  return generic.getResult(0);
}

/// The sizes of a type, with these values for the dynamic ones.
SmallVector<OpFoldResult> sizesOf(OpBuilder &b, RankedTensorType type, ValueRange given) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    sizes.push_back(given.front());
    given = given.drop_front();
  }
  return sizes;
}

void replace(OpBuilder &b, Operation *op, Value made) {
  if (made.getType() != op->getResult(0).getType())
    made = tensor::CastOp::create(b, made.getLoc(), op->getResult(0).getType(), made);
  op->getResult(0).replaceAllUsesWith(made);
  op->erase();
}

void generalize(tensor::GenerateOp op) {
  OpBuilder b(op);
  RankedTensorType type = op.getType();
  SmallVector<OpFoldResult> sizes = sizesOf(b, type, op.getDynamicExtents());
  replace(b, op, generate(b, namedLocation(op), sizes, type.getElementType(), op.getBody()));
}

/// Fills the result with padding, and inserts the source. If the source does not fit, the check of the slice reports
/// it.
void generalize(tensor::PadOp op) {
  OpBuilder b(op);
  Location loc = namedLocation(op);
  op->setLoc(loc);
  RankedTensorType type = op.getResultType();
  SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad(), sizes, counts;
  auto value = [&](OpFoldResult size) { return getValueOrCreateConstantIndexOp(b, loc, size); };
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    counts.push_back(tensor::getMixedSize(b, loc, op.getSource(), dim));
    Value size = arith::AddIOp::create(b, loc, value(low[dim]), value(counts[dim]));
    size = arith::AddIOp::create(b, loc, size, value(high[dim]));
    if (type.isDynamicDim(dim)) {
      sizes.push_back(size);
      continue;
    }
    sizes.push_back(b.getIndexAttr(type.getDimSize(dim)));
    emitGuard(b, op, {PCRT_CHECK_EQUAL, -1, dim, {size, sizes.back()}});
  }
  Value padding = generate(b, loc, sizes, type.getElementType(), op.getRegion());
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  replace(b, op, tensor::InsertSliceOp::create(b, loc, op.getSource(), padding, low, counts, strides));
}

/// Whether the op has an explicit body, and reads tensors.
bool hasBodyOfItsOwn(linalg::LinalgOp op) {
  return !isa<linalg::GenericOp>(op) &&
         op->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

} // namespace

LogicalResult generalizeBodies(ModuleOp module) {
  SmallVector<Operation *> found;
  module.walk([&](Operation *op) {
    auto linalg = dyn_cast<linalg::LinalgOp>(op);
    if (isa<tensor::GenerateOp, tensor::PadOp>(op) || (linalg && hasBodyOfItsOwn(linalg)))
      found.push_back(op);
  });
  IRRewriter rewriter(module.getContext());
  for (Operation *op : found) {
    if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
      generalize(generate);
    } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      generalize(pad);
    } else {
      rewriter.setInsertionPoint(op);
      if (failed(linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op))))
        return op->emitOpError("has a body that can't be checked: write it as linalg.generic");
    }
  }
  return success();
}

} // namespace mlir::array
