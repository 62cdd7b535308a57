// The remainder of a division with the sign of the dividend, as fmod: exact, as every such remainder is a number.
#include "ExpandMathTerm.h"

namespace mlir::array {

// A quotient is rounded to a whole number at most if it is within half a place of it, so the whole part n of the
// rounded quotient is the true one, or one more. Below 2^53, x - n y is a multiple of the last place of y or of x, and
// smaller than y: a number, which a multiplication and addition with one rounding gives. For f32 the same is done in
// f64, whose whole numbers go as far.
Term expandRemainder(Term x, Term y) {
  if (!x.isWide())
    return narrow(expandRemainder(widen(x), widen(y)));
  Term whole = trunc(x / y);
  Term rest = fma(-whole, y, x);
  // One too many: the rest has the other sign.
  Term isBelow = isNegative(copysign(rest, x).bits() ^ rest.bits()) & isNotZero(rest);
  rest = copysign(select(isBelow, rest + copysign(y, x), rest), x);
  return select(abs(x) < abs(y), x, rest); // y may be infinite
}

Term isBeyondQuotients(Term x, Term y) {
  bool isSingle = !x.isWide();
  Term a = abs(isSingle ? widen(x) : x), b = abs(isSingle ? widen(y) : y);
  Term isBeyond = a / b > 9007199254740991.0;
  if (isSingle)
    return isBeyond;
  // Processors without such an instruction compute it from halves of the numbers, which must not overflow or vanish.
  return isBeyond | (a > 0x1p990) | ((a < 0x1p-900) & (b < a));
}

} // namespace mlir::array
