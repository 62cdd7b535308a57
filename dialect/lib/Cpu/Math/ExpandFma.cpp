// array-expand-fma: emulates multiplication and addition with one rounding by other instructions. Math functions rely
// on it: their range reductions and error terms are exact only with it. Runs after array-expand-math.
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

#define GEN_PASS_DEF_EXPANDFMA
#include "array/Cpu/Passes.h.inc"

namespace {

Value add(ImplicitLocOpBuilder &b, Value x, Value y) { return arith::AddFOp::create(b, x, y); }
Value sub(ImplicitLocOpBuilder &b, Value x, Value y) { return arith::SubFOp::create(b, x, y); }
Value mul(ImplicitLocOpBuilder &b, Value x, Value y) { return arith::MulFOp::create(b, x, y); }

Value constant(ImplicitLocOpBuilder &b, Type type, double value) {
  TypedAttr attribute = b.getF64FloatAttr(value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(b, attribute);
}

Value inF64(ImplicitLocOpBuilder &b, math::FmaOp op) {
  Type type = op.getType(), wide = b.getF64Type();
  if (auto vector = dyn_cast<VectorType>(type))
    wide = vector.clone(wide);
  auto extended = [&](Value x) -> Value { return arith::ExtFOp::create(b, wide, x); };
  Value product = mul(b, extended(op.getA()), extended(op.getB()));
  return arith::TruncFOp::create(b, type, add(b, product, extended(op.getC())));
}

/// The upper and the lower half of the bits of x; every product of two halves is exact (Veltkamp).
std::pair<Value, Value> split(ImplicitLocOpBuilder &b, Value x) {
  Value scaled = mul(b, x, constant(b, x.getType(), 134217729.0)); // 2^27 + 1
  Value high = sub(b, scaled, sub(b, scaled, x));
  return {high, sub(b, x, high)};
}

Value withErrors(ImplicitLocOpBuilder &b, math::FmaOp op) {
  Value x = op.getA(), y = op.getB(), z = op.getC();
  auto [xHigh, xLow] = split(b, x);
  auto [yHigh, yLow] = split(b, y);
  Value product = mul(b, x, y);
  Value ofProduct = sub(b, mul(b, xHigh, yHigh), product);
  ofProduct = add(b, add(b, ofProduct, mul(b, xHigh, yLow)), mul(b, xLow, yHigh));
  ofProduct = add(b, ofProduct, mul(b, xLow, yLow));
  // The rounding error of the sum (Knuth).
  Value sum = add(b, product, z);
  Value shareOfZ = sub(b, sum, product);
  Value ofSum = add(b, sub(b, product, sub(b, sum, shareOfZ)), sub(b, z, shareOfZ));
  Value result = add(b, sum, add(b, ofProduct, ofSum));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, result, result);
  return arith::SelectOp::create(b, isNan, sum, result);
}

struct ExpandFma : impl::ExpandFmaBase<ExpandFma> {
  void runOnOperation() override {
    getOperation().walk([](math::FmaOp op) {
      Type element = getElementTypeOrSelf(op.getType());
      if (!element.isF32() && !element.isF64())
        return;
      ImplicitLocOpBuilder b(op.getLoc(), op);
      op.replaceAllUsesWith(element.isF32() ? inF64(b, op) : withErrors(b, op));
      op.erase();
    });
  }
};

} // namespace
} // namespace mlir::array
