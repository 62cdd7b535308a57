// Formulas on scalars and vectors. A Term is an SSA value with the operators of formulas. One formula serves scalars
// and vectors of any length, so all have the same bits. Used by the files ExpandMath*.cpp.
#ifndef ARRAY_LIB_CPU_MATH_EXPANDMATHTERM_H
#define ARRAY_LIB_CPU_MATH_EXPANDMATHTERM_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

/// A float, integer or boolean, or a vector of them.
struct Term {
  ImplicitLocOpBuilder *b;
  Value value;

  Type type() const { return value.getType(); }
  Type element() const { return getElementTypeOrSelf(type()); }
  bool isFloat() const { return isa<FloatType>(element()); }

  // The format: f64 or f32, and integers of the same width.
  bool isWide() const { return element().getIntOrFloatBitWidth() == 64; }
  int64_t fractionBits() const { return isWide() ? 52 : 23; }
  int64_t bias() const { return isWide() ? 1023 : 127; }
  /// Selects one of two numbers by the format.
  template <typename T> T either(T wide, T single) const { return isWide() ? wide : single; }
  Term of(Value other) const { return {b, other}; }

  /// This term's type with another element type.
  Type typeWith(Type element) const {
    auto vector = dyn_cast<VectorType>(type());
    return vector ? Type(vector.clone(element)) : element;
  }

  /// A constant of this term's type.
  Term like(double number) const {
    return of(arith::ConstantOp::create(*b, splat(b->getFloatAttr(element(), number))));
  }
  Term likeInt(int64_t number) const {
    return of(arith::ConstantOp::create(*b, splat(b->getIntegerAttr(element(), number))));
  }

  /// The bits as integers of the same width, and back.
  Term bits() const {
    return of(arith::BitcastOp::create(*b, typeWith(b->getIntegerType(element().getIntOrFloatBitWidth())), value));
  }
  Term asFloat() const {
    Type target = element().isInteger(32) ? Type(b->getF32Type()) : Type(b->getF64Type());
    return of(arith::BitcastOp::create(*b, typeWith(target), value));
  }

private:
  TypedAttr splat(TypedAttr scalar) const {
    auto vector = dyn_cast<VectorType>(type());
    return vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(scalar))) : scalar;
  }
};

inline Term operator+(Term x, Term y) {
  return x.of(x.isFloat() ? Value(arith::AddFOp::create(*x.b, x.value, y.value))
                          : Value(arith::AddIOp::create(*x.b, x.value, y.value)));
}
inline Term operator-(Term x, Term y) {
  return x.of(x.isFloat() ? Value(arith::SubFOp::create(*x.b, x.value, y.value))
                          : Value(arith::SubIOp::create(*x.b, x.value, y.value)));
}
inline Term operator*(Term x, Term y) { return x.of(arith::MulFOp::create(*x.b, x.value, y.value)); }
inline Term operator/(Term x, Term y) { return x.of(arith::DivFOp::create(*x.b, x.value, y.value)); }
inline Term operator-(Term x) { return x.of(arith::NegFOp::create(*x.b, x.value)); }
inline Term operator+(Term x, double y) { return x + x.like(y); }
inline Term operator-(Term x, double y) { return x - x.like(y); }
inline Term operator*(Term x, double y) { return x * x.like(y); }
inline Term operator-(double x, Term y) { return y.like(x) - y; }
inline Term operator/(double x, Term y) { return y.like(x) / y; }

/// x * y + z with one rounding.
inline Term fma(Term x, Term y, Term z) { return x.of(math::FmaOp::create(*x.b, x.value, y.value, z.value)); }
inline Term fma(Term x, double y, Term z) { return fma(x, x.like(y), z); }
inline Term fma(Term x, Term y, double z) { return fma(x, y, x.like(z)); }

/// The polynomial with `coefficients` from the highest power to the lowest, by Horner's rule with fma. A leading
/// coefficient of 1 costs an addition, which does not occupy the multiplier.
inline Term polynomial(Term x, ArrayRef<double> coefficients) {
  bool isMonic = coefficients.size() > 1 && coefficients.front() == 1.0;
  Term sum = isMonic ? x + coefficients[1] : x.like(coefficients.front());
  for (double coefficient : coefficients.drop_front(isMonic ? 2 : 1))
    sum = fma(sum, x, coefficient);
  return sum;
}

/// The same, with coefficients for each format.
inline Term polynomial(Term x, ArrayRef<double> wide, ArrayRef<double> single) {
  return polynomial(x, x.isWide() ? wide : single);
}

// Comparisons are ordered: false when an operand is nan.
inline Term compare(arith::CmpFPredicate predicate, Term x, Term y) {
  return x.of(arith::CmpFOp::create(*x.b, predicate, x.value, y.value));
}
inline Term operator<(Term x, Term y) { return compare(arith::CmpFPredicate::OLT, x, y); }
inline Term operator>(Term x, Term y) { return compare(arith::CmpFPredicate::OGT, x, y); }
inline Term operator==(Term x, Term y) { return compare(arith::CmpFPredicate::OEQ, x, y); }
inline Term operator<(Term x, double y) { return x < x.like(y); }
inline Term operator>(Term x, double y) { return x > x.like(y); }
inline Term operator==(Term x, double y) { return x == x.like(y); }
inline Term isNotZero(Term x) { return compare(arith::CmpFPredicate::ONE, x, x.like(0)); }
inline Term isNan(Term x) { return compare(arith::CmpFPredicate::UNO, x, x); }

// For booleans and integers.
inline Term operator&(Term x, Term y) { return x.of(arith::AndIOp::create(*x.b, x.value, y.value)); }
inline Term operator|(Term x, Term y) { return x.of(arith::OrIOp::create(*x.b, x.value, y.value)); }
inline Term operator^(Term x, Term y) { return x.of(arith::XOrIOp::create(*x.b, x.value, y.value)); }
inline Term operator<<(Term x, int64_t places) {
  return x.of(arith::ShLIOp::create(*x.b, x.value, x.likeInt(places).value));
}
/// Arithmetic, as for signed integers.
inline Term operator>>(Term x, int64_t places) {
  return x.of(arith::ShRSIOp::create(*x.b, x.value, x.likeInt(places).value));
}
inline Term isNegative(Term integer) {
  return integer.of(
      arith::CmpIOp::create(*integer.b, arith::CmpIPredicate::slt, integer.value, integer.likeInt(0).value));
}
inline Term isZero(Term integer) {
  return integer.of(
      arith::CmpIOp::create(*integer.b, arith::CmpIPredicate::eq, integer.value, integer.likeInt(0).value));
}

/// 1.5 * 2^23 or 1.5 * 2^52: adding it to a small float rounds to the nearest integer, which is then in the low bits.
inline double roundingShift(Term x) { return x.either(6755399441055744.0, 12582912.0); }
inline int64_t roundingShiftBits(Term x) { return x.either<int64_t>(0x4338000000000000, 0x4B400000); }

/// Conversions. Between f64 and i64, for which not every processor has an instruction, only for magnitudes up to 2^50,
/// and to the nearest integer.
inline Term toFloat(Term integer) {
  if (integer.isWide()) {
    Term shifted = (integer + integer.likeInt(roundingShiftBits(integer))).asFloat();
    return shifted - shifted.like(roundingShift(shifted));
  }
  return integer.of(arith::SIToFPOp::create(*integer.b, integer.typeWith(integer.b->getF32Type()), integer.value));
}
inline Term toInteger(Term x) {
  if (x.isWide()) {
    Term shifted = (x + x.like(roundingShift(x))).bits();
    return shifted - shifted.likeInt(roundingShiftBits(shifted));
  }
  return x.of(arith::FPToSIOp::create(*x.b, x.typeWith(x.b->getI32Type()), x.value));
}

inline Term select(Term condition, Term x, Term y) {
  return x.of(arith::SelectOp::create(*x.b, condition.value, x.value, y.value));
}
inline Term abs(Term x) { return x.of(math::AbsFOp::create(*x.b, x.value)); }
inline Term trunc(Term x) { return x.of(math::TruncOp::create(*x.b, x.value)); }
inline Term floor(Term x) { return x.of(math::FloorOp::create(*x.b, x.value)); }
inline Term sqrt(Term x) { return x.of(math::SqrtOp::create(*x.b, x.value)); }
inline Term copysign(Term x, Term sign) { return x.of(math::CopySignOp::create(*x.b, x.value, sign.value)); }

/// Limits that let nan through.
inline Term atMost(Term x, double limit) { return select(x > limit, x.like(limit), x); }
inline Term atLeast(Term x, double limit) { return select(x < limit, x.like(limit), x); }

inline Term widen(Term x) { return x.of(x.b->createOrFold<arith::ExtFOp>(x.typeWith(x.b->getF64Type()), x.value)); }
inline Term narrow(Term x) { return x.of(arith::TruncFOp::create(*x.b, x.typeWith(x.b->getF32Type()), x.value)); }

/// Applies a function of registers of `lanes` lanes to vectors of any length.
Value inParts(ImplicitLocOpBuilder &b, ValueRange vectors, int64_t lanes, function_ref<Value(ValueRange)> function);

//===--- Parts of formulas ----------------------------------------------------------------------------------------===//

/// The nearest integer to x, as a float and (in the low bits) as an integer.
struct Rounded {
  Term number;
  Term shifted;

  /// 2^(number + offset), if that is a normal number.
  Term powerOfTwo(int64_t offset = 0) const {
    int64_t places = shifted.fractionBits();
    return ((shifted << places) + shifted.likeInt((shifted.bias() + offset) << places)).asFloat();
  }
  Term integer() const;
};

/// x * factor, rounded. Magnitudes up to 2^21 (f32) or 2^50 (f64).
Rounded roundProduct(Term x, double factor);

/// y * 2^n, rounded once: n is from -252 to 254 (f32) or -2044 to 2046 (f64), and results may be denormal. Some
/// processors have an instruction for vectors of f32; for others this is expanded at the end.
Term scale(Term y, Term n);
/// Replaces the scaling of a vector by multiplications.
void expandScale(LLVM::CallIntrinsicOp op);

/// A function that AVX-512 has instructions for. Until the end of the pass it is a call of the intrinsic `name`.
struct RegisterForm {
  const char *name;
  /// For any processor.
  Term (*general)(Term x);
  /// For one register of 512 bits.
  Term (*inRegister)(Term x);

  Term operator()(Term x) const;
};
extern const RegisterForm logarithmExponent, logarithmFraction, reciprocalRoot;

Value constantInteger(ImplicitLocOpBuilder &b, unsigned bits, int64_t number);
/// The mask of all lanes of a register.
Value allLanes(Term x);
/// A call of an AVX-512 intrinsic for registers of the type of x, which is also that of the result.
Term callAvx512(StringRef name, Term x, ValueRange args);
/// Replaces a call of a RegisterForm by one of its forms.
void expandRegisterForm(LLVM::CallIntrinsicOp op, unsigned vectorBits);

/// e^r - 1 for |r| <= ln(2)/2.
Term smallExpm1(Term r);

/// x = n ln(2) + r.
struct ReducedExponent {
  Rounded n;
  Term r;
};
ReducedExponent reduceExponent(Term x);

/// An odd f32 function that tends to 1. Up to sqrt(`end`), it is x (k + P(x^2) / Q(x^2)) to less than a unit; beyond,
/// it is 1. The terms other than x k lose their weight as the function nears 1, and with it the errors of their many
/// roundings. Beyond the end the sum passes 1 and is limited. Lists from the highest power down.
Term saturatingQuotient(Term x, double k, double end, ArrayRef<double> numerator, ArrayRef<double> denominator);

/// A sum of two floats, the second of which is at most half a unit in the last place of the first.
struct Pair {
  Term high;
  Term low;
};

/// log2 of positive, finite f64 numbers: to about 2^-65 of the value, and, of normal numbers, to about 2^-44.
Pair log2Pair(Term x);
Term log2Wide(Term x);

//===--- The formulas: f32 in, f32 out; f64 in, f64 out -----------------------------------------------------------===//

Term expandExp(Term x);
Term expandExp2(Term x);
Term expandExpm1(Term x);
Term expandSinh(Term x);
Term expandCosh(Term x);
Term expandTanh(Term x);

Term expandErf(Term x);
Term expandErfc(Term x);

Term expandLog(Term x);
Term expandLog2(Term x);
Term expandLog10(Term x);
Term expandLog1p(Term x);
Term expandAsinh(Term x);
Term expandAcosh(Term x);
Term expandAtanh(Term x);

Term expandPow(Term x, Term y);
Term expandRsqrt(Term x);
Term expandCbrt(Term x);

/// Valid unless isBeyondQuadrants; the caller handles such arguments differently.
Term expandSin(Term x);
Term expandCos(Term x);
Term expandTan(Term x);
Term isBeyondQuadrants(Term x);

/// For processors without such instructions.
Term expandMinimum(Term x, Term y);
Term expandMaximum(Term x, Term y);

/// Valid unless isBeyondQuotients.
Term expandRemainder(Term x, Term y);
Term isBeyondQuotients(Term x, Term y);

Term expandAsin(Term x);
Term expandAcos(Term x);
Term expandAtan(Term x);
Term expandAtan2(Term y, Term x);

} // namespace mlir::array

#endif // ARRAY_LIB_CPU_MATH_EXPANDMATHTERM_H
