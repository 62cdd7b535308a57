// Reads contractions as matmuls (MatmulForm.h).
#include "MatmulForm.h"
#include "ContractionForm.h"
#include "MatmulBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::array {

std::optional<BoundedSize> sizeOfBuffer(Value buffer, unsigned dim) {
  int64_t number = cast<MemRefType>(buffer.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(number))
    return number;
  Operation *parent = buffer.getParentBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  OpFoldResult size = SymbolicSizes(function ? function : parent->getParentOfType<func::FuncOp>()).sizeOf(buffer, dim);
  return size ? std::optional(BoundedSize::of(size)) : std::nullopt;
}

std::optional<BoundedSize> elementsOf(Value buffer) {
  BoundedSize elements = 1;
  for (int64_t dim = 0, rank = cast<MemRefType>(buffer.getType()).getRank(); dim < rank; ++dim) {
    std::optional<BoundedSize> size = sizeOfBuffer(buffer, dim);
    if (!size)
      return std::nullopt;
    elements = elements * *size;
  }
  return elements;
}

memref::AllocOp allocateOrdered(OpBuilder &b, Value buffer, ArrayRef<int64_t> order) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (int64_t dim : order) {
    shape.push_back(type.getDimSize(dim));
    ImplicitLocOpBuilder at(buffer.getLoc(), b);
    if (type.isDynamicDim(dim))
      sizes.push_back(MatmulBuilder(at).index(*sizeOfBuffer(buffer, dim)));
  }
  return memref::AllocOp::create(b, buffer.getLoc(), MemRefType::get(shape, type.getElementType()), sizes,
                                 b.getI64IntegerAttr(64));
}

/// The contents of a buffer's descriptor, read once in a block.
static memref::ExtractStridedMetadataOp metadataOf(linalg::LinalgOp op, Value buffer) {
  for (Operation *user : buffer.getUsers())
    if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(user))
      if (metadata->getBlock() == op->getBlock() && metadata->isBeforeInBlock(op))
        return metadata;
  OpBuilder b(op);
  return memref::ExtractStridedMetadataOp::create(b, op.getLoc(), buffer);
}

/// The strides of a buffer: numbers, products of sizes, or values of its descriptor.
static FailureOr<SmallVector<BoundedSize>> stridesOf(linalg::LinalgOp op, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> numbers;
  int64_t offset;
  if (failed(type.getStridesAndOffset(numbers, offset)))
    return failure();
  SmallVector<BoundedSize> strides(numbers.begin(), numbers.end());
  if (llvm::none_of(numbers, ShapedType::isDynamic))
    return strides;
  if (type.getLayout().isIdentity()) {
    for (int64_t i = type.getRank() - 1; i-- > 0;) {
      std::optional<BoundedSize> size = sizeOfBuffer(buffer, i + 1);
      if (!size)
        return failure();
      strides[i] = strides[i + 1] * *size;
    }
    return strides;
  }
  // A slice with unit steps has the strides of its source.
  auto slice = buffer.getDefiningOp<memref::SubViewOp>();
  if (slice && llvm::all_of(slice.getStaticStrides(), [](int64_t stride) { return stride == 1; })) {
    FailureOr<SmallVector<BoundedSize>> whole = stridesOf(op, slice.getSource());
    if (failed(whole))
      return failure();
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    strides.clear();
    for (auto [i, stride] : llvm::enumerate(*whole))
      if (!dropped.test(i))
        strides.push_back(stride);
    return strides;
  }
  for (auto [i, number] : llvm::enumerate(numbers))
    if (ShapedType::isDynamic(number)) {
      SizeFacts unknown;
      unknown.min = std::numeric_limits<int64_t>::min();
      unknown.expected = 1024;
      strides[i] = BoundedSize(metadataOf(op, buffer).getStrides()[i], unknown);
    }
  return strides;
}

FailureOr<Operand> readOperand(linalg::LinalgOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Operand result{operand.get(), SmallVector<BoundedSize>(op.getNumLoops(), 0)};
  SmallVector<int64_t> numbers;
  if (!type || !map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      failed(type.getStridesAndOffset(numbers, result.offset)))
    return failure();
  FailureOr<SmallVector<BoundedSize>> strides = stridesOf(op, operand.get());
  if (failed(strides))
    return failure();
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), *strides))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      result.strides[dim.getPosition()] = stride;
  return result;
}

FailureOr<Operand> readOperandBeside(linalg::GenericOp elementwise, OpOperand &operand, linalg::LinalgOp product,
                                     OpOperand &joint) {
  FailureOr<Operand> read = readOperand(elementwise, operand);
  if (failed(read))
    return failure();
  SmallVector<BoundedSize> strides(product.getNumLoops(), 0);
  for (auto [expr, stride] : llvm::zip_equal(product.getMatchingIndexingMap(&joint).getResults(), read->strides))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      strides[dim.getPosition()] = stride;
  read->strides = std::move(strides);
  return read;
}

std::optional<BoundedSize> sizeOfLoop(linalg::LinalgOp op, unsigned loop) {
  std::optional<std::pair<Value, unsigned>> dynamic;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    for (auto [i, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (expr != getAffineDimExpr(loop, op.getContext()))
        continue;
      if (!type.isDynamicDim(i))
        return type.getDimSize(i);
      if (!dynamic)
        dynamic = {operand.get(), i};
    }
  }
  return dynamic ? sizeOfBuffer(dynamic->first, dynamic->second) : std::nullopt;
}

/// Folds the inner ones of `loops` into one dimension, as long as each operand steps through them with one stride, and
/// leaves the outer ones in `rest`. `loops` are ordered from the outermost to the innermost.
static Dimension coalesce(SmallVector<Dimension> loops, SmallVector<Dimension> &rest, size_t operands) {
  Dimension result{1, SmallVector<BoundedSize>(operands, 0)};
  while (!loops.empty()) {
    Dimension &outer = loops.back();
    bool first = result.size.isStatic(1);
    for (size_t i = 0; !first && i < operands; ++i)
      if (outer.strides[i] != result.strides[i] * result.size) {
        rest.append(loops);
        return result;
      }
    if (first)
      result = outer;
    else
      result.size = result.size * outer.size;
    loops.pop_back();
  }
  return result;
}

FailureOr<MatmulForm> readMatmul(linalg::LinalgOp op, ArrayRef<Operand> more) {
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
  MatmulForm product{*a, *b, *c, SmallVector<Operand>(more), {}, {}, {}, {}, {}};
  product.narrow = bytes ? MatmulForm::Bytes : isBFloat16 ? MatmulForm::BFloat16 : MatmulForm::None;
  if (bytes)
    std::tie(product.a.isSigned, product.b.isSigned) = *bytes;
  SmallVector<Dimension> rows, columns, reductions;
  size_t operands = 3 + more.size();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    std::optional<BoundedSize> size = sizeOfLoop(op, loop);
    if (!size)
      return failure();
    if (size->isStatic(1))
      continue;
    bool inA = a->strides[loop] != 0, inB = b->strides[loop] != 0, inC = c->strides[loop] != 0;
    Dimension dimension{*size, {a->strides[loop], b->strides[loop], c->strides[loop]}};
    if (size->isStatic(0) || inA + inB + inC < 2)
      return failure();
    for (const Operand &operand : more)
      dimension.strides.push_back(operand.strides[loop]);
    (inA && inB && inC ? product.outer : !inC ? reductions : inA ? rows : columns).push_back(dimension);
  }
  // The order of the loops has no meaning. The innermost loop of a group is the one with the smallest stride in c (or
  // a).
  auto byStride = [](int operand) {
    return [operand](const Dimension &x, const Dimension &y) { return x.strides[operand].exceeds(y.strides[operand]); };
  };
  llvm::stable_sort(rows, byStride(2));
  llvm::stable_sort(columns, byStride(2));
  llvm::stable_sort(reductions, byStride(0));
  product.m = coalesce(rows, product.outer, operands);
  product.n = coalesce(columns, product.outer, operands);
  product.k = coalesce(reductions, product.outerReductions, operands);
  return product;
}

bool MatmulForm::maySumNothing() const {
  return k.size.least() <= 0 ||
         llvm::any_of(outerReductions, [](const Dimension &dimension) { return dimension.size.least() <= 0; });
}

LogicalResult orient(MatmulForm &product) {
  if (product.n.strides[2].isStatic(1))
    return success();
  if (!product.m.strides[2].isStatic(1))
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
