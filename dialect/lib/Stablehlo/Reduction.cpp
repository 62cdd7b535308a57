// reduce and map: a known combination becomes one op, also argmax and argmin. Any other region is applied to one slice
// after the other.
#include "Regions.h"
#include "array/IR/Bytes.h"

#include "mlir/IR/Matchers.h"

namespace mlir::array::stablehlo {
namespace {

/// One array by a known combination; with an init that is not neutral, combined with it.
Value reduceBy(Source &source, const Combination &combination, unsigned index, unsigned count,
               ArrayRef<int64_t> dimensions) {
  RankedTensorType type = source.resultType(index);
  Value init = source.operand(count + index);
  Value reduced = source.make(combination.reduction, type, {source.operand(index)}, {source.named("axes", dimensions)});
  if (isNeutral(init, combination))
    return reduced;
  return source.make(combination.binary, type, {source.broadcast(init, source.extents(index)), reduced});
}

//===----------------------------------------------------------------------===//
// argmax and argmin
//===----------------------------------------------------------------------===//

/// The operation that gives a value, if it has this name and these operands.
bool computes(Value value, StringRef name, ValueRange operands) {
  Operation *op = value.getDefiningOp();
  return op && op->getName().getStringRef() == name && llvm::equal(op->getOperands(), operands);
}

Operation *definition(Value value, StringRef name, unsigned operands) {
  Operation *op = value.getDefiningOp();
  return op && op->getName().getStringRef() == name && op->getNumOperands() == operands ? op : nullptr;
}

bool compares(Value value, StringRef direction, Value lhs, Value rhs) {
  if (!computes(value, "stablehlo.compare", {lhs, rhs}))
    return false;
  OpBuilder builder(value.getContext());
  Source source(value.getDefiningOp(), builder);
  return source.wordAt(0, {"comparison_direction"}, "") == direction;
}

/// Matches JAX's form of argmax and argmin, for two values a and b with positions i and j: the value is a if it is
/// greater (or less), or nan; the position is i in this case, or if a equals b and i is less. Returns the op of the
/// array dialect.
StringRef argReductionOf(Region &region) {
  Block &block = region.front();
  Operation *end = terminatorOf(region);
  if (block.getNumArguments() != 4 || end->getNumOperands() != 2)
    return "";
  Value a = block.getArgument(0), i = block.getArgument(1), b = block.getArgument(2), j = block.getArgument(3);
  Operation *value = definition(end->getOperand(0), "stablehlo.select", 3);
  Operation *position = definition(end->getOperand(1), "stablehlo.select", 3);
  if (!value || !position || value->getOperand(1) != a || value->getOperand(2) != b || position->getOperand(1) != i ||
      position->getOperand(2) != j)
    return "";
  Operation *wins = definition(value->getOperand(0), "stablehlo.or", 2);
  Operation *stands = definition(position->getOperand(0), "stablehlo.or", 2);
  if (!wins || !stands || stands->getOperand(0) != wins->getResult(0) || !compares(wins->getOperand(1), "NE", a, a))
    return "";
  Operation *tie = definition(stands->getOperand(1), "stablehlo.and", 2);
  if (!tie || !compares(tie->getOperand(0), "EQ", a, b) || !compares(tie->getOperand(1), "LT", i, j))
    return "";
  if (compares(wins->getOperand(0), "GT", a, b))
    return "argmax";
  return compares(wins->getOperand(0), "LT", a, b) ? "argmin" : "";
}

/// Whether the positions count along the one reduced dimension, and both inits are those of an argmax.
bool isArgReduction(Source &source, StringRef name, ArrayRef<int64_t> dimensions) {
  if (name.empty() || dimensions.size() != 1 || source.type(0).getDimSize(dimensions[0]) == 0)
    return false;
  auto positions = source.operand(1).getDefiningOp<IotaOp>();
  DenseElementsAttr first;
  if (!positions || static_cast<int64_t>(positions.getDimension()) != dimensions[0] ||
      !matchPattern(source.operand(3), m_Constant(&first)) || !first.getElementType().isInteger() ||
      !first.getSplatValue<APInt>().isZero())
    return false;
  static constexpr Combination kGreatest = {"", "max", "", "", "", ""}, kLeast = {"", "min", "", "", "", ""};
  return isNeutral(source.operand(2), name == "argmax" ? kGreatest : kLeast);
}

LogicalResult convertArgReduction(Source &source, StringRef name, int64_t dimension) {
  RankedTensorType positions = source.resultType(1);
  Value index = source.make(name, positions, {source.operand(0)},
                            {source.namedNumber("axis", dimension),
                             source.builder.getNamedAttr("index_dtype", TypeAttr::get(positions.getElementType()))});
  Value value = source.make(name == "argmax" ? "reduce_max" : "reduce_min", source.resultType(0), {source.operand(0)},
                            {source.named("axes", {dimension})});
  return source.replace({value, index});
}

//===----------------------------------------------------------------------===//
// Any region
//===----------------------------------------------------------------------===//

/// The shape of an input with the reduced dimensions in front, as one; `order` has them first.
std::optional<Extents> extentsInFront(Source &source, ArrayRef<int64_t> dimensions, SmallVector<int64_t> &order) {
  SmallVector<AffineExpr> all = source.sizesOf(source.operandExtents(0));
  if (source.failed())
    return std::nullopt;
  RankedTensorType type = source.type(0);
  order.assign(dimensions.begin(), dimensions.end());
  SmallVector<int64_t> joined, shape(1, ShapedType::kDynamic);
  SmallVector<AffineExpr> sizes = {getAffineConstantExpr(1, source.op->getContext())};
  for (int64_t dimension : dimensions) {
    joined.push_back(type.getDimSize(dimension));
    sizes[0] = sizes[0] * all[dimension];
  }
  if (!llvm::any_of(joined, ShapedType::isDynamic)) {
    std::optional<int64_t> first = countElements(joined);
    if (!first) {
      source.error() << "reduces more elements of " << type << " than 2**63 - 1";
      return std::nullopt;
    }
    shape[0] = *first;
  }
  for (int64_t dimension : llvm::seq(type.getRank()))
    if (!llvm::is_contained(dimensions, dimension)) {
      order.push_back(dimension);
      shape.push_back(type.getDimSize(dimension));
      sizes.push_back(all[dimension]);
    }
  return Extents(shape, sizes);
}

LogicalResult convertReduce(Source &source) {
  Region &region = source.op->getRegion(0);
  unsigned count = source.op->getNumResults();
  SmallVector<int64_t> dimensions = source.integers({"dimensions"});
  if (source.failed())
    return failure();
  if (source.op->getNumOperands() != 2 * count || terminatorOf(region)->getNumOperands() != count)
    return source.error() << "expected an init and a result for each input";
  llvm::sort(dimensions);
  for (int64_t dimension : dimensions)
    for (unsigned index = 0; index < count; ++index)
      if (dimension < 0 || dimension >= source.type(index).getRank())
        return source.error() << "expected dimensions of " << source.type(index) << ", but got " << dimension;
  if (std::adjacent_find(dimensions.begin(), dimensions.end()) != dimensions.end())
    return source.error() << "expected distinct dimensions";
  if (StringRef name = argReductionOf(region); isArgReduction(source, name, dimensions))
    return convertArgReduction(source, name, dimensions[0]);

  SmallVector<const Combination *> known;
  for (unsigned index = 0; index < count; ++index)
    known.push_back(combinationOf(region, source.type(index).getElementType(), index, count));
  SmallVector<Value> results;
  if (!llvm::is_contained(known, nullptr)) {
    for (unsigned index = 0; index < count; ++index)
      results.push_back(reduceBy(source, *known[index], index, count, dimensions));
    return source.replace(results);
  }
  SmallVector<int64_t> order;
  std::optional<Extents> extents = extentsInFront(source, dimensions, order);
  if (!extents)
    return failure();
  SmallVector<Value> inputs;
  for (unsigned index = 0; index < count; ++index)
    inputs.push_back(source.reshape(source.transpose(source.operand(index), order), *extents));
  if (llvm::is_contained(inputs, Value()))
    return failure();
  auto scanned = scanSlices(source, region, source.op->getOperands().drop_front(count), inputs, *extents,
                            /*reverse=*/false, /*isRunning=*/false);
  return failed(scanned) ? failure() : source.replace(*scanned);
}

LogicalResult convertMap(Source &source) {
  auto made = applyRegion(source, source.op->getRegion(0), source.op->getOperands(), source.extents());
  return failed(made) ? failure() : source.replace(*made);
}

} // namespace

void addReductionRules(Rules &rules) {
  rules["stablehlo.reduce"] = {convertReduce, parseReduce, 2, ~0u, 1};
  rules["stablehlo.map"] = {convertMap, parseClauses, 1, ~0u, 1};
}

} // namespace mlir::array::stablehlo
