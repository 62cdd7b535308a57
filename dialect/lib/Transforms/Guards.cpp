// See Guards.h.
#include "Guards.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::array {

static constexpr llvm::StringLiteral kNamePrefix = "array.";

StringRef nameInErrors(Operation *op) {
  if (auto name = dyn_cast<NameLoc>(op->getLoc()); name && name.getName().strref().starts_with(kNamePrefix))
    return name.getName().strref().drop_front(kNamePrefix.size());
  StringRef name = op->getName().getStringRef();
  name.consume_front(kNamePrefix);
  return name;
}

std::string textOf(AffineExpr expression) {
  std::string text;
  llvm::raw_string_ostream(text) << expression;
  return text;
}

void keepName(Operation *op) { op->setLoc(NameLoc::get(op->getName().getIdentifier(), op->getLoc())); }

/// Whether constants say already that it holds.
static bool isKnownToHold(const Guard &guard) {
  SmallVector<int64_t> known;
  for (OpFoldResult value : guard.values) {
    std::optional<int64_t> number = getConstantIntValue(value);
    if (!number)
      return guard.kind == PCRT_CHECK_EQUAL && guard.values[0] == guard.values[1];
    known.push_back(*number);
  }
  switch (guard.kind) {
  case PCRT_CHECK_EQUAL:
    return known[0] == known[1];
  case PCRT_CHECK_AT_MOST:
    return known[0] >= 0 && known[0] <= known[1];
  case PCRT_CHECK_INDEX:
    return known[0] >= 0 && known[0] < known[1];
  case PCRT_CHECK_SLICE: {
    std::optional<int64_t> last = llvm::checkedMulAdd(known[1] - 1, known[2], known[0]);
    return known[0] >= 0 && known[1] >= 0 && known[0] <= known[3] &&
           (known[1] == 0 || (last && *last >= 0 && *last < known[3] && known[0] < known[3]));
  }
  case PCRT_CHECK_STEP:
    return known[0] > 0;
  default:
    return false;
  }
}

void emitGuard(OpBuilder &builder, Operation *op, const Guard &guard) {
  if (isKnownToHold(guard))
    return;
  SmallVector<int64_t> params = {guard.kind, guard.operand, guard.dimension};
  SmallVector<Value> sizes;
  for (OpFoldResult value : guard.values) {
    std::optional<int64_t> known = getConstantIntValue(value);
    bool isParam = known && !ShapedType::isDynamic(*known);
    params.push_back(isParam ? *known : ShapedType::kDynamic);
    if (isParam)
      continue;
    sizes.push_back(known ? arith::ConstantIndexOp::create(builder, op->getLoc(), *known).getResult()
                          : cast<Value>(value));
  }
  auto call = RuntimeCallOp::create(builder, op->getLoc(), TypeRange(), "check", params, builder.getArrayAttr({}),
                                    ValueRange(), ValueRange(), sizes, /*effectful=*/true);
  call->setAttr(kStandsForAttr, builder.getStringAttr(nameInErrors(op)));
}

} // namespace mlir::array
