// Sine, cosine, tangent and the angle of a vector in f32. Angles are reduced by a three-part pi/2 with fma (W. J. Cody
// and W. Waite, 1980), which is exact enough up to maxQuadrantArgument; polynomials are those of S. L. Moshier's Cephes
// library (sinf, atanf), 1992.
#include "ExpandMathTerm.h"

#include <limits>

namespace mlir::array {

namespace {

/// x = quadrant * pi/2 + r with |r| <= pi/4 (a little more where rounding decides).
struct Angle {
  Term quadrant;
  Term r;
};

Angle reduceAngle(Term x) {
  constexpr double roundingShift = 12582912.0; // 1.5 * 2^23, see ExpandMathExponential.cpp
  Term shifted = fma(x, 0.636619772367581343076, x.like(roundingShift));
  Term n = shifted - roundingShift;
  Term r = fma(n, -1.57079637050628662109375, x);
  r = fma(n, 4.37113900018624283e-8, r);
  r = fma(n, 1.71512451482459416e-15, r);
  return {shifted.bits(), r};
}

/// Sine and cosine of |r| <= pi/4.
Term smallSin(Term r) {
  Term square = r * r;
  Term tail = polynomial(square, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  return fma(tail, square * r, r);
}

Term smallCos(Term r) {
  Term square = r * r;
  Term tail = polynomial(square, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  return fma(tail, square * square, fma(square, -0.5, square.like(1.0)));
}

Term isOdd(Term quadrant) { return isZero((quadrant & quadrant.likeInt(1)) ^ quadrant.likeInt(1)); }

/// Flips the sign of x where bit 1 of `quadrant` is set.
Term signByQuadrant(Term x, Term quadrant) {
  Term sign = (quadrant & quadrant.likeInt(2)) << 30;
  return (x.bits() ^ sign).asFloat();
}

} // namespace

// The sign of a zero is that of x: reduction turns -0 into +0.
Term expandSin(Term x) {
  Angle angle = reduceAngle(x);
  Term value = select(isOdd(angle.quadrant), smallCos(angle.r), smallSin(angle.r));
  return select(x == 0.0, x, signByQuadrant(value, angle.quadrant));
}

Term expandCos(Term x) {
  Angle angle = reduceAngle(x);
  Term value = select(isOdd(angle.quadrant), smallSin(angle.r), smallCos(angle.r));
  return signByQuadrant(value, angle.quadrant + angle.quadrant.likeInt(1));
}

// sin/cos in even quadrants, -cos/sin in odd ones.
Term expandTan(Term x) {
  Angle angle = reduceAngle(x);
  Term odd = isOdd(angle.quadrant);
  Term sine = smallSin(angle.r), cosine = smallCos(angle.r);
  Term quotient = select(odd, cosine, sine) / select(odd, sine, cosine);
  Term sign = (angle.quadrant & angle.quadrant.likeInt(1)) << 31;
  return select(x == 0.0, x, (quotient.bits() ^ sign).asFloat());
}

// The arctangent of small/large (of |x|, |y|), reduced once more to (small - large) / (small + large) + pi/4, then
// moved to its octant.
Term expandAtan2(Term y, Term x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double pi = 3.14159265358979323846;
  Term absX = abs(x), absY = abs(y);
  Term isSteep = absY > absX;
  Term large = select(isSteep, absY, absX), small = select(isSteep, absX, absY);
  // Sums of huge numbers would overflow. Two zeros and two infinities have no quotient: their angles are 0 and pi/4.
  Term shrink = select(large > 0x1p126, large.like(0.25), large.like(1.0));
  large = large * shrink;
  small = small * shrink;
  Term isWide = (small > large * 0.41421356237309503) | (small == infinity);
  Term quotient = select(isWide, small - large, small) / select(isWide, small + large, large);
  quotient = select((large == 0.0) | (small == infinity), quotient.like(0.0), quotient);
  Term square = quotient * quotient;
  Term tail = polynomial(square, {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  Term angle = fma(tail, square * quotient, quotient);
  // The low part of pi/4, and of its multiples, keeps the last bit.
  constexpr double quarterLow = -2.185569414336896e-8;
  angle = select(isWide, angle + quarterLow, angle);
  angle = select(isWide, angle + pi / 4, angle);
  angle = select(isSteep, angle.like(pi / 2) - (angle - 2 * quarterLow), angle);
  angle = select(isNegative(x.bits()), angle.like(pi) - (angle - 4 * quarterLow), angle);
  Term nan = isNan(x) | isNan(y);
  return select(nan, x + y, copysign(angle, y));
}

} // namespace mlir::array
