// Sine, cosine, tangent. Angles are reduced by a three-part pi/2 with fma (W. J. Cody and W. Waite, 1980): each step
// rounds once. Up to isBeyondQuadrants, the parts suffice for every angle near a multiple of pi/2. Polynomials in f32
// are those of S. L. Moshier's Cephes library (sinf, cosf), 1992, in f64 minimax fits.
#include "ExpandMathTerm.h"

namespace mlir::array {

namespace {

/// x = quadrant * pi/2 + r with |r| <= pi/4 (a little more because of rounding).
struct Angle {
  Term quadrant;
  Term r;
};

Angle reduceAngle(Term x) {
  Rounded n = roundProduct(x, 0.636619772367581343076);
  Term r = fma(n.number, -x.either(1.5707963267948966, 1.57079637050628662109375), x);
  r = fma(n.number, -x.either(6.123233995736766e-17, -4.37113900018624283e-8), r);
  r = fma(n.number, -x.either(-1.4973849048591698e-33, -1.71512451482459416e-15), r);
  return {n.shifted, r};
}

/// Sine and cosine of |r| <= pi/4.
Term smallSin(Term r) {
  Term square = r * r;
  Term tail = polynomial(square,
                         {1.5896146903848078e-10, -2.5050746284046734e-08, 2.7557313611595046e-06,
                          -0.00019841269829560078, 0.00833333333332208, -0.1666666666666663},
                         {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  return fma(tail, square * r, r);
}

Term smallCos(Term r) {
  Term square = r * r;
  Term tail = polynomial(square,
                         {-1.1359646284153752e-11, 2.087572327423258e-09, -2.755731435253436e-07, 2.480158728948329e-05,
                          -0.0013888888888874125, 0.0416666666666666},
                         {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  return fma(tail, square * square, fma(square, -0.5, square.like(1.0)));
}

Term isOdd(Term quadrant) { return isZero((quadrant & quadrant.likeInt(1)) ^ quadrant.likeInt(1)); }

/// Flips the sign of x if `bit` (0 or 1) of `quadrant` is set.
Term signByQuadrant(Term x, Term quadrant, int64_t bit) {
  Term sign = (quadrant & quadrant.likeInt(1 << bit)) << (x.either(63, 31) - bit);
  return (x.bits() ^ sign).asFloat();
}

} // namespace

// The sign of a zero is that of x: the reduction turns -0 into +0.
Term expandSin(Term x) {
  Angle angle = reduceAngle(x);
  Term value = select(isOdd(angle.quadrant), smallCos(angle.r), smallSin(angle.r));
  return select(x == 0.0, x, signByQuadrant(value, angle.quadrant, 1));
}

Term expandCos(Term x) {
  Angle angle = reduceAngle(x);
  Term value = select(isOdd(angle.quadrant), smallSin(angle.r), smallCos(angle.r));
  return signByQuadrant(value, angle.quadrant + angle.quadrant.likeInt(1), 1);
}

// sin/cos in even quadrants, -cos/sin in odd ones.
Term expandTan(Term x) {
  Angle angle = reduceAngle(x);
  Term odd = isOdd(angle.quadrant);
  Term sine = smallSin(angle.r), cosine = smallCos(angle.r);
  Term quotient = select(odd, cosine, sine) / select(odd, sine, cosine);
  return select(x == 0.0, x, signByQuadrant(quotient, angle.quadrant, 0));
}

Term isBeyondQuadrants(Term x) { return abs(x) > x.either(1073741824.0, 65536.0); }

} // namespace mlir::array
