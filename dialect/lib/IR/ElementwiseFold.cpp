// Folders of the arithmetic, bit, comparison and selection ops: splats, and identities that hold bit for bit in IEEE
// arithmetic.
#include "Constants.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::array;

namespace {

using IntFold = function_ref<std::optional<APInt>(const APInt &, const APInt &, bool isUnsigned)>;
using FloatFold = function_ref<APFloat(const APFloat &, const APFloat &)>;

} // namespace

static Type elementOf(Attribute constant) { return cast<ElementsAttr>(constant).getElementType(); }

static OpFoldResult foldBinary(ArrayRef<Attribute> operands, Type result, IntFold onInts, FloatFold onFloats) {
  if (auto lhs = splatInt(operands[0]), rhs = splatInt(operands[1]); lhs && rhs)
    return splatOf(result, onInts(*lhs, *rhs, isUnsigned(elementOf(operands[0]))));
  if (auto lhs = splatFloat(operands[0]), rhs = splatFloat(operands[1]); lhs && rhs)
    return splatOf(result, std::optional<APFloat>(onFloats(*lhs, *rhs)));
  return {};
}

static APFloat noFloats(const APFloat &, const APFloat &) { llvm_unreachable("an op on bits has no float operands"); }

static OpFoldResult foldBits(ArrayRef<Attribute> operands, Type result, IntFold onInts) {
  return foldBinary(operands, result, onInts, noFloats);
}

/// The value, if it has the result's type; dynamic dimensions may differ.
static OpFoldResult sameType(Value value, Type result) {
  return value.getType() == result ? OpFoldResult(value) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getDefiningOp<AbsOp>())
    return sameType(getOperand(), getType());
  if (auto number = splatInt(adaptor.getOperand()))
    return splatOf(getType(), std::optional<APInt>(number->abs()));
  if (auto number = splatFloat(adaptor.getOperand()))
    return splatOf(getType(), std::optional<APFloat>(abs(*number)));
  return {};
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NegOp>())
    return sameType(inner.getOperand(), getType());
  if (auto number = splatInt(adaptor.getOperand()))
    return splatOf(getType(), std::optional<APInt>(-*number));
  if (auto number = splatFloat(adaptor.getOperand()))
    return splatOf(getType(), std::optional<APFloat>(neg(*number)));
  return {};
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getOperand().getDefiningOp<NotOp>())
    return sameType(inner.getOperand(), getType());
  if (auto number = splatInt(adaptor.getOperand()))
    return splatOf(getType(), std::optional<APInt>(~*number));
  return {};
}

OpFoldResult StopGradientOp::fold(FoldAdaptor) { return sameType(getOperand(), getType()); }

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

OpFoldResult RealOp::fold(FoldAdaptor) {
  auto whole = getOperand().getDefiningOp<ComplexOp>();
  return whole ? sameType(whole.getLhs(), getType()) : OpFoldResult();
}

OpFoldResult ImagOp::fold(FoldAdaptor) {
  auto whole = getOperand().getDefiningOp<ComplexOp>();
  return whole ? sameType(whole.getRhs(), getType()) : OpFoldResult();
}

OpFoldResult ComplexOp::fold(FoldAdaptor) {
  auto re = getLhs().getDefiningOp<RealOp>();
  auto im = getRhs().getDefiningOp<ImagOp>();
  return re && im && re.getOperand() == im.getOperand() ? sameType(re.getOperand(), getType()) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // x + 0.0 is not x for x = -0.0, but x + -0.0 is x for every x.
  if (isIntSplat(adaptor.getRhs(), 0) || isFloatSplat(adaptor.getRhs(), -0.0))
    return sameType(getLhs(), getType());
  return foldBinary(
      adaptor.getOperands(), getType(), [](const APInt &lhs, const APInt &rhs, bool) { return lhs + rhs; },
      [](const APFloat &lhs, const APFloat &rhs) { return lhs + rhs; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isIntSplat(adaptor.getRhs(), 0) || isFloatSplat(adaptor.getRhs(), 0.0))
    return sameType(getLhs(), getType());
  return foldBinary(
      adaptor.getOperands(), getType(), [](const APInt &lhs, const APInt &rhs, bool) { return lhs - rhs; },
      [](const APFloat &lhs, const APFloat &rhs) { return lhs - rhs; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isIntSplat(adaptor.getRhs(), 1) || isFloatSplat(adaptor.getRhs(), 1.0))
    return sameType(getLhs(), getType());
  if (isIntSplat(adaptor.getRhs(), 0))
    return sameType(getRhs(), getType());
  return foldBinary(
      adaptor.getOperands(), getType(), [](const APInt &lhs, const APInt &rhs, bool) { return lhs * rhs; },
      [](const APFloat &lhs, const APFloat &rhs) { return lhs * rhs; });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isIntSplat(adaptor.getRhs(), 1) || isFloatSplat(adaptor.getRhs(), 1.0))
    return sameType(getLhs(), getType());
  return foldBinary(
      adaptor.getOperands(), getType(),
      [](const APInt &lhs, const APInt &rhs, bool isUnsigned) {
        if (rhs.isZero())
          return APInt::getAllOnes(rhs.getBitWidth());
        return isUnsigned ? lhs.udiv(rhs) : lhs.sdiv(rhs);
      },
      [](const APFloat &lhs, const APFloat &rhs) { return lhs / rhs; });
}

OpFoldResult RemOp::fold(FoldAdaptor adaptor) {
  return foldBinary(
      adaptor.getOperands(), getType(),
      [](const APInt &lhs, const APInt &rhs, bool isUnsigned) {
        if (rhs.isZero())
          return lhs;
        return isUnsigned ? lhs.urem(rhs) : lhs.srem(rhs);
      },
      [](const APFloat &lhs, const APFloat &rhs) {
        APFloat rest = lhs;
        rest.mod(rhs);
        return rest;
      });
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return sameType(getLhs(), getType());
  return foldBinary(
      adaptor.getOperands(), getType(),
      [](const APInt &lhs, const APInt &rhs, bool isUnsigned) {
        return (isUnsigned ? lhs.ugt(rhs) : lhs.sgt(rhs)) ? lhs : rhs;
      },
      [](const APFloat &lhs, const APFloat &rhs) { return maximum(lhs, rhs); });
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs())
    return sameType(getLhs(), getType());
  return foldBinary(
      adaptor.getOperands(), getType(),
      [](const APInt &lhs, const APInt &rhs, bool isUnsigned) {
        return (isUnsigned ? lhs.ult(rhs) : lhs.slt(rhs)) ? lhs : rhs;
      },
      [](const APFloat &lhs, const APFloat &rhs) { return minimum(lhs, rhs); });
}

namespace {

/// Division by a power of two is the multiplication by its reciprocal, bit for bit, and ten times as fast.
struct DivByPowerOfTwo : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    Attribute constant;
    if (!matchPattern(op.getRhs(), m_Constant(&constant)))
      return failure();
    std::optional<APFloat> divisor = splatFloat(constant);
    APFloat reciprocal(0.0);
    if (!divisor || !divisor->getExactInverse(&reciprocal))
      return failure();
    auto value = cast<ElementsAttr>(splatOf(op.getRhs().getType(), std::optional<APFloat>(reciprocal)));
    Value factor = ConstantOp::create(rewriter, op.getLoc(), op.getRhs().getType(), value);
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), op.getLhs(), factor);
    return success();
  }
};

} // namespace

void DivOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DivByPowerOfTwo>(context);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isIntSplat(adaptor.getRhs(), -1))
    return sameType(getLhs(), getType());
  if (isIntSplat(adaptor.getRhs(), 0))
    return sameType(getRhs(), getType());
  return foldBits(adaptor.getOperands(), getType(), [](const APInt &lhs, const APInt &rhs, bool) { return lhs & rhs; });
}

OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isIntSplat(adaptor.getRhs(), 0))
    return sameType(getLhs(), getType());
  if (isIntSplat(adaptor.getRhs(), -1))
    return sameType(getRhs(), getType());
  return foldBits(adaptor.getOperands(), getType(), [](const APInt &lhs, const APInt &rhs, bool) { return lhs | rhs; });
}

OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  if (isIntSplat(adaptor.getRhs(), 0))
    return sameType(getLhs(), getType());
  return foldBits(adaptor.getOperands(), getType(), [](const APInt &lhs, const APInt &rhs, bool) { return lhs ^ rhs; });
}

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

/// `holds` returns whether the relation between the operands satisfies the predicate.
static OpFoldResult foldCompare(ArrayRef<Attribute> operands, Type result,
                                function_ref<bool(APFloat::cmpResult)> holds) {
  auto relation = APFloat::cmpUnordered;
  if (auto lhs = splatInt(operands[0]), rhs = splatInt(operands[1]); lhs && rhs) {
    bool isLess = isUnsigned(elementOf(operands[0])) ? lhs->ult(*rhs) : lhs->slt(*rhs);
    relation = *lhs == *rhs ? APFloat::cmpEqual : isLess ? APFloat::cmpLessThan : APFloat::cmpGreaterThan;
  } else if (auto lhs = splatFloat(operands[0]), rhs = splatFloat(operands[1]); lhs && rhs) {
    relation = lhs->compare(*rhs);
  } else {
    return {};
  }
  return splatOf(result, std::optional<APInt>(APInt(1, holds(relation))));
}

OpFoldResult EqOp::fold(FoldAdaptor adaptor) {
  return foldCompare(adaptor.getOperands(), getType(), [](auto relation) { return relation == APFloat::cmpEqual; });
}

OpFoldResult NeOp::fold(FoldAdaptor adaptor) {
  return foldCompare(adaptor.getOperands(), getType(), [](auto relation) { return relation != APFloat::cmpEqual; });
}

OpFoldResult LtOp::fold(FoldAdaptor adaptor) {
  return foldCompare(adaptor.getOperands(), getType(), [](auto relation) { return relation == APFloat::cmpLessThan; });
}

OpFoldResult LeOp::fold(FoldAdaptor adaptor) {
  return foldCompare(adaptor.getOperands(), getType(),
                     [](auto relation) { return relation == APFloat::cmpLessThan || relation == APFloat::cmpEqual; });
}

OpFoldResult GtOp::fold(FoldAdaptor adaptor) {
  return foldCompare(adaptor.getOperands(), getType(),
                     [](auto relation) { return relation == APFloat::cmpGreaterThan; });
}

OpFoldResult GeOp::fold(FoldAdaptor adaptor) {
  return foldCompare(adaptor.getOperands(), getType(), [](auto relation) {
    return relation == APFloat::cmpGreaterThan || relation == APFloat::cmpEqual;
  });
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse() || isIntSplat(adaptor.getPred(), 1))
    return sameType(getOnTrue(), getType());
  if (isIntSplat(adaptor.getPred(), 0))
    return sameType(getOnFalse(), getType());
  bool isPred = getElementTypeOrSelf(getType()).isInteger(1) && isIntSplat(adaptor.getOnTrue(), 1) &&
                isIntSplat(adaptor.getOnFalse(), 0);
  return isPred ? sameType(getPred(), getType()) : OpFoldResult();
}
