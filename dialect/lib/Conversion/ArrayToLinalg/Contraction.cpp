// dot_general: one generic with the iterators (batch, lhs free, rhs free, contracting). The body multiplies and adds,
// and widens the factors if the sums are wider. array-widen-matmuls and array-lower-matmuls recognise this form.
#include "Contraction.h"
#include "array/IR/Plan.h"
#include "array/IR/Precision.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// The loops of a contraction, and how each operand is indexed by them.
struct ContractionSpace {
  AffineMap lhsMap, rhsMap, resultMap;
  SmallVector<utils::IteratorType> iterators;
  SmallVector<OpFoldResult> resultSizes;

  ContractionSpace(OpBuilder &b, DotGeneralOp op, Value lhs, Value rhs) {
    int64_t lhsRank = op.getLhs().getType().getRank(), rhsRank = op.getRhs().getType().getRank();
    SmallVector<AffineExpr> lhsReads(lhsRank), rhsReads(rhsRank);
    auto sizeOf = [&](Value tensor, int64_t dim) {
      resultSizes.push_back(tensor::getMixedSize(b, op.getLoc(), tensor, dim));
    };
    int64_t loop = 0;
    for (auto [lhsDim, rhsDim] : llvm::zip(op.getLhsBatch(), op.getRhsBatch())) {
      lhsReads[lhsDim] = rhsReads[rhsDim] = b.getAffineDimExpr(loop++);
      sizeOf(lhs, lhsDim);
    }
    auto addFree = [&](Value tensor, SmallVector<AffineExpr> &reads, ArrayRef<int64_t> contracting) {
      for (auto [dim, read] : llvm::enumerate(reads)) {
        if (read || llvm::is_contained(contracting, dim))
          continue;
        read = b.getAffineDimExpr(loop++);
        sizeOf(tensor, dim);
      }
    };
    addFree(lhs, lhsReads, op.getLhsContracting());
    addFree(rhs, rhsReads, op.getRhsContracting());
    iterators.assign(loop, utils::IteratorType::parallel);
    for (auto [lhsDim, rhsDim] : llvm::zip(op.getLhsContracting(), op.getRhsContracting()))
      lhsReads[lhsDim] = rhsReads[rhsDim] = b.getAffineDimExpr(loop++);
    iterators.resize(loop, utils::IteratorType::reduction);
    lhsMap = AffineMap::get(loop, 0, lhsReads, b.getContext());
    rhsMap = AffineMap::get(loop, 0, rhsReads, b.getContext());
    resultMap = leadingLoops(b, loop, resultSizes.size());
  }
};

struct DotGeneralLowering : OpConversionPattern<DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = op.getLhs().getType().getElementType(), resultElement = op.getType().getElementType();
    Value lhs = adaptor.getLhs(), rhs = adaptor.getRhs();
    ContractionSpace space(b, op, lhs, rhs);
    replaceTyped(rewriter, op,
                 contraction(b, op, lhs, rhs, {space.lhsMap, space.rhsMap, space.resultMap}, space.iterators,
                             space.resultSizes, element, resultElement));
    return success();
  }
};

Value multiply(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  if (!isa<FloatType>(lhs.getType()))
    return arith::MulIOp::create(b, lhs, rhs);
  return arith::MulFOp::create(b, lhs, rhs, reductionFlags(b));
}

Value add(ImplicitLocOpBuilder &b, Value sum, Value product) {
  if (!isa<FloatType>(sum.getType()))
    return arith::AddIOp::create(b, sum, product);
  return arith::AddFOp::create(b, sum, product, reductionFlags(b));
}

} // namespace

Value array::widened(ImplicitLocOpBuilder &b, Value x, Type element, Type accumulator) {
  if (getElementTypeOrSelf(x) == accumulator)
    return x;
  if (auto tensor = dyn_cast<RankedTensorType>(x.getType()))
    return parallelGeneric(
        b, b.getLoc(), accumulator, tensor::getMixedSizes(b, b.getLoc(), x), x,
        b.getMultiDimIdentityMap(tensor.getRank()),
        [&](ImplicitLocOpBuilder &body, ValueRange args) { return widened(body, args[0], element, accumulator); });
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b, accumulator, x);
  if (isUnsigned(element))
    return arith::ExtUIOp::create(b, accumulator, x);
  return arith::ExtSIOp::create(b, accumulator, x);
}

Value array::contraction(ImplicitLocOpBuilder &b, Operation *source, Value lhs, Value rhs, ArrayRef<AffineMap> maps,
                         ArrayRef<utils::IteratorType> iterators, ArrayRef<OpFoldResult> sizes, Type element,
                         Type resultElement) {
  Type stored = storageType(resultElement), accumulator = accumulatorType(resultElement);
  auto product = [&](ImplicitLocOpBuilder &body, ValueRange args) {
    Value x = widened(body, args[0], element, accumulator), y = widened(body, args[1], element, accumulator);
    return multiply(body, x, y);
  };
  // Without a sum it is an elementwise op, which fuses like others.
  if (!llvm::is_contained(iterators, utils::IteratorType::reduction) && maps.back().isIdentity())
    return parallelGeneric(b, b.getLoc(), stored, sizes, {lhs, rhs}, maps.drop_back(),
                           [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
                             Value result = product(body, args);
                             return result.getType() == stored ? result : arith::TruncFOp::create(body, stored, result);
                           });
  Value zero = isa<FloatType>(accumulator) ? constant(b, accumulator, 0) : intConstant(b, accumulator, 0);
  Value init = filled(b, b.getLoc(), sizes, zero);
  auto generic = linalg::GenericOp::create(b, init.getType(), ValueRange{lhs, rhs}, init, maps, iterators,
                                           [&](OpBuilder &nested, Location loc, ValueRange args) {
                                             ImplicitLocOpBuilder body(loc, nested);
                                             linalg::YieldOp::create(body, add(body, args[2], product(body, args)));
                                           });
  handOnPlan(source, generic);
  handOnPrecision(source, generic);
  Value sums = generic.getResult(0);
  if (accumulator == stored)
    return sums;
  return parallelGeneric(b, b.getLoc(), stored, sizes, sums, b.getMultiDimIdentityMap(sizes.size()),
                         [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
                           return arith::TruncFOp::create(body, stored, args[0]);
                         });
}

void array::populateContraction(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DotGeneralLowering>(converter, patterns.getContext());
}

/// The operand of a conversion from a float of 16 bits to f32; null if `value` is something else.
static Value beforeWidening(Value value) {
  auto convert = value.getDefiningOp<ConvertOp>();
  if (!convert || !cast<RankedTensorType>(value.getType()).getElementType().isF32())
    return {};
  Value narrow = convert.getOperand();
  Type element = cast<RankedTensorType>(narrow.getType()).getElementType();
  return element.isF16() || element.isBF16() ? narrow : Value();
}

void array::multiplyNarrowFactors(Operation *root) {
  root->walk([](Operation *op) {
    if (!isa<DotGeneralOp, ConvGeneralDilatedOp>(op) || !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
      return;
    Value factors[] = {beforeWidening(op->getOperand(0)), beforeWidening(op->getOperand(1))};
    if (!factors[0] || !factors[1] ||
        getElementTypeOrSelf(factors[0].getType()) != getElementTypeOrSelf(factors[1].getType()))
      return;
    for (unsigned side : {0, 1}) {
      Operation *convert = op->getOperand(side).getDefiningOp();
      op->setOperand(side, factors[side]);
      if (convert->use_empty())
        convert->erase();
    }
  });
}
