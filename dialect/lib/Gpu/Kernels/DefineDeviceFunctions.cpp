// array-define-device-functions: defines the functions of the C library that array-expand-math leaves in kernels, where
// no C library exists: sin, cos and tan of large arguments, and the remainder of floats. It runs after
// array-outline-gpu-kernels.
//
// Large angles are reduced as by M. H. Payne and R. N. Hanek (Radian Reduction for Trigonometric Functions, SIGNUM
// Newsletter 18, 1983): the product uses only those bits of 2/pi that neither give multiples of a full turn nor are too
// small to matter. The remainder is the long division of the significands, several binary digits in a step, and so it
// is exact.
#include "Cpu/Math/ExpandMathTerm.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array {

#define GEN_PASS_DEF_DEFINEDEVICEFUNCTIONS
#include "array/Gpu/Passes.h.inc"

namespace {

/// 2/pi in binary: 1216 digits after the point.
constexpr uint64_t twoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                  0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                  0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                  0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                  0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/// Arithmetic on the words of a float's width.
class Words {
public:
  Words(ImplicitLocOpBuilder &b, FloatType type)
      : b(b), width(type.getWidth()), type(b.getIntegerType(width)), fraction(type.getFPMantissaWidth() - 1) {}

  Value constant(uint64_t value) const {
    return arith::ConstantOp::create(b, type, b.getIntegerAttr(type, APInt(width, value, false, true)));
  }
  Value add(Value x, Value y) const { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) const { return arith::SubIOp::create(b, x, y); }
  Value both(Value x, Value y) const { return arith::AndIOp::create(b, x, y); }
  Value either(Value x, Value y) const { return arith::OrIOp::create(b, x, y); }
  Value left(Value x, Value places) const { return arith::ShLIOp::create(b, x, places); }
  Value right(Value x, Value places) const { return arith::ShRUIOp::create(b, x, places); }
  Value is(arith::CmpIPredicate predicate, Value x, Value y) const { return arith::CmpIOp::create(b, predicate, x, y); }
  Value select(Value condition, Value x, Value y) const { return arith::SelectOp::create(b, condition, x, y); }

  Value bitsOf(Value x) const { return arith::BitcastOp::create(b, type, x); }
  Value magnitudeBits(Value x) const { return both(bitsOf(x), constant(~uint64_t(0) >> (65 - width))); }
  /// The exponent and the significand of |x| = significand * 2^(exponent - exponentOfOne()); that of a denormal is 1.
  std::pair<Value, Value> split(Value magnitude) const {
    Value field = right(magnitude, constant(fraction)), low = both(magnitude, constant((uint64_t(1) << fraction) - 1));
    Value isNormal = is(arith::CmpIPredicate::ne, field, constant(0));
    return {select(isNormal, field, constant(1)),
            select(isNormal, either(low, constant(uint64_t(1) << fraction)), low)};
  }
  unsigned exponentOfOne() const { return (width == 64 ? 1023 : 127) + fraction; }

  ImplicitLocOpBuilder &b;
  const unsigned width;
  const IntegerType type;
  const unsigned fraction; ///< digits of the significand after the point
};

/// x = quadrant * pi/2 + rest, with |rest| <= pi/4; the quadrant modulo 4.
struct Angle {
  Value quadrant, rest;
};

/// Digit 1 of 2/pi is worth 2^-1. For |x| = m 2^s, the digits up to s - 2 give multiples of 4 quadrants, so the window
/// of three words begins with the next one. A word of zeros precedes the digits, for an s below 2.
Angle reduceLargeAngle(ImplicitLocOpBuilder &b, Value x) {
  auto type = cast<FloatType>(x.getType());
  Words w(b, type);
  auto [exponent, significand] = w.split(w.magnitudeBits(x));
  // s = exponent - exponentOfOne; position of the window's first digit = s - 2 + width.
  Value position = w.sub(w.add(exponent, w.constant(w.width - 2)), w.constant(w.exponentOfOne()));
  unsigned wordBits = w.width == 64 ? 6 : 5;
  Value word = w.right(position, w.constant(wordBits)), shift = w.both(position, w.constant(w.width - 1));

  auto digits = [&](unsigned index) -> uint64_t {
    if (index == 0)
      return 0;
    if (w.width == 64)
      return twoOverPi[index - 1];
    return (index - 1) % 2 ? twoOverPi[(index - 1) / 2] & UINT32_MAX : twoOverPi[(index - 1) / 2] >> 32;
  };
  // The maximum exponent of a finite number determines the number of possible first words.
  unsigned last = ((w.width == 64 ? 2046 : 254) + w.width - 2 - w.exponentOfOne()) >> wordBits;
  Value chosen[4];
  for (unsigned i = 0; i < 4; ++i) {
    chosen[i] = w.constant(digits(i));
    for (unsigned first = 1; first <= last; ++first)
      chosen[i] =
          w.select(w.is(arith::CmpIPredicate::uge, word, w.constant(first)), w.constant(digits(first + i)), chosen[i]);
  }
  // A shift by the whole width is undefined, hence two shifts.
  Value one = w.constant(1), back = w.sub(w.constant(w.width - 1), shift);
  auto windowWord = [&](unsigned i) {
    return w.either(w.left(chosen[i], shift), w.right(w.right(chosen[i + 1], one), back));
  };
  // The product modulo 2^(3 width): two digits of quadrant, and the fraction of one. The lowest word is not needed.
  auto low = arith::MulUIExtendedOp::create(b, significand, windowWord(2));
  auto middle = arith::MulUIExtendedOp::create(b, significand, windowWord(1));
  auto carried = arith::AddUIExtendedOp::create(b, middle.getLow(), low.getHigh());
  Value high = arith::MulIOp::create(b, significand, windowWord(0));
  high = w.add(w.add(high, middle.getHigh()), arith::ExtUIOp::create(b, w.type, carried.getOverflow()));
  Value two = w.constant(2), next = carried.getSum();
  Value quadrant = w.right(high, w.constant(w.width - 2));
  high = w.either(w.left(high, two), w.right(next, w.constant(w.width - 2)));
  next = w.left(next, two);
  // As a signed number the fraction is that of the nearest quadrant.
  quadrant = w.add(quadrant, w.right(high, w.constant(w.width - 1)));

  Type wide = b.getF64Type();
  auto real = [&](double value) { return arith::ConstantOp::create(b, wide, b.getF64FloatAttr(value)).getResult(); };
  Value top = arith::MulFOp::create(b, arith::SIToFPOp::create(b, wide, high), real(std::ldexp(1.0, -int(w.width))));
  Value rest =
      arith::MulFOp::create(b, arith::UIToFPOp::create(b, wide, next), real(std::ldexp(1.0, -2 * int(w.width))));
  Value angle = arith::MulFOp::create(b, arith::AddFOp::create(b, top, rest), real(1.5707963267948966));
  if (w.width == 32)
    angle = arith::TruncFOp::create(b, type, angle);
  // For negative x both change their signs.
  Value isNegative = w.is(arith::CmpIPredicate::slt, w.bitsOf(x), w.constant(0));
  quadrant = w.select(isNegative, w.sub(w.constant(0), quadrant), quadrant);
  return {quadrant, w.select(isNegative, arith::NegFOp::create(b, angle), angle)};
}

/// The value of a function of period 2 pi at a large argument; nan at infinity.
Value atLargeAngle(ImplicitLocOpBuilder &b, StringRef name, Value x) {
  Words w(b, cast<FloatType>(x.getType()));
  Angle angle = reduceLargeAngle(b, x);
  Term rest{&b, angle.rest};
  Value sine = expandSin(rest).value, cosine = expandCos(rest).value;
  Value quadrant = name == "cos" ? w.add(angle.quadrant, w.constant(1)) : angle.quadrant;
  Value isOdd = w.is(arith::CmpIPredicate::ne, w.both(quadrant, w.constant(1)), w.constant(0));
  Value result;
  if (name == "tan") {
    Value minus = arith::NegFOp::create(b, cosine);
    result = arith::DivFOp::create(b, w.select(isOdd, minus, sine), w.select(isOdd, sine, cosine));
  } else {
    Value isLower = w.is(arith::CmpIPredicate::ne, w.both(quadrant, w.constant(2)), w.constant(0));
    Value value = w.select(isOdd, cosine, sine);
    result = w.select(isLower, arith::NegFOp::create(b, value), value);
  }
  Value infinity = w.constant(w.width == 64 ? 0x7ff0000000000000 : 0x7f800000);
  Value isFinite = w.is(arith::CmpIPredicate::ult, w.magnitudeBits(x), infinity);
  return w.select(isFinite, result, arith::SubFOp::create(b, x, x));
}

/// The remainder of x by y with the sign of x, as fmod.
Value remainder(ImplicitLocOpBuilder &b, Value x, Value y) {
  auto type = cast<FloatType>(x.getType());
  Words w(b, type);
  Value a = w.magnitudeBits(x), c = w.magnitudeBits(y);
  auto [exponent, significand] = w.split(a);
  auto [divisorExponent, divisor] = w.split(c);
  Value zero = w.constant(0), one = w.constant(1);
  // A division by zero is undefined; the result is a nan then.
  divisor = w.select(w.is(arith::CmpIPredicate::eq, divisor, zero), one, divisor);
  Value digits =
      w.select(w.is(arith::CmpIPredicate::ugt, exponent, divisorExponent), w.sub(exponent, divisorExponent), zero);
  // The number of quotient digits in a step, such that the shifted rest fits 64 bits.
  Type wide = b.getI64Type();
  auto widen = [&](Value value) { return w.width == 64 ? value : Value(arith::ExtUIOp::create(b, wide, value)); };
  Value most = w.constant(64 - (w.fraction + 1));
  Value longDivisor = widen(divisor), first = arith::RemUIOp::create(b, widen(significand), longDivisor);
  auto loop = scf::WhileOp::create(b, TypeRange{wide, w.type}, ValueRange{first, digits});
  {
    OpBuilder::InsertionGuard guard(b);
    SmallVector<Location> places(2, b.getLoc());
    Block *before = b.createBlock(&loop.getBefore(), {}, {wide, w.type}, places);
    Value goesOn = w.is(arith::CmpIPredicate::ne, before->getArgument(1), zero);
    scf::ConditionOp::create(b, goesOn, before->getArguments());
    Block *after = b.createBlock(&loop.getAfter(), {}, {wide, w.type}, places);
    Value step = arith::MinUIOp::create(b, after->getArgument(1), most);
    Value shifted = arith::ShLIOp::create(b, after->getArgument(0), widen(step));
    Value rest = arith::RemUIOp::create(b, shifted, longDivisor);
    scf::YieldOp::create(b, ValueRange{rest, w.sub(after->getArgument(1), step)});
  }
  Value rest = loop.getResult(0);
  if (w.width == 32)
    rest = arith::TruncIOp::create(b, w.type, rest);
  // The integer value of a rest is its multiple of the smallest denormal; two powers of two scale it to the divisor's
  // exponent.
  Value power = w.sub(divisorExponent, one), half = w.right(power, one);
  auto powerOfTwo = [&](Value exponentOf) {
    Value biased = w.add(exponentOf, w.constant(w.width == 64 ? 1023 : 127));
    return arith::BitcastOp::create(b, type, w.left(biased, w.constant(w.fraction))).getResult();
  };
  Value result = arith::BitcastOp::create(b, type, rest);
  result = arith::MulFOp::create(b, result, powerOfTwo(half));
  result = arith::MulFOp::create(b, result, powerOfTwo(w.sub(power, half)));

  // A dividend below the divisor, which may be infinite, is its own remainder.
  result = w.select(w.is(arith::CmpIPredicate::ult, a, c), arith::BitcastOp::create(b, type, a).getResult(), result);
  Value infinity = w.constant(w.width == 64 ? 0x7ff0000000000000 : 0x7f800000);
  Value isDefined = arith::AndIOp::create(
      b, w.is(arith::CmpIPredicate::ult, a, infinity),
      arith::AndIOp::create(b, w.is(arith::CmpIPredicate::ule, c, infinity), w.is(arith::CmpIPredicate::ne, c, zero)));
  Value sign = w.both(w.bitsOf(x), w.constant(uint64_t(1) << (w.width - 1)));
  Value bits = w.either(w.bitsOf(result), sign);
  Value nan = arith::ConstantOp::create(b, type, b.getFloatAttr(type, APFloat::getNaN(type.getFloatSemantics())));
  return w.select(isDefined, arith::BitcastOp::create(b, type, bits), nan);
}

struct DefineDeviceFunctions : impl::DefineDeviceFunctionsBase<DefineDeviceFunctions> {
  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      StringRef name = function.getSymName();
      FunctionType type = function.getFunctionType();
      if (!function.isExternal() || type.getNumInputs() == 0)
        continue;
      if (type.getInput(0).isF32())
        name.consume_back("f");
      if (name == "fmod")
        define(function, [](ImplicitLocOpBuilder &b, ValueRange x) { return remainder(b, x[0], x[1]); });
      else if (llvm::is_contained({"sin", "cos", "tan"}, name))
        define(function, [&](ImplicitLocOpBuilder &b, ValueRange x) { return atLargeAngle(b, name, x[0]); });
    }
  }

  static void define(func::FuncOp function, function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(function.getLoc(), function.addEntryBlock());
    func::ReturnOp::create(b, body(b, function.getArguments()));
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  }
};

} // namespace
} // namespace mlir::array
