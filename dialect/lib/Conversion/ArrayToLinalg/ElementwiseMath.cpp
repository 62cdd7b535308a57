// Rows of the elementwise table: rounding and transcendental functions, as ops of the math dialect if it has them;
// array-expand-math chooses how they are computed. f16 and bf16 compute in f32 and are rounded once.
#include "Elementwise.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Runs `compute` on f32 in place of f16 and bf16.
template <typename Compute> Value inSinglePrecision(Scalars &s, Compute compute) {
  if (!isHalf(s.element))
    return compute(s.args);
  SmallVector<Value, 3> wide;
  for (Value arg : s.args)
    wide.push_back(arith::ExtFOp::create(s.b, s.b.getF32Type(), arg));
  return arith::TruncFOp::create(s.b, s.element, compute(wide));
}

template <typename MathOp> Value function(Scalars &s) {
  return inSinglePrecision(s, [&](ArrayRef<Value> args) -> Value { return MathOp::create(s.b, ValueRange(args)); });
}

/// If both operands are 0, the second is replaced by a 1 of its sign. The angle is the same, and the fold of
/// math.atan2, which makes nan of two constant zeros, does not see them.
Value atan2(Scalars &s) {
  return inSinglePrecision(s, [&](ArrayRef<Value> args) -> Value {
    Value y = args[0], x = args[1], zero = constant(s.b, x.getType(), 0), one = constant(s.b, x.getType(), 1);
    auto isZero = [&](Value value) -> Value {
      return arith::CmpFOp::create(s.b, arith::CmpFPredicate::OEQ, value, zero);
    };
    Value isOrigin = arith::AndIOp::create(s.b, isZero(x), isZero(y));
    Value signedOne = math::CopySignOp::create(s.b, one, x);
    return math::Atan2Op::create(s.b, y, Value(arith::SelectOp::create(s.b, isOrigin, signedOne, x)));
  });
}

/// Exact in every format.
template <typename MathOp> Value rounding(Scalars &s) { return MathOp::create(s.b, ValueRange(s.args)); }

/// 1 / (1 + e) or, for negative numbers, e / (1 + e) with e = exp(-|x|), so that tiny results are right, too.
Value logistic(Scalars &s) {
  return inSinglePrecision(s, [&](ArrayRef<Value> args) -> Value {
    Value x = args[0], one = constant(s.b, x.getType(), 1), zero = constant(s.b, x.getType(), 0);
    Value decay = math::ExpOp::create(s.b, arith::NegFOp::create(s.b, math::AbsFOp::create(s.b, x)));
    Value isNegative = arith::CmpFOp::create(s.b, arith::CmpFPredicate::OLT, x, zero);
    Value numerator = arith::SelectOp::create(s.b, isNegative, decay, one);
    return arith::DivFOp::create(s.b, numerator, arith::AddFOp::create(s.b, one, decay, contractFlags(s.b)));
  });
}

//===----------------------------------------------------------------------===//
// erf_inv: the piecewise polynomials in w = -log(1 - x^2) of M. Giles, "Approximating the erfinv function", GPU
// Computing Gems Jade Edition, 2012; coefficients from the highest power down.
//===----------------------------------------------------------------------===//

constexpr double singleCentral[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                    -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
constexpr double singleTail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                 -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};

constexpr double doubleCentral[] = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,  1.115787767802518096e-17,
    -1.333171662854620906e-16,  2.0972767875968561637e-17,  6.6376381343583238325e-15,  -4.0545662729752068639e-14,
    -8.1519341976054721522e-14, 2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08, 4.2347877827932403518e-07,
    -1.3654692000834678645e-06, -1.3882523362786468719e-05, 0.0001867342080340571352,   -0.00074070253416626697512,
    -0.0060336708714301490533,  0.24015818242558961693,     1.6536545626831027356};
constexpr double doubleMiddle[] = {
    2.2137376921775787049e-09,  9.0756561938885390979e-08, -2.7517406297064545428e-07, 1.8239629214389227755e-08,
    1.5027403968909827627e-06,  -4.013867526981545969e-06, 2.9234449089955446044e-06,  1.2475304481671778723e-05,
    -4.7318229009055733981e-05, 6.8284851459573175448e-05, 2.4031110387097893999e-05,  -0.0003550375203628474796,
    0.00095328937973738049703,  -0.0016882755560235047313, 0.0024914420961078508066,   -0.0037512085075692412107,
    0.005370914553590063617,    1.0052589676941592334,     3.0838856104922207635};
constexpr double doubleTail[] = {-2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
                                 -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
                                 2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
                                 -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
                                 7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
                                 1.0103004648645343977,      4.8499064014085844221};

Value horner(Scalars &s, ArrayRef<double> coefficients, Value x) {
  Value sum = constant(s.b, x.getType(), coefficients.front());
  for (double coefficient : coefficients.drop_front()) {
    Value product = arith::MulFOp::create(s.b, sum, x, contractFlags(s.b));
    sum = arith::AddFOp::create(s.b, product, constant(s.b, x.getType(), coefficient), contractFlags(s.b));
  }
  return sum;
}

Value erfInv(Scalars &s) {
  return inSinglePrecision(s, [&](ArrayRef<Value> args) -> Value {
    Value x = args[0];
    Type type = x.getType();
    auto number = [&](double value) { return constant(s.b, type, value); };
    auto less = [&](Value lhs, double rhs) -> Value {
      return arith::CmpFOp::create(s.b, arith::CmpFPredicate::OLT, lhs, number(rhs));
    };
    auto select = [&](Value condition, Value onTrue, Value onFalse) -> Value {
      return arith::SelectOp::create(s.b, condition, onTrue, onFalse);
    };
    auto minus = [&](Value lhs, double rhs) -> Value { return arith::SubFOp::create(s.b, lhs, number(rhs)); };

    // -x^2 with its rounding error, which matters if x is near 1.
    Value negative = arith::NegFOp::create(s.b, x);
    Value square = arith::MulFOp::create(s.b, x, negative);
    Value rest = math::FmaOp::create(s.b, x, negative, arith::NegFOp::create(s.b, square));
    Value slope = arith::DivFOp::create(s.b, rest, arith::AddFOp::create(s.b, square, number(1)));
    Value logarithm = arith::AddFOp::create(s.b, math::Log1pOp::create(s.b, square), slope);
    Value w = arith::NegFOp::create(s.b, logarithm);
    Value root = math::SqrtOp::create(s.b, w);
    Value polynomial;
    if (type.isF64()) {
      Value outer =
          select(less(w, 16), horner(s, doubleMiddle, minus(root, 3.25)), horner(s, doubleTail, minus(root, 5)));
      polynomial = select(less(w, 6.25), horner(s, doubleCentral, minus(w, 3.125)), outer);
    } else {
      polynomial = select(less(w, 5), horner(s, singleCentral, minus(w, 2.5)), horner(s, singleTail, minus(root, 3)));
    }
    // At +-1, w is inf and the polynomial is finite: x * inf is the limit of the function.
    Value isOne = arith::CmpFOp::create(s.b, arith::CmpFPredicate::OEQ, math::AbsFOp::create(s.b, x), number(1));
    Value factor = select(isOne, number(std::numeric_limits<double>::infinity()), polynomial);
    // The product of two nans is one of them, which one the processor's form of the product decides.
    Value isNan = arith::CmpFOp::create(s.b, arith::CmpFPredicate::UNO, x, x);
    return select(isNan, x, arith::MulFOp::create(s.b, factor, x));
  });
}

//===----------------------------------------------------------------------===//
// pow
//===----------------------------------------------------------------------===//

/// By squaring, with one step for every bit of the exponent. It has no branch, so it vectorizes, and a constant
/// exponent folds to a few products. As in XLA, x^n with n < 0 is 0, except for x = 1 and x = -1.
Value integerPower(Scalars &s) {
  Value base = s.args[0], exponent = s.args[1];
  Type type = base.getType();
  auto number = [&](int64_t value) { return intConstant(s.b, type, value); };
  auto compare = [&](arith::CmpIPredicate predicate, Value lhs, int64_t rhs) -> Value {
    return arith::CmpIOp::create(s.b, predicate, lhs, number(rhs));
  };
  Value power = number(1), square = base;
  unsigned width = type.getIntOrFloatBitWidth();
  unsigned exponentBits = isUnsigned(s.element) ? width : width - 1;
  for (unsigned bit = 0; bit < exponentBits; ++bit) {
    Value set = compare(arith::CmpIPredicate::ne, arith::AndIOp::create(s.b, exponent, number(int64_t(1) << bit)), 0);
    power = arith::SelectOp::create(s.b, set, arith::MulIOp::create(s.b, power, square), power);
    if (bit + 1 < exponentBits)
      square = arith::MulIOp::create(s.b, square, square);
  }
  if (isUnsigned(s.element))
    return power;
  Value isOdd = compare(arith::CmpIPredicate::ne, arith::AndIOp::create(s.b, exponent, number(1)), 0);
  Value ofMinusOne = arith::SelectOp::create(s.b, isOdd, number(-1), number(1));
  Value ofOthers = arith::SelectOp::create(s.b, compare(arith::CmpIPredicate::eq, base, 1), number(1), number(0));
  Value reciprocal = arith::SelectOp::create(s.b, compare(arith::CmpIPredicate::eq, base, -1), ofMinusOne, ofOthers);
  return arith::SelectOp::create(s.b, compare(arith::CmpIPredicate::slt, exponent, 0), reciprocal, power);
}

Value power(Scalars &s) { return isa<FloatType>(s.element) ? function<math::PowFOp>(s) : integerPower(s); }

} // namespace

ArrayRef<ElementwiseRow> array::mathRows() {
  static const ElementwiseRow rows[] = {
      {FloorOp::getOperationName(), rounding<math::FloorOp>},
      {CeilOp::getOperationName(), rounding<math::CeilOp>},
      {RoundOp::getOperationName(), rounding<math::RoundEvenOp>},
      {ExpOp::getOperationName(), function<math::ExpOp>},
      {Exp2Op::getOperationName(), function<math::Exp2Op>},
      {Expm1Op::getOperationName(), function<math::ExpM1Op>},
      {LogOp::getOperationName(), function<math::LogOp>},
      {Log1pOp::getOperationName(), function<math::Log1pOp>},
      {SinOp::getOperationName(), function<math::SinOp>},
      {CosOp::getOperationName(), function<math::CosOp>},
      {TanOp::getOperationName(), function<math::TanOp>},
      {TanhOp::getOperationName(), function<math::TanhOp>},
      {SqrtOp::getOperationName(), function<math::SqrtOp>},
      {RsqrtOp::getOperationName(), function<math::RsqrtOp>},
      {CbrtOp::getOperationName(), function<math::CbrtOp>},
      {ErfOp::getOperationName(), function<math::ErfOp>},
      {ErfInvOp::getOperationName(), erfInv},
      {ErfcOp::getOperationName(), function<math::ErfcOp>},
      {Log2Op::getOperationName(), function<math::Log2Op>},
      {Log10Op::getOperationName(), function<math::Log10Op>},
      {AsinOp::getOperationName(), function<math::AsinOp>},
      {AcosOp::getOperationName(), function<math::AcosOp>},
      {AtanOp::getOperationName(), function<math::AtanOp>},
      {SinhOp::getOperationName(), function<math::SinhOp>},
      {CoshOp::getOperationName(), function<math::CoshOp>},
      {AsinhOp::getOperationName(), function<math::AsinhOp>},
      {AcoshOp::getOperationName(), function<math::AcoshOp>},
      {AtanhOp::getOperationName(), function<math::AtanhOp>},
      {LogisticOp::getOperationName(), logistic},
      {Atan2Op::getOperationName(), atan2},
      {PowOp::getOperationName(), power},
  };
  return rows;
}
