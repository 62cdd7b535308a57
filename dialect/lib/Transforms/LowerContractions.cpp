// array-lower-contractions: products of matrices on buffers become calls of the functions that Gemm.cpp builds. It
// comes after bufferization and before array-plan-memory, which gives the packing buffers their place; what it leaves
// alone is for array-linalg-to-loops.
#include "Gemm.h"
#include "array/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERCONTRACTIONS
#include "array/Transforms/Passes.h.inc"

namespace {

/// An operand of the contraction: its buffer, and its stride in each loop of the operation (0: the loop does not move
/// it).
struct Operand {
  Value buffer;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
};

/// Some loops of a contraction as one dimension of a matrix: a size, and a stride for each of a, b, c.
struct Dimension {
  int64_t size = 1;
  int64_t strides[3] = {0, 0, 0};
};

/// c[outer, m, n] += a[outer, m, k] * b[outer, k, n]: what is left over after m, n and k are loops around the product.
struct Product {
  Operand a, b, c;
  Dimension m, n, k;
  SmallVector<Dimension> outer;
  SmallVector<Dimension> outerReductions;
};

/// True for a body `yield(acc + lhs * rhs)` on f32 or f64, with the factors and the terms in either order.
bool isMultiplyAdd(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (body->getNumArguments() != 3 || !llvm::hasNItems(*body, 3))
    return false;
  Type type = body->getArgument(2).getType();
  if (!type.isF32() && !type.isF64())
    return false;
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  Value acc = body->getArgument(2);
  Value product = add.getLhs() == acc ? add.getRhs() : add.getRhs() == acc ? add.getLhs() : Value();
  auto mul = product ? product.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!mul)
    return false;
  Value lhs = body->getArgument(0), rhs = body->getArgument(1);
  return (mul.getLhs() == lhs && mul.getRhs() == rhs) || (mul.getLhs() == rhs && mul.getRhs() == lhs);
}

/// Reads an operand's strides by loop; fails where they are not known or its map is not a projected permutation.
FailureOr<Operand> readOperand(linalg::LinalgOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Operand result{operand.get(), SmallVector<int64_t>(op.getNumLoops(), 0)};
  SmallVector<int64_t> strides;
  if (!type || !type.hasStaticShape() || !map.isProjectedPermutation() ||
      failed(type.getStridesAndOffset(strides, result.offset)) || ShapedType::isDynamic(result.offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return failure();
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides))
    result.strides[cast<AffineDimExpr>(expr).getPosition()] = stride;
  return result;
}

/// Folds the inner ones of `loops` into one dimension, as long as each operand steps through them with one stride, and
/// leaves the outer ones in `rest`. `loops` are ordered from the outermost to the innermost.
Dimension coalesce(SmallVector<Dimension> loops, SmallVector<Dimension> &rest) {
  Dimension result;
  while (!loops.empty()) {
    Dimension &outer = loops.back();
    bool first = result.size == 1;
    for (int i = 0; !first && i < 3; ++i)
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

/// Takes the operation apart; fails where it is no contraction of two buffers of known layout.
FailureOr<Product> analyze(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureBufferSemantics() || !isMultiplyAdd(op))
    return failure();
  FailureOr<Operand> a = readOperand(op, *op.getDpsInputOperand(0));
  FailureOr<Operand> b = readOperand(op, *op.getDpsInputOperand(1));
  FailureOr<Operand> c = readOperand(op, *op.getDpsInitOperand(0));
  if (failed(a) || failed(b) || failed(c))
    return failure();
  Product product{*a, *b, *c, {}, {}, {}, {}, {}};
  SmallVector<Dimension> rows, columns, reductions;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (size == 1)
      continue;
    bool inA = a->strides[loop] != 0, inB = b->strides[loop] != 0, inC = c->strides[loop] != 0;
    Dimension dimension{size, {a->strides[loop], b->strides[loop], c->strides[loop]}};
    if (size == 0 || ShapedType::isDynamic(size) || inA + inB + inC < 2)
      return failure();
    (inA && inB && inC ? product.outer : !inC ? reductions : inA ? rows : columns).push_back(dimension);
  }
  // The order of the loops means nothing: the innermost one of a group is the one with the smallest stride in c (or a).
  auto byStride = [](int operand) {
    return [operand](const Dimension &x, const Dimension &y) { return x.strides[operand] > y.strides[operand]; };
  };
  llvm::stable_sort(rows, byStride(2));
  llvm::stable_sort(columns, byStride(2));
  llvm::stable_sort(reductions, byStride(0));
  product.m = coalesce(rows, product.outer);
  product.n = coalesce(columns, product.outer);
  product.k = coalesce(reductions, product.outerReductions);
  return product;
}

/// Makes n the dimension in which c has unit stride, by computing c^T = b^T * a^T where it is m.
LogicalResult orient(Product &product) {
  if (product.n.strides[2] == 1)
    return success();
  if (product.m.strides[2] != 1)
    return failure();
  std::swap(product.a, product.b);
  std::swap(product.m, product.n);
  auto swapStrides = [](Dimension &dimension) { std::swap(dimension.strides[0], dimension.strides[1]); };
  for (Dimension *dimension : {&product.m, &product.n, &product.k})
    swapStrides(*dimension);
  llvm::for_each(product.outer, swapStrides);
  llvm::for_each(product.outerReductions, swapStrides);
  return success();
}

/// The rule for what is worth a call. Fewer than 4 rows, columns or terms are a sum or an update of vectors and bound
/// by memory; a product of 16x16x16 takes about as long as the call.
bool isWorthwhile(const Product &product) {
  int64_t m = product.m.size, n = product.n.size, k = product.k.size;
  return m >= 4 && n >= 4 && k >= 4 && m * n * k >= 16 * 16 * 16;
}

/// How b reaches the tile. Reading it in place wins until rows are a page apart, where they compete for the same sets
/// of the cache; with few rows of a, packing never pays.
GemmPacking choosePacking(const Product &product, const GemmTile &tile, Type element) {
  constexpr int64_t pageBytes = 4096, fewRows = 64;
  int64_t rowBytes = product.k.strides[1] * element.getIntOrFloatBitWidth() / 8;
  if (product.n.strides[1] == 1) {
    bool inPlace = product.n.size % tile.columns() == 0 && (rowBytes < pageBytes || product.m.size <= fewRows);
    return inPlace ? GemmPacking::InPlace : GemmPacking::Rows;
  }
  bool hasSquares = product.k.strides[1] == 1 && product.k.size >= gemmSquareSide(tile);
  return hasSquares ? GemmPacking::Columns : GemmPacking::Strided;
}

//===--- Zero fills -----------------------------------------------------------------------------------------------===//

Value rootBuffer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      value = view.getViewSource();
    else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
      value = metadata.getSource();
    else
      break;
  }
  return value;
}

/// Distinct allocations and arguments never overlap: the entry's buffers are distinct by contract.
bool mayOverlap(Value x, Value y) {
  auto isKnown = [](Value root) { return isa<BlockArgument>(root) || root.getDefiningOp<memref::AllocOp>(); };
  Value rootX = rootBuffer(x), rootY = rootBuffer(y);
  return rootX == rootY || !isKnown(rootX) || !isKnown(rootY);
}

/// The fill with zeros that `c` holds when `op` begins, if that can be seen.
linalg::FillOp findZeroFill(linalg::LinalgOp op, Value c) {
  for (Operation *previous = op->getPrevNode(); previous; previous = previous->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(previous); fill && fill.getOutputs()[0] == c)
      return matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ? fill : linalg::FillOp();
    if (isMemoryEffectFree(previous) || isa<memref::AllocOp>(previous))
      continue;
    bool known = isa<linalg::LinalgOp, memref::CopyOp, func::CallOp>(previous);
    if (!known || llvm::any_of(previous->getOperands(), [&](Value operand) {
          return isa<MemRefType>(operand.getType()) && mayOverlap(operand, c);
        }))
      return {};
  }
  return {};
}

//===--- The call -------------------------------------------------------------------------------------------------===//

class CallEmitter {
public:
  CallEmitter(linalg::LinalgOp op, const Product &product, unsigned vectorBits)
      : b(op->getLoc(), op), op(op), product(product), element(getElementTypeOrSelf(product.c.buffer.getType())),
        tile(chooseGemmTile(element, vectorBits, product.n.size)), packing(choosePacking(product, tile, element)) {}

  void emit() {
    func::FuncOp function = getGemmFunction(op->getParentOfType<ModuleOp>(), element, tile, packing);
    linalg::FillOp fill = findZeroFill(op, product.c.buffer);
    Value pack = packBuffer();
    Value accumulate = arith::ConstantIntOp::create(b, fill ? 0 : 1, 1);
    SmallVector<Value> offsets;
    for (const Operand *operand : {&product.a, &product.b, &product.c})
      offsets.push_back(index(operand->offset));
    auto enter = [&](const Dimension &dimension) {
      auto loop = scf::ForOp::create(b, index(0), index(dimension.size), index(1));
      b.setInsertionPointToStart(loop.getBody());
      for (int i = 0; i < 3; ++i)
        offsets[i] = advance(offsets[i], loop.getInductionVar(), dimension.strides[i]);
      return loop.getInductionVar();
    };
    for (const Dimension &dimension : product.outer)
      enter(dimension);
    for (const Dimension &dimension : product.outerReductions) {
      Value started = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, enter(dimension), index(0));
      accumulate = arith::OrIOp::create(b, accumulate, started);
    }
    bool transposed = packing == GemmPacking::Columns;
    SmallVector<Value> operands{
        matrix(0, product.a, offsets[0], product.m, product.k, false),
        transposed ? matrix(1, product.b, offsets[1], product.n, product.k, true)
                   : matrix(1, product.b, offsets[1], product.k, product.n, packing != GemmPacking::Strided),
        matrix(2, product.c, offsets[2], product.m, product.n, true), pack, accumulate};
    func::CallOp::create(b, function, operands);
    if (fill)
      fill.erase();
    op->erase();
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  Value advance(Value offset, Value position, int64_t stride) {
    if (stride == 0)
      return offset;
    return arith::AddIOp::create(b, offset, arith::MulIOp::create(b, position, index(stride)));
  }

  /// The buffer for the packed block, allocated where array-plan-memory looks for it.
  Value packBuffer() {
    auto function = op->getParentOfType<func::FuncOp>();
    OpBuilder::InsertionGuard guard(b);
    if (!isa<func::FuncOp>(op->getParentOp()))
      b.setInsertionPointToStart(&function.getBody().front());
    auto type = MemRefType::get({gemmPackElements(tile, packing, product.k.size, product.n.size)}, element);
    Value buffer = memref::AllocOp::create(b, type, b.getI64IntegerAttr(64));
    return memref::CastOp::create(b, MemRefType::get({ShapedType::kDynamic}, element), buffer);
  }

  /// The view of `operand` as a rows x columns matrix for the kernel.
  Value matrix(int which, const Operand &operand, Value offset, const Dimension &rows, const Dimension &columns,
               bool unitStride) {
    auto base = memref::ExtractStridedMetadataOp::create(b, operand.buffer).getBaseBuffer();
    SmallVector<OpFoldResult> sizes{index(rows.size), index(columns.size)};
    SmallVector<OpFoldResult> strides{index(rows.strides[which])};
    strides.push_back(unitStride ? OpFoldResult(b.getIndexAttr(1)) : OpFoldResult(index(columns.strides[which])));
    return memref::ReinterpretCastOp::create(b, gemmMatrixType(element, unitStride), base, OpFoldResult(offset), sizes,
                                             strides);
  }

  ImplicitLocOpBuilder b;
  linalg::LinalgOp op;
  const Product &product;
  Type element;
  GemmTile tile;
  GemmPacking packing;
};

struct LowerContractions : impl::LowerContractionsBase<LowerContractions> {
  using Base::Base;

  void runOnOperation() override {
    if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512) {
      getOperation().emitError("array-lower-contractions: vector-bits is ") << vectorBits << ", not 128, 256 or 512";
      return signalPassFailure();
    }
    SmallVector<linalg::LinalgOp> contractions;
    getOperation().walk([&](linalg::LinalgOp op) { contractions.push_back(op); });
    for (linalg::LinalgOp op : contractions) {
      FailureOr<Product> product = analyze(op);
      if (succeeded(product) && succeeded(orient(*product)) && isWorthwhile(*product))
        CallEmitter(op, *product, vectorBits).emit();
    }
  }
};

} // namespace
} // namespace mlir::array
