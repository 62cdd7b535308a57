// Rows of the elementwise table on bits and formats: clz, population_count, mulhi, nextafter, and products with a
// logarithm; and reduce_precision, which has parameters and therefore a separate pattern.
#include "Elementwise.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::array;

namespace {

template <typename MathOp> Value counted(Scalars &s) { return MathOp::create(s.b, s.args[0]); }

Value upperProduct(Scalars &s) {
  if (isUnsigned(s.element))
    return arith::MulUIExtendedOp::create(s.b, s.args[0], s.args[1]).getHigh();
  return arith::MulSIExtendedOp::create(s.b, s.args[0], s.args[1]).getHigh();
}

Value bitsOf(ImplicitLocOpBuilder &b, Value x) {
  return arith::BitcastOp::create(b, b.getIntegerType(x.getType().getIntOrFloatBitWidth()), x);
}

Value compare(Scalars &s, arith::CmpFPredicate predicate, Value lhs, Value rhs) {
  return arith::CmpFOp::create(s.b, predicate, lhs, rhs);
}

/// For numbers of one sign, bit patterns are ordered like magnitudes: a step adds or subtracts one. From zero, the
/// result is the smallest pattern with the sign of the target.
Value nextAfter(Scalars &s) {
  Value x = s.args[0], y = s.args[1], bits = bitsOf(s.b, x);
  Type type = bits.getType();
  auto number = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(s.b, s.b.getIntegerAttr(type, value));
  };
  unsigned width = type.getIntOrFloatBitWidth();
  Value one = number(APInt(width, 1)), sign = number(APInt::getSignMask(width));
  Value zero = constant(s.b, x.getType(), 0);
  Value isUp = compare(s, arith::CmpFPredicate::OGT, y, x), isPositive = compare(s, arith::CmpFPredicate::OGT, x, zero);
  Value grows = arith::CmpIOp::create(s.b, arith::CmpIPredicate::eq, isUp, isPositive);
  Value stepped =
      arith::SelectOp::create(s.b, grows, arith::AddIOp::create(s.b, bits, one), arith::SubIOp::create(s.b, bits, one));
  Value smallest = arith::OrIOp::create(s.b, arith::AndIOp::create(s.b, bitsOf(s.b, y), sign), one);
  stepped = arith::SelectOp::create(s.b, compare(s, arith::CmpFPredicate::OEQ, x, zero), smallest, stepped);
  Value result = arith::BitcastOp::create(s.b, x.getType(), stepped);
  result = arith::SelectOp::create(s.b, compare(s, arith::CmpFPredicate::OEQ, x, y), y, result);
  Value quiet = arith::AddFOp::create(s.b, x, y);
  return arith::SelectOp::create(s.b, compare(s, arith::CmpFPredicate::UNO, x, y), quiet, result);
}

template <typename LogOp> Value timesLog(Scalars &s) {
  Value x = s.args[0], y = s.args[1];
  bool half = isHalf(s.element);
  if (half) {
    x = arith::ExtFOp::create(s.b, s.b.getF32Type(), x);
    y = arith::ExtFOp::create(s.b, s.b.getF32Type(), y);
  }
  Value zero = constant(s.b, x.getType(), 0);
  Value product = arith::MulFOp::create(s.b, x, LogOp::create(s.b, y));
  Value vanishes = arith::AndIOp::create(s.b, compare(s, arith::CmpFPredicate::OEQ, x, zero),
                                         compare(s, arith::CmpFPredicate::ORD, y, y));
  Value result = arith::SelectOp::create(s.b, vanishes, zero, product);
  return half ? arith::TruncFOp::create(s.b, s.element, result).getResult() : result;
}

//===----------------------------------------------------------------------===//
// reduce_precision
//===----------------------------------------------------------------------===//

/// The format to which a number is rounded, and the format that holds it: all fields are numbers of bits.
struct Format {
  unsigned width, mantissa, exponent, newMantissa, newExponent;
};

Value roundedTo(ImplicitLocOpBuilder &b, Value x, const Format &format) {
  Value bits = bitsOf(b, x);
  Type type = bits.getType();
  auto number = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  auto shifted = [&](uint64_t value, unsigned by) { return APInt(format.width, value) << by; };
  APInt signMask = APInt::getSignMask(format.width);
  Value sign = arith::AndIOp::create(b, bits, number(signMask));
  Value magnitude = arith::AndIOp::create(b, bits, number(~signMask));
  if (unsigned lost = format.mantissa - format.newMantissa; format.newMantissa < format.mantissa) {
    // Add half of the last kept bit, minus one if that bit is even: a carry may move into the exponent.
    Value last = arith::AndIOp::create(b, arith::ShRUIOp::create(b, magnitude, number(APInt(format.width, lost))),
                                       number(APInt(format.width, 1)));
    Value bias = arith::AddIOp::create(b, last, number(shifted(1, lost - 1) - 1));
    Value sum = arith::AddIOp::create(b, magnitude, bias);
    magnitude = arith::AndIOp::create(b, sum, number(~(shifted(1, lost) - 1)));
  }
  if (format.newExponent < format.exponent) {
    uint64_t bias = (uint64_t(1) << (format.exponent - 1)) - 1, newBias = (uint64_t(1) << (format.newExponent - 1)) - 1;
    Value least = number(shifted(bias - newBias + 1, format.mantissa));
    Value beyond = number(shifted(bias + newBias + 1, format.mantissa));
    Value infinity = number(shifted((uint64_t(1) << format.exponent) - 1, format.mantissa));
    Value isBelow = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, magnitude, least);
    Value isAbove = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, magnitude, beyond);
    magnitude = arith::SelectOp::create(b, isAbove, infinity, magnitude);
    magnitude = arith::SelectOp::create(b, isBelow, number(APInt(format.width, 0)), magnitude);
  }
  Value result = arith::BitcastOp::create(b, x.getType(), arith::OrIOp::create(b, magnitude, sign));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, isNan, x, result);
}

struct ReducePrecisionLowering : OpConversionPattern<ReducePrecisionOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ReducePrecisionOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto result = cast<RankedTensorType>(op.getType());
    auto element = cast<FloatType>(result.getElementType());
    unsigned mantissa = element.getFPMantissaWidth() - 1;
    Format format{element.getWidth(), mantissa, element.getWidth() - mantissa - 1,
                  unsigned(std::min<int64_t>(op.getMantissaBits(), mantissa)),
                  unsigned(std::min<int64_t>(op.getExponentBits(), element.getWidth() - mantissa - 1))};
    auto sizes = sizesLike(rewriter, op.getLoc(), result, adaptor.getOperand());
    Value lowered = parallelGeneric(
        rewriter, op.getLoc(), element, sizes, adaptor.getOperand(), rewriter.getMultiDimIdentityMap(result.getRank()),
        [&](ImplicitLocOpBuilder &b, ValueRange stored) { return roundedTo(b, stored[0], format); });
    replaceTyped(rewriter, op, lowered);
    return success();
  }
};

} // namespace

ArrayRef<ElementwiseRow> array::bitsRows() {
  static const ElementwiseRow rows[] = {
      {ClzOp::getOperationName(), counted<math::CountLeadingZerosOp>},
      {PopulationCountOp::getOperationName(), counted<math::CtPopOp>},
      {MulhiOp::getOperationName(), upperProduct},
      {NextafterOp::getOperationName(), nextAfter},
      {XlogyOp::getOperationName(), timesLog<math::LogOp>},
      {Xlog1pyOp::getOperationName(), timesLog<math::Log1pOp>},
  };
  return rows;
}

void array::populateBits(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ReducePrecisionLowering>(converter, patterns.getContext());
}
