// Recognises contractions on buffers, and follows a buffer backwards from one (ContractionForm.h).
#include "ContractionForm.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array {

/// The two values that are multiplied, in the order of the operands, by a body that yields acc + lhs * rhs; none for
/// any other body.
template <typename AddOp, typename MulOp> static std::optional<std::pair<Value, Value>> matchFactors(Block *body) {
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<AddOp>();
  if (body->getNumArguments() != 3 || !add)
    return std::nullopt;
  Value acc = body->getArgument(2);
  Value product = add.getLhs() == acc ? add.getRhs() : add.getRhs() == acc ? add.getLhs() : Value();
  auto mul = product ? product.getDefiningOp<MulOp>() : MulOp();
  if (!mul)
    return std::nullopt;
  return std::pair<Value, Value>(mul.getLhs(), mul.getRhs());
}

std::optional<std::pair<Value, Value>> multipliedFactors(Block *body) {
  auto floats = matchFactors<arith::AddFOp, arith::MulFOp>(body);
  return floats ? floats : matchFactors<arith::AddIOp, arith::MulIOp>(body);
}

bool isMultiplyAdd(Block *body) {
  Type type = body->getArguments().back().getType();
  auto factors = matchFactors<arith::AddFOp, arith::MulFOp>(body);
  if (!factors || !llvm::hasNItems(*body, 3) || (!type.isF32() && !type.isF64()))
    return false;
  Value lhs = body->getArgument(0), rhs = body->getArgument(1);
  return *factors == std::pair(lhs, rhs) || *factors == std::pair(rhs, lhs);
}

/// The two widening operations, in the order of the operands, of a body that widens both factors, multiplies them and
/// adds the product.
template <typename AddOp, typename MulOp, typename... ExtOps>
static std::optional<std::pair<Operation *, Operation *>> matchWidened(Block *body) {
  auto factors = matchFactors<AddOp, MulOp>(body);
  if (!factors || !llvm::hasNItems(*body, 5))
    return std::nullopt;
  Operation *lhs = factors->first.getDefiningOp(), *rhs = factors->second.getDefiningOp();
  auto widens = [](Operation *op, BlockArgument narrow) {
    return isa_and_nonnull<ExtOps...>(op) && op->getOperand(0) == narrow;
  };
  if (widens(rhs, body->getArgument(0)))
    std::swap(lhs, rhs);
  if (!widens(lhs, body->getArgument(0)) || !widens(rhs, body->getArgument(1)))
    return std::nullopt;
  return std::pair(lhs, rhs);
}

std::optional<std::pair<bool, bool>> matchBytes(Block *body) {
  auto widened = matchWidened<arith::AddIOp, arith::MulIOp, arith::ExtSIOp, arith::ExtUIOp>(body);
  if (!widened || !body->getArgument(0).getType().isInteger(8) || !body->getArgument(1).getType().isInteger(8) ||
      !body->getArgument(2).getType().isInteger(32))
    return std::nullopt;
  return std::pair(isa<arith::ExtSIOp>(widened->first), isa<arith::ExtSIOp>(widened->second));
}

bool widensFloats(Block *body) { return matchWidened<arith::AddFOp, arith::MulFOp, arith::ExtFOp>(body).has_value(); }

bool isBFloat16MultiplyAdd(Block *body) {
  return widensFloats(body) && body->getArgument(0).getType().isBF16() && body->getArgument(1).getType().isBF16() &&
         body->getArgument(2).getType().isF32();
}

static Value rootBuffer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      value = view.getViewSource();
    else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op))
      value = metadata.getSource();
    else
      break;
  }
  return value;
}

bool mayOverlap(Value x, Value y) {
  auto isKnown = [](Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    return argument ? isa<func::FuncOp>(argument.getOwner()->getParentOp()) : !!root.getDefiningOp<memref::AllocOp>();
  };
  Value rootX = rootBuffer(x), rootY = rootBuffer(y);
  return rootX == rootY || !isKnown(rootX) || !isKnown(rootY);
}

/// Whether an operation inside `op` may touch `buffer`; `passes` returns whether a known operation leaves it alone.
static bool anyNested(Operation *op, llvm::function_ref<bool(Operation *)> passes) {
  return op
      ->walk([&](Operation *nested) {
        if (isa<scf::ForOp, scf::IfOp, scf::IndexSwitchOp, memref::AllocOp>(nested) || isMemoryEffectFree(nested))
          return WalkResult::advance();
        return passes(nested) ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

static bool anyOverlaps(ValueRange operands, Value buffer) {
  return llvm::any_of(operands,
                      [&](Value operand) { return isa<MemRefType>(operand.getType()) && mayOverlap(operand, buffer); });
}

bool mayWrite(Operation *op, Value buffer) {
  return anyNested(op, [&](Operation *nested) {
    if (auto linalg = dyn_cast<linalg::LinalgOp>(nested))
      return !anyOverlaps(linalg.getDpsInits(), buffer);
    if (auto copy = dyn_cast<memref::CopyOp>(nested))
      return !mayOverlap(copy.getTarget(), buffer);
    if (isa<memref::LoadOp>(nested))
      return true;
    return isa<func::CallOp, RuntimeCallOp>(nested) && !anyOverlaps(nested->getOperands(), buffer);
  });
}

bool mayTouch(Operation *op, Value buffer) {
  return anyNested(op, [&](Operation *nested) {
    return isa<linalg::LinalgOp, memref::CopyOp, func::CallOp, RuntimeCallOp>(nested) &&
           !anyOverlaps(nested->getOperands(), buffer);
  });
}

static bool isZero(Value value) { return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()); }

linalg::FillOp findZeroFill(linalg::LinalgOp op, Value c) {
  for (Operation *previous = op->getPrevNode(); previous; previous = previous->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(previous); fill && fill.getOutputs()[0] == c)
      return isZero(fill.getInputs()[0]) ? fill : linalg::FillOp();
    if (mayTouch(previous, c))
      return {};
  }
  return {};
}

} // namespace mlir::array
