// Powers and roots: pow, rsqrt, cbrt.
#include "ExpandMathTerm.h"

#include "mlir/IR/Matchers.h"

#include <limits>

namespace mlir::array {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// 2^x in f64, for -1000 < x < 1000, to about 2^-40.
Term exp2Wide(Term x) {
  Rounded n = roundProduct(x, 1.0);
  return n.powerOfTwo() *
         polynomial(x - n.number, {1.31759672683529061e-6, 1.53097360557907791e-5, 1.54038513155763113e-4,
                                   1.33334520671415935e-3, 9.61812854333268276e-3, 5.55041093933843904e-2,
                                   2.40226506988792748e-1, 6.93147180546512032e-1, 9.99999999999762745e-1});
}

/// |x|^y for f32, computed in f64, so that results are rounded once.
Term singlePower(Term magnitude, Term y) {
  Term logarithm = log2Wide(widen(magnitude));
  logarithm = select(magnitude == 0.0, logarithm.like(-infinity), logarithm);
  logarithm = select(magnitude == infinity, logarithm.like(infinity), logarithm);
  Term exponent = widen(y) * logarithm;
  exponent = select(magnitude == 1.0, exponent.like(0.0), exponent); // 1^inf is 1
  return narrow(exp2Wide(atLeast(atMost(exponent, 200.0), -200.0)));
}

/// |x|^y for f64: the product y log2|x| in two parts; the low part is added after the reduction of the high part.
Term widePower(Term magnitude, Term y) {
  Pair logarithm = log2Pair(magnitude);
  Term high = y * logarithm.high;
  Term low = fma(y, logarithm.high, -high) + y * logarithm.low;
  Term special = select(magnitude == 0.0, y.like(-infinity), y.like(infinity));
  high = select((magnitude == 0.0) | (magnitude == infinity), y * special, high);
  high = select(magnitude == 1.0, y.like(0.0), high);
  // Beyond the limits the power is an infinity or 0.
  Term limited = atLeast(atMost(high, 1025.0), -1077.0);
  Rounded n = roundProduct(limited, 1.0);
  Term r = limited - n.number + select(abs(low) < 1.0, low, low.like(0.0));
  constexpr double ln2 = 0.6931471805599453;
  return scale(smallExpm1(r * ln2) + 1.0, n.integer());
}

/// The root of x and its product with powers of |x|: at -inf, x^1/2 is inf and x^-1/2 is 0; at -0 both are positive.
Term halfPower(Term x, double exponent) {
  Term magnitude = abs(x);
  bool isReciprocal = exponent < 0;
  Term root = abs(isReciprocal ? expandRsqrt(x) : x.of(math::SqrtOp::create(*x.b, x.value)));
  Term result = root;
  if (exponent == 1.5)
    result = magnitude * root;
  else if (exponent == 2.5)
    result = magnitude * magnitude * root;
  else if (exponent == -1.5)
    result = root / magnitude; // 1/x^1.5 could be lost: x^1.5 overflows before its reciprocal is 0
  return select(x == -infinity, x.like(isReciprocal ? 0.0 : infinity), result);
}

/// Powers with small constant exponents, by products and roots, as XLA has some of them: at most two units in the last
/// place from the result. They take a fifth of the time of the general formula, or less.
std::optional<Term> knownPower(Term x, Term y) {
  APFloat exponent(0.0);
  if (!matchPattern(y.value, m_ConstantFloat(&exponent)))
    return std::nullopt;
  double known = exponent.convertToDouble();
  if (known == 0)
    return x.like(1.0);
  if (known == 1)
    return x;
  if (known == 2)
    return x * x;
  if (known == 3)
    return x * x * x;
  if (known == -1)
    return 1.0 / x;
  if (known == 0.5 || known == -0.5 || known == 1.5 || known == -1.5 || known == 2.5)
    return halfPower(x, known);
  return std::nullopt;
}

} // namespace

// |x|^y = 2^(y log2|x|), then the special cases of IEEE 754.
Term expandPow(Term x, Term y) {
  if (std::optional<Term> known = knownPower(x, y))
    return *known;
  Term magnitude = abs(x);
  Term result = x.isWide() ? widePower(magnitude, y) : singlePower(magnitude, y);
  Term isInteger = floor(y) == y;
  Term halfY = y * 0.5;
  Term isOdd = isInteger & (compare(arith::CmpFPredicate::ONE, floor(halfY), halfY));
  Term negative = isNegative(x.bits());
  result = select(negative & isOdd, -result, result);
  Term isFraction = compare(arith::CmpFPredicate::ONE, floor(y), y);
  Term undefined = isFraction & (x < 0.0) & (magnitude < infinity);
  Term nan = x.like(std::numeric_limits<double>::quiet_NaN());
  result = select(undefined | isNan(x) | isNan(y), nan, result);
  return select((y == 0.0) | (x == 1.0), x.like(1.0), result);
}

/// A step of the third order (A. S. Householder, "The Numerical Treatment of a Single Nonlinear Equation", 1970).
static Term nearerRoot(Term root, Term residual) {
  return fma(root * residual, fma(residual, 0.375, residual.like(0.5)), root);
}

static Term residualOf(Term x, Term root) { return fma(-(x * root), root, 1.0); }

/// The last step has a residual with the rounding error of the product, so its result is rounded once: it does not
/// depend on the guess. All f32 numbers have the same result by both forms, f64 numbers but for one of 2^40.
static Term lastRoot(Term x, Term root) {
  Term product = x * root, error = fma(x, root, -product);
  Term residual = fma(-error, root, fma(-product, root, 1.0));
  return x.isWide() ? nearerRoot(root, residual) : fma(root * 0.5, residual, root);
}

// Half of the bits, subtracted from a constant, is a first guess to 3.5 % (C. Lomont, "Fast inverse square root",
// 2003).
static Term rootByIntegers(Term x) {
  Term isSmall = x < x.either(0x1p-1022, 0x1p-126);
  Term a = select(isSmall, x * x.either(0x1p64, 0x1p32), x);
  Term bits = a.bits();
  Term root = (bits.likeInt(x.either<int64_t>(0x5FE6EB50C7B537A9, 0x5F375A86)) - (bits >> 1)).asFloat();
  for (int step = 0; step < 2; ++step)
    root = nearerRoot(root, residualOf(a, root));
  root = lastRoot(a, root);
  root = select(isSmall, root * x.either(0x1p32, 0x1p16), root);
  Term special = select(x == 0.0, copysign(x.like(infinity), x), x.like(std::numeric_limits<double>::quiet_NaN()));
  special = select(x == infinity, x.like(0.0), special);
  return select((x > 0.0) & (x < infinity), root, special);
}

// The instruction gives 14 bits, also of denormal numbers. The residual of a special value is nan: the guess is its
// result.
static Term rootInRegister(Term x) {
  Term guess = callAvx512("rsqrt14", x, {x.value, x.value, allLanes(x)});
  Term residual = residualOf(x, guess);
  return select(isNan(residual), guess, lastRoot(x, nearerRoot(guess, residual)));
}

const RegisterForm reciprocalRoot = {"array.root.reciprocal", rootByIntegers, rootInRegister};

Term expandRsqrt(Term x) { return reciprocalRoot(x); }

// A third of the upper bits is a first guess to 5 bits (W. Kahan, "Computing a real cube root", 1991); each of Halley's
// steps triples them. The steps are written as corrections with a fused residual, and in quarters, so that 3a does not
// overflow.
Term expandCbrt(Term x) {
  Term magnitude = abs(x);
  Term isSmall = magnitude < x.either(0x1p-700, 0x1p-60);
  Term a = select(isSmall, magnitude * x.either(0x1p300, 0x1p96), magnitude);
  // For f64 only the upper half; the multiplication by 1/3 is exact enough for it.
  Term bits = x.isWide() ? a.bits() >> 32 : a.bits();
  Term third = toInteger(toFloat(bits) * (1.0 / 3.0) + x.either(715094163.0, 709958130.0));
  Term root = (x.isWide() ? third << 32 : third).asFloat();
  Term quarter = a * 0.25;
  for (int step = 0; step < x.either(3, 2); ++step) {
    Term square = root * root;
    Term residual = fma(square * -0.25, root, quarter);
    root = fma(residual / fma(square * 0.5, root, quarter), root, root);
  }
  root = select(isSmall, root * x.either(0x1p-100, 0x1p-32), root);
  Term isSpecial = (magnitude == 0.0) | (magnitude == infinity) | isNan(x);
  return select(isSpecial, x, copysign(root, x));
}

} // namespace mlir::array
