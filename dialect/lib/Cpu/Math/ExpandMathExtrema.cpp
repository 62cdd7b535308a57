// Minima and maxima that pass nan on, for processors whose instructions return the second operand if one is nan, or if
// both are zeros. -0 is less than 0. LLVM exchanges the operands by their signs first, which takes 20 cycles where a
// loop carries a number.
#include "ExpandMathTerm.h"

namespace mlir::array {

// Two numbers that are not zeros have the same minimum in either order. Of zeros, and of a nan and a number, both are
// among the two results, and the union of their bits has the sign, or is a nan.
Term expandMinimum(Term x, Term y) {
  Term first = select(x < y, x, y), second = select(y < x, y, x);
  return (first.bits() | second.bits()).asFloat();
}

// The common bits of two zeros have no sign.
Term expandMaximum(Term x, Term y) {
  Term first = select(x > y, x, y), second = select(y > x, y, x);
  Term number = (first.bits() & second.bits()).asFloat();
  return select(compare(arith::CmpFPredicate::UNO, x, y), x + y, number);
}

} // namespace mlir::array
