// See Guards.h.
#include "Guards.h"
#include "Analysis/IndexRanges.h"

#include "runtime/SizeChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::array {

static constexpr llvm::StringLiteral kNamePrefix = "array.";

/// The name in the location of an inlined function's operation; a call location has none.
static StringRef nameKeptIn(Location location) {
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return nameKeptIn(call.getCallee());
  auto name = dyn_cast<NameLoc>(location);
  return name && name.getName().strref().starts_with(kNamePrefix) ? name.getName().strref() : StringRef();
}

StringRef nameInErrors(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>(kStandsForAttr))
    return name.getValue();
  if (StringRef name = nameKeptIn(op->getLoc()); !name.empty())
    return name.drop_front(kNamePrefix.size());
  StringRef name = op->getName().getStringRef();
  name.consume_front(kNamePrefix);
  return name;
}

std::string textOf(AffineExpr expression) {
  std::string text;
  llvm::raw_string_ostream(text) << expression;
  return text;
}

Location namedLocation(Operation *op) {
  StringRef name = op->getName().getStringRef();
  SmallString<32> prefixed(kNamePrefix);
  if (name.starts_with(kNamePrefix))
    prefixed.clear();
  prefixed += name;
  return NameLoc::get(StringAttr::get(op->getContext(), prefixed), op->getLoc());
}

void keepName(Operation *op) { op->setLoc(namedLocation(op)); }

bool isWithin(Value index, RankedTensorType type, int64_t dim) {
  Range range = rangeOf(index);
  return range.low >= 0 && !type.isDynamicDim(dim) && range.high < type.getDimSize(dim);
}

void guardStep(scf::ForOp loop) {
  OpBuilder b(loop);
  Value step = loop.getStep();
  if (!step.getType().isIndex() && !getConstantIntValue(step))
    step = arith::IndexCastOp::create(b, loop.getLoc(), b.getIndexType(), step);
  emitGuard(b, loop, {PCRT_CHECK_STEP, 2, 0, {step}});
}

static bool isKnown(ArrayRef<int64_t> numbers) { return llvm::none_of(numbers, ShapedType::isDynamic); }

LogicalResult settle(RuntimeCallOp check) {
  ArrayRef<int64_t> params = check.getParams(), values = params.drop_front(3);
  if (!isKnown(values))
    return success();
  if (pcrt::sizechecks::holds(params[0], values.data())) {
    check.erase();
    return success();
  }
  static constexpr StringRef expected[] = {"size, expected size",
                                           "count, size: 0 <= count <= size",
                                           "index, size: 0 <= index < size",
                                           "offset, count, stride, size",
                                           "bytes of an element, rank, sizes",
                                           "size, number of parts, parts",
                                           "step: at least 1",
                                           "rank, sizes, rank, sizes of the result"};
  InFlightDiagnostic error = mlir::emitError(check.getLoc());
  error << nameInErrors(check) << ": sizes that don't fit, at dimension " << params[2] << " of ";
  if (params[1] < 0)
    error << "the result";
  else
    error << "operand #" << params[1];
  return error << ": " << llvm::interleaved_array(values).str() << " (" << expected[params[0]] << ")";
}

bool isCheck(ArrayRef<int64_t> params) {
  constexpr size_t first = 3;
  if (params.size() < first)
    return false;
  ArrayRef<int64_t> values = params.drop_front(first);
  auto isShapeAt = [&](size_t place, bool isLast) -> std::optional<size_t> {
    if (place >= values.size() || values[place] < 0 || uint64_t(values[place]) > values.size() - place - 1)
      return std::nullopt;
    size_t end = place + 1 + values[place];
    return isLast && end != values.size() ? std::nullopt : std::optional(end);
  };
  switch (params[0]) {
  case PCRT_CHECK_EQUAL:
  case PCRT_CHECK_AT_MOST:
  case PCRT_CHECK_INDEX:
    return values.size() == 2;
  case PCRT_CHECK_SLICE:
    return values.size() == 4;
  case PCRT_CHECK_SHAPE:
  case PCRT_CHECK_COUNT:
    return isShapeAt(1, /*isLast=*/true).has_value();
  case PCRT_CHECK_STEP:
    return values.size() == 1;
  case PCRT_CHECK_RESHAPE: {
    std::optional<size_t> second = isShapeAt(0, /*isLast=*/false);
    return second && isShapeAt(*second, /*isLast=*/true);
  }
  default:
    return false;
  }
}

void emitGuard(OpBuilder &builder, Operation *op, const Guard &guard) {
  if (guard.kind == PCRT_CHECK_EQUAL && guard.values[0] == guard.values[1])
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
  auto call =
      RuntimeCallOp::create(builder, op->getLoc(), TypeRange(), "check", params, builder.getTypeArrayAttr(TypeRange()),
                            ValueRange(), ValueRange(), sizes, /*effectful=*/true);
  call->setAttr(kStandsForAttr, builder.getStringAttr(nameInErrors(op)));
}

} // namespace mlir::array
