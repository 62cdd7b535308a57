// See IndexRanges.h.
#include "IndexRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

static Range rangeOf(Value value, unsigned depth) {
  auto onlyType = [&]() -> Range {
    unsigned width = value.getType().isIndex() ? 64 : value.getType().getIntOrFloatBitWidth();
    return width < 64 ? Range{llvm::minIntN(width), llvm::maxIntN(width)} : Range();
  };
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return {*known, *known};
  Operation *op = value.getDefiningOp();
  if (!op || depth > 32 || !value.getType().isIntOrIndex())
    return value.getType().isIntOrIndex() ? onlyType() : Range();
  auto operand = [&](unsigned i) { return rangeOf(op->getOperand(i), depth + 1); };
  auto within = [&](std::optional<int64_t> low, std::optional<int64_t> high) {
    Range all = onlyType();
    return low && high && *low >= all.low && *high <= all.high ? Range{*low, *high} : all;
  };
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    int64_t extent = op->getParentOfType<linalg::LinalgOp>().getStaticLoopRanges()[index.getDim()];
    return ShapedType::isDynamic(extent) ? Range{0, Range().high} : Range{0, std::max<int64_t>(extent - 1, 0)};
  }
  if (isa<arith::AddIOp>(op)) {
    Range a = operand(0), b = operand(1);
    return within(llvm::checkedAdd(a.low, b.low), llvm::checkedAdd(a.high, b.high));
  }
  if (isa<arith::SubIOp>(op)) {
    Range a = operand(0), b = operand(1);
    return within(llvm::checkedSub(a.low, b.high), llvm::checkedSub(a.high, b.low));
  }
  if (isa<arith::MulIOp>(op)) {
    Range a = operand(0), b = operand(1);
    return a.low >= 0 && b.low >= 0 ? within(llvm::checkedMul(a.low, b.low), llvm::checkedMul(a.high, b.high))
                                    : onlyType();
  }
  if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    Range a = operand(0), b = operand(1);
    bool isMin = isa<arith::MinSIOp>(op);
    return {isMin ? std::min(a.low, b.low) : std::max(a.low, b.low),
            isMin ? std::min(a.high, b.high) : std::max(a.high, b.high)};
  }
  if (isa<arith::MinUIOp>(op)) {
    Range a = operand(0), b = operand(1);
    if (b.low < 0)
      return onlyType();
    return {a.low >= 0 ? std::min(a.low, b.low) : 0, a.low >= 0 ? std::min(a.high, b.high) : b.high};
  }
  if (isa<arith::SelectOp>(op)) {
    Range a = operand(1), b = operand(2);
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
  }
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op)) {
    Range a = operand(0);
    return within(a.low, a.high);
  }
  if (isa<arith::RemUIOp>(op)) {
    Range b = operand(1);
    return b.low > 0 ? within(0, b.high - 1) : onlyType();
  }
  return onlyType();
}

Range rangeOf(Value value) { return rangeOf(value, /*depth=*/0); }

std::optional<Range> rangeOf(AffineExpr expression, ArrayRef<int64_t> extents) {
  if (auto number = dyn_cast<AffineConstantExpr>(expression))
    return Range{number.getValue(), number.getValue()};
  if (auto loop = dyn_cast<AffineDimExpr>(expression))
    return Range{0, extents[loop.getPosition()] - 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return std::nullopt;
  std::optional<Range> a = rangeOf(binary.getLHS(), extents), b = rangeOf(binary.getRHS(), extents);
  if (!a || !b)
    return std::nullopt;
  auto make = [](std::optional<int64_t> low, std::optional<int64_t> high) {
    return low && high ? std::optional(Range{std::min(*low, *high), std::max(*low, *high)}) : std::nullopt;
  };
  bool isByConstant = b->low == b->high, isDivision = isByConstant && b->low > 0;
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return make(llvm::checkedAdd(a->low, b->low), llvm::checkedAdd(a->high, b->high));
  case AffineExprKind::Mul:
    return isByConstant ? make(llvm::checkedMul(a->low, b->low), llvm::checkedMul(a->high, b->low)) : std::nullopt;
  case AffineExprKind::FloorDiv:
    return isDivision ? make(llvm::divideFloorSigned(a->low, b->low), llvm::divideFloorSigned(a->high, b->low))
                      : std::nullopt;
  case AffineExprKind::CeilDiv:
    return isDivision ? make(llvm::divideCeilSigned(a->low, b->low), llvm::divideCeilSigned(a->high, b->low))
                      : std::nullopt;
  case AffineExprKind::Mod:
    if (isDivision && a->low >= 0 && a->high < b->low)
      return a;
    return isDivision ? std::optional(Range{0, b->low - 1}) : std::nullopt;
  default:
    return std::nullopt;
  }
}

} // namespace mlir::array
