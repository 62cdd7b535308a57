// Reads operations as matmuls (GpuMatmulForm.h).
#include "GpuMatmulForm.h"
#include "Analysis/ContractionForm.h"

#include "mlir/Interfaces/CastInterfaces.h"

namespace mlir::array {

int64_t sizeOf(const GpuMatmulDims &dims) {
  int64_t size = 1;
  for (const GpuMatmulDim &dim : dims)
    size *= dim.size;
  return size;
}

//===-- Operands ------------------------------------------------------------------------------------------------===//

/// The coefficients of a linear expression by dimension; fails for any other one. Constants go to `start`.
static LogicalResult readLinear(AffineExpr expr, int64_t factor, MutableArrayRef<int64_t> steps, int64_t &start) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    steps[dim.getPosition()] += factor;
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    start += factor * constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(succeeded(readLinear(binary.getLHS(), factor, steps, start)) &&
                   succeeded(readLinear(binary.getRHS(), factor, steps, start)));
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !constant)
    return failure();
  return readLinear(binary.getLHS(), factor * constant.getValue(), steps, start);
}

static FailureOr<GpuMatmulOperand> readOperand(linalg::LinalgOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  GpuMatmulOperand result{operand.get(), SmallVector<int64_t>(op.getNumLoops(), 0)};
  SmallVector<int64_t> strides;
  if (!type || !type.hasStaticShape() || failed(type.getStridesAndOffset(strides, result.start)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return failure();
  int64_t added = 0; // by constants in the map
  for (auto [expr, stride] : llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(), strides))
    if (failed(readLinear(expr, stride, result.steps, added)))
      return failure();
  if (added != 0 && ShapedType::isDynamic(result.start))
    return failure();
  if (added != 0)
    result.start += added;
  for (auto [size, step] : llvm::zip_equal(op.getStaticLoopRanges(), result.steps))
    result.extent += (size - 1) * step;
  return result;
}

/// Replaces the result by a dense buffer with a dimension for splits.
static void readPartial(GpuMatmul &product, Value partial) {
  auto type = cast<MemRefType>(partial.getType());
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  GpuMatmulOperand &result = product.operands[GpuMatmul::Result];
  result = {partial, SmallVector<int64_t>(product.op.getNumLoops(), 0), 0, type.getNumElements()};
  product.splitStep = strides.front();
  AffineMap stored = product.op.getMatchingIndexingMap(product.op.getDpsInitOperand(0));
  for (auto [expr, stride] : llvm::zip_equal(stored.getResults(), ArrayRef(strides).drop_front()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      result.steps[loop.getPosition()] = stride;
}

/// The inputs and the output of the epilogue, by the matmul's loops.
static LogicalResult readEpilogue(GpuMatmul &product) {
  linalg::GenericOp epilogue = product.epilogue;
  OpOperand *sums = product.op.getDpsInitOperand(0);
  AffineMap stored = product.op.getMatchingIndexingMap(sums), read;
  for (OpOperand *input : epilogue.getDpsInputOperands())
    if (input->get() == sums->get())
      read = epilogue.getMatchingIndexingMap(input);
  auto translate = [&](OpOperand &operand) -> FailureOr<GpuMatmulOperand> {
    FailureOr<GpuMatmulOperand> own = readOperand(epilogue, operand);
    if (failed(own))
      return failure();
    SmallVector<int64_t> steps(product.op.getNumLoops(), 0);
    for (auto [inSums, ofEpilogue] : llvm::zip_equal(stored.getResults(), read.getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(inSums))
        steps[loop.getPosition()] = own->steps[cast<AffineDimExpr>(ofEpilogue).getPosition()];
    own->steps = std::move(steps);
    return own;
  };
  FailureOr<GpuMatmulOperand> result = translate(*epilogue.getDpsInitOperand(0));
  if (failed(result))
    return failure();
  product.operands[GpuMatmul::Result] = *result;
  for (OpOperand *input : epilogue.getDpsInputOperands()) {
    if (input->get() == sums->get() || !isa<MemRefType>(input->get().getType()))
      continue;
    FailureOr<GpuMatmulOperand> operand = translate(*input);
    if (failed(operand))
      return failure();
    product.operands.push_back(*operand);
  }
  return success();
}

/// The body argument from which a factor is cast.
static BlockArgument readFactor(Value factor, SmallVectorImpl<Operation *> &casts) {
  while (Operation *op = factor.getDefiningOp()) {
    if (!isa<CastOpInterface>(op) || op->getNumOperands() != 1)
      return {};
    casts.insert(casts.begin(), op);
    factor = op->getOperand(0);
  }
  return cast<BlockArgument>(factor);
}

static LogicalResult readBody(GpuMatmul &product) {
  auto factors = multipliedFactors(product.op.getBlock());
  if (!factors)
    return failure();
  for (Value factor : {factors->first, factors->second}) {
    SmallVector<Operation *> casts;
    BlockArgument argument = readFactor(factor, casts);
    if (!argument || argument.getArgNumber() > 1 || product.factor[argument.getArgNumber()])
      return failure();
    product.factor[argument.getArgNumber()] = factor.getType();
    product.casts[argument.getArgNumber()].assign(casts);
  }
  product.sum = product.op.getBlock()->getArgument(2).getType();
  return success(product.factor[0] == product.sum && product.factor[1] == product.sum);
}

//===-- Dimensions ----------------------------------------------------------------------------------------------===//

/// Orders loops by decreasing steps of an operand, and joins loops that have compatible steps in every operand.
static void join(GpuMatmulDims &dims, unsigned operand) {
  llvm::stable_sort(dims,
                    [&](const GpuMatmulDim &x, const GpuMatmulDim &y) { return x.steps[operand] > y.steps[operand]; });
  GpuMatmulDims joined;
  for (GpuMatmulDim &dim : dims) {
    bool continues =
        !joined.empty() && llvm::all_of_zip(joined.back().steps, dim.steps,
                                            [&](int64_t outer, int64_t step) { return outer == step * dim.size; });
    if (!continues) {
      joined.push_back(dim);
      continue;
    }
    joined.back() = {joined.back().size * dim.size, dim.steps};
  }
  dims = std::move(joined);
}

static LogicalResult readDims(GpuMatmul &product, const GpuMatmulOperand &sums) {
  const auto &operands = product.operands;
  for (auto [loop, size] : llvm::enumerate(product.op.getStaticLoopRanges())) {
    if (size == 1)
      continue;
    GpuMatmulDim dim{size, {}};
    for (const GpuMatmulOperand &operand : operands)
      dim.steps.push_back(operand.steps[loop]);
    bool inLeft = dim.steps[GpuMatmul::Left] != 0, inRight = dim.steps[GpuMatmul::Right] != 0,
         inResult = sums.steps[loop] != 0;
    if (size == 0 || inLeft + inRight + inResult < 2)
      return failure();
    (!inResult ? product.k : inLeft && inRight ? product.batch : inLeft ? product.m : product.n).push_back(dim);
  }
  join(product.batch, GpuMatmul::Result);
  join(product.m, GpuMatmul::Result);
  join(product.n, GpuMatmul::Result);
  join(product.k, GpuMatmul::Left);
  return success();
}

/// Computes the transposed matmul if that has columns along the result's memory.
static void orient(GpuMatmul &product) {
  auto isAlong = [](const GpuMatmulDims &dims) { return !dims.empty() && dims.back().steps[GpuMatmul::Result] == 1; };
  if (isAlong(product.n) || !isAlong(product.m))
    return;
  std::swap(product.m, product.n);
  std::swap(product.operands[GpuMatmul::Left], product.operands[GpuMatmul::Right]);
  std::swap(product.factor[0], product.factor[1]);
  std::swap(product.casts[0], product.casts[1]);
  for (GpuMatmulDims *dims : {&product.batch, &product.m, &product.n, &product.k})
    for (GpuMatmulDim &dim : *dims)
      std::swap(dim.steps[GpuMatmul::Left], dim.steps[GpuMatmul::Right]);
}

FailureOr<GpuMatmul> readGpuProduct(linalg::LinalgOp op, linalg::GenericOp epilogue, Value partial) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureBufferSemantics() || op.hasDynamicShape() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isProjectedPermutation(/*allowZeroInResults=*/true))
    return failure();
  GpuMatmul product;
  product.op = op;
  product.epilogue = epilogue;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<GpuMatmulOperand> read = readOperand(op, operand);
    if (failed(read))
      return failure();
    product.operands.push_back(*read);
  }
  GpuMatmulOperand sums = product.operands[GpuMatmul::Result];
  if (partial)
    readPartial(product, partial);
  if (failed(readBody(product)) || (epilogue && failed(readEpilogue(product))) || failed(readDims(product, sums)))
    return failure();
  orient(product);
  return product;
}

//===-- Vectors -------------------------------------------------------------------------------------------------===//

int64_t GpuMatmul::widthAlong(unsigned operand, const GpuMatmulDims &along) const {
  constexpr int64_t widestBytes = 16;
  Type element = operands[operand].element();
  if (along.empty() || along.back().steps[operand] != 1 || ShapedType::isDynamic(operands[operand].start) ||
      !element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8)
    return 1;
  int64_t width = widestBytes * 8 / element.getIntOrFloatBitWidth();
  while (width > 1 && !isAligned(operand, along, width))
    width /= 2;
  return width;
}

bool GpuMatmul::isAligned(unsigned operand, const GpuMatmulDims &along, int64_t width) const {
  if (along.back().size % width != 0 || operands[operand].start % width != 0)
    return false;
  for (const GpuMatmulDims *dims : {&batch, &m, &n, &k})
    for (const GpuMatmulDim &dim : *dims)
      if (&dim != &along.back() && dim.steps[operand] % width != 0)
        return false;
  return true;
}

} // namespace mlir::array
