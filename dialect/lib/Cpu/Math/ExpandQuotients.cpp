// array-expand-quotients: divides vectors by constants without the divider, to the same bits. A divider gives a double
// every second cycle (AVX-512), two multiplications give eight in one. Runs after array-expand-math, which makes
// divisions, and before structured control flow is lowered.
//
// 1/c is the sum of two floats, `high`, rounded toward zero, and `low` of the same sign. x/c is fma(x, high, x * low):
// one rounding of a number that differs from the quotient by at most 2^(2-2p) of it (p is the precision), and the sign
// of a zero. A quotient of two floats is never halfway between two floats, and rarely that close: for a given divisor,
// at most some dozens of significands x are. The pass tries each of them. If one of them fails, for about one divisor
// of thirteen, the division stays (after Brisebarre, Muller and Raina, Accelerating correctly rounded floating-point
// division when the divisor is known in advance, 2004).
//
// If x * low is denormal, it is too coarse. Such small x, other than zero, are divided: a branch, which is rare.
#include "ExpandMathTerm.h"
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace mlir::array {

#define GEN_PASS_DEF_EXPANDQUOTIENTS
#include "array/Cpu/Passes.h.inc"

namespace {

constexpr auto nearest = APFloat::rmNearestTiesToEven;

/// The reciprocal of a divisor as a sum of two floats.
struct Reciprocal {
  APFloat high, low;

  explicit Reciprocal(const APFloat &divisor)
      : high(APFloat::getOne(divisor.getSemantics())), low(APFloat::getZero(divisor.getSemantics())) {
    APFloat one = high;
    high.divide(divisor, APFloat::rmTowardZero);
    low = -high;
    low.fusedMultiplyAdd(divisor, one, nearest); // the remainder, exactly
    low.divide(divisor, nearest);
  }

  APFloat multiply(const APFloat &x) const {
    APFloat error = x * low, quotient = x;
    quotient.fusedMultiplyAdd(high, error, nearest);
    return quotient;
  }
};

/// Whether multiplication gives every quotient by the integer `divisor`, which has `precision` bits, as division does.
/// A quotient x/d that is too close to the middle M / 2^k of two floats satisfies x 2^k - M d = n with |n| <= 8, hence
/// x = n / 2^k modulo d.
bool isExact(uint64_t divisor, unsigned precision, const llvm::fltSemantics &semantics) {
  auto number = [&](uint64_t integer) {
    APFloat result(semantics);
    result.convertFromAPInt(APInt(64, integer), /*IsSigned=*/false, nearest);
    return result;
  };
  APFloat d = number(divisor);
  Reciprocal reciprocal(d);
  unsigned twos = llvm::countr_zero(divisor);
  uint64_t odd = divisor >> twos, end = uint64_t(1) << precision;
  for (unsigned k : {precision, precision + 1})
    for (int64_t n = 1; n <= 8; ++n) {
      if (n % (int64_t(1) << std::min(twos, 4u)) != 0)
        continue;
      uint64_t quotient = (uint64_t(n) >> twos) % odd;
      for (unsigned i = twos; i < k; ++i) // halves it, modulo the odd number
        quotient = quotient / 2 + (quotient % 2 ? odd / 2 + 1 : 0);
      for (uint64_t first : {quotient, odd - quotient}) // of n and -n
        for (uint64_t x = first; x < end; x += odd)
          if (x >= end / 2 && reciprocal.multiply(number(x)) != number(x) / d)
            return false;
    }
  return true;
}

/// The reciprocal with which multiplication gives the quotients of all x of at least a magnitude, whose bits are
/// `least`.
struct Multiplier {
  Reciprocal reciprocal;
  uint64_t least;
};

std::optional<Multiplier> multiplierFor(const APFloat &divisor) {
  if (!divisor.isNormal())
    return std::nullopt;
  const llvm::fltSemantics &semantics = divisor.getSemantics();
  unsigned precision = APFloat::semanticsPrecision(semantics);
  Reciprocal reciprocal(divisor);
  // Powers of two multiply exactly, and LLVM knows them. Extreme divisors are not worth further cases.
  if (!reciprocal.high.isNormal() || !reciprocal.low.isNormal())
    return std::nullopt;
  int smallest = APFloat::semanticsMinExponent(semantics), exponent = smallest - ilogb(reciprocal.low);
  if (exponent > smallest / 2)
    return std::nullopt;
  uint64_t mask = (uint64_t(1) << (precision - 1)) - 1;
  uint64_t significand = (divisor.bitcastToAPInt().getZExtValue() & mask) | (mask + 1);
  if (!isExact(significand, precision, semantics))
    return std::nullopt;
  APFloat least = scalbn(APFloat::getOne(semantics), exponent, nearest);
  return Multiplier{reciprocal, least.bitcastToAPInt().getZExtValue()};
}

/// Whether some lane is neither zero nor at least as large as the number with the bits `least`.
Value anyIsSmall(Term x, uint64_t least) {
  Term bits = x.bits(), doubled = bits + bits;                                                // without the sign
  Term below = doubled - doubled.likeInt(1), limit = doubled.likeInt(int64_t(2 * least - 1)); // a zero wraps around
  Term isSmall = below.of(arith::CmpIOp::create(*x.b, arith::CmpIPredicate::ult, below.value, limit.value));
  return vector::ReductionOp::create(*x.b, vector::CombiningKind::OR, isSmall.value);
}

void expand(arith::DivFOp op, const Multiplier &multiplier) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Term x{&b, op.getLhs()};
  const Reciprocal &reciprocal = multiplier.reciprocal;
  Term error = x * reciprocal.low.convertToDouble(), product = fma(x, reciprocal.high.convertToDouble(), error);
  // Without the branch weight LLVM would always divide, and select.
  Value isRare = LLVM::ExpectOp::create(b, anyIsSmall(x, multiplier.least), arith::ConstantIntOp::create(b, 0, 1));
  auto choice = scf::IfOp::create(b, TypeRange{x.type()}, isRare, /*withElseRegion=*/true);
  op.replaceAllUsesWith(choice.getResult(0));
  b.setInsertionPointToStart(choice.thenBlock());
  auto yield = scf::YieldOp::create(b, op.getResult());
  op->moveBefore(yield);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, product.value);
}

/// The divisor of a division of vectors that is repeated: elsewhere it is not worth a branch.
std::optional<APFloat> constantDivisor(arith::DivFOp op) {
  auto vector = dyn_cast<VectorType>(op.getType());
  DenseFPElementsAttr divisor;
  if (!vector || vector.getRank() != 1 || !(vector.getElementType().isF32() || vector.getElementType().isF64()) ||
      !matchPattern(op.getRhs(), m_Constant(&divisor)) || !divisor.isSplat() ||
      !op->getParentOfType<LoopLikeOpInterface>())
    return std::nullopt;
  return divisor.getSplatValue<APFloat>();
}

struct ExpandQuotients : impl::ExpandQuotientsBase<ExpandQuotients> {
  void runOnOperation() override {
    SmallVector<std::pair<arith::DivFOp, APFloat>> work;
    getOperation().walk([&](arith::DivFOp op) {
      if (std::optional<APFloat> divisor = constantDivisor(op))
        work.emplace_back(op, *divisor);
    });
    std::map<std::pair<unsigned, uint64_t>, std::optional<Multiplier>> known; // by width and bits
    for (auto &[op, divisor] : work) {
      APInt bits = divisor.bitcastToAPInt();
      auto [found, isNew] = known.try_emplace({bits.getBitWidth(), bits.getZExtValue()});
      if (isNew)
        found->second = multiplierFor(divisor);
      if (found->second)
        expand(op, *found->second);
    }
  }
};

} // namespace
} // namespace mlir::array
