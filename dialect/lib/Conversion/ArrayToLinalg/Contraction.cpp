// dot_general: one generic whose iterators are (batch, lhs free, rhs free, contracting) and whose body is a multiply
// and an add. array-lower-contractions recognises this form.
#include "Lowering.h"

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

/// An operand's element in the accumulator's type, which is wider and of the same kind.
Value widened(ImplicitLocOpBuilder &b, Value x, Type element, Type accumulator) {
  if (x.getType() == accumulator)
    return x;
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b, accumulator, x);
  if (isUnsigned(element))
    return arith::ExtUIOp::create(b, accumulator, x);
  return arith::ExtSIOp::create(b, accumulator, x);
}

struct DotGeneralLowering : OpConversionPattern<DotGeneralOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(DotGeneralOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto result = cast<RankedTensorType>(op.getType());
    Type element = op.getLhs().getType().getElementType(), resultElement = result.getElementType();
    Type stored = storageType(resultElement), accumulator = accumulatorType(resultElement);
    ContractionSpace space(b, op, adaptor.getLhs(), adaptor.getRhs());
    Value zero = isa<FloatType>(accumulator) ? constant(b, accumulator, 0) : intConstant(b, accumulator, 0);
    Value init = filled(b, b.getLoc(), space.resultSizes, zero);
    auto generic = linalg::GenericOp::create(b, init.getType(), ValueRange{adaptor.getLhs(), adaptor.getRhs()}, init,
                                             ArrayRef{space.lhsMap, space.rhsMap, space.resultMap}, space.iterators,
                                             [&](OpBuilder &nested, Location loc, ValueRange args) {
                                               ImplicitLocOpBuilder body(loc, nested);
                                               Value lhs = widened(body, args[0], element, accumulator),
                                                     rhs = widened(body, args[1], element, accumulator);
                                               linalg::YieldOp::create(body, multiplyAdd(body, lhs, rhs, args[2]));
                                             });
    Value dot = generic.getResult(0);
    if (accumulator != stored)
      dot = parallelGeneric(b, b.getLoc(), stored, space.resultSizes, dot, b.getMultiDimIdentityMap(result.getRank()),
                            [&](ImplicitLocOpBuilder &body, ValueRange args) -> Value {
                              return arith::TruncFOp::create(body, stored, args[0]);
                            });
    replaceTyped(rewriter, op, dot);
    return success();
  }

private:
  static Value multiplyAdd(ImplicitLocOpBuilder &b, Value lhs, Value rhs, Value sum) {
    if (!isa<FloatType>(sum.getType()))
      return arith::AddIOp::create(b, sum, arith::MulIOp::create(b, lhs, rhs));
    Value product = arith::MulFOp::create(b, lhs, rhs, reductionFlags(b));
    return arith::AddFOp::create(b, sum, product, reductionFlags(b));
  }
};

} // namespace

void array::populateContraction(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<DotGeneralLowering>(converter, patterns.getContext());
}
