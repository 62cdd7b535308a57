// Reads contractions as products of matrices (ContractionProduct.h).
#include "ContractionProduct.h"
#include "ContractionForm.h"

namespace mlir::array {

FailureOr<Operand> readOperand(linalg::LinalgOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Operand result{operand.get(), SmallVector<int64_t>(op.getNumLoops(), 0)};
  SmallVector<int64_t> strides;
  if (!type || !type.hasStaticShape() || !map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      failed(type.getStridesAndOffset(strides, result.offset)) || llvm::any_of(strides, ShapedType::isDynamic))
    return failure();
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      result.strides[dim.getPosition()] = stride;
  return result;
}

/// Folds the inner ones of `loops` into one dimension, as long as each operand steps through them with one stride, and
/// leaves the outer ones in `rest`. `loops` are ordered from the outermost to the innermost.
static Dimension coalesce(SmallVector<Dimension> loops, SmallVector<Dimension> &rest, size_t operands) {
  Dimension result{1, SmallVector<int64_t, 4>(operands, 0)};
  while (!loops.empty()) {
    Dimension &outer = loops.back();
    bool first = result.size == 1;
    for (size_t i = 0; !first && i < operands; ++i)
      if (outer.strides[i] != result.strides[i] * result.size) {
        rest.append(loops);
        return result;
      }
    if (first)
      result = outer;
    else
      result.size *= outer.size;
    loops.pop_back();
  }
  return result;
}

FailureOr<Product> readProduct(linalg::LinalgOp op, ArrayRef<Operand> more) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureBufferSemantics())
    return failure();
  std::optional<std::pair<bool, bool>> bytes = matchBytes(op.getBlock());
  bool isBFloat16 = isBFloat16MultiplyAdd(op.getBlock());
  if (!bytes && !isBFloat16 && !isMultiplyAdd(op.getBlock()))
    return failure();
  FailureOr<Operand> a = readOperand(op, *op.getDpsInputOperand(0));
  FailureOr<Operand> b = readOperand(op, *op.getDpsInputOperand(1));
  FailureOr<Operand> c = readOperand(op, *op.getDpsInitOperand(0));
  if (failed(a) || failed(b) || failed(c))
    return failure();
  Product product{*a, *b, *c, SmallVector<Operand>(more), {}, {}, {}, {}, {}};
  product.narrow = bytes ? Product::Bytes : isBFloat16 ? Product::BFloat16 : Product::None;
  if (bytes)
    std::tie(product.a.isSigned, product.b.isSigned) = *bytes;
  SmallVector<Dimension> rows, columns, reductions;
  size_t operands = 3 + more.size();
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (size == 1)
      continue;
    bool inA = a->strides[loop] != 0, inB = b->strides[loop] != 0, inC = c->strides[loop] != 0;
    Dimension dimension{size, {a->strides[loop], b->strides[loop], c->strides[loop]}};
    if (size == 0 || ShapedType::isDynamic(size) || inA + inB + inC < 2)
      return failure();
    for (const Operand &operand : more)
      dimension.strides.push_back(operand.strides[loop]);
    (inA && inB && inC ? product.outer : !inC ? reductions : inA ? rows : columns).push_back(dimension);
  }
  // The order of the loops means nothing: the innermost one of a group is the one with the smallest stride in c (or a).
  auto byStride = [](int operand) {
    return [operand](const Dimension &x, const Dimension &y) { return x.strides[operand] > y.strides[operand]; };
  };
  llvm::stable_sort(rows, byStride(2));
  llvm::stable_sort(columns, byStride(2));
  llvm::stable_sort(reductions, byStride(0));
  product.m = coalesce(rows, product.outer, operands);
  product.n = coalesce(columns, product.outer, operands);
  product.k = coalesce(reductions, product.outerReductions, operands);
  return product;
}

LogicalResult orient(Product &product) {
  if (product.n.strides[2] == 1)
    return success();
  if (product.m.strides[2] != 1)
    return failure();
  product.isSwapped = !product.isSwapped;
  std::swap(product.a, product.b);
  std::swap(product.m, product.n);
  auto swapStrides = [](Dimension &dimension) { std::swap(dimension.strides[0], dimension.strides[1]); };
  for (Dimension *dimension : {&product.m, &product.n, &product.k})
    swapStrides(*dimension);
  llvm::for_each(product.outer, swapStrides);
  llvm::for_each(product.outerReductions, swapStrides);
  return success();
}

} // namespace mlir::array
