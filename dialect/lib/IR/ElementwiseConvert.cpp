// convert and bitcast: verification, folding, canonicalization.
#include "Constants.h"
#include "Inference.h"

#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace mlir::array;

static LogicalResult verifySameShape(Operation *op) {
  Type operand = op->getOperandTypes().front(), result = op->getResultTypes().front();
  if (succeeded(verifyCompatibleShape(operand, result)))
    return success();
  return op->emitOpError("shapes of operand and result differ: ") << operand << " and " << result << " (C1)";
}

//===----------------------------------------------------------------------===//
// convert
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::verify() { return verifySameShape(*this); }

/// null if lowering may round differently.
static Attribute converted(const APInt &number, Type from, Type result) {
  Type to = getElementTypeOrSelf(result);
  if (to.isSignlessInteger(1))
    return splatOf(result, std::optional<APInt>(APInt(1, !number.isZero())));
  if (auto integer = dyn_cast<IntegerType>(to))
    return splatOf(result, std::optional<APInt>(isUnsigned(from) ? number.zextOrTrunc(integer.getWidth())
                                                                 : number.sextOrTrunc(integer.getWidth())));
  APFloat value(cast<FloatType>(to).getFloatSemantics());
  auto status = value.convertFromAPInt(number, !isUnsigned(from), APFloat::rmNearestTiesToEven);
  bool isExact = status == APFloat::opOK;
  // The lowering converts to f16 and bf16 through a wider float, which rounds twice.
  bool isHalf = cast<FloatType>(to).getWidth() == 16;
  return isExact || !isHalf ? splatOf(result, std::optional<APFloat>(value)) : Attribute();
}

static Attribute converted(APFloat number, Type result) {
  Type to = getElementTypeOrSelf(result);
  if (to.isSignlessInteger(1))
    return splatOf(result, std::optional<APInt>(APInt(1, !number.isZero())));
  bool ignored;
  if (auto integer = dyn_cast<IntegerType>(to)) {
    // Saturates, and gives 0 for a nan.
    APSInt value(integer.getWidth(), integer.isUnsigned());
    number.convertToInteger(value, APFloat::rmTowardZero, &ignored);
    return splatOf(result, std::optional<APInt>(value));
  }
  number.convert(cast<FloatType>(to).getFloatSemantics(), APFloat::rmNearestTiesToEven, &ignored);
  return splatOf(result, std::optional<APFloat>(number));
}

/// All types except complex and small ones, whose special cases only the lowering handles.
static bool folds(Type element) {
  return element.isIntOrFloat() && (element.isSignlessInteger(1) || element.getIntOrFloatBitWidth() >= 8) &&
         !(isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8);
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  if (!folds(getElementTypeOrSelf(getOperand())) || !folds(getElementTypeOrSelf(getType())))
    return {};
  if (auto number = splatInt(adaptor.getOperand()))
    return converted(*number, getElementTypeOrSelf(getOperand()), getType());
  if (auto number = splatFloat(adaptor.getOperand()))
    return converted(*number, getType());
  return {};
}

/// Whether `to` represents every value of `from`.
static bool isExact(Type from, Type to) {
  if (auto fromFloat = dyn_cast<FloatType>(from)) {
    auto toFloat = dyn_cast<FloatType>(to);
    return toFloat && (from == to || (toFloat.getWidth() > fromFloat.getWidth()));
  }
  auto integer = cast<IntegerType>(from);
  unsigned magnitude = integer.getWidth() - !isUnsigned(from);
  if (auto toFloat = dyn_cast<FloatType>(to))
    return magnitude <= APFloat::semanticsPrecision(toFloat.getFloatSemantics()) &&
           magnitude <= unsigned(APFloat::semanticsMaxExponent(toFloat.getFloatSemantics()));
  auto toInteger = cast<IntegerType>(to);
  if (isUnsigned(to) && !isUnsigned(from))
    return false;
  return magnitude <= toInteger.getWidth() - !isUnsigned(to);
}

namespace {

struct ConvertOfExactConvert : OpRewritePattern<ConvertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<ConvertOp>();
    if (!inner)
      return failure();
    Type from = getElementTypeOrSelf(inner.getOperand()), through = getElementTypeOrSelf(inner);
    Type to = getElementTypeOrSelf(op);
    if (!folds(from) || !folds(through) || !folds(to) || !isExact(from, through))
      return failure();
    // Conversions from a float saturate, and those from an integer wrap. They are equal only if neither happens.
    if (isa<IntegerType>(from) && isa<FloatType>(through) && isa<IntegerType>(to) && !to.isSignlessInteger(1) &&
        !isExact(from, to))
      return failure();
    rewriter.replaceOpWithNewOp<ConvertOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

} // namespace

void ConvertOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConvertOfExactConvert>(context);
}

//===----------------------------------------------------------------------===//
// bitcast
//===----------------------------------------------------------------------===//

LogicalResult BitcastOp::verify() {
  if (failed(verifySameShape(*this)))
    return failure();
  Type from = getElementTypeOrSelf(getOperand()), to = getElementTypeOrSelf(getType());
  bool haveWidths = from.isIntOrFloat() && to.isIntOrFloat();
  if (haveWidths && from.getIntOrFloatBitWidth() == to.getIntOrFloatBitWidth())
    return success();
  return emitOpError("element types differ in width: ") << from << " and " << to << " (C2)";
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

namespace {

struct BitcastOfBitcast : OpRewritePattern<BitcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BitcastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getOperand().getDefiningOp<BitcastOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<BitcastOp>(op, op.getType(), inner.getOperand());
    return success();
  }
};

} // namespace

void BitcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<BitcastOfBitcast>(context);
}
