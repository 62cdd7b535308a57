// The inverse trigonometric functions: asin, acos, atan, atan2. For f32 the arctangent's polynomial is that of S. L.
// Moshier's Cephes library (atanf), 1992; the others are minimax fits of relative error.
#include "ExpandMathTerm.h"

#include <limits>

namespace mlir::array {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = 3.14159265358979323846;

/// pi minus its nearest float of x's format, which preserves the last bit of differences from pi and its halves.
double piLow(Term x) { return x.either(1.2246467991473532e-16, -8.742277657347586e-8); }

/// The arctangent of small/large, for 0 <= small <= large: that of the quotient, or pi/4 plus that of (small - large) /
/// (small + large).
Term octantAngle(Term small, Term large) {
  Term isWide = (small > large * 0.41421356237309503) | (small == infinity);
  Term quotient = select(isWide, small - large, small) / select(isWide, small + large, large);
  // Two zeros and two infinities have no quotient: their angles are 0 and pi/4.
  quotient = select((large == 0.0) | (small == infinity), quotient.like(0.0), quotient);
  Term square = quotient * quotient;
  Term tail = polynomial(square,
                         {0.015192872716486474, -0.03347159968226051, 0.045033983530145726, -0.0521835970093245,
                          0.058770135889818165, -0.06666225778904075, 0.07692282682119257, -0.09090908140651031,
                          0.11111111088055535, -0.14285714285385787, 0.1999999999999765, -0.33333333333333326},
                         {8.05374449538e-2, -1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1});
  Term angle = fma(tail, square * quotient, quotient);
  angle = select(isWide, angle + piLow(angle) / 4, angle);
  return select(isWide, angle + pi / 4, angle);
}

/// pi * part - angle.
Term angleFrom(double part, Term angle) { return angle.like(pi * part) - (angle - piLow(angle) * part); }

/// asin |x| is s + s z P(z) with s = |x| up to 1/2. Beyond, it is pi/2 less twice this with s = sqrt((1 - |x|) / 2).
/// z is s^2.
struct Arcsine {
  Term isBeyond;
  Term angle;
};

Arcsine halfArcsine(Term x) {
  Term a = abs(x);
  Term isBeyond = a > 0.5;
  Term z = select(isBeyond, (1.0 - a) * 0.5, a * a);
  Term s = select(isBeyond, sqrt(z), a);
  Term tail = polynomial(z,
                         {0.03263147139278599, -0.021003767715798035, 0.0217109041643004, 0.0037049202636775243,
                          0.01078066934514652, 0.011398832811980416, 0.013980831049354632, 0.017351611052315755,
                          0.022372215047276163, 0.030381942705387518, 0.04464285717466928, 0.0749999999997073,
                          0.1666666666666676},
                         {0.03752618655562401, 0.014431166462600231, 0.031809840351343155, 0.044516678899526596,
                          0.07500505447387695, 0.16666659712791443});
  return {isBeyond, fma(tail, s * z, s)};
}

} // namespace

Term expandAsin(Term x) {
  Arcsine part = halfArcsine(x);
  return copysign(select(part.isBeyond, angleFrom(0.5, part.angle + part.angle), part.angle), x);
}

Term expandAcos(Term x) {
  Arcsine part = halfArcsine(x);
  Term twice = part.angle + part.angle;
  Term beyond = select(x < 0.0, angleFrom(1.0, twice), twice);
  return select(part.isBeyond, beyond, angleFrom(0.5, copysign(part.angle, x)));
}

Term expandAtan(Term x) {
  Term a = abs(x);
  Term isSteep = a > 1.0;
  Term angle = octantAngle(select(isSteep, x.like(1.0), a), select(isSteep, a, x.like(1.0)));
  return copysign(select(isSteep, angleFrom(0.5, angle), angle), x);
}

// The angle in the octant with a quotient of at most 1, then moved to its octant.
Term expandAtan2(Term y, Term x) {
  Term absX = abs(x), absY = abs(y);
  Term isSteep = absY > absX;
  Term large = select(isSteep, absY, absX), small = select(isSteep, absX, absY);
  // Sums of huge numbers would overflow, and denormals have too few bits to be compared with a fraction of another.
  Term factor = select(large > x.either(0x1p1022, 0x1p126), x.like(0.25), x.like(1.0));
  factor = select(large < x.either(0x1p-960, 0x1p-100), x.like(0x1p60), factor);
  Term angle = octantAngle(small * factor, large * factor);
  angle = select(isSteep, angleFrom(0.5, angle), angle);
  angle = select(isNegative(x.bits()), angleFrom(1.0, angle), angle);
  return select(isNan(x) | isNan(y), x + y, copysign(angle, y));
}

} // namespace mlir::array
