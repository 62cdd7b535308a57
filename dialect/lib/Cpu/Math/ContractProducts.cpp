// array-contract-products: marks the products that are added with one rounding, as math.fma. LLVM contracts a product
// and a sum only within a basic block, and a loop over vectors and the masked remainder after it may have other blocks:
// a masked gather is a branch for each lane where the machine has no instruction for it. A row's result would depend on
// the number of rows. Runs after array-expand-math, before structured control flow is lowered.
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace mlir::array {

#define GEN_PASS_DEF_CONTRACTPRODUCTS
#include "array/Cpu/Passes.h.inc"

namespace {

template <typename Op> bool mayContract(Op op) {
  return bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::contract);
}

/// The product that is nothing else than this operand of a sum; null if there is none.
arith::MulFOp productOf(Value operand) {
  auto product = operand.getDefiningOp<arith::MulFOp>();
  return product && product->hasOneUse() && mayContract(product) ? product : arith::MulFOp();
}

/// Like LLVM: the first operand's product rather than the second's. A sum with a constant zero is left to LLVM, which
/// knows whether it is the product itself.
Value contracted(Operation *op) {
  Value first = op->getOperand(0), second = op->getOperand(1);
  if (matchPattern(first, m_AnyZeroFloat()) || matchPattern(second, m_AnyZeroFloat()))
    return {};
  bool isDifference = isa<arith::SubFOp>(op);
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto negative = [&](Value x) -> Value { return arith::NegFOp::create(b, x); };
  if (arith::MulFOp product = productOf(first))
    return math::FmaOp::create(b, product.getLhs(), product.getRhs(), isDifference ? negative(second) : second);
  if (arith::MulFOp product = productOf(second)) {
    Value factor = isDifference ? negative(product.getLhs()) : product.getLhs();
    return math::FmaOp::create(b, factor, product.getRhs(), first);
  }
  return {};
}

struct ContractProducts : impl::ContractProductsBase<ContractProducts> {
  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      auto add = dyn_cast<arith::AddFOp>(op);
      auto sub = dyn_cast<arith::SubFOp>(op);
      Type element = (add || sub) ? getElementTypeOrSelf(op->getResult(0).getType()) : Type();
      if (element && (element.isF32() || element.isF64()) && (add ? mayContract(add) : mayContract(sub)))
        sums.push_back(op);
    });
    for (Operation *op : sums) {
      Value before[] = {op->getOperand(0), op->getOperand(1)};
      Value result = contracted(op);
      if (!result)
        continue;
      op->replaceAllUsesWith(ValueRange{result});
      op->erase();
      for (Value operand : before)
        if (Operation *product = operand.getDefiningOp();
            isa_and_nonnull<arith::MulFOp>(product) && operand.use_empty())
          product->erase();
    }
  }
};

} // namespace
} // namespace mlir::array
