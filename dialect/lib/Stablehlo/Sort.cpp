// sort and top_k. A comparator is read as a list of keys; array.sort sorts by the first of its inputs, in ascending
// order.
#include "Regions.h"

#include "mlir/IR/Matchers.h"

namespace mlir::array::stablehlo {
namespace {

/// A key of a comparator: the number of an operand, and of a complex one its real or imaginary part.
struct Key {
  unsigned operand;
  StringRef part;
};

Operation *definition(Value value, StringRef name) {
  Operation *op = value.getDefiningOp();
  return op && op->getName().getStringRef() == name ? op : nullptr;
}

StringRef directionOf(Operation *compare) {
  OpBuilder builder(compare);
  return Source(compare, builder).wordAt(0, {"comparison_direction"}, "");
}

/// Constants outside of the comparator are translated before it.
bool isConstant(Value value) { return matchPattern(value, m_Constant()) || definition(value, "stablehlo.constant"); }

/// The source of selections that give all zeros one sign and all nans one pattern.
Value withoutCanonicalization(Value value) {
  while (Operation *select = definition(value, "stablehlo.select")) {
    if (select->getNumOperands() != 3 || !isConstant(select->getOperand(1)))
      break;
    Operation *compare = definition(select->getOperand(0), "stablehlo.compare");
    StringRef direction = compare ? directionOf(compare) : "";
    if (direction != "EQ" && direction != "NE")
      break;
    value = select->getOperand(2);
  }
  return value;
}

/// The argument, and its part, on one side of a comparison.
std::optional<std::pair<unsigned, StringRef>> sideOf(Value value, Block &block) {
  value = withoutCanonicalization(value);
  StringRef part;
  for (StringRef name : {"stablehlo.real", "stablehlo.imag"})
    if (Operation *op = definition(value, name)) {
      part = name;
      value = op->getOperand(0);
      break;
    }
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &block)
    return std::nullopt;
  return std::pair(argument.getArgNumber(), part);
}

/// Reads `compare` as a comparison of both arguments of an operand. Sets whether the smaller one comes first.
std::optional<Key> keyOf(Operation *compare, Block &block, bool &isSwapped) {
  if (!compare || compare->getNumOperands() != 2)
    return std::nullopt;
  auto lhs = sideOf(compare->getOperand(0), block), rhs = sideOf(compare->getOperand(1), block);
  if (!lhs || !rhs || lhs->second != rhs->second || lhs->first / 2 != rhs->first / 2 || lhs->first == rhs->first)
    return std::nullopt;
  isSwapped = lhs->first > rhs->first;
  return Key{lhs->first / 2, lhs->second};
}

/// `a < b`, or `a < b or (a == b and rest)`: keys in order, all of them ascending or all descending.
bool readKeys(Value value, Block &block, SmallVectorImpl<Key> &keys, std::optional<bool> &isDescending) {
  Value rest;
  if (Operation *either = definition(value, "stablehlo.or"); either && either->getNumOperands() == 2) {
    Operation *tie = definition(either->getOperand(1), "stablehlo.and");
    Operation *equal =
        tie && tie->getNumOperands() == 2 ? definition(tie->getOperand(0), "stablehlo.compare") : nullptr;
    bool ignored = false;
    std::optional<Key> key = keyOf(equal, block, ignored);
    if (!key || directionOf(equal) != "EQ")
      return false;
    value = either->getOperand(0);
    rest = tie->getOperand(1);
  }
  bool isSwapped = false;
  Operation *compare = definition(value, "stablehlo.compare");
  std::optional<Key> key = keyOf(compare, block, isSwapped);
  if (!key)
    return false;
  StringRef direction = directionOf(compare);
  if (direction != "LT" && direction != "GT")
    return false;
  bool descends = (direction == "GT") != isSwapped;
  if (isDescending && *isDescending != descends)
    return false;
  isDescending = descends;
  keys.push_back(*key);
  return !rest || readKeys(rest, block, keys, isDescending);
}

/// The operands in the order of the keys; both parts of a complex one are keys, the real one first.
std::optional<SmallVector<unsigned>> operandsOf(ArrayRef<Key> keys) {
  SmallVector<unsigned> operands;
  for (size_t index = 0; index < keys.size(); ++index) {
    const Key &key = keys[index];
    if (key.part == "stablehlo.imag")
      return std::nullopt;
    if (key.part == "stablehlo.real") {
      if (++index == keys.size() || keys[index].part != "stablehlo.imag" || keys[index].operand != key.operand)
        return std::nullopt;
    }
    if (llvm::is_contained(operands, key.operand))
      return std::nullopt;
    operands.push_back(key.operand);
  }
  return operands;
}

Value inComputedType(Source &source, Value value) {
  return value ? source.convert(value, cast<RankedTensorType>(widened(value.getType())).getElementType()) : value;
}

LogicalResult convertSort(Source &source) {
  unsigned count = source.op->getNumResults();
  int64_t rank = source.type(0).getRank();
  int64_t dimension = source.integer({"dimension"}, -1);
  bool isStable = source.flag({"is_stable"}, false);
  Region &region = source.op->getRegion(0);
  if (source.failed())
    return failure();
  if (source.op->getNumOperands() != count || region.front().getNumArguments() != 2 * count ||
      terminatorOf(region)->getNumOperands() != 1)
    return source.error() << "expected a result for each input, and a comparator of two elements of each";
  dimension += dimension < 0 ? rank : 0;
  SmallVector<Key> keys;
  std::optional<bool> isDescending;
  std::optional<SmallVector<unsigned>> order;
  if (readKeys(terminatorOf(region)->getOperand(0), region.front(), keys, isDescending))
    order = operandsOf(keys);
  if (!order)
    return source.error()
           << "its comparator has no counterpart: expected that it compares operands by LT, or all by GT, "
              "the next where the ones before are equal";
  size_t keyCount = order->size();
  for (unsigned index = 0; index < count; ++index)
    if (!llvm::is_contained(*order, index))
      order->push_back(index);
  // Reversed, sorted, and reversed again: descending, with equal ones in their original order.
  auto turned = [&](Value value) {
    return *isDescending ? source.make("reverse", value.getType(), {value}, {source.named("dimensions", {dimension})})
                         : value;
  };
  SmallVector<Value> operands, results(count);
  SmallVector<Type> types;
  for (auto [position, index] : llvm::enumerate(*order)) {
    // Elements of all types are moved, but keys are compared in the types in which the dialect computes.
    bool isKey = position < keyCount;
    Value operand = source.operand(index);
    operands.push_back(turned(isKey ? inComputedType(source, operand) : operand));
    types.push_back(isKey ? widened(source.type(index)) : Type(source.type(index)));
  }
  SmallVector<Value> sorted = source.makeAll("sort", types, operands,
                                             {source.namedNumber("dimension", dimension),
                                              source.namedNumber("num_keys", static_cast<int64_t>(keyCount)),
                                              source.namedFlag("is_stable", isStable)});
  for (auto [position, index] : llvm::enumerate(*order))
    results[index] =
        sorted[position] ? source.convert(turned(sorted[position]), source.type(index).getElementType()) : Value();
  return source.replace(results);
}

LogicalResult convertTopK(Source &source) {
  int64_t k = source.integer({"k"}), axis = source.type(0).getRank() - 1;
  if (source.failed())
    return failure();
  SmallVector<Value> found = source.makeAll("top_k", {widened(source.resultType(0)), source.resultType(1)},
                                            {inComputedType(source, source.operand(0))},
                                            {source.namedNumber("k", k), source.namedNumber("axis", axis)});
  if (found[0])
    found[0] = source.convert(found[0], source.resultType(0).getElementType());
  return source.replace(found);
}

} // namespace

void addSortRules(Rules &rules) {
  rules["stablehlo.sort"] = {convertSort, parseClauses, 1, ~0u, 1};
  rules["chlo.top_k"] = {convertTopK, parseTopK, 1, 1};
}

} // namespace mlir::array::stablehlo
